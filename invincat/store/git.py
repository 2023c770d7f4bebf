"""The store in a git repository, on dulwich objects and refs (ARCHITECTURE, decision 5)."""

import os
import time
import weakref
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from dulwich.errors import ChecksumMismatch, ObjectFormatException, PackedRefsException
from dulwich.file import FileLocked
from dulwich.objects import Blob, ObjectID, ShaFile, Tree, parse_tree, valid_hexsha
from dulwich.objects import Commit as GitCommit
from dulwich.refs import Ref, SymrefLoop, check_ref_format
from dulwich.repo import InvalidWorktreeConfiguration, Repo, UnsupportedExtension, UnsupportedVersion
from filelock import Timeout

from invincat.errors import ConfigurationError, InternalError, StoreError
from invincat.store.ancestry import moment, newest_first
from invincat.store.base import (
    FILE_MODE,
    FOLDER_MODE,
    MEMORY_REF,
    ROOT_AUTHOR,
    ROOT_FILES,
    ROOT_MESSAGE,
    ROOT_TIME,
    Commit,
    Draft,
    IdentityMissing,
    LogName,
    ObjectMissing,
    Signature,
    StoreBusy,
    TreeEntry,
)
from invincat.store.folders import Entries, Folders
from invincat.store.locate import Repository, first_line, run_in
from invincat.store.state import Move, StateDir, remove_own_lock

# Seconds between two tries for a lock.
_POLL: Final = 0.005
# Listings of trees kept in memory: of all sections of a usual store.
_TREES_KEPT: Final = 128

# How often an object is written that a gc or a stale lock gets in the way of.
_TRIES: Final = 5

_UNREADABLE: Final = (KeyError, ValueError, zlib.error, ObjectFormatException, ChecksumMismatch)
_KINDS: Final = {kind.type_name: kind.type_num for kind in (Blob, Tree, GitCommit)}

_Kind = TypeVar("_Kind", bound=ShaFile)


class GitStore:
    """A `Store` over a located repository. One thread at a time may use it; processes may share the repository.

    Close it, or use it as a context manager, to let go of pack files early; at exit that happens by itself.
    """

    def __init__(self, repository: Repository, *, ref_patience: float = 2.0) -> None:
        """Open; ConfigurationError for a repository of a kind that we cannot write safely.

        `ref_patience` is how many seconds `swap` waits for a git that holds the ref's own lock.
        """
        self.repository = repository
        self._ref_patience = ref_patience
        try:
            self._repo = Repo(str(repository.common_dir), bare=True)
        except (UnsupportedExtension, UnsupportedVersion, InvalidWorktreeConfiguration) as fault:
            raise ConfigurationError(f"cannot work on this kind of repository: {fault}", where=self.location) from None
        weakref.finalize(self, self._repo.close)
        self._objects = self._repo.object_store
        self._format = self._repo.object_format
        self._state = StateDir(repository.state_dir)
        self._lock = self._state.lock()
        self._objects.loose_compression_level = 1  # as git does; dulwich's own default takes twice the time
        self._author: Signature | None = None
        self._trees: dict[str, tuple[TreeEntry, ...]] = {}
        self._written: list[ShaFile] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of pack files; the store must not be used afterwards."""
        self._repo.close()

    @property
    def location(self) -> str:
        """The top of the work tree, or the git directory where there is none."""
        return str(self.repository.root or self.repository.git_dir)

    @property
    def state_dir(self) -> Path:
        """The state directory, made if it is not there (FORMAT "State directory")."""
        with _disk():
            self._state.make()
        return self._state.path

    # refs

    def tip(self, ref: str = MEMORY_REF) -> str | None:
        """`Store.tip`; StoreError when the ref is there but names no object."""
        found = self._follow(ref)
        if found is None:
            self._refuse_empty(ref)
            return None
        if not valid_hexsha(found):
            raise StoreError("the ref is broken", where=ref, next_step="see `git fsck` and `git reflog`")
        return found.decode()

    def refs(self, prefix: str) -> dict[str, str]:
        """`Store.refs`; broken ones are left out."""
        base = f"{prefix.rstrip('/')}/".encode()
        found = {}
        for key in self._repo.refs.subkeys(Ref(base)):
            try:
                id = self._follow(os.fsdecode(base + key))
            except StoreError:
                continue
            if id is not None and valid_hexsha(id):
                found[os.fsdecode(base + key)] = id.decode()
        return dict(sorted(found.items()))

    def _follow(self, ref: str) -> bytes | None:
        """What a ref names. A symbolic one of ours is refused: our commits would go to somebody's branch."""
        try:
            names, found = self._repo.refs.follow(Ref(os.fsencode(ref)))
        except (SymrefLoop, PackedRefsException) as fault:
            raise StoreError(f"the refs cannot be read: {fault}", where=ref, next_step="see `git fsck`") from None
        if len(names) > 1 and ref.startswith("refs/invincat/"):
            next_step = f"see `git symbolic-ref {ref}`"
            raise StoreError(f"the ref points to {os.fsdecode(names[-1])}", where=ref, next_step=next_step)
        return found

    def _refuse_empty(self, ref: str) -> None:
        # After a power loss a ref may be an empty file; taking that for absent would start the store anew.
        if self._ref_file(ref).is_file():
            raise StoreError("the ref is empty", where=ref, next_step="see `git fsck` and `git reflog`")

    def _ref_file(self, ref: str) -> Path:
        names, _ = self._repo.refs.follow(Ref(ref.encode()))
        return self.repository.common_dir / os.fsdecode(names[-1])

    # reading

    def commit(self, id: str) -> Commit:
        """`Store.commit`. What of the text is not UTF-8 is shown as U+FFFD."""
        found = self._read(id, GitCommit)
        if not found.author or not found.tree:
            raise ObjectMissing("is a commit without author or tree", where=id)
        name, _, email = found.author.decode("utf-8", "replace").partition(" <")
        return Commit(
            id=id,
            parents=tuple(parent.decode() for parent in found.parents),
            tree=found.tree.decode(),
            author=Signature(name, email.rstrip(">")),
            time=moment(found.author_time),
            message=found.message.decode("utf-8", "replace"),
        )

    def history(self, tip: str) -> Iterator[Commit]:
        """`Store.history`; lazy."""
        return newest_first(tip, self.commit)

    def list_tree(self, tree: str) -> tuple[TreeEntry, ...]:
        """`Store.list_tree`."""
        if (known := self._trees.get(tree)) is None:
            known = tuple(
                [
                    TreeEntry(path.decode("utf-8", "surrogateescape"), mode, sha.decode())
                    for path, mode, sha in self._tree_lines(tree)
                ]
            )
            self._trees[tree] = known
            if len(self._trees) > _TREES_KEPT:
                del self._trees[next(iter(self._trees))]
        return known

    def read_blob(self, id: str) -> bytes:
        """`Store.read_blob`."""
        kind, data = self._raw(id)
        if kind != Blob.type_num:
            raise ObjectMissing("is no blob", where=id)
        return data

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
        if len(id) != self._format.hex_length or not valid_hexsha(id.encode()):
            raise ObjectMissing("is no object id", where=repr(id))
        name = ObjectID(id.encode())
        try:
            return self._objects.get_raw(name)
        except KeyError:
            return self._ask_git(id)
        except (OSError, ValueError, zlib.error, ObjectFormatException) as fault:
            raise ObjectMissing(f"cannot be read: {fault}", where=id) from None

    def _ask_git(self, id: str) -> tuple[int, bytes]:
        """Git fetches what a partial clone left out, and finds what a gc packed while we were looking."""
        asked = run_in(self.repository, ["cat-file", "--batch"], input=f"{id}\n".encode())
        header, _, data = asked.stdout.partition(b"\n")
        words = header.split()
        if asked.returncode or len(words) != 3:
            raise ObjectMissing("the object is missing", where=id, next_step="see `git fsck`")
        return _KINDS.get(words[1], 0), data[: int(words[2])]

    # writing

    def author(self) -> Signature:
        """`Store.author`, asked of git once."""
        if self._author is None:
            asked = run_in(self.repository, ["var", "GIT_AUTHOR_IDENT"])
            if asked.returncode:
                raise IdentityMissing(
                    "git does not know who you are",
                    next_step="run `git config --global user.name NAME` and `git config --global user.email EMAIL`",
                )
            name, _, rest = asked.stdout.decode("utf-8", "replace").partition(" <")
            self._author = Signature(name, rest.partition(">")[0])
        return self._author

    @contextmanager
    def exclusive(self, timeout: float = 10.0) -> Iterator[None]:
        """`Store.exclusive`; may be nested in one thread."""
        with _disk():
            self._state.make()
        try:
            self._lock.acquire(timeout=timeout, poll_interval=_POLL)
        except Timeout:
            raise StoreBusy(
                f"another process was writing for more than {timeout:g} s", where=self.location, next_step="try again"
            ) from None
        except OSError as fault:
            raise _refused(fault) from None
        try:
            if self._lock.lock_counter == 1:
                with _disk():
                    self._heal()
            yield
        finally:
            self._lock.release()

    def write_root(self) -> str:
        """`Store.write_root`."""
        self._require_lock()
        with _disk():
            entries = {name.encode(): (FILE_MODE, self._add(_blob(data))) for name, data in ROOT_FILES.items()}
            return self._add_commit(self._add_tree(entries), [], ROOT_MESSAGE, ROOT_AUTHOR, ROOT_TIME)

    def write(self, parent: str, drafts: Sequence[Draft], author: Signature, now: datetime) -> list[str]:
        """`Store.write`; StoreError when a draft does not fit the tree."""
        self._require_lock()
        self._written.clear()
        folders = Folders(self.commit(parent).tree, self._entries, self._add_tree)
        ids = []
        with _disk():
            for draft in drafts:
                for path in sorted(draft.removes):
                    folders.remove(path)
                for path, data in draft.puts.items():
                    folders.put(path, self._add(_blob(data)))
                parent = self._add_commit(folders.store(), [parent], draft.message, author, now)
                ids.append(parent)
        return ids

    def swap(self, ref: str, old: str | None, new: str | None) -> bool:
        """`Store.swap`; StoreBusy when a foreign git holds the ref's lock for too long.

        The order makes every step safe to be killed after: announce, move, journal, settle.
        """
        self._require_lock()
        if not _is_ours(ref):
            raise InternalError("is no ref of ours", where=ref)
        if new is not None:
            self.commit(new)
        if old == new:
            return self.tip(ref) == old
        move = Move(ref, old, new)
        with _disk():
            self._state.announce(move)
            # What is raised from here on leaves the announcement for `_heal`; a refusal does not.
            try:
                moved = self._move(move)
            except StoreBusy:
                self._state.settle()
                raise
            if moved:
                self._keep_written()
                self._state.journal(move)
            self._state.settle()
        return moved

    def append(self, log: LogName, record: Mapping[str, Any]) -> None:
        """`Store.append`; the record holds what JSON can say."""
        with _disk():
            self._state.append(log, record)

    def _keep_written(self) -> None:
        """Write again what a `git gc --prune=now` beside us took while nothing named it yet."""
        written, self._written = self._written, []
        for item in written:
            id = ObjectID(item.get_id(self._format))
            if not self._objects.contains_loose(id) and id not in self._objects:
                self._add(item)
        self._written.clear()

    def _require_lock(self) -> None:
        if not self._lock.is_locked:
            raise InternalError("a write outside of `exclusive`")

    def _entries(self, tree: str) -> Entries:
        return {path: (mode, sha.decode()) for path, mode, sha in self._tree_lines(tree)}

    def _add(self, item: ShaFile) -> str:
        id = item.get_id(self._format).decode()
        for _ in range(_TRIES):
            try:
                self._objects.add_object(item)
                self._written.append(item)
                return id
            except FileLocked as fault:
                # Left by a killed writer: only ours lock objects, and we hold the writers' lock.
                Path(os.fsdecode(fault.lockfilename)).unlink(missing_ok=True)
            except FileNotFoundError:
                continue  # a gc removed the empty folder between its making and its use
        raise StoreError("the object cannot be written", where=id, next_step="try again when no `git gc` is running")

    def _add_tree(self, entries: Entries) -> str:
        # Written out here: dulwich's Tree would take each entry apart and put it together again.
        lines = (
            b"%o %s\0" % (mode, name) + bytes.fromhex(id) for name, (mode, id) in sorted(entries.items(), key=_order)
        )
        data = b"".join(lines)
        return self._add(ShaFile.from_raw_string(Tree.type_num, data, object_format=self._format))

    def _add_commit(self, tree: str, parents: list[str], message: str, author: Signature, at: datetime) -> str:
        if any(mark in part for part in author for mark in "<>\n\0") or "\0" in message:
            raise InternalError("a commit cannot say this", where=repr(author))
        commit = GitCommit()
        commit.object_format = self._format
        commit.tree = ObjectID(tree.encode())
        commit.parents = [ObjectID(parent.encode()) for parent in parents]
        commit.author = commit.committer = f"{author.name} <{author.email}>".encode()
        commit.author_time = commit.commit_time = int(at.timestamp())
        offset = at.utcoffset()
        commit.author_timezone = commit.commit_timezone = int(offset.total_seconds()) if offset else 0
        commit.message = message.encode()
        return self._add(commit)

    def _move(self, move: Move) -> bool:
        """Compare and swap; waits for a git that is packing refs."""
        deadline = time.monotonic() + self._ref_patience
        while True:
            try:
                return self._try_move(move)
            except FileNotFoundError:  # the folder was empty, and git removed it
                if time.monotonic() > deadline:
                    raise
            except FileLocked as fault:
                if time.monotonic() > deadline:
                    raise StoreBusy(
                        "another git process holds the ref's lock",
                        where=os.fsdecode(fault.lockfilename),
                        next_step="wait until no git is running here and try again",
                    ) from None
            time.sleep(_POLL)

    def _try_move(self, move: Move) -> bool:
        refs, name = self._repo.refs, Ref(move.ref.encode())
        if move.new is None:
            return self._delete(move)
        new = ObjectID(move.new.encode())
        if move.old is None:  # `set_if_equals` takes None for "whatever it is"
            return refs.add_if_new(name, new)
        return refs.set_if_equals(name, ObjectID(move.old.encode()), new)

    def _delete(self, move: Move) -> bool:
        # By git, because killing us leaves it alive to remove its locks, that of `packed-refs` among them.
        if self.tip(move.ref) != move.old:
            return False
        asked = run_in(self.repository, ["update-ref", "--no-deref", "-d", move.ref, move.old or ""])
        if asked.returncode and self.tip(move.ref) == move.old:
            raise StoreBusy(first_line(asked.stderr), where=move.ref, next_step="try again")
        return not asked.returncode

    def _heal(self) -> None:
        """Finish what a killed writer announced: its ref lock, its journal line (LIBRARIES 2 "kill -9")."""
        move = self._state.announced()
        if move is not None and _is_ours(move.ref):
            if move.new is not None:
                remove_own_lock(self._ref_file(move.ref), move.new)
            if self.tip(move.ref) == move.new and not self._state.is_journaled(move):
                self._state.journal(move)
        self._state.settle()


def _order(item: tuple[bytes, tuple[int, str]]) -> bytes:
    """Git sorts a folder as if its name ended with a slash."""
    name, (mode, _) = item
    return name + b"/" if mode == FOLDER_MODE else name


def _is_ours(ref: str) -> bool:
    return ref.startswith("refs/invincat/") and check_ref_format(Ref(os.fsencode(ref)))


def _blob(data: bytes) -> Blob:
    return Blob.from_string(data)


@contextmanager
def _disk() -> Iterator[None]:
    """Tell what the operating system refused as a StoreError."""
    try:
        yield
    except OSError as fault:
        raise _refused(fault) from None


def _refused(fault: OSError) -> StoreError:
    where = fault.filename
    return StoreError(
        fault.strerror or str(fault),
        where=os.fsdecode(where) if isinstance(where, str | bytes) else None,
        next_step="check permissions and free space",
    )
