"""`invincat review`: proposals that wait for a person, and the person's decisions."""

from typing import Final

import click

from invincat.cli.diff import format_option, print_difference
from invincat.cli.options import json_option, reason_option, scope_option
from invincat.cli.output import app_of, finish_all, print_json, readable, say
from invincat.governance.hidden import escape_hidden
from invincat.memory.scope import Scope
from invincat.review import accept, base_of, find_move, find_waiting, reject, waiting

_NEXT: Final = "decide: `invincat review accept ID` or `reject ID --reason WHY`"


@click.group("review")
def command() -> None:
    """Proposals that wait for a decision."""


@command.command("list")
@scope_option
@json_option
@click.pass_context
def list_waiting(context: click.Context, scope: Scope | None, as_json: bool) -> None:
    """List held proposals, the oldest first, and commits that came into the store past the gate."""
    ledgers = readable(app_of(context), scope)
    proposals = [proposal for ledger in ledgers for proposal in waiting(ledger)]
    foreign = [(ledger.scope, move) for ledger in ledgers for move in ledger.foreign.moves()]
    if as_json:
        print_json(
            {"proposals": proposals, "foreign": [{"scope": of, "old": m.old, "new": m.new} for of, m in foreign]}
        )
        return
    for of, move in foreign:
        if move.new:
            since = f"invincat review show {move.new[:12]}" if move.old else f"git show {move.new[:12]}"
            say(f"{move.new[:12]}  {of}  was not written by invincat; its memories are not injected")
            say(f"  see `{since}`, then `invincat review accept {move.new[:12]}`")
        else:
            click.echo(f"the {of} memory's ref was deleted; see `invincat doctor`")
    for proposal in proposals:
        line = f"{proposal.id}  {proposal.since[:10]}  {proposal.actor or 'unknown'}  {proposal.scope}"
        say(line)
        for change in proposal.changes:
            say(f"  {change}")
        say(f"  waits: {proposal.reason}")
    if proposals:
        click.echo(_NEXT, err=True)
    if not proposals and not foreign:
        click.echo("nothing waits for review", err=True)


@command.command("show")
@click.argument("proposal")
@format_option
@scope_option
@click.pass_context
def show_one(context: click.Context, proposal: str, form: str, scope: Scope | None) -> None:
    """Show what a proposal would change, why and by whom, and why it waits; or what a commit past the gate changed."""
    ledgers = readable(app_of(context), scope)
    if found := find_move(ledgers, proposal):
        ledger, move = found
        if move.old and move.new:
            print_difference(ledger, move.old, move.new, form, f"Memory commit {move.new}")
            return
    ledger, one = find_waiting(ledgers, proposal)
    notes = [
        f"{one.scope} memory, proposed by {one.actor or 'unknown'}, {one.since}",
        f"waits: {one.reason}",
    ]
    print_difference(ledger, base_of(ledger, one), one.commit, form, f"Proposal {one.id}", notes, one)


@command.command("accept")
@click.argument("proposals", nargs=-1, required=True)
@scope_option
@json_option
@click.pass_context
def accept_some(context: click.Context, proposals: tuple[str, ...], scope: Scope | None, as_json: bool) -> None:
    """Make proposals true; with a commit, believe what came into the store past the gate."""
    ledgers = readable(app_of(context), scope)
    finish_all([accept(ledgers, proposal) for proposal in proposals], as_json=as_json)


@command.command("reject")
@click.argument("proposal")
@reason_option
@scope_option
@json_option
@click.pass_context
def reject_one(context: click.Context, proposal: str, reason: str, scope: Scope | None, as_json: bool) -> None:
    """Say no to a proposal; it is kept below refs/invincat/rejected/ and not made again."""
    rejected = reject(readable(app_of(context), scope), proposal, reason)
    if as_json:
        print_json({"rejected": rejected})
        return
    click.echo(escape_hidden(f"rejected {rejected.id}: {'; '.join(rejected.changes)}"))
