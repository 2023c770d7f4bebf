"""`invincat show NAME`: one memory, as it stands in its file, as it stood, or as it was before it was deleted."""

import click

from invincat.app import App
from invincat.cli.grave import Grave, grave_json
from invincat.cli.options import NotFound, ambiguous, find, json_option, scope_option
from invincat.cli.output import app_of, memory_json, print_json, trust_json
from invincat.cli.subject import at_option, find_ever
from invincat.cli.versions import print_versions
from invincat.errors import UsageError
from invincat.governance.hidden import escape_hidden
from invincat.ledger import Ledger
from invincat.memory.lifecycle import describe_end
from invincat.memory.scope import Scope
from invincat.memory.view import Record, file_name
from invincat.revisions import at_revision
from invincat.store.history import Touch


@click.command("show")
@click.argument("name")
@at_option
@click.option("--history", is_flag=True, help="What each commit changed in it, newest first.")
@scope_option
@json_option
@click.pass_context
def command(
    context: click.Context, name: str, at: str | None, history: bool, scope: Scope | None, as_json: bool
) -> None:
    """Show one memory: NAME is a name, an id, or an unambiguous start of either; a deleted one is found, too."""
    if at and history:
        raise UsageError("--at and --history do not go together", next_step="give one of them")
    app = app_of(context)
    if at:
        _show_then(app, name, at, scope, as_json=as_json)
        return
    subject = find_ever(app, name, scope)
    if history:
        print_versions(subject, as_json=as_json)
    elif subject.record:
        _show_now(app, subject.ledger, subject.record, as_json=as_json)
    elif subject.grave:
        _show_grave(subject.ledger, subject.grave, as_json=as_json)


def _show_now(app: App, ledger: Ledger, record: Record, *, as_json: bool) -> None:
    standing = app.standings.of([record])[record.id]
    if as_json:
        print_json({**memory_json(record, standing), **trust_json(record.id, ledger.foreign.memories())})
        return
    mark = f"; {escape_hidden(standing.mark)}" if standing.mark else ""
    click.echo(f"# {record.path}: {describe_end(ledger.view(), record)}{mark}")
    _print_file(ledger, record.blob)


def _show_then(app: App, name: str, at: str, scope: Scope | None, *, as_json: bool) -> None:
    """A memory as it stood at a commit: by the name it had then, or by the id or name it has now."""
    ledgers = [ledger for ledger in app.existing() if scope in (None, ledger.scope)]
    places = at_revision(ledgers, at)
    wanted = file_name(name)
    found = [(ledger, commit, record) for ledger, commit in places for record in ledger.view(commit).matching(wanted)]
    if not found:
        ledger, now = find(app, name, scope)
        then = [(commit, ledger.view(commit).records.get(now.id)) for of, commit in places if of is ledger]
        found = [(ledger, commit, record) for commit, record in then if record]
    if not found:
        raise NotFound(
            f"no memory was called {name!r} at {at}", next_step=f"see `invincat list --status all --at {at}`"
        )
    if len(found) > 1:
        raise ambiguous(name, [(ledger, record) for ledger, _, record in found])
    ledger, commit, record = found[0]
    if as_json:
        standing = app.standings.of([record])[record.id]
        print_json({"at": commit, **memory_json(record, standing)})
        return
    click.echo(f"# {record.path} at {commit[:7]}: {describe_end(ledger.view(commit), record)}")
    _print_file(ledger, record.blob)


def _show_grave(ledger: Ledger, grave: Grave, *, as_json: bool) -> None:
    """When it was deleted, why and by whom, and its last text."""
    marker, touch, _ = grave
    if as_json:
        print_json(grave_json(grave))
        return
    label = touch.before.path if touch else marker.path
    by = f" by {_actor(touch)} in {touch.commit.id[:7]}" if touch else ""
    click.echo(escape_hidden(f"# {label}: {grave.fate} on {marker.updated_at:%Y-%m-%d}{by}: {marker.reason}"))
    if touch and touch.before.blob:
        _print_file(ledger, touch.before.blob)


def _actor(touch: Touch) -> str:
    actor = touch.message.actor
    return f"{touch.commit.author.name} ({actor})" if actor else touch.commit.author.name


def _print_file(ledger: Ledger, blob: str) -> None:
    click.echo(escape_hidden(ledger.store.read_blob(blob).decode("utf-8", "replace")), nl=False)
