"""What whoever read a store must know of it, in lines: files left out, moves that were not ours (RULES 10)."""

from invincat.errors import StoreError
from invincat.ledger import Ledger
from invincat.store.journal import Foreign


def notices_of(ledger: Ledger) -> list[str]:
    """The lines of one store; none when all is as it should be."""
    try:
        return [*(_moved_past_us(ledger, move) for move in ledger.foreign.untold()), *_left_out(ledger)]
    except StoreError as fault:
        return [f"note: of the {ledger.scope} memory not all can be told: {fault}"]


def _left_out(ledger: Ledger) -> list[str]:
    """How many files are no memories."""
    tip = ledger.tip()
    problems = ledger.reader.problems(tip) if tip else ()
    if not problems:
        return []
    what = "1 file is" if len(problems) == 1 else f"{len(problems)} files are"
    step = f"see `invincat check --scope {ledger.scope}`"
    return [f"note: {what} left out of the {ledger.scope} memory, as {problems[0].path}; {step}"]


def _moved_past_us(ledger: Ledger, move: Foreign) -> str:
    if move.new is None:
        return f"note: something else than invincat deleted the {ledger.scope} memory's ref; see `invincat doctor`"
    what = f"something else than invincat moved the {ledger.scope} memory to {move.new[:7]}"
    return f"note: {what}; what that brought is not injected until accepted, see `invincat review list`"
