"""What differs between two views, as people ask for it: what is believed now, what no longer, and why."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

import msgspec

from invincat.memory.entry import Memory, Status, format_time
from invincat.memory.evidence import Evidence
from invincat.memory.marker import Marker
from invincat.memory.register import SCORE_KEYS
from invincat.memory.view import Record, View


class Turn(StrEnum):
    """What became of a memory, in the order in which it is told."""

    CREATED = "created"
    RESTORED = "restored"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    DELETED = "deleted"
    # Not there, and no marker says why: the other view is older, or of another line.
    GONE = "gone"
    REWORDED = "reworded"
    RESCORED = "rescored"
    MOVED = "moved"
    # Came and was retired again in between.
    PASSED = "passed"
    # Deleted when it was believed no longer anyway.
    CLEARED = "cleared"


class FieldChange(msgspec.Struct, frozen=True):
    """A front matter key (or `body`, `evidence`) with its plain values; None where there is no value."""

    key: str
    old: Any
    new: Any


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """What a commit between the two views says of a memory: who, when, on whose behalf, why, resting on what."""

    commit: str
    time: str
    author: str
    op: str | None
    actor: str | None
    reason: str | None
    sources: tuple[str, ...]
    subject: str


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One memory that differs. `turns` says how, the gravest first; `fields` what a memory in both says otherwise.

    `title` and `body` are the words that count now, of what is gone the last ones; `was` is its label before a move.
    """

    id: str
    label: str
    was: str | None = None
    turns: tuple[Turn, ...]
    title: str
    body: str
    kind: str
    tier: str
    score: int
    status: str
    fields: tuple[FieldChange, ...] = ()
    successor: str | None = None
    evidence: tuple[Evidence, ...] = ()
    end: str | None = None
    because: tuple[Account, ...] = ()


_SOURCE_KEYS: Final = ("actor", "session", "anchor", "commit", "branch", "model")
# Keys that tell nothing by themselves: clocks and counters of merging, and the tombstone, whose reason is told.
_SILENT: Final = {"id", "source", "unknown", "tombstone", "updated_at", "last_scored_at", "restores", "set_aside"}
_TOLD: Final = tuple(key for key in Memory.__struct_fields__ if key not in _SILENT)
_END: Final = {"invalid_at", "superseded_by"}


def difference(old: View, new: View, accounts: Mapping[str, Iterable[Account]]) -> tuple[Change, ...]:
    """What differs, in the order of `Turn`, then by label. `accounts` are those of the commits between, by id."""
    changes = []
    for id in sorted(old.records.keys() | new.records.keys()):
        before, after = old.records.get(id), new.records.get(id)
        if before != after:
            change = _change(old, new, before, after)
            changes.append(msgspec.structs.replace(change, because=tuple(accounts.get(id, ()))))
    order = list(Turn)
    return tuple(sorted(changes, key=lambda change: (order.index(change.turns[0]), change.label)))


def compare(old: Memory, new: Memory) -> tuple[FieldChange, ...]:
    """The keys that two versions of a memory say otherwise, in the order of the file; evidence and body last."""
    pairs = [(key, _plain(getattr(old, key)), _plain(getattr(new, key))) for key in _TOLD if key != "body"]
    pairs += [(f"source.{key}", getattr(old.source, key), getattr(new.source, key)) for key in _SOURCE_KEYS]
    pairs += [
        ("evidence", [item.at for item in old.source.evidence], [item.at for item in new.source.evidence]),
        ("body", old.body, new.body),
    ]
    changes = [FieldChange(key, before, after) for key, before, after in pairs if before != after]
    known, others = ({unknown.key: unknown.text for unknown in memory.unknown} for memory in (old, new))
    keys = [key for key in {**known, **others} if known.get(key) != others.get(key)]
    return (*changes, *(FieldChange(key, known.get(key), others.get(key)) for key in keys))


def _change(old: View, new: View, before: Record | None, after: Record | None) -> Change:
    told = after or before
    assert told is not None
    memory = told.memory
    fields = compare(before.memory, after.memory) if before and after else ()
    marker = None if after else new.markers.get(told.id)
    successor = new.records.get(memory.superseded_by or "")
    return Change(
        id=told.id,
        label=told.label,
        was=before.label if before and after and before.label != after.label else None,
        turns=_turns(before, after, fields, marked=told.id in (old if after else new).markers),
        title=memory.title,
        body=memory.body,
        kind=memory.kind,
        tier=memory.tier,
        score=memory.score,
        status=memory.status if after else "deleted" if marker else "gone",
        fields=fields,
        successor=successor.label if successor else memory.superseded_by,
        evidence=memory.source.evidence,
        end=_end(after, marker),
    )


def _end(after: Record | None, marker: Marker | None) -> str | None:
    """What the file itself, or the marker in its place, says of why it ended."""
    if after is None:
        return marker.reason if marker else None
    return after.memory.end_reason


def _turns(
    before: Record | None, after: Record | None, fields: tuple[FieldChange, ...], *, marked: bool
) -> tuple[Turn, ...]:
    """How a memory differs; `marked`: the view that lacks it has its marker."""
    if after is None:
        if before is not None and not before.is_active:
            return (Turn.CLEARED,)
        return (Turn.DELETED if marked else Turn.GONE,)
    if before is None and not after.is_active:
        return (Turn.PASSED,)
    if before is None:
        return (Turn.RESTORED if marked else Turn.CREATED,)
    keys = {field.key for field in fields}
    turns = []
    if before.is_active is not after.is_active or (not after.is_active and keys & _END):
        turns.append(_standing(after))
    if keys - _END - {*SCORE_KEYS, "section"}:
        turns.append(Turn.REWORDED)
    if keys & {*SCORE_KEYS}:
        turns.append(Turn.RESCORED)
    if before.path != after.path or "section" in keys:
        turns.append(Turn.MOVED)
    return tuple(turns) or (Turn.REWORDED,)


def _standing(after: Record) -> Turn:
    if after.is_active:
        return Turn.RESTORED
    return Turn.SUPERSEDED if after.memory.status is Status.SUPERSEDED else Turn.ARCHIVED


def _plain(value: Any) -> Any:
    """A value as JSON and people spell it; what is empty is None."""
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, str | tuple):
        return msgspec.to_builtins(value) or None
    return value
