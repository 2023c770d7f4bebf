"""Which version of the format a store is of: a newer one is read like ours, and not written (FORMAT "Tree")."""

import re
from collections.abc import Sequence
from typing import Final

from invincat.errors import StoreError
from invincat.store.base import FILE_MODE, MEMORY_REF, ROOT_FILES, Store, TreeEntry

[FORMAT_FILE] = ROOT_FILES
FORMAT: Final = 1
_FORMAT: Final = re.compile(r"format: ([0-9]{1,9})\s*")


def newer_format(store: Store, root: Sequence[TreeEntry]) -> int | None:
    """The version of the format where it is newer than ours, None where it is ours; StoreError for any other."""
    entry = next((entry for entry in root if entry.name == FORMAT_FILE), None)
    if entry is None:
        step = "see `git log invincat/memory --`"
        raise StoreError("the ref names no memory store", where=MEMORY_REF, next_step=step)
    said = store.read_blob(entry.id)[:200].decode("utf-8", "replace") if entry.mode == FILE_MODE else ""
    found = _FORMAT.fullmatch(said)
    version = int(found[1]) if found else 0
    if version < FORMAT:
        what = f"is of the unknown format {version}" if found else "does not say which format the store is of"
        raise StoreError(what, where=FORMAT_FILE, next_step=f"see `git log invincat/memory -- {FORMAT_FILE}`")
    return version if version > FORMAT else None


def require_writable(store: Store, commit: str) -> None:
    """StoreError where a store is of a format that this version reads and does not write."""
    if newer := newer_format(store, store.list_tree(store.commit(commit).tree)):
        what = f"the store is of format {newer}, which this version reads and does not write"
        raise StoreError(what, where=store.location, next_step="use a newer version of invincat")
