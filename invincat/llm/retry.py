"""When to ask again, and after how long (ASSISTANT "Retry 429, 5xx, connection faults")."""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from invincat.errors import ProviderError
from invincat.llm.client import (
    BrokenStream,
    EmptyAnswer,
    Part,
    RateLimited,
    Retrying,
    ServerFault,
    TextDelta,
    Unreachable,
)

_RETRIED: Final = (RateLimited, Unreachable, ServerFault, BrokenStream)


@dataclass(frozen=True)
class Policy:
    """How patient to be. Times are seconds; `budget` is all waiting of one request, `cap` one wait.

    `after_text` asks again even when text was delivered, for callers that can forget it (`Retrying`).
    """

    attempts: int = 5
    budget: float = 180.0
    first: float = 0.5
    cap: float = 60.0
    after_text: bool = False
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = field(default=random.random)


async def persist(attempt: Callable[[], AsyncGenerator[Part, None]], policy: Policy) -> AsyncGenerator[Part, None]:
    """The parts of the first attempt that succeeds, a `Retrying` before each further one.

    What is no fault of the moment is raised at once, as is the last fault when patience is at its end.
    """
    waited, empty = 0.0, 0
    for number in range(1, policy.attempts + 1):
        delivered = False
        try:
            async with aclosing(attempt()) as parts:
                async for part in parts:
                    delivered = delivered or (isinstance(part, TextDelta) and bool(part.text.strip()))
                    yield part
            return
        except EmptyAnswer as fault:
            empty += 1
            caught: ProviderError = fault
            if empty > 1:
                raise
        except _RETRIED as fault:
            caught = fault
        seconds = delay(policy, number, caught)
        if number == policy.attempts or waited + seconds > policy.budget or (delivered and not policy.after_text):
            raise caught
        waited += seconds
        yield Retrying(caught.what, seconds, number + 1)
        await policy.sleep(seconds)


def delay(policy: Policy, number: int, fault: ProviderError) -> float:
    """Seconds before the attempt after `number` (from 1): what the endpoint asks for, or doubling, with jitter."""
    asked = fault.retry_after if isinstance(fault, RateLimited | ServerFault) else None
    if asked is not None:
        # Never sooner than asked; a little later, so that many clients do not come back as one.
        return min(policy.cap, asked + policy.first * policy.random())
    if isinstance(fault, EmptyAnswer):
        return 0.0
    return min(policy.cap, policy.first * 2.0 ** (number - 1)) * (0.5 + policy.random() / 2)


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds that a response asks to wait: `retry-after-ms`, or `retry-after` as seconds or as an HTTP date.

    A date is measured from the response's own `date`, so that a wrong clock does no harm. Keys are lower case.
    """
    for key, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            return max(0.0, min(float(headers[key]) / unit, 1e6))
        except (KeyError, ValueError):
            continue
    until = _date(headers.get("retry-after"))
    if until is None:
        return None
    since = _date(headers.get("date")) or now or datetime.now(UTC)
    return max(0.0, (until - since).total_seconds())


def _date(text: str | None) -> datetime | None:
    try:
        found = parsedate_to_datetime(text) if text else None
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found and found.tzinfo is None else found
