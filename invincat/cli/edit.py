"""`invincat edit NAME`: a memory in the person's own editor; what is saved goes through the gate."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import click

from invincat.app import App
from invincat.cli.options import find, json_option, propose, scope_option
from invincat.cli.output import app_of, finish
from invincat.errors import ConfigurationError, UserError
from invincat.governance.hidden import escape_hidden
from invincat.ledger import Ledger
from invincat.memory.frontmatter import MAX_FILE, is_fenced
from invincat.memory.scope import Scope
from invincat.memory.sheet import Sheet, read_sheet, write_sheet
from invincat.memory.view import Record
from invincat.memory.yaml_scan import MalformedFile
from invincat.outcome import EXIT_CODES, Outcome
from invincat.paths import make_private
from invincat.store.leftovers import EDITS


@click.command("edit")
@click.argument("name")
@click.option("--from", "file", type=click.File("rb"), metavar="FILE", help="Take FILE (- is stdin), open no editor.")
@click.option("--reason", metavar="WHY", default="", help="Why; by default what the file says, or: edited by hand.")
@scope_option
@json_option
@click.pass_context
def command(
    context: click.Context, /, name: str, file: BinaryIO | None, reason: str, scope: Scope | None, as_json: bool
) -> None:
    """Open a memory in your editor (git's choice: GIT_EDITOR, core.editor, VISUAL, EDITOR) and take what is saved.

    Whatever changed is one operation. What is refused is kept in a file; nothing that was typed is lost. With --from,
    FILE is the sheet as the editor shows it, or, when it does not begin with `---`, the new text.
    """
    app = app_of(context)
    ledger, record = find(app, name, scope)
    if file is not None:
        finish(_from_file(app, ledger, record, file, reason), as_json=as_json)
    before = write_sheet(record, reason)
    with _draft(app.state_of(ledger) / EDITS, record.name, before) as draft:
        _open_editor(app.directory, draft)
        after = _read(draft)
        sheet = _sheet(draft, after, record) if after.strip() not in {"", before.strip()} else None
        if sheet is None or not sheet.changes:
            outcome = _nothing(ledger, record)
        else:
            operation = {"op": "set", "id": record.id, "reason": "edited by hand", **sheet.changes}
            outcome = propose(app, ledger, operation, seen=record)
            if outcome.verdict == "rejected":
                if as_json:
                    finish(outcome, as_json=True)
                _explain(outcome, sheet, draft)
                raise click.exceptions.Exit(EXIT_CODES["rejected"])
    finish(outcome, as_json=as_json)


def _from_file(app: App, ledger: Ledger, record: Record, file: BinaryIO, reason: str) -> Outcome:
    """What a file changes; UserError with its line for what is no sheet."""
    where = getattr(file, "name", "<stdin>")
    try:
        text = file.read(MAX_FILE + 1).decode("utf-8")
    except UnicodeDecodeError:
        raise UserError("is not UTF-8; nothing was changed", where=where) from None
    if len(text) > MAX_FILE or not text.strip():
        fault = "is empty" if not text.strip() else f"is larger than {MAX_FILE} bytes"
        raise UserError(f"{fault}; nothing was changed", where=where)
    changes = _sheet(Path(where), text, record).changes if is_fenced(text) else {"content": text}
    if not changes:
        return _nothing(ledger, record)
    told = {"reason": reason} if reason else {}
    return propose(
        app, ledger, {"op": "set", "id": record.id, "reason": "edited by hand", **changes, **told}, seen=record
    )


@contextmanager
def _draft(place: Path, name: str, text: str) -> Iterator[Path]:
    """A file to edit, in a folder that only this person can read; kept where an exception finds it changed.

    What a killed process leaves there a purge cleans, and the doctor finds.
    """
    make_private(place)
    folder = Path(tempfile.mkdtemp(dir=place))
    path = folder / f"{name}.md"
    path.touch(0o600)
    path.write_text(text, "utf-8", newline="\n")
    try:
        yield path
    except BaseException:
        if path.is_file() and path.read_bytes() != text.encode():
            click.echo(f"what you wrote is kept in {path}", err=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)


def _open_editor(directory: Path, path: Path) -> None:
    """Run the editor that git would; UserError when it fails, ConfigurationError when there is none."""
    asked = subprocess.run(["git", "var", "GIT_EDITOR"], cwd=directory, capture_output=True, text=True, check=False)
    editor = asked.stdout.strip()
    if asked.returncode or not editor:
        raise ConfigurationError("there is no editor", next_step="set VISUAL or EDITOR")
    # As git does: the shell splits the command, the path is one word whatever is in it.
    done = subprocess.run(["sh", "-c", f'{editor} "$@"', editor, path], check=False)
    if done.returncode:
        raise UserError(f"the editor failed with {done.returncode}; nothing was changed", where=editor)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as fault:
        raise UserError(f"cannot be read: {fault.strerror}; nothing was changed", where=str(path)) from None
    except UnicodeDecodeError:
        raise UserError("is not UTF-8; nothing was changed", where=str(path)) from None


def _sheet(path: Path, text: str, record: Record) -> Sheet:
    try:
        return read_sheet(text, record)
    except MalformedFile as fault:
        raise UserError(f"{fault}; nothing was changed", where=f"{path}:{fault.line}") from None


def _nothing(ledger: Ledger, record: Record) -> Outcome:
    tip = ledger.tip()
    return Outcome(
        verdict="noop",
        repository=ledger.store.location,
        scope=ledger.scope,
        before=tip,
        after=tip,
        hint=f"{record.name} was left as it is",
    )


def _explain(outcome: Outcome, sheet: Sheet, path: Path) -> None:
    """Each reason with the line of the file that it is about."""
    for reason in outcome.reasons:
        line = sheet.line_of(reason.field)
        place = f"{path}:{line}" if line else str(path)
        click.echo(escape_hidden(f"refused: {place}: {reason.plain}"), err=True)
