"""A desk that plays turns from scripts: real events, real records, no model and no store.

Run as a program (`python -m tests.repl.fake_desk SPEC`), it is the REPL on the terminal that it finds.
"""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from ulid import ULID

from invincat.agent.events import End, Event, Learned, Notice, Text, TurnEnded
from invincat.errors import UserError
from invincat.llm.usage import Usage
from invincat.memory.entry import Confidence, Kind, Memory, Source, Tier, Verdict
from invincat.memory.scope import Scope
from invincat.memory.view import Record, record_of
from invincat.recall.hit import Hit, Results
from invincat.review import Waiting

NOW = datetime(2026, 11, 29, 10, 0, 0, tzinfo=UTC)
ANSWER = Usage(10, 5)


class Pause(msgspec.Struct, frozen=True, tag="pause", tag_field="event"):
    """Not an event: time that passes."""

    seconds: float


class Fault(msgspec.Struct, frozen=True, tag="fault", tag_field="event"):
    """Not an event: the desk raises."""

    text: str


Step = Event | Pause | Fault


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    """What a desk is made of; `turns` are played in order, then every message is echoed."""

    model: str | None = "fake-1"
    branch: str | None = "main"
    turns: tuple[tuple[Step, ...], ...] = ()
    background: tuple[Step, ...] = ()
    files: tuple[str, ...] = ("README.md", "src/app.py", "src/漢字.py")
    titles: tuple[tuple[str, str], ...] = (("use-tabs", "Use tabs"), ("run-tests-first", "Run the tests first"))
    waiting: tuple[Waiting, ...] = ()
    closing: float = 0.0
    last_news: tuple[Event, ...] = ()


def ended(text: str = "", end: End = End.FINAL, error: str | None = None) -> TurnEnded:
    return TurnEnded(end, text, ANSWER, error=error)


def said(text: str, size: int = 7) -> tuple[Step, ...]:
    """A whole answer in small pieces."""
    return (*(Text(text[at : at + size]) for at in range(0, len(text), size)), ended(text))


def held(id: str = "01HELD", change: str = "create testing/use-tabs") -> Waiting:
    return Waiting(
        id=id,
        scope="project",
        since="2026-11-29T10:00:00Z",
        actor="memory-agent",
        changes=(change,),
        reason="a model proposed it",
        commit="c" * 40,
    )


@dataclass
class FakeDesk:
    spec: Spec = field(default_factory=Spec)
    sent: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    interrupted: int = 0
    model: str | None = None
    session_id: str = "01SESSION1"
    is_remembering: bool = False
    is_open: bool = False

    def __post_init__(self) -> None:
        self.model = self.spec.model
        self._turns = list(self.spec.turns)
        self._waiting = list(self.spec.waiting)
        self._records = [record(number, *named) for number, named in enumerate(self.spec.titles, start=1)]
        self.news: asyncio.Queue[Event] = asyncio.Queue()

    @property
    def branch(self) -> str | None:
        return self.spec.branch

    async def turn(self, text: str) -> AsyncGenerator[Event, None]:
        assert self.is_open, "open() comes first"
        self.sent.append(text)
        steps = self._turns.pop(0) if self._turns else said(f"You said: {text}")
        try:
            async for event in play(steps):
                yield event
        except (asyncio.CancelledError, GeneratorExit):
            self.interrupted += 1
            raise

    async def background(self) -> AsyncIterator[Event]:
        async for event in play(self.spec.background):
            yield event
        while True:
            yield await self.news.get()

    def remembering(self) -> bool:
        return self.is_remembering

    async def counts(self) -> tuple[int, int]:
        return len(self._records), len(self._waiting)

    async def remember(self, text: str, *, user: bool) -> str:
        self.done.append(f"remember {text} {user}")
        return f"remembered {text} (abc1234)"

    async def recall(self, query: str) -> Results:
        hits = tuple(hit(found) for found in self._records if query in found.memory.title)
        return Results(hits, len(hits), None)

    async def memories(self) -> list[Record]:
        return self._records

    async def show(self, name: str) -> str:
        for found in self._records:
            if found.name == name:
                return f"---\ntitle: {found.memory.title}\n---\n{found.memory.body}\x1b[2J"
        raise UserError(f"no memory is called {name!r}")

    async def waiting(self) -> list[Waiting]:
        return list(self._waiting)

    async def accept(self, id: str) -> str:
        return self._settle("accept", id, "accepted")

    async def reject(self, id: str, reason: str) -> str:
        return self._settle("reject", id, f"rejected ({reason})")

    def _settle(self, verb: str, id: str, word: str) -> str:
        self._waiting = [waiting for waiting in self._waiting if waiting.id != id]
        self.done.append(f"{verb} {id}")
        return f"{word} {id}"

    def files(self) -> list[str]:
        return list(self.spec.files)

    async def open(self) -> None:
        self.is_open = True

    async def set_model(self, name: str) -> str:
        self.model = name
        return f"talking to {name}"

    async def clear(self) -> str:
        self.session_id = "01SESSION2"
        return self.session_id

    async def close(self) -> int:
        await asyncio.sleep(self.spec.closing)
        for event in self.spec.last_news:
            await self.news.put(event)
        self.done.append("close")
        return 0


def record(number: int, name: str, title: str) -> Record:
    """A valid memory; made here because factories bring hypothesis, which a program should not wait for."""
    made = Memory(
        id=str(ULID.from_int(number)),
        title=title,
        kind=Kind.CONVENTION,
        section="General",
        scope=Scope.PROJECT,
        confidence=Confidence.HIGH,
        tier=Tier.WARM,
        score=50,
        verdict=Verdict.VALID,
        created_at=NOW,
        updated_at=NOW,
        last_scored_at=NOW,
        valid_from=NOW,
        source=Source(actor="user"),
        body=f"About {name}.",
    )
    return record_of(made, f"memory/general/{name}.md")


async def play(steps: Iterable[Step]) -> AsyncIterator[Event]:
    for step in steps:
        match step:
            case Pause(seconds):
                await asyncio.sleep(seconds)
            case Fault(text):
                raise UserError(text)
            case _:
                await asyncio.sleep(0)
                yield step


def hit(found: Record) -> Hit:
    return Hit(
        name=found.name,
        path=found.path,
        id=found.memory.id,
        blob=found.blob,
        title=found.memory.title,
        kind="convention",
        section="General",
        scope="project",
        tier="warm",
        status="active",
        score=50.0,
        why=("title: x",),
        snippet="a line",
    )


__all__ = ["FakeDesk", "Fault", "Learned", "Notice", "Pause", "Spec", "ended", "held", "hit", "play", "said"]


def main() -> int:
    from invincat.repl.shell import run  # noqa: PLC0415 - the fake alone needs no terminal

    spec = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Spec)
    history = os.environ.get("FAKE_HISTORY")
    desk = FakeDesk(spec)
    code = run(desk, history=Path(history) if history else None)
    Path(sys.argv[1]).with_suffix(".out").write_bytes(
        msgspec.json.encode({"sent": desk.sent, "done": desk.done, "interrupted": desk.interrupted})
    )
    return code


if __name__ == "__main__":
    sys.exit(main())
