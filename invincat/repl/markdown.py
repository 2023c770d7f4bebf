"""Markdown as it streams: finished blocks as lines for the terminal, the unfinished rest as text.

Appending lines to a document changes nothing but its last top-level block, so all blocks before it are finished.
"""

import html
import re
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.color import ColorSystem
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown
from rich.segment import Segment
from rich.syntax import Syntax
from rich.text import Text

from invincat.repl.cells import wrap
from invincat.repl.safe import safe
from invincat.repl.style import BLANK, MAX_TAIL, Line

# HTML is shown as the text it is: rich would leave it out, and a person must see what a model says. So are link
# definitions: one at the end of an answer would change blocks that are printed already.
_parser: Final = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"]).disable("reference")
_MIN_WIDTH: Final = 10
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
# The numbers of lists, which rendering counts anew.
_NUMBERS: Final = re.compile(r"^[ >*+-]*\d{1,9}[.)](?=\s|$)", re.MULTILINE)


class Blocks:
    """The finished blocks of a text that grows: `add` takes more of it, `take` gives what is finished by now."""

    def __init__(self) -> None:
        self._lines = ""
        self._rest = ""
        self._look_at = 0

    @property
    def tail(self) -> str:
        """The end of what no block that was taken holds, safe to show."""
        return self._lines[-MAX_TAIL:] + safe(self._rest[-MAX_TAIL:])

    def add(self, text: str) -> None:
        """More of the text; it may end anywhere."""
        lines, end, self._rest = (self._rest + text).rpartition("\n")
        self._lines += safe(lines + end)

    def take(self) -> list[str]:
        """The sources of the blocks that are finished and were not taken."""
        if len(self._lines) <= self._look_at:
            return []
        starts = _starts(self._lines)
        blocks = list(_cut(self._lines, starts))
        if len(blocks) > 1:
            self._lines = blocks.pop()
            self._look_at = len(self._lines)
            return blocks
        # A long block is read again only when it has grown by a tenth.
        self._look_at = len(self._lines) + len(self._lines) // 10
        return []

    def finish(self) -> list[str]:
        """The sources of all that is left: the text has ended."""
        text, self._lines, self._rest, self._look_at = self._lines + safe(self._rest), "", "", 0
        return list(_cut(text, _starts(text))) if text.strip() else []


def _starts(text: str) -> list[int]:
    """The lines on which the top-level blocks of a text begin; the rules for what is inside a paragraph have no say."""
    tokens: list[Token] = []
    _parser.block.parse(text, _parser, {}, tokens)
    return [token.map[0] for token in tokens if token.level == 0 and token.map and token.nesting >= 0]


def _cut(text: str, starts: list[int]) -> Iterator[str]:
    """The text in pieces, one for each block; what stands before a block's begin belongs to the one before."""
    lines = text.splitlines(keepends=True)
    begins = [0, *starts[1:]]
    for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True):
        yield "".join(lines[begin:end])


class _Heading(Heading):
    """All levels on the left."""

    LEVEL_ALIGN = {}  # noqa: RUF012 - the library's own way to say it


class _Code(CodeBlock):
    """Code between its fences, without a margin that would be copied with it."""

    info = ""

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> "_Code":
        """The element for a fence, which says more of itself than a language."""
        made = cls(token.info.partition(" ")[0] or "text", markdown.code_theme)
        made.info = token.info
        return made

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(f"```{self.info}", style="dim", overflow="fold")
        yield Syntax(str(self.text).rstrip(), self.lexer_name, theme=self.theme, word_wrap=True)
        yield Text("```", style="dim")


class _Document(Markdown):
    elements = {**Markdown.elements, "heading_open": _Heading, "fence": _Code, "code_block": _Code}  # noqa: RUF012


class Renderer:
    """Blocks of markdown as lines of at most `width` cells."""

    def __init__(self) -> None:
        self._console = Console(
            file=StringIO(), width=80, height=25, force_terminal=True, color_system="standard", no_color=False
        )

    def render(self, source: str, width: int) -> list[Line]:
        """The lines of one block, without blank ones around it; as it was written if anything would not be seen."""
        lines = self._rendered(source, max(width, _MIN_WIDTH))
        if _visible(html.unescape(_NUMBERS.sub("", source))) - _visible(_COLOUR.sub("", "\n".join(lines))):
            lines = [Line(row) for row in wrap(safe(source.strip("\n")), max(width, _MIN_WIDTH))]
        return lines

    def _rendered(self, source: str, width: int) -> list[Line]:
        document = _Document("", code_theme="ansi_dark", hyperlinks=False)
        document.markup = source
        document.parsed = _parser.parse(source)
        _make_safe(document.parsed)
        options = self._console.options.update(width=width)
        lines = [_line(segments) for segments in self._console.render_lines(document, options, pad=False)]
        while lines and not lines[-1]:
            lines.pop()
        while lines and not lines[0]:
            lines.pop(0)
        return lines

    def join(self, blocks: list[str], width: int, *, first: bool) -> list[Line]:
        """The lines of several blocks, a blank one before each but the `first` of an answer."""
        lines: list[Line] = []
        for block in blocks:
            rendered = self.render(block, width)
            if rendered and (lines or not first):
                lines.append(BLANK)
            lines += rendered
        return lines


def _visible(text: str) -> Counter[str]:
    """The letters and digits of a text, counted: rich leaves out what has no room, what is deep, where images are."""
    return Counter(char for char in text if char.isalnum())


def _make_safe(tokens: list[Token]) -> None:
    """Neutralise what entities such as `&#x202E;` decoded to."""
    for token in tokens:
        token.content = safe(token.content)
        token.info = safe(token.info)
        token.attrs = {key: safe(value) if isinstance(value, str) else value for key, value in token.attrs.items()}
        _make_safe(token.children or [])


def _line(segments: list[Segment]) -> Line:
    """A line with its colours; trailing spaces would only be in the way of who copies it."""
    kept = [segment for segment in segments if not segment.control]
    while kept and not kept[-1].text.strip() and not (kept[-1].style and kept[-1].style.underline):
        kept.pop()
    pieces = []
    for at, segment in enumerate(kept):
        text = segment.text.rstrip() if at == len(kept) - 1 else segment.text
        pieces.append(segment.style.render(text, color_system=ColorSystem.STANDARD) if segment.style else text)
    return Line("".join(pieces))
