"""The object database of a repository: read through dulwich, and through git where that is not enough."""

import os
import zlib
from pathlib import Path
from typing import Final, TypeVar

from dulwich.errors import ChecksumMismatch, FileFormatException
from dulwich.file import FileLocked
from dulwich.objects import Blob, ObjectID, ShaFile, Tree, parse_tree, valid_hexsha
from dulwich.objects import Commit as GitCommit
from dulwich.repo import Repo

from invincat.errors import StoreError
from invincat.store.base import FOLDER_MODE, GITLINK_MODE, ObjectDenied, ObjectMissing, TreeEntry
from invincat.store.folders import Entries
from invincat.store.locate import Repository, first_line, run_in

# Listings of trees kept in memory: of all sections of a usual store.
_KEPT: Final = 128

# How often an object is written that a gc or a stale lock gets in the way of.
_TRIES: Final = 5

_UNREADABLE: Final = (KeyError, ValueError, zlib.error, FileFormatException, ChecksumMismatch)
_KINDS: Final = {kind.type_name: kind.type_num for kind in (Blob, Tree, GitCommit)}

# As git itself asks for what a partial clone left out, but for many objects at once.
_FETCH: Final = (
    *("-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head"),
    *("--no-auto-maintenance", "--recurse-submodules=no", "--filter=blob:none", "--stdin"),
)

_Kind = TypeVar("_Kind", bound=ShaFile)
_Object = TypeVar("_Object")


class ObjectDatabase:
    """Objects by id. Writing is for who holds the writers' lock."""

    def __init__(self, repo: Repo, repository: Repository) -> None:
        self._repo = repo
        self._repository = repository
        self._store = repo.object_store
        self._format = repo.object_format
        self._promisors = _promisors(repo)
        self._store.loose_compression_level = 1  # as git does; dulwich's own default takes twice the time
        self._trees: dict[str, tuple[TreeEntry, ...]] = {}
        self._commits: dict[str, GitCommit] = {}
        self._written: list[ShaFile] = []

    # reading

    def list_tree(self, tree: str) -> tuple[TreeEntry, ...]:
        """`Store.list_tree`."""
        if (known := self._trees.get(tree)) is None:
            known = tuple(
                [
                    TreeEntry(path.decode("utf-8", "surrogateescape"), mode, sha.decode())
                    for path, mode, sha in self._tree_lines(tree)
                ]
            )
            _keep(self._trees, tree, known)
        return known

    def forget(self) -> None:
        """Read from the disk what is asked for next, for who must know what can be read now."""
        self._trees.clear()
        self._commits.clear()

    def entries(self, tree: str) -> Entries:
        """The entries of a tree that is to be changed."""
        return {name.encode("utf-8", "surrogateescape"): (mode, id) for name, mode, id in self.list_tree(tree)}

    def read_blob(self, id: str) -> bytes:
        """`Store.read_blob`."""
        kind, data = self._raw(id)
        if kind != Blob.type_num:
            raise ObjectMissing("is no blob", where=id)
        return data

    def read_commit(self, id: str) -> GitCommit:
        """A commit with author and tree; ObjectMissing."""
        if (known := self._commits.get(id)) is None:
            known = self._read(id, GitCommit)
            if not known.author or not known.tree:
                raise ObjectMissing("is a commit without author or tree", where=id)
            _keep(self._commits, id, known)
        return known

    def require(self, id: str) -> None:
        """See that a commit is on the disk now, whatever was read of it before; ObjectMissing."""
        is_fresh = any(item.get_id(self._format).decode() == id for item in reversed(self._written))
        if not is_fresh and not self.has_commit(id):
            raise ObjectMissing("the commit is missing", where=id, next_step="run `invincat doctor --repair`")

    def has_commit(self, id: str) -> bool:
        """Whether a commit with this id is on the disk now, as git sees it; no remote is asked for it."""
        question = ["--no-replace-objects", "cat-file", "--batch-check=%(objecttype)"]
        asked = run_in(self._repository, question, input=f"{id}\n".encode(), more={"GIT_NO_LAZY_FETCH": "1"})
        return asked.stdout == b"commit\n" and self.is_id(id)

    def complete(self, tree: str) -> None:
        """`Store.complete`; StoreError in git's words when no remote has what is missing."""
        missing = self._missing_blobs(tree) if self._promisors else set()
        if not missing:
            return
        wanted = "".join(f"{id}\n" for id in sorted(missing)).encode()
        for remote in self._promisors:
            asked = run_in(self._repository, [*_FETCH, "--", remote], input=wanted)
            if not asked.returncode:
                return
        what = f"{len(missing)} files that this partial clone left out cannot be fetched: {first_line(asked.stderr)}"
        raise StoreError(what, where=remote, next_step="connect to the remote and try again")

    def _missing_blobs(self, top: str) -> set[str]:
        found: set[str] = set()
        folders, seen = [top], {top}
        while folders:
            for _, mode, id in self.list_tree(folders.pop()):
                if mode == FOLDER_MODE:
                    folders += {id} - seen
                    seen.add(id)
                elif mode != GITLINK_MODE and ObjectID(id.encode()) not in self._store:
                    found.add(id)
        return found

    def _tree_lines(self, tree: str) -> list[tuple[bytes, int, bytes]]:
        """The entries as they are stored, which is git's order; dulwich's own Tree would sort them again."""
        kind, data = self._raw(tree)
        if kind != Tree.type_num:
            raise ObjectMissing("is no tree", where=tree)
        try:
            return list(parse_tree(data, self._format.oid_length))
        except _UNREADABLE as fault:
            raise ObjectMissing(f"cannot be read: {fault}", where=tree) from None

    def _read(self, id: str, kind: type[_Kind]) -> _Kind:
        number, data = self._raw(id)
        try:
            found = ShaFile.from_raw_string(number, data, object_format=self._format)
        except _UNREADABLE as fault:
            raise ObjectMissing(f"cannot be read: {fault}", where=id) from None
        if not isinstance(found, kind):
            raise ObjectMissing(f"is no {kind.type_name.decode()}", where=id)
        return found

    def _raw(self, id: str) -> tuple[int, bytes]:
        if not self.is_id(id):
            raise ObjectMissing("is no object id", where=repr(id))
        name = ObjectID(id.encode())
        try:
            return self._store.get_raw(name)
        except KeyError:
            return self._ask_git(id)
        except PermissionError as fault:
            where = os.fsdecode(fault.filename) if fault.filename else id
            raise ObjectDenied("Permission denied", where=where, next_step="check permissions") from None
        except (OSError, ValueError, zlib.error, FileFormatException) as fault:
            raise ObjectMissing(f"cannot be read: {fault}", where=id) from None

    def is_id(self, id: str) -> bool:
        """Whether this is a whole id, as the repository's format has it."""
        return len(id) == self._format.hex_length and valid_hexsha(id.encode())

    def _ask_git(self, id: str) -> tuple[int, bytes]:
        """Git fetches what a partial clone left out, and finds what a gc packed while we were looking."""
        asked = run_in(self._repository, ["cat-file", "--batch"], input=f"{id}\n".encode())
        header, _, data = asked.stdout.partition(b"\n")
        words = header.split()
        if asked.returncode or len(words) != 3:
            raise ObjectMissing("the object is missing", where=id, next_step="run `invincat doctor --repair`")
        return _KINDS.get(words[1], 0), data[: int(words[2])]

    # writing

    def begin(self) -> None:
        """A chain of commits begins: what was written before need not be kept any more."""
        self._written.clear()

    def add_blob(self, data: bytes) -> str:
        """Write a blob; its id."""
        return self.add(Blob.from_string(data))

    def add_tree(self, entries: Entries) -> str:
        """Write a tree; its id."""
        # Written out here: dulwich's Tree would take each entry apart and put it together again.
        lines = (
            b"%o %s\0" % (mode, name) + bytes.fromhex(id) for name, (mode, id) in sorted(entries.items(), key=_order)
        )
        data = b"".join(lines)
        return self.add(ShaFile.from_raw_string(Tree.type_num, data, object_format=self._format))

    def add(self, item: ShaFile) -> str:
        """Write an object; its id. StoreError when something gets in the way again and again; OSError."""
        id = write_object(self._repo, item)
        self._written.append(item)
        return id

    def adopt(self, id: str) -> str:
        """Keep a commit that git wrote for us like those that we wrote; its id."""
        self._written.append(self.read_commit(id))
        return id

    def keep_written(self) -> None:
        """Write again what a `git gc --prune=now` beside us took while nothing named it yet."""
        written, self._written = self._written, []
        for item in written:
            id = ObjectID(item.get_id(self._format))
            if not self._store.contains_loose(id) and id not in self._store:
                self.add(item)
        self._written.clear()


def write_object(repo: Repo, item: ShaFile) -> str:
    """Write an object, under the writers' lock; its id. StoreError when something gets in the way again and again."""
    id = item.get_id(repo.object_format).decode()
    for _ in range(_TRIES):
        try:
            repo.object_store.add_object(item)
            return id
        except FileLocked as fault:
            # Left by a killed writer: only ours lock objects, and we hold the writers' lock.
            Path(os.fsdecode(fault.lockfilename)).unlink(missing_ok=True)
        except FileNotFoundError:
            continue  # a gc removed the empty folder between its making and its use
    raise StoreError("the object cannot be written", where=id, next_step="try again when no `git gc` is running")


def _keep(kept: dict[str, _Object], id: str, item: _Object) -> None:
    """Remember what was read, and forget what was read first."""
    kept[id] = item
    if len(kept) > _KEPT:
        del kept[next(iter(kept))]


def _promisors(repo: Repo) -> list[str]:
    """The remotes that promised what this clone left out; none for a whole one."""
    config = repo.get_config()
    remotes = [section for section in config.sections() if len(section) == 2 and section[0] == b"remote"]
    return [os.fsdecode(remote[1]) for remote in remotes if config.get_boolean(remote, b"promisor")]


def _order(item: tuple[bytes, tuple[int, str]]) -> bytes:
    """Git sorts a folder as if its name ended with a slash."""
    name, (mode, _) = item
    return name + b"/" if mode == FOLDER_MODE else name
