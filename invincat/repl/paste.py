"""Large pastes stand in the input as a token, and are put back when the message is sent."""

import re
from typing import Final

MAX_LINES: Final = 10
MAX_CHARACTERS: Final = 1000
_TOKEN: Final = re.compile(r"\[paste (\d+): \d+ lines?\]")


class Pastes:
    """The texts that were folded in this session, by number."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fold(self, text: str) -> str:
        r"""What stands in the input for a pasted text: itself, with `\n` as line end, or a token if it is large."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.rstrip("\n").count("\n") + 1
        if lines <= MAX_LINES and len(text) <= MAX_CHARACTERS:
            return text
        number = str(len(self._texts) + 1)
        self._texts[number] = text
        return f"[paste {number}: {lines} line{'s' * (lines != 1)}]"

    def expand(self, text: str) -> str:
        """The text with each token of ours replaced by what was pasted; others are what somebody typed."""
        return _TOKEN.sub(lambda found: self._texts.get(found[1], found[0]), text)

    def token_before(self, text: str) -> int:
        """How many characters the token takes that ends a text; 0 when none does."""
        found = next((found for found in _TOKEN.finditer(text) if found.end() == len(text)), None)
        return len(found[0]) if found and found[1] in self._texts else 0
