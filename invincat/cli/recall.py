"""`invincat recall QUERY`: search."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import click
import msgspec

from invincat.cli.near import did_you_mean
from invincat.cli.options import Among, json_option, scope_option
from invincat.cli.output import app_of, print_json, readable, say, trust_json
from invincat.memory.entry import Kind, Status
from invincat.memory.scope import Scope
from invincat.recall.hit import Hit, Results
from invincat.recall.query import Query
from invincat.store.revision import TIMES, moment_of


@click.command("recall")
@click.argument("query", nargs=-1, required=True)
@click.option("-n", "limit", type=click.IntRange(1, 100), default=10, help="At most so many; by default 10.")
@scope_option
@click.option("--section", metavar="SECTION", help="Only this section.")
@click.option("--kind", type=Among(Kind), help="Only this kind.")
@click.option("--path", "paths", metavar="PATH", multiple=True, help="A file or folder in play; repeatable.")
@click.option("--as-of", "as_of", metavar="TIME", help="What held then, as known today.")
@click.option("--at", metavar="REV", help="What the store said then: a memory commit, a ref or a time.")
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
    paths: tuple[str, ...],
    as_of: str | None,
    at: str | None,
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
        as_of=_time(as_of) if as_of else None,
    )
    app = app_of(context)
    readable(app, scope)
    results = app.search.recall(asked, _progress, paths=paths, at=at)
    untrusted = app.untrusted()
    if as_json:
        print_json(_answer(asked.text, results, untrusted))
        return
    if results.degraded:
        click.echo(f"degraded: {results.degraded}", err=True)
    for hit in results.hits:
        for line in _lines(hit, untrusted):
            say(line)
    if not results.hits:
        limits = [name for name, value in _limits(asked, at).items() if value]
        within = f" with {' and '.join(limits)}; try it without" if limits else did_you_mean(app, asked.text)
        click.echo(f"nothing found{within}", err=True)


def _limits(asked: Query, at: str | None) -> dict[str, object]:
    """The options that keep memories out, where they were given."""
    return {
        "--scope": asked.scope,
        "--section": asked.section,
        "--kind": asked.kind,
        "--as-of": asked.as_of,
        "--at": at,
    }


def _lines(hit: Hit, untrusted: frozenset[str]) -> Iterator[str]:
    """A hit as people read it."""
    states = [
        hit.status if hit.status != Status.ACTIVE else "",
        hit.mark,
        "not accepted" if hit.id in untrusted else "",
    ]
    yield " ".join([hit.title, *(f"[{state}]" for state in states if state)])
    yield f"  {hit.path}  {hit.kind}, {hit.tier}; {'; '.join(hit.why)}"
    line = [("replaces", hit.predecessor), ("replaced by", hit.successor)]
    if told := [f"{what} {name}" for what, name in line if name]:
        yield f"  {', '.join(told)}"
    if hit.snippet:
        yield f"  {hit.snippet}"


def _time(text: str) -> datetime:
    """Of a date its last second; UsageError for what is no time."""
    if (time := moment_of(text)) is None:
        raise click.UsageError(f"--as-of: {text!r} is no time like {TIMES}; for a commit or a ref use --at")
    return time


def _progress(done: int, total: int) -> None:
    """Tell a person who waits for a first index; a program that reads stdout is not disturbed."""
    if total >= 2000 and (done == total or done % 1000 == 0):
        click.echo(f"\rindexing {done} of {total}", nl=done == total, err=True)


def _answer(query: str, results: Results, untrusted: frozenset[str]) -> dict[str, Any]:
    """The answer as JSON (CLI)."""
    hits = [{**msgspec.to_builtins(hit), **trust_json(hit.id, untrusted)} for hit in results.hits]
    return {
        "query": query,
        "at": results.at,
        "degraded": results.degraded,
        "total": results.total,
        "hits": hits,
    }
