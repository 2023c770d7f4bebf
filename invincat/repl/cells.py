"""Widths on a terminal: a CJK character or an emoji takes two cells, a combining mark none."""

from collections.abc import Iterator

from prompt_toolkit.utils import get_cwidth


def cells(text: str) -> int:
    """How many cells a text takes."""
    return get_cwidth(text)


def fit(text: str, width: int) -> str:
    """The text, cut to at most `width` cells; an ellipsis says that something is missing."""
    if cells(text) <= width:
        return text
    if width <= 0:
        return ""
    first = next(_pieces(text, width - 1))
    return f"{first}…" if cells(first) < width else "…"


def wrap(text: str, width: int) -> list[str]:
    """The rows that the lines of a text take, each at most `width` cells; nothing is left out."""
    return [row for line in text.split("\n") for row in (_pieces(line, max(width, 2)) if line else ("",))]


def last_rows(text: str, width: int, rows: int) -> list[str]:
    """The last rows of `wrap(text, width)`; looks at the end of the text only."""
    if rows <= 0:
        return []
    # A row holds at most `width` cells; marks without width make more characters of it, but not this many more.
    return wrap(text[-(width * rows * 4) :], width)[-rows:]


def _pieces(line: str, width: int) -> Iterator[str]:
    """A line in pieces of at most `width` cells; a character that is wider stands alone."""
    start, used = 0, 0
    for at, char in enumerate(line):
        size = get_cwidth(char)
        if used + size > width and at > start:
            yield line[start:at]
            start, used = at, 0
        used += size
    yield line[start:]
