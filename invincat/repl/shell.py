"""The REPL on a terminal: one prompt-toolkit application that lives as long as the conversation does."""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.input import Input, create_input
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.output.vt100 import Vt100_Output

from invincat.errors import InvincatError
from invincat.repl import plain
from invincat.repl.backend import Backend
from invincat.repl.completer import ReplCompleter
from invincat.repl.editor import edit
from invincat.repl.front import Front
from invincat.repl.history import InputHistory
from invincat.repl.keys import HELP, bindings
from invincat.repl.layout import build
from invincat.repl.leaving import ENDING_SIGNALS, close, on_signal
from invincat.repl.paste import Pastes
from invincat.repl.render import Answer, MarkdownAnswer, PlainAnswer, Transcript
from invincat.repl.review import ALONE_FOR, KEYS, Decision
from invincat.repl.screen import FRAME, Screen
from invincat.repl.style import Line, Paint, style

TWICE_WITHIN: Final = 2.0
# An Esc that nothing follows for so long is the key itself, and no Alt or arrow.
ESCAPE_ALONE: Final = 0.05
SEQUENCE_ALONE: Final = 0.25
LEAVING: Final = "press Ctrl-C again to quit"


def run(
    desk: Backend,
    *,
    input: Input | None = None,
    output: Output | None = None,
    history: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> int:
    """Talk until the person leaves; the exit code.

    Without a terminal, or on a dumb one, lines are read and written plainly. `history` is the file of what was typed.
    """
    if input is None and output is None and not _is_terminal(environment):
        return asyncio.run(plain.talk(desk))
    shell = Shell(desk, input or create_input(), output or _output(environment), history, environment)
    return asyncio.run(shell.talk())


def _is_terminal(environment: Mapping[str, str]) -> bool:
    dumb = environment.get("TERM", "dumb").casefold() in {"", "dumb", "unknown"}
    return sys.stdin.isatty() and sys.stdout.isatty() and not dumb


def _output(environment: Mapping[str, str]) -> Output:
    """The terminal; it is never asked where its cursor is, since the layout need not know, and some never answer."""
    terminal = Vt100_Output.from_pty(sys.stdout, term=environment.get("TERM"))
    terminal.enable_cpr = False
    return terminal


def _soon(act: Callable[[], None]) -> None:
    asyncio.get_running_loop().call_soon(act)


class Shell:
    """What keys do, and what shows what the front end says."""

    def __init__(
        self, desk: Backend, input: Input, output: Output, history: Path | None, environment: Mapping[str, str]
    ) -> None:
        colour = not environment.get("NO_COLOR")
        self._environment = environment
        self._pastes = Pastes()
        transcript = Transcript(Paint(colour), self._new_answer if colour else PlainAnswer)
        self._front = Front(desk, Paint(colour), self, transcript, self._pastes.expand, HELP)
        self._buffer = Buffer(
            completer=ReplCompleter(desk),
            complete_while_typing=True,
            history=InputHistory(history, self._pastes.expand),
            multiline=True,
            tempfile_suffix=".md",
            on_text_changed=lambda _: self._typed(),
            on_completions_changed=lambda _: self._completions_came(),
        )
        self._app: Application[None] = Application(
            layout=build(self._front, self._buffer, self._size, lambda: self._notice),
            style=style(colour=colour),
            include_default_pygments_style=False,
            key_bindings=bindings(self),
            color_depth=ColorDepth.DEPTH_4_BIT if colour else ColorDepth.DEPTH_1_BIT,
            erase_when_done=True,
            min_redraw_interval=FRAME,
            input=input,
            output=output,
        )
        self._app.ttimeoutlen = ESCAPE_ALONE
        self._app.timeoutlen = SEQUENCE_ALONE
        self._screen = Screen(self._app, transcript.take)
        self._notice = ""
        self._cancelled_at = -TWICE_WITHIN
        self._pressed: asyncio.TimerHandle | None = None
        self._completing = False
        self._fault: BaseException | None = None
        self._code = 0
        self._is_over = False

    async def talk(self) -> int:
        """Run until the person leaves."""
        background: list[asyncio.Task[None]] = []
        await self._front.desk.open()

        def begin() -> None:
            self._front.welcome()
            self._screen.flush()
            background.extend(asyncio.create_task(work) for work in (self._front.listen(), self._front.watch()))
            for task in background:
                task.add_done_callback(self._watch_over)

        for number in ENDING_SIGNALS:
            on_signal(number, partial(self._leave_with, 128 + number))
        try:
            with suppress(EOFError):  # the terminal has gone
                await self._app.run_async(pre_run=lambda: _soon(begin))
        finally:
            self._is_over = True
            self._print_rest()
            await close(self._front, background)
            self._print_rest()
        if self._fault:
            raise self._fault
        return self._code

    def _print_rest(self) -> None:
        with suppress(OSError):  # the terminal may have gone
            self._screen.last_words()

    def _leave_with(self, code: int) -> None:
        self._code = code
        self.end()

    def _watch_over(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (fault := task.exception()):
            self.end(fault)

    def _size(self) -> tuple[int, int]:
        return self._screen.width, self._screen.height

    def _new_answer(self) -> Answer:
        return MarkdownAnswer(lambda: self._screen.width)

    # --- the surface -----------------------------------------------------------------------------------------

    @property
    def width(self) -> int:
        """The columns of the terminal."""
        return self._screen.width

    def print(self, lines: Sequence[Line], *, keep: bool) -> None:
        """Print finished lines above the prompt."""
        self._screen.print(lines, keep=keep)
        if self._is_over:
            self._print_rest()

    def changed(self) -> None:
        """Draw soon."""
        self._screen.changed()

    def begin_void(self) -> None:
        """What follows may turn out void."""
        self._screen.begin_void()

    def void(self) -> bool:
        """Take it back."""
        return self._screen.void()

    def put_back(self, text: str) -> None:
        """Put text in front of what is typed."""
        typed = self._buffer.text
        self._buffer.text = f"{text}\n{typed}" if typed else text
        self._buffer.cursor_position = len(self._buffer.text)

    async def run_command(self, command: str) -> int:
        """A shell command on this terminal."""
        async with self._screen.lend():
            process = await asyncio.create_subprocess_shell(command)
            return await process.wait()

    def end(self, fault: BaseException | None = None) -> None:
        """Leave the application; `talk` does the rest."""
        self._fault = self._fault or fault
        if self._app.is_running and not self._app.is_done:
            self._screen.flush()
            self._app.exit()

    # --- keys ------------------------------------------------------------------------------------------------

    def send(self) -> None:
        """Send the message, take a completion, or go to a new line behind a backslash."""
        buffer = self._buffer
        if buffer.complete_state and buffer.complete_state.current_completion:
            buffer.complete_state = None
            if not buffer.text.startswith("/"):
                buffer.insert_text(" ")
                return
        if buffer.document.is_cursor_at_the_end and buffer.text.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.newline(copy_margin=False)
            return
        text = buffer.text
        # The answer to a question of ours is no message, and not worth recalling.
        buffer.reset(append_to_history=not self._front.is_asking)
        self._front.enter(text)
        self._screen.flush()

    def newline(self) -> None:
        """A newline."""
        self._buffer.newline(copy_margin=False)

    def cancel(self) -> None:
        """Ctrl-C."""
        if self._screen.is_lent:
            return  # it was meant for the program that has the terminal
        if self._buffer.text:
            self._buffer.reset()
        elif not self._front.interrupt():
            if time.monotonic() - self._cancelled_at < TWICE_WITHIN:
                self._front.quit()
                return
            self._cancelled_at = time.monotonic()
            self._say(LEAVING)

    def _say(self, notice: str) -> None:
        """Show a word in the place of the status bar for a moment."""
        self._notice = notice
        asyncio.get_running_loop().call_later(TWICE_WITHIN, self._unsay)
        self._app.invalidate()

    def _unsay(self) -> None:
        if self._notice and time.monotonic() - self._cancelled_at >= TWICE_WITHIN - FRAME:
            self._notice = ""
            self._app.invalidate()

    def leave(self) -> None:
        """Ctrl-D."""
        self._front.quit()

    def interrupt(self) -> None:
        """Esc."""
        if self._buffer.complete_state:
            self._buffer.cancel_completion()
        elif not self._front.interrupt() and self.is_offering() and self.is_empty():
            self._front.decide(Decision.LATER)

    def unqueue(self) -> None:
        """Take back the message that was queued last."""
        self.put_back(self._front.unqueue())

    def edit(self) -> None:
        """Edit the message, pastes unfolded."""
        if self._screen.is_lent:
            return
        self._buffer.text = self._pastes.expand(self._buffer.text)
        self._front.spawn(self._edit())

    async def _edit(self) -> None:
        try:
            async with self._screen.lend():
                text = await edit(self._buffer.text, self._environment)
        except InvincatError as fault:
            self._front.say(self._front.paint.line(f"error: {fault}", "error"))
            return
        if text is not None:
            self._buffer.text = text
            self._buffer.cursor_position = len(text)

    def suspend(self) -> None:
        """Ctrl-Z."""
        self._screen.flush()
        self._app.suspend_to_background()

    def complete(self) -> None:
        """Tab: also when it is pressed before the completions have come."""
        if self._buffer.complete_state and self._buffer.complete_state.completions:
            self._buffer.complete_next()
        else:
            self._buffer.start_completion(select_first=True)
            self._completing = True

    def _completions_came(self) -> None:
        state = self._buffer.complete_state
        if self._completing and state and state.completions and state.complete_index is None:
            self._buffer.go_to_completion(0)

    def paste(self, text: str) -> None:
        """Insert what was pasted, folded if it is large."""
        self._buffer.insert_text(self._pastes.fold(text))

    def erase_token(self) -> None:
        """Delete the folded paste before the cursor as one."""
        self._buffer.delete_before_cursor(self._pastes.token_before(self._buffer.document.text_before_cursor))

    def press(self, key: str) -> None:
        """A key of an offer: it decides, unless it turns out to begin a word."""
        self._buffer.insert_text(key)
        self._pressed = asyncio.get_running_loop().call_later(ALONE_FOR, self._alone, key)

    def _alone(self, key: str) -> None:
        self._pressed = None
        self._buffer.reset()
        self._front.decide(KEYS[key])

    def _typed(self) -> None:
        if self._pressed:
            self._pressed.cancel()
            self._pressed = None
        self._completing = False
        self._notice = ""

    def decide(self, decision: Decision) -> None:
        """Alt and a key of an offer."""
        self._front.decide(decision)

    # --- conditions ------------------------------------------------------------------------------------------

    def is_empty(self) -> bool:
        """Nothing is typed."""
        return not self._buffer.text

    def is_queueing(self) -> bool:
        """Messages are queued, and nothing is typed that would be mixed with them."""
        return bool(self._front.queue) and self.is_empty()

    def is_offering(self) -> bool:
        """An offer is shown."""
        return self._front.offers.current is not None and not self._front.is_busy and not self._front.is_asking

    def is_armed(self) -> bool:
        """A plain key decides it."""
        return self.is_offering() and self._front.offers.is_armed(time.monotonic())

    def is_after_token(self) -> bool:
        """A folded paste ends right before the cursor."""
        return self._pastes.token_before(self._buffer.document.text_before_cursor) > 0
