"""The composition of a conversation: model, tools, session, worker and stores, as one object that front ends drive."""

import asyncio
import os
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from invincat.agent.deferred import DeferredClient
from invincat.agent.events import Event, Learned, Notice
from invincat.agent.in_play import paths_in
from invincat.agent.learning import ModelLearner, RulesLearner, Stores
from invincat.agent.loop import USUAL, Conversation, Limits
from invincat.agent.memory_agent import MemoryAgent
from invincat.agent.news import MemoryNews
from invincat.agent.profiles import ProfiledClient, Profiles
from invincat.agent.session import Session, Sessions
from invincat.agent.talk import Talk
from invincat.agent.worker import Learner, Worker, describe
from invincat.app import App, new_id, utc_now
from invincat.config import DEFAULT_URL, Settings
from invincat.context.briefing import Briefing
from invincat.errors import StoreError, UserError
from invincat.governance.grounding import Heard
from invincat.ledger import Ledger
from invincat.llm.client import Client
from invincat.llm.faults import Endpoint
from invincat.memory.entry import Source as Origin
from invincat.memory.entry import format_time
from invincat.memory.proposal import Proposal
from invincat.memory.scope import Scope
from invincat.memory.view import Record
from invincat.outcome import Outcome
from invincat.recall.hit import Results
from invincat.recall.query import Query
from invincat.resources import template
from invincat.review import Waiting, accept, reject, waiting
from invincat.tools.registry import Handles, Role, toolbox
from invincat.tools.workspace import Workspace

Answer = TypeVar("Answer")

# So many of the memories that a briefing leaves out are named in the audit log; beyond that their number must do.
MAX_LOGGED: Final = 200
# So many of the files that a conversation was about last are in play.
MAX_NAMED: Final = 20
# Seconds that closing waits for what is still being learned.
FLUSH = 10.0


@dataclass(frozen=True)
class Models:
    """Which model answers and which one remembers, from flags, environment and files of settings.

    `talk` None: no model. `memory` None: the one that answers remembers, too. `setting`, `memory_setting` and
    `url_setting` say where each was set.
    """

    talk: str | None
    memory: str | None
    key: str | None
    base_url: str | None
    setting: str = "OPENAI_MODEL"
    memory_setting: str = "INVINCAT_MEMORY_MODEL"
    url_setting: str = "OPENAI_BASE_URL"

    @staticmethod
    def chosen(model: str | None, settings: Settings, environment: Mapping[str, str] = os.environ) -> "Models":
        """Flags beat settings. A key or a base URL alone is no model: names differ by endpoint."""
        talk, memory, base_url = (settings.values[key] for key in ("model", "memory_model", "base_url"))
        return Models(
            talk=model or talk.value,
            memory=memory.value,
            key=environment.get("OPENAI_API_KEY") or None,
            base_url=base_url.value,
            setting="--model" if model else talk.origin,
            memory_setting=memory.origin,
            url_setting=base_url.origin if base_url.value else "OPENAI_BASE_URL",
        )

    @property
    def remembers(self) -> str | None:
        """The model that learns; None: rules do."""
        return self.memory or self.talk

    def client(self, model: str, setting: str, profiles: Profiles) -> DeferredClient:
        """A client for one of the models; BadEndpoint when the base URL cannot be one."""
        base_url = self.base_url or DEFAULT_URL
        Endpoint(model, base_url, model_setting=setting, url_setting=self.url_setting)

        def make() -> Client:
            from invincat.llm.openai import OpenAIClient  # noqa: PLC0415 - the SDK costs half a second

            client = OpenAIClient(model, self.key, base_url, model_setting=setting, url_setting=self.url_setting)
            return ProfiledClient(client, profiles, base_url)

        return DeferredClient(model, make)


class StoreThread:
    """The one thread that uses the stores: they are not made for several (ARCHITECTURE, decision 11)."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="store")

    def call(self, function: Callable[[], Answer]) -> Answer:
        """Run it there and wait, from any other thread."""
        return self._executor.submit(function).result()

    async def run(self, function: Callable[[], Answer]) -> Answer:
        """Run it there without holding up the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, function)


class Desk:
    """Everything a front end may reach in one conversation."""

    def __init__(self, app: App, models: Models, session: Session | None = None, limits: Limits = USUAL) -> None:
        self._app = app
        self._models = models
        self._limits = limits
        self._stores = StoreThread()
        self._clients: list[DeferredClient] = []
        self._client: DeferredClient | None = None
        self._profiles = Profiles(app.state_dir / "profiles.json")
        # What is learned is told here; None says that no more will come.
        self._news: asyncio.Queue[Event | None] = asyncio.Queue()
        self._files: list[str] | None = None
        self._changed: list[str] | None = None
        self.sessions = sessions_of(app)
        self._session = session
        self._talk: Talk | None = None

    async def open(self) -> None:
        """Read memory, build the prompt, start the worker."""
        self._client = self._talking()
        learner = self._learner()
        session = self._session or self.sessions.begin(self._app.directory, self._models.talk)
        worker = Worker(self._app.state_dir / "queue", self.sessions, learner, new_id, self._news.put_nowait)
        learns = self._app.settings.extraction
        self._talk = Talk(session, worker, await self._conversation(session), learns=learns)
        self._talk.start()
        for line in await self._stores.run(self._app.notices):
            self._news.put_nowait(Notice(line))
        if self._client is not None:
            self._client.warm_up()

    async def _conversation(self, session: Session) -> Conversation | None:
        """A conversation in a session, briefed with what is remembered now; None without a model."""
        self._session, self._changed = session, None
        if self._client is None:
            return None
        news = await self._stores.run(self._told)
        try:
            await self._stores.run(lambda: self._log(news.briefing, session.id))
        except StoreError as fault:
            self._news.put_nowait(Notice(f"the briefing is not in the audit log: {fault}"))
        tools = toolbox(Role.MAIN, self._handles())
        return Conversation(self._client, tools, session, self._prompt(news), self._since_last(news), self._limits)

    # what the REPL shows

    @property
    def model(self) -> str | None:
        """The model that answers; None without one."""
        return self._models.talk

    @property
    def branch(self) -> str | None:
        """The branch that is checked out."""
        return self._app.source.branch() if self._app.source else None

    @property
    def session_id(self) -> str:
        """The id to resume by."""
        return self._open_talk.session.id

    def remembering(self) -> bool:
        """Whether something is being learned now."""
        return self._open_talk.worker.is_busy

    async def counts(self) -> tuple[int, int]:
        """Active memories, and proposals that wait."""
        return await self._stores.run(self._count)

    def turn(self, text: str) -> AsyncGenerator[Event, None]:
        """Answer a message."""
        return self._open_talk.turn(text)

    async def background(self) -> AsyncIterator[Event]:
        """What is learned meanwhile, until the desk is closed."""
        while (event := await self._news.get()) is not None:
            yield event

    async def remember(self, text: str, *, user: bool) -> str:
        """Write down a memory; one line on what became of it."""
        scope = Scope.USER if user else Scope.PROJECT
        operation = {"op": "create", "scope": str(scope), "section": "General", "content": text}
        outcome = await self._stores.run(lambda: self._submit([operation], scope, actor="user"))
        return one_line_of(outcome)

    async def recall(self, query: str) -> Results:
        """Search."""
        return await self._stores.run(lambda: self._recall(Query(text=query)))

    async def memories(self) -> list[Record]:
        """The active memories."""
        views = await self._stores.run(lambda: [self._app.view(ledger) for ledger in self._ledgers()])
        return [record for view in views for record in view.active()]

    async def show(self, name: str) -> str:
        """A memory's file; UserError when none has the name."""
        return await self._stores.run(lambda: self._show(name))

    async def waiting(self) -> list[Waiting]:
        """Proposals that wait for a decision."""
        return await self._stores.run(lambda: [one for ledger in self._ledgers() for one in waiting(ledger)])

    async def accept(self, id: str) -> str:
        """A person's yes."""
        return one_line_of(await self._stores.run(lambda: accept(self._ledgers(), id)))

    async def reject(self, id: str, reason: str) -> str:
        """A person's no."""
        rejected = await self._stores.run(lambda: reject(self._ledgers(), id, reason))
        return f"rejected: {'; '.join(rejected.changes)}"

    def files(self) -> list[str]:
        """The files of the project, as of the first time somebody asked."""
        if self._files is None:
            self._files = self._app.source.files() if self._app.source else []
        return self._files

    async def set_model(self, name: str) -> str:
        """Ask another model of the same endpoint from the next message on; session and history stay. One line.

        It remembers, too, unless INVINCAT_MEMORY_MODEL says which one does. UserError where no endpoint is known.
        """
        before = self._models
        if not (before.key or before.base_url):
            step = "set OPENAI_API_KEY, or OPENAI_BASE_URL for another endpoint, and start again"
            raise UserError(f"no endpoint is configured that could have {name}", next_step=step)
        self._models = replace(before, talk=name, setting="/model")
        self._client = client = self._made(name, self._models.setting)
        if not self._open_talk.switch(client):
            session = self._open_talk.session
            self._open_talk.change(session, await self._conversation(session))
        if self._models.remembers != before.remembers:
            self._open_talk.worker.change(self._learner())
        client.warm_up()
        return f"{name} answers from now on"

    async def clear(self) -> str:
        """Begin a new session; the old one can be resumed. Its id."""
        session = self.sessions.begin(self._app.directory, self._models.talk)
        self._open_talk.change(session, await self._conversation(session))
        return self.session_id

    def unlearned(self) -> int:
        """How many jobs of learning wait."""
        return self._open_talk.worker.left()

    async def close(self, patience: float = FLUSH) -> int:
        """Stop, giving learning a little time; how many jobs are left for the next start."""
        try:
            left = await self._open_talk.close(patience)
        finally:
            self._news.put_nowait(None)
        for client in self._clients:
            await client.aclose()
        return left

    # parts

    @property
    def _open_talk(self) -> Talk:
        assert self._talk is not None, "open() comes first"
        return self._talk

    def _talking(self) -> DeferredClient | None:
        return self._made(self._models.talk, self._models.setting) if self._models.talk else None

    def _made(self, model: str, setting: str) -> DeferredClient:
        """A client that closing lets go of; one that is no longer asked may still have a job in hand."""
        client = self._models.client(model, setting, self._profiles)
        self._clients.append(client)
        return client

    def _learner(self) -> Learner:
        app = self._app
        stores = Stores(app.ledger, app.injectable, app.origin, app.grounds, self._stores.run, app.project_key)
        if (model := self._models.remembers) is None:
            return RulesLearner(stores)
        setting = self._models.memory_setting if self._models.memory else self._models.setting
        return ModelLearner(MemoryAgent(self._made(model, setting)), stores)

    def _log(self, briefing: Briefing, session: str) -> None:
        """Write down what is injected and what was left out, each store its own (RULES 11); no bodies."""
        for ledger in self._ledgers():
            shown, left = (
                [record.name for record in records if record.memory.scope is ledger.scope]
                for records in (briefing.shown, briefing.left_out)
            )
            line = {"time": format_time(utc_now()), "event": "briefing", "session": session, "shown": shown}
            ledger.store.append("audit.jsonl", line | {"left_out": left[:MAX_LOGGED], "left_out_total": len(left)})

    def _prompt(self, news: MemoryNews) -> str:
        # Taken apart, not replaced in turn: a folder may be called anything.
        before, _, rest = template("prompts/main.md").partition("{workspace}")
        between, _, after = rest.partition("{briefing}")
        briefing = news.briefing.text or "Nothing is remembered about this project yet."
        return f"{before}{self._workspace().root.name}{between}{briefing}{after}"

    def _told(self) -> MemoryNews:
        return MemoryNews(self._app.injectable(), self._in_play(), self._app.standings.now())

    def _recall(self, query: Query) -> Results:
        return self._app.search.recall(query, in_play=self._in_play())

    def _in_play(self) -> list[str]:
        """What was changed when the conversation began, and the files it has been about since then (RULES 11)."""
        if self._changed is None:
            self._changed = self._app.in_play()
        named = paths_in(self._session.messages) if self._session else []
        return [*self._changed, *named[-MAX_NAMED:]]

    def _since_last(self, news: MemoryNews) -> Callable[[], Any]:
        async def since_last() -> str | None:
            return news.since_last(await self._stores.run(self._app.injectable))

        return since_last

    def _handles(self) -> Handles:
        return Handles(
            workspace=self._workspace(),
            recall=lambda query: self._stores.call(lambda: self._recall(query)),
            submit=lambda items, scope, *, actor: self._stores.call(lambda: self._submit(items, scope, actor=actor)),
            ripgrep=shutil.which("rg"),
        )

    def _workspace(self) -> Workspace:
        return Workspace.at(self._app.directory, self._app.stores)

    def _submit(self, items: Sequence[Any], scope: Scope | None, *, actor: str) -> Outcome:
        ledger = self._app.ledger(scope or Scope.PROJECT)
        origin: Origin = self._app.origin(actor, self._session.id if self._session else None)
        return ledger.submit(Proposal(tuple(items), ledger.scope, origin), self._grounds())

    def _grounds(self) -> Any:
        """Evidence of this very conversation can be cited by the tools."""
        return self._app.grounds(heard_in(self._session))

    def _ledgers(self) -> list[Ledger]:
        return self._app.existing()

    def _count(self) -> tuple[int, int]:
        ledgers = self._ledgers()
        return sum(len(ledger.view().content) for ledger in ledgers), sum(len(waiting(ledger)) for ledger in ledgers)

    def _show(self, name: str) -> str:
        for ledger in self._ledgers():
            if record := ledger.view().find(name):
                return ledger.store.read_blob(record.blob).decode()
        raise UserError(f"no memory is called {name!r}", next_step="type # and a few letters")


def sessions_of(app: App) -> Sessions:
    """The conversations kept beside the project's store (or the person's, outside of a repository)."""
    return Sessions(app.state_dir / "sessions", utc_now, new_id)


def heard_in(session: Session | None) -> dict[int, Heard]:
    """The messages of a session by number, as evidence cites them."""
    from invincat.context.transcript import lines_of  # noqa: PLC0415 - it costs 0.1 s that no prompt need wait for

    return {line.number: line.heard for line in lines_of(session.messages)} if session else {}


def one_line_of(outcome: Outcome) -> str:
    """What became of a proposal, in one line."""
    told = [event.text for event in describe(outcome) if isinstance(event, Learned | Notice)]
    hint = [outcome.hint] if outcome.hint and outcome.verdict in {"committed", "noop"} else []
    return "; ".join([*told, *hint]) or outcome.hint or "nothing changed"
