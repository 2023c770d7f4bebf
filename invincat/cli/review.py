"""`invincat review list`: proposals that wait for a person."""

import click

from invincat.cli.options import json_option, scope_option
from invincat.cli.output import app_of, print_json
from invincat.governance.hidden import escape_hidden
from invincat.memory.scope import Scope
from invincat.review import waiting


@click.group("review")
def command() -> None:
    """Proposals that wait for a decision."""


@command.command("list")
@scope_option
@json_option
@click.pass_context
def list_waiting(context: click.Context, scope: Scope | None, as_json: bool) -> None:
    """List held proposals, the oldest first."""
    proposals = [proposal for ledger in app_of(context).readable(scope) for proposal in waiting(ledger)]
    if as_json:
        print_json({"proposals": proposals})
        return
    for proposal in proposals:
        click.echo(f"{proposal.id}  {proposal.since[:10]}  {proposal.actor}  {proposal.scope}")
        for change in proposal.changes:
            click.echo(escape_hidden(f"  {change}"))
        click.echo(escape_hidden(f"  waits: {proposal.reason}"))
    if not proposals:
        click.echo("nothing waits for review", err=True)
