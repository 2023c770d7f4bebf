"""A real terminal: a pty with a screen emulator behind it, and the REPL with a fake desk in it."""

import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pexpect
import pyte

from tests.repl.fake_desk import Spec

ROOT = Path(__file__).parents[2]
PROGRAM = ("-P", "-m", "tests.repl.fake_desk")
PATIENCE = 8.0


class Terminal:
    """Keys go in with `send`; `until` waits for what the screen shows."""

    def __init__(self, folder: Path, spec: Spec, *, rows: int = 24, columns: int = 80, **environment: str) -> None:
        self.spec = folder / "spec.json"
        self.spec.write_bytes(msgspec.json.encode(spec))
        self._spawn((sys.executable, *PROGRAM, str(self.spec)), ROOT, rows, columns, environment)

    @staticmethod
    def of(
        command: Sequence[str], folder: Path, *, rows: int = 24, columns: int = 80, **environment: str
    ) -> "Terminal":
        """A terminal with another program in it, run in a folder."""
        terminal = Terminal.__new__(Terminal)
        terminal._spawn(command, folder, rows, columns, environment)
        return terminal

    def _spawn(
        self, command: Sequence[str], folder: Path, rows: int, columns: int, environment: Mapping[str, str]
    ) -> None:
        self.screen = pyte.HistoryScreen(columns, rows, history=2000, ratio=0.5)
        self.raw = b""
        self._stream = pyte.ByteStream(self.screen)
        self.process = pexpect.spawn(
            command[0],
            list(command[1:]),
            dimensions=(rows, columns),
            env=sealed(**({"TERM": "xterm-256color"} | dict(environment))),
            cwd=str(folder),
            timeout=PATIENCE,
        )
        self.process.delaybeforesend = None

    def send(self, keys: str) -> None:
        self.process.send(keys)

    def pump(self, seconds: float = 0.05) -> bool:
        """Read what comes within the time; False when the program has ended."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                data = self.process.read_nonblocking(65536, timeout=left)
            except pexpect.TIMEOUT:
                return True
            except pexpect.EOF:
                return False
            self.raw += data
            self._stream.feed(data)
        return True

    def until(self, what: str | Callable[[], bool], seconds: float = PATIENCE) -> None:
        """Wait until the screen shows a text, or something holds."""
        holds = (lambda: what in self.text) if isinstance(what, str) else what
        end = time.monotonic() + seconds
        while not holds():
            assert self.pump(0.02) or holds(), f"the program has ended; {what!r} is not in\n{self.text}"
            assert time.monotonic() < end, f"{what!r} is not in\n{self.text}"

    def start(self) -> None:
        """Wait for the prompt."""
        self.until(lambda: self.prompt == "" and re.search("memor(y|ies)", self.text.split("\n")[-1]) is not None)

    @property
    def rows(self) -> list[str]:
        return [row.rstrip() for row in self.screen.display]

    @property
    def text(self) -> str:
        """What the screen shows."""
        return "\n".join(self.rows).rstrip()

    @property
    def everything(self) -> str:
        """The same with what scrolled away."""
        above = ["".join(row[at].data for at in range(self.screen.columns)) for row in self.screen.history.top]
        return "\n".join([*(row.rstrip() for row in above), *self.rows]).rstrip()

    @property
    def prompt(self) -> str | None:
        """What is typed on the line of the cursor; None when it is no prompt."""
        row = self.screen.display[self.screen.cursor.y]
        return row[2:].rstrip() if row.startswith("> ") else None

    def resize(self, rows: int, columns: int) -> None:
        self.screen.resize(rows, columns)
        self.process.setwinsize(rows, columns)

    def leave(self) -> Mapping[str, Any]:
        """Quit, and tell what the desk was asked for."""
        if self.process.isalive():
            self.send("\x03")
            self.pump(0.1)
            self.send("\x04")
        return self.end()

    def end(self) -> Mapping[str, Any]:
        """Wait for the end; what the desk was asked for."""
        assert self.code() == 0, self.text
        told: Mapping[str, Any] = msgspec.json.decode(self.spec.with_suffix(".out").read_bytes())
        return told

    def code(self) -> int | None:
        """Wait for the end; the exit code."""
        limit = time.monotonic() + PATIENCE
        while self.pump(0.1) and time.monotonic() < limit:
            pass
        self.process.close()
        code: int | None = self.process.exitstatus
        return code

    def kill(self) -> None:
        self.process.close(force=True)


def sealed(**environment: str) -> dict[str, str]:
    """The environment of a program under test."""
    kept = {key: value for key, value in os.environ.items() if key not in {"NO_COLOR", "COLUMNS", "LINES"}}
    return kept | {"PYTHONPATH": str(ROOT)} | environment
