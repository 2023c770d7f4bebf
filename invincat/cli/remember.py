"""`invincat remember TEXT`: one memory, written down by a person."""

import sys
from typing import Any

import click

from invincat.cli.options import Among, claim_fields, claim_options, json_option, propose
from invincat.cli.output import app_of, finish
from invincat.memory.scope import Scope


@click.command("remember")
@click.argument("text")
@claim_options
@click.option("--reason", "score_reason", metavar="WHY", help="Why it matters that much.")
@click.option("--scope", type=Among(Scope), default=Scope.PROJECT, help="By default the project.")
@click.option("--dry-run", is_flag=True, help="Say what would happen.")
@json_option
@click.pass_context
def command(context: click.Context, /, text: str, scope: Scope, dry_run: bool, as_json: bool, **given: Any) -> None:
    """Write down one memory. TEXT begins with the claim; `-` reads it from stdin."""
    app = app_of(context)
    content = sys.stdin.read() if text == "-" else text
    fields = claim_fields(app, {"section": "General", **{k: v for k, v in given.items() if v is not None}})
    operation = {"op": "create", "scope": str(scope), "content": content, **fields}
    finish(propose(app, app.ledger(Scope(scope)), operation, dry_run=dry_run), as_json=as_json)
