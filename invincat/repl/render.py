"""What the events of a conversation look like: finished lines, and what is still being said (no terminal here)."""

import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Protocol

import msgspec

from invincat.agent.events import (
    End,
    Event,
    Learned,
    Notice,
    Restarted,
    Text,
    Thinking,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from invincat.llm.usage import Usage
from invincat.repl.safe import one_line, safe
from invincat.repl.style import MAX_TAIL, Line, Paint

MAX_ARGUMENT: Final = 60
TOOL_MARK: Final = "*"
ERROR_MARK: Final = "!"

# How a turn ended, where the person would not see it by itself.
_ENDS: Final[Mapping[End, str]] = {
    End.INTERRUPTED: "interrupted",
    End.TURN_CAP: "stopped: the turn took as many requests as one may; say `go on` to continue",
    End.REPEATING: "stopped: the same call kept giving the same result",
    End.BUDGET: "stopped: the turn's budget of tokens is spent",
    End.ERROR: "stopped by an error",
}


class Answer(Protocol):
    """A text that grows: `take` gives the lines that are finished, `tail` is the rest."""

    @property
    def tail(self) -> str:
        """What no line shows yet, safe to show."""

    def add(self, text: str) -> None:
        """More of it."""

    def take(self) -> list[Line]:
        """The lines that are finished and were not taken."""

    def finish(self) -> list[Line]:
        """The lines of all that is left."""


class PlainAnswer:
    """The text as it is, line by line: for pipes and NO_COLOR."""

    def __init__(self) -> None:
        self._text = ""

    @property
    def tail(self) -> str:
        """The line that has no end yet."""
        return safe(self._text[-MAX_TAIL:].rpartition("\n")[2])

    def add(self, text: str) -> None:
        """More of the text."""
        self._text += text

    def take(self) -> list[Line]:
        """Its whole lines."""
        lines, end, self._text = self._text.rpartition("\n")
        return [Line(line) for line in safe(lines).split("\n")] if end else []

    def finish(self) -> list[Line]:
        """All of it."""
        if self._text:
            self._text += "\n"
        return self.take()


class MarkdownAnswer:
    """The text as markdown, block by block."""

    def __init__(self, width: Callable[[], int]) -> None:
        # lazy: rich and its parser take 0.1 s, which the first prompt need not wait for
        markdown: Any = importlib.import_module("invincat.repl.markdown")
        self._blocks = markdown.Blocks()
        self._renderer = markdown.Renderer()
        self._width = width
        self._is_first = True

    @property
    def tail(self) -> str:
        """The blocks that may still change, as they were written."""
        tail: str = self._blocks.tail
        return tail

    def add(self, text: str) -> None:
        """More of the text."""
        self._blocks.add(text)

    def take(self) -> list[Line]:
        """The finished blocks, rendered."""
        return self._join(self._blocks.take())

    def finish(self) -> list[Line]:
        """All that is left, rendered."""
        return self._join(self._blocks.finish())

    def _join(self, blocks: list[str]) -> list[Line]:
        lines: list[Line] = self._renderer.join(blocks, self._width(), first=self._is_first)
        self._is_first &= not lines
        return lines


class Transcript:
    """Turns events into lines, in order. `tail` and `doing` are what is not finished, for the live part."""

    def __init__(self, paint: Paint, new_answer: Callable[[], Answer]) -> None:
        self._paint = paint
        self._new_answer = new_answer
        self._answer: Answer | None = None
        self._tool: ToolStarted | None = None
        self._thinking = False
        self.said_lines = False
        self.usage = Usage()

    @property
    def tail(self) -> str:
        """The text of the answer that is not printed yet."""
        return self._answer.tail if self._answer else ""

    @property
    def doing(self) -> str:
        """What is under way, on one line; empty when nothing is to be said of it."""
        if self._tool:
            return f"{TOOL_MARK} {describe(self._tool)} ..."
        return "thinking ..." if self._thinking else ""

    def take(self) -> list[Line]:
        """Lines of the answer that are finished by now."""
        return self._said(self._answer.take()) if self._answer else []

    def feed(self, event: Event) -> list[Line]:
        """The lines that an event brings; text brings its own with `take` or the next event."""
        lines: list[Line] = []
        match event:
            case Text(text):
                self._thinking = False
                self._answer = self._answer or self._new_answer()
                self._answer.add(text)
            case Thinking():
                self._thinking = True
            case Restarted(reason, seconds):
                lines = self._restart(reason, seconds)
            case ToolStarted():
                lines = self._finish()
                self._tool = event
            case ToolFinished():
                lines = [*self._finish(), self._tool_line(event)]
                self._tool = None
                self.said_lines = False
            case Notice(text):
                lines = [*self.take(), self._paint.line(text, "dim")]
            case Learned():
                lines = [*self.take(), self._paint.line(learned(event), "dim")]
            case TurnEnded():
                lines = self._end(event)
        return lines

    def stop(self) -> list[Line]:
        """The rest of a turn that ends before its time: what was said, and the tool that did not finish."""
        lines = self._finish()
        if self._tool:
            lines.append(self._paint.line(f"{ERROR_MARK} {describe(self._tool)}", "error"))
        self._tool = None
        return lines

    def interrupt(self) -> list[Line]:
        """The same, of a turn that the person stopped."""
        return [*self.stop(), self._paint.line(_ENDS[End.INTERRUPTED], "warning")]

    def _end(self, event: TurnEnded) -> list[Line]:
        self.usage += event.usage
        if event.end is End.INTERRUPTED:
            return self.interrupt()
        lines = self._finish()
        self._tool = None
        if event.end is End.NO_MODEL:
            # The first lines said at length what is missing.
            lines.append(self._paint.line("no answer: there is no model (/model says more)", "dim"))
        elif event.end in _ENDS:
            failed = event.end is End.ERROR
            text = event.error if failed and event.error else _ENDS[event.end]
            lines.append(self._paint.line(f"error: {text}" if failed else text, "error" if failed else "warning"))
        return lines

    def _restart(self, reason: str, seconds: float) -> list[Line]:
        what = "what was said above is void" if self.said_lines else "the answer begins anew"
        self._answer, self._tool, self._thinking, self.said_lines = None, None, False, False
        wait = f"; trying again in {seconds:.0f} s" if seconds >= 1 else ""
        return [self._paint.line(f"{what}: {reason}{wait}", "warning")]

    def _finish(self) -> list[Line]:
        """The rest of the answer; what comes after it begins a new one."""
        lines = self._said(self._answer.finish()) if self._answer else []
        self._answer, self._thinking = None, False
        return lines

    def _said(self, lines: list[Line]) -> list[Line]:
        self.said_lines |= bool(lines)
        return lines

    def _tool_line(self, event: ToolFinished) -> Line:
        summary = event.summary or event.name
        text = summary if summary.startswith(event.name) else f"{event.name}: {summary}"
        if event.is_error:
            return self._paint.line(f"{ERROR_MARK} {text}", "error")
        return self._paint.line(f"{TOOL_MARK} {text}", "dim")


def learned(event: Learned) -> str:
    """What was learned, with its commit if the text does not name it."""
    commit = event.commit[:7] if event.commit else ""
    return f"{event.text} ({commit})" if commit and commit not in event.text else event.text


def describe(call: ToolStarted) -> str:
    """A call on one line: its name and its first arguments."""
    try:
        arguments = msgspec.json.decode(call.arguments)
    except msgspec.DecodeError:
        arguments = None
    values: Iterable[object] = arguments.values() if isinstance(arguments, dict) else ()
    words = " ".join(str(value) for value in values if isinstance(value, str | int) and not isinstance(value, bool))
    shown = one_line(words[: MAX_ARGUMENT * 4])
    shown = shown if len(shown) <= MAX_ARGUMENT else f"{shown[: MAX_ARGUMENT - 1]}…"
    return f"{one_line(call.name)} {shown}".strip()
