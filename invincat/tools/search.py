"""`grep`: regular expressions over the files that `glob` shows, by ripgrep or by a process of our own."""

import base64
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from invincat.errors import InternalError, UserError
from invincat.tools.base import BadArguments, Result, bounded, decode, failure, spec_of, summarise, visible
from invincat.tools.files import HEAD, SECONDS, is_binary
from invincat.tools.listing import Glob, list_files, stat_file
from invincat.tools.work import Child, Stop, in_thread
from invincat.tools.workspace import Place, Workspace, shown

MAX_MATCHES: Final = 500
MAX_MATCHES_A_FILE: Final = 200
MAX_FILE: Final = 8 << 20
MAX_SHOWN: Final = 300

_SCANNER: Final = Path(__file__).with_name("scanner.py")
# What the system lets a command line hold, environment included, is one or two MiB.
_COMMAND_LINE: Final = 400_000
_LINE_BREAK: Final = re.compile(r"\n|(?<!\\)(?:\\\\)*\\n")


class GrepArguments(msgspec.Struct, frozen=True, kw_only=True):
    """What `grep` takes."""

    pattern: Annotated[str, Meta(min_length=1, max_length=1000, description="regular expression, matched line by line")]
    path: Annotated[str, Meta(min_length=1, description="directory or file to search")] = "."
    glob: (
        Annotated[str, Meta(min_length=1, max_length=500, description="only files like this, such as *.py")] | None
    ) = None
    ignore_case: bool = False
    context: Annotated[int, Meta(ge=0, le=10, description="lines around each match")] = 0
    files_only: Annotated[bool, Meta(description="only the paths of files that match")] = False


@dataclass(frozen=True)
class _Line:
    number: int
    text: str
    is_match: bool


@dataclass
class _Found:
    """What the events of a search said so far. `refused` is why the pattern cannot be used.

    `is_text` is asked of each file that matches, once.
    """

    is_text: Callable[[str], bool]
    files: dict[str, list[_Line]] = field(default_factory=dict)
    matches: int = 0
    refused: str | None = None
    binary: set[str] = field(default_factory=set)

    @property
    def is_full(self) -> bool:
        """Whether more would not be shown."""
        return self.matches >= MAX_MATCHES

    def take(self, event: dict[str, Any]) -> None:
        kind, data = event["type"], event["data"]
        if kind == "refused":
            self.refused = data["message"]
        elif kind in {"match", "context"}:
            path = _text(data["path"]).removeprefix("./")
            if path not in self.files and (path in self.binary or not self.is_text(path)):
                self.binary.add(path)
                return
            start = data["submatches"][0]["start"] if data["submatches"] else 0
            line = _Line(data["line_number"], _around(_text(data["lines"]), start), kind == "match")
            self.files.setdefault(path, []).append(line)
            self.matches += line.is_match


class Grep:
    """`grep`. `ripgrep` is the path of the program, None to do without; both give the same answer."""

    def __init__(self, workspace: Workspace, ripgrep: str | None = None, seconds: float = SECONDS) -> None:
        self.spec = spec_of("grep", GrepArguments)
        self._workspace = workspace
        self._ripgrep = ripgrep
        self._seconds = seconds

    async def run(self, arguments: dict[str, Any]) -> Result:
        """Matching lines with their numbers, by file; the first line of the result counts them."""
        asked = decode(GrepArguments, arguments)
        if _LINE_BREAK.search(asked.pattern):
            raise BadArguments(
                "pattern: it is matched line by line and can hold no line break",
                next_step="search for one of the lines, with context",
            )
        return await in_thread(lambda stop: self._grep(asked, stop), self._seconds)

    def _grep(self, asked: GrepArguments, stop: Stop) -> Result:
        place = self._workspace.resolve(asked.path)
        files, notes = self._files(asked, place, stop)
        found = self._search(asked, files, stop) if files else _Found(self._is_text)
        if found.refused is not None:
            raise BadArguments(
                f"pattern: it is no regular expression: {found.refused}",
                next_step=r"escape what is meant literally, such as `\(`",
            )
        if found.is_full:
            notes.append(f"stopped after {MAX_MATCHES} matches; narrow the pattern, path or glob")
        elif stop.is_due:
            notes.append(f"stopped after {stop.seconds:g} s; give a simpler pattern, a path or a glob")
        summary = summarise("grep", asked.pattern, f"({found.matches} in {len(found.files)} files)")
        marks = "".join(f"[{note}]\n" for note in notes)
        if not found.files and stop.is_due:
            return failure(f"nothing was found before the time was up\n{marks}", summary=summary)
        if not found.files:
            return Result(f"No match in {len(files)} files\n{marks}", summary=summary)
        many = f"{len(found.files)} files match" if asked.files_only else _count(found)
        text = f"{many}\n{marks}" + "".join(_blocks(found, files_only=asked.files_only))
        return Result(bounded(text, "narrow the pattern, path or glob, or ask for files_only"), summary=summary)

    def _files(self, asked: GrepArguments, place: Place, stop: Stop) -> tuple[list[str], list[str]]:
        """The files to search, in order of their paths, and what to say about those left out."""
        is_folder = place.path.is_dir()
        folder = place if is_folder else Place(place.path.parent, PurePosixPath(place.name).parent.as_posix())
        listing = list_files(self._workspace, folder, stop)
        below = "" if folder.name == "." else f"{folder.name}/"
        pattern = Glob(asked.glob.removeprefix(f"{self._workspace.root}/")) if asked.glob else None
        files = []
        large = 0
        for path in listing.paths if is_folder else [path for path in listing.paths if path == place.name]:
            if pattern and not pattern.matches(path.removeprefix(below)):
                continue
            if status := stat_file(self._workspace, path, follow=False):
                if status.st_size > MAX_FILE:
                    large += 1
                else:
                    files.append(path)
        notes = [f"incomplete: {listing.cut}; give a path to look at less"] if listing.cut else []
        if large:
            notes.append(f"{large} files larger than {MAX_FILE >> 20} MiB were not searched; read_file shows them")
        if not is_folder and place.name not in listing.paths:
            notes.append("git ignores this file, so it was not searched; read_file shows it")
        return files, notes

    def _search(self, asked: GrepArguments, files: Sequence[str], stop: Stop) -> _Found:
        if self._ripgrep:
            found = _Found(self._is_text)
            most = 1 if asked.files_only else MAX_MATCHES_A_FILE
            for batch in _batches(files):
                command = [
                    self._ripgrep,
                    "--no-config",
                    "--json",
                    "--no-messages",
                    "--threads=1",
                    "--text",
                    "--crlf",
                    "--ignore-case" if asked.ignore_case else "--case-sensitive",
                    f"--context={0 if asked.files_only else asked.context}",
                    f"--max-count={most}",
                    f"--regexp={asked.pattern}",
                    "--",
                    *(f"./{path}" for path in batch),
                ]
                if not self._run(command, b"", found, stop):
                    break
            else:
                return found
            if found.is_full or stop.is_due:
                return found
        # No ripgrep, or one that does not take this pattern: it may hold a look-around.
        found = _Found(self._is_text)
        request = {
            "pattern": asked.pattern,
            "ignore_case": asked.ignore_case,
            "context": 0 if asked.files_only else asked.context,
            "most": 1 if asked.files_only else MAX_MATCHES_A_FILE,
            "files": list(files),
        }
        done = self._run([sys.executable, "-I", str(_SCANNER)], json.dumps(request).encode(), found, stop)
        if not done and not (found.refused or found.is_full or stop.is_due):
            raise InternalError("the search ended without an answer")
        return found

    def _is_text(self, path: str) -> bool:
        try:
            with self._workspace.open(self._workspace.resolve(path)) as file:
                return not is_binary(file.read(HEAD))
        except (OSError, UserError):
            return False

    def _run(self, command: Sequence[str], input: bytes, found: _Found, stop: Stop) -> bool:
        """Add what one process finds; False when it failed or was ended."""
        with Child(command, cwd=self._workspace.root, stop=stop, input=input) as child:
            for event in child.records(b"\n"):
                found.take(json.loads(event))
                if found.is_full:
                    return False
        # Exit code 1 is no match, 2 with a complaint a fault; 2 without one is a file that went away.
        return child.code is not None and not (child.code > 1 and (child.complaint or found.refused))


def _batches(files: Sequence[str]) -> Iterator[list[str]]:
    """The files in lists that fit into a command line."""
    batch: list[str] = []
    size = 0
    for path in files:
        cost = len(os.fsencode(path)) + 16
        if size + cost > _COMMAND_LINE:
            yield batch
            batch, size = [], 0
        batch.append(path)
        size += cost
    if batch:
        yield batch


def _text(value: dict[str, str]) -> str:
    """Text of an event, which ripgrep gives in base64 when it is not UTF-8."""
    if "text" in value:
        return value["text"]
    return base64.b64decode(value["bytes"]).decode("utf-8", "surrogateescape")


def _around(line: str, start: int) -> str:
    """At most `MAX_SHOWN` characters of a line, with byte `start` of it in sight."""
    line = line.removesuffix("\n").removesuffix("\r")
    if len(line) <= MAX_SHOWN:
        return visible(line)
    raw = line.encode("utf-8", "surrogateescape")
    at = len(raw[:start].decode("utf-8", "surrogateescape"))
    begin = min(max(at - MAX_SHOWN // 4, 0), len(line) - MAX_SHOWN)
    end = begin + MAX_SHOWN
    return f"{'…' * (begin > 0)}{visible(line[begin:end])}{'…' * (end < len(line))}"


def _count(found: _Found) -> str:
    return f"{found.matches} matching lines in {len(found.files)} files"


def _blocks(found: _Found, *, files_only: bool) -> Iterator[str]:
    """A file's path, then its lines: every line of a file stands behind its number."""
    for path, lines in found.files.items():
        yield f"{shown(path)}\n"
        last = lines[0].number - 1
        for line in () if files_only else lines:
            gap = "      --\n" if line.number > last + 1 else ""
            last = line.number
            yield f"{gap}{line.number:>6}{':' if line.is_match else '-'} {line.text}\n"
