"""`invincat config`: settings, with where each value comes from."""

from pathlib import Path

import click

from invincat.app import App
from invincat.cli.options import json_option
from invincat.cli.output import app_of, print_json
from invincat.config import KEYS, LOCAL, OFF, Settings, Value, near_key, parse, with_value, without
from invincat.errors import ConfigurationError
from invincat.governance.hidden import escape_hidden
from invincat.llm.embedding_local import INSTALL, is_installed

team_option = click.option("--team", is_flag=True, help="The team's file in this repository, in place of your own.")


@click.group("config")
def command() -> None:
    """Settings, with where each value comes from.

    Flags beat the environment, it beats the team's file (.invincat/config.yaml), that beats your own.
    """


@command.command("list")
@json_option
@click.pass_context
def list_all(context: click.Context, as_json: bool) -> None:
    """List all settings: key, value, origin."""
    settings = _all(app_of(context).settings)
    if as_json:
        print_json({key: {"value": value.value, "origin": value.origin} for key, value in settings.items()})
        return
    width = max(map(len, settings))
    for key, value in settings.items():
        click.echo(escape_hidden(f"{key:<{width}}  {_shown(value)}  ({value.origin})"))


@command.command("get")
@click.argument("key")
@json_option
@click.pass_context
def get(context: click.Context, key: str, as_json: bool) -> None:
    """Print the value of one setting; exit 1 when it has none."""
    settings = _all(app_of(context).settings)
    if key not in settings:
        raise click.UsageError(near_key(key, list(settings)))
    value = settings[key]
    if as_json:
        print_json({"key": key, "value": value.value, "origin": value.origin})
    elif value.value is not None:
        click.echo(escape_hidden(_shown(value)))
    if value.value is None:
        raise click.exceptions.Exit(1)


@command.command("set")
@click.argument("key")
@click.argument("value")
@team_option
@click.pass_context
def set_one(context: click.Context, key: str, value: str, team: bool) -> None:
    """Write a setting into your own file, or with --team into the team's; its other lines stay as they are."""
    path = _path(app_of(context), team=team)
    _require_key(key, path)
    before = path.read_bytes() if path.is_file() else b""
    after = with_value(before, str(path), key, value)
    parse(after, str(path), is_team=team)
    write_settings(path, after)
    click.echo(escape_hidden(f"{key}: {value}  {path}"))
    if key == "embedding" and value not in {OFF, LOCAL}:
        click.echo(f"note: {value} is taken for a model of the endpoint; {LOCAL} and {OFF} ask none", err=True)
    if key == "embedding" and value == LOCAL and not is_installed():
        click.echo(f"note: its model is not installed yet; {INSTALL}", err=True)


@command.command("unset")
@click.argument("key")
@team_option
@click.pass_context
def unset(context: click.Context, key: str, team: bool) -> None:
    """Take a setting out of your own file, or with --team out of the team's."""
    path = _path(app_of(context), team=team)
    _require_key(key, path)
    after = without(path.read_bytes() if path.is_file() else b"", str(path), key)
    if after is None:
        click.echo(f"nothing to do: {key} is not set in {path}")
        return
    write_settings(path, after)
    click.echo(escape_hidden(f"{key} is not set any more  {path}"))


def _require_key(key: str, path: Path) -> None:
    if key == "review.require":
        raise click.UsageError(f"review.require is a list; write it into {path}")
    if key not in KEYS:
        raise click.UsageError(near_key(key, KEYS))


@command.command("path")
@team_option
@click.pass_context
def path(context: click.Context, team: bool) -> None:
    """Print where your own file of settings is, there or not."""
    click.echo(_path(app_of(context), team=team))


def write_settings(path: Path, data: bytes) -> None:
    """Put a file of settings in place, whole or not at all; ConfigurationError."""
    draft = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(data)
        draft.replace(path)
    except OSError as fault:
        raise ConfigurationError(f"cannot be written: {fault.strerror}", where=str(path)) from None


def _all(settings: Settings) -> dict[str, Value]:
    require = [str(one) for policy in (settings.person, settings.team) for one in policy.require]
    origins = [name for name, policy in (("yours", settings.person), ("the team's", settings.team)) if policy.require]
    return {**settings.values, "review.require": Value(require, " and ".join(origins) or "default")}


def _shown(value: Value) -> str:
    if isinstance(value.value, list):
        return ", ".join(value.value) or "-"
    return {None: "-", True: "true", False: "false"}.get(value.value, str(value.value))


def _path(app: App, *, team: bool) -> Path:
    found = app.team_settings if team else app.user_settings
    if team and found and (found.is_symlink() or found.parent.is_symlink()):
        raise ConfigurationError("is a link, which may lead anywhere", where=str(found), next_step="make it a file")
    if found is None:
        raise ConfigurationError("there is no work tree here for a team's file", next_step="go to a repository")
    return found
