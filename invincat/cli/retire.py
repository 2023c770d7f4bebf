"""The commands that do one thing to each named memory: archive, restore, delete, retier, rescore."""

from collections.abc import Callable
from typing import Any

import click

from invincat.cli.options import find, json_option, propose, reason_option, scope_option
from invincat.cli.output import app_of, finish
from invincat.memory.scope import Scope


def one_field_command(op: str, summary: str, *options: Callable[[Any], Any]) -> click.Command:
    """A command `op NAME ... --reason WHY` with, perhaps, a value of its own; all names are one batch."""

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
        found = [find(app, name, scope) for name in names]
        ledgers = {ledger.scope: ledger for ledger, _ in found}
        if len(ledgers) > 1:
            raise click.UsageError("the names are of both scopes; give --scope, or one scope at a time")
        fields = {key: str(given) if key == "tier" else given for key, given in value.items()}
        operations = [{"op": op, "id": record.id, "reason": reason, **fields} for _, record in found]
        finish(propose(app, found[0][0], *operations, dry_run=dry_run), as_json=as_json)

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
