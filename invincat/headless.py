"""One turn without a terminal: JSON only on stdout, diagnostics on stderr, and it never waits for anybody."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

import msgspec

from invincat.agent.events import End, Event, Learned, Notice, Restarted, Text, ToolFinished, ToolStarted, TurnEnded
from invincat.desk import FLUSH, Desk
from invincat.governance.hidden import escape_hidden
from invincat.llm.usage import Usage
from invincat.outcome import EXIT_CODES

# CLI "Exit codes", headless.
EXITS: Final[Mapping[End, int]] = {
    End.FINAL: 0,
    End.TURN_CAP: 53,
    End.BUDGET: 53,
    End.REPEATING: 53,
    End.ERROR: 1,
    End.NO_MODEL: 1,
    End.INTERRUPTED: 130,
}
TRY_LATER: Final = 75

_WHY: Final[Mapping[End, str]] = {
    End.TURN_CAP: "stopped: the turn took as many requests as it may (--max-turns)",
    End.BUDGET: "stopped: the turn took as many tokens as it may (--max-tokens)",
    End.REPEATING: "stopped: the model made the same call again and again, with the same result",
    End.INTERRUPTED: "interrupted",
}


class Form(StrEnum):
    """What stands on stdout: the answer, one JSON object, or one JSON object for each event."""

    TEXT = "text"
    JSON = "json"
    STREAM_JSON = "stream-json"


@dataclass
class _Report:
    """What goes to stdout and stderr, in the chosen form."""

    form: Form
    out: Callable[[str], None]
    err: Callable[[str], None]
    said: str = ""
    ended: TurnEnded = field(default_factory=lambda: TurnEnded(End.INTERRUPTED, "", Usage()))
    tools: list[dict[str, Any]] = field(default_factory=list)
    learned: list[Event] = field(default_factory=list)

    def begin(self, session: str) -> None:
        """The conversation is open: who reads the stream can resume it whatever happens to us."""
        if self.form is Form.STREAM_JSON:
            self.out(msgspec.json.encode({"event": "session", "id": session}).decode() + "\n")

    def tell(self, event: Event) -> None:
        """An event of the turn."""
        match event:
            case TurnEnded():
                self._end(event)
            case Text(text):
                self.said += text
            case Restarted() | ToolStarted():
                self.said = ""
            case ToolFinished():
                self.tools.append({"name": event.name, "summary": event.summary, "is_error": event.is_error})
            case Notice(text):
                self._complain(text)
        self._stream(event)

    def interrupt(self) -> None:
        """The person ended the turn: what was said so far is its text."""
        self.tell(TurnEnded(End.INTERRUPTED, self.said, Usage()))

    def tell_learned(self, event: Event) -> None:
        """Something was learned, or cannot be."""
        self.learned.append(event)
        # Whoever read us may have gone; what is learned is learned all the same.
        with suppress(BrokenPipeError):
            if self.form is not Form.STREAM_JSON and isinstance(event, Learned | Notice):
                self._complain(event.text)
            self._stream(event)

    def close(self, session: str, left: int) -> None:
        """All is over; `left` jobs of learning wait."""
        if self.form is Form.JSON:
            result = {
                "session": session,
                "end": self.ended.end,
                "text": self.ended.text,
                "error": self.ended.error,
                "usage": self.ended.usage,
                "tools": self.tools,
                "learned": self.learned,
                "queued": left,
            }
            self.out(msgspec.json.encode(result).decode() + "\n")
        if left:
            self._complain("learning goes on at the next start")
        if self.form is Form.TEXT:
            self._complain(f"session {session}")

    def _end(self, ended: TurnEnded) -> None:
        """The answer is there at once: learning is off its path."""
        self.ended = ended
        if self.form is Form.TEXT and ended.text.strip():
            self.out(ended.text.rstrip("\n") + "\n")
        if why := ended.error or _WHY.get(ended.end):
            self._complain(why)

    def _stream(self, event: Event) -> None:
        if self.form is Form.STREAM_JSON:
            self.out(msgspec.json.encode(event).decode() + "\n")

    def _complain(self, text: str) -> None:
        self.err(escape_hidden(text))


async def run_once(desk: Desk, prompt: str, form: Form, out: Callable[[str], None], err: Callable[[str], None]) -> int:
    """Open, answer one prompt, learn from it (bounded) or leave that queued, close. The exit code.

    Being cancelled once is the person's interrupt: the turn ends, and what there is is reported.
    """
    await desk.open()
    report = _Report(form, out, err)
    listening = asyncio.create_task(_listen(desk, report))
    patience = 0.0
    try:
        report.begin(desk.session_id)
        await _answer(desk, prompt, report)
        # Where the model cannot be asked, learning from it need not be tried.
        patience = FLUSH if report.ended.end not in {End.ERROR, End.INTERRUPTED} else 0.0
    finally:
        left, is_cut = await _closed(desk, patience)
    await listening
    report.close(desk.session_id, left)
    return EXITS[End.INTERRUPTED] if is_cut else _exit_code(report.ended, report.learned)


async def _answer(desk: Desk, prompt: str, report: _Report) -> None:
    try:
        async with aclosing(desk.turn(prompt)) as events:
            async for event in events:
                report.tell(event)
    except asyncio.CancelledError:
        _go_on()
        report.interrupt()


async def _closed(desk: Desk, patience: float) -> tuple[int, bool]:
    """How many jobs are left, and whether the person did not want to wait for them."""
    try:
        return await desk.close(patience), False
    except asyncio.CancelledError:
        _go_on()
        return desk.unlearned(), True


async def _listen(desk: Desk, report: _Report) -> None:
    async for event in desk.background():
        report.tell_learned(event)


def _go_on() -> None:
    """This task was cancelled by an interrupt that has been dealt with."""
    if task := asyncio.current_task():
        task.uncancel()


def _exit_code(end: TurnEnded, learned: Sequence[Event]) -> int:
    """That of the turn; without a model it is there to remember, so what came of that counts, the gravest first."""
    if end.end is not End.NO_MODEL:
        return TRY_LATER if end.try_later else EXITS[end.end]
    if any(isinstance(event, Notice) and event.is_refusal for event in learned):
        return EXIT_CODES["rejected"]
    remembered = [event for event in learned if isinstance(event, Learned)]
    if any(event.proposal for event in remembered):
        return EXIT_CODES["held"]
    return 0 if remembered else EXITS[End.NO_MODEL]
