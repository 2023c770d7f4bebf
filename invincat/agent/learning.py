"""Two ways to learn from a conversation: the memory agent where there is a model, else the rules extractor."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from invincat.agent.memory_agent import MemoryAgent, Reply
from invincat.errors import UserError
from invincat.governance.grounding import Grounds, Heard
from invincat.governance.redaction import redact
from invincat.ledger import Ledger
from invincat.memory.entry import Source
from invincat.memory.proposal import Proposal
from invincat.memory.refusal import Reason
from invincat.memory.scope import Scope
from invincat.memory.view import View
from invincat.outcome import Outcome
from invincat.store.signing import unattended

# What reads conversations costs 0.1 s, which no prompt need wait for (lazy imports below).
if TYPE_CHECKING:
    from invincat.context.transcript import Line


@dataclass(frozen=True)
class Stores:
    """What learning needs of the stores. `run` carries a function out on the one thread that may use them.

    `project` is the key of the project that is talked about, None outside of one.
    """

    ledger: Callable[[Scope], Ledger]
    views: Callable[[], Mapping[Scope, View]]
    origin: Callable[[str, str], Source]
    grounds: Callable[[Mapping[int, Heard]], Grounds]
    run: Callable[[Callable[[], Any]], Awaitable[Any]]
    project: str | None = None


class RulesLearner:
    """Without a model: explicit requests are committed, standing phrases are held (RULES 5.5)."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    async def learn(
        self, session: str, lines: "Sequence[Line]", anchor: str, settled: Callable[[], None]
    ) -> Sequence[Outcome]:
        """`Learner.learn`."""
        return await _carried_through(self._stores, lambda: self._submit(session, lines, settled))

    def _submit(self, session: str, lines: "Sequence[Line]", settled: Callable[[], None]) -> list[Outcome]:
        # Markdown and matching cost 0.1 s, which no prompt need wait for.
        from invincat.extraction.extractor import Message as Said  # noqa: PLC0415 - as above
        from invincat.intake import extract_transcript  # noqa: PLC0415 - as above

        stores = self._stores
        said = [Said(line.heard.role, line.heard.text, line.heard.tool, line.number) for line in lines]
        origin = stores.origin("rules", session)
        outcomes = extract_transcript(said, stores.ledger, origin, stores.grounds, stores.project)
        settled()
        return outcomes


class ModelLearner:
    """With a model: its operations pass the gate like everybody's, one batch a scope."""

    def __init__(self, agent: MemoryAgent, stores: Stores) -> None:
        self._agent = agent
        self._stores = stores

    async def learn(
        self, session: str, lines: "Sequence[Line]", anchor: str, settled: Callable[[], None]
    ) -> Sequence[Outcome]:
        """`Learner.learn`."""
        views: Mapping[Scope, View] = await self._stores.run(self._stores.views)
        reply = await self._agent.propose(lines, views)
        return await _carried_through(self._stores, lambda: self._submit(reply, session, lines, anchor, settled))

    def _submit(
        self, reply: Reply, session: str, lines: "Sequence[Line]", anchor: str, settled: Callable[[], None]
    ) -> list[Outcome]:
        grounds = self._stores.grounds({line.number: line.heard for line in lines})
        source = self._source(session, anchor)
        if reply.raw is not None:
            self._keep_raw(session, reply.raw)
        outcomes = [
            self._decided(Proposal(tuple(items), scope, source), grounds) for scope, items in reply.operations.items()
        ]
        settled()
        return outcomes

    def _decided(self, proposal: Proposal, grounds: Grounds) -> Outcome:
        """The ledger's verdict; a rejection where there is no store of the scope, such as outside of a repository."""
        try:
            ledger = self._stores.ledger(proposal.scope)
        except UserError as fault:
            reason = Reason(rule="RULES 7", message=str(fault))
            return Outcome(
                verdict="rejected", repository="", scope=proposal.scope, before=None, after=None, reasons=(reason,)
            )
        return ledger.submit(proposal, grounds)

    def _keep_raw(self, session: str, raw: str) -> None:
        """What nobody could read is kept for a person to look at, without its secrets (RULES 5.2)."""
        try:
            store = self._stores.ledger(Scope.PROJECT).store
        except UserError:
            store = self._stores.ledger(Scope.USER).store
        store.append("rejected.jsonl", {"session": session, "raw": redact(raw)})

    def _source(self, session: str, anchor: str) -> Source:
        origin = self._stores.origin("memory-agent", session)
        return Source(
            actor=origin.actor,
            session=session,
            anchor=anchor,
            commit=origin.commit,
            branch=origin.branch,
            model=self._agent.model[:120],
        )


async def _carried_through(stores: Stores, work: Callable[[], list[Outcome]]) -> list[Outcome]:
    """The result of work that is not left half done: who is cancelled meanwhile waits for its end.

    Nobody is asked for the passphrase of a signing key; CannotSign then.
    """

    def alone() -> list[Outcome]:
        with unattended():
            return work()

    begun: asyncio.Future[list[Outcome]] = asyncio.ensure_future(stores.run(alone))
    try:
        return await asyncio.shield(begun)
    except asyncio.CancelledError:
        await asyncio.wait([begun])
        raise
