"""Learning off the answer's path: jobs in `queue/`, worked off one at a time, durable until their verdict is (RULES 5).

A job says how far a conversation can be read; the cursor says from where. Whoever holds `queue/lock` works, so that
two processes never read the same words; a process that is killed leaves job and cursor as they were, and the
duplicate check makes reading again harmless.
"""

import asyncio
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import msgspec
from filelock import FileLock, Timeout

from invincat.agent.events import Event, Learned, Notice
from invincat.agent.session import NoSession, Sessions
from invincat.errors import ConfigurationError, InvincatError, ProviderError
from invincat.llm.client import Refused
from invincat.outcome import Outcome
from invincat.paths import make_private
from invincat.store.signing import CannotSign

# What reads conversations costs 0.1 s, which no prompt need wait for (lazy imports below).
if TYPE_CHECKING:
    from invincat.context.transcript import Cursor, Line

PATIENCE: Final = (2.0, 10.0)
# Seconds until work that another process has in hand is looked at again.
LOOK_AGAIN: Final = 5.0
_JOB: Final = re.compile(r"[0-9A-Z]{26}\.json")


class _Job(msgspec.Struct, frozen=True):
    """A turn is over: the session, and the number of its messages then."""

    session: str
    count: int


@dataclass(frozen=True)
class _Unread:
    """What is new in a conversation, in parts, each with the cursor behind it; and the cursor behind all."""

    parts: "Sequence[tuple[Sequence[Line], Cursor]]"
    end: "Cursor"


class Learner(Protocol):
    """Reads a part of a conversation and submits what is to be remembered."""

    async def learn(
        self, session: str, lines: "Sequence[Line]", anchor: str, settled: Callable[[], None]
    ) -> Sequence[Outcome]:
        """The verdicts; ProviderError when the model cannot be asked now.

        `settled` is called when they are durable, on the thread and in the breath in which they became so: being
        cancelled after the model has answered comes between neither.
        """


@dataclass
class Worker:
    """The queue of one store. `learn` is asked for each part of what is new, in order; `tell` hears what came of it."""

    folder: Path
    sessions: Sessions
    learner: Learner
    new_id: Callable[[], str]
    tell: Callable[[Event], None]
    patience: Sequence[float] = PATIENCE

    def __post_init__(self) -> None:
        self._wake = asyncio.Event()
        self._busy = False
        self._ending = False
        self._told: set[str] = set()
        # What failed in this process is left to the next start, or to the next turn of its conversation.
        self._set_aside: set[Path] = set()

    @property
    def is_busy(self) -> bool:
        """Whether something is being learned now."""
        return self._busy

    def enqueue(self, session: str, count: int) -> None:
        """Say that a conversation may be read up to a number of messages. Durable when this returns; OSError."""
        make_private(self.folder)
        draft = self.folder / f"{self.new_id()}.draft"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(_Job(session, count)))
        draft.replace(draft.with_suffix(".json"))
        self._wake.set()

    def change(self, learner: Learner) -> None:
        """Learn by another learner from the next part on; what failed by the old one is tried again."""
        self.learner = learner
        self._set_aside.clear()
        self._told.clear()
        self._wake.set()

    def left(self) -> int:
        """How many jobs wait."""
        return len(self._jobs())

    def finish(self) -> None:
        """Let `run` end when it has done what there is."""
        self._ending = True
        self._wake.set()

    async def run(self) -> None:
        """Work off the queue, now and whenever something comes; until cancelled, or told to finish."""
        while True:
            ending = self._ending
            self._wake.clear()
            try:
                is_elsewhere = not await self._work_off()
            except OSError as fault:
                # Such as a disk that went away: learning stops until there is something new, talking does not.
                self._tell_once(f"learning waits, the queue cannot be used: {fault.strerror}")
                is_elsewhere = False
            if ending:
                return
            try:
                await asyncio.wait_for(self._wake.wait(), LOOK_AGAIN if is_elsewhere else None)
            except TimeoutError:
                continue

    async def _work_off(self) -> bool:
        """Do every job that can be done now; False when another process has them in hand."""
        if not self._due():
            return True
        lock = FileLock(self.folder / "lock", timeout=0, mode=0o600)
        try:
            lock.acquire()
        except Timeout:
            return False
        self._busy = True
        try:
            while due := self._due():
                # The jobs of one conversation are one: it is read to where the last of them says.
                session, paths = next(iter(due.items()))
                if await self._is_done(session, max(due[session].values())):
                    for path in paths:
                        path.unlink(missing_ok=True)
                else:
                    self._set_aside.update(paths)
            return True
        finally:
            self._busy = False
            lock.release()

    def _jobs(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return sorted(path for path in self.folder.iterdir() if _JOB.fullmatch(path.name))

    def _due(self) -> dict[str, dict[Path, int]]:
        """The jobs by conversation, the oldest first, without those that failed before and have nothing new."""
        found: dict[str, dict[Path, int]] = {}
        for path in self._jobs():
            try:
                job = msgspec.json.decode(path.read_bytes(), type=_Job)
            except FileNotFoundError:
                continue
            except msgspec.DecodeError:
                path.unlink(missing_ok=True)
                continue
            found.setdefault(job.session, {})[path] = job.count
        return {session: jobs for session, jobs in found.items() if not jobs.keys() <= self._set_aside}

    async def _is_done(self, session: str, count: int) -> bool:
        """Whether a conversation was read, or can never be."""
        try:
            await self._read_on(session, count)
        except NoSession:
            return True
        except ConfigurationError as fault:
            self._tell_once(f"nothing is learned now: {fault}")
            return False
        except (ProviderError, CannotSign) as fault:
            self._tell_once(f"learning waits: {fault}")
            return False
        except (InvincatError, OSError) as fault:
            self._tell_once(f"learning failed, it is tried again later: {fault}")
            return False
        return True

    async def _read_on(self, session: str, count: int) -> None:
        """Read what is new in a conversation; the cursor moves behind each part when its verdict is durable."""
        unread = await asyncio.to_thread(self._unread, session, count)
        for part, end in unread.parts:
            self._tell(await self._persist(session, part, end))
        if unread.end.count:
            self.sessions.move_cursor(session, unread.end)

    def _unread(self, session: str, count: int) -> _Unread:
        """What was said since the cursor, up to `count`; nothing when it is trivial."""
        from invincat.context.transcript import (  # noqa: PLC0415 - see above
            Cursor,
            cursor_at,
            first_new,
            lines_of,
            parts,
            turn_begin,
        )
        from invincat.extraction.phrases import is_trivial  # noqa: PLC0415 - see above

        messages = self.sessions.messages(session)
        start = first_new(messages, self.sessions.cursor(session))
        messages = messages[:count]
        if start >= len(messages):
            return _Unread((), Cursor())
        # A turn that was read in part before is as trivial as its beginning.
        lines = lines_of(messages, turn_begin(messages, start))
        if all(line.heard.role != "user" or is_trivial(line.heard.text) for line in lines):
            lines = []
        cut = parts([line for line in lines if line.number > start])
        return _Unread(
            [(part, cursor_at(messages, part[-1].number)) for part in cut], cursor_at(messages, len(messages))
        )

    async def _persist(self, session: str, part: "Sequence[Line]", end: "Cursor") -> Sequence[Outcome]:
        """Learn one part; a provider's fault is waited out a few times, then left to a later start (RULES 5.3)."""

        def settled() -> None:
            self.sessions.move_cursor(session, end)

        for seconds in self.patience:
            try:
                return await self.learner.learn(session, part, end.anchor, settled)
            except Refused:
                raise  # the same would be refused again
            except ProviderError:
                await asyncio.sleep(seconds)
        return await self.learner.learn(session, part, end.anchor, settled)

    def _tell(self, outcomes: Iterable[Outcome]) -> None:
        for outcome in outcomes:
            for event in describe(outcome):
                self.tell(event)

    def _tell_once(self, text: str) -> None:
        """A fault that does not clear is told once a session (RULES 9)."""
        if text not in self._told:
            self._told.add(text)
            self.tell(Notice(text))


def describe(outcome: Outcome) -> list[Event]:
    """One line for each thing that was learned, held or refused; nothing for a no-op."""
    names = [done for done in outcome.operations if done.op != "noop" and done.name]
    if outcome.verdict in {"committed", "failed"}:
        learned: list[Event] = [
            Learned(
                f"{_VERBS.get(done.op, done.op)} {done.successor or done.name} ({(done.commit or '')[:7]})",
                commit=done.commit,
            )
            for done in names
        ]
        return [*learned, _unretired(outcome)] if outcome.verdict == "failed" else learned
    if outcome.verdict == "held" and not outcome.known:
        listed = ", ".join(f"{done.op} {done.name}" for done in names)
        return [Learned(f"waits for you: {listed} ({outcome.reasons[0].message})", proposal=outcome.proposal)]
    if outcome.verdict == "rejected":
        return [Notice(f"not remembered: {outcome.reasons[0].plain}", is_refusal=True)]
    return []


def _unretired(outcome: Outcome) -> Notice:
    """A successor may stand while the old one does, too (RULES 1.7): two that may contradict each other."""
    why = outcome.reasons[-1].message
    if not outcome.is_old_active:
        return Notice(why)
    return Notice(f"{outcome.still_active} was not retired and still holds ({why}); archive or delete it by hand")


_VERBS: Final[Mapping[str, str]] = {
    "create": "remembered",
    "supersede": "now holds",
    "update": "reworded",
    "archive": "archived",
    "delete": "deleted",
    "score": "rated",
}
