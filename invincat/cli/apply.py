"""`invincat apply FILE|-`: a batch of operations through the whole gate."""

import json
import re
from collections import Counter
from typing import Any, BinaryIO

import click
import msgspec

from invincat.cli.options import Among, json_option
from invincat.cli.output import app_of, finish, print_json
from invincat.errors import UserError
from invincat.memory.entry import is_actor, is_person
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
    """Apply {"operations": [...]} from FILE (`-`: stdin): all of it, or nothing."""
    if not is_actor(actor):
        raise click.UsageError(f"--actor: {actor!r} is no actor")
    if show_schema:
        print_json(schema(person=is_person(actor)))
        return
    if file is None:
        raise click.UsageError("give a FILE, or - for stdin")
    items = _read(file)
    app = app_of(context)
    ledger = app.ledger(scope or scope_named(items) or app.scope_of(items))
    proposal = Proposal(tuple(items), ledger.scope, app.origin(actor, session))
    finish(ledger.submit(proposal, app.grounds(), dry_run=dry_run), as_json=as_json)


def _read(file: BinaryIO) -> list[Any]:
    data = file.read(MAX_INPUT + 1)
    if len(data) > MAX_INPUT:
        raise UserError(f"the batch is larger than {MAX_INPUT} bytes", where=_name(file))
    try:
        batch = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise UserError(f"is not JSON: {fault}", where=_name(file)) from None
    try:
        json.loads(data, object_pairs_hook=_refuse_twice, parse_int=str, parse_float=str)
    except (ValueError, RecursionError) as fault:
        raise UserError(str(fault), where=_name(file), next_step="give it once") from None
    if not isinstance(batch, dict) or set(batch) != {"operations"} or not isinstance(batch["operations"], list):
        raise UserError('must be one object {"operations": [...]}', where=_name(file))
    return list(batch["operations"])


def _refuse_twice(pairs: list[tuple[str, Any]]) -> None:
    """Of two values under one key none is taken: decoders keep the last, and nobody meant that."""
    counts = Counter(key for key, _ in pairs)
    if twice := [key for key, count in counts.items() if count > 1]:
        key = repr(twice[0]) if re.fullmatch(r"[a-z_]{1,20}", twice[0]) else "a key"
        raise ValueError(f"has {key} twice in one object")


def _name(file: BinaryIO) -> str:
    """What to call the input in errors."""
    return str(getattr(file, "name", "<stdin>"))
