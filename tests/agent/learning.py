"""A worker on the stores of a real repository, and what a memory model answers."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from invincat.agent.events import Event, Learned, Notice
from invincat.agent.learning import ModelLearner, RulesLearner, Stores
from invincat.agent.memory_agent import MemoryAgent
from invincat.agent.session import Session, Sessions
from invincat.agent.worker import Worker
from invincat.app import App, new_id
from invincat.desk import StoreThread, sessions_of
from invincat.llm.client import Client
from invincat.llm.message import Assistant, Message, User
from invincat.memory.scope import Scope
from invincat.memory.view import Record

NOX = "Run the tests through nox"


def answer(*operations: Any) -> str:
    """What a memory model says."""
    return json.dumps({"operations": operations})


def create(content: str, quote: str, turn: int = 1, scope: str = "project", **fields: Any) -> dict[str, Any]:
    evidence = [{"at": f"turn:{turn}", "quote": quote}]
    return {"op": "create", "scope": scope, "section": "Testing", "content": content, "evidence": evidence, **fields}


@dataclass
class Learning:
    """`said(...)` writes a turn and queues it; `work()` works the queue off once, as a process does that ends."""

    app: App
    worker: Worker
    sessions: Sessions
    heard: list[Event] = field(default_factory=list)

    @staticmethod
    def of(app: App, client: Client | None, patience: Sequence[float] = (0.0, 0.0)) -> "Learning":
        def views() -> dict[Scope, Any]:
            return {ledger.scope: ledger.view() for ledger in app.existing()}

        stores = Stores(app.ledger, views, app.origin, app.grounds, StoreThread().run)
        learner = ModelLearner(MemoryAgent(client), stores) if client else RulesLearner(stores)
        sessions = sessions_of(app)
        heard: list[Event] = []
        worker = Worker(app.state_dir / "queue", sessions, learner, new_id, heard.append, patience)
        return Learning(app, worker, sessions, heard)

    def begin(self) -> Session:
        return self.sessions.begin(self.app.directory, "model")

    def said(self, session: Session, text: str, *more: Message) -> None:
        for message in (User(text), *more, Assistant("Fine.")):
            session.append(message)
        self.worker.enqueue(session.id, len(session.messages))

    def work(self) -> int:
        """How many jobs are left."""

        async def run() -> None:
            self.worker.finish()
            await self.worker.run()

        asyncio.run(run())
        return self.worker.left()

    def records(self, scope: Scope = Scope.PROJECT) -> list[Record]:
        return list(self.app.ledger(scope).view().active())

    def titles(self, scope: Scope = Scope.PROJECT) -> list[str]:
        return [record.memory.title for record in self.records(scope)]

    @property
    def lines(self) -> list[str]:
        return [event.text for event in self.heard if isinstance(event, Learned | Notice)]

    def rejected(self) -> list[dict[str, Any]]:
        return jsonl(self.app.repository.state_dir / "rejected.jsonl")


def jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
