"""What commands print: plain words for people, JSON for programs; refusals on stderr."""

import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

import click
import msgspec

from invincat.app import App
from invincat.errors import InvincatError
from invincat.governance.grounding import Standing
from invincat.governance.hidden import escape_hidden
from invincat.ledger import Ledger
from invincat.memory.entry import Memory, format_time
from invincat.memory.scope import Scope
from invincat.memory.view import Record
from invincat.outcome import EXIT_CODES, Done, Outcome

# What moves a terminal's cursor, turns the direction of text, or ends a line for some readers.
_UNSEEN: Final = re.compile("[\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def app_of(context: click.Context) -> App:
    """The app for the directory of `-C`, or the project of `--project`.

    What could not be read is told when the command is done, on stderr: nobody may take the rest for all there is. A
    command that failed has its own line.
    """
    directory: Path | None = context.obj
    if directory is not None and not directory.is_dir():
        raise click.UsageError(f"-C: there is no directory {directory}")
    app = App.at(directory, project=context.meta.get("project"))
    if context.parent is not None and context.info_name not in {"check", "doctor"}:
        context.call_on_close(lambda: _tell(app))
    return app


def _tell(app: App) -> None:
    if isinstance(sys.exc_info()[1], InvincatError):
        return
    for line in app.notices():
        click.echo(escape_hidden(line), err=True)


def readable(app: App, scope: Scope | None = None) -> list[Ledger]:
    """The stores to read; a person is told when the project's is not among them."""
    ledgers = app.readable(scope)
    if scope is None and app.is_without_store():
        click.echo(
            f"note: {app.no_store_message()}; only your own memories are read until you run `invincat init`", err=True
        )
    return ledgers


def print_json(value: Any) -> None:
    """One object, indented, keys in the order given."""
    click.echo(msgspec.json.format(_json(value), indent=2))


def print_jsonl(values: Iterable[Any]) -> None:
    """One object a line."""
    for value in values:
        click.echo(_json(value))


def _json(value: Any) -> str:
    """JSON that a terminal shows as it is: there are such characters in strings only, where an escape is the same."""
    text = msgspec.json.encode(value, enc_hook=_encode).decode()
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _encode(value: Any) -> Any:
    raise NotImplementedError(f"{type(value)} has no JSON form")


def memory_json(record: Record, standing: Standing) -> dict[str, Any]:
    """A memory as JSON: every front matter key, and name, path, status, body, holds, blob (CLI)."""
    memory = record.memory
    plain = msgspec.to_builtins(memory)
    for key in ("created_at", "updated_at", "last_scored_at", "valid_from", "invalid_at"):
        time = getattr(memory, key)
        plain[key] = format_time(time) if time else None
    body, tombstone = plain.pop("body"), plain.pop("tombstone")
    unknown = {key.key: key.text for key in memory.unknown}
    return {
        **{key: value for key, value in plain.items() if key != "unknown"},
        **({"unknown": unknown} if unknown else {}),
        "name": record.name,
        "path": record.path,
        "status": str(memory.status),
        "body": body,
        "tombstone": tombstone,
        "holds": standing.holds.value,
        "blob": record.blob,
    }


def trust_json(id: str, untrusted: frozenset[str]) -> dict[str, bool]:
    """What the JSON of a memory says when it came past the gate and nobody has accepted it (RULES 10)."""
    return {"untrusted": True} if id in untrusted else {}


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """An outcome as JSON; what belongs to one verdict only is left out of the others."""
    plain: dict[str, Any] = msgspec.to_builtins(outcome)
    optional = {"kept": None, "still_active": None, "dry_run": False, "known": False}
    return {key: value for key, value in plain.items() if key not in optional or value != optional[key]}


def finish(outcome: Outcome, *, as_json: bool, is_batch: bool = False) -> NoReturn:
    """Print one outcome and exit with its code; reasons of a batch name operation and rule."""
    if as_json:
        print_json(outcome_json(outcome))
    else:
        print_outcome(outcome, is_batch=is_batch)
    sys.stdout.flush()
    raise click.exceptions.Exit(EXIT_CODES[outcome.verdict])


def finish_all(outcomes: Sequence[Outcome], *, as_json: bool) -> NoReturn:
    """Print several outcomes and exit with the code of the gravest."""
    if as_json:
        print_json({"outcomes": [outcome_json(outcome) for outcome in outcomes]})
    else:
        for outcome in outcomes:
            print_outcome(outcome)
    sys.stdout.flush()
    verdicts = {outcome.verdict for outcome in outcomes}
    raise click.exceptions.Exit(next((code for verdict, code in EXIT_CODES.items() if verdict in verdicts), 0))


def print_outcome(outcome: Outcome, *, is_batch: bool = False) -> None:
    """Names, short commits, repository and scope; reasons of what did not go through on stderr."""
    where = f"{outcome.scope} memory of {outcome.repository}"
    dry = " (dry run: nothing was written)" if outcome.dry_run else ""
    for done in outcome.operations:
        if done.op != "noop":
            click.echo(f"{_operation(done, outcome)}  {where}{dry}")
    if outcome.verdict == "held":
        click.echo(f"held as proposal {outcome.proposal or '(dry run)'}; see `invincat review list`")
    if outcome.verdict == "noop":
        click.echo(f"nothing to do: {outcome.hint or 'no operation changes anything'}")
    elif outcome.hint:
        click.echo(f"note: {outcome.hint}")
    for reason in outcome.reasons:
        word = {"rejected": "refused", "held": "held", "failed": "failed"}.get(outcome.verdict, "note")
        kept = f"; {outcome.kept} is kept" if outcome.verdict == "failed" else ""
        click.echo(escape_hidden(f"{word}: {reason if is_batch else reason.plain}{kept}"), err=True)


def _operation(done: Done, outcome: Outcome) -> str:
    verb = f"would {done.op}" if outcome.dry_run or outcome.verdict == "held" else done.op
    by = f" by {done.successor}" if done.successor else ""
    rated = f": {done.tier}, {done.score}" if done.tier else ""
    moved = "".join(f" ({path} is now {to})" for path, to in (done.renamed or {}).items())
    commit = f"  {done.commit[:7]}" if done.commit else ""
    return f"{verb} {done.name}{by}{rated}{commit}{moved}"


def say(line: str, indent: int = 4) -> None:
    """A line for people, hidden characters escaped; on a terminal broken between words, what follows indented."""
    line = escape_hidden(line)
    if sys.stdout.isatty():
        width = max(shutil.get_terminal_size().columns, 2 * indent)
        words = line.lstrip()
        rows = textwrap.wrap(
            words,
            width,
            initial_indent=" " * (len(line) - len(words)),
            subsequent_indent=" " * indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        line = "\n".join(rows)
    click.echo(line)


def describe(memory: Memory) -> str:
    """The line of a memory in lists: tier, kind, title."""
    return f"{memory.tier:<4}  {memory.kind:<10}  {memory.title}"


def counted(number: int, one: str, many: str) -> str:
    """`1 rule`, `2 rules`."""
    return f"{number} {one if number == 1 else many}"
