"""The store in a git repository, on dulwich objects and refs (ARCHITECTURE, decision 5)."""

import os
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from dulwich.errors import ObjectFormatException
from dulwich.objects import Commit as GitCommit
from dulwich.objects import ObjectID
from dulwich.refs import Ref, check_ref_format
from dulwich.repo import InvalidWorktreeConfiguration, Repo, UnsupportedExtension, UnsupportedVersion

from invincat.errors import ConfigurationError, InternalError, StoreError
from invincat.store import leftovers, signing
from invincat.store.ancestry import moment, newest_first
from invincat.store.base import (
    BACKUPS,
    FILE_MODE,
    MEMORY_REF,
    OURS,
    PATIENCE,
    ROOT_AUTHOR,
    ROOT_FILES,
    ROOT_MESSAGE,
    ROOT_TIME,
    Commit,
    Draft,
    IdentityMissing,
    LogName,
    Signature,
    StoreBusy,
    TreeEntry,
    can_say,
)
from invincat.store.folders import Folders
from invincat.store.locate import Repository, first_line, run_in
from invincat.store.objects import leads_to
from invincat.store.odb import ObjectDatabase
from invincat.store.refs import refs_of
from invincat.store.state import Move, StateDir

if TYPE_CHECKING:
    from filelock import FileLock

_UNUSABLE: Final = (UnsupportedExtension, UnsupportedVersion, InvalidWorktreeConfiguration, ObjectFormatException)

# Seconds between two tries for the lock.
_POLL: Final = 0.005


class GitStore:
    """A `Store` over a located repository. One thread at a time may use it; processes may share the repository.

    Close it, or use it as a context manager, to let go of pack files early; at exit that happens by itself.
    """

    def __init__(self, repository: Repository, *, ref_patience: float = 2.0) -> None:
        """Open; ConfigurationError for a repository of a kind that we cannot write safely.

        `ref_patience` is how many seconds `swap` waits for a git that holds the ref's own lock.
        """
        self.repository = repository
        try:
            self._repo = Repo(str(repository.common_dir), bare=True)
        except _UNUSABLE as fault:
            raise ConfigurationError(f"cannot work on this kind of repository: {fault}", where=self.location) from None
        weakref.finalize(self, self._repo.close)
        self._objects = ObjectDatabase(self._repo, repository)
        self._refs = refs_of(self._repo, repository, ref_patience)
        self._state = StateDir(repository.state_dir)
        self._author: Signature | None = None
        self._is_signing: bool | None = None
        self._shallow: tuple[tuple[int, int] | None, frozenset[str]] = (None, frozenset())

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
        with _disk():
            return self._refs.read(ref)

    def refs(self, prefix: str) -> dict[str, str]:
        """`Store.refs`; broken ones are left out."""
        with _disk():
            return self._refs.below(f"{prefix.rstrip('/')}/")

    # reading

    def forget(self) -> None:
        """Read again what was read before, for who must know what can be read now."""
        self._objects.forget()

    def commit(self, id: str) -> Commit:
        """`Store.commit`. What of the text is not UTF-8 is U+FFFD; where a shallow clone ends there are no parents."""
        found = self._objects.read_commit(id)
        name, _, email = found.author.decode("utf-8", "replace").partition(" <")
        return Commit(
            id=id,
            parents=() if id in self._ends() else tuple(parent.decode() for parent in found.parents),
            tree=found.tree.decode(),
            author=Signature(name, email.rstrip(">")),
            time=moment(found.author_time),
            message=found.message.decode("utf-8", "replace"),
        )

    def _ends(self) -> frozenset[str]:
        """The commits at which a shallow clone ends, read again when git has changed them."""
        try:
            state = (self.repository.common_dir / "shallow").stat()
        except FileNotFoundError:
            return frozenset()
        mark = (state.st_mtime_ns, state.st_size)
        if self._shallow[0] != mark:
            self._shallow = (mark, frozenset(id.decode() for id in self._repo.get_shallow()))
        return self._shallow[1]

    def history(self, tip: str) -> Iterator[Commit]:
        """`Store.history`; lazy."""
        return newest_first(tip, self.commit)

    def touching(self, tip: str, paths: Collection[str]) -> Iterator[str]:
        """`Store.touching`, asked of git, which need not read what it can skip; StoreError in its words."""
        # Names come from trees: on the standard input none is an option, and one with a line end is none of ours.
        lines = [tip, "--", *(path for path in paths if "\n" not in path)]
        how = ["rev-list", "--full-history", "--author-date-order", "--stdin"]
        asked = run_in(
            self.repository,
            ["--literal-pathspecs", "--no-replace-objects", *how],
            input=b"".join(os.fsencode(line) + b"\n" for line in lines),
        )
        if asked.returncode:
            raise StoreError(first_line(asked.stderr), where=self.location, next_step="run `invincat doctor --repair`")
        yield from asked.stdout.decode().split()

    def list_tree(self, tree: str) -> tuple[TreeEntry, ...]:
        """`Store.list_tree`."""
        return self._objects.list_tree(tree)

    def read_blob(self, id: str) -> bytes:
        """`Store.read_blob`."""
        return self._objects.read_blob(id)

    def complete(self, tree: str) -> None:
        """`Store.complete`; StoreError in git's words when the remote cannot be asked."""
        self._objects.complete(tree)

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
    def exclusive(self, timeout: float = PATIENCE) -> Iterator[None]:
        """`Store.exclusive`; may be nested in one thread."""
        with _disk():
            self._state.make()
            self._state.require_plain("lock", "pending", "pending.tmp", "journal")
        try:
            self._lock.acquire(timeout=timeout, poll_interval=_POLL)
        except TimeoutError:
            raise StoreBusy(
                f"another process was writing for more than {timeout:g} s", where=self.location, next_step="try again"
            ) from None
        except OSError as fault:
            raise _refused(fault) from None
        try:
            if self._lock.lock_counter == 1:
                with _disk():
                    self._heal()
                    self._keep_left_behind()
            yield
        finally:
            self._lock.release()

    def write_root(self) -> str:
        """`Store.write_root`."""
        self._require_lock()
        with _disk():
            entries = {name.encode(): (FILE_MODE, self._objects.add_blob(data)) for name, data in ROOT_FILES.items()}
            return self._add_commit(self._objects.add_tree(entries), [], ROOT_MESSAGE, ROOT_AUTHOR, ROOT_TIME)

    def write(self, parent: str, drafts: Sequence[Draft], author: Signature, now: datetime) -> list[str]:
        """`Store.write`; StoreError when a draft does not fit the tree."""
        self._require_lock()
        self._objects.begin()
        folders = Folders(self.commit(parent).tree, self._objects.entries, self._objects.add_tree)
        ids = []
        with _disk():
            for draft in drafts:
                for path in sorted(draft.removes):
                    folders.remove(path)
                for path, data in draft.puts.items():
                    folders.put(path, self._objects.add_blob(data))
                who, at = draft.author or author, draft.time or now
                parent = self._add_commit(folders.store(), [parent], draft.message, who, at)
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
            self._objects.require(new)
        if old == new:
            return self.tip(ref) == old
        move = Move(ref, old, new)
        with _disk():
            self._state.announce(move)
            # What is raised from here on leaves the announcement for `_heal`; a refusal does not.
            try:
                moved = self._refs.move(move)
            except StoreError:
                self._state.settle()
                raise
            if moved:
                self._objects.keep_written()
                self._state.journal(move)
            self._state.settle()
        return moved

    def discard(self, ref: str) -> str | None:
        """Take away a ref of ours that names nothing, and say what stood in it. Under `exclusive`."""
        self._require_lock()
        if not _is_ours(ref):
            raise InternalError("is no ref of ours", where=ref)
        with _disk():
            return self._refs.discard(ref)

    def stale_locks(self) -> list[Path]:
        """Locks of killed processes that nobody will remove; see `leftovers`."""
        with _disk():
            return leftovers.stale_locks(self.repository.common_dir)

    def sweep_locks(self) -> list[Path]:
        """Remove them and say which. Under `exclusive`."""
        self._require_lock()
        with _disk():
            return leftovers.sweep_locks(self.repository.common_dir)

    def read_log(self, log: LogName, after: int = 0) -> tuple[list[dict[str, Any]], int]:
        """`Store.read_log`; a position is a number of bytes."""
        with _disk():
            return self._state.read(log, after)

    def append(self, log: LogName, record: Mapping[str, Any]) -> None:
        """`Store.append`; the record holds what JSON can say."""
        with _disk():
            self._state.append(log, record)

    @cached_property
    def _lock(self) -> "FileLock":
        return self._state.lock()

    def _require_lock(self) -> None:
        if not self._lock.is_locked:
            raise InternalError("a write outside of `exclusive`")

    def _signs(self) -> bool:
        """Whether commits are signed here; asked of git once."""
        if self._is_signing is None:
            self._is_signing = signing.is_on(self.repository)
        return self._is_signing

    def _add_commit(self, tree: str, parents: list[str], message: str, author: Signature, at: datetime) -> str:
        if not can_say(author, message):
            raise InternalError("a commit cannot say this", where=repr(author))
        if parents and self._signs():
            [parent] = parents
            return self._objects.adopt(signing.signed_commit(self.repository, tree, parent, message, author, at))
        commit = GitCommit()
        commit.object_format = self._repo.object_format
        commit.tree = ObjectID(tree.encode())
        commit.parents = [ObjectID(parent.encode()) for parent in parents]
        commit.author = commit.committer = f"{author.name} <{author.email}>".encode()
        commit.author_time = commit.commit_time = int(at.timestamp())
        offset = at.utcoffset()
        commit.author_timezone = commit.commit_timezone = int(offset.total_seconds()) if offset else 0
        commit.message = message.encode()
        return self._objects.add(commit)

    def _heal(self) -> None:
        """Finish what a killed writer announced: its ref lock, its journal line (LIBRARIES 2 "kill -9")."""
        move = self._state.announced()
        if move is not None and _is_ours(move.ref):
            self._refs.heal(move)
            try:
                is_made = self.tip(move.ref) == move.new
            except StoreError:  # the ref is broken: a repair takes the announcement for a trace of it
                return
            if is_made and self._state.last_move() != move:
                self._state.journal(move)
        self._state.settle()

    def left_behind(self) -> str | None:
        """`Store.left_behind`.

        Beside a `git pack-refs`, git's own update may succeed on an old value (LIBRARIES 2). Who sets the ref back on
        purpose leaves no such fork.
        """
        last = self._state.last_move(MEMORY_REF)
        try:
            tip = self.tip()
            if last is None or last.new is None or tip in {None, last.new} or not self._objects.is_id(last.new):
                return None
            if not self._objects.has_commit(last.new):  # it is gone, and with it what it led to
                return last.new
            # Asked of git, whose way is short where ours would lead through all of the history.
            is_in = any(leads_to(self.repository, *ends) for ends in ((tip, last.new), (last.new, tip)))
        except StoreError:  # what is broken is for a repair
            return None
        return None if is_in else last.new

    def _keep_left_behind(self) -> None:
        """Back up what was left behind, so that no `git gc` takes it."""
        lost = self.left_behind()
        try:
            if lost is None or lost in self.refs(BACKUPS).values():
                return
            self._objects.require(lost)
        except StoreError:  # as above
            return
        at = datetime.now(UTC)
        while not self._refs.move(move := Move(f"{BACKUPS}{at:%Y%m%dT%H%M%SZ}", None, lost)):
            at += timedelta(seconds=1)
        self._state.journal(move)


def _is_ours(ref: str) -> bool:
    return ref.startswith(OURS) and check_ref_format(Ref(os.fsencode(ref)))


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
