"""A store's memories as recall indexes them."""

from collections.abc import Iterable, Sequence

from invincat.ledger import Ledger
from invincat.memory.entry import Status
from invincat.memory.view import Record
from invincat.recall.corpus import Changes
from invincat.recall.hit import Hit
from invincat.store.base import ObjectMissing
from invincat.store.tree import changed_files


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
        """Every memory at the tip."""
        return self._ledger.view(self._tip)

    def changes(self, since: str) -> Changes | None:
        """What differs at the tip from a commit; None when that commit cannot be read any more."""
        if self._tip is None:
            return None
        try:
            files = list(changed_files(self._ledger.store, since, self._tip))
        except ObjectMissing:
            return None
        found = self.read([file.path for file in files if file.new])
        return Changes(removed=tuple(file.path for file in files if file.path not in found), put=tuple(found.values()))

    def read(self, paths: Sequence[str]) -> dict[str, Record]:
        """The memories in these files at the tip."""
        return self._ledger.reader.files(self._tip, paths) if self._tip else {}

    def find(self, id: str) -> Record | None:
        """The memory with this id at the tip."""
        return self._ledger.view(self._tip).find(id)
