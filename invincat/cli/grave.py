"""Memories that have ended: where the deleted ones lie, what they said last, how each ended and by whom."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from invincat.ledger import Ledger
from invincat.memory.entry import format_time
from invincat.memory.lifecycle import describe_end
from invincat.memory.marker import Marker
from invincat.memory.view import Record, View, file_name, record_of
from invincat.store.history import Touch, graves, history_of


class Grave(NamedTuple):
    """A deleted memory: its marker, the commit that took its file, and the last words; both None once purged."""

    marker: Marker
    touch: Touch | None
    last: Record | None

    @property
    def name(self) -> str:
        """The name that it had; its id where none is known any more."""
        return file_name(self.touch.before.path) if self.touch and self.touch.before.path else self.marker.id

    @property
    def fate(self) -> str:
        """`deleted`, or `purged`."""
        return "purged" if self.marker.purged else "deleted"


class End(NamedTuple):
    """How a memory ended: `deleted`, `archived since ...`; by whom, where a commit says so."""

    name: str
    how: str
    by: str | None
    reason: str | None

    def __str__(self) -> str:
        by = f" by {self.by}" if self.by else ""
        return f"{self.how}{by}" + (f": {self.reason}" if self.reason else "")


def ends_of(ledger: Ledger, ids: Collection[str]) -> dict[str, End]:
    """How memories ended that were retired or deleted, by id; the history is searched once for all of the deleted."""
    view = ledger.view()
    retired = [view.records[id] for id in ids if id in view.records]
    markers = {id: view.markers[id] for id in ids if id not in view.records}
    lain = {grave.marker.id: _end_of_deleted(grave) for grave in _unearth(ledger, view.commit, markers)}
    return lain | {record.id: _end_of_retired(ledger, view, record) for record in retired}


def _end_of_deleted(grave: Grave) -> End:
    by = grave.touch.commit.author.name if grave.touch else None
    return End(grave.name, f"{grave.fate} on {grave.marker.updated_at:%Y-%m-%d}", by, grave.marker.reason)


def _end_of_retired(ledger: Ledger, view: View, record: Record) -> End:
    touches = history_of(ledger.store, view.commit, record.id, record.path) if view.commit else ()
    who = (touch.commit.author.name for touch in touches if touch.message.op in {"archive", "supersede"})
    return End(record.name, describe_end(view, record), next(who, None), record.memory.end_reason)


def buried(ledgers: Sequence[Ledger], name: str) -> list[tuple[Ledger, Grave]]:
    """The deleted memories with an id that begins so, or with this name."""
    return [(ledger, grave) for ledger in ledgers for grave in _graves_of(ledger, name)]


def deleted(ledger: Ledger, commit: str | None = None) -> list[Grave]:
    """The deleted memories of a store, the last deleted first; those of which nothing is left at the end."""
    view = ledger.view(commit)
    return _unearth(ledger, view.commit, _buried(view))


def grave_json(grave: Grave) -> dict[str, Any]:
    """A deleted memory as JSON; `last` is what it said."""
    marker, touch, last = grave
    return {
        "id": marker.id,
        "name": grave.name,
        "path": marker.path,
        "status": "deleted",
        "purged": marker.purged,
        "deleted_at": format_time(marker.updated_at),
        "reason": marker.reason,
        "commit": touch.commit.id if touch else None,
        "author": touch.commit.author._asdict() if touch else None,
        "actor": touch.message.actor if touch else None,
        "last": {"path": last.path, "blob": last.blob, "title": last.memory.title, "body": last.memory.body}
        if last
        else None,
    }


def _buried(view: View) -> dict[str, Marker]:
    """Markers that nothing alive stands beside."""
    return {id: marker for id, marker in view.markers.items() if id not in view.records}


def _graves_of(ledger: Ledger, name: str) -> list[Grave]:
    view = ledger.view()
    markers = _buried(view)
    by_id = {id: marker for id, marker in markers.items() if id.startswith(name.upper())}
    graves = _unearth(ledger, view.commit, by_id or markers)
    wanted = file_name(name)
    return graves if by_id else [grave for grave in graves if grave.name == wanted]


def _unearth(ledger: Ledger, commit: str | None, markers: dict[str, Marker]) -> list[Grave]:
    ids = {id for id, marker in markers.items() if not marker.purged}
    found = dict(graves(ledger.store, commit, ids)) if commit and ids else {}
    rest = [Grave(marker, None, None) for id, marker in sorted(markers.items()) if id not in found]
    return [Grave(markers[id], touch, _last(ledger, touch)) for id, touch in found.items()] + rest


def _last(ledger: Ledger, touch: Touch) -> Record | None:
    path, blob, _ = touch.before
    memory = ledger.reader.memories([blob]).get(blob) if blob else None
    return record_of(memory, path, blob) if memory and path and blob else None
