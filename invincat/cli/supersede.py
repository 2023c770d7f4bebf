"""`invincat supersede OLD`: one memory in the place of another, in one commit (RULES 1)."""

from typing import Any

import click

from invincat.app import App
from invincat.cli.options import (
    NotFound,
    claim_fields,
    claim_options,
    find,
    json_option,
    propose,
    reason_option,
    scope_option,
)
from invincat.cli.output import app_of, finish
from invincat.ledger import Ledger
from invincat.memory.scope import Scope


@click.command("supersede")
@click.argument("old")
@click.option("--by", metavar="NAME", help="The memory that takes its place.")
@click.option("--content", metavar="TEXT", help="The text of a new memory that takes its place.")
@claim_options
@reason_option
@scope_option
@click.option("--dry-run", is_flag=True, help="Say what would happen.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    /,
    old: str,
    by: str | None,
    content: str | None,
    reason: str,
    scope: Scope | None,
    dry_run: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Retire OLD in favour of another memory: --by NAME, or --content TEXT for a new one.

    The new one stands in the same section, with the same kind, paths and tags, unless told otherwise.
    """
    if (by is None) == (content is None):
        raise click.UsageError("give one of --by NAME and --content TEXT")
    app = app_of(context)
    ledger, id = _target(app, old, scope, must_exist=by is not None)
    operation: dict[str, Any] = {"op": "supersede", "id": id, "reason": reason}
    operation |= claim_fields(app, {**given, "content": content})
    if by is not None:
        operation["by"] = find(app, by, ledger.scope)[1].memory.id
    finish(propose(app, ledger, operation, dry_run=dry_run), as_json=as_json)


def _target(app: App, old: str, scope: Scope | None, *, must_exist: bool) -> tuple[Ledger, str]:
    """Whom to retire. New content is kept also when nobody has the name (RULES 1.7): then it goes on as it is."""
    try:
        ledger, record = find(app, old, scope)
    except NotFound:
        if must_exist:
            raise
        return app.ledger(scope or Scope.PROJECT), old
    return ledger, record.id
