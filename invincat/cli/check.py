"""`invincat check [REV]`: whether the store is sound."""

from datetime import timedelta
from typing import Final

import click

from invincat.app import App, utc_now
from invincat.cli.options import scope_option
from invincat.cli.output import app_of, counted, print_json, readable
from invincat.errors import UserError
from invincat.governance.check import Finding, check, ungrounded
from invincat.governance.hidden import escape_hidden
from invincat.ledger import Ledger
from invincat.memory.entry import Memory
from invincat.memory.scope import Scope
from invincat.store.base import ObjectMissing
from invincat.store.files import all_files, changed_files

# Clocks of two machines differ, and what is written twice in one second is dated ahead (RULES 6.2).
GRACE: Final = timedelta(minutes=1)


@click.command("check")
@click.argument("rev", required=False)
@scope_option
@click.option("--evidence", is_flag=True, help="Say of which memories the evidence does not stand at HEAD, too.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--format", "form", type=click.Choice(["text", "json", "github"]), default="text")
@click.pass_context
def command(
    context: click.Context, rev: str | None, scope: Scope | None, evidence: bool, form: str, as_json: bool
) -> None:
    """Check every memory and every file of the store, now or at REV. Exit 1 when something is wrong.

    REV is a memory commit, a ref such as origin/invincat/memory, a proposal, or a time.
    """
    app = app_of(context)
    if rev is None:
        chosen = [(ledger, ledger.tip() or "") for ledger in readable(app, scope)]
    else:
        ledger = app.ledger(scope or Scope.PROJECT)
        chosen = [(ledger, _commit(app, ledger, rev))]
    findings, counts = [], []
    for ledger, commit in chosen:
        view = ledger.view(commit)
        counts.append(f"{counted(len(view), 'memory', 'memories')} in the {ledger.scope} store")
        findings += check(
            view, ledger.scope, utc_now() + GRACE, all_files(ledger.store, commit), replaced_by(ledger, commit)
        )
        if evidence:
            findings += ungrounded(view, app.standings.of(view.active()))
    if as_json or form == "json":
        print_json({"ok": not findings, "findings": findings})
    else:
        for finding in findings:
            click.echo(escape_hidden(_github(finding) if form == "github" else _text(finding)))
        if not findings and form == "text":
            click.echo(f"sound: {', '.join(counts)}")
    if findings:
        raise click.exceptions.Exit(1)


def _commit(app: App, ledger: Ledger, rev: str) -> str:
    """The commit that is meant: of the store's history, else whatever git finds, as a branch that CI checked out."""
    try:
        return ledger.resolve(rev)
    except UserError:
        found = app.source.commit(rev) if app.source and ledger.scope is Scope.PROJECT else None
        if found is None:
            raise
        return found.id


def replaced_by(ledger: Ledger, commit: str) -> list[dict[str, Memory]]:
    """For each parent of a commit that is here, the memories by path that the commit changed or removed."""
    found = []
    for parent in ledger.store.commit(commit).parents:
        try:
            old = {change.old: change.path for change in changed_files(ledger.store, parent, commit) if change.old}
        except ObjectMissing:  # a shallow clone ends here
            continue
        found.append({old[blob]: memory for blob, memory in ledger.reader.memories(list(old)).items()})
    return found


def _text(finding: Finding) -> str:
    place = f"{finding.path}:{finding.line}" if finding.line else finding.path
    return f"{place}: {finding.message} ({finding.rule})"


def _github(finding: Finding) -> str:
    """A workflow command; GitHub wants some characters escaped in values."""
    message = f"{finding.message} ({finding.rule})".replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    path = finding.path.replace("%", "%25").replace(",", "%2C").replace(":", "%3A")
    return f"::error file={path},line={max(1, finding.line)}::{message}"
