"""Whether a quote stands in a text: literally, white space folded, and as the text reads when it is redacted."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from invincat.governance.redaction import redact
from invincat.memory.content import one_line

# What redaction writes, also where a clipped quote ends in it.
_PUT_IN: Final = re.compile(r"\[secret\]?|\[e-mail\]?|\[|~|…/?")
# Redacting costs seconds a megabyte: a long text only around the words that redaction left alone.
_SHORT: Final = 8 * 1024
_AROUND: Final = 600
_TRIES: Final = 16


class Quotable:
    """A text in which quotes are looked for; it is folded once for all of them."""

    def __init__(self, text: str) -> None:
        self._text = text

    def has(self, quote: str) -> bool:
        """Whether the quote is there. A model quotes from what it was shown, which is redacted (RULES 4)."""
        wanted = one_line(quote.removesuffix("…"))
        if not wanted or wanted in self._text or wanted in self._folded:
            return bool(wanted)
        return bool(_PUT_IN.search(wanted)) and any(wanted in one_line(redact(part)) for part in self._near(wanted))

    @cached_property
    def _folded(self) -> str:
        return one_line(self._text)

    def _near(self, wanted: str) -> Iterator[str]:
        """The parts of the text that may read like this when they are redacted: whole lines."""
        if len(self._text) <= _SHORT:
            yield self._text
            return
        kept = [part for part in map(str.strip, _PUT_IN.split(wanted)) if part]
        rarest = min(kept, key=self._folded.count, default="")
        found = re.finditer(r"\s+".join(map(re.escape, rarest.split())), self._text) if rarest else iter(())
        for _, place in zip(range(_TRIES), found, strict=False):
            start = self._text.rfind("\n", 0, max(place.start() - _AROUND, 0)) + 1
            end = self._text.find("\n", place.end() + _AROUND)
            yield self._text[start : end if end >= 0 else None][: 4 * _SHORT]
