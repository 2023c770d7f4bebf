"""Colours, as data, and the only way to make a line that may be printed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, NewType

from prompt_toolkit.styles import Style

from invincat.repl.safe import one_line, safe

# A line that may be written to a terminal as it is: its text is safe, its control sequences are our own.
Line = NewType("Line", str)
BLANK: Final = Line("")
# More characters of an unfinished answer no live part can show.
MAX_TAIL: Final = 20_000

Role = Literal["plain", "dim", "bold", "error", "accent", "warning"]

_CODES: Final[Mapping[Role, str]] = {
    "plain": "",
    "dim": "2",
    "bold": "1",
    "error": "31",
    "accent": "36",
    "warning": "33",
}

_COLOURS: Final = {
    "prompt": "ansicyan bold",
    "tail": "",
    "doing": "ansibrightblack",
    "queued": "ansibrightblack",
    "offer": "ansiyellow",
    "toolbar": "ansibrightblack",
    "hint": "ansiyellow",
    "completion-menu": "noinherit",
    "completion-menu.completion": "noinherit",
    "completion-menu.completion.current": "noinherit reverse",
    "completion-menu.meta.completion": "noinherit ansibrightblack",
    "completion-menu.meta.completion.current": "noinherit reverse",
    "scrollbar.background": "noinherit",
    "scrollbar.button": "noinherit reverse",
}
_PLAIN: Final = {name: "reverse" if "current" in name or "button" in name else "noinherit" for name in _COLOURS}


@dataclass(frozen=True)
class Paint:
    """Makes lines of text from anywhere; without `colour` they carry no control sequence at all."""

    colour: bool

    def line(self, text: str, role: Role = "plain") -> Line:
        """One line; line ends and runs of spaces become one space."""
        return self._dress(one_line(text), role)

    def lines(self, text: str, role: Role = "plain") -> list[Line]:
        """The lines of a text, as they are indented."""
        return [self._dress(line, role) for line in safe(text.removesuffix("\n")).split("\n")]

    def indented(self, text: str, role: Role = "plain", depth: int = 2) -> Line:
        """One line, moved to the right."""
        return Line(" " * depth + self.line(text, role))

    def _dress(self, text: str, role: Role) -> Line:
        code = _CODES[role]
        return Line(f"\x1b[{code}m{text}\x1b[0m" if self.colour and code and text else text)


def style(*, colour: bool) -> Style:
    """The style of the parts that prompt-toolkit draws."""
    return Style.from_dict(_COLOURS if colour else _PLAIN)
