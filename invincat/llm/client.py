"""What a model client must be able to do, the parts of an answer, and what can go wrong (RULES 9).

ProviderError                      degrade, or try later
+-- RateLimited                    429; retried
+-- Unreachable                    no connection, or silence; retried
+-- ServerFault                    5xx, or an error object in the stream; retried
+-- BrokenStream                   ended before its finish; retried unless text was delivered
+-- BadAnswer                      no answer that we could read
|   +-- EmptyAnswer                no text and no calls; retried once
+-- Refused                        another 4xx: the request as it is will not be taken
    +-- ContextOverflow            the conversation is longer than the model's window
ConfigurationError                 will not clear by itself: surfaces
+-- KeyRefused
+-- UnknownModel
+-- BadEndpoint
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from invincat.errors import ConfigurationError, InternalError, ProviderError
from invincat.llm.message import Assistant, Message
from invincat.llm.schema import ToolSpec
from invincat.llm.usage import Usage


class RateLimited(ProviderError):
    """The endpoint asks to wait. `retry_after` is seconds, None when it did not say."""

    def __init__(self, what: str, *, retry_after: float | None = None, next_step: str | None = None) -> None:
        super().__init__(what, next_step=next_step)
        self.retry_after = retry_after


class Unreachable(ProviderError):
    """No connection, a connection lost before any text, or silence for longer than we wait."""


class ServerFault(ProviderError):
    """The endpoint failed. `retry_after` is seconds, None when it did not say."""

    def __init__(self, what: str, *, retry_after: float | None = None) -> None:
        super().__init__(what, next_step="try again later")
        self.retry_after = retry_after


class BadAnswer(ProviderError):
    """The endpoint answered something that is no completion."""


class EmptyAnswer(BadAnswer):
    """The model finished without text and without calls."""


class BrokenStream(ProviderError):
    """The answer ended before its finish. `partial` is the text so far; none of its calls may be run."""

    def __init__(self, what: str, *, partial: str = "") -> None:
        super().__init__(what, next_step="try again")
        self.partial = partial


class Refused(ProviderError):
    """The endpoint refuses this request; the same one will be refused again."""

    exit_code = 1


class ContextOverflow(Refused):
    """The conversation is longer than the model's window: compact it."""


class KeyRefused(ConfigurationError):
    """The key is wrong, may not use this model, or has no credit."""


class UnknownModel(ConfigurationError):
    """The endpoint has no model of this name."""


class BadEndpoint(ConfigurationError):
    """The base URL cannot be right."""


class Finish(StrEnum):
    """Why the model stopped."""

    STOP = "stop"
    CALLS = "tool_calls"
    LENGTH = "length"
    FILTER = "content_filter"


class TextDelta(msgspec.Struct, frozen=True):
    """More of the answer's text; never empty."""

    text: str


class ReasoningDelta(msgspec.Struct, frozen=True):
    """More of the model's reasoning; never empty."""

    text: str


class Retrying(msgspec.Struct, frozen=True):
    """The answer begins anew after `seconds`: forget the deltas so far. `attempt` counts from 2."""

    reason: str
    seconds: float
    attempt: int


class Completion(msgspec.Struct, frozen=True):
    """The last part: the whole answer.

    `cut` names the calls that were removed because the answer was stopped by LENGTH or FILTER: tell the model.
    `message` is empty only with those two finishes. `message.calls` is not empty exactly when `finish` is CALLS.
    """

    message: Assistant
    finish: Finish
    usage: Usage
    cut: tuple[str, ...] = ()


Part = TextDelta | ReasoningDelta | Retrying | Completion


class Client(Protocol):
    """One model at one endpoint. One event loop may use it, for one request at a time or several."""

    @property
    def model(self) -> str:
        """The model's name, as the endpoint knows it."""

    def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        *,
        max_tokens: int | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[Part, None]:
        """Ask once, with retries; the parts of the answer, `Completion` last.

        Any list of messages may be given: it is made sendable on its way. `schema` asks for an answer that is JSON
        by that JSON Schema; check it, not every endpoint obeys. Raises ProviderError and ConfigurationError.
        Cancelling ends waits and requests at once; who stops reading early closes the generator (`aclosing`).
        """

    async def aclose(self) -> None:
        """Let go of connections."""


async def complete(
    client: Client,
    messages: Sequence[Message],
    tools: Sequence[ToolSpec] = (),
    *,
    max_tokens: int | None = None,
    schema: Mapping[str, Any] | None = None,
) -> Completion:
    """The whole answer, for callers that show nothing of it before its end."""
    async with aclosing(client.stream(messages, tools, max_tokens=max_tokens, schema=schema)) as parts:
        async for part in parts:
            if isinstance(part, Completion):
                return part
    raise InternalError("a stream ended without completion")
