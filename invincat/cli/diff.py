"""`invincat diff A..B`: what the memory says otherwise at B than at A, and why."""

from collections.abc import Sequence

import click

from invincat.cli.markdown import markdown
from invincat.cli.options import scope_option
from invincat.cli.output import app_of, print_json, readable, say
from invincat.cli.telling import difference_json, summary, terminal
from invincat.errors import UsageError
from invincat.governance.hidden import escape_hidden
from invincat.ledger import Ledger
from invincat.memory.difference import difference
from invincat.memory.scope import Scope
from invincat.review import Waiting
from invincat.store.base import MEMORY_REF
from invincat.store.history import accounts

format_option = click.option(
    "--format", "form", type=click.Choice(["terminal", "markdown", "json"]), default="terminal", show_default=True
)


@click.command("diff")
@click.argument("revisions", nargs=-1, required=True, metavar="A..B")
@format_option
@scope_option
@click.pass_context
def command(context: click.Context, revisions: tuple[str, ...], form: str, scope: Scope | None) -> None:
    """What the memory says otherwise at B than at A: believed, no longer believed, reworded, rescored, moved; and why.

    A and B are memory commits, refs such as origin/invincat/memory, proposals, or times; the one that is left out is
    what is believed now. A alone is A..; A and B may stand apart.
    """
    ledger = readable(app_of(context), scope)[0]
    old, new = (ledger.resolve(text or MEMORY_REF) for text in _ends(revisions))
    print_difference(ledger, old, new, form)


def print_difference(
    ledger: Ledger,
    old: str,
    new: str,
    form: str,
    title: str | None = None,
    notes: Sequence[str] = (),
    proposal: Waiting | None = None,
) -> None:
    """What differs between two commits of a store, with what the commits between say of it.

    `notes` are lines to tell of a proposal as a whole.
    """
    changes = difference(ledger.view(old), ledger.view(new), accounts(ledger.store, old, new))
    if form == "json":
        print_json({**({"proposal": proposal} if proposal else {}), **difference_json(old, new, changes)})
        return
    if form == "markdown":
        for line in markdown(changes, title or f"Memory {old[:7]}..{new[:7]}", notes):
            click.echo(escape_hidden(line))
        return
    for line in (f"{title or f'{old[:7]}..{new[:7]}'}: {summary(changes)}", *notes, *terminal(changes)):
        say(line, indent=8)


def _ends(revisions: tuple[str, ...]) -> tuple[str, str]:
    if len(revisions) == 1:
        old, _, new = revisions[0].partition("..")
        return old, new
    if len(revisions) == 2 and not any(".." in text for text in revisions):
        return revisions[0], revisions[1]
    raise UsageError("give A..B, or A and B", next_step="see `invincat diff --help`")
