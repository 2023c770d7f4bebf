"""`invincat doctor`: whether everything here is as it should be."""

import click

from invincat.cli.options import json_option
from invincat.cli.output import app_of, print_json, say
from invincat.doctor.examine import examine
from invincat.doctor.line import Line
from invincat.doctor.mend import mend, prune_backups


@click.command("doctor")
@click.option("--repair", is_flag=True, help="Set right what can be set right safely.")
@click.option("--prune-backups", "prune", is_flag=True, help="Drop the tips that were left behind.")
@json_option
@click.pass_context
def command(context: click.Context, repair: bool, prune: bool, as_json: bool) -> None:
    """Examine program, repository, stores and state. Exit 1 when something does not work."""
    app = app_of(context)
    done = [*(mend(app) if repair else []), *(prune_backups(app) if prune else [])]
    lines = examine(app)
    is_well = all(line.status != "fail" for line in (*done, *lines))
    if as_json:
        print_json({"ok": is_well, "done": done, "lines": lines})
    else:
        for line in (*done, *lines):
            say(_text(line), indent=6)
    if not is_well:
        raise click.exceptions.Exit(1)


def _text(line: Line) -> str:
    step = f"; {line.next_step}" if line.next_step else ""
    return f"{line.status:<4}  {line.about}: {line.message}{step}"
