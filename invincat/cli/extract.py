"""`invincat extract`: learn from a transcript or a commit, with the rules extractor."""

import sys
from pathlib import Path

import click

from invincat.cli.options import json_option
from invincat.cli.output import app_of, finish_all
from invincat.errors import UserError
from invincat.extraction.extractor import read_transcript
from invincat.intake import extract_commit, extract_transcript


@click.command("extract")
@click.option("--transcript", type=click.Path(path_type=Path), metavar="FILE", help="JSON lines; - is stdin.")
@click.option("--commit", "rev", metavar="REV", help="Its Memory: trailers.")
@click.option("--session", metavar="ID", help="The session the transcript is of.")
@click.option("--extractor", type=click.Choice(["rules"]), default="rules", help="Without a model: rules.")
@click.option("--dry-run", is_flag=True, help="Say what would happen.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    transcript: Path | None,
    rev: str | None,
    session: str | None,
    extractor: str,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Commit what was explicitly asked for, hold everyday standing rules for review, leave the rest."""
    if (transcript is None) == (rev is None):
        raise click.UsageError("give one of --transcript FILE and --commit REV")
    app = app_of(context)
    if rev is not None and app.source and (what := app.source.in_progress()):
        click.echo(f"{what} is in progress: nothing was extracted; run it again when that is over", err=True)
        finish_all([], as_json=as_json)
    origin = app.origin(extractor, session)
    if transcript is not None:
        messages = read_transcript(_text(transcript))
        key = app.project_key
        outcomes = extract_transcript(messages, app.ledger, origin, app.grounds, key, dry_run=dry_run)
    else:
        commit = app.source.commit(rev or "") if app.source else None
        if commit is None:
            raise UserError("there is no such commit in this repository", where=rev)
        outcomes = extract_commit(commit, app.ledger, origin, app.grounds(), dry_run=dry_run)
    if not outcomes:
        click.echo("nothing to learn", err=True)
    finish_all(outcomes, as_json=as_json)


def _text(path: Path) -> str:
    try:
        if str(path) == "-":
            return sys.stdin.buffer.read().decode("utf-8")
        return path.read_text(encoding="utf-8")
    except OSError as fault:
        raise UserError(f"cannot be read: {fault.strerror}", where=str(path)) from None
    except UnicodeDecodeError:
        raise UserError("is not UTF-8", where=str(path)) from None
