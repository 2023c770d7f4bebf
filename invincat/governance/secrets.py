"""Secrets of known shapes (RULES 4.3): found, named and placed; the value itself is never kept or shown.

`scan` looks at the text as it stands, as a reader of look-alikes and concatenations would see it, and with
tokens that were broken over lines joined again (case 29). Whatever it finds is placed in the original text.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from invincat.governance.shapes import ALLOWED, LONG, SHAPES, is_worded


class Finding(NamedTuple):
    """Where a secret stands: `line` counts from 1, `start` and `end` are character offsets into the text."""

    rule: str
    line: int
    start: int
    end: int


# Flat, because asking 200 times whether a word stands in a text is most of what scanning a clean text costs.
_HINTED = [(hint, at, shape) for at, shape in enumerate(SHAPES) for hint in shape.hints]
_HINTS: Final = tuple((hint, at) for hint, at, shape in _HINTED if not shape.folds and not shape.is_long)
_LOWER_HINTS: Final = tuple((hint, at) for hint, at, shape in _HINTED if shape.folds)
_LONG_HINTS: Final = tuple((hint, at) for hint, at, shape in _HINTED if shape.is_long)


# --- reading through disguises ------------------------------------------------------------------------------------

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]+"
)
# The two below begin with a rare character and then look back, because an engine that must look back first does so
# at every character.
# A string that goes on in the next literal, with or without an operator, or behind a backslash at the line's end.
_CONCATENATED = re.compile(
    r"[\"'`\\](?<=[\w+/=.-].)(?:(?<=\\)\r?\n[ \t]{0,40}"
    r"|(?<=([\"'`]))\s{0,20}[+.&]?\s{0,20}(?:\\\s{0,20})?[fbru]?\1(?=[\w+/=.-]))"
)
_BREAK: Final = r"[\r\n\x85\u2028\u2029]"
_BROKEN = re.compile(
    rf"[ \t\r\n\x85\u2028\u2029](?<=[\w+/=.-]\s)(?:(?<=[ \t])[ \t]{{0,3}}(?:\r\n|{_BREAK})|(?<=\r)\n|(?<={_BREAK}))"
    r"[ \t>#*|]{0,40}(?=[A-Za-z0-9_+/=-])"
)

_MARGIN: Final = " \t\r\n>#*|"


@dataclass(frozen=True)
class _Reading:
    """A text as somebody may read it; `trace` tells where each of its characters stands in the original."""

    text: str
    trace: Callable[[], Sequence[int]]

    def without(self, pattern: re.Pattern[str]) -> "_Reading":
        """The same without what the pattern finds."""
        rest = pattern.sub("", self.text)
        return self if len(rest) == len(self.text) else _Reading(rest, lambda: self._trace_without(pattern))

    def _trace_without(self, pattern: re.Pattern[str]) -> list[int]:
        whole = self.trace()
        origins: list[int] = []
        at = 0
        for found in pattern.finditer(self.text):
            origins.extend(whole[at : found.start()])
            at = found.end()
        origins.extend(whole[at:])
        return origins


def _folded(text: str) -> _Reading:
    """Full-width and other compatibility characters as the plain ones that they look like."""
    if text.isascii() or unicodedata.is_normalized("NFKC", text):
        return _Reading(text, lambda: range(len(text)))
    plain = {char: unicodedata.normalize("NFKC", char) for char in set(text)}
    folded = "".join(map(plain.__getitem__, text))
    return _Reading(folded, lambda: [at for at, char in enumerate(text) for _ in plain[char]])


def _matches(text: str, *, joined: bool) -> Iterator[tuple[str, int, int]]:
    lowered = text.lower()
    long = " ".join({word for word in text.replace(":", " ").split() if len(word) >= LONG})
    hinted = {at for hint, at in _LONG_HINTS if hint in long} if long else set()
    hinted.update([at for hint, at in _HINTS if hint in text], [at for hint, at in _LOWER_HINTS if hint in lowered])
    for at in sorted(hinted):
        shape = SHAPES[at]
        if (joined and not shape.joins) or not shape.may_stand_in(lowered):
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
    folded = _folded(text).without(_INVISIBLE).without(_CONCATENATED)
    joined = folded.without(_BROKEN)
    places = [(start, end, rule) for rule, start, end in _matches(text, joined=False)]
    whole = {start: end for start, end, _ in places}
    readings = [(folded, False)] if folded.text != text else []
    readings += [(joined, True)] if joined.text != folded.text else []
    for reading, is_joined in readings:
        matches = list(_matches(reading.text, joined=is_joined))
        origins = reading.trace() if matches else ()
        for rule, left, right in matches:
            start, end = origins[left], origins[right - 1] + 1
            # The word that begins the line after a token is not the rest of the token.
            if is_joined and start in whole and is_worded(text[whole[start] : end].strip(_MARGIN)):
                continue
            places.append((start, end, rule))
    if not places:
        return []
    breaks = [found.start() for found in re.finditer("\n", text)]
    findings: list[Finding] = []
    for start, end, rule in sorted(places, key=lambda place: (place[0], -place[1])):
        if findings and start < findings[-1].end:
            last = findings[-1]
            findings[-1] = last._replace(end=max(last.end, end))
        else:
            findings.append(Finding(rule, bisect_right(breaks, start - 1) + 1, start, end))
    return findings
