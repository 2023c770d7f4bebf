"""Text of models, tools, memories and files, made safe to show: nothing in it can drive a terminal."""

from typing import Final

from invincat.governance.hidden import escape_hidden

_TAB: Final = " " * 4


def safe(text: str) -> str:
    r"""The text with each control and hidden character spelled out; lines end with `\n`, tabs are spaces.

    Works line by line: the result for two lines is the results for each.
    """
    return escape_hidden(text.replace("\r\n", "\n").replace("\r", "<U+000D>").replace("\t", _TAB))


def one_line(text: str) -> str:
    """The same on one line, runs of white space made one."""
    return safe(" ".join(text.split()))
