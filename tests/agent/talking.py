"""Talking in tests: one event loop a test, tools that count what they did, and what makes a session whole."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from invincat.agent.events import Event, Text, ToolFinished, ToolStarted, TurnEnded
from invincat.agent.loop import Conversation, Limits
from invincat.agent.session import Session
from invincat.llm.history import Profile, to_wire
from invincat.llm.message import Assistant, ToolResult
from invincat.llm.schema import tool_spec
from invincat.tools.base import Result
from invincat.tools.registry import Toolbox

SYSTEM = "You are a test."


@dataclass
class Probe:
    """A tool that notes each run and answers by a function of how often it ran."""

    name: str = "probe"
    answer: Callable[[int], str] = lambda number: f"result {number}"
    ran: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.spec = tool_spec(self.name, "A test.", {"type": "object", "properties": {"n": {"type": "integer"}}})

    async def run(self, arguments: dict[str, Any]) -> Result:
        self.ran.append(arguments)
        await asyncio.sleep(0)
        return Result(self.answer(len(self.ran)), summary=f"{self.name} {len(self.ran)}")


@dataclass
class Stuck(Probe):
    """A tool that never ends by itself."""

    async def run(self, arguments: dict[str, Any]) -> Result:
        self.ran.append(arguments)
        await asyncio.Event().wait()
        raise AssertionError


async def nothing_new() -> str | None:
    return None


def conversation(
    client: Any,
    session: Session,
    *tools: Probe,
    limits: Limits = Limits(),  # noqa: B008
    news: Callable[[], Awaitable[str | None]] = nothing_new,
) -> Conversation:
    return Conversation(client, Toolbox(tools), session, SYSTEM, news, limits)


async def hear(turn: AsyncGenerator[Event, None]) -> list[Event]:
    async with aclosing(turn) as events:
        return [event async for event in events]


async def until(holds: Callable[[], Any]) -> None:
    """Until something holds; what never comes fails the test."""
    for _ in range(1000):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not happen in time")


def play(talk: Conversation, *texts: str) -> list[Event]:
    """The events of these turns, in one event loop."""

    async def run() -> list[Event]:
        return [event for text in texts for event in await hear(talk.turn(text))]

    return asyncio.run(run())


def interrupted(talk: Conversation, text: str, when: Callable[[Event], bool]) -> list[Event]:
    """The events of a turn whose task is cancelled as soon as `when` is true of one and the loop waits again."""
    heard: list[Event] = []

    async def run() -> None:
        reached = asyncio.Event()

        async def listen() -> None:
            async with aclosing(talk.turn(text)) as events:
                async for event in events:
                    heard.append(event)
                    if when(event):
                        reached.set()

        task = asyncio.create_task(listen())
        await asyncio.wait_for(reached.wait(), 5)
        await asyncio.sleep(0.02)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    asyncio.run(run())
    return heard


def said(events: Sequence[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Text))


def ended(events: Sequence[Event]) -> TurnEnded:
    """The last event, which is the only one of its kind in a turn."""
    assert isinstance(events[-1], TurnEnded)
    return events[-1]


def tools_in(events: Sequence[Event]) -> list[str]:
    return [f"{type(event).__name__} {event.name}" for event in events if isinstance(event, ToolStarted | ToolFinished)]


def check_whole(session: Session) -> None:
    """Every call in the session has exactly one result, right behind it, as it stands on disk and in memory."""
    waiting: list[str] = []
    for message in session.messages:
        if isinstance(message, ToolResult):
            assert waiting, "a result follows a call"
            assert message.call_id == waiting.pop(0)
            continue
        assert not waiting
        waiting = [call.id for call in message.calls] if isinstance(message, Assistant) else []
    assert not waiting
    wire = to_wire(session.messages, Profile())
    assert len(wire) == len(session.messages), "nothing had to be mended"


def lines_on_disk(sessions_folder: Path) -> list[bytes]:
    [path] = sessions_folder.glob("*.jsonl")
    return path.read_bytes().splitlines()
