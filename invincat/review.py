"""What waits for a person's decision: proposals that the gate held (ARCHITECTURE, decision 8)."""

from collections.abc import Sequence

import msgspec

from invincat import foreign
from invincat.errors import UserError
from invincat.ledger import Ledger, held_chain
from invincat.memory.entry import format_time
from invincat.memory.scope import Scope
from invincat.outcome import Outcome
from invincat.store.base import PROPOSALS
from invincat.store.journal import Foreign

# A commit is named by at least so many digits.
_SHORT = 7


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
        chain = list(held_chain(ledger.store, tip))
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


def find_waiting(ledgers: Sequence[Ledger], start: str) -> tuple[Ledger, Waiting]:
    """The proposal whose id begins so, and whose store it is of; UserError when none or several do."""
    found = [(ledger, one) for ledger in ledgers for one in waiting(ledger) if one.id.startswith(start.upper())]
    if len(found) != 1:
        what = "no waiting proposal begins with" if not found else "several waiting proposals begin with"
        raise UserError(f"{what} {start}", next_step="see `invincat review list`")
    return found[0]


def find_move(ledgers: Sequence[Ledger], start: str) -> tuple[Ledger, Foreign] | None:
    """The move past the gate (RULES 10) whose commit's id begins so, and the store that it was made in."""
    moves = [
        (ledger, move) for ledger in ledgers for move in ledger.foreign.moves() if move.new and len(start) >= _SHORT
    ]
    return next(((ledger, move) for ledger, move in moves if str(move.new).startswith(start.lower())), None)


def base_of(ledger: Ledger, proposal: Waiting) -> str:
    """The memory commit that a proposal was made against (`foreign.base_of`)."""
    *_, (first, _) = held_chain(ledger.store, proposal.commit)
    return foreign.base_of(first)


def accept(ledgers: Sequence[Ledger], start: str) -> Outcome:
    """A person's yes to a held proposal, or to the commit of a move that was made past the gate (RULES 10)."""
    if found := find_move(ledgers, start):
        ledger, move = found
        return ledger.foreign.accept(move)
    ledger, proposal = find_waiting(ledgers, start)
    return ledger.accept(proposal.id)


def reject(ledgers: Sequence[Ledger], start: str, reason: str) -> Waiting:
    """A person's no, with the reason."""
    ledger, proposal = find_waiting(ledgers, start)
    ledger.reject(proposal.id, reason)
    return proposal
