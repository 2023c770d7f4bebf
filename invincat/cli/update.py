"""`invincat update NAME`: the same belief, said or rated better."""

from typing import Any

import click

from invincat.cli.options import Among, claim_fields, find, json_option, propose, scope_option
from invincat.cli.output import app_of, finish
from invincat.memory.entry import Confidence, Kind, Tier, Verdict
from invincat.memory.scope import Scope


@click.command("update")
@click.argument("name")
@click.option("--content", metavar="TEXT", help="The new text; what is claimed must stay the same.")
@click.option("--title", metavar="TEXT", help="The claim in one line.")
@click.option("--applies-to", multiple=True, metavar="GLOB", help="Paths it is about, from the root; replaces all.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Replaces all.")
@click.option("--evidence", multiple=True, metavar="PATH#L1-L2", help="What it rests on; replaces all.")
@click.option("--confidence", type=Among(Confidence))
@click.option("--tier", type=Among(Tier))
@click.option("--score", type=int, metavar="0..100")
@click.option("--verdict", type=Among(Verdict), help="What was found about its truth; asks for --reason.")
@click.option("--kind", type=Among(Kind), help="A person's to say; asks for --reason.")
@click.option("--check", metavar="CMD", help="Tells whether it is kept; '' takes it away. Asks for --reason.")
@click.option("--reason", metavar="WHY", help="Why; it stands in the log.")
@scope_option
@click.option("--dry-run", is_flag=True, help="Say what would happen.")
@json_option
@click.pass_context
def command(
    context: click.Context, /, name: str, scope: Scope | None, dry_run: bool, as_json: bool, **given: Any
) -> None:
    """Reword or rate a memory. When what is claimed changes, use `supersede`."""
    app = app_of(context)
    fields = claim_fields(app, given)
    if not fields.keys() - {"reason"}:
        raise click.UsageError("give what to change, such as --content TEXT, --tag TAG or --score 0..100")
    ledger, record = find(app, name, scope)
    op = "set" if "kind" in fields or "check" in fields else "update"
    if op == "set" and "reason" not in fields:
        raise click.UsageError("--kind and --check ask for --reason")
    operation = {"op": op, "id": record.id, **fields}
    finish(propose(app, ledger, operation, dry_run=dry_run), as_json=as_json)
