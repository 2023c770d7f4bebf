"""Asking a client in a test, without an event loop of one's own."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from invincat.errors import InvincatError
from invincat.llm.client import Client, Completion, Part, ReasoningDelta, Retrying, TextDelta
from invincat.llm.message import Message, User
from invincat.llm.openai import OpenAIClient
from invincat.llm.scripted import IMPATIENT
from tests.fakes.openai_server import OpenAIServer

KEY = "key-0123456789abcdef"
HELLO = (User("Hello"),)


def client_of(server: OpenAIServer, **options: Any) -> OpenAIClient:
    """A client for the fake endpoint that waits for nothing."""
    given = {"model": "fake", "api_key": KEY, "base_url": server.base_url, "policy": IMPATIENT, "read": 5.0, **options}
    return OpenAIClient(**given)


@dataclass
class Heard:
    """The parts of one answer, or what was raised in its place."""

    parts: list[Part] = field(default_factory=list)
    fault: InvincatError | None = None

    @property
    def done(self) -> Completion:
        assert self.fault is None, self.fault
        assert isinstance(self.parts[-1], Completion)
        assert not any(isinstance(part, Completion) for part in self.parts[:-1])
        return self.parts[-1]

    @property
    def retries(self) -> list[Retrying]:
        return [part for part in self.parts if isinstance(part, Retrying)]

    @property
    def text(self) -> str:
        """What a front end would show: a retry begins anew."""
        return self._joined(TextDelta)

    @property
    def reasoning(self) -> str:
        return self._joined(ReasoningDelta)

    def _joined(self, kind: type) -> str:
        begin = max((at for at, part in enumerate(self.parts) if isinstance(part, Retrying)), default=-1)
        return "".join(part.text for part in self.parts[begin + 1 :] if isinstance(part, kind))


async def listen(client: Client, messages: Sequence[Message] = HELLO, tools: Any = (), **options: Any) -> Heard:
    heard = Heard()
    try:
        async with aclosing(client.stream(messages, tools, **options)) as parts:
            async for part in parts:
                heard.parts.append(part)
    except InvincatError as fault:
        heard.fault = fault
    return heard


def ask(client: Client, *conversations: Sequence[Message], tools: Any = (), **options: Any) -> list[Heard]:
    """Ask once for each conversation (by default one), in one event loop, then close the client."""

    async def run() -> list[Heard]:
        try:
            return [await listen(client, messages, tools, **options) for messages in conversations or (HELLO,)]
        finally:
            await client.aclose()

    return asyncio.run(run())


def ask_server(server: OpenAIServer, messages: Sequence[Message] = HELLO, **options: Any) -> Heard:
    """Ask the fake endpoint once."""
    return ask(client_of(server), messages, **options)[0]
