"""A client that is made when it is needed, so that a start does not pay for the SDK behind it."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from invincat.llm.client import Client, Part
from invincat.llm.message import Message
from invincat.llm.schema import ToolSpec


class DeferredClient:
    """A `Client` that `make` makes, once, on a thread: from `warm_up` on, or with the first request."""

    def __init__(self, model: str, make: Callable[[], Client]) -> None:
        self._model = model
        self._make = make
        self._made: asyncio.Task[Client] | None = None

    @property
    def model(self) -> str:
        """`Client.model`."""
        return self._model

    def warm_up(self) -> None:
        """Begin to make it, in the background."""
        self._making()

    async def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        *,
        max_tokens: int | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[Part, None]:
        """`Client.stream`."""
        # Who is interrupted while it is being made does not undo it.
        client = await asyncio.shield(self._making())
        async with aclosing(client.stream(messages, tools, max_tokens=max_tokens, schema=schema)) as parts:
            async for part in parts:
                yield part

    async def aclose(self) -> None:
        """`Client.aclose`."""
        if self._made is not None:
            await (await self._made).aclose()

    def _making(self) -> asyncio.Task[Client]:
        if self._made is None:
            self._made = asyncio.create_task(asyncio.to_thread(self._make))
        return self._made
