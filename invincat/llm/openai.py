"""The client for OpenAI-compatible endpoints. Imports the SDK, which takes half a second."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final
from uuid import uuid4

import msgspec
from openai import APIStatusError, AsyncOpenAI, AsyncStream, Timeout

from invincat.errors import InvincatError
from invincat.llm.assembly import Assembly
from invincat.llm.client import (
    BadAnswer,
    BrokenStream,
    Completion,
    Part,
    RateLimited,
    Refused,
    ServerFault,
    Unreachable,
)
from invincat.llm.faults import Endpoint, full_text
from invincat.llm.history import Profile, learn, to_wire
from invincat.llm.message import Assistant, Message
from invincat.llm.retry import Policy, persist
from invincat.llm.schema import ToolSpec
from invincat.llm.sdk import FAULTS, explain, whole
from invincat.llm.usage import read_usage

# The SDK insists on a key; servers on this machine take any.
_NO_KEY: Final = "none"

# Statuses with which endpoints refuse the shape of a request.
_SHAPE: Final = frozenset({400, 415, 422, 500, 501})


def _new_id() -> str:
    return f"call_{uuid4().hex[:24]}"


class OpenAIClient:
    """A `Client` for one model at one endpoint; one event loop may use it.

    `connect` and `read` are seconds: to a connection, and between two pieces of an answer. The `*_setting` names are
    for errors: what to fix. `profile` is what an earlier client learned of the endpoint; read it back to keep it.
    """

    def __init__(
        self,
        model: str,
        api_key: str | None,
        base_url: str = "https://api.openai.com/v1",
        *,
        connect: float = 10.0,
        read: float = 120.0,
        policy: Policy | None = None,
        profile: Profile | None = None,
        model_setting: str = "OPENAI_MODEL",
        key_setting: str = "OPENAI_API_KEY",
        url_setting: str = "OPENAI_BASE_URL",
        new_id: Callable[[], str] = _new_id,
    ) -> None:
        """BadEndpoint when the base URL cannot be one; nothing is connected to yet."""
        self._endpoint = Endpoint(model, base_url, model_setting, key_setting, url_setting)
        self.profile = profile or Profile()
        self._policy = policy or Policy()
        self._key = (api_key or "").strip()
        self._new_id = new_id
        self._read = read
        self._sdk = AsyncOpenAI(
            api_key=self._key or _NO_KEY, base_url=base_url, max_retries=0, timeout=Timeout(read, connect=connect)
        )

    @property
    def model(self) -> str:
        """`Client.model`."""
        return self._endpoint.model

    async def aclose(self) -> None:
        """`Client.aclose`."""
        await self._sdk.close()

    def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        *,
        max_tokens: int | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[Part, None]:
        """`Client.stream`."""
        asked = _Request(tuple(messages), tuple(tools), max_tokens, schema)
        return persist(lambda: self._attempt(asked), self._policy)

    async def _attempt(self, asked: "_Request") -> AsyncGenerator[Part, None]:
        """One answer, without retries."""
        assembly = Assembly(self._new_id, asked.call_ids())
        try:
            stream = await self._open(asked)
            async with aclosing(stream):
                kind = stream.response.headers.get("content-type", "").lower()
                if "json" in kind or "html" in kind:
                    for part in assembly.feed_whole(whole(await stream.response.aread(), self._endpoint)):
                        yield part
                else:
                    async for chunk in stream:
                        for part in assembly.feed(chunk):
                            yield part
        except FAULTS as fault:
            # What goes wrong after the finish takes nothing away from the answer.
            if not assembly.is_whole:
                raise self._explain(fault, assembly.text) from None
        done = assembly.finish()
        usage = read_usage(done.usage, asked.messages, asked.tools, done.message)
        yield Completion(done.message, done.finish, usage, done.cut)

    async def _open(self, asked: "_Request") -> AsyncStream[object]:
        """The response to a request, written as the endpoint takes it; what its refusals teach is remembered."""
        known = self.profile
        tried = {known}
        while True:
            profile = self.profile
            try:
                return await self._sdk.post(
                    "/chat/completions",
                    body=asked.body(self.model, profile),
                    cast_to=object,
                    stream=True,
                    stream_cls=AsyncStream[object],
                )
            except APIStatusError as fault:
                learned = learn(profile, full_text(fault.body)) if fault.status_code in _SHAPE else None
                if learned is None:
                    raise
                if learned in tried:  # every way was refused: none of it was the cause
                    self.profile = known
                    raise
                tried.add(learned)
                self.profile = learned

    def _explain(self, fault: Exception, partial: str) -> InvincatError:
        """Ours for what was raised; what was delivered already is not lost."""
        found = explain(fault, self._endpoint, self._key, self._read)
        if partial and isinstance(found, RateLimited | ServerFault | Unreachable | BadAnswer):
            return BrokenStream(found.what, partial=partial)
        return found


class _Request(msgspec.Struct, frozen=True):
    """What is asked, before it is written in an endpoint's way."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    max_tokens: int | None
    schema: Mapping[str, Any] | None

    def call_ids(self) -> set[str]:
        """The ids of calls in the conversation."""
        return {call.id for message in self.messages if isinstance(message, Assistant) for call in message.calls}

    def body(self, model: str, profile: Profile) -> dict[str, Any]:
        """The JSON of the request."""
        body: dict[str, Any] = {"model": model, "messages": self._messages(profile), "stream": True}
        if profile.stream_options:
            body["stream_options"] = {"include_usage": True}
        if self.tools:
            body["tools"] = [{"type": "function", "function": msgspec.to_builtins(tool)} for tool in self.tools]
        if self.max_tokens is not None:
            body[profile.max_tokens] = self.max_tokens
        if self.schema is not None and profile.schema == "json_schema":
            named = {"name": "answer", "schema": dict(self.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        elif self.schema is not None and profile.schema == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def _messages(self, profile: Profile) -> list[dict[str, Any]]:
        wire = to_wire(self.messages, profile)
        if not wire:
            raise Refused("there is nothing to send: every message is empty")
        if self.schema is not None and profile.schema != "json_schema":
            words = msgspec.json.encode(self.schema).decode()
            last = next((message for message in reversed(wire) if message["role"] in {"user", "system"}), wire[-1])
            last["content"] = f"{last['content']}\n\nAnswer with one JSON object by this JSON Schema: {words}"
        return wire
