"""A client without a model: it plays turns from a script and keeps what it was sent. Passes the clients' contract."""

import asyncio
import re
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from invincat.errors import InternalError, InvincatError
from invincat.llm.client import BrokenStream, Completion, EmptyAnswer, Finish, Part, ReasoningDelta, TextDelta
from invincat.llm.history import sendable
from invincat.llm.message import Assistant, Message, ToolCall
from invincat.llm.retry import Policy, persist
from invincat.llm.schema import ToolSpec
from invincat.llm.usage import Usage, estimate, estimate_messages

_WORD: Final = re.compile(r"\s*\S+\s*", re.DOTALL)


@dataclass(frozen=True)
class Asked:
    """What the client was sent: `messages` as they would be sent, that is, made sendable."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    max_tokens: int | None
    schema: Mapping[str, Any] | None


@dataclass(frozen=True)
class Say:
    """An answer. A call is (name, arguments), the arguments as a dict or as the raw text that a model would send.

    `finish` is LENGTH or FILTER to cut the answer; otherwise it follows from the calls.
    """

    text: str = ""
    calls: Sequence[tuple[str, Mapping[str, Any] | str]] = ()
    reasoning: str | None = None
    finish: Finish | None = None
    usage: Usage | None = None


@dataclass(frozen=True)
class Fail:
    """A fault, after some text was delivered."""

    error: InvincatError
    after: str = ""


@dataclass(frozen=True)
class Hang:
    """Silence until cancelled, after some text was delivered."""

    after: str = ""


Turn = Say | Fail | Hang


async def _at_once(_: float) -> None:
    """A sleep that only lets others run."""
    await asyncio.sleep(0)


# Waits as long as it says, in no time.
IMPATIENT: Final = Policy(sleep=_at_once)


@dataclass
class ScriptedClient:
    """A `Client` that answers with the turns in order, or with what a function makes of each request.

    Every attempt takes a turn, retries too. InternalError when there is none left. `asked` grows with every attempt.
    """

    script: Iterable[Turn | Callable[[Asked], Turn]] | Callable[[Asked], Turn] = ()
    model: str = "scripted"
    policy: Policy = IMPATIENT
    asked: list[Asked] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._turns = deque(() if callable(self.script) else self.script)
        self._calls = 0

    def add(self, *turns: Turn | Callable[[Asked], Turn]) -> None:
        """Append turns to the script."""
        self._turns.extend(turns)

    async def aclose(self) -> None:
        """`Client.aclose`; nothing to let go of."""

    def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        *,
        max_tokens: int | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[Part, None]:
        """`Client.stream`."""
        asked = Asked(tuple(sendable(messages)), tuple(tools), max_tokens, schema)
        return persist(lambda: self._attempt(asked), self.policy)

    async def _attempt(self, asked: Asked) -> AsyncGenerator[Part, None]:
        self.asked.append(asked)
        match self._next(asked):
            case Fail(error, after):
                for part in _deltas(after):
                    yield part
                raise BrokenStream(error.what, partial=after) if after else error
            case Hang(after):
                for part in _deltas(after):
                    yield part
                await asyncio.Event().wait()
            case Say() as said:
                if said.reasoning:
                    yield ReasoningDelta(said.reasoning)
                for part in _deltas(said.text):
                    yield part
                yield self._completion(said, asked)

    def _next(self, asked: Asked) -> Turn:
        if callable(self.script):
            return self.script(asked)
        if not self._turns:
            raise InternalError(f"the script has no turn {len(self.asked)}", where="ScriptedClient")
        turn = self._turns.popleft()
        return turn(asked) if callable(turn) else turn

    def _completion(self, said: Say, asked: Asked) -> Completion:
        cut = said.finish in {Finish.LENGTH, Finish.FILTER}
        calls = () if cut else tuple(self._call(name, arguments) for name, arguments in said.calls)
        finish = said.finish if said.finish and cut else Finish.CALLS if calls else Finish.STOP
        message = Assistant(said.text, calls, said.reasoning)
        if message.is_empty and not cut:
            raise EmptyAnswer("the model answered with nothing", next_step="say it differently, or try again")
        used = Usage(estimate_messages(asked.messages, asked.tools), estimate(said.text), estimated=True)
        return Completion(message, finish, said.usage or used, tuple(name for name, _ in said.calls) if cut else ())

    def _call(self, name: str, arguments: Mapping[str, Any] | str) -> ToolCall:
        self._calls += 1
        raw = arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
        return ToolCall.read(f"call_{self._calls}", name, raw)


def _deltas(text: str) -> list[TextDelta]:
    """A text as a model streams it: word by word."""
    return [TextDelta(word) for word in _WORD.findall(text)] or ([TextDelta(text)] if text else [])
