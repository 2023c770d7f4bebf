"""What the index reflects: the memories of a store at one commit."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from invincat.memory.view import Record


@dataclass(frozen=True)
class Changes:
    """What became of a store: paths that are gone, and records that are new or different."""

    removed: tuple[str, ...] = ()
    put: tuple[Record, ...] = ()


class Corpus(Protocol):
    """A store at one commit. All four answers must speak of the same commit for as long as a search lasts."""

    def tip(self) -> str | None:
        """The memory commit that the index should reflect, None when there is no store."""

    def records(self) -> Iterable[Record]:
        """Every record at the tip, retired ones too."""

    def changes(self, since: str) -> Changes | None:
        """The way from that commit to the tip, whichever is older; None when it cannot be told."""

    def read(self, path: str) -> Record | None:
        """The record in that file at the tip, None when it is gone or unreadable."""
