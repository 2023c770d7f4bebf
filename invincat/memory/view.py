"""The immutable set of memories at one commit of a store."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

import msgspec

from invincat.memory.content import fingerprint
from invincat.memory.entry import Memory
from invincat.memory.naming import memory_path, settle, wanted_name


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A memory with the file it stands in: `path` in the tree, `blob` its object id (empty before it is written)."""

    memory: Memory
    path: str
    blob: str
    fingerprint: str

    @property
    def name(self) -> str:
        """The file's name without `.md`."""
        return self.path.rpartition("/")[2].removesuffix(".md")

    @property
    def label(self) -> str:
        """`section/name`, as subjects of commits show it."""
        return self.path.removeprefix("memory/").removesuffix(".md")


def record_of(memory: Memory, path: str, blob: str = "") -> Record:
    """A record with the fingerprint of the memory's content."""
    return Record(memory=memory, path=path, blob=blob, fingerprint=fingerprint(memory.title, memory.body))


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """What stays of a deleted memory: identity, stamp, hash of the text, reason (RULES 6.3)."""

    id: str
    updated_at: datetime
    text_hash: str
    reason: str
    superseded_by: str | None = None
    purged: bool = False


@dataclass(frozen=True)
class Problem:
    """A file that was skipped: where, on which line (0: the whole file), and why."""

    path: str
    message: str
    line: int = 0
    rule: str = "FORMAT"


@dataclass(frozen=True)
class View:
    """All memories at `commit`. Made by `build` from a tree, by `put` and `drop` from another view.

    `wanted` maps each wanted name to the ids that want it (RULES 6.4); `content` the fingerprint of each
    active memory to its id.
    """

    commit: str | None = None
    records: Mapping[str, Record] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    wanted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    content: Mapping[str, str] = field(default_factory=dict)
    markers: Mapping[str, Marker] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records.values())

    def __len__(self) -> int:
        return len(self.records)

    def find(self, reference: str) -> Record | None:
        """The memory with this name or id, exactly."""
        return self.records.get(reference.upper()) or self.records.get(self.names.get(reference, ""))

    def matching(self, start: str) -> list[Record]:
        """The memory with this name or id, else all whose name or id begins with it."""
        if exact := self.find(start):
            return [exact]
        ids = [record for id, record in self.records.items() if id.startswith(start.upper())]
        return ids or [self.records[id] for name, id in sorted(self.names.items()) if name.startswith(start)]

    def active(self) -> list[Record]:
        """Those that hold now (RULES 1.1)."""
        return [record for record in self if record.memory.is_active]

    def equal_to(self, content: str) -> Record | None:
        """The active memory with this fingerprint."""
        return self.records.get(self.content.get(content, ""))

    def put(self, *records: Record) -> "View":
        """A view in which these records stand, each in place of the one with its id."""
        stored, names, wanted, content = dict(self.records), dict(self.names), dict(self.wanted), dict(self.content)
        for record in records:
            id = record.memory.id
            if old := stored.get(id):
                _forget(old, names, wanted, content)
            stored[id] = record
            _learn(record, names, wanted, content)
        return replace(self, commit=None, records=stored, names=names, wanted=wanted, content=content)

    def drop(self, id: str, marker: Marker) -> "View":
        """A view in which a marker stands in place of a memory."""
        stored, names, wanted, content = dict(self.records), dict(self.names), dict(self.wanted), dict(self.content)
        _forget(stored.pop(id), names, wanted, content)
        markers = {**self.markers, id: marker}
        return replace(
            self, commit=None, records=stored, names=names, wanted=wanted, content=content, markers=markers
        )

    def misnamed(self, wanted: Iterable[str]) -> list[Record]:
        """Records, with the path they should have, of those that want these names and stand elsewhere (RULES 6.4)."""
        moved = []
        for name in wanted:
            ids = self.wanted.get(name, ())
            for id, proper in settle(name, ids).items() if ids else ():
                record = self.records[id]
                path = memory_path(record.memory.section, proper)
                if record.path != path:
                    moved.append(msgspec.structs.replace(record, path=path))
        return moved


def build(
    commit: str | None, records: Iterable[Record], markers: Iterable[Marker] = (), problems: Iterable[Problem] = ()
) -> View:
    """The view of these records; of two files with one id the first by path counts, the other is a problem."""
    found = list(problems)
    stored: dict[str, Record] = {}
    names: dict[str, str] = {}
    wanted: dict[str, tuple[str, ...]] = {}
    content: dict[str, str] = {}
    for record in records:
        if twin := stored.get(record.memory.id):
            found.append(Problem(record.path, f"has the id of {twin.path}", rule="FORMAT id"))
            continue
        stored[record.memory.id] = record
        if other := names.get(record.name):
            found.append(Problem(record.path, f"has the name of {stored[other].path}", rule="FORMAT name"))
        _learn(record, names, wanted, content)
    return View(
        commit=commit,
        records=stored,
        names=names,
        wanted=wanted,
        content=content,
        markers={marker.id: marker for marker in markers},
        problems=tuple(found),
    )


def _learn(
    record: Record, names: dict[str, str], wanted: dict[str, tuple[str, ...]], content: dict[str, str]
) -> None:
    id = record.memory.id
    names.setdefault(record.name, id)
    want = wanted_name(record.name)
    if want is not None:
        wanted[want] = (*wanted.get(want, ()), id)
    if record.memory.is_active:
        content.setdefault(record.fingerprint, id)


def _forget(
    record: Record, names: dict[str, str], wanted: dict[str, tuple[str, ...]], content: dict[str, str]
) -> None:
    id = record.memory.id
    if names.get(record.name) == id:
        del names[record.name]
    want = wanted_name(record.name)
    if want is not None:
        rest = tuple(other for other in wanted[want] if other != id)
        if rest:
            wanted[want] = rest
        else:
            del wanted[want]
    if content.get(record.fingerprint) == id:
        del content[record.fingerprint]
