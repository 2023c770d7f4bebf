"""The folders of a tree while a chain of commits is written: only what changes is read and written again."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from invincat.errors import InternalError, StoreError
from invincat.store.base import FILE_MODE, FOLDER_MODE, LINK_MODE

# An entry of a tree: mode and object id.
Entry = tuple[int, str]
Entries = dict[bytes, Entry]

# Names that git refuses in a tree, and that would leave it.
_FORBIDDEN: Final = frozenset({b"", b".", b"..", b".git"})


@dataclass
class _Folder:
    """One tree, decoded; `opened` are those of its folders that were looked into."""

    entries: Entries
    opened: dict[bytes, "_Folder"] = field(default_factory=dict)
    changed: bool = False


class Folders:
    """A tree under change. `read` decodes a tree, `write` stores one and returns its id."""

    def __init__(self, tree: str, read: Callable[[str], Entries], write: Callable[[Entries], str]) -> None:
        self._read = read
        self._write = write
        self._tree = tree
        self._top = _Folder(read(tree))

    def put(self, path: str, blob: str) -> None:
        """Let a file of mode 100644 stand at `path`; StoreError where a folder is, or where a file is in its way."""
        *above, name = split(path)
        folder = self._open(above, path, make=True)
        if folder.entries.get(name, (0, ""))[0] == FOLDER_MODE:
            raise StoreError("a folder is where a file should be", where=path)
        folder.entries[name] = (FILE_MODE, blob)

    def remove(self, path: str) -> None:
        """Take the file at `path` away; StoreError when there is none."""
        *above, name = split(path)
        folder = self._open(above, path, make=False)
        if folder.entries.get(name, (FOLDER_MODE, ""))[0] == FOLDER_MODE:
            raise StoreError("there is no file to remove", where=path)
        del folder.entries[name]

    def store(self) -> str:
        """Write the changed trees, innermost first, and return the id of the top one."""
        if self._top.changed:
            self._tree = self._store()
        return self._tree

    def _open(self, above: Iterable[bytes], path: str, *, make: bool) -> _Folder:
        folder = self._top
        folder.changed = True
        for name in above:
            folder = self._enter(folder, name, path, make=make)
            folder.changed = True
        return folder

    def _enter(self, folder: _Folder, name: bytes, path: str, *, make: bool) -> _Folder:
        if name in folder.opened:
            return folder.opened[name]
        mode, id = folder.entries.get(name, (0, ""))
        if mode == FOLDER_MODE:
            inner = _Folder(self._read(id))
        elif mode or not make:
            raise _not_a_folder(name, mode, path)
        else:
            inner = _Folder({})
        folder.opened[name] = inner
        return inner

    def _store(self) -> str:
        # Not by calls: a foreign file may stand thousands of folders deep.
        changed = [(self._top, b"", self._top)]
        for _, _, folder in changed:
            changed += [(folder, name, inner) for name, inner in folder.opened.items() if inner.changed]
        for above, name, folder in reversed(changed[1:]):
            folder.changed = False
            if folder.entries:
                above.entries[name] = (FOLDER_MODE, self._write(folder.entries))
            else:
                above.entries.pop(name, None)
                del above.opened[name]
        self._top.changed = False
        return self._write(self._top.entries)


def _not_a_folder(name: bytes, mode: int, path: str) -> StoreError:
    """Why nothing below `name` can be written or removed: what a foreign git put there stays where it is."""
    if not mode:
        return StoreError("there is no file to remove", where=path)
    kind = "a symbolic link" if mode == LINK_MODE else "a file"
    folder = name.decode("utf-8", "replace")
    next_step = "use another section, or rename it on the branch; `invincat check` lists it"
    return StoreError(
        f"{kind} called {folder} stands in the store where a folder should be", where=path, next_step=next_step
    )


def split(path: str) -> list[bytes]:
    """The names along a path of the tree; InternalError for one that no tree may have."""
    if not is_path(path):
        raise InternalError("is no path inside a tree", where=repr(path))
    return _names(path)


def is_path(path: str) -> bool:
    """Whether a tree may have a file there; those that no git made have others, too."""
    return not any(name.lower() in _FORBIDDEN or b"\0" in name for name in _names(path))


def _names(path: str) -> list[bytes]:
    return path.encode("utf-8", "surrogateescape").split(b"/")
