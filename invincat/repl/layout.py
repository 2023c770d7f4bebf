"""The live part at the bottom: what is being said, the queue, an offer, the prompt, the menu, the status bar."""

from collections.abc import Callable
from typing import Final

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout import BufferControl, ConditionalContainer, FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.widgets import SearchToolbar

from invincat.repl.cells import cells, fit, last_rows
from invincat.repl.front import Front
from invincat.repl.review import hint
from invincat.repl.safe import one_line

MAX_MENU: Final = 8
MAX_QUEUED: Final = 3
# Rows of the live part that are not the unfinished answer.
_OTHER_ROWS: Final = 8
PROMPT: Final = "> "
_SEPARATOR: Final = " | "


def toolbar(front: Front, width: int) -> str:
    """The status bar; what matters least goes first when there is little room."""
    parts = [
        (2, one_line(front.desk.model or "no model")),
        (0, one_line(front.desk.branch or "")),
        (3, _memory(front.counts)),
        (1, "remembering..." if front.desk.remembering() else ""),
    ]
    parts = [part for part in parts if part[1]]
    while len(parts) > 1 and cells(_SEPARATOR.join(text for _, text in parts)) > width:
        parts.remove(min(parts))
    return fit(_SEPARATOR.join(text for _, text in parts), width)


def _memory(counts: tuple[int, int] | None) -> str:
    if counts is None:
        return ""
    active, held = counts
    return f"{active} {'memory' if active == 1 else 'memories'}" + (f", {held} held" if held else "")


def live_rows(front: Front, width: int, height: int) -> StyleAndTextTuples:
    """The rows above the prompt, styled, each within `width`."""
    rows: list[tuple[str, str]] = []
    tail = front.transcript.tail
    if front.is_busy:
        shown = last_rows(tail.rstrip("\n"), width, max(height - _OTHER_ROWS, 1)) if tail else []
        rows += [("class:tail", row) for row in shown]
        doing = front.transcript.doing or ("answering" if tail else "working ...")
        rows.append(("class:doing", fit(f"{doing} {front.elapsed} s, Esc interrupts", width)))
    waiting = front.queue[-MAX_QUEUED:]
    if len(front.queue) > len(waiting):
        rows.append(("class:queued", fit(f"{len(front.queue) - len(waiting)} more queued", width)))
    rows += [("class:queued", fit(f"queued: {one_line(text)}", width)) for text in waiting]
    if front.offers.current and not front.is_busy and not front.is_asking:
        rows.append(("class:offer", fit(one_line(hint(front.offers)), width)))
    return [(style, text + "\n" * (at < len(rows) - 1)) for at, (style, text) in enumerate(rows)]


def build(front: Front, buffer: Buffer, size: Callable[[], tuple[int, int]], notice: Callable[[], str]) -> Layout:
    """The layout. `size` gives columns and rows; `notice` a word to the person that stands until the next key."""
    search = SearchToolbar(ignore_case=True)

    def rows() -> StyleAndTextTuples:
        return live_rows(front, *size())

    def last_row() -> StyleAndTextTuples:
        width = size()[0]
        # The last column stays free: terminals wrap a full row when they grow narrower.
        if notice():
            return [("class:hint", fit(notice(), width - 1))]
        return [("class:toolbar", toolbar(front, width - 1))]

    def prefix(line: int, wraps: int) -> StyleAndTextTuples:
        return [("class:prompt", PROMPT if line == 0 and wraps == 0 else " " * len(PROMPT))]

    prompt = Window(
        BufferControl(buffer, search_buffer_control=search.control, preview_search=True),
        height=lambda: Dimension(min=1, max=max(size()[1] // 2, 1)),
        wrap_lines=True,
        dont_extend_height=True,
        get_line_prefix=prefix,
    )
    menu = CompletionsMenu(max_height=MAX_MENU)
    return Layout(
        HSplit(
            [
                ConditionalContainer(
                    Window(FormattedTextControl(rows), dont_extend_height=True), Condition(lambda: bool(rows()))
                ),
                prompt,
                menu,
                search,
                Window(FormattedTextControl(last_row), height=1, dont_extend_height=True),
                Window(),  # takes what is left when the live part has shrunk
            ]
        ),
        focused_element=prompt,
    )
