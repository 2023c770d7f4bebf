"""Which commit of each store is meant by a revision, or a time, that a person gives."""

from collections.abc import Sequence

from invincat.errors import UserError
from invincat.ledger import Ledger
from invincat.store.revision import moment_of


def places(ledgers: Sequence[Ledger], at: str | None) -> list[tuple[Ledger, str | None]]:
    """Where to look in each store: at its tip, or as it was."""
    return list(at_revision(ledgers, at)) if at else [(ledger, ledger.tip()) for ledger in ledgers]


def at_revision(ledgers: Sequence[Ledger], text: str) -> list[tuple[Ledger, str]]:
    """Where to look in each store: at a time in all that were there by then, at a commit in the first that has it."""
    found: list[tuple[Ledger, str]] = []
    fault: UserError | None = None
    for ledger in ledgers:
        try:
            found.append((ledger, ledger.resolve(text)))
        except UserError as refused:
            fault = fault or refused
        if found and moment_of(text) is None:
            break
    if not found and fault:
        raise fault
    return found
