"""`invincat review`: proposals that wait for a person, and the person's decisions."""

from difflib import unified_diff

import click

from invincat.cli.options import json_option, reason_option, scope_option
from invincat.cli.output import app_of, finish_all, print_json, readable
from invincat.governance.hidden import escape_hidden
from invincat.ledger import Ledger, held_chain
from invincat.memory.scope import Scope
from invincat.review import accept, find_waiting, reject, waiting
from invincat.store.tree import FileChange, changed_files


@click.group("review")
def command() -> None:
    """Proposals that wait for a decision."""


@command.command("list")
@scope_option
@json_option
@click.pass_context
def list_waiting(context: click.Context, scope: Scope | None, as_json: bool) -> None:
    """List held proposals, the oldest first."""
    proposals = [proposal for ledger in readable(app_of(context), scope) for proposal in waiting(ledger)]
    if as_json:
        print_json({"proposals": proposals})
        return
    for proposal in proposals:
        line = f"{proposal.id}  {proposal.since[:10]}  {proposal.actor}  {proposal.scope}"
        click.echo(escape_hidden(line))
        for change in proposal.changes:
            click.echo(escape_hidden(f"  {change}"))
        click.echo(escape_hidden(f"  waits: {proposal.reason}"))
    if not proposals:
        click.echo("nothing waits for review", err=True)


@command.command("show")
@click.argument("proposal")
@scope_option
@click.pass_context
def show_one(context: click.Context, proposal: str, scope: Scope | None) -> None:
    """Show what a proposal would change, as git shows it."""
    ledger, one = find_waiting(readable(app_of(context), scope), proposal)
    for commit, _ in reversed(list(held_chain(ledger.store, one.commit))):
        click.echo(escape_hidden(commit.message))
        for change in changed_files(ledger.store, commit.parents[0], commit.id):
            click.echo(escape_hidden(_file_diff(ledger, change)), nl=False)


@command.command("accept")
@click.argument("proposals", nargs=-1, required=True)
@scope_option
@json_option
@click.pass_context
def accept_some(context: click.Context, proposals: tuple[str, ...], scope: Scope | None, as_json: bool) -> None:
    """Make proposals true."""
    ledgers = readable(app_of(context), scope)
    finish_all([accept(ledgers, proposal) for proposal in proposals], as_json=as_json)


@command.command("reject")
@click.argument("proposal")
@reason_option
@scope_option
@click.pass_context
def reject_one(context: click.Context, proposal: str, reason: str, scope: Scope | None) -> None:
    """Say no to a proposal; it is kept below refs/invincat/rejected/ and not made again."""
    rejected = reject(readable(app_of(context), scope), proposal, reason)
    click.echo(escape_hidden(f"rejected {rejected.id}: {'; '.join(rejected.changes)}"))


def _file_diff(ledger: Ledger, change: FileChange) -> str:
    old, new = (ledger.store.read_blob(id).decode("utf-8", "replace") if id else "" for id in (change.old, change.new))
    lines = unified_diff(old.splitlines(), new.splitlines(), change.path, change.path, lineterm="", n=2)
    return "".join(f"{line}\n" for line in lines)
