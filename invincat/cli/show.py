"""`invincat show NAME`: one memory, as it stands in its file."""

import click

from invincat.cli.options import find, json_option, scope_option
from invincat.cli.output import app_of, memory_json, print_json
from invincat.governance.hidden import escape_hidden
from invincat.memory.lifecycle import describe_end
from invincat.memory.scope import Scope


@click.command("show")
@click.argument("name")
@scope_option
@json_option
@click.pass_context
def command(context: click.Context, name: str, scope: Scope | None, as_json: bool) -> None:
    """Show one memory: NAME is a name, an id, or an unambiguous start of either."""
    app = app_of(context)
    ledger, record = find(app, name, scope)
    if as_json:
        print_json(memory_json(record, app.grounds()))
        return
    click.echo(f"# {record.path}: {describe_end(ledger.view(), record)}")
    click.echo(escape_hidden(ledger.store.read_blob(record.blob).decode()), nl=False)
