"""`invincat log [NAME]`: the history of what is believed, of all or of one memory."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import click

from invincat.cli.options import find, json_option, scope_option
from invincat.cli.output import app_of, print_json, print_jsonl, readable
from invincat.governance.hidden import escape_hidden
from invincat.ledger import Ledger
from invincat.memory.entry import format_time
from invincat.memory.scope import Scope
from invincat.store.base import Commit
from invincat.store.message import Message, read


@click.command("log")
@click.argument("name", required=False)
@click.option("-n", "count", type=click.IntRange(1), help="At most so many commits.")
@scope_option
@json_option
@click.option("--jsonl", is_flag=True, help="Print one JSON object a line.")
@click.pass_context
def command(
    context: click.Context, name: str | None, count: int | None, scope: Scope | None, as_json: bool, jsonl: bool
) -> None:
    """The history of what is believed, newest first; with NAME only what touched that memory."""
    app = app_of(context)
    if name is None:
        ledger, id = readable(app, scope)[0], None
    else:
        ledger, record = find(app, name, scope)
        id = record.id
    commits = islice(_history(ledger, id), count)
    if jsonl:
        print_jsonl(_plain(commit, message) for commit, message in commits)
    elif as_json:
        print_json({"at": ledger.tip(), "commits": [_plain(commit, message) for commit, message in commits]})
    else:
        for commit, message in commits:
            line = f"{commit.id[:7]}  {commit.time:%Y-%m-%d}  {commit.author.name}  {message.subject}"
            click.echo(escape_hidden(line))


def _history(ledger: Ledger, id: str | None) -> Iterator[tuple[Commit, Message]]:
    tip = ledger.tip()
    for commit in ledger.store.history(tip) if tip else ():
        message = read(commit.message)
        if id is None or id in message.memories or id == message.successor:
            yield commit, message


def _plain(commit: Commit, message: Message) -> dict[str, Any]:
    return {
        "id": commit.id,
        "time": format_time(commit.time),
        "author": commit.author._asdict(),
        "subject": message.subject,
        "op": message.op,
        "memories": message.memories,
        "successor": message.successor,
        "actor": message.actor,
        "reason": message.reason,
        "sources": message.sources,
    }
