"""`invincat brief`: the briefing as it would be injected."""

import click

from invincat.cli.options import json_option
from invincat.cli.output import app_of, print_json, readable

MAX_NAMED = 20


@click.command("brief")
@click.option("--path", "paths", multiple=True, metavar="P", help="A file in play; may be repeated.")
@click.option("--prompt", metavar="TEXT", help="A message: what is told beside it comes after the briefing.")
@json_option
@click.pass_context
def command(context: click.Context, paths: tuple[str, ...], prompt: str | None, as_json: bool) -> None:
    """Show what a model would be told now, and on stderr what was left out."""
    from invincat.context.briefing import beside  # noqa: PLC0415 - `brief --help` needs none of it

    app = app_of(context)
    readable(app)
    briefing = app.briefing([app.place.repository_path(path) for path in paths])
    shown = {record.id for record in briefing.shown}
    told = app.search.beside(prompt, paths, shown) if prompt else []
    text = briefing.text + beside(told)
    left_out = [record.name for record in briefing.left_out if record not in told]
    if as_json:
        fields = {"text": text, "shown": [record.name for record in briefing.shown]}
        beside_it = {"beside": [record.name for record in told]} if prompt is not None else {}
        print_json({**fields, **beside_it, "left_out": left_out, "total": briefing.total})
        return
    click.echo(text, nl=False)
    if left_out:
        more = f" and {len(left_out) - MAX_NAMED} more" if len(left_out) > MAX_NAMED else ""
        click.echo(f"left out: {', '.join(left_out[:MAX_NAMED])}{more}", err=True)
    elif not briefing.total:
        click.echo("nothing to tell: no active memory is hot or warm", err=True)
