"""Where a path from a model becomes a path on disk: inside the workspace, and outside of every git directory.

RULES 10: file tools refuse the git directory and the stores, by whatever name they are reached.
"""

import errno
import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import BinaryIO, Final

from invincat.errors import UserError
from invincat.store.locate import NotARepository, Repository, locate
from invincat.tools.base import visible

# `.git` as file systems that fold case, drop final dots or skip invisible characters would find it, too.
_DOT_GIT: Final = re.compile(r"(?:\.git|git~[0-9]+)[ .]*(?::.*)?", re.IGNORECASE | re.DOTALL)
_IGNORABLE: Final = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")

_NO_FILE: Final = {
    stat.S_IFDIR: ("it is a directory", "list_dir shows what is in it"),
    stat.S_IFIFO: ("it is a pipe, not a file", "name a regular file"),
    stat.S_IFSOCK: ("it is a socket, not a file", "name a regular file"),
    stat.S_IFCHR: ("it is a device, not a file", "name a regular file"),
    stat.S_IFBLK: ("it is a device, not a file", "name a regular file"),
}
_RELATIVE: Final = "name a path relative to the workspace, such as `src/app.py`; list_dir and glob show what is there"
_FAULTS: Final = {
    errno.ELOOP: "it is a link that leads back to itself",
    errno.ENOTDIR: "a part of it is no directory",
    errno.EACCES: "it may not be read by this user",
    errno.ENAMETOOLONG: "it is too long for a path",
}


class NoAccess(UserError):
    """The path is not there, not inside the workspace, or closed."""


@dataclass(frozen=True)
class Place:
    """Something inside the workspace. `path` is absolute without links, `name` the same relative to the root."""

    path: Path
    name: str


class Workspace:
    """The tree that file tools may look at.

    `root` is the top of the git work tree, or a directory; `closed` are folders of ours that may lie inside it.
    """

    def __init__(self, root: Path, repository: Repository | None = None, closed: Iterable[Path] = ()) -> None:
        self.root = Path(os.path.realpath(root))
        self.is_versioned = repository is not None and repository.root is not None
        private = (repository.git_dir, repository.common_dir, repository.state_dir) if repository else ()
        self._closed = tuple(Path(os.path.realpath(path)) for path in (*private, *closed))

    @classmethod
    def at(cls, directory: Path, closed: Iterable[Path] = ()) -> "Workspace":
        """The workspace of a directory: the work tree that it is in, else itself. Errors as `locate`, but for none."""
        try:
            repository = locate(directory)
        except NotARepository:
            return cls(directory, None, closed)
        return cls(repository.root or directory, repository, closed)

    def resolve(self, path: str) -> Place:
        """The place that a model means, relative to the root or absolute. NoAccess says why not, and what to do.

        What lies outside or is closed is refused before anything is told about what is there.
        """
        try:
            usable = bool(path) and b"\0" not in path.encode()
        except UnicodeEncodeError:
            usable = False
        if not usable:
            raise NoAccess("this is no path", where=_quoted(path), next_step=_RELATIVE)
        asked = self.root / path
        fault: OSError | None = None
        try:
            real = Path(os.path.realpath(asked, strict=True))
        except OSError as found:
            real, fault = Path(os.path.realpath(asked)), found
        if not real.is_relative_to(self.root):
            raise NoAccess("it leads outside of the workspace", where=_quoted(path), next_step=_RELATIVE)
        if any(map(is_git_name, PurePath(path).parts)) or self._is_closed(real):
            raise NoAccess(
                "git directories and memory stores are closed",
                where=_quoted(path),
                next_step="`recall` searches the memory; read the files of the work tree instead",
            )
        if fault:
            raise NoAccess(self._why(asked, fault), where=_quoted(path), next_step=_RELATIVE)
        return Place(real, real.relative_to(self.root).as_posix())

    def open(self, place: Place) -> BinaryIO:
        """The regular file at a place, for reading. NoAccess for anything else; OSError when it went away."""
        *folders, name = place.path.relative_to(self.root).parts or (".",)
        here = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            # One step at a time without following links: what was resolved may have been replaced meanwhile.
            for folder in folders:
                inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
                os.close(here)
                here = inner
            # To open a pipe or a device can already do something, so look first.
            _refuse_special(os.stat(name, dir_fd=here, follow_symlinks=False), place)
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=here)
        finally:
            os.close(here)
        try:
            _refuse_special(os.fstat(descriptor), place)
        except NoAccess:
            os.close(descriptor)
            raise
        return os.fdopen(descriptor, "rb")

    def is_open_folder(self, folder: Path) -> bool:
        """Whether a folder whose parents are open is open too: no git directory, no store."""
        return not is_git_name(folder.name) and not self._is_private(folder, self._closed_ids())

    def _is_closed(self, real: Path) -> bool:
        if any(real.is_relative_to(path) for path in self._closed):
            return True
        inside = real.relative_to(self.root)
        ids = self._closed_ids()
        return any(map(is_git_name, inside.parts)) or any(
            self._is_private(folder, ids) for folder in (real, *real.parents) if folder.is_relative_to(self.root)
        )

    def _closed_ids(self) -> frozenset[tuple[int, int]]:
        # Asked anew each time: a store may come into being while we run.
        found = (_identity(path) for path in self._closed)
        return frozenset(id for id in found if id)

    def _is_private(self, folder: Path, ids: frozenset[tuple[int, int]]) -> bool:
        """One of the closed folders under another name, or what git itself would take for a git directory."""
        if ids and _identity(folder) in ids:
            return True
        return os.path.lexists(folder / "HEAD") and (
            os.path.lexists(folder / "commondir") or ((folder / "objects").is_dir() and (folder / "refs").is_dir())
        )

    def _why(self, asked: Path, fault: OSError) -> str:
        if fault.errno != errno.ENOENT:
            return _FAULTS.get(fault.errno or 0, "it cannot be looked at")
        if any(place.is_symlink() and not place.exists() for place in (asked, *asked.parents)):
            return "it is a link that leads nowhere"
        return "there is no such file or directory"


def shown(path: str) -> str:
    """A path as results show it: as it is, or in quotes with escapes when it is not plain."""
    return path if path == visible(path) and path == path.strip() and '"' not in path else f'"{visible_path(path)}"'


def visible_path(path: str) -> str:
    """A path on one line."""
    return visible(path.replace("\n", "\\n").replace("\t", "\\t"))


def _quoted(path: str) -> str:
    text = visible_path(path)
    return f"'{text}'" if len(text) <= 200 else f"'{text[:200]}…'"


def is_git_name(name: str) -> bool:
    """Whether some file system would take this name for `.git`."""
    return _DOT_GIT.fullmatch(_IGNORABLE.sub("", name)) is not None


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _refuse_special(found: os.stat_result, place: Place) -> None:
    kind = stat.S_IFMT(found.st_mode)
    if kind != stat.S_IFREG:
        what, instead = _NO_FILE.get(kind, ("it is no regular file", "name a regular file"))
        raise NoAccess(what, where=_quoted(place.name), next_step=instead)
