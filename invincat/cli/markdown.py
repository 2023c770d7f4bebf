"""A semantic difference as markdown: the text of a pull request (HOOKS_AND_REVIEW "Review").

Words of memories are data: they cannot format, mention, link, close an issue, or end the fence that they stand in.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from invincat.cli.telling import (
    ENDS,
    by,
    cited,
    ending,
    facts,
    grouped,
    reason_of,
    said_otherwise,
    shown,
    summary,
    text_diff,
)
from invincat.governance.hidden import escape_hidden
from invincat.memory.difference import Change, Turn

_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|~&$^!]")
# What begins a list, a heading or a rule where a line begins.
_BEGINS = re.compile(r"(?<!.)[-+=]|(?<=\d)[.)](?=\s)")
# What hosts turn into links, mentions and closing keywords wherever it stands: an empty comment keeps it apart.
_LIVE = re.compile(r"@(?=\w)|#(?=\w)|(?<=\bGH)-(?=\d)|:(?=//)|(?<!\w):(?=\w+:)|(?<=\bwww)\.|!(?=\d)")
_APART: Final = "<!-- -->"
_TICKS: Final = re.compile(r"`+")


def escaped(text: str) -> str:
    """Words that are shown as they are, in one line of running text."""
    plain = " ".join(escape_hidden(text).split())
    marked = _LIVE.sub(lambda found: f"\0{found[0]}\1", plain)
    safe = _BEGINS.sub(r"\\\g<0>", _SPECIAL.sub(r"\\\g<0>", marked))
    return safe.replace("\1", _APART).replace("\0", "")


def code(text: str) -> str:
    """Words as inline code, whatever backticks they have."""
    plain = " ".join(escape_hidden(text).split())
    longest = max((len(run) for run in _TICKS.findall(plain)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{ticks}{pad}{plain}{pad}{ticks}"


def fenced(lines: Sequence[str], language: str = "text") -> list[str]:
    """Lines in a fence that none of them can end."""
    plain = [line for text in lines for line in escape_hidden(text).split("\n")]
    longest = max((len(run) for line in plain for run in _TICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *plain, fence]


def markdown(changes: Sequence[Change], title: str, notes: Sequence[str] = ()) -> Iterator[str]:
    """The lines of the whole text; `notes` tell of it as a whole."""
    yield f"## {escaped(title)}"
    for note in notes:
        yield ""
        yield escaped(note)
    yield ""
    yield f"{summary(changes).capitalize()}."
    for heading, found in grouped(changes):
        yield ""
        yield f"### {heading}"
        for change in found:
            yield ""
            yield from _item(change)


def _item(change: Change) -> Iterator[str]:
    gone = change.turns[0] in ENDS
    title = escaped(change.title)
    yield f"- {'~~' + title + '~~' if gone else '**' + title + '**'}  "
    yield f"  {code(facts(change))}"
    if end := ending(change):
        yield f"  - {escaped(end)}"
    if change.body and change.turns[0] in {Turn.CREATED, Turn.RESTORED}:
        yield ""
        yield from (f"  {line}" for line in fenced(change.body.splitlines()))
        yield ""
    for field in said_otherwise(change):
        if field.key == "body":
            yield "  - body:"
            yield ""
            yield from (f"    {line}" for line in fenced(text_diff(field.old, field.new), "diff"))
            yield ""
        else:
            yield f"  - {escaped(field.key)}: {code(shown(field.old))} → {code(shown(field.new))}"
    for account in change.because:
        why = reason_of(change, account)
        yield f"  - {f'why: {escaped(why)}; ' if why else ''}{escaped(by(account))}"
    for item in cited(change):
        yield f"  - evidence: {code(item.at)}" + (f", {code(item.quote)}" if item.quote else "")
