"""The loop: query, act, append, until the model has said its last word (ASSISTANT "Roles").

It speaks to every front end through `events`, and knows no store: what changed in memory comes as text.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final, TypeVar

from invincat.agent.events import (
    End,
    Event,
    Notice,
    Restarted,
    Text,
    Thinking,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from invincat.agent.session import Session, encodable
from invincat.errors import InvincatError, ProviderError
from invincat.llm.client import (
    BrokenStream,
    Client,
    Completion,
    Finish,
    ReasoningDelta,
    Refused,
    Retrying,
    TextDelta,
)
from invincat.llm.message import Assistant, Message, System, ToolCall, ToolResult, User
from invincat.llm.usage import Usage
from invincat.tools.registry import Toolbox

# The same call with the same result so often ends a turn.
MAX_REPEATS: Final = 5
Said = TypeVar("Said", bound=Message)
INTERRUPTED: Final = "interrupted by the person; it was not finished"


@dataclass(frozen=True)
class Limits:
    """What one turn may cost: requests to the model, and tokens in and out (None: as many as it takes)."""

    requests: int = 50
    tokens: int | None = None


# What holds where nobody says otherwise.
USUAL: Final = Limits()


@dataclass
class _Progress:
    """What a turn has done so far."""

    text: str = ""
    usage: Usage = field(default_factory=Usage)
    requests: int = 0
    said_last: bool = False
    seen: Counter[tuple[str, ...]] = field(default_factory=Counter)

    @property
    def repeating(self) -> bool:
        """Whether something came back the same too often."""
        return any(count >= MAX_REPEATS for count in self.seen.values())


class Conversation:
    """One conversation with one model.

    `system` is sent as it is with every request, so that the prefix of two requests stays byte-identical (RULES 11);
    `news` gives, before each turn, what changed in memory since the last one, to be appended.
    """

    def __init__(
        self,
        client: Client,
        toolbox: Toolbox,
        session: Session,
        system: str,
        news: Callable[[], Awaitable[str | None]],
        limits: Limits = USUAL,
    ) -> None:
        self._client = client
        self._toolbox = toolbox
        self._session = session
        self._system = System(system)
        self._news = news
        self._limits = limits
        self._told_unsaved = False

    @property
    def session(self) -> Session:
        """The log it is written to."""
        return self._session

    def switch(self, client: Client) -> None:
        """Ask another model from the next turn on; system prompt and history stay as they are."""
        self._client = client

    async def turn(self, text: str) -> AsyncGenerator[Event, None]:
        """Answer a person's message; TurnEnded comes last, also for faults. Cancelling keeps the history whole."""
        progress = _Progress()
        try:
            await self._hear(text)
            # Closed here and at once: a generator that is left to the garbage collector ends its history too late.
            async with aclosing(self._run(progress)) as events:
                async for event in events:
                    yield event
            ended = TurnEnded(self._spent(progress) or End.FINAL, progress.text, progress.usage)
        except InvincatError as fault:
            later = isinstance(fault, ProviderError) and not isinstance(fault, Refused)
            ended = TurnEnded(End.ERROR, progress.text, progress.usage, error=str(fault), try_later=later)
        if not self._session.saving and not self._told_unsaved:
            self._told_unsaved = True
            yield Notice("the session can no longer be saved (is the disk full?); it lives in memory only")
        yield ended

    async def _hear(self, text: str) -> None:
        """Append a person's message with the news behind it; without them, when they cannot be had."""
        news: str | None = None
        try:
            news = await self._news()
        finally:
            self._append(User(f"{text}\n\n{news}" if news else text))

    async def _run(self, progress: _Progress) -> AsyncGenerator[Event, None]:
        """Query and act until the model has said its last word, or no further request may be made."""
        while self._spent(progress) is None:
            progress.requests += 1
            answer: Completion | None = None
            async with aclosing(self._query()) as stream:
                async for item in stream:
                    if isinstance(item, Completion):
                        answer = item
                    else:
                        yield item
            if answer is None:
                raise BrokenStream("the answer ended without its end")
            progress.usage += answer.usage
            if not answer.message.is_empty:
                message = self._append(answer.message)
                progress.text = message.text or progress.text
            async with aclosing(self._act(answer.message.calls, progress)) as acts:
                async for event in acts:
                    yield event
            if answer.cut:
                progress.seen[("cut", *answer.cut)] += 1
                self._append(User(_cut_note(answer)))
            elif not answer.message.calls:
                progress.said_last = True
                if answer.finish in _EARLY:
                    yield Notice(_EARLY[answer.finish])

    def _spent(self, progress: _Progress) -> End | None:
        """Why no further request may be made."""
        if progress.said_last:
            return End.FINAL
        if progress.repeating:
            return End.REPEATING
        if progress.requests >= self._limits.requests:
            return End.TURN_CAP
        over = self._limits.tokens is not None and progress.usage.total >= self._limits.tokens
        return End.BUDGET if over else None

    async def _query(self) -> AsyncGenerator[Event | Completion, None]:
        """One request; when it breaks or is cancelled, what was said so far is kept, and none of its calls."""
        said = ""
        messages: list[Message] = [self._system, *self._session.messages]
        async with aclosing(self._client.stream(messages, self._toolbox.specs)) as parts:
            try:
                async for part in parts:
                    match part:
                        case TextDelta(text):
                            said += text
                            yield Text(encodable(text))
                        case ReasoningDelta(text):
                            yield Thinking(encodable(text))
                        case Retrying(reason, seconds):
                            said = ""
                            yield Restarted(reason, seconds)
                        case Completion():
                            yield part
            except (asyncio.CancelledError, GeneratorExit, InvincatError):
                if said.strip():
                    self._append(Assistant(said))
                raise

    async def _act(self, calls: tuple[ToolCall, ...], progress: _Progress) -> AsyncGenerator[Event, None]:
        """Run the calls in order; every one gets its result, also when the person interrupts."""
        left = list(calls)
        try:
            while left:
                call = left[0]
                yield ToolStarted(call.id, call.name, call.arguments)
                result = await self._toolbox.run(call)
                self._append(ToolResult(call.id, result.text, result.is_error))
                left.pop(0)
                progress.seen[(call.name, call.arguments, result.text)] += 1
                yield ToolFinished(call.id, call.name, result.summary, result.text, result.is_error)
        finally:
            for call in left:
                self._append(ToolResult(call.id, INTERRUPTED, is_error=True))

    def _append(self, message: Said) -> Said:
        return self._session.append(message)


def _cut_note(answer: Completion) -> str:
    """What the model is told of calls that a limit or a filter cut: they were not run. No words of the person's."""
    what = {Finish.FILTER: "the endpoint's filter"}.get(answer.finish, "the length limit")
    listed = ", ".join(answer.cut)
    return (
        f"<invincat-note>Your answer was cut by {what}; {listed} was not run. Go on in smaller steps.</invincat-note>"
    )


_EARLY: Final = {
    Finish.LENGTH: "the answer was cut by the length limit",
    Finish.FILTER: "the endpoint's filter cut the answer",
}
