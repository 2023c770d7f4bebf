"""A memory ref that is missing, broken or leads to lost objects is set to the newest commit that can be read.

A commit can be read when its tree and all below it are here and are what their ids say. What the ref named is kept.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from invincat.errors import StoreError
from invincat.memory.entry import format_time
from invincat.store.base import (
    BACKUPS,
    FOLDER_MODE,
    GITLINK_MODE,
    MEMORY_REF,
    PROPOSALS,
    ROOT_FILES,
    Commit,
    ObjectDenied,
    ObjectMissing,
)
from invincat.store.files import DELETED_FOLDER, MEMORY_FOLDER
from invincat.store.format import require_writable
from invincat.store.git import GitStore
from invincat.store.journal import Journal, NoNotes
from invincat.store.locate import is_partial
from invincat.store.message import read
from invincat.store.objects import ask_lines
from invincat.store.revision import published
from invincat.store.source import blob_id
from invincat.store.state import StateDir


class Broken(NamedTuple):
    """What is wrong with the ref; `tip` is what it names (None: nothing that is an id)."""

    fault: str
    tip: str | None = None


class Repaired(NamedTuple):
    """The commit that the ref names now, where it was found, what was kept, and how many commits are not in it.

    `kept` is a ref, or the words that stood in the ref; None where there was nothing.
    """

    commit: str
    origin: str
    kept: str | None
    left_behind: int


class _Start(NamedTuple):
    commit: str
    origin: str


def diagnose(store: GitStore) -> Broken | None:
    """What is wrong with the memory ref; None when it is sound, or there was never one here."""
    store.forget()
    try:
        tip = store.tip()
    except StoreError as fault:
        return Broken(fault.what)
    if tip is None:
        lost = Journal(store, NoNotes()).trail().tip
        return Broken(f"the ref is gone; it was at {lost[:7]}") if lost else None
    unreadable = _Reader(store).fault(tip)
    return Broken(unreadable, tip) if unreadable else None


def repair(store: GitStore, now: datetime) -> Repaired | None:
    """Set a broken ref right; None when no commit of a store can be read, and then nothing was changed.

    StoreError when the refs as a whole cannot be read or written, or the store is of a newer format.
    """
    announced = StateDir(store.repository.state_dir).announced()
    with store.exclusive():
        broken = diagnose(store)
        if broken is None:
            return None
        starts = (
            [_Start(announced.new, "what a killed writer was about to write")] if announced and announced.new else []
        )
        found = _find(store, [*starts, *_own_line(store, broken.tip)])
        if found is None:
            return None
        require_writable(store, found.commit)
        left_behind = _count_beyond(store, broken.tip, found.commit)
        kept = _keep(store, broken.tip, now)
        words = None if broken.tip else store.discard(MEMORY_REF)
        now_at = store.tip()
        if now_at != found.commit and not store.swap(MEMORY_REF, now_at, found.commit):
            raise StoreError("the ref moved meanwhile", where=MEMORY_REF, next_step="run it again")
        line = {"at": format_time(now), "repaired": now_at, "was": kept or words, "to": found.commit}
        place = {"ref": MEMORY_REF, "old": now_at, "new": now_at} if now_at == found.commit else {}
        store.append("journal", line | place)
        return Repaired(found.commit, found.origin, kept or words, left_behind)


def _find(store: GitStore, own: Iterable[_Start]) -> _Start | None:
    """The newest commit that can be read: of the ref's own line, else of other refs, else of what nothing names.

    One that holds memories is preferred to any that holds none: an empty store never takes the place of a full one.
    """
    reader, empty = _Reader(store), list[_Start]()
    own = list(own)
    for starts in (
        own,
        _ancestors(store, own),
        others := list(_elsewhere(store)),
        _ancestors(store, others),
        _lost(store),
    ):
        for start in starts:
            if reader.fault(start.commit) is None:
                if reader.has_memories(start.commit):
                    return start
                empty.append(start)
    return empty[0] if empty else None


def _own_line(store: GitStore, tip: str | None) -> Iterator[_Start]:
    """Where the ref was, the newest first, as far as is known without the objects."""
    if tip:
        yield _Start(tip, "the ref")
    records, _ = store.read_log("journal")
    for record in reversed(records):
        for id in (record.get("new"), record.get("old")):
            if record.get("ref") == MEMORY_REF and isinstance(id, str):
                yield _Start(id, "the journal")
    with suppress(OSError):
        log = store.repository.common_dir / "logs" / MEMORY_REF
        for line in reversed(log.read_text("utf-8", "replace").split("\n")):
            if len(words := line.split(" ", 2)) == 3:
                yield _Start(words[1], "the ref's log")


def _elsewhere(store: GitStore) -> list[_Start]:
    """What other refs keep of the store, the newest first."""
    found = []
    for ref, tip in published(store).items() | store.refs(BACKUPS).items():
        found.append(_Start(tip, ref))
    for ref, tip in store.refs(PROPOSALS).items():
        with suppress(ObjectMissing):
            base = next((one.id for one in store.history(tip) if read(one.message).held is None), None)
            if base:
                found.append(_Start(base, f"the base of {ref}"))
    return _newest_first(store, found)


def _lost(store: GitStore) -> list[_Start]:
    """Commits of a store that nothing needs to name, the newest first; no drafts of proposals."""
    form = "--batch-check=%(objectname) %(objecttype)"
    found = []
    for line in ask_lines(store.repository, ["cat-file", "--batch-all-objects", "--unordered", form]):
        id, _, kind = line.partition(" ")
        if kind == "commit":
            with suppress(ObjectMissing):
                message = read(store.commit(id).message)
                if message.op and message.held is None:
                    found.append(_Start(id, "a commit that nothing named any more"))
    return _newest_first(store, found)


def _newest_first(store: GitStore, starts: Iterable[_Start]) -> list[_Start]:
    dated = []
    for start in starts:
        with suppress(ObjectMissing):
            dated.append((store.commit(start.commit).time, start))
    return [start for _, start in sorted(dated, reverse=True)]


def _ancestors(store: GitStore, starts: Iterable[_Start]) -> Iterator[_Start]:
    """What leads to these, the newest first, each once."""
    seen: set[str] = set()
    for start in starts:
        for commit in _history(store, start.commit):
            if commit.id in seen:
                break
            seen.add(commit.id)
            yield _Start(commit.id, f"before {start.commit[:7]}, {start.origin}")


def _history(store: GitStore, tip: str) -> Iterator[Commit]:
    """As much of a history as can be read."""
    with suppress(ObjectMissing):
        yield from store.history(tip)


def _count_beyond(store: GitStore, tip: str | None, commit: str) -> int:
    """How many commits the ref had that `commit` does not lead to."""
    if tip is None:
        return 0
    kept = {one.id for one in _history(store, commit)}
    return sum(one.id not in kept for one in _history(store, tip))


def _keep(store: GitStore, tip: str | None, now: datetime) -> str | None:
    """Name what the ref named in a backup, if it is a commit."""
    if tip is None:
        return None
    ref = f"{BACKUPS}{now:%Y%m%dT%H%M%SZ}"
    try:
        store.swap(ref, store.tip(ref), tip)
    except ObjectMissing:
        return tip
    return ref


class _Reader:
    """Reads trees to the last byte, each object once. In a partial clone missing files are on the server, not lost.

    What we may not read is not lost either: ObjectDenied.
    """

    def __init__(self, store: GitStore) -> None:
        self._store = store
        self._format = store.repository.object_format
        self._is_partial = is_partial(store.repository)
        self._known: dict[str, str | None] = {}

    def fault(self, commit: str) -> str | None:
        """What of a commit cannot be read; None when all of it can."""
        if commit not in self._known:
            self._known[commit] = self._commit_fault(commit)
        return self._known[commit]

    def has_memories(self, commit: str) -> bool:
        """Whether anything was ever remembered in it."""
        names = {entry.name for entry in self._store.list_tree(self._store.commit(commit).tree)}
        return bool(names & {MEMORY_FOLDER, DELETED_FOLDER})

    def _commit_fault(self, id: str) -> str | None:
        try:
            tree = self._store.commit(id).tree
            if not {entry.name for entry in self._store.list_tree(tree)} >= ROOT_FILES.keys():
                return f"{id[:7]} is no commit of a memory store"
        except ObjectDenied:
            raise
        except ObjectMissing as fault:
            return str(fault)
        return self._tree_fault(tree)

    def _tree_fault(self, top: str) -> str | None:
        # A foreign tree may be thousands deep, more than calls can be.
        waiting = [(top, "")]
        while waiting:
            id, base = waiting[-1]
            below = self._unknown_folders(id, base)
            waiting += below
            if not below:
                waiting.pop()
        return self._known[top]

    def _unknown_folders(self, id: str, base: str) -> list[tuple[str, str]]:
        """The folders that must be read before this one can be told of; none, and it has been told of."""
        if id in self._known:
            return []
        try:
            entries = self._store.list_tree(id)
        except ObjectDenied:
            raise
        except ObjectMissing as fault:
            self._known[id] = f"{base or 'the tree'}: {fault}"
            return []
        folders = ((entry.id, f"{base}{entry.name}/") for entry in entries if entry.mode == FOLDER_MODE)
        if below := [folder for folder in folders if folder[0] not in self._known]:
            return below
        faults = (self._entry_fault(entry.mode, entry.id, f"{base}{entry.name}") for entry in entries)
        self._known[id] = next((fault for fault in faults if fault), None)
        return []

    def _entry_fault(self, mode: int, id: str, path: str) -> str | None:
        if mode == FOLDER_MODE:
            return self._known[id]
        if mode == GITLINK_MODE or self._is_partial:
            return None
        if id not in self._known:
            self._known[id] = self._blob_fault(id, path)
        return self._known[id]

    def _blob_fault(self, id: str, path: str) -> str | None:
        try:
            data = self._store.read_blob(id)
        except ObjectDenied:
            raise
        except ObjectMissing as fault:
            return f"{path}: {fault}"
        return None if blob_id(data, self._format) == id else f"{path}: {id} is not what it should be"
