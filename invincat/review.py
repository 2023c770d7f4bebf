"""What waits for a person's decision: proposals that the gate held (ARCHITECTURE, decision 8)."""

from collections.abc import Iterator

import msgspec

from invincat.ledger import Ledger
from invincat.memory.entry import format_time
from invincat.memory.scope import Scope
from invincat.store.base import PROPOSALS, Commit, Store
from invincat.store.message import Message, read


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """A held proposal: its id, whose memory it would change, since when, from whom, what it would do, why it waits."""

    id: str
    scope: Scope
    since: str
    actor: str | None
    changes: tuple[str, ...]
    reason: str | None
    commit: str


def waiting(ledger: Ledger) -> list[Waiting]:
    """The held proposals of one store, the oldest first."""
    found = []
    for ref, tip in ledger.store.refs(PROPOSALS).items():
        chain = list(_chain(ledger.store, tip))
        if chain:
            newest, message = chain[0]
            found.append(
                Waiting(
                    id=ref.removeprefix(PROPOSALS),
                    scope=ledger.scope,
                    since=format_time(newest.time),
                    actor=message.actor,
                    changes=tuple(message.subject for _, message in reversed(chain)),
                    reason=message.held,
                    commit=tip,
                )
            )
    return sorted(found, key=lambda proposal: (proposal.since, proposal.id))


def _chain(store: Store, tip: str) -> Iterator[tuple[Commit, Message]]:
    """The commits of a proposal, the newest first: those that say why they are held."""
    for commit in store.history(tip):
        message = read(commit.message)
        if message.held is None:
            return
        yield commit, message
