"""A held proposal, made again on what is believed now: only where what it changes is still as it saw it."""

from collections.abc import Sequence

from invincat.memory.frontmatter import render_marker
from invincat.memory.lifecycle import describe_end
from invincat.memory.naming import memory_path, settle, wanted_name
from invincat.memory.refusal import Refused
from invincat.memory.view import Record, View, record_of
from invincat.store.base import Commit, Draft, Store
from invincat.store.message import without_hold
from invincat.store.tree import ViewReader

RULE = "RULES 6"


def replay(store: Store, reader: ViewReader, chain: Sequence[Commit], view: View) -> list[Draft]:
    """Drafts for the commits of `chain` (oldest first) on top of `view`.

    Refused when a memory that the proposal changes has changed since. What it would create and what is already
    believed is left out; no draft is made of a commit that would change nothing.
    """
    drafts = []
    for commit in chain:
        before, after = reader.view(commit.parents[0]), reader.view(commit.id)
        puts: dict[str, bytes] = {}
        removes: set[str] = set()
        for record in (record for id, record in after.records.items() if _differs(before.records.get(id), record)):
            old = before.records.get(record.id)
            if old is None and view.equal_to(record.fingerprint):
                continue
            placed = record_of(
                record.memory, _unchanged(view, old).path if old else _free_path(view, record), record.blob
            )
            puts[placed.path] = store.read_blob(record.blob)
            view = view.put(placed)
        for id in before.records.keys() - after.records.keys():
            path = _unchanged(view, before.records[id]).path
            marker = after.markers[id]
            removes.add(path)
            puts[marker.path] = render_marker(marker).encode()
            view = view.drop(id, marker)
        if puts:
            drafts.append(Draft(without_hold(commit.message), puts, frozenset(removes)))
    return drafts


def _differs(old: Record | None, new: Record) -> bool:
    return old is None or old.blob != new.blob


def _unchanged(view: View, old: Record) -> Record:
    """The memory as it is now, which must be what the proposal saw."""
    now = view.records.get(old.id)
    if now is None:
        raise Refused(RULE, f"{old.name} was deleted since it was proposed; reject the proposal")
    if now.blob != old.blob:
        state = describe_end(view, now)
        raise Refused(RULE, f"{old.name} ({state}) has changed since it was proposed; reject it, or make it anew")
    return now


def _free_path(view: View, record: Record) -> str:
    """Where a new memory goes: under the name it wants, or that name with its suffix (RULES 6.4)."""
    wanted = wanted_name(record.name) or record.name
    ids = (*view.wanted.get(wanted, ()), record.id)
    return memory_path(record.memory.section, settle(wanted, ids, view.blocked)[record.id])
