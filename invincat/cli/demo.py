"""`invincat demo`: the whole flow on a scratch clone, offline."""

from pathlib import Path

import click

from invincat.demo import run_demo


@click.command("demo")
@click.pass_context
def command(context: click.Context) -> None:
    """Play the whole flow on a throw-away clone of this repository (or of a sample); nothing of yours is touched."""
    seconds = run_demo(context.obj or Path.cwd(), _show)
    click.echo(f"\nDone in {seconds:.1f} s. The clone is gone. In a repository of yours: `invincat init --import`.")


def _show(text: str) -> None:
    """Titles and commands stand out on a terminal; click leaves colour out of pipes and with NO_COLOR."""
    if text.lstrip("\n").startswith("# "):
        click.secho(text, fg="green")
    elif text.startswith("$ "):
        click.secho(text, bold=True)
    else:
        click.echo(text, nl=False)
