"""One conversation with all that belongs to it: the loop, its log, and the worker that learns from it."""

import asyncio
import importlib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from types import ModuleType
from typing import Final

from invincat.agent.events import End, Event, Notice, TurnEnded
from invincat.agent.loop import Conversation
from invincat.agent.session import Session
from invincat.agent.worker import Worker
from invincat.llm.client import Client
from invincat.llm.message import User
from invincat.llm.usage import Usage

NO_MODEL: Final = (
    "No model is configured, so there is no answer. Requests to remember still work. "
    "To talk, set OPENAI_MODEL and OPENAI_API_KEY (for another endpoint OPENAI_BASE_URL)."
)


class Talk:
    """What a front end drives. `conversation` is None without a model: memory works all the same (RULES 9).

    `learns` is whether turns are learned from at all.
    """

    def __init__(
        self, session: Session, worker: Worker, conversation: Conversation | None, *, learns: bool = True
    ) -> None:
        self.session = session
        self.worker = worker
        self._conversation = conversation
        self._learns = learns
        self._working: asyncio.Task[None] | None = None
        self._warming: asyncio.Task[ModuleType] | None = None

    def start(self) -> None:
        """Begin to learn in the background, also what an earlier process left."""
        if not self._learns:
            return
        self._working = asyncio.create_task(self.worker.run())
        # Before the first turn ends, and while nobody waits for it.
        self._warming = asyncio.create_task(asyncio.to_thread(importlib.import_module, "invincat.context.transcript"))

    def change(self, session: Session, conversation: Conversation | None) -> None:
        """Go on in another session, or otherwise in the same one. What is being learned goes on, too."""
        if session is not self.session:
            self.session.close()
        self.session, self._conversation = session, conversation

    def switch(self, client: Client) -> bool:
        """Ask another model from the next turn on, in the same conversation; False when there is none yet."""
        if self._conversation is None:
            return False
        self._conversation.switch(client)
        return True

    async def turn(self, text: str) -> AsyncGenerator[Event, None]:
        """Answer a message; when the turn is over, and not trivial, it is queued for learning."""
        if self._conversation is None:
            self.session.append(User(text))
            for event in self._over(text, TurnEnded(End.NO_MODEL, "", Usage(), error=NO_MODEL)):
                yield event
            return
        async with aclosing(self._conversation.turn(text)) as events:
            async for event in events:
                for told in self._over(text, event) if isinstance(event, TurnEnded) else (event,):
                    yield told

    async def close(self, patience: float) -> int:
        """Stop; give learning `patience` seconds. How many jobs are left for the next start."""
        try:
            if self._working is not None:
                # What is under way goes on: to ask the model again would cost the same time once more.
                self.worker.finish()
                await asyncio.wait_for(self._working, patience)
        except TimeoutError:
            pass
        finally:
            self.session.close()
        return self.worker.left()

    def _over(self, text: str, ended: TurnEnded) -> list[Event]:
        """Queue the turn; its last events."""
        from invincat.extraction.phrases import is_trivial  # noqa: PLC0415 - the phrases of languages cost 0.1 s

        try:
            if self._learns and not is_trivial(text):
                self.worker.enqueue(self.session.id, len(self.session.messages))
        except OSError as fault:
            return [Notice(f"nothing is learned from this turn: the queue cannot be written ({fault.strerror})"), ended]
        return [ended]
