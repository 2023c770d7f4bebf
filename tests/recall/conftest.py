"""Small stores to search in: a history of versions, each a corpus of its own."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha1
from pathlib import Path
from typing import Any, Protocol

import msgspec
import pytest
from ulid import ULID

from invincat.memory.entry import Confidence, Kind, Memory, Source, Tier, Verdict, clamp
from invincat.memory.evidence import Evidence
from invincat.memory.naming import derive_name, memory_path
from invincat.memory.scope import Scope
from invincat.memory.view import Record, record_of
from invincat.recall.corpus import Changes
from invincat.recall.index import Index

NOW = datetime(2026, 11, 29, 10, 0, tzinfo=UTC)

Version = Mapping[str, Record]


@dataclass(frozen=True)
class Snapshot:
    """The corpus of one version of a history; commit `v3` is version 3."""

    versions: Sequence[Version]
    number: int

    def tip(self) -> str | None:
        return f"v{self.number}"

    def records(self) -> Iterable[Record]:
        return list(self.versions[self.number].values())

    def read(self, paths: Sequence[str]) -> dict[str, Record]:
        version = self.versions[self.number]
        return {path: version[path] for path in paths if path in version}

    def find(self, id: str) -> Record | None:
        return next((record for record in self.records() if record.id == id), None)

    def is_purged(self) -> bool:
        return False

    def changes(self, since: str) -> Changes | None:
        number = int(since[1:]) if since[1:].isdecimal() else -1
        if not 0 <= number < len(self.versions):
            return None
        old, new = self.versions[number], self.versions[self.number]
        return Changes(
            removed=tuple(old.keys() - new.keys()),
            put=tuple(record for path, record in new.items() if old.get(path) != record),
        )


class MakeRecord(Protocol):
    def __call__(self, title: str, body: str = "", **fields: Any) -> Record: ...


def make_record(title: str, body: str = "", **fields: Any) -> Record:
    """A record; `number` makes the id, `name` the file, `retired` and `quotes` what they say."""
    number, name = fields.pop("number", 0), fields.pop("name", None)
    quotes = tuple(Evidence(at="noxfile.py#L1", quote=quote) for quote in fields.pop("quotes", ()))
    tier = fields.setdefault("tier", Tier.WARM)
    defaults: dict[str, Any] = {
        "id": str(ULID.from_int(number + 1)),
        "kind": Kind.CONVENTION,
        "section": "General",
        "scope": Scope.PROJECT,
        "confidence": Confidence.HIGH,
        "score": clamp(50, tier),
        "verdict": Verdict.VALID,
        **dict.fromkeys(("created_at", "updated_at", "last_scored_at", "valid_from"), NOW),
        "invalid_at": NOW if fields.pop("retired", False) else None,
        "source": Source(actor="user", evidence=quotes),
    }
    memory = Memory(title=title, body=body, **{**defaults, **fields})
    path = memory_path(memory.section, name or derive_name(title))
    return record_of(memory, path, sha1(msgspec.json.encode(memory)).hexdigest())


def corpus_of(*records: Record) -> Snapshot:
    return Snapshot([{record.path: record for record in records}], 0)


@pytest.fixture(scope="session")
def record() -> MakeRecord:
    return make_record


@pytest.fixture(scope="session")
def corpus() -> Callable[..., Snapshot]:
    """A corpus of these records."""
    return corpus_of


@pytest.fixture(scope="session")
def history() -> Callable[..., Callable[[int], Snapshot]]:
    """From lists of records, one per version, what gives the corpus of a version."""

    def make(*versions: Iterable[Record]) -> Callable[[int], Snapshot]:
        stored = [{record.path: record for record in version} for version in versions]
        return lambda number: Snapshot(stored, number)

    return make


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def index(directory: Path) -> Index:
    return Index(directory, "here")
