"""What an operation tells a person beside what it does."""

from invincat.memory import lifecycle
from invincat.memory.entry import BANDS, clamp
from invincat.memory.operation import Claim, Create, Operation, Supersede, Update
from invincat.memory.view import Record, View


def clamped(operation: Operation) -> str | None:
    """What to tell who gave a score that is not of the tier that they gave (RULES 2)."""
    rated = operation.claim if isinstance(operation, Create | Supersede) else operation
    if not isinstance(rated, Claim | Update) or rated.score is None or rated.tier is None:
        return None
    score = clamp(rated.score, rated.tier)
    if score == rated.score:
        return None
    low, high = BANDS[rated.tier]
    return f"the tier wins: {rated.tier} is {low} to {high}, so the score is {score}, not {rated.score}"


def said_before(view: View, record: Record) -> str | None:
    """What to tell who says again what was retired or deleted; it may hold anew, or should never have ended."""
    if old := view.retired_saying(record.fingerprint, record.memory.project):
        why = f" ({old.memory.end_reason})" if old.memory.end_reason else ""
        end = lifecycle.describe_end(view, old)
        return f"{old.name} said this and is {end}{why}; if that was a mistake, `invincat restore {old.name}` undoes it"
    if marker := view.deleted_saying(record.fingerprint):
        return f"this was deleted on {marker.updated_at:%Y-%m-%d} ({marker.reason})"
    return None


def still_ended(view: View, old: Record) -> str:
    """What to tell who changes what nobody believes any more (RULES 2: it is not revived by that)."""
    return f"{old.name} stays {lifecycle.describe_end(view, old)}; {lifecycle.way_on(view, old)}"


def both_hold(view: View, old: Record) -> str | None:
    """What a person should know who brings back a memory whose successor stays."""
    successor = view.records.get(old.memory.superseded_by or "")
    if successor is None or not successor.is_active:
        return None
    return f"{successor.name}, which had taken the place of {old.name}, holds as well; archive it if it does not"
