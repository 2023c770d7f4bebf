"""A store's memories as recall indexes them."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import Final

from invincat.ledger import Ledger
from invincat.memory.entry import Status
from invincat.memory.view import Record
from invincat.recall.corpus import Changes
from invincat.recall.hit import Hit
from invincat.store.base import ObjectMissing
from invincat.store.files import changed_files
from invincat.store.purged import purged_ids

# The rule that two files with one id break (`memory.view.build`).
_TWIN: Final = "FORMAT id"


def record_behind(ledger: Ledger, hit: Hit) -> Record:
    """The record of a hit; its memory is read when somebody asks for it."""
    return Record(
        id=hit.id,
        path=hit.path,
        blob=hit.blob,
        fingerprint="",
        is_active=hit.status == Status.ACTIVE,
        held=lambda blob: ledger.reader.memories([blob])[blob],
    )


class StoreCorpus:
    """One store at one commit, by default its tip when this was made: `recall.corpus.Corpus`."""

    def __init__(self, ledger: Ledger, at: str | None = None) -> None:
        self._ledger = ledger
        self._tip = at or ledger.tip()

    def tip(self) -> str | None:
        """The commit."""
        return self._tip

    def records(self) -> Iterable[Record]:
        """Every memory at the tip, and the files that have the id of another one: they count once that is gone."""
        view = self._ledger.view(self._tip)
        return chain(view, self._files(problem.path for problem in view.problems if problem.rule == _TWIN).values())

    def changes(self, since: str) -> Changes | None:
        """What differs at the tip from a commit; None when that commit cannot be read any more."""
        if self._tip is None:
            return None
        try:
            files = list(changed_files(self._ledger.store, since, self._tip))
        except ObjectMissing:
            return None
        found = self._files(file.path for file in files if file.new)
        return Changes(removed=tuple(file.path for file in files if file.path not in found), put=tuple(found.values()))

    def read(self, paths: Sequence[str]) -> dict[str, Record]:
        """The memories in these files at the tip; of two files with one id that which counts."""
        found = self._files(paths)
        if not self._has_twins:
            return found
        counting = self._ledger.view(self._tip).records
        return {path: record for path, record in found.items() if counting[record.id].path == path}

    def _files(self, paths: Iterable[str]) -> dict[str, Record]:
        return self._ledger.reader.files(self._tip, paths) if self._tip else {}

    @cached_property
    def _has_twins(self) -> bool:
        reader = self._ledger.reader
        return self._tip is not None and not reader.is_sound(self._tip) and bool(reader.view(self._tip).twins)

    def is_purged(self) -> bool:
        """Whether a purge has rewritten the commit."""
        return self._tip in purged_ids(self._ledger.store, self._ledger.tip())

    def find(self, id: str) -> Record | None:
        """The memory with this id at the tip."""
        return self._ledger.view(self._tip).find(id)
