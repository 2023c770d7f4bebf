"""The end of the REPL: what runs is stopped, learning is finished, and a person in a hurry can cut that short."""

import asyncio
import signal
import threading
from collections.abc import Callable, Sequence
from typing import Final

from invincat.repl.front import Front

ENDING_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP)


def on_signal(number: int, act: Callable[[], object]) -> None:
    """Do this when the signal comes; outside the main thread, which alone gets signals, do nothing."""
    if threading.current_thread() is threading.main_thread():
        asyncio.get_running_loop().add_signal_handler(number, act)


async def close(front: Front, background: Sequence[asyncio.Task[None]], *, farewell: bool = True) -> None:
    """Close the front end, in bounded time, or at once with Ctrl-C; say how to go on, unless nobody reads it."""
    if front.desk.remembering():
        front.say(front.paint.line("remembering what was said; Ctrl-C skips it", "dim"))
    closing = asyncio.create_task(front.close(background))
    on_signal(signal.SIGINT, closing.cancel)
    await asyncio.wait({closing})
    if farewell:
        front.farewell()
    if not closing.cancelled():
        closing.result()
