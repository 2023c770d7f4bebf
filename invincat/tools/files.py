"""Looking at files: `read_file`, `list_dir`, `glob`. Nothing here writes."""

import heapq
import os
import re
import stat
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final, Literal

import msgspec
from msgspec import Meta

from invincat.errors import UserError
from invincat.tools.base import MAX_RESULT, BadArguments, Result, bounded, decode, spec_of, summarise, visible
from invincat.tools.listing import Glob, list_files, stat_file
from invincat.tools.work import Stop, in_thread
from invincat.tools.workspace import Workspace, is_git_name, shown, visible_path

MAX_LINES: Final = 2000
MAX_LINE: Final = 1000
MAX_SCAN: Final = 256 << 20
MAX_ENTRIES: Final = 500
SECONDS: Final = 20.0
# How much of a file is looked at to tell whether it is text; git looks at as much.
HEAD: Final = 8000

_PIECE: Final = 1 << 16
_ROOM: Final = MAX_RESULT - 1000
_BOM: Final = b"\xef\xbb\xbf"
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_UNDECODABLE: Final = re.compile("[\udc80-\udcff]")

PathArgument = Annotated[str, Meta(min_length=1, description="relative to the workspace root")]
LineNumber = Annotated[int, Meta(ge=1)]
LineCount = Annotated[int, Meta(ge=1, le=MAX_LINES)]


class ReadArguments(msgspec.Struct, frozen=True, kw_only=True):
    """What `read_file` takes."""

    path: PathArgument
    offset: Annotated[LineNumber, Meta(description="first line to show, from 1")] | None = None
    limit: Annotated[LineCount, Meta(description="how many lines; by default as many as fit")] | None = None
    tail: Annotated[LineCount, Meta(description="show the last so many lines instead")] | None = None


class ListArguments(msgspec.Struct, frozen=True, kw_only=True):
    """What `list_dir` takes."""

    path: PathArgument = "."


class GlobArguments(msgspec.Struct, frozen=True, kw_only=True):
    """What `glob` takes."""

    pattern: Annotated[str, Meta(min_length=1, max_length=500, description="such as *.py or src/**/*.{ts,tsx}")]
    path: Annotated[str, Meta(min_length=1, description="directory to look in")] = "."
    sort: Annotated[Literal["path", "newest"], Meta(description="newest: last changed first")] = "path"


@dataclass(frozen=True)
class _Page:
    """Lines of a file from number `first`, without their ends. `total` counts all of it, `is_whole` if it could."""

    first: int
    lines: tuple[str, ...]
    total: int
    is_whole: bool
    is_text: bool

    @property
    def last(self) -> int:
        return self.first + len(self.lines) - 1


class ReadFile:
    """`read_file`: numbered lines of a file, so that no line of the file passes for one of ours."""

    def __init__(self, workspace: Workspace) -> None:
        self.spec = spec_of("read_file", ReadArguments)
        self._workspace = workspace

    async def run(self, arguments: dict[str, Any]) -> Result:
        """The lines asked for; the first line of the result tells the place and the total."""
        asked = decode(ReadArguments, arguments)
        if asked.tail is not None and (asked.offset is not None or asked.limit is not None):
            raise BadArguments("tail cannot be given beside offset or limit", next_step="give one or the other")
        return await in_thread(lambda stop: self._read(asked, stop), SECONDS)

    def _read(self, asked: ReadArguments, stop: Stop) -> Result:
        place = self._workspace.resolve(asked.path)
        with self._workspace.open(place) as file:
            head = file.read(HEAD)
            if head.startswith(_UTF16) or is_binary(head):
                kind = "UTF-16 text" if head.startswith(_UTF16) else "a binary file"
                raise UserError(
                    f"it is {kind} of {os.fstat(file.fileno()).st_size} bytes",
                    where=shown(place.name),
                    next_step="only text in UTF-8 can be read",
                )
            file.seek(0)
            page = _read_tail(file, asked.tail, stop) if asked.tail else _read_page(file, asked, stop)
        name = shown(place.name)
        if not page.total:
            return Result(f"{name}: the file is empty\n", summary=summarise("read_file", place.name, "(empty)"))
        if not page.lines:
            raise UserError(f"there is no line {asked.offset} to show", where=name, next_step=f"it has {_total(page)}")
        body = "".join(f"{number:>6}\t{line}\n" for number, line in enumerate(page.lines, page.first))
        text = f"{name}: lines {page.first}-{page.last} of {_total(page)}{_odd(page)}\n{body}{_more(page)}"
        return Result(text, summary=summarise("read_file", place.name, f"{page.first}-{page.last}"))


class ListDir:
    """`list_dir`: what is in one directory, ignored files included."""

    def __init__(self, workspace: Workspace) -> None:
        self.spec = spec_of("list_dir", ListArguments)
        self._workspace = workspace

    async def run(self, arguments: dict[str, Any]) -> Result:
        """Directories first, each with a slash; files with their size in bytes."""
        asked = decode(ListArguments, arguments)
        return await in_thread(lambda stop: self._list(asked, stop), SECONDS)

    def _list(self, asked: ListArguments, stop: Stop) -> Result:
        place = self._workspace.resolve(asked.path)
        if not place.path.is_dir():
            raise UserError("it is not a directory", where=shown(place.name), next_step="read_file shows a file")
        found: list[tuple[bool, str]] = []
        with os.scandir(place.path) as entries:
            for entry in entries:
                if stop.is_due:
                    break
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_git_name(entry.name) or (is_folder and not self._workspace.is_open_folder(Path(entry.path))):
                    continue
                found.append((not is_folder, entry.name))
        kept = heapq.nsmallest(MAX_ENTRIES, found)
        lines = [_entry(place.path / name, name) for _, name in kept]
        left = len(found) - len(kept)
        note = f"[{left} more; `glob` with a pattern such as `{place.name}/a*` shows a part]\n" if left else ""
        note += "[stopped before all of it was seen]\n" if stop.is_due else ""
        text = f"{shown(place.name)}: {len(found)} entries\n{''.join(lines)}{note}"
        how = "glob with a narrower pattern shows them"
        return Result(bounded(text, how), summary=summarise("list_dir", place.name, f"({len(found)})"))


class GlobFiles:
    """`glob`: files by the pattern of their paths, without what git ignores."""

    def __init__(self, workspace: Workspace, seconds: float = SECONDS) -> None:
        self.spec = spec_of("glob", GlobArguments)
        self._workspace = workspace
        self._seconds = seconds

    async def run(self, arguments: dict[str, Any]) -> Result:
        """Paths relative to the workspace root, one a line."""
        asked = decode(GlobArguments, arguments)
        return await in_thread(lambda stop: self._glob(asked, stop), self._seconds)

    def _glob(self, asked: GlobArguments, stop: Stop) -> Result:
        place = self._workspace.resolve(asked.path)
        if not place.path.is_dir():
            raise UserError("it is not a directory", where=shown(place.name), next_step="give a directory as path")
        pattern = Glob(asked.pattern.removeprefix(f"{self._workspace.root}/"))
        listing = list_files(self._workspace, place, stop)
        below = "" if place.name == "." else f"{place.name}/"
        found: list[tuple[float, str]] = []
        cut = listing.cut
        for at, path in enumerate(listing.paths):
            if at % 256 == 0 and stop.is_due:
                cut = cut or f"it was stopped after {stop.seconds:g} s"
                break
            if not pattern.matches(path.removeprefix(below)):
                continue
            if status := stat_file(self._workspace, path, follow=True):
                found.append((-status.st_mtime if asked.sort == "newest" else 0.0, path))
        kept = [path for _, path in heapq.nsmallest(MAX_ENTRIES, found)]
        left = len(found) - len(kept)
        note = f"[{left} more; narrow the pattern or give a path]\n" if left else ""
        note += f"[incomplete: {cut}; give a path to look at less]\n" if cut else ""
        header = f"{len(found)} files match\n" if found else f"No file matches, of {len(listing.paths)} looked at\n"
        text = header + "".join(f"{shown(path)}\n" for path in kept) + note
        how = "narrow the pattern or give a path"
        return Result(bounded(text, how), summary=summarise("glob", asked.pattern, f"({len(found)})"))


def is_binary(head: bytes) -> bool:
    """Whether a file that begins like this is no text: it holds a zero byte, and not because it is UTF-16."""
    return b"\0" in head and not head.startswith(_UTF16)


def _read_page(file: BinaryIO, asked: ReadArguments, stop: Stop) -> _Page:
    first = asked.offset or 1
    wanted = asked.limit or MAX_LINES
    lines: list[str] = []
    room = _ROOM
    number = 0
    is_text = True
    scanned = 0
    while (scanned < MAX_SCAN and not stop.is_due) and (found := _next_line(file)) is not None:
        raw, size = found
        number += 1
        scanned += size
        if number < first:
            continue
        line, is_utf8 = _as_text(raw, size, is_first=number == 1)
        room -= len(line) + 8
        if lines and room < 0:
            break
        is_text = is_text and is_utf8
        lines.append(line)
        if len(lines) == wanted:
            break
    rest, is_whole = _count_lines(file, MAX_SCAN - scanned, stop)
    return _Page(first, tuple(lines), number + rest, is_whole, is_text)


def _read_tail(file: BinaryIO, wanted: int, stop: Stop) -> _Page:
    """The last lines; a file that is too large to be read to its end has none to be numbered."""
    kept: deque[tuple[bytes, int]] = deque(maxlen=wanted)
    number = scanned = 0
    while found := _next_line(file):
        kept.append(found)
        number += 1
        scanned += found[1]
        if scanned > MAX_SCAN or stop.is_due:
            raise UserError(
                f"it is too large to be read to its end ({os.fstat(file.fileno()).st_size} bytes)",
                next_step="use grep to find the lines, or read_file with offset",
            )
    lines: list[str] = []
    room = _ROOM
    is_text = True
    for at, (raw, size) in enumerate(reversed(kept)):
        line, is_utf8 = _as_text(raw, size, is_first=number - at == 1)
        room -= len(line) + 8
        if lines and room < 0:
            break
        is_text = is_text and is_utf8
        lines.append(line)
    return _Page(number - len(lines) + 1, tuple(reversed(lines)), number, is_whole=True, is_text=is_text)


def _next_line(file: BinaryIO) -> tuple[bytes, int] | None:
    """The start of the next line and the line's whole size in bytes: a line may be larger than memory."""
    piece = start = file.readline(_PIECE)
    if not piece:
        return None
    size = len(piece)
    while not piece.endswith(b"\n") and (piece := file.readline(_PIECE)):
        size += len(piece)
        if size > MAX_SCAN:
            break
    return start, size


def _count_lines(file: BinaryIO, budget: int, stop: Stop) -> tuple[int, bool]:
    """How many lines follow, and whether the end was reached within so many bytes."""
    count = 0
    last = b"\n"
    while chunk := file.read(_PIECE):
        count += chunk.count(b"\n")
        last = chunk[-1:]
        budget -= len(chunk)
        if budget < 0 or stop.is_due:
            return count, False
    return count + (last != b"\n"), True


def _as_text(raw: bytes, size: int, *, is_first: bool) -> tuple[str, bool]:
    """A line as it is shown, and whether it was UTF-8."""
    raw = raw.removesuffix(b"\n").removesuffix(b"\r").removeprefix(_BOM if is_first else b"")
    line = raw.decode("utf-8", "surrogateescape")
    cut = f"… [a line of {size} bytes, cut here]" if len(line) > MAX_LINE else ""
    line = line[:MAX_LINE]
    return visible(line) + cut, not _UNDECODABLE.search(line)


def _total(page: _Page) -> str:
    return f"{page.total} lines" if page.is_whole else f"more than {page.total} lines (the end was not looked for)"


def _odd(page: _Page) -> str:
    return "" if page.is_text else r" (not UTF-8: such bytes are shown as \xNN; do not edit this file)"


def _more(page: _Page) -> str:
    if page.last < page.total or not page.is_whole:
        return f"[more lines follow; read on with offset={page.last + 1}]\n"
    return ""


def _entry(place: Path, name: str) -> str:
    try:
        found = place.lstat()
        if stat.S_ISLNK(found.st_mode):
            return f"  {shown(name)} -> {visible_path(str(place.readlink()))}\n"
    except OSError:
        return f"  {shown(name)} (cannot be looked at)\n"
    if stat.S_ISDIR(found.st_mode):
        return f"  {shown(name)}/\n"
    return f"  {shown(name)}  {found.st_size}\n" if stat.S_ISREG(found.st_mode) else f"  {shown(name)} (special)\n"
