"""What the REPL does with what is typed, whatever draws it: messages, commands, the queue, offers."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import aclosing
from typing import Any, Final, Protocol

from invincat import __version__
from invincat.agent.events import Event, Learned, Notice, Restarted, ToolFinished
from invincat.agent.talk import NO_MODEL
from invincat.errors import InvincatError
from invincat.llm.usage import Usage
from invincat.repl.backend import Backend
from invincat.repl.commands import COMMANDS, GOODBYES, nearest, parse
from invincat.repl.render import Transcript
from invincat.repl.review import KEYS, NO_REASON, Decision, Offer, Offers, details
from invincat.repl.style import BLANK, Line, Paint
from invincat.review import Waiting

WATCH_EVERY: Final = 0.5
# How long what the desk said while it closed may take to be shown.
LAST_NEWS: Final = 0.02


class Surface(Protocol):
    """What shows lines and the live part."""

    @property
    def width(self) -> int:
        """The columns that lines have."""

    def print(self, lines: Sequence[Line], *, keep: bool) -> None:
        """Print finished lines, above whatever is live; those to `keep` are never taken back."""

    def changed(self) -> None:
        """The live part is not as it was, or the transcript has lines to take."""

    def begin_void(self) -> None:
        """From here on an answer is printed that may turn out void."""

    def void(self) -> bool:
        """Take back what was printed since `begin_void`, if that can be done."""

    def put_back(self, text: str) -> None:
        """Give text back to the input."""

    async def run_command(self, command: str) -> int:
        """Run a shell command on the terminal; its exit code."""

    def end(self, fault: BaseException | None = None) -> None:
        """End the REPL, with a fault of the program if there is one."""


class Front:
    """One REPL. Everything happens on one event loop; `enter` and `interrupt` return at once."""

    def __init__(
        self,
        desk: Backend,
        paint: Paint,
        surface: Surface,
        transcript: Transcript,
        expand: Callable[[str], str] = str,
        keys_help: Sequence[tuple[str, str]] = (),
    ) -> None:
        self.desk = desk
        self.paint = paint
        self.keys_help = keys_help
        self.transcript = transcript
        self.offers = Offers()
        self.queue: list[str] = []
        self.counts: tuple[int, int] | None = None
        self._surface = surface
        self._expand = expand
        self._turn: asyncio.Task[None] | None = None
        self._ask: Callable[[str], Coroutine[Any, Any, None]] | None = None
        self._jobs: set[asyncio.Task[None]] = set()
        self._commands: set[asyncio.Task[None]] = set()
        self._interrupted = False
        self._closing = False
        self._talked = False
        self._order = asyncio.Lock()
        self._begun = 0.0

    # --- what is shown ---------------------------------------------------------------------------------------

    @property
    def width(self) -> int:
        """The columns that lines have."""
        return self._surface.width

    @property
    def usage(self) -> Usage:
        """The tokens that were spent."""
        return self.transcript.usage

    @property
    def is_busy(self) -> bool:
        """Whether a turn, or a command that takes its place, is under way."""
        return self._turn is not None

    @property
    def is_asking(self) -> bool:
        """Whether the next line answers a question of ours."""
        return self._ask is not None

    @property
    def elapsed(self) -> int:
        """For how many seconds the turn has been under way."""
        return int(time.monotonic() - self._begun) if self._turn else 0

    def say(self, *lines: Line) -> None:
        """Print lines, after what the answer has finished so far."""
        self._surface.print([*self.transcript.take(), *lines], keep=True)

    def welcome(self, *, name: bool = True) -> None:
        """The first lines: who this is, unless nobody reads it, and what is missing."""
        if name:
            self.say(self.paint.line(f"Invincat {__version__}, /help for help", "bold"))
        if self.desk.model is None:
            self.say(self.paint.line(NO_MODEL, "warning"))

    def farewell(self) -> None:
        """The last line: how to go on with what was said; nothing where nothing was."""
        if self._talked:
            self.say(self.paint.line(f"session {self.desk.session_id}, go on with: invincat -c", "dim"))

    # --- what is typed ---------------------------------------------------------------------------------------

    def enter(self, text: str, *, echo: bool = True) -> None:
        """A line or message of the person. `text` may hold folded pastes."""
        if self._ask:
            answer, self._ask = self._ask, None
            self.spawn(answer(text.strip()))
            return
        if not text.strip():
            return
        if self.offers.current and not self.is_busy and text.strip() in KEYS:
            self.decide(KEYS[text.strip()])
            return
        self.offers.put_off()
        if self.is_busy and not _is_at_once(text):
            self.queue.append(text)
            self._surface.changed()
            return
        self._dispatch(text, echo=echo)

    def _dispatch(self, text: str, *, echo: bool) -> None:
        # What was pasted and folded decides nothing: it may well begin with `!` or `/`.
        words = text.strip()
        if echo:
            self.say(*self._echo(text))
        if words.casefold() in GOODBYES:
            self.quit()
        elif words.startswith("!") and not words.startswith("!["):  # an image of markdown is no command
            self._foreground(self._shell(self._expand(words[1:].strip())))
        elif (command := parse(words)) is None:
            self._foreground(self._talk(self._expand(words)))
        else:
            self._command(*command)

    def _command(self, name: str, words: str) -> None:
        """Carry out a command, or say that there is none."""
        name = "exit" if name in GOODBYES else name
        if name not in COMMANDS:
            self.say(self.paint.line(nearest(name), "warning"))
        elif COMMANDS[name].at_once:
            self._commands.add(self.spawn(self._run(name, self._expand(words))))
        else:
            self._foreground(self._run(name, self._expand(words)))

    def interrupt(self) -> bool:
        """Stop the turn, or whatever command runs; False when nothing does."""
        if self._ask:
            self._ask = None
            self.say(self.paint.line("later: /review finds it", "dim"))
            self._show_offer()
            return True
        self._commands = {task for task in self._commands if not task.done()}
        running = {self._turn} if self._turn else self._commands
        self._interrupted = True
        for task in running:
            task.cancel()
        return bool(running)

    def unqueue(self) -> str:
        """The message that was queued last, taken out of the queue; empty when there is none."""
        return self.queue.pop() if self.queue else ""

    def quit(self) -> None:
        """End the REPL."""
        self._surface.end()

    # --- turns and commands ----------------------------------------------------------------------------------

    def _foreground(self, work: Coroutine[Any, Any, None]) -> None:
        """Work during which messages are queued."""
        self._begun, self._interrupted = time.monotonic(), False
        self._turn = asyncio.create_task(work)
        self._turn.add_done_callback(self._after_turn)
        self._surface.changed()

    def _after_turn(self, task: asyncio.Task[None]) -> None:
        self._turn = None
        self._report(task)
        if self._closing:
            return
        if self._interrupted:
            waiting, self.queue = "\n".join(self.queue), []
            if waiting:
                self._surface.put_back(waiting)
        elif self.queue:
            self._dispatch(self.queue.pop(0), echo=True)
        self.spawn(self.count())
        self._surface.changed()

    async def _talk(self, text: str) -> None:
        """One turn: everything that the desk says, up to the last event."""
        self.transcript.said_lines = False
        self._talked = True
        self._surface.begin_void()
        try:
            async with aclosing(self.desk.turn(text)) as events:
                async for event in events:
                    self._show(event)
        except asyncio.CancelledError:
            self.say(*self.transcript.interrupt())
            raise
        except InvincatError as fault:
            self.say(*self.transcript.stop(), self._fault(fault))
        finally:
            self.say(BLANK)

    def _show(self, event: Event) -> None:
        if isinstance(event, Restarted) and self.transcript.said_lines and self._surface.void():
            self.transcript.said_lines = False
        if isinstance(event, Learned) and event.proposal:
            self.offers.add(Offer(event.proposal, event.text), time.monotonic())
        lines = self.transcript.feed(event)
        if lines:
            self._surface.print(lines, keep=isinstance(event, Notice | Learned))
        if isinstance(event, ToolFinished | Restarted):
            self._surface.begin_void()
        self._surface.changed()

    async def _run(self, name: str, words: str) -> None:
        """A command; what it says of a fault is a line, and the REPL goes on. One at a time, in order."""
        async with self._order:
            try:
                await COMMANDS[name].run(self, words)
            except asyncio.CancelledError:
                self.say(self.paint.line("interrupted", "warning"))
                raise
            except InvincatError as fault:
                self.say(self._fault(fault))
        await self.count()

    async def _shell(self, command: str) -> None:
        """A command of the person's own."""
        if not command:
            self.say(self.paint.line("which command? !COMMAND", "warning"))
            return
        code = await self._surface.run_command(command)
        if code:
            self.say(self.paint.line(f"exit code {code}", "dim"))

    # --- offers ----------------------------------------------------------------------------------------------

    def review(self, waiting: list[Waiting]) -> None:
        """Put held proposals to the person."""
        self.offers.review(waiting, time.monotonic())
        self._show_offer()

    def _show_offer(self) -> None:
        offer = self.offers.current
        if offer and offer.details:
            self.say(*details(self.paint, offer.details))
        self._surface.changed()

    def decide(self, decision: Decision) -> None:
        """Carry out what the person decided of the current offer."""
        walking = self.offers.is_review
        offer = self.offers.settle()
        if offer is None:
            return
        if decision is Decision.REJECT and walking:
            self._ask = lambda reason: self._settle(self.desk.reject(offer.id, reason or NO_REASON))
            self.say(self.paint.line("why? (Enter: no reason)", "warning"))
            return
        if decision is Decision.REJECT:
            self.spawn(self._settle(self.desk.reject(offer.id, NO_REASON)))
        elif decision is Decision.ACCEPT:
            self.spawn(self._settle(self.desk.accept(offer.id)))
        else:
            self.say(self.paint.line(f"later: /review finds {offer.id}", "dim"))
            self._show_offer()

    async def _settle(self, work: Coroutine[Any, Any, str]) -> None:
        async with self._order:
            try:
                self.say(*self.paint.lines(await work))
            except InvincatError as fault:
                self.say(self._fault(fault))
        await self.count()
        self._show_offer()

    # --- in the background -----------------------------------------------------------------------------------

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Work that nobody waits for."""
        task = asyncio.create_task(work)
        self._jobs.add(task)
        task.add_done_callback(self._jobs.discard)
        task.add_done_callback(self._report)
        return task

    async def listen(self) -> None:
        """Show what the memory worker says, for as long as it says something."""
        try:
            async for event in self.desk.background():
                self._show(event)
                await self.count()
        except InvincatError as fault:
            self.say(self._fault(fault))

    async def watch(self) -> None:
        """Keep the counts and the sign of extraction current."""
        await self.count()
        was = False
        while True:
            is_remembering = self.desk.remembering()
            if was and not is_remembering:
                await self.count()
            if is_remembering != was or self.is_busy:
                self._surface.changed()
            was = is_remembering
            await asyncio.sleep(WATCH_EVERY)

    async def count(self) -> None:
        """Count the memories again."""
        if self._closing:
            return
        try:
            self.counts = await self.desk.counts()
        except InvincatError as fault:
            self.say(self._fault(fault))
        self._surface.changed()

    async def idle(self) -> None:
        """Wait until nothing is under way."""
        while running := [task for task in (self._turn, *self._jobs) if task and not task.done()]:
            await asyncio.wait(running)
            await asyncio.sleep(0)

    async def close(self, background: Sequence[asyncio.Task[None]]) -> None:
        """Stop what runs, and let the desk finish learning; what it says of that is shown."""
        self._closing = True
        await _stop([task for task in (self._turn, *self._jobs) if task])
        try:
            if await self.desk.close():
                self.say(self.paint.line("learning goes on at the next start", "dim"))
            if background:
                await asyncio.wait(background, timeout=LAST_NEWS)
        finally:
            await _stop(background)

    def _report(self, task: asyncio.Task[None]) -> None:
        """A fault of the program ends the REPL: the boundary above tells the person."""
        if not task.cancelled() and (fault := task.exception()):
            self._surface.end(fault)

    def _fault(self, fault: InvincatError) -> Line:
        return self.paint.line(f"error: {fault}", "error")

    def _echo(self, text: str) -> list[Line]:
        """A message of the person's, as it stays on the screen."""
        lines = self.paint.lines(text.strip("\n"), "accent")
        return [Line(f"{'> ' if at == 0 else '  '}{line}") for at, line in enumerate(lines)]


async def _stop(tasks: Sequence[asyncio.Task[None]]) -> None:
    running = [task for task in tasks if not task.done()]
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


def _is_at_once(text: str) -> bool:
    """Whether a line is carried out while the model answers."""
    words = text.strip()
    command = parse(words)
    if command is None:
        return words.casefold() in GOODBYES
    return command[0] not in COMMANDS or COMMANDS[command[0]].at_once
