"""`invincat` and `invincat -p`: talk, on a terminal or for one turn."""

import asyncio
import os
import select
import signal
import stat
import sys
from contextlib import suppress
from typing import IO, Final

import click

from invincat.agent.loop import Limits
from invincat.agent.session import Session
from invincat.cli.output import app_of
from invincat.desk import Desk, Models, sessions_of
from invincat.errors import UserError
from invincat.governance.hidden import escape_hidden
from invincat.headless import Form, run_once

BAD_INPUT: Final = 42
INTERRUPTED: Final = 130
MAX_PROMPT: Final = 1_000_000
# Seconds until a pipe beside `-p` that says nothing is taken for one that nobody writes to.
SILENCE: Final = 3.0


class BadPrompt(UserError):
    """There is nothing to answer, or too much."""

    exit_code = BAD_INPUT


def converse(
    context: click.Context,
    prompt: str | None,
    form: str,
    model: str | None,
    max_turns: int,
    max_tokens: int | None,
    go_on: bool,
    resume: str | None,
) -> int:
    """Run the REPL, or one headless turn with `-p` or when stdin is no terminal; the exit code."""
    app = app_of(context)
    is_headless = prompt is not None or not (_is_terminal(sys.stdin) and _is_terminal(sys.stdout))
    text = _prompt(prompt) if is_headless else ""
    sessions = sessions_of(app)
    session: Session | None = None
    latest = sessions.latest(app.directory) if go_on and resume is None else resume
    if latest is not None:
        session = sessions.resume(latest)
    elif go_on:
        raise UserError("there is no conversation here to go on with", next_step="begin one with `invincat`")
    desk = Desk(app, Models.chosen(model, app.settings), session, Limits(max_turns, max_tokens))
    if is_headless:
        return _once(desk, text, Form(form))
    from invincat.repl.shell import run  # noqa: PLC0415 - one headless turn must not pay for the terminal

    return run(desk, history=app.data_dir / "history")


def _prompt(given: str | None) -> str:
    """The words of `-p` and, behind them, what was piped in."""
    piped = sys.stdin.buffer.read(MAX_PROMPT + 1) if _is_piped() and _is_heard(given) else b""
    if len(piped) > MAX_PROMPT:
        raise BadPrompt(f"more than {MAX_PROMPT} bytes on stdin", next_step="name the file instead")
    try:
        parts = [given or "", piped.decode("utf-8")]
    except UnicodeDecodeError:
        raise BadPrompt("stdin is not UTF-8") from None
    text = "\n\n".join(part.strip() for part in parts if part.strip())
    if not text:
        raise BadPrompt("there is no prompt", next_step='give one with -p "..." or on stdin')
    return text


def _is_terminal(stream: IO[str] | None) -> bool:
    """Python has no stream at all for what was closed before it began."""
    return stream is not None and stream.isatty()


def _is_piped() -> bool:
    """Whether stdin is a pipe, a socket or a file; a terminal, a device or nothing at all is never waited for."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISREG(mode)


def _is_heard(given: str | None) -> bool:
    """Whether somebody writes to stdin. A pipe that was inherited and is never closed must not hold up `-p`."""
    if given is None or select.select([sys.stdin], [], [], SILENCE)[0]:
        return True
    _err(f"nothing came on stdin for {SILENCE:g} s, going on without it (< /dev/null says that at once)")
    return False


def _once(desk: Desk, text: str, form: Form) -> int:
    async def play() -> int:
        task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        if task is not None:
            with suppress(NotImplementedError):  # Windows
                loop.add_signal_handler(signal.SIGINT, task.cancel)
        return await run_once(desk, text, form, _out, _err)

    try:
        return asyncio.run(play())
    except asyncio.CancelledError:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read us has gone; that is no fault (CLI). click would make an exit 1 of it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _out(text: str) -> None:
    sys.stdout.write(escape_hidden(text) if sys.stdout.isatty() else text)
    sys.stdout.flush()


def _err(line: str) -> None:
    click.echo(line, err=True)
