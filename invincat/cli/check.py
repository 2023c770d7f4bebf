"""`invincat check`: whether the store is sound."""

import click

from invincat.app import utc_now
from invincat.cli.options import scope_option
from invincat.cli.output import app_of, print_json, readable
from invincat.governance.check import Finding, check
from invincat.governance.hidden import escape_hidden
from invincat.memory.scope import Scope
from invincat.store.tree import all_files


@click.command("check")
@scope_option
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--format", "form", type=click.Choice(["text", "json", "github"]), default="text")
@click.pass_context
def command(context: click.Context, scope: Scope | None, form: str, as_json: bool) -> None:
    """Check every memory and every file of the store. Exit 1 when something is wrong."""
    app = app_of(context)
    ledgers = readable(app, scope)
    findings = [
        found
        for ledger in ledgers
        for found in check(ledger.view(), ledger.scope, utc_now(), all_files(ledger.store, ledger.tip() or ""))
    ]
    if as_json or form == "json":
        print_json({"ok": not findings, "findings": findings})
    else:
        for finding in findings:
            click.echo(escape_hidden(_github(finding) if form == "github" else _text(finding)))
        if not findings and form == "text":
            click.echo(f"sound: {sum(len(ledger.view()) for ledger in ledgers)} memories")
    if findings:
        raise click.exceptions.Exit(1)


def _text(finding: Finding) -> str:
    place = f"{finding.path}:{finding.line}" if finding.line else finding.path
    return f"{place}: {finding.message} ({finding.rule})"


def _github(finding: Finding) -> str:
    """A workflow command; GitHub wants some characters escaped in values."""
    message = f"{finding.message} ({finding.rule})".replace("%", "%25").replace("\n", "%0A")
    path = finding.path.replace("%", "%25").replace(",", "%2C").replace(":", "%3A")
    return f"::error file={path},line={max(1, finding.line)}::{message}"
