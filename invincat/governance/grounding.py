"""Evidence held against the world: the words must literally be there (RULES 4 "Evidence")."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

import msgspec

from invincat.governance.quoting import Quotable
from invincat.governance.redaction import clip_quote, redact
from invincat.memory.entry import Source, is_person
from invincat.memory.evidence import MAX_QUOTE, CommitRef, Evidence, FileLines, Location, Turn
from invincat.memory.refusal import Refused
from invincat.memory.scope import Scope

RULE: Final = "RULES 4 evidence"

# Results of these tools show what the repository is; nothing else a tool says counts.
CITABLE_TOOLS: Final = frozenset({"read_file", "edit_file", "write_file", "execute", "bash", "shell"})
# Text, because readers start without compiling it.
_LEAST: Final = r"(?:\S\s*){8}|(?:[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]\s*){4}"


@dataclass(frozen=True)
class SourceText:
    """A text that evidence may cite, with the id of its blob where it is a file."""

    text: str
    blob: str | None = None


@dataclass(frozen=True)
class Heard:
    """A message of the conversation: its role, the tool that spoke, and the words that count as its own."""

    role: str
    text: str
    tool: str | None = None


class Grounds(Protocol):
    """What evidence can be checked against. Each gives None for what is not there."""

    def file(self, path: str) -> SourceText | None:
        """A file of the repository, as it is now."""

    def commit(self, id: str) -> SourceText | None:
        """The message of a commit of the repository."""

    def turn(self, number: int) -> Heard | None:
        """A message of the slice being read."""


class NoGrounds:
    """Nothing can be checked."""

    def file(self, path: str) -> SourceText | None:
        """No file."""
        return None

    def commit(self, id: str) -> SourceText | None:
        """No commit."""
        return None

    def turn(self, number: int) -> Heard | None:
        """No conversation."""
        return None


@dataclass(frozen=True)
class Grounded:
    """Evidence completed from the world, and how much of it could be checked."""

    evidence: tuple[Evidence, ...]
    checked: int
    own_words: int


def ground(evidence: tuple[Evidence, ...], grounds: Grounds, *, strict: bool = True) -> Grounded:
    """Fill in blob and quote from the world; Refused where a quote is not where it is said to be.

    Not `strict`: what does not stand there any more is kept as it was, since it was checked before.
    """
    found = [_ground_one(item, grounds, strict=strict) for item in evidence]
    return Grounded(
        evidence=tuple(item for item, _ in found),
        checked=sum(counts for _, counts in found),
        own_words=sum(counts and _is_person_turn(item.location, grounds) for item, counts in found),
    )


def _ground_one(item: Evidence, grounds: Grounds, *, strict: bool) -> tuple[Evidence, bool]:
    """One item completed, and whether it carries a claim: it was found, and says in words what it rests on."""
    location = item.location
    try:
        text, citable = _look_up(location, grounds)
        _require_quote(item, text)
    except Refused:
        if strict:
            raise
        text = None
    if text is None:
        return _clipped(item), False
    quote = text.text if item.quote is None and isinstance(location, FileLines) else item.quote
    done = _clipped(msgspec.structs.replace(item, blob=text.blob or item.blob, quote=quote))
    if isinstance(location, Turn):
        return done, citable and item.quote is not None and _is_enough(item.quote, location, grounds)
    return done, citable and (isinstance(location, CommitRef) or bool(re.search(_LEAST, quote or "")))


def missing_ground(grounded: Grounded, actor: str, scope: Scope) -> str | None:
    """Why this evidence is not enough for what `actor` asks; None when it is."""
    if is_person(actor):
        return None
    if scope is Scope.USER:
        return None if grounded.own_words else "a memory about a person needs that person's own words (turn:<n>)"
    if grounded.checked:
        return None
    return "nothing of the evidence could be checked; cite lines of a file, a commit, or a person's words"


def _require_quote(item: Evidence, text: SourceText | None) -> None:
    if text is not None and item.quote is not None and not Quotable(text.text).has(item.quote):
        raise Refused(RULE, f"the quote does not stand at {item.at}; quote the words literally", field="evidence")


def _look_up(location: Location, grounds: Grounds) -> tuple[SourceText | None, bool]:
    """The text at a location, and whether it can carry a claim by itself."""
    if isinstance(location, FileLines):
        return _lines(location, grounds), True
    if isinstance(location, CommitRef):
        return grounds.commit(location.id), True
    if isinstance(location, Turn) and (heard := grounds.turn(location.number)):
        return SourceText(heard.text), heard.role == "user" or heard.tool in CITABLE_TOOLS
    return None, False


def _lines(location: FileLines, grounds: Grounds) -> SourceText | None:
    file = grounds.file(location.path)
    if file is None:
        raise Refused(RULE, f"there is no file {location.path} in the repository", field="evidence")
    lines = file.text.split("\n")
    count = len(lines) - (lines[-1] == "")
    if location.last > count:
        raise Refused(RULE, f"{location.path} has {count} lines, not {location.last}", field="evidence")
    return SourceText("\n".join(lines[location.first - 1 : location.last]), file.blob)


def _is_enough(quote: str, location: Turn, grounds: Grounds) -> bool:
    """A person's words have no minimum; a tool's need 8 characters or 4 of CJK."""
    return _is_person_turn(location, grounds) or bool(re.search(_LEAST, quote))


def _is_person_turn(location: Location, grounds: Grounds) -> bool:
    heard = grounds.turn(location.number) if isinstance(location, Turn) else None
    return heard is not None and heard.role == "user"


def _clipped(item: Evidence) -> Evidence:
    if item.quote is None:
        return item
    return msgspec.structs.replace(item, quote=clip_quote(redact(item.quote), MAX_QUOTE) or None)


class Holds(StrEnum):
    """Whether a memory holds where one is (RULES 12)."""

    HERE = "here"
    STALE = "stale"
    PROVISIONAL = "provisional"
    UNKNOWN = "unknown"


class Standing(msgspec.Struct, frozen=True, gc=False):
    """Whether a memory holds here, and where to look.

    `where` is a commit that had the words of what is stale; the branch (or commit) on which what is provisional was
    learned.
    """

    holds: Holds
    where: str | None = None

    @property
    def mark(self) -> str:
        """How people are shown what does not hold here: `stale: stood at 3f2a9c4`; nothing for all else."""
        form = _MARKS.get(self.holds)
        return "" if form is None else f"{self.holds}: {form} {self.where}" if self.where else self.holds.value


_MARKS: Final = {Holds.STALE: "stood at", Holds.PROVISIONAL: "learned on"}


class Code(Protocol):
    """HEAD of the code and what leads to it. Each gives None for what cannot be told here."""

    def has(self, item: Evidence) -> bool | None:
        """Whether the words of an item stand in its file at HEAD, or its commit is HEAD or an ancestor."""

    def had(self, item: Evidence) -> bool | None:
        """Whether HEAD or an ancestor once had the words."""


class NoCode:
    """Nothing can be told."""

    def has(self, item: Evidence) -> bool | None:
        """Unknown."""
        return None

    def had(self, item: Evidence) -> bool | None:
        """Unknown."""
        return None


def decisive(source: Source, scope: Scope) -> tuple[Evidence, ...]:
    """The items that say whether a memory holds here: its files, or its commits where it cites no file.

    None of a memory about a person: it rests on that person's own words, wherever they were said (RULES 4).
    """
    if scope is Scope.USER:
        return ()
    files = tuple(item for item in source.evidence if isinstance(item.location, FileLines))
    return files or tuple(item for item in source.evidence if isinstance(item.location, CommitRef))


def holds(source: Source, scope: Scope, code: Code) -> Holds:
    """RULES 12: where the words of one decisive item stand; a person's words need none."""
    items = decisive(source, scope)
    if not items:
        said = scope is Scope.USER or is_person(source.actor)
        said = said or any(isinstance(item.location, Turn) for item in source.evidence)
        return Holds.HERE if said else Holds.UNKNOWN
    now = {code.has(item) for item in items}
    if True in now:
        return Holds.HERE
    once = {code.had(item) for item in items}
    if None in now or (None in once and True not in once):
        return Holds.UNKNOWN
    return Holds.STALE if True in once else Holds.PROVISIONAL
