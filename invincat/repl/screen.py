"""Printing above a live prompt: whole lines, in order, a few times a second.

`run_in_terminal` would put the terminal into its cooked mode for each print: what is typed in that moment would be
echoed, its Enter would become a newline and its Ctrl-C a signal. So lines are written in raw mode, and the live part
is drawn again right after them.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from prompt_toolkit.application import Application, in_terminal
from prompt_toolkit.application.current import set_app

from invincat.repl.cells import cells
from invincat.repl.style import Line

FRAME: Final = 1 / 25
# Terminals that know it show what is between the two at once; others ignore it.
_HOLD, _SHOW = "\x1b[?2026h", "\x1b[?2026l"
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")


class Screen:
    """The terminal of one application. `take` gives what the transcript has finished since it was last asked."""

    def __init__(self, app: Application[None], take: Callable[[], list[Line]]) -> None:
        self._app = app
        self._take = take
        self._lines: list[Line] = []
        self._timer: asyncio.TimerHandle | None = None
        self._lent = 0
        # How many rows were printed that may turn out void, at which size; None when they cannot be taken back.
        self._void_rows: int | None = None
        self._void_size: Any = None

    @property
    def width(self) -> int:
        """The columns of the terminal."""
        return self._app.output.get_size().columns

    @property
    def height(self) -> int:
        """The rows of the terminal."""
        return self._app.output.get_size().rows

    @property
    def is_lent(self) -> bool:
        """Whether another program has the terminal."""
        return self._lent > 0

    def print(self, lines: Sequence[Line], *, keep: bool) -> None:
        """Print lines with the next frame; those to `keep` make all before them stay."""
        self._lines += lines
        if keep and lines:
            self._void_rows = None
        elif self._void_rows is not None:
            widths = [cells(_COLOUR.sub("", line)) for line in lines]
            # Where a terminal breaks a long line is its own affair.
            self._void_rows = self._void_rows + len(lines) if max(widths, default=0) <= self.width else None
        self.changed()

    def changed(self) -> None:
        """Draw with the next frame."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FRAME, self.flush)

    def begin_void(self) -> None:
        """What is printed from here on may turn out void."""
        self.flush()
        self._void_rows, self._void_size = 0, self._app.output.get_size()

    def void(self) -> bool:
        """Take it back; False when it may have left the screen."""
        self.flush()
        rows, size, shown = self._void_rows, self._app.output.get_size(), self._app.renderer.last_rendered_screen
        self._void_rows = None
        if rows is None or size != self._void_size or self.is_lent or rows + (shown.height if shown else 0) > size.rows:
            return False
        self._draw_after(f"\x1b[{rows}A\r\x1b[J" if rows else "")
        return True

    def flush(self) -> None:
        """Print and draw now, unless another program has the terminal."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if self.is_lent or not self._app.is_running or self._app.is_done:
            return
        lines = self._finished()
        if lines:
            self._draw_after("".join(f"{line}\r\n" for line in lines))
        else:
            self._app.invalidate()

    def last_words(self) -> None:
        """Print what is left when the application has ended."""
        if lines := self._finished():
            self._app.output.write_raw("".join(f"{line}\r\n" for line in lines))
            self._app.output.flush()

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[None]:
        """Another program has the terminal for a while; lines wait."""
        self.flush()
        self._void_rows = None
        self._lent += 1
        try:
            with set_app(self._app):
                async with in_terminal():
                    yield
        finally:
            self._lent -= 1
            self.changed()

    def _finished(self) -> list[Line]:
        """What is to be printed: what was said so far, then what the answer has finished since."""
        taken = self._take()
        if taken and self._void_rows is not None:
            widths = [cells(_COLOUR.sub("", line)) for line in taken]
            self._void_rows = self._void_rows + len(taken) if max(widths) <= self.width else None
        lines, self._lines = [*self._lines, *taken], []
        return lines

    def _draw_after(self, text: str) -> None:
        """Write text where the live part stood, and the live part below it."""
        output, renderer = self._app.output, self._app.renderer
        output.write_raw(_HOLD)
        renderer.erase()
        output.write_raw(text)
        self._app.render_counter += 1  # what the layout keeps of a rendering is kept by this number
        with set_app(self._app):
            renderer.render(self._app, self._app.layout)
        output.write_raw(_SHOW)
        output.flush()
