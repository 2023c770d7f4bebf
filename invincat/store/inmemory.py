"""A store that is only in memory, for tests and trials. Object ids are git's own."""

import hashlib
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from invincat.errors import InternalError, StoreError
from invincat.store.ancestry import newest_first
from invincat.store.base import (
    FILE_MODE,
    FOLDER_MODE,
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
    ObjectMissing,
    Signature,
    StoreBusy,
    TreeEntry,
)
from invincat.store.folders import split


class InMemoryStore:
    """A `Store` in dicts. A draft makes all trees anew from the flat list of files, so keep it small."""

    def __init__(self, author: Signature | None = None) -> None:
        """`author` is who commits; None: nobody, `author()` raises."""
        self._who = author
        self._blobs: dict[str, bytes] = {}
        self._trees: dict[str, tuple[TreeEntry, ...]] = {}
        self._commits: dict[str, Commit] = {}
        self._refs: dict[str, str] = {}
        self._lock = threading.RLock()
        self._depth = 0
        self.logs: dict[LogName, list[Mapping[str, Any]]] = {"journal": [], "audit.jsonl": [], "rejected.jsonl": []}

    @property
    def location(self) -> str:
        """`Store.location`; no path."""
        return "(in memory)"

    def tip(self, ref: str = MEMORY_REF) -> str | None:
        """`Store.tip`."""
        return self._refs.get(ref)

    def refs(self, prefix: str) -> dict[str, str]:
        """`Store.refs`."""
        below = f"{prefix.rstrip('/')}/"
        return {name: id for name, id in sorted(self._refs.items()) if name.startswith(below)}

    def commit(self, id: str) -> Commit:
        """`Store.commit`."""
        if id not in self._commits:
            raise ObjectMissing("there is no such commit", where=id)
        return self._commits[id]

    def history(self, tip: str) -> Iterator[Commit]:
        """`Store.history`."""
        return newest_first(tip, self.commit)

    def touching(self, tip: str, paths: Collection[str]) -> Iterator[str]:
        """`Store.touching`."""
        for commit in self.history(tip):
            here = [self._at(commit, path) for path in paths]
            there = [[self._at(self.commit(parent), path) for path in paths] for parent in commit.parents]
            if any(before != here for before in there or [[None] * len(here)]):
                yield commit.id

    def _at(self, commit: Commit, path: str) -> TreeEntry | None:
        """What stands at a path of a commit."""
        entry: TreeEntry | None = TreeEntry("", FOLDER_MODE, commit.tree)
        for name in path.split("/"):
            inside = self.list_tree(entry.id) if entry and entry.mode == FOLDER_MODE else ()
            entry = next((found for found in inside if found.name == name), None)
        return entry

    def list_tree(self, tree: str) -> tuple[TreeEntry, ...]:
        """`Store.list_tree`."""
        if tree not in self._trees:
            raise ObjectMissing("there is no such tree", where=tree)
        return self._trees[tree]

    def read_blob(self, id: str) -> bytes:
        """`Store.read_blob`."""
        if id not in self._blobs:
            raise ObjectMissing("there is no such blob", where=id)
        return self._blobs[id]

    def complete(self, tree: str) -> None:
        """`Store.complete`: everything is at hand."""

    def author(self) -> Signature:
        """`Store.author`: the one given."""
        if self._who is None:
            raise IdentityMissing("nobody commits here", next_step="give the store an author")
        return self._who

    @contextmanager
    def exclusive(self, timeout: float = PATIENCE) -> Iterator[None]:
        """`Store.exclusive`, between threads; may be nested in one."""
        if not self._lock.acquire(timeout=timeout):
            raise StoreBusy(f"another thread was writing for more than {timeout:g} s", next_step="try again")
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            self._lock.release()

    def write_root(self) -> str:
        """`Store.write_root`."""
        self._require_lock()
        files = {name: (FILE_MODE, self._add_blob(data)) for name, data in ROOT_FILES.items()}
        return self._add_commit(self._add_tree(files), (), ROOT_MESSAGE, ROOT_AUTHOR, ROOT_TIME)

    def write(self, parent: str, drafts: Sequence[Draft], author: Signature, now: datetime) -> list[str]:
        """`Store.write`."""
        self._require_lock()
        files = dict(self._files(self.commit(parent).tree, ""))
        ids = []
        for draft in drafts:
            for path in draft.removes:
                split(path)
                if files.pop(path, None) is None:
                    raise StoreError("there is no file to remove", where=path)
            for path, data in draft.puts.items():
                split(path)
                if any(other.startswith(f"{path}/") or path.startswith(f"{other}/") for other in files):
                    raise StoreError("a file or a folder is in the way", where=path)
                files[path] = (FILE_MODE, self._add_blob(data))
            who, at = draft.author or author, draft.time or now
            parent = self._add_commit(self._add_tree(files), (parent,), draft.message, who, at)
            ids.append(parent)
        return ids

    def left_behind(self) -> str | None:
        """`Store.left_behind`: no other tool writes here."""
        return None

    def swap(self, ref: str, old: str | None, new: str | None) -> bool:
        """`Store.swap`."""
        self._require_lock()
        if not ref.startswith(OURS):
            raise InternalError("is no ref of ours", where=ref)
        if new is not None:
            self.commit(new)
        if self.tip(ref) != old:
            return False
        if new == old:
            return True
        if new is None:
            del self._refs[ref]
        else:
            self._refs[ref] = new
        self.append("journal", {"at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", "ref": ref, "old": old, "new": new})
        return True

    def read_log(self, log: LogName, after: int = 0) -> tuple[list[dict[str, Any]], int]:
        """`Store.read_log`; a position is a number of records."""
        return [dict(record) for record in self.logs[log][after:]], len(self.logs[log])

    def append(self, log: LogName, record: Mapping[str, Any]) -> None:
        """`Store.append`, to `logs`."""
        self.logs[log].append(dict(record))

    def plant(self, files: Mapping[str, tuple[int, bytes]]) -> str:
        """A tree of these files with any mode, as a foreign git could have written it, under a new root; its commit."""
        tree = self._add_tree({path: (mode, self._add_blob(data)) for path, (mode, data) in files.items()})
        return self._add_commit(tree, (), "planted\n", ROOT_AUTHOR, ROOT_TIME)

    def _require_lock(self) -> None:
        # The lock itself tells only its owner; taking it again at once succeeds for nobody else.
        if not self._depth or not self._lock.acquire(blocking=False):
            raise InternalError("a write outside of `exclusive`")
        self._lock.release()

    def _files(self, tree: str, above: str) -> Iterator[tuple[str, tuple[int, str]]]:
        for name, mode, id in self.list_tree(tree):
            if mode == FOLDER_MODE:
                yield from self._files(id, f"{above}{name}/")
            else:
                yield f"{above}{name}", (mode, id)

    def _add_blob(self, data: bytes) -> str:
        id = _hash(b"blob", data)
        self._blobs[id] = data
        return id

    def _add_tree(self, files: Mapping[str, tuple[int, str]]) -> str:
        """The tree of these paths, and those of its folders."""
        entries: dict[str, tuple[int, str]] = {}
        folders: dict[str, dict[str, tuple[int, str]]] = {}
        for path, entry in files.items():
            name, inside, rest = path.partition("/")
            if inside:
                folders.setdefault(name, {})[rest] = entry
            else:
                entries[name] = entry
        entries |= {name: (FOLDER_MODE, self._add_tree(inner)) for name, inner in folders.items()}
        # Git sorts a folder as if its name ended with a slash.
        order = sorted(entries, key=lambda name: _bytes(name) + (b"/" if entries[name][0] == FOLDER_MODE else b""))
        lines = [b"%o %s\0%s" % (entries[name][0], _bytes(name), bytes.fromhex(entries[name][1])) for name in order]
        id = _hash(b"tree", b"".join(lines))
        self._trees[id] = tuple(TreeEntry(name, *entries[name]) for name in order)
        return id

    def _add_commit(self, tree: str, parents: tuple[str, ...], message: str, author: Signature, at: datetime) -> str:
        time = at.replace(microsecond=0)
        stamp = f"{author.name} <{author.email}> {int(time.timestamp())} {time:%z}"
        links = "".join(f"parent {parent}\n" for parent in parents)
        id = _hash(b"commit", f"tree {tree}\n{links}author {stamp}\ncommitter {stamp}\n\n{message}".encode())
        self._commits[id] = Commit(id, parents, tree, author, time.astimezone(UTC), message)
        return id


def _hash(kind: bytes, data: bytes) -> str:
    return hashlib.sha1(b"%s %d\0%s" % (kind, len(data), data), usedforsecurity=False).hexdigest()


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
