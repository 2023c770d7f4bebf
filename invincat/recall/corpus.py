"""What the index reflects: the memories of a store at one commit."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from invincat.memory.view import Record


@dataclass(frozen=True)
class Changes:
    """What became of a store: paths that are gone, and records that are new or different."""

    removed: tuple[str, ...] = ()
    put: tuple[Record, ...] = ()


class Corpus(Protocol):
    """A store at one commit. All answers must speak of the same commit for as long as a search lasts."""

    def tip(self) -> str | None:
        """The memory commit that the index should reflect, None when there is no store."""

    def records(self) -> Iterable[Record]:
        """Every record at the tip, retired ones too."""

    def changes(self, since: str) -> Changes | None:
        """The way from that commit to the tip, whichever is older; None when it cannot be told."""

    def read(self, paths: Sequence[str]) -> Mapping[str, Record]:
        """The records in these files at the tip, by path, without those that are gone or unreadable."""

    def is_purged(self) -> bool:
        """Whether a purge has written the commit anew since: no index of it may be made any more."""

    def find(self, id: str) -> Record | None:
        """The record with this id at the tip."""
