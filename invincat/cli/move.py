"""`invincat move NAME`: another name, another section, or both."""

from typing import Any

import click

from invincat.cli.options import find, json_option, propose, reason_option, scope_option
from invincat.cli.output import app_of, finish
from invincat.memory.scope import Scope


@click.command("move")
@click.argument("name")
@click.option("--name", "new_name", metavar="NAME", help="The name from now on.")
@click.option("--section", metavar="SECTION", help="The section from now on.")
@reason_option
@scope_option
@click.option("--dry-run", is_flag=True, help="Say what would happen.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    /,
    name: str,
    new_name: str | None,
    section: str | None,
    reason: str,
    scope: Scope | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Give a memory another name or section; what it says, its id and its history stay."""
    if new_name is None and section is None:
        raise click.UsageError("give --name, --section or both")
    app = app_of(context)
    ledger, record = find(app, name, scope)
    operation: dict[str, Any] = {"op": "move", "id": record.id, "reason": reason}
    operation |= {key: value for key, value in (("name", new_name), ("section", section)) if value is not None}
    finish(propose(app, ledger, operation, dry_run=dry_run), as_json=as_json)
