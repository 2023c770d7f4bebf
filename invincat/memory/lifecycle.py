"""How memories end and come back: the only writer of `invalid_at` and `superseded_by` (RULES 1.2)."""

from datetime import datetime

from msgspec.structs import replace

from invincat.memory.entry import Memory
from invincat.memory.marker import Marker
from invincat.memory.refusal import Refused
from invincat.memory.register import tick
from invincat.memory.view import Record, View

GUARDS = "RULES 1.4"


def supersede(view: View, old: Record, successor: Record | None, reason: str, now: datetime) -> Memory:
    """`old` as it is once `successor` has taken its place; Refused by the guards of RULES 1.4, in their order."""
    if successor is not None and successor.id == old.id:
        raise Refused(GUARDS, f"{old.name} cannot supersede itself; use update to reword it", field="by")
    _refuse_ended(view, old)
    if successor is None:
        raise Refused(GUARDS, "the successor does not exist; create it first or give its content", field="by")
    if not successor.memory.is_active:
        state = describe_end(view, successor)
        raise Refused(GUARDS, f"the successor {successor.name} is itself {state}; name an active one", field="by")
    ended = max(now, successor.memory.valid_from, old.memory.valid_from)
    link = f"[{successor.name}](../{successor.label}.md) ({successor.id})"
    return replace(
        _leaving_cycle(old.memory),
        invalid_at=ended,
        superseded_by=successor.id,
        tombstone=f"> Superseded by {link} on {ended:%Y-%m-%d}: {reason}",
    )


def archive(view: View, old: Record, reason: str, now: datetime) -> Memory:
    """`old` as it is once archived: gone, with no successor (RULES 1.1)."""
    _refuse_ended(view, old)
    ended = max(now, old.memory.valid_from)
    return replace(_leaving_cycle(old.memory), invalid_at=ended, tombstone=f"> Archived on {ended:%Y-%m-%d}: {reason}")


def restore(old: Record) -> Memory:
    """`old` as it holds again: a person's undo; the interval that was closed stays in history (RULES 1.2, 6.2)."""
    memory = old.memory
    if memory.is_active and memory.set_aside is None:
        raise Refused("RULES 1.2", f"{old.name} is active; there is nothing to restore", field="id")
    return replace(
        memory, invalid_at=None, superseded_by=None, set_aside=None, tombstone=None, restores=memory.restores + 1
    )


def revive(buried: Record, marker: Marker, now: datetime) -> Memory:
    """A deleted memory as it holds again: worded later than its marker, which it so beats (RULES 6.3)."""
    if marker.purged:
        raise Refused("RULES 6.3", f"{buried.name} was purged; its words are gone for good", field="id")
    return replace(
        buried.memory,
        updated_at=tick(now, marker.updated_at),
        invalid_at=None,
        superseded_by=None,
        set_aside=None,
        tombstone=None,
        restores=marker.restores + 1,
    )


def heir(view: View, record: Record) -> Record | None:
    """The active memory at the end of what superseded one; None where the line ends in an archived or deleted one."""
    seen: set[str] = set()
    while not record.is_active:
        following = view.records.get(record.memory.superseded_by or "")
        if following is None or following.id in seen:
            return None
        seen.add(following.id)
        record = following
    return record


def describe_end(view: View, record: Record) -> str:
    """`active`, `superseded by <name> since <date>` or `archived since <date>`."""
    memory = record.memory
    if memory.invalid_at is None:
        return "active"
    since = f"since {memory.invalid_at:%Y-%m-%d}"
    if memory.superseded_by is None:
        return f"archived {since}"
    successor = view.find(memory.superseded_by)
    return f"superseded by {successor.name if successor else memory.superseded_by} {since}"


def _refuse_ended(view: View, old: Record) -> None:
    if not old.memory.is_active:
        raise Refused(GUARDS, f"{old.name} is already {describe_end(view, old)}; {way_on(view, old)}", field="id")


def way_on(view: View, old: Record) -> str:
    """What to do instead with a memory that has ended."""
    holds = heir(view, old)
    return f"change {holds.name} instead" if holds else f"`invincat restore {old.name}` brings it back"


def _leaving_cycle(memory: Memory) -> Memory:
    """A memory that a broken cycle keeps active gets a restore first, so that the new end wins (RULES 6.4)."""
    return memory if memory.set_aside is None else replace(memory, set_aside=None, restores=memory.restores + 1)
