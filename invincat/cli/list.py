"""`invincat list`: memories, by section."""

import click

from invincat.cli.options import json_option, scope_option
from invincat.cli.output import app_of, describe, memory_json, print_json, print_jsonl, readable
from invincat.governance.hidden import escape_hidden
from invincat.memory.entry import Status
from invincat.memory.naming import section_slug
from invincat.memory.scope import Scope
from invincat.memory.view import Record


@click.command("list")
@click.option("--status", type=click.Choice([*map(str, Status), "all"]), default="active", help="By default active.")
@click.option("--section", metavar="SECTION", help="Only this section.")
@scope_option
@json_option
@click.option("--jsonl", is_flag=True, help="Print one JSON object a line.")
@click.pass_context
def command(
    context: click.Context, status: str, section: str | None, scope: Scope | None, as_json: bool, jsonl: bool
) -> None:
    """List memories by section: tier, kind, title, name."""
    app = app_of(context)
    ledgers = readable(app, scope)
    records = [
        record
        for ledger in ledgers
        for record in sorted(ledger.view(), key=_order)
        if status in ("all", record.memory.status)
        and (section is None or section_slug(section) == section_slug(record.memory.section))
    ]
    grounds = app.grounds()
    if jsonl:
        print_jsonl(memory_json(record, grounds) for record in records)
    elif as_json:
        print_json({"at": ledgers[0].tip(), "memories": [memory_json(record, grounds) for record in records]})
    else:
        _print(records)
        if problems := sum(len(ledger.view().problems) for ledger in ledgers):
            click.echo(f"{problems} files could not be read; see `invincat check`", err=True)


def _order(record: Record) -> tuple[str, int, str]:
    return record.memory.section.casefold(), -record.memory.score, record.name


def _print(records: list[Record]) -> None:
    heading = None
    for record in records:
        memory = record.memory
        if heading != (heading := (memory.scope, memory.section)):
            click.echo(escape_hidden(memory.section) + (" (yours)" if memory.scope is Scope.USER else ""))
        state = "" if memory.is_active else f"  [{memory.status}]"
        click.echo(f"  {describe(memory)}  ({record.name}){state}")
    if not records:
        click.echo("no memory matches", err=True)
