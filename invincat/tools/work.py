"""Work beside the event loop: threads that can be told to stop, and child processes that end with them."""

import asyncio
import contextlib
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

from invincat.errors import ConfigurationError

Answer = TypeVar("Answer")

_TICK: Final = 0.05
_CHUNK: Final = 1 << 16
_GRACE: Final = 2.0


class Stop:
    """When work must end: after `seconds`, or as soon as nobody waits for it any more."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._deadline = time.monotonic() + seconds
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """Nobody waits any more."""
        self._cancelled.set()

    @property
    def is_due(self) -> bool:
        """Whether to stop now, with whatever there is."""
        return self._cancelled.is_set() or time.monotonic() > self._deadline


async def in_thread(work: Callable[[Stop], Answer], seconds: float) -> Answer:
    """Run blocking work; it must look at its `Stop`. When this is cancelled, the work stops by itself soon after."""
    stop = Stop(seconds)
    try:
        return await asyncio.to_thread(work, stop)
    finally:
        stop.cancel()


class Child:
    """A child process in a group of its own that never outlives the `with` block.

    `code` is its exit code, None when it had to be killed; `complaint` what it wrote to stderr. Both are there after
    the block. ConfigurationError when there is no such program.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        stop: Stop,
        env: Mapping[str, str] | None = None,
        input: bytes = b"",
    ) -> None:
        self.code: int | None = None
        self.complaint = b""
        self._stop = stop
        with contextlib.ExitStack() as files:
            # Files, not pipes: neither side can block the other.
            stdin = files.enter_context(tempfile.TemporaryFile())
            stdin.write(input)
            stdin.seek(0)
            self._errors = files.enter_context(tempfile.TemporaryFile())
            try:
                self._process = subprocess.Popen(
                    command,
                    cwd=cwd,
                    env=env,
                    stdin=stdin,
                    stdout=subprocess.PIPE,
                    stderr=self._errors,
                    start_new_session=True,
                )
            except FileNotFoundError:
                if not cwd.is_dir():
                    raise
                raise ConfigurationError(f"{command[0]} was not found") from None
            self._files = files.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._files:
            if self.code is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
            if self._process.stdout:
                self._process.stdout.close()
            self._process.wait()
            self._errors.seek(0)
            self.complaint = self._errors.read(_CHUNK)

    def chunks(self) -> Iterator[bytes]:
        """Its output as it comes, until it ends or must stop."""
        assert self._process.stdout
        pipe = self._process.stdout.fileno()
        while not self._stop.is_due:
            if not select.select([pipe], [], [], _TICK)[0]:
                continue
            chunk = os.read(pipe, _CHUNK)
            if not chunk:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.code = self._process.wait(_GRACE)
                return
            yield chunk

    def records(self, end: bytes) -> Iterator[bytes]:
        """Its output cut at each `end`; what follows the last one is incomplete and left out."""
        parts: list[bytes] = []
        for chunk in self.chunks():
            first, *others = chunk.split(end)
            parts.append(first)
            if others:
                yield b"".join(parts)
                yield from others[:-1]
                parts = [others[-1]]
