"""`invincat purge [MEMORY]`: take a memory, or a text, out of the whole history, and prove it. For people only."""

import sys
from pathlib import Path
from typing import Any

import click

from invincat.app import App, NoStore, utc_now
from invincat.cli.options import NotFound, find, json_option, scope_option
from invincat.cli.output import app_of, counted, print_json
from invincat.errors import InternalError, UserError
from invincat.governance.hidden import escape_hidden
from invincat.ledger import Ledger
from invincat.memory.entry import is_ulid
from invincat.memory.scope import Scope
from invincat.purge import Purged, purge
from invincat.store.git import GitStore
from invincat.store.needle import Needle
from invincat.store.purge import Sought, id_of_name, seek_memory, seek_text

_WORD = "purge"
_OTHERS = (
    "other clones and forks: each runs `invincat purge` with the same words, or is made anew",
    "the host: its caches, pull requests and backups (ask its support)",
    "backups and snapshots of this disk; conversations in other repositories",
)
_ROTATE = "a secret: make a new one, since whoever saw it has it"


@click.command("purge")
@click.argument("memory", required=False)
@click.option("--pattern", metavar="REGEX", help="Replace what this finds, wherever it stands.")
@click.option("--text", metavar="TEXT", help="Replace this text; a secret belongs on --stdin, not into shell history.")
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the text from stdin; at a terminal it is not shown.")
@scope_option
@click.option("--dry-run", is_flag=True, help="Say how much would be rewritten.")
@click.option("--yes", is_flag=True, help="Do not ask; a memory must then be given by its id.")
@json_option
@click.pass_context
def command(
    context: click.Context, /, scope: Scope | None, dry_run: bool, yes: bool, as_json: bool, **given: Any
) -> None:
    """Take a memory, or a text, out of the whole history and out of every cache, and prove that it is gone.

    This cannot be undone: history is written again, without a backup.
    """
    memory: str | None = given["memory"]
    _require_sense(given, yes=yes, dry_run=dry_run)
    app = app_of(context)
    word = _WORD
    if memory is not None:
        ledger, sought, word = _memory(app, memory, scope)
        if yes and not is_ulid(memory):
            raise click.UsageError(f"with --yes a memory is given by its whole id; {word} is {sought.memory}")
        chosen = [(ledger, sought)]
    else:
        needle = Needle.of_pattern(given["pattern"]) if given["pattern"] is not None else _text(given["text"])
        chosen = [(ledger, seek_text(_store(ledger), needle)) for ledger in _stores(app, scope)]
    places = _places(app)
    plans = [purge(_store(ledger), ledger.scope, sought, places, utc_now(), dry_run=True) for ledger, sought in chosen]
    if dry_run:
        _finish(plans, as_json=as_json)
    if not yes:
        _confirm(plans, word)
    if memory is not None:
        click.echo(f"if this is interrupted, run `invincat purge {chosen[0][1].memory}` again", err=True)
    done = [purge(_store(ledger), ledger.scope, sought, places, utc_now()) for ledger, sought in chosen]
    _finish(done, as_json=as_json)


def _require_sense(given: dict[str, Any], *, yes: bool, dry_run: bool) -> None:
    """UsageError for none or several things to purge, and where nobody could be asked."""
    if sum(value not in {None, False} for value in given.values()) != 1:
        raise click.UsageError("give a memory, or --pattern, --text or --stdin")
    if not (yes or dry_run or (sys.stdin.isatty() and sys.stderr.isatty())):
        raise click.UsageError("a purge asks before it begins, and there is no terminal; see --yes and --dry-run")


def _confirm(plans: list[Purged], word: str) -> None:
    for plan in plans:
        click.echo(_summary(plan), err=True)
    answer = click.prompt(f"This cannot be undone. Type {word} to go on", default="", show_default=False, err=True)
    if answer != word:
        raise UserError("nothing was purged")


def _memory(app: App, name: str, scope: Scope | None) -> tuple[Ledger, Sought, str]:
    """The memory that is meant, also a deleted one, and the word that confirms it."""
    try:
        ledger, record = find(app, name, scope)
    except NotFound:
        return _former(app, name, scope)
    return ledger, seek_memory(_store(ledger), record.id), record.name


def _former(app: App, name: str, scope: Scope | None) -> tuple[Ledger, Sought, str]:
    """A memory that is deleted, or of which a purge was interrupted."""
    fault: UserError | None = None
    for ledger in _stores(app, scope):
        store = _store(ledger)
        try:
            id = name if is_ulid(name) else id_of_name(store, name)
            return ledger, seek_memory(store, id), name
        except UserError as refused:
            fault = refused
    assert fault is not None
    raise fault


def _text(text: str | None) -> Needle:
    if text is None:
        hidden = sys.stdin.isatty()
        text = click.prompt("The text", hide_input=True, err=True) if hidden else sys.stdin.read()
    if not text.strip():
        raise click.UsageError("the text is empty")
    return Needle.of_texts([text.strip()])


def _stores(app: App, scope: Scope | None) -> list[Ledger]:
    found = [ledger for ledger in app.existing() if scope in (None, ledger.scope)]
    if not found:
        raise NoStore("there is no memory store to purge", next_step="see `invincat list`")
    return found


def _store(ledger: Ledger) -> GitStore:
    if not isinstance(ledger.store, GitStore):
        raise InternalError("a purge of a store that is not in git")
    return ledger.store


def _places(app: App) -> list[Path]:
    """Where words of conversations and memories stand beside the objects."""
    stores = [_store(ledger).state_dir for ledger in app.existing()]
    return list(dict.fromkeys([*stores, app.state_dir, app.data_dir / "outside", app.data_dir / "history"]))


def _summary(plan: Purged) -> str:
    what = f"memory {plan.memory}" if plan.memory else "the text"
    commits = counted(plan.commits, "commit", "commits")
    proposals = f", {counted(len(plan.proposals), 'proposal', 'proposals')} dropped" if plan.proposals else ""
    files = f", {counted(plan.files, 'file', 'files')} beside it cleaned" if plan.files else ""
    return f"{what}: {commits} rewritten{proposals}{files}  {plan.scope} memory of {plan.repository}"


def _finish(done: list[Purged], *, as_json: bool) -> None:
    if as_json:
        print_json({"purged": done})
    else:
        for one in done:
            click.echo(_summary(one) + (" (dry run: nothing was written)" if one.dry_run else ""))
            if not one.dry_run:
                _tell(one)
        if not all(one.dry_run for one in done):
            _tell_of_others(done)
    raise click.exceptions.Exit(1 if any(one.left for one in done) else 0)


def _tell(one: Purged) -> None:
    if one.before and one.after:
        click.echo(f"{one.before[:7]} -> {one.after[:7]}, {counted(one.objects, 'object', 'objects')} removed")
    if one.proposals:
        click.echo(f"dropped proposals: {', '.join(one.proposals)}")
    if one.left:
        click.echo("NOT proven; it is still here:", err=True)
        for line in one.left:
            click.echo(escape_hidden(f"  {line}"), err=True)
    else:
        click.echo(f"proven: {one.scanned} objects, all refs, logs and files of ours hold nothing of it")


def _tell_of_others(done: list[Purged]) -> None:
    click.echo("what only you and others can do:")
    pushes = (f"publish the new history: {command}" for one in done for command in one.push)
    others = (line for one in done for line in one.others)
    for line in dict.fromkeys((*pushes, *others, *_OTHERS, _ROTATE)):
        click.echo(escape_hidden(f"  {line}"))
