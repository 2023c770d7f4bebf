"""`invincat restore NAME ...`."""

from invincat.app import App
from invincat.cli.retire import one_field_command
from invincat.cli.subject import Subject, find_ever
from invincat.errors import UserError
from invincat.memory.scope import Scope


def _seek(app: App, name: str, scope: Scope | None) -> Subject:
    """A memory, also one that was deleted; UserError where nothing is left of it."""
    subject = find_ever(app, name, scope)
    if subject.record is None and (subject.grave is None or subject.grave.last is None):
        fate = subject.grave.fate if subject.grave else "deleted"
        raise UserError(f"{subject.name} was {fate}; its words are gone, so it cannot be restored")
    return subject


command = one_field_command("restore", "Undo a supersession, an archiving or a deletion.", seek=_seek)
