"""The files of a commit's tree: found by path, walked, and compared with another's."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from invincat.store.base import FILE_MODE, FOLDER_MODE, ObjectMissing, Store

MAX_LOOK: Final = 1024 * 1024

MEMORY_FOLDER: Final = "memory"
DELETED_FOLDER: Final = "deleted"


class FileChange(NamedTuple):
    """A file below `memory/` that differs between two trees; an id is None where it is absent."""

    path: str
    old: str | None
    new: str | None


def shown(name: str) -> str:
    """A name out of a tree as it can be printed: what is no text, or moves the cursor, as an escape."""
    if name.isascii() and name.isprintable():
        return name
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", lambda found: ascii(found[0])[1:-1], text)


def find_blob(store: Store, commit: str, path: str) -> str | None:
    """The blob of a plain file at a path of a commit; None where there is none."""
    return find_blobs(store, commit, [path]).get(path)


def find_blobs(store: Store, commit: str, paths: Iterable[str]) -> dict[str, str]:
    """The blobs of plain files at paths of a commit, by path, without those that are not there."""
    wanted: dict[str, set[str]] = defaultdict(set)
    for path in paths:
        folder, _, name = path.rpartition("/")
        wanted[folder].add(name)
    trees: dict[str, str | None] = {"": store.commit(commit).tree}
    folders: dict[str, dict[str, str]] = {}

    def tree_of(folder: str) -> str | None:
        if folder not in trees:
            above, _, name = folder.rpartition("/")
            if above not in folders:
                tree = tree_of(above)
                listed = store.list_tree(tree) if tree else ()
                folders[above] = {entry.name: entry.id for entry in listed if entry.mode == FOLDER_MODE}
            trees[folder] = folders[above].get(name)
        return trees[folder]

    found: dict[str, str] = {}
    for folder, names in wanted.items():
        base = f"{folder}/" if folder else ""
        listed = store.list_tree(tree) if (tree := tree_of(folder)) else ()
        found |= {f"{base}{one.name}": one.id for one in listed if one.name in names and one.mode == FILE_MODE}
    return found


def all_files(store: Store, commit: str) -> Iterator[tuple[str, bytes | None]]:
    """Every plain file of a commit with its bytes, the first megabyte of long ones.

    Of a file or folder that cannot be read there are none. A folder that stands in several places is told of once:
    folders that hold each other many times over would never end.
    """
    root = store.commit(commit).tree
    store.complete(root)
    folders = [("", root)]
    told: set[str] = set()
    while folders:
        base, tree = folders.pop()
        if tree in told:
            continue
        told.add(tree)
        try:
            entries = store.list_tree(tree)
        except ObjectMissing:
            yield base.rstrip("/"), None
            continue
        for entry in entries:
            path = f"{base}{shown(entry.name)}"
            if entry.mode == FOLDER_MODE:
                folders.append((f"{path}/", entry.id))
            elif entry.mode == FILE_MODE:
                yield path, _read_start(store, entry.id)


def _read_start(store: Store, blob: str) -> bytes | None:
    try:
        return store.read_blob(blob)[:MAX_LOOK]
    except ObjectMissing:
        return None


def changed_files(store: Store, old: str | None, new: str) -> Iterator[FileChange]:
    """Plain files below `memory/` that differ between two commits; folders with equal ids are not opened."""
    before, after = (_memory_folders(store, commit) if commit else {} for commit in (old, new))
    for folder in sorted(before.keys() | after.keys()):
        if before.get(folder) == after.get(folder):
            continue
        left, right = (_files(store, tree) for tree in (before.get(folder), after.get(folder)))
        for name in sorted(left.keys() | right.keys()):
            if left.get(name) != right.get(name):
                yield FileChange(f"{MEMORY_FOLDER}/{folder}/{name}", left.get(name), right.get(name))


def _memory_folders(store: Store, commit: str) -> dict[str, str]:
    for entry in store.list_tree(store.commit(commit).tree):
        if entry.name == MEMORY_FOLDER and entry.mode == FOLDER_MODE:
            return {folder.name: folder.id for folder in store.list_tree(entry.id) if folder.mode == FOLDER_MODE}
    return {}


def _files(store: Store, tree: str | None) -> dict[str, str]:
    return {entry.name: entry.id for entry in store.list_tree(tree) if entry.mode == FILE_MODE} if tree else {}
