"""`invincat apply FILE|-`: a batch of operations through the whole gate."""

from typing import Any, BinaryIO

import click

from invincat.cli.options import Among, json_option
from invincat.cli.output import app_of, finish, print_json
from invincat.errors import UserError
from invincat.memory.batch import read_batch
from invincat.memory.entry import ACTORS, is_actor, is_person
from invincat.memory.operation import schema, scope_named
from invincat.memory.proposal import Proposal
from invincat.memory.scope import Scope

MAX_INPUT = 4 * 1024 * 1024


@click.command("apply")
@click.argument("file", type=click.File("rb"), required=False)
@click.option("--actor", default="user", metavar="ACTOR", help="On whose behalf; by default user.")
@click.option("--session", metavar="ID", help="The session it comes from.")
@click.option("--scope", type=Among(Scope), help="The store; by default what the operations say.")
@click.option("--dry-run", is_flag=True, help="Say what would happen.")
@click.option("--schema", "show_schema", is_flag=True, help="Print the JSON schema of the actor's batch and stop.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    file: BinaryIO | None,
    actor: str,
    session: str | None,
    scope: Scope | None,
    dry_run: bool,
    show_schema: bool,
    as_json: bool,
) -> None:
    """Apply {"operations": [...]} from FILE (`-`: stdin): all of it, or nothing.

    \b
    {"operations": [
      {"op": "create", "scope": "project", "section": "CI", "content": "Use nox."},
      {"op": "archive", "id": "use-tox", "reason": "nox took its place"}]}

    An id is a memory's id or its name.
    """  # noqa: D301 - `\b` is what click keeps lines by
    if not is_actor(actor):
        raise click.UsageError(f"--actor: {actor!r} is none of {', '.join(ACTORS)}, mcp:<client>")
    if show_schema:
        print_json(schema(person=is_person(actor)))
        return
    if file is None:
        raise click.UsageError("give a FILE, or - for stdin")
    items = _read(file)
    app = app_of(context)
    ledger = app.ledger(scope or scope_named(items) or app.scope_of(items))
    proposal = Proposal(tuple(items), ledger.scope, app.origin(actor, session))
    finish(ledger.submit(proposal, app.grounds(), dry_run=dry_run), as_json=as_json, is_batch=True)


def _read(file: BinaryIO) -> list[Any]:
    data = file.read(MAX_INPUT + 1)
    if len(data) > MAX_INPUT:
        raise UserError(f"the batch is larger than {MAX_INPUT} bytes", where=_name(file))
    try:
        return read_batch(data)
    except ValueError as fault:
        raise UserError(str(fault), where=_name(file)) from None


def _name(file: BinaryIO) -> str:
    """What to call the input in errors."""
    return str(getattr(file, "name", "<stdin>"))
