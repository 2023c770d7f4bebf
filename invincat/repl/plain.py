"""The REPL without a terminal, or on a dumb one: lines in, lines out, nothing that moves a cursor."""

import asyncio
import codecs
import os
import shutil
import signal
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from invincat.repl.backend import Backend
from invincat.repl.front import Front
from invincat.repl.leaving import ENDING_SIGNALS, close, on_signal
from invincat.repl.render import PlainAnswer, Transcript
from invincat.repl.review import hint
from invincat.repl.style import Line, Paint

_CHUNK: Final = 65536
TWICE_WITHIN: Final = 2.0


async def talk(desk: Backend) -> int:
    """Answer the lines of standard input, one after the other, until they end or the person leaves."""
    await desk.open()
    printer = Printer(prompts=sys.stdin.isatty() and sys.stdout.isatty())
    front = Front(desk, Paint(colour=False), printer, printer.transcript)
    cancelled_at = -TWICE_WITHIN
    code = 0

    def cancel() -> None:
        nonlocal cancelled_at
        if front.interrupt():
            return
        if time.monotonic() - cancelled_at < TWICE_WITHIN:
            front.quit()
            return
        cancelled_at = time.monotonic()
        printer.print([Line("press Ctrl-C again to quit")], keep=True)

    def leave_with(asked: int) -> None:
        nonlocal code
        code = asked
        front.interrupt()
        front.quit()

    on_signal(signal.SIGINT, cancel)
    for number in ENDING_SIGNALS:
        on_signal(number, partial(leave_with, 128 + number))
    background = [asyncio.create_task(front.listen())]
    try:
        front.welcome(name=printer.prompts)
        await _answer(front, printer)
    finally:
        await close(front, background, farewell=printer.prompts)
        printer.changed()
    if printer.fault:
        raise printer.fault
    return code


async def _answer(front: Front, printer: "Printer") -> None:
    reading = aiter(_lines(sys.stdin.fileno()))
    leaving = asyncio.create_task(printer.ended.wait())
    line: asyncio.Task[str] | None = None
    try:
        while True:
            printer.prompt(hint(front.offers))
            line = asyncio.ensure_future(anext(reading))
            await asyncio.wait((line, leaving), return_when=asyncio.FIRST_COMPLETED)
            if leaving.done():
                return
            try:
                text = line.result()
            except StopAsyncIteration:
                return
            while text.endswith("\\") and (more := await anext(reading, None)) is not None:
                text = f"{text[:-1]}\n{more}"
            if not printer.prompts:
                front.offers.put_off()  # nobody saw them, so no line is meant to decide them
            front.enter(text, echo=False)
            await front.idle()
            if printer.ended.is_set():
                return
    finally:
        for task in (line, leaving):
            if task and not task.done():
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task


class Printer:
    """Standard output as a surface: what is finished is printed, nothing is taken back."""

    def __init__(self, *, prompts: bool) -> None:
        self.transcript = Transcript(Paint(colour=False), PlainAnswer)
        self.ended = asyncio.Event()
        self.fault: BaseException | None = None
        self.prompts = prompts

    @property
    def width(self) -> int:
        """The columns of the terminal; 80 where there is none."""
        return shutil.get_terminal_size().columns

    def print(self, lines: Sequence[Line], *, keep: bool) -> None:
        """Print lines, after what the answer has finished."""
        data = "".join(f"{line}\n" for line in (*lines, *self.transcript.take()))
        if data:
            self._write(data)

    def changed(self) -> None:
        """Print what the answer has finished."""
        self.print([], keep=False)

    def begin_void(self) -> None:
        """Nothing: what is printed stays."""

    def void(self) -> bool:
        """Never: the reader may have it already."""
        return False

    def put_back(self, text: str) -> None:
        """Say that it was not sent; there is no input to put it into."""
        self.print([Paint(colour=False).line(f"not sent: {text}")], keep=True)

    async def run_command(self, command: str) -> int:
        """A shell command, in its turn; it reads nothing, since our input is not its own."""
        process = await asyncio.create_subprocess_shell(command, stdin=asyncio.subprocess.DEVNULL)
        return await process.wait()

    def end(self, fault: BaseException | None = None) -> None:
        """Leave."""
        self.fault = self.fault or fault
        self.ended.set()

    def prompt(self, hint: str) -> None:
        """Ask for a line, where somebody sits."""
        if self.prompts:
            self._write(f"{hint}\n> " if hint else "> ")

    def _write(self, text: str) -> None:
        encoding = sys.stdout.encoding or "utf-8"
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
        sys.stdout.flush()


async def _lines(descriptor: int) -> AsyncIterator[str]:
    """The lines of a file, pipe or terminal, without a thread that could not be stopped."""
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    rest = ""
    while chunk := await _read(descriptor):
        *lines, rest = (rest + decode(chunk)).split("\n")
        for line in lines:
            yield line.removesuffix("\r")
    if rest:
        yield rest


async def _read(descriptor: int) -> bytes:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(descriptor, ready.set)
    except PermissionError:  # a regular file, which is always ready
        return os.read(descriptor, _CHUNK)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
    return os.read(descriptor, _CHUNK)
