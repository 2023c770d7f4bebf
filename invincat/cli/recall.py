"""`invincat recall QUERY`: search."""

from collections.abc import Mapping
from typing import Any

import click
import msgspec

from invincat.cli.options import Among, json_option, scope_option
from invincat.cli.output import app_of, print_json, trust_json
from invincat.governance.grounding import Standing
from invincat.governance.hidden import escape_hidden
from invincat.memory.entry import Kind
from invincat.memory.scope import Scope
from invincat.recall.hit import Results
from invincat.recall.query import Query


@click.command("recall")
@click.argument("query", nargs=-1, required=True)
@click.option("-n", "limit", type=click.IntRange(1, 100), default=10, help="At most so many; by default 10.")
@scope_option
@click.option("--section", metavar="SECTION", help="Only this section.")
@click.option("--kind", type=Among(Kind), help="Only this kind.")
@click.option("--all", "include_retired", is_flag=True, help="Retired ones, too.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    query: tuple[str, ...],
    limit: int,
    scope: Scope | None,
    section: str | None,
    kind: Kind | None,
    include_retired: bool,
    as_json: bool,
) -> None:
    """Search the memories in any words; any of them may match."""
    asked = Query(
        text=" ".join(query),
        limit=limit,
        scope=scope,
        section=section,
        kind=kind,
        include_retired=include_retired,
    )
    app = app_of(context)
    results = app.recall(asked, _progress)
    if as_json:
        print_json(_answer(asked.text, results, app.standing(results.hits), app.untrusted()))
        return
    if results.degraded:
        click.echo(f"degraded: {results.degraded}", err=True)
    standings, untrusted = app.standing(results.hits), app.untrusted()
    for hit in results.hits:
        state = "" if hit.status == "active" else f" [{hit.status}]"
        state += f" [{mark}]" if (mark := standings[hit.id].mark) else ""
        state += " [not accepted]" if hit.id in untrusted else ""
        click.echo(escape_hidden(f"{hit.title}{state}"))
        click.echo(escape_hidden(f"  {hit.path}  {hit.kind}, {hit.tier}; {'; '.join(hit.why)}"))
        if hit.snippet:
            click.echo(escape_hidden(f"  {hit.snippet}"))
    if not results.hits:
        click.echo("nothing found", err=True)


def _progress(done: int, total: int) -> None:
    """Tell a person who waits for a first index; a program that reads stdout is not disturbed."""
    if total >= 2000 and (done == total or done % 1000 == 0):
        click.echo(f"\rindexing {done} of {total}", nl=done == total, err=True)


def _answer(
    query: str, results: Results, standings: Mapping[str, Standing], untrusted: frozenset[str]
) -> dict[str, Any]:
    """The answer as JSON; whether each hit holds here is asked now (CLI)."""
    hits = []
    for hit in results.hits:
        plain: dict[str, Any] = msgspec.to_builtins(hit)
        holds = standings[hit.id].holds.value
        hits.append({**plain, "holds": holds, "evidence": plain["evidence"], **trust_json(hit.id, untrusted)})
    return {
        "query": query,
        "at": results.at,
        "degraded": results.degraded,
        "total": results.total,
        "hits": hits,
    }
