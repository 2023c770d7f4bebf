"""`invincat init`: the store of a repository."""

import click

from invincat.cli.import_ import exit_code, import_json, print_import, run_import
from invincat.cli.options import json_option
from invincat.cli.output import app_of, print_json


@click.command("init")
@click.option("--import", "with_import", is_flag=True, help="Take over the conventions that files write down.")
@json_option
@click.pass_context
def command(context: click.Context, with_import: bool, as_json: bool) -> None:
    """Make the memory store of this repository, if it has none. The work tree stays as it is."""
    app = app_of(context)
    made = app.project.start()
    published = app.published()
    imported = run_import(app) if with_import else None
    if as_json:
        print_json(
            {
                "repository": app.project.store.location,
                "made": made,
                "at": app.project.tip(),
                "published": published,
                "import": import_json(imported) if imported else None,
            }
        )
        raise click.exceptions.Exit(exit_code(imported) if imported else 0)
    state = "made" if made else "already there"
    click.echo(f"memory store {state}  {(app.project.tip() or '')[:7]}  project memory of {app.project.store.location}")
    for ref in published:
        click.echo(f"note: {ref.removeprefix('refs/remotes/')} is a published store; it was not merged")
    if imported:
        print_import(imported)
        raise click.exceptions.Exit(exit_code(imported))
