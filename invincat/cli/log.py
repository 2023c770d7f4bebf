"""`invincat log [NAME]`: the history of what is believed, of all or of one memory."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import click

from invincat.cli.options import json_option, scope_option
from invincat.cli.output import app_of, print_json, print_jsonl, readable, say
from invincat.cli.subject import Subject, find_ever
from invincat.ledger import Ledger
from invincat.memory.entry import format_time
from invincat.memory.scope import Scope
from invincat.store.base import Commit
from invincat.store.history import history_of
from invincat.store.message import Message, read, said


@click.command("log")
@click.argument("name", required=False)
@click.option("-n", "count", type=click.IntRange(1), help="At most so many commits.")
@click.option("--verbose/--oneline", "-v", default=None, help="With or without why, who and on what evidence.")
@scope_option
@json_option
@click.option("--jsonl", is_flag=True, help="Print one JSON object a line.")
@click.pass_context
def command(
    context: click.Context,
    name: str | None,
    count: int | None,
    verbose: bool | None,
    scope: Scope | None,
    as_json: bool,
    jsonl: bool,
) -> None:
    """The history of what is believed, newest first: a line for each commit, with -v also why, by whom, on what.

    With NAME, which may be a deleted memory's, only what touched that memory, and by default the whole of it.
    """
    app = app_of(context)
    subject = find_ever(app, name, scope) if name else None
    ledger = subject.ledger if subject else readable(app, scope)[0]
    commits = islice(_history(ledger, subject), count)
    if jsonl:
        print_jsonl(_plain(commit, message) for commit, message in commits)
    elif as_json:
        of = {"id": subject.id, "name": subject.name, "status": _status(subject)} if subject else {}
        print_json({"at": ledger.tip(), **of, "commits": [_plain(commit, message) for commit, message in commits]})
    else:
        if subject and not subject.record:
            say(f"# {subject.name} ({subject.id}) is deleted")
        in_full = bool(subject) if verbose is None else verbose
        for number, (commit, message) in enumerate(commits):
            if in_full and number:
                click.echo()
            say(f"{commit.id[:7]}  {commit.time:%Y-%m-%d}  {commit.author.name}  {message.subject}", indent=9)
            for detail in _details(commit, message) if in_full else ():
                say(f"    {detail}", indent=6)


def _history(ledger: Ledger, subject: Subject | None) -> Iterator[tuple[Commit, Message]]:
    tip = ledger.tip()
    if tip is None:
        return
    if subject is None:
        for commit in ledger.store.history(tip):
            yield commit, read(commit.message)
    else:
        path = subject.record.path if subject.record else None
        for touch in history_of(ledger.store, tip, subject.id, path):
            yield touch.commit, touch.message


def _details(commit: Commit, message: Message) -> Iterator[str]:
    """What a commit says beside its subject: titles that went and came, why, by whom, resting on what."""
    yield from said(commit.message)
    if message.reason:
        yield f"why: {message.reason}"
    if message.actor:
        yield f"by: {message.actor}" + (f", session {message.session}" if message.session else "")
    for source in message.sources:
        yield f"evidence: {source}"


def _status(subject: Subject) -> str:
    return str(subject.record.memory.status) if subject.record else "deleted"


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
