"""Where sentences begin and end, in English and Chinese. Code spans are never cut."""

import re
from typing import Final

_CODE_SPAN: Final = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_STOP: Final = re.compile(r"[.!?…]+[*_\"'”’)\]]*(?=\s|\Z)|[。！？]+[*_\"”’」』）]*")
# What follows a full stop that really ends a sentence: a capital, a digit, CJK, markup, or nothing.
_OPENING: Final = re.compile(r"\s*(?:\Z|[\"'“‘(\[*_`<#@~$/-]*(?:[A-Z0-9`]|[^\x00-\x7f]))")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|resp|approx|incl|no|fig|dr|mr|ms|st)|\b[A-Z])\.$", re.IGNORECASE
)
_NUMBERING: Final = re.compile(r"\A\s*\d+\.$")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence of a paragraph, outer space left out; together they cover every word."""
    code = [found.span() for found in _CODE_SPAN.finditer(text)]
    spans = []
    start = 0
    for stop in _STOP.finditer(text):
        if any(first <= stop.start() < last for first, last in code) or not _ends(text, start, stop):
            continue
        spans.append((start, stop.end()))
        start = stop.end()
    spans.append((start, len(text)))
    return [trimmed for span in spans if (trimmed := _trim(text, *span))]


def split_sentences(text: str) -> list[str]:
    """The sentences of a paragraph, as written."""
    return [text[start:end] for start, end in sentence_spans(text)]


def _ends(text: str, start: int, stop: re.Match[str]) -> bool:
    if stop[0][0] in "。！？":
        return True
    head = text[max(start, stop.start() - 12) : stop.start() + 1]
    if stop[0] == "." and (_ABBREVIATION.search(head) or _NUMBERING.search(text[start : stop.end()])):
        return not text[stop.end() :].strip()
    return bool(_OPENING.match(text, stop.end()))


def _trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    words = text[start:end].strip()
    if not words:
        return None
    first = text.index(words, start)
    return first, first + len(words)


def word_set(words: str) -> frozenset[str]:
    """A table of words, written with spaces between them."""
    return frozenset(words.split())
