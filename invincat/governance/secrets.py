"""Secrets of known shapes (RULES 4.3): found, named and placed; the value itself is never kept or shown.

`scan` looks at the text as it stands, as a reader of look-alikes and concatenations would see it, and with
tokens that were broken over lines joined again (case 29). Whatever it finds is placed in the original text.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final, NamedTuple

from invincat.governance.shapes import ALLOWED, SHAPES, is_worded


class Finding(NamedTuple):
    """Where a secret stands: `line` counts from 1, `start` and `end` are character offsets into the text."""

    rule: str
    line: int
    start: int
    end: int


# Flat, because asking 200 times whether a word stands in a text is most of what scanning a clean text costs.
_HINTED = [(hint, at, shape.folds) for at, shape in enumerate(SHAPES) for hint in shape.hints]
_HINTS: Final = tuple((hint, at) for hint, at, folds in _HINTED if not folds)
_LOWER_HINTS: Final = tuple((hint, at) for hint, at, folds in _HINTED if folds)


# --- reading through disguises ------------------------------------------------------------------------------------

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]+"
)
# A string that goes on in the next literal, with or without an operator, or behind a backslash at the line's end.
_CONCATENATED = re.compile(
    r"(?<=[\w+/=.-])(?:\\\r?\n[ \t]{0,40}|([\"'`])\s{0,20}[+.&]?\s{0,20}(?:\\\s{0,20})?[fbru]?\1(?=[\w+/=.-]))"
)
_BROKEN = re.compile(r"(?<=[\w+/=.-])[ \t]{0,4}(?:\r?\n|[\r\x85\u2028\u2029])[ \t>#*|]{0,40}(?=[A-Za-z0-9_+/=-])")

_MARGIN: Final = " \t\r\n>#*|"


class _Reading(NamedTuple):
    """A text as somebody may read it; `origins[i]` is where its character i stands in the original."""

    text: str
    origins: list[int] | range

    def without(self, pattern: re.Pattern[str]) -> "_Reading":
        """The same without what the pattern finds."""
        if not pattern.search(self.text):
            return self
        pieces: list[str] = []
        origins: list[int] = []
        at = 0
        for found in pattern.finditer(self.text):
            pieces.append(self.text[at : found.start()])
            origins.extend(self.origins[at : found.start()])
            at = found.end()
        pieces.append(self.text[at:])
        origins.extend(self.origins[at:])
        return _Reading("".join(pieces), origins)


def _folded(text: str) -> _Reading:
    """Full-width and other compatibility characters as the plain ones that they look like."""
    if text.isascii() or unicodedata.is_normalized("NFKC", text):
        return _Reading(text, range(len(text)))
    plain = {char: unicodedata.normalize("NFKC", char) for char in set(text)}
    return _Reading("".join(map(plain.__getitem__, text)), [at for at, char in enumerate(text) for _ in plain[char]])


def _matches(text: str, *, joined: bool) -> Iterator[tuple[str, int, int]]:
    lowered = text.lower()
    hinted = {at for hint, at in _HINTS if hint in text} | {at for hint, at in _LOWER_HINTS if hint in lowered}
    for at in sorted(hinted):
        shape = SHAPES[at]
        if joined and not shape.joins:
            continue
        pattern = shape.pattern
        group = "value" if "value" in pattern.groupindex else 0
        for match in pattern.finditer(text):
            if match[group] not in ALLOWED and shape.judge(match):
                yield shape.rule, match.start(group), match.end(group)


def scan(text: str) -> list[Finding]:
    """Every secret of a known shape in `text`, in order, none overlapping; empty when there is none.

    Takes time linear in the text and never raises. RULES 4.3, case 29.
    """
    plain = _Reading(text, range(len(text)))
    folded = _folded(text).without(_INVISIBLE).without(_CONCATENATED)
    joined = folded.without(_BROKEN)
    places = [(start, end, rule) for rule, start, end in _matches(text, joined=False)]
    whole = {start: end for start, end, _ in places}
    readings = [(folded, False)] if folded.text != plain.text else []
    readings += [(joined, True)] if joined.text != folded.text else []
    for reading, is_joined in readings:
        for rule, left, right in _matches(reading.text, joined=is_joined):
            start, end = reading.origins[left], reading.origins[right - 1] + 1
            # The word that begins the line after a token is not the rest of the token.
            if is_joined and start in whole and is_worded(text[whole[start] : end].strip(_MARGIN)):
                continue
            places.append((start, end, rule))
    breaks = [found.start() for found in re.finditer("\n", text)]
    findings: list[Finding] = []
    for start, end, rule in sorted(places, key=lambda place: (place[0], -place[1])):
        if findings and start < findings[-1].end:
            last = findings[-1]
            findings[-1] = last._replace(end=max(last.end, end))
        else:
            findings.append(Finding(rule, bisect_right(breaks, start - 1) + 1, start, end))
    return findings
