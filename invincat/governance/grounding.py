"""Evidence held against the world: the words must literally be there (RULES 4 "Evidence")."""

import re
from dataclasses import dataclass
from typing import Final, Protocol

import msgspec

from invincat.governance.redaction import clip_quote, redact
from invincat.memory.content import one_line
from invincat.memory.entry import is_person
from invincat.memory.evidence import MAX_QUOTE, CommitRef, Evidence, FileLines, Location, Turn
from invincat.memory.refusal import Refused
from invincat.memory.scope import Scope

RULE: Final = "RULES 4 evidence"

# Results of these tools show what the repository is; nothing else a tool says counts.
CITABLE_TOOLS: Final = frozenset({"read_file", "edit_file", "write_file", "execute", "bash", "shell"})
_LEAST = re.compile(r"(?:\S\s*){8}|(?:[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]\s*){4}")


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
    return done, citable and (isinstance(location, CommitRef) or bool(_LEAST.search(quote or "")))


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
    if text is not None and item.quote is not None and not _stands_in(item.quote, text.text):
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


def _stands_in(quote: str, text: str) -> bool:
    """Whether the quote is there, white space folded; a model quotes from what it was shown, which is redacted."""
    wanted = one_line(quote.removesuffix("…"))
    return bool(wanted) and (wanted in one_line(text) or wanted in one_line(redact(text)))


def _is_enough(quote: str, location: Turn, grounds: Grounds) -> bool:
    """A person's words have no minimum; a tool's need 8 characters or 4 of CJK."""
    return _is_person_turn(location, grounds) or bool(_LEAST.search(quote))


def _is_person_turn(location: Location, grounds: Grounds) -> bool:
    heard = grounds.turn(location.number) if isinstance(location, Turn) else None
    return heard is not None and heard.role == "user"


def _clipped(item: Evidence) -> Evidence:
    if item.quote is None:
        return item
    return msgspec.structs.replace(item, quote=clip_quote(redact(item.quote), MAX_QUOTE) or None)


def holds(evidence: tuple[Evidence, ...], grounds: Grounds) -> str:
    """`here` when the words of one item stand where it says, or nothing but a person's word is cited; else `unknown`.

    Which of what does not stand here is stale and which provisional needs the history (RULES 12): a later step.
    """
    checkable = [item for item in evidence if isinstance(item.location, FileLines | CommitRef)]
    if not checkable:
        return "here"
    return "here" if any(_stands(item, grounds) for item in checkable) else "unknown"


def _stands(item: Evidence, grounds: Grounds) -> bool:
    location = item.location
    text = grounds.file(location.path) if isinstance(location, FileLines) else None
    if isinstance(location, CommitRef):
        text = grounds.commit(location.id)
    return text is not None and (item.quote is None or _stands_in(item.quote, text.text))
