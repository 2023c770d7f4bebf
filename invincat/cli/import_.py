"""`invincat import [FILE...]`: the rules that a repository already writes down."""

from typing import Final

import click

from invincat.app import App
from invincat.cli.grave import End, ends_of
from invincat.cli.options import json_option
from invincat.cli.output import app_of, counted, outcome_json, print_json, say
from invincat.errors import ConfigurationError
from invincat.governance.hidden import escape_hidden
from invincat.intake import Imported, import_conventions
from invincat.memory.content import clip, one_line
from invincat.outcome import EXIT_CODES, Outcome
from invincat.store.source import Source

# So much of a rule's text names it in a line.
MAX_WORDS: Final = 60


@click.command("import")
@click.argument("files", nargs=-1)
@click.option("--dry-run", is_flag=True, help="Say what would happen.")
@json_option
@click.pass_context
def command(context: click.Context, files: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Take over rules from FILEs, by default all convention files. Running it again changes only what changed."""
    app = app_of(context)
    imported = run_import(app, files, dry_run=dry_run)
    if as_json:
        print_json(import_json(app, imported))
    else:
        print_import(app, imported)
    raise click.exceptions.Exit(exit_code(imported))


def run_import(app: App, files: tuple[str, ...] = (), *, dry_run: bool = False) -> Imported:
    """Import the convention files of the app's repository; ConfigurationError without one."""
    source = require_files(app)
    paths = [app.place.repository_path(file) for file in files]
    return import_conventions(app.project, source, app.origin("import"), app.grounds(), paths, dry_run=dry_run)


def require_files(app: App) -> Source:
    """Where the files to import from stand: ConfigurationError outside of git."""
    if app.source is None:
        step = "run it in the repository, or write rules down one by one with `invincat remember`"
        raise ConfigurationError(
            "an import reads the files of a git repository, and there is none here", next_step=step
        )
    return app.source


def exit_code(imported: Imported) -> int:
    """That of the outcome; 4 when every rule there is was refused, 0 when only some were."""
    if imported.outcome is None:
        is_all = bool(imported.refused) and len(imported.refused) >= sum(imported.rules.values())
        return EXIT_CODES["rejected"] if is_all else 0
    return EXIT_CODES[imported.outcome.verdict]


def import_json(app: App, imported: Imported) -> dict[str, object]:
    """An import as JSON."""
    ends = _ends(app, imported)
    return {
        "rules": imported.rules,
        "outcome": outcome_json(imported.outcome) if imported.outcome else None,
        "refused": imported.refused,
        "archive_proposals": [outcome_json(outcome) for outcome in imported.archive],
        "skipped": imported.skipped,
        "kept_out": [
            {"at": rule.at, "words": rule.words, "id": rule.id, **ends[rule.id]._asdict()} for rule in imported.kept_out
        ],
    }


def print_import(app: App, imported: Imported) -> None:
    """Files and their rules, what changed, what was refused, what stays out, what waits."""
    for path, count in imported.rules.items():
        click.echo(f"{path}: {counted(count, 'rule', 'rules')}")
    for path, why in imported.skipped.items():
        click.echo(f"{path}: skipped, {why}", err=True)
    if not (imported.rules or imported.skipped or imported.archive):
        click.echo("no convention files here (AGENTS.md, CLAUDE.md, CONTRIBUTING, ...)")
    say(_what_changed(imported.outcome))
    for done in imported.outcome.operations if imported.outcome else ():
        if done.successor:
            say(f"  {done.name} is replaced by {done.successor}")
    for reason in imported.refused:
        place = f"{reason.field}: " if reason.field else ""
        click.echo(escape_hidden(f"left out: {place}{reason.message}"), err=True)
    _print_kept_out(app, imported)
    if fresh := [held for held in imported.archive if not held.known]:
        what = counted(len(fresh), "rule is gone from its file", "rules are gone from their files")
        waits = (
            "archiving them would wait for review" if fresh[0].dry_run else "archiving waits in `invincat review list`"
        )
        click.echo(f"{what}; {waits}")
    if known := sum(held.known for held in imported.archive):
        click.echo(f"{counted(known, 'rule', 'rules')} no longer in a file: archiving was proposed before")


def _what_changed(outcome: Outcome | None) -> str:
    if outcome and outcome.verdict == "held":
        return f"held as proposal {outcome.proposal or '(dry run)'}; see `invincat review list`"
    ops = [done.op for done in outcome.operations] if outcome else []
    created, replaced = ops.count("create"), ops.count("supersede")
    if outcome is None or not (created or replaced):
        return "nothing changed"
    commit = outcome.after[:7] if outcome.after else "-------"
    dry = " (dry run: nothing was written)" if outcome.dry_run else ""
    where = f"{outcome.scope} memory of {outcome.repository}"
    return f"{counted(created, 'memory', 'memories')} created, {replaced} superseded  {commit}  {where}{dry}"


def _print_kept_out(app: App, imported: Imported) -> None:
    """Rules that stay out although a file says them, each with how to bring it back."""
    if imported.kept_out:
        click.echo(f"{counted(len(imported.kept_out), 'rule', 'rules')} kept out: what said so has ended")
    ends = _ends(app, imported)
    for rule in imported.kept_out:
        end = ends[rule.id]
        words = clip(one_line(rule.words), MAX_WORDS)
        step = f'`invincat restore {end.name} --reason "..."` brings it back'
        click.echo(escape_hidden(f'kept out: {rule.at} "{words}": {end}; {step}'), err=True)


def _ends(app: App, imported: Imported) -> dict[str, End]:
    return ends_of(app.project, {rule.id for rule in imported.kept_out}) if imported.kept_out else {}
