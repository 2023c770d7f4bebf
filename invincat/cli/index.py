"""`invincat index`: what searches would otherwise do in passing, done now."""

import sys
from typing import Self

import click

from invincat.cli.output import app_of, readable
from invincat.errors import UserError


@click.command("index")
@click.option("--embed", is_flag=True, help="Make the vectors for searching by meaning, too.")
@click.pass_context
def command(context: click.Context, embed: bool) -> None:
    """Bring the search index up to date; with --embed the vectors, too, which may take minutes.

    It can be interrupted at any time: run again it goes on from there.
    """
    app = app_of(context)
    readable(app)
    with _Progress("indexing") as progress:
        reason = app.search.refresh(progress.tell)
    if reason:
        raise UserError(reason, next_step="run it again")
    click.echo("the search index is up to date")
    if embed:
        with _Progress("embedding") as progress:
            count = app.search.embed(progress.tell)
        click.echo(f"{count} memories were embedded" if count else "every memory is embedded already")


class _Progress:
    """Told on stderr: in a terminal on one line that changes, else a line for each tenth of the work."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._is_terminal = sys.stderr.isatty()
        self._tenth = 0
        self._is_open = False

    def tell(self, done: int, total: int) -> None:
        """So much of all is done."""
        tenth = 10 * done // total if total else 0
        if self._is_terminal and total:
            self._is_open = done < total
            click.echo(f"\r{self._what} {done} of {total}", nl=not self._is_open, err=True)
        elif tenth > self._tenth:
            self._tenth = tenth
            click.echo(f"{self._what} {done} of {total}", err=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._is_open:
            click.echo(err=True)
        if kind is KeyboardInterrupt:
            click.echo("interrupted; what was done is kept, run it again to go on", err=True)
