"""The files of a workspace as git would show them: tracked, and new ones that are not ignored."""

import fnmatch
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from invincat.errors import ConfigurationError, UserError
from invincat.store.locate import child_environment, first_line
from invincat.tools.base import BadArguments
from invincat.tools.work import Child, Stop
from invincat.tools.workspace import Place, Workspace, is_git_name

MAX_FILES: Final = 200_000
MAX_ALTERNATIVES: Final = 64

# A configured monitor is a program of the repository's choice, and listing must run none.
_LS_FILES: Final = ("-c", "core.fsmonitor=false", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
_NOTHING: Final = re.compile(r"(?!)")
_INNERMOST: Final = re.compile(r"\{([^{}]*,[^{}]*)\}")


@dataclass(frozen=True)
class Listing:
    """Paths relative to the workspace's root, sorted; `cut` says why some are missing, None when all are there.

    A path may be a link or be gone: `stat_file` tells.
    """

    paths: tuple[str, ...]
    cut: str | None = None


class Glob:
    """A glob over paths with slashes, in time linear in each name whatever the pattern.

    `*`, `?` and `[...]` stay within one name, `**` is any number of folders, `{a,b}` is either; a pattern without a
    slash is tried on the last name alone. BadArguments for one that can match nothing.
    """

    def __init__(self, pattern: str) -> None:
        self._alternatives = [_segments(one) for one in _expand(pattern)]

    def matches(self, path: str) -> bool:
        """Whether the whole path matches."""
        parts = path.split("/")
        return any(_match(parts, segments) for segments in self._alternatives)


def list_files(workspace: Workspace, below: Place, stop: Stop) -> Listing:
    """All files below a directory. Submodules and repositories within are listed by their own rules.

    ConfigurationError with git's words when it refuses.
    """
    found: list[str] = []
    # A folder, and whether git or the disk tells what is in it.
    pending = [(below.path, workspace.is_versioned or _is_in_repository(workspace, below.path))]
    cut = None
    while pending and cut is None:
        folder, is_versioned = pending.pop()
        nested: list[tuple[Path, bool]] = []
        for path in _git_files(folder, stop, nested) if is_versioned else _disk_files(folder, nested):
            found.append(path)
            if len(found) > MAX_FILES:
                cut = f"only the first {MAX_FILES} files were looked at"
                break
            if len(found) % 256 == 0 and stop.is_due:
                break
        if stop.is_due:
            cut = f"listing the files was stopped after {stop.seconds:g} s"
        pending += [(inner, versioned) for inner, versioned in nested if workspace.is_open_folder(inner)]
    return Listing(tuple(sorted(_open_only(workspace, found))), cut)


def stat_file(workspace: Workspace, path: str, *, follow: bool) -> os.stat_result | None:
    """What a listed path is on disk, None unless a regular file; links only with `follow`, and only to the inside."""
    try:
        found = os.lstat(workspace.root / path)
        if stat.S_ISLNK(found.st_mode) and follow:
            found = workspace.resolve(path).path.lstat()
    except (OSError, UserError):
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def _git_files(folder: Path, stop: Stop, nested: list[tuple[Path, bool]]) -> Iterator[str]:
    """Absolute paths; repositories within go to `nested`."""
    # Of 100,000 paths each as text: as objects they would take ten times as long.
    prefix = f"{folder}/".replace("//", "/")
    with Child(["git", *_LS_FILES], cwd=folder, env=child_environment(), stop=stop) as child:
        for record in child.records(b"\0"):
            place = f"{prefix}{os.fsdecode(record)}"
            if place.endswith("/") or _is_folder(place):
                nested += [(Path(place), True)] * _is_foreign(Path(place))
            else:
                yield place
    if child.code:
        raise ConfigurationError(f"git does not list the files: {first_line(child.complaint)}")


def _disk_files(folder: Path, nested: list[tuple[Path, bool]]) -> Iterator[str]:
    """The same without git, one folder at a time; what cannot be read is left out."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    nested.append((Path(entry.path), os.path.lexists(Path(entry.path, ".git"))))
                else:
                    yield entry.path
    except OSError:
        return


def _is_in_repository(workspace: Workspace, folder: Path) -> bool:
    """Whether some folder from here up to the root, which is none, is the top of a repository."""
    inner = (place for place in (folder, *folder.parents) if workspace.root in place.parents)
    return any(os.path.lexists(place / ".git") for place in inner)


def _is_folder(place: str) -> bool:
    """Of a tracked path: a submodule, or a folder in the place of a file."""
    try:
        return stat.S_ISDIR(os.lstat(place).st_mode)
    except OSError:
        return False


def _is_foreign(place: Path) -> bool:
    """Whether a folder is a repository of its own: not an empty submodule, nor another work tree of this one."""
    try:
        pointer = (place / ".git").read_text(encoding="utf-8", errors="replace")
    except IsADirectoryError:
        return True
    except OSError:
        return False
    return "/worktrees/" not in pointer


def _open_only(workspace: Workspace, paths: list[str]) -> Iterator[str]:
    """Paths relative to the root, without those in closed folders."""
    top = str(workspace.root).rstrip("/")
    known = {top: True}

    def is_open(folder: str) -> bool:
        if folder not in known:
            known[folder] = is_open(folder.rpartition("/")[0]) and workspace.is_open_folder(Path(folder))
        return known[folder]

    for path in paths:
        folder, _, name = path.rpartition("/")
        if is_open(folder) and not is_git_name(name):
            yield path[len(top) + 1 :]


def _expand(pattern: str) -> list[str]:
    """`a{b,c}` as `ab` and `ac`."""
    done: list[str] = []
    pending = [pattern]
    while pending:
        one = pending.pop()
        found = _INNERMOST.search(one)
        if not found:
            done.append(one)
            continue
        pending += [f"{one[: found.start()]}{part}{one[found.end() :]}" for part in found[1].split(",")]
        if len(pending) + len(done) > MAX_ALTERNATIVES:
            raise BadArguments(f"the glob has more than {MAX_ALTERNATIVES} alternatives", next_step="use fewer braces")
    return done


def _segments(pattern: str) -> list[re.Pattern[str] | None]:
    """One pattern a name, None for any number of names."""
    names = [name for name in pattern.split("/") if name not in {"", "."}]
    if not names or ".." in names:
        raise BadArguments(
            "the glob must name files below the path, without `..`", next_step="such as `*.py` or `src/**/*.ts`"
        )
    if "/" not in pattern.removeprefix("./"):
        names.insert(0, "**")
    elif pattern.endswith("/"):
        names.append("**")
    # The translation of a name backtracks over no more than one star.
    return [None if name == "**" else re.compile(fnmatch.translate(name)) for name in names]


def _match(parts: list[str], segments: list[re.Pattern[str] | None]) -> bool:
    """Match names one by one; on a mismatch only the last `**` takes one name more."""
    at = step = 0
    retry: tuple[int, int] | None = None
    while at < len(parts):
        segment = segments[step] if step < len(segments) else _NOTHING
        if segment is None:
            step += 1
            retry = (step, at)
        elif segment.match(parts[at]):
            at, step = at + 1, step + 1
        elif retry:
            step, at = retry = (retry[0], retry[1] + 1)
        else:
            return False
    return all(segment is None for segment in segments[step:])
