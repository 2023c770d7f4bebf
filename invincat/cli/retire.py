"""The commands that do one thing to each named memory: archive, delete, restore, retier, rescore."""

from collections.abc import Callable
from typing import Any

import click

from invincat.app import App
from invincat.cli.options import find, json_option, propose, reason_option, scope_option
from invincat.cli.output import app_of, finish
from invincat.cli.subject import Subject
from invincat.memory.scope import Scope


def _present(app: App, name: str, scope: Scope | None) -> Subject:
    ledger, record = find(app, name, scope)
    return Subject(ledger, record.id, record)


def one_field_command(
    op: str,
    summary: str,
    *options: Callable[[Any], Any],
    seek: Callable[[App, str, Scope | None], Subject] = _present,
) -> click.Command:
    """A command `op NAME ... --reason WHY` with, perhaps, a value of its own; all names are one batch.

    `seek` finds what a name means.
    """

    def act(
        context: click.Context,
        names: tuple[str, ...],
        reason: str,
        scope: Scope | None,
        dry_run: bool,
        as_json: bool,
        **value: Any,
    ) -> None:
        app = app_of(context)
        found = list({(one := seek(app, name, scope)).id: one for name in names}.values())
        ledgers = {subject.ledger.scope for subject in found}
        if len(ledgers) > 1:
            raise click.UsageError("the names are of both scopes; give --scope, or one scope at a time")
        fields = {key: str(given) if key == "tier" else given for key, given in value.items()}
        operations = [{"op": op, "id": subject.id, "reason": reason, **fields} for subject in found]
        buried = [subject.grave.last for subject in found if subject.grave and subject.grave.last]
        finish(propose(app, found[0].ledger, *operations, dry_run=dry_run, buried=buried), as_json=as_json)

    decorators = (
        click.command(op, help=summary),
        click.argument("names", nargs=-1, required=True, metavar="NAME..."),
        *options,
        reason_option,
        scope_option,
        click.option("--dry-run", is_flag=True, help="Say what would happen."),
        json_option,
        click.pass_context,
    )
    command: Any = act
    for decorate in reversed(decorators):
        command = decorate(command)
    assert isinstance(command, click.Command)
    return command
