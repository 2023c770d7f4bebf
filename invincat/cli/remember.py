"""`invincat remember TEXT`: one memory, written down by a person."""

import sys
from typing import Any

import click
import msgspec

from invincat.app import App
from invincat.cli.options import Among, claim_fields, claim_options, json_option, propose
from invincat.cli.output import app_of, finish
from invincat.errors import UserError
from invincat.ledger import Ledger
from invincat.memory.scope import Scope
from invincat.memory.view import Record
from invincat.outcome import Outcome


@click.command("remember")
@click.argument("words", nargs=-1, required=True, metavar="TEXT")
@claim_options
@click.option("--reason", "score_reason", metavar="WHY", help="Why it matters that much.")
@click.option("--scope", type=Among(Scope), default=Scope.PROJECT, help="By default the project.")
@click.option("--only-here", is_flag=True, help="With --scope user: yours, but in this project alone.")
@click.option("--dry-run", is_flag=True, help="Say what would happen.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    /,
    words: tuple[str, ...],
    scope: Scope,
    only_here: bool,
    dry_run: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Write down one memory. TEXT begins with the claim, in quotes or not; `-` reads it from stdin."""
    app = app_of(context)
    text = " ".join(words)
    content = sys.stdin.read() if text == "-" else text
    fields = claim_fields(app, {"section": "General", **{k: v for k, v in given.items() if v is not None}})
    operation = {"op": "create", "scope": str(scope), "content": content, **fields}
    if only_here:
        operation["project"] = _project(app, scope)
    ledger = app.ledger(Scope(scope))
    finish(_told_of_a_twin(ledger, propose(app, ledger, operation, dry_run=dry_run)), as_json=as_json)


def _told_of_a_twin(ledger: Ledger, outcome: Outcome) -> Outcome:
    """The outcome, with a hint when another memory claims the same: the name is that one's, and made unlike it."""
    name = (outcome.operations[0].name if outcome.operations else None) or ""
    base, mark, _ = name.rpartition("--")
    if outcome.verdict != "committed" or not mark:
        return outcome
    view = ledger.view()
    new, old = view.find(name), view.find(base)
    if not (new and old and old.memory.is_active and _claim(new) == _claim(old)):
        return outcome
    step = f'`invincat supersede {base} --by {name} --reason "..."` if it takes its place'
    hints = [*([outcome.hint] if outcome.hint else []), f"{base} claims the same; {step}"]
    return msgspec.structs.replace(outcome, hint="; ".join(hints))


def _claim(record: Record) -> tuple[str, str | None]:
    return record.memory.title.casefold(), record.memory.project


def _project(app: App, scope: Scope) -> str:
    """The key of the one project in which a person's own memory holds."""
    if scope is not Scope.USER:
        raise click.UsageError("--only-here is for --scope user; what is the project's holds here alone anyway")
    if app.project_key is None:
        raise UserError("there is no project here", next_step="go to a folder of the repository it is about")
    return app.project_key
