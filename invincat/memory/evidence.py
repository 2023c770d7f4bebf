"""What a claim rests on: where the words stand, and the words themselves (FORMAT `source.evidence`)."""

import re
from dataclasses import dataclass

import msgspec

MAX_QUOTE = 200
MAX_EVIDENCE = 3

_FILE = re.compile(r"(?P<path>[^\x00-\x1f\x7f]+?)#L(?P<first>[1-9][0-9]{0,6})(?:-L(?P<last>[1-9][0-9]{0,6}))?")
_COMMIT = re.compile(r"commit:(?P<id>[0-9a-f]{7,64})")
_TURN = re.compile(r"turn:(?P<number>[0-9]{1,9})")
_NO_NAMES = frozenset({"", ".", ".."})
_URL = re.compile(r"url:(?P<address>https?://[^\s\x00-\x1f\x7f]+)")


@dataclass(frozen=True)
class FileLines:
    """Lines `first` to `last` (1-based, inclusive) of a file, its path relative to the repository's root."""

    path: str
    first: int
    last: int


@dataclass(frozen=True)
class CommitRef:
    """A commit of the code repository."""

    id: str


@dataclass(frozen=True)
class Turn:
    """A message of the conversation that was read."""

    number: int


@dataclass(frozen=True)
class Url:
    """A page on the web: never enough by itself (RULES 4)."""

    address: str


Location = FileLines | CommitRef | Turn | Url


def parse_location(at: str) -> Location:
    """Read `path#Lm-Ln`, `commit:<id>`, `turn:<n>` or `url:<address>`; ValueError says what is wrong."""
    if found := _COMMIT.fullmatch(at):
        return CommitRef(found["id"])
    if found := _TURN.fullmatch(at):
        return Turn(int(found["number"]))
    if found := _URL.fullmatch(at):
        return Url(found["address"])
    found = _FILE.fullmatch(at)
    if not found:
        raise ValueError(f"{at!r} is none of path#L1-L2, commit:<id>, turn:<n>, url:<address>")
    path, first, last = found["path"], int(found["first"]), int(found["last"] or found["first"])
    if not is_inside(path):
        raise ValueError(f"{path!r} is not a path inside the repository")
    if last < first:
        raise ValueError(f"line {last} comes before line {first}")
    return FileLines(path, first, last)


def is_inside(path: str) -> bool:
    """Whether a path from elsewhere is relative, with no way out of the repository and not in its git directory."""
    parts = path.split("/")
    return (
        _NO_NAMES.isdisjoint(parts)
        and "\\" not in path
        and not (path[1:2] == ":" and path[0].isascii() and path[0].isalpha())
        and parts[0].lower() != ".git"
    )


class Evidence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One item of evidence. `blob` and a turn's number are hints; `quote` is what grounding rests on."""

    at: str
    blob: str | None = None
    quote: str | None = None

    @property
    def location(self) -> Location:
        """Where it stands, parsed; cannot fail for evidence inside a valid memory."""
        return parse_location(self.at)


def file_location(path: str, first: int, last: int) -> str:
    """The `at` of lines of a file: `path#L3` or `path#L3-L5`."""
    return f"{path}#L{first}" if first == last else f"{path}#L{first}-L{last}"
