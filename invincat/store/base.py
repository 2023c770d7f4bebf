"""What a store of memories must be able to do. One contract suite runs on every implementation."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple, Protocol

from invincat.errors import StoreError

OURS: Final = "refs/invincat/"
TRACKING: Final = "refs/remotes/"
MEMORY_REF: Final = "refs/invincat/memory"
PROPOSALS: Final = "refs/invincat/proposals/"
# Where a rejected proposal is kept, so that it is not lost and not proposed again.
REJECTED: Final = "refs/invincat/rejected/"

# Tips that were left behind, by the time at which that was seen.
BACKUPS: Final = "refs/invincat/backup/"

FILE_MODE: Final = 0o100644
FOLDER_MODE: Final = 0o040000
LINK_MODE: Final = 0o120000
GITLINK_MODE: Final = 0o160000

# Seconds that a writer waits for the others (RULES 3.4).
PATIENCE: Final = 10.0

ROOT_FILES: Final = {"invincat.yaml": b"format: 1\n"}
ROOT_MESSAGE: Final = "memory: root\n"

# The append-only files of the state directory (FORMAT "State directory").
LogName = Literal["journal", "audit.jsonl", "rejected.jsonl"]


class ObjectMissing(StoreError):
    """An object that a tree or ref names cannot be read."""


class ObjectDenied(ObjectMissing):
    """An object is there, and the operating system does not let us read it: nothing is lost, nothing to repair."""


class StoreBusy(StoreError):
    """Another process held the store's lock for longer than we would wait."""


class IdentityMissing(StoreError):
    """Git knows no name and e-mail to commit with; nothing was written."""


class TreeEntry(NamedTuple):
    """One line of a tree. `name` is decoded with surrogateescape, so that any name survives the round trip."""

    name: str
    mode: int
    id: str


class Signature(NamedTuple):
    """Who commits."""

    name: str
    email: str


# Who committed the root, and when: the same for everybody (FORMAT "Root commit").
ROOT_AUTHOR: Final = Signature("Invincat", "invincat@localhost")
ROOT_TIME: Final = datetime(2020, 1, 1, tzinfo=UTC)


def can_say(author: Signature, message: str) -> bool:
    """Whether a commit of ours can have this author and message; those that no git made have others, too."""
    return not any(mark in part for part in author for mark in "<>\n\0") and "\0" not in message


@dataclass(frozen=True)
class Commit:
    """A commit of the memory ref. `time` is the author's, in UTC."""

    id: str
    parents: tuple[str, ...]
    tree: str
    author: Signature
    time: datetime
    message: str


@dataclass(frozen=True)
class Draft:
    """One commit to be made: files to put (path -> bytes), paths to remove, and the message.

    `author` and `time` are given where it was said by another, or before now.
    """

    message: str
    puts: Mapping[str, bytes] = field(default_factory=dict)
    removes: frozenset[str] = frozenset()
    author: Signature | None = None
    time: datetime | None = None


class Store(Protocol):
    """Objects, refs under `refs/invincat/`, a writer's lock and append-only logs."""

    @property
    def location(self) -> str:
        """The path of the repository, as replies name it."""

    def tip(self, ref: str = MEMORY_REF) -> str | None:
        """The commit a ref points at, None when there is no such ref."""

    def refs(self, prefix: str) -> dict[str, str]:
        """Refs below a prefix such as `PROPOSALS`: full name -> commit id, sorted by name."""

    def commit(self, id: str) -> Commit:
        """Read a commit; ObjectMissing."""

    def history(self, tip: str) -> Iterator[Commit]:
        """All ancestors of a commit, itself first, newest first, parents after children."""

    def touching(self, tip: str, paths: Collection[str]) -> Iterator[str]:
        """The ancestors of a commit, itself too, that changed one of these files or folders, in the order of `history`.

        A merge may be left out where it equals one of its parents there.
        """

    def list_tree(self, tree: str) -> tuple[TreeEntry, ...]:
        """The entries of one tree object, in git's order; ObjectMissing."""

    def read_blob(self, id: str) -> bytes:
        """The bytes of a blob; ObjectMissing."""

    def complete(self, tree: str) -> None:
        """Have every blob below a tree at hand, before many of them are read.

        A partial clone fetches in one go what it left out; elsewhere there is nothing to do.
        """

    def author(self) -> Signature:
        """Who commits, as git itself would say; IdentityMissing with the command that sets it."""

    def exclusive(self, timeout: float = PATIENCE) -> AbstractContextManager[None]:
        """Hold the writer's lock, healing what a killed writer left; StoreBusy after `timeout` seconds."""

    def write_root(self) -> str:
        """Write the fixed root commit (FORMAT "Root commit") and return its id. Under `exclusive`."""

    def write(self, parent: str, drafts: Sequence[Draft], author: Signature, now: datetime) -> list[str]:
        """Write a chain of commits on top of `parent` and return their ids; no ref moves. Under `exclusive`.

        Entries that no draft touches keep their bytes and modes, whatever they are. A folder that becomes
        empty disappears.
        """

    def left_behind(self) -> str | None:
        """Our last commit on the memory ref, where another tool's move has left it out; None where all is in.

        It is below `BACKUPS`, unless a gc took it before anybody of us came.
        """

    def swap(self, ref: str, old: str | None, new: str | None) -> bool:
        """Move a ref from `old` to `new` (None: absent) and journal it; False when it is not at `old`.

        Under `exclusive`.
        """

    def read_log(self, log: LogName, after: int = 0) -> tuple[list[dict[str, Any]], int]:
        """The records of a log behind a position, and the position behind them; what is no record is left out.

        A position smaller than `after` says that the log is shorter than it was: nothing was read.
        """

    def append(self, log: LogName, record: Mapping[str, Any]) -> None:
        """Append one JSON line to a log of the state directory, whole or not at all."""
