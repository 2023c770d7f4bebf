"""The refs of a repository: as files through dulwich, of any other kind (reftable) through git itself.

Dulwich is ten times as fast and safe beside a `git pack-refs`, which git's own update is not; on a reftable it loses
updates (LIBRARIES 2). Everybody who moves a ref of ours holds the writers' lock, other tools excepted.
"""

import os
import stat
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path
from typing import Final

from dulwich.errors import PackedRefsException
from dulwich.file import FileLocked
from dulwich.objects import ObjectID, valid_hexsha
from dulwich.refs import DiskRefsContainer, Ref, SymrefLoop
from dulwich.repo import Repo

from invincat.errors import StoreError
from invincat.store.base import OURS, StoreBusy
from invincat.store.locate import Repository, first_line, run_in
from invincat.store.state import Move, remove_own_lock

# Seconds between two tries for a lock.
_POLL: Final = 0.005
# Characters of an id, at least.
_ID_LENGTH: Final = 40
_REPAIR: Final = "run `invincat doctor --repair`"
_NEXT_STEP: Final = "wait until no git is running here and try again"


class _Locked(Exception):
    """Another git holds a lock now; `what` and `where` say which."""

    def __init__(self, what: str, where: str) -> None:
        self.what = what
        self.where = where


class Refs(ABC):
    """Refs by their full name. `patience` is how many seconds a git that holds a ref's own lock is waited for."""

    def __init__(self, repository: Repository, patience: float) -> None:
        self._repository = repository
        self._patience = patience

    @abstractmethod
    def read(self, ref: str) -> str | None:
        """The id that a ref names, None where there is none; StoreError for one that is broken or leads elsewhere."""

    @abstractmethod
    def below(self, prefix: str) -> dict[str, str]:
        """Refs below a prefix that ends with a slash, sorted by name; broken ones are left out."""

    @abstractmethod
    def discard(self, ref: str) -> str | None:
        """Take away a ref that names nothing, and say what it held; None where nothing was to be taken. OSError."""

    @abstractmethod
    def heal(self, move: Move) -> None:
        """Remove the lock that a writer left who was killed while it made this move."""

    @abstractmethod
    def _try(self, move: Move) -> bool:
        """One compare-and-swap; _Locked."""

    def move(self, move: Move) -> bool:
        """Compare and swap; False when the ref is elsewhere. StoreBusy when its lock is held for too long."""
        deadline = time.monotonic() + self._patience
        while True:
            try:
                return self._try(move)
            except _Locked as fault:
                if time.monotonic() > deadline:
                    raise StoreBusy(fault.what, where=fault.where, next_step=_NEXT_STEP) from None
            time.sleep(_POLL)

    def _update(self, move: Move) -> bool:
        """The same by git, which also outlives our being killed and then removes its locks."""
        none = "0" * len(move.old or move.new or "")
        verb = f"update {move.ref} {move.new} {move.old or none}" if move.new else f"delete {move.ref} {move.old}"
        asked = run_in(self._repository, ["update-ref", "--no-deref", "--stdin"], input=f"{verb}\n".encode())
        if not asked.returncode:
            return True
        if self.read(move.ref) != move.old:
            return False
        complaint = first_line(asked.stderr)
        if "lock" in complaint.lower():
            raise _Locked(complaint, move.ref)
        raise StoreError(complaint, where=move.ref)


class FileRefs(Refs):
    """Loose files and `packed-refs`."""

    def __init__(self, refs: DiskRefsContainer, repository: Repository, patience: float) -> None:
        super().__init__(repository, patience)
        self._refs = refs

    def read(self, ref: str) -> str | None:
        """`Refs.read`."""
        found = self._follow(ref)
        # After a power loss a ref may be an empty file. Dulwich takes that for absent, or for what was packed long ago.
        if self._is_cut_short(ref):
            raise StoreError("the ref is empty or cut short", where=ref, next_step=_REPAIR)
        if found is None:
            self._require_readable(ref)
            return None
        if not valid_hexsha(found):
            raise StoreError("the ref is broken", where=ref, next_step=_REPAIR)
        return found.decode()

    def _require_readable(self, ref: str) -> None:
        """Dulwich takes a file that we may not read for absent; OSError."""
        with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
            (self._repository.common_dir / ref).open("rb").close()

    def _is_cut_short(self, ref: str) -> bool:
        try:
            place = (self._repository.common_dir / ref).stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        return stat.S_ISREG(place.st_mode) and place.st_size < _ID_LENGTH and ref.startswith(OURS)

    def below(self, prefix: str) -> dict[str, str]:
        """`Refs.below`."""
        found = {}
        try:
            keys = self._refs.subkeys(Ref(prefix.encode()))
        except PackedRefsException as fault:
            raise _unreadable(prefix, fault) from None
        for key in keys:
            ref = prefix + os.fsdecode(key)
            try:
                id = self._follow(ref)
            except StoreError:
                continue
            if id is not None and valid_hexsha(id):
                found[ref] = id.decode()
        return dict(sorted(found.items()))

    def discard(self, ref: str) -> str | None:
        """`Refs.discard`: its loose file."""
        path = self._repository.common_dir / ref
        try:
            held = path.read_bytes()
        except FileNotFoundError:
            return None
        path.unlink()
        return held.decode("utf-8", "replace").strip()

    def heal(self, move: Move) -> None:
        """`Refs.heal`."""
        if move.new is not None:
            remove_own_lock(self._file(move.ref), move.new)

    def _try(self, move: Move) -> bool:
        if move.new is None:
            # By git: a kill of ours in the middle would leave the lock of `packed-refs`, which blocks everybody.
            return self.read(move.ref) == move.old and self._update(move)
        name, new = Ref(move.ref.encode()), ObjectID(move.new.encode())
        try:
            if move.old is None:  # `set_if_equals` takes None for "whatever it is"
                return self._refs.add_if_new(name, new)
            return self._refs.set_if_equals(name, ObjectID(move.old.encode()), new)
        except FileNotFoundError:  # the folder was empty, and git removed it
            raise _Locked("git keeps removing the ref's folder", move.ref) from None
        except FileLocked as fault:
            where = os.fsdecode(fault.lockfilename)
            raise _Locked("another git process holds the ref's lock", where) from None

    def _follow(self, ref: str) -> bytes | None:
        """What a ref names. A symbolic one of ours is refused: our commits would go to somebody's branch."""
        try:
            names, found = self._refs.follow(Ref(os.fsencode(ref)))
        except (SymrefLoop, PackedRefsException) as fault:
            raise _unreadable(ref, fault) from None
        if len(names) > 1:
            _refuse_link(ref, os.fsdecode(names[-1]))
        return found

    def _file(self, ref: str) -> Path:
        names, _ = self._refs.follow(Ref(ref.encode()))
        return self._repository.common_dir / os.fsdecode(names[-1])


class GitRefs(Refs):
    """Refs of whatever kind git knows, one process a question."""

    def read(self, ref: str) -> str | None:
        """`Refs.read`."""
        found, complaint = self._list(ref)
        if ref not in found and complaint:
            raise StoreError(first_line(complaint), where=ref, next_step="see `git fsck`")
        return found.get(ref)

    def below(self, prefix: str) -> dict[str, str]:
        """`Refs.below`."""
        return self._list(prefix)[0]

    def discard(self, ref: str) -> str | None:
        """`Refs.discard`: one that leads elsewhere; git writes no other broken ones."""
        asked = run_in(self._repository, ["symbolic-ref", "--quiet", ref])
        if asked.returncode or run_in(self._repository, ["symbolic-ref", "--delete", ref]).returncode:
            return None
        return asked.stdout.decode("utf-8", "surrogateescape").strip()

    def heal(self, move: Move) -> None:
        """`Refs.heal`: nothing to do, since git removes its own."""

    def _try(self, move: Move) -> bool:
        return self._update(move)

    def _list(self, pattern: str) -> tuple[dict[str, str], bytes]:
        """Refs by name with their ids, and what git said of those that it left out."""
        asked = run_in(self._repository, ["for-each-ref", "--format=%(refname) %(objectname) %(symref)", pattern])
        if asked.returncode:
            raise StoreError(first_line(asked.stderr), where=pattern, next_step="see `git fsck`")
        found = {}
        for line in asked.stdout.splitlines():
            # Other tools' names may hold what Python takes for spaces and line ends, as U+2028.
            ref, id, link = line.decode("utf-8", "surrogateescape").split(" ")
            if link and ref == pattern:
                _refuse_link(ref, link)
            if not link or not ref.startswith(OURS):
                found[ref] = id
        return found, asked.stderr


def refs_of(repo: Repo, repository: Repository, patience: float) -> Refs:
    """The refs of a repository, in the way that is safe for their kind."""
    if isinstance(repo.refs, DiskRefsContainer):
        return FileRefs(repo.refs, repository, patience)
    return GitRefs(repository, patience)


def _unreadable(ref: str, fault: Exception) -> StoreError:
    return StoreError(f"the refs cannot be read: {fault}", where=ref, next_step="see `git fsck`")


def _refuse_link(ref: str, target: str) -> None:
    if ref.startswith(OURS):
        raise StoreError(f"the ref points to {target}", where=ref, next_step=f"see `git symbolic-ref {ref}`")
