"""`invincat brief`: the briefing as it would be injected."""

import click

from invincat.cli.options import json_option
from invincat.cli.output import app_of, print_json

MAX_NAMED = 20


@click.command("brief")
@click.option("--path", "paths", multiple=True, metavar="P", help="A file in play; may be repeated.")
@json_option
@click.pass_context
def command(context: click.Context, paths: tuple[str, ...], as_json: bool) -> None:
    """Show what a model would be told now, and on stderr what was left out."""
    app = app_of(context)
    briefing = app.briefing([app.repository_path(path) for path in paths])
    left_out = [record.name for record in briefing.left_out]
    if as_json:
        shown = [record.name for record in briefing.shown]
        print_json({"text": briefing.text, "shown": shown, "left_out": left_out, "total": briefing.total})
        return
    click.echo(briefing.text, nl=False)
    if left_out:
        more = f" and {len(left_out) - MAX_NAMED} more" if len(left_out) > MAX_NAMED else ""
        click.echo(f"left out: {', '.join(left_out[:MAX_NAMED])}{more}", err=True)
    elif not briefing.total:
        click.echo("nothing to tell: no active memory is hot or warm", err=True)
