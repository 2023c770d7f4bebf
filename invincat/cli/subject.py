"""What a person asks about: a memory that is there or was, and the commit at which to look."""

from typing import Any, NamedTuple

import click

from invincat.app import App
from invincat.cli.options import find
from invincat.errors import UserError
from invincat.ledger import Ledger
from invincat.memory.entry import format_time
from invincat.memory.marker import Marker
from invincat.memory.scope import Scope
from invincat.memory.view import Record, View, file_name, record_of
from invincat.store.history import Touch, graves

at_option = click.option("--at", metavar="REV", help="As the store was at a memory commit or a time.")


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


class Subject(NamedTuple):
    """A memory in a store, as it is or as it was before it was deleted."""

    ledger: Ledger
    id: str
    record: Record | None
    grave: Grave | None = None

    @property
    def name(self) -> str:
        """Its name, or the one it had."""
        return self.record.name if self.record else self.grave.name if self.grave else self.id


def find_ever(app: App, name: str, scope: Scope | None) -> Subject:
    """The memory that a person means, also one that was deleted: by id, or by the name it had then."""
    try:
        ledger, record = find(app, name, scope)
        return Subject(ledger, record.id, record)
    except UserError:
        # Nothing that is there has this name, or several names begin so: it may be the whole name of one that went.
        ledgers = [ledger for ledger in app.existing() if scope in (None, ledger.scope)]
        found = [(ledger, grave) for ledger in ledgers for grave in _graves_of(ledger, name)]
        if not found:
            raise
    if len(found) > 1:
        ids = ", ".join(grave.marker.id for _, grave in found[:6])
        raise UserError(f"{name!r} could be one of the deleted {ids}", next_step="give the id")
    ledger, grave = found[0]
    return Subject(ledger, grave.marker.id, None, grave)


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
    found = dict(graves(ledger.store, commit, ids)) if commit else {}
    rest = [Grave(marker, None, None) for id, marker in sorted(markers.items()) if id not in found]
    return [Grave(markers[id], touch, _last(ledger, touch)) for id, touch in found.items()] + rest


def _last(ledger: Ledger, touch: Touch) -> Record | None:
    path, blob, _ = touch.before
    memory = ledger.reader.memories([blob]).get(blob) if blob else None
    return record_of(memory, path, blob) if memory and path and blob else None
