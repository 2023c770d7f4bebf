"""A semantic difference as people read it in a terminal, and as JSON; `cli.markdown` is the form for reviews."""

from collections.abc import Iterable, Iterator, Sequence
from difflib import ndiff
from typing import Any, Final

import msgspec

from invincat.memory.difference import Account, Change, FieldChange, Turn
from invincat.memory.evidence import Evidence

# Headings, with the turns below each: what is believed, what no longer, and what is only said, rated, kept otherwise.
HEADINGS: Final = (
    ("Believed from now on", (Turn.CREATED, Turn.RESTORED)),
    ("Believed no longer", (Turn.SUPERSEDED, Turn.ARCHIVED, Turn.DELETED, Turn.GONE)),
    ("Reworded", (Turn.REWORDED,)),
    ("Rescored", (Turn.RESCORED,)),
    ("Moved", (Turn.MOVED,)),
    ("Came and went in between", (Turn.PASSED,)),
    ("Retired before, and gone", (Turn.CLEARED,)),
)
_SIGNS: Final = {"Believed from now on": "+", "Believed no longer": "-"}
_NO_VALUE: Final = "-"
_COMES: Final = {Turn.CREATED, Turn.RESTORED}
ENDS: Final = {Turn.SUPERSEDED, Turn.ARCHIVED, Turn.DELETED, Turn.GONE, Turn.PASSED, Turn.CLEARED}


def grouped(changes: Sequence[Change]) -> Iterator[tuple[str, list[Change]]]:
    """The changes below their headings, each below that of its gravest turn."""
    for heading, turns in HEADINGS:
        if found := [change for change in changes if change.turns[0] in turns]:
            yield heading, found


def summary(changes: Sequence[Change]) -> str:
    """`2 believed from now on, 1 believed no longer, 1 reworded`, or that nothing differs."""
    return ", ".join(f"{len(found)} {heading.lower()}" for heading, found in grouped(changes)) or "nothing differs"


def terminal(changes: Sequence[Change]) -> Iterator[str]:
    """The lines; hidden characters are the caller's to escape."""
    for heading, found in grouped(changes):
        yield ""
        yield f"{heading}:"
        for change in found:
            yield f"  {_SIGNS.get(heading, '*')} {change.title}"
            yield f"      {facts(change)}"
            yield from (f"      {line}" for line in _details(change))


def facts(change: Change) -> str:
    """Where it stands and how it is rated: `testing/use-nox  constraint, hot 80`."""
    moved = f"{change.was} -> {change.label}" if change.was else change.label
    return f"{moved}  {change.kind}, {change.tier} {change.score}" + also(change)


def also(change: Change) -> str:
    """The lesser turns: what else became of it."""
    return "".join(f", {turn}" for turn in change.turns[1:])


def ending(change: Change) -> str | None:
    """How it ended: by what it was superseded, or that it was archived or deleted; and what its file says of why."""
    if change.turns[0] not in ENDS:
        return None
    by = f" by {change.successor}" if change.status == "superseded" else ""
    return f"{change.status}{by}" + (f": {change.end}" if change.end else "")


def reason_of(change: Change, account: Account) -> str | None:
    """Why a commit was made, where the end of the memory does not say so already."""
    return account.reason if account.reason != change.end else None


def cited(change: Change) -> list[Evidence]:
    """What the words rest on where they are new, and what else the commits cite."""
    own = change.evidence if change.turns[0] in {*_COMES, Turn.REWORDED} else ()
    known = {item.at for item in change.evidence}
    sources = dict.fromkeys(at for account in change.because for at in account.sources)
    return [*own, *(Evidence(at=at) for at in sources if at not in known)]


def said_otherwise(change: Change) -> tuple[FieldChange, ...]:
    """The values to show: of what ended, the end itself is told already; a move is told by the label."""
    told = {"invalid_at", "superseded_by"} if change.turns[0] in {*ENDS, *_COMES} else set()
    return tuple(field for field in change.fields if field.key not in told)


def _details(change: Change) -> Iterator[str]:
    if change.turns[0] in _COMES:
        yield from change.body.splitlines()
    if end := ending(change):
        yield end
    yield from field_lines(said_otherwise(change))
    for account in change.because:
        why = reason_of(change, account)
        yield f"why: {why}  {by(account)}" if why else by(account)
    for item in cited(change):
        yield f"evidence: {item.at}" + (f'  "{item.quote}"' if item.quote else "")


def by(account: Account) -> str:
    """Who did it: `update by Ada Lovelace (memory-agent), 2026-11-29, 3f2a9c4`."""
    actor = f" ({account.actor})" if account.actor else ""
    return f"{account.op or 'changed'} by {account.author}{actor}, {account.time[:10]}, {account.commit[:7]}"


def field_lines(fields: Iterable[FieldChange]) -> Iterator[str]:
    """`score: 50 -> 80`; of a body the lines that went and came."""
    for field in fields:
        if field.key == "body":
            yield "body:"
            yield from (f"  {line}" for line in text_diff(field.old, field.new))
        elif field.old is None:
            yield f"{field.key}: {shown(field.new)}"
        else:
            yield f"{field.key}: {shown(field.old)} -> {shown(field.new)}"


def text_diff(old: str | None, new: str | None) -> list[str]:
    """Lines with `- `, `+ ` or two spaces before them."""
    lines = ndiff((old or "").splitlines(), (new or "").splitlines())
    return [line.rstrip("\n") for line in lines if not line.startswith("? ")]


def shown(value: Any) -> str:
    """A plain value in one line."""
    if value is None:
        return _NO_VALUE
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def difference_json(old: str, new: str, changes: Sequence[Change]) -> dict[str, Any]:
    """`{"from": ..., "to": ..., "changes": [...]}`."""
    return {"from": old, "to": new, "changes": [msgspec.to_builtins(change) for change in changes]}
