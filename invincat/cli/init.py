"""`invincat init`: the store of a repository, and on request a file of settings."""

from collections.abc import Iterator
from pathlib import Path

import click

from invincat.app import App
from invincat.cli.config import write_settings
from invincat.cli.import_ import exit_code, import_json, print_import, require_files, run_import
from invincat.cli.options import json_option
from invincat.cli.output import app_of, print_json, say
from invincat.errors import ConfigurationError
from invincat.ledger import Ledger
from invincat.resources import template
from invincat.store.base import MEMORY_REF, TRACKING


@click.command("init")
@click.option("--import", "with_import", is_flag=True, help="Take over the conventions that files write down.")
@click.option("--config", "with_settings", is_flag=True, help="Write a file of settings for the team, with comments.")
@json_option
@click.pass_context
def command(context: click.Context, with_import: bool, with_settings: bool, as_json: bool) -> None:
    """Make the memory store of this repository, if it has none. The work tree stays as it is without --config.

    Outside of any repository the memories of this folder are kept in .invincat/memory.git; should it become a
    repository, `init` moves them into it.
    """
    app = app_of(context)
    if with_import:
        require_files(app)
    if with_settings:
        _settings_place(app)
    moved = app.place.left_behind()
    made = app.start()
    settings = _write_settings(app) if with_settings else None
    published = app.published()
    imported = run_import(app) if with_import else None
    if as_json:
        print_json(
            {
                "repository": app.project.store.location,
                "made": made,
                "moved": str(moved) if moved else None,
                "at": app.project.tip(),
                "published": published,
                "settings": str(settings) if settings else None,
                "import": import_json(app, imported) if imported else None,
            }
        )
        raise click.exceptions.Exit(exit_code(imported) if imported else 0)
    state = f"moved here from {moved}" if moved else "made" if made else "already there"
    say(f"memory store {state}  {(app.project.tip() or '')[:7]}  project memory of {app.project.store.location}")
    for note in _not_merged(app.project, published):
        say(f"note: {note}")
    if with_settings:
        click.echo(f"settings written to {settings}" if settings else f"settings already there  {app.team_settings}")
    if imported:
        print_import(app, imported)
        raise click.exceptions.Exit(exit_code(imported))


def _not_merged(ledger: Ledger, published: dict[str, str]) -> Iterator[str]:
    """What to say of published stores that hold what this one has not: how it takes them over, or what differs."""
    tip = ledger.tip() or ""
    ours = {commit.id for commit in ledger.store.history(tip)} if published else set()
    for ref, theirs in published.items():
        if theirs in ours:
            continue
        name = ref.removeprefix(TRACKING)
        is_ahead = any(commit.id == tip for commit in ledger.store.history(theirs))
        take_over = f"`git fetch . {ref}:{MEMORY_REF}` takes it over"
        yield f"{name} is a published store; it was not merged; " + (
            take_over if is_ahead else f"`invincat diff ..{name}` shows what it says otherwise"
        )


def _settings_place(app: App) -> Path:
    """Where the team's file of settings stands; ConfigurationError without a work tree."""
    if app.team_settings is None:
        raise ConfigurationError("there is no work tree here for a file of settings", next_step="go to a repository")
    return app.team_settings


def _write_settings(app: App) -> Path | None:
    """The file that was written; None where one is already, which is never changed."""
    path = _settings_place(app)
    if path.exists() or path.is_symlink():
        return None
    write_settings(path, template("config.yaml").encode())
    return path
