"""`invincat import [FILE...]`: the rules that a repository already writes down."""

import click

from invincat.app import App
from invincat.cli.options import json_option
from invincat.cli.output import EXITS, app_of, outcome_json, print_json
from invincat.errors import ConfigurationError
from invincat.governance.hidden import escape_hidden
from invincat.intake import Imported, import_conventions


@click.command("import")
@click.argument("files", nargs=-1)
@click.option("--dry-run", is_flag=True, help="Say what would happen.")
@json_option
@click.pass_context
def command(context: click.Context, files: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Take over rules from FILEs, by default all convention files. Running it again changes only what changed."""
    imported = run_import(app_of(context), files, dry_run=dry_run)
    if as_json:
        print_json(import_json(imported))
    else:
        print_import(imported)
    raise click.exceptions.Exit(exit_code(imported))


def run_import(app: App, files: tuple[str, ...] = (), *, dry_run: bool = False) -> Imported:
    """Import the convention files of the app's repository."""
    if app.source is None:
        raise ConfigurationError("not inside a git repository", next_step="run it in one")
    paths = [app.place.repository_path(file) for file in files]
    return import_conventions(app.project, app.source, app.origin("import"), app.grounds(), paths, dry_run=dry_run)


def exit_code(imported: Imported) -> int:
    """That of the outcome; 4 when every rule there is was refused, 0 when only some were."""
    if imported.outcome is None:
        is_all = bool(imported.refused) and len(imported.refused) >= sum(imported.rules.values())
        return EXITS["rejected"] if is_all else 0
    return EXITS[imported.outcome.verdict]


def import_json(imported: Imported) -> dict[str, object]:
    """An import as JSON."""
    return {
        "rules": imported.rules,
        "outcome": outcome_json(imported.outcome) if imported.outcome else None,
        "refused": imported.refused,
        "archive_proposals": [outcome_json(outcome) for outcome in imported.archive],
        "skipped": imported.skipped,
    }


def print_import(imported: Imported) -> None:
    """Files and their rules, what changed, what was refused, what waits."""
    for path, count in imported.rules.items():
        click.echo(f"{path}: {counted(count, 'rule', 'rules')}")
    for path, why in imported.skipped.items():
        click.echo(f"{path}: skipped, {why}", err=True)
    if not (imported.rules or imported.skipped or imported.archive):
        click.echo("no convention files here (AGENTS.md, CLAUDE.md, CONTRIBUTING, ...)")
    outcome = imported.outcome
    counts: dict[str, int] = {}
    for done in outcome.operations if outcome else ():
        counts[done.op] = counts.get(done.op, 0) + 1
    created, replaced = counts.get("create", 0), counts.get("supersede", 0)
    where = f"{outcome.scope} memory of {outcome.repository}" if outcome else ""
    if outcome and outcome.verdict == "held":
        click.echo(f"held as proposal {outcome.proposal or '(dry run)'}; see `invincat review list`")
    elif created or replaced:
        commit = outcome.after[:7] if outcome and outcome.after else "-------"
        dry = " (dry run: nothing was written)" if outcome and outcome.dry_run else ""
        click.echo(f"{counted(created, 'memory', 'memories')} created, {replaced} superseded  {commit}  {where}{dry}")
    else:
        click.echo("nothing changed")
    for reason in imported.refused:
        click.echo(escape_hidden(f"left out: {reason}"), err=True)
    if fresh := [held for held in imported.archive if not held.known]:
        what = counted(len(fresh), "rule is gone from its file", "rules are gone from their files")
        click.echo(f"{what}; archiving waits in `invincat review list`")
    if known := sum(held.known for held in imported.archive):
        click.echo(f"{counted(known, 'rule', 'rules')} no longer in a file: archiving was proposed before")


def counted(number: int, one: str, many: str) -> str:
    """`1 rule`, `2 rules`."""
    return f"{number} {one if number == 1 else many}"
