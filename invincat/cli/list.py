"""`invincat list`: memories, by section."""

from collections.abc import Mapping, Sequence

import click

from invincat.cli.grave import deleted, grave_json
from invincat.cli.options import json_option, scope_option
from invincat.cli.output import app_of, describe, memory_json, print_json, print_jsonl, readable, say, trust_json
from invincat.cli.subject import at_option
from invincat.governance.grounding import Standing
from invincat.ledger import Ledger
from invincat.memory.entry import Status
from invincat.memory.naming import section_slug
from invincat.memory.scope import Scope
from invincat.memory.view import Record
from invincat.revisions import places


@click.command("list")
@click.option(
    "--status",
    type=click.Choice([*map(str, Status), "deleted", "all"]),
    default="active",
    help="By default active; all: but those deleted.",
)
@at_option
@click.option("--section", metavar="SECTION", help="Only this section.")
@scope_option
@json_option
@click.option("--jsonl", is_flag=True, help="Print one JSON object a line.")
@click.pass_context
def command(
    context: click.Context,
    status: str,
    at: str | None,
    section: str | None,
    scope: Scope | None,
    as_json: bool,
    jsonl: bool,
) -> None:
    """List memories by section: tier, kind, title, name. Of deleted ones: when and why they went."""
    app = app_of(context)
    asked_of = places(readable(app, scope), at)
    if status == "deleted":
        _list_deleted(asked_of, as_json=as_json, jsonl=jsonl)
        return
    records = [
        record
        for ledger, commit in asked_of
        for record in sorted(app.view(ledger, commit), key=_order)
        if status in ("all", record.memory.status)
        and (section is None or section_slug(section) == section_slug(record.memory.section))
    ]
    standings, untrusted = app.standings.of(records), app.untrusted()
    if not (jsonl or as_json):
        _print(records, standings, untrusted)
        return
    memories = ({**memory_json(record, standings[record.id]), **trust_json(record.id, untrusted)} for record in records)
    if jsonl:
        print_jsonl(memories)
    else:
        print_json({"at": asked_of[0][1], "memories": list(memories)})


def _list_deleted(asked_of: Sequence[tuple[Ledger, str | None]], *, as_json: bool, jsonl: bool) -> None:
    graves = [grave for ledger, commit in asked_of for grave in deleted(ledger, commit)]
    if jsonl:
        print_jsonl(map(grave_json, graves))
    elif as_json:
        print_json({"at": asked_of[0][1], "memories": [grave_json(grave) for grave in graves]})
    else:
        for grave in graves:
            title = f"{grave.last.memory.title}  " if grave.last else ""
            line = f"{grave.marker.id}  {grave.marker.updated_at:%Y-%m-%d}  {title}({grave.name})  {grave.fate}"
            say(f"{line}: {grave.marker.reason}")
        if not graves:
            click.echo("no memory matches", err=True)


def _order(record: Record) -> tuple[str, int, str]:
    return record.memory.section.casefold(), -record.memory.score, record.name


def _print(records: list[Record], standings: Mapping[str, Standing], untrusted: frozenset[str]) -> None:
    heading = None
    for record in records:
        memory = record.memory
        if heading != (heading := (memory.scope, memory.section)):
            say(memory.section + (" (yours)" if memory.scope is Scope.USER else ""))
        state = "" if memory.is_active else f"  [{memory.status}]"
        state += f"  [{mark}]" if (mark := standings[record.id].mark) else ""
        state += "  [only here]" if memory.project else ""
        state += "  [not accepted]" if record.id in untrusted else ""
        say(f"  {describe(memory)}  ({record.name}){state}")
    if not records:
        click.echo("no memory matches", err=True)
