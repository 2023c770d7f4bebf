"""What a person asks about: a memory that is there or was, and the commit at which to look."""

from typing import NamedTuple

import click

from invincat.app import App
from invincat.cli.grave import Grave, buried
from invincat.cli.options import NotFound, WasDeleted, find
from invincat.errors import UserError
from invincat.ledger import Ledger
from invincat.memory.scope import Scope
from invincat.memory.view import Record

at_option = click.option("--at", metavar="REV", help="As the store was at a memory commit or a time.")


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
    except WasDeleted as fault:
        found = fault.found
    except NotFound:
        raise
    except UserError:
        # Several names begin so: it may be the whole name of one that went.
        found = buried([ledger for ledger in app.existing() if scope in (None, ledger.scope)], name)
        if not found:
            raise
    if len(found) > 1:
        ids = ", ".join(grave.marker.id for _, grave in found[:6])
        raise UserError(f"{name!r} could be one of the deleted {ids}", next_step="give the id")
    ledger, grave = found[0]
    return Subject(ledger, grave.marker.id, None, grave)
