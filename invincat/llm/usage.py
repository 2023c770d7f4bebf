"""Tokens spent: what the endpoint says, or an estimate that says so."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from invincat.llm.message import Assistant, Message
from invincat.llm.schema import ToolSpec

# Scripts in which a character is about a token: Kana, CJK ideographs, Hangul, full-width forms, emoji.
_WIDE: Final = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U0001f000-\U0003ffff]"
)

_CHARACTERS_PER_TOKEN: Final = 4

# What an endpoint adds for roles and marks, a message.
_PER_MESSAGE: Final = 4


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens of one or more requests. `cached` is the part of `input` that the endpoint had already read."""

    input: int = 0
    output: int = 0
    cached: int = 0
    estimated: bool = False

    @property
    def total(self) -> int:
        """Tokens in and out."""
        return self.input + self.output

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            self.estimated or other.estimated,
        )


def estimate(text: str) -> int:
    """About how many tokens a text is: a quarter of its characters, of CJK and emoji all of them."""
    wide = len(_WIDE.findall(text))
    return wide + -(-(len(text) - wide) // _CHARACTERS_PER_TOKEN)


def estimate_messages(messages: Iterable[Message], tools: Sequence[ToolSpec] = ()) -> int:
    """About how many tokens a request is."""
    total = sum(_PER_MESSAGE + estimate(text) for message in messages for text in [_text(message)])
    return total + sum(estimate(msgspec.json.encode(tool).decode()) for tool in tools)


def read_usage(raw: object, messages: Iterable[Message], tools: Sequence[ToolSpec], answer: Assistant) -> Usage:
    """The `usage` object of an answer; what it lacks is estimated from the request and the answer."""
    found: dict[str, Any] = raw if isinstance(raw, dict) else {}
    sent, received = _count(found.get("prompt_tokens")), _count(found.get("completion_tokens"))
    details = found.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else None
    return Usage(
        estimate_messages(messages, tools) if sent is None else sent,
        estimate(_text(answer)) if received is None else received,
        cached or _count(found.get("prompt_cache_hit_tokens")) or 0,
        estimated=sent is None or received is None,
    )


def _text(message: Message) -> str:
    if not isinstance(message, Assistant):
        return message.text
    return "".join([message.reasoning or "", message.text, *(call.name + call.arguments for call in message.calls)])


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
