"""What a strict endpoint checks on every request.

Two kinds: what no endpoint takes is a violation, and fails the test; what some endpoints refuse is a taste, answered
by a 400 in the words of real ones, which a client is to learn from once.
"""

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]

_KEYS = {
    "model",
    "messages",
    "stream",
    "stream_options",
    "tools",
    "max_tokens",
    "max_completion_tokens",
    "response_format",
}
_MESSAGE_KEYS = {
    "system": {"role", "content"},
    "developer": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls", "reasoning_content"},
    "tool": {"role", "content", "tool_call_id"},
}
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

Empty = Literal["null", "blank", "absent"]


class Violation(Exception):
    """No endpoint would take this request."""


class Distaste(Exception):
    """This endpoint does not take it; the text is what it says."""


@dataclass(frozen=True)
class Strict:
    """The tastes of an endpoint; by default as most are. Sets name what is accepted."""

    empty_content: frozenset[Empty] = frozenset({"null", "blank", "absent"})
    reasoning: Literal["refused", "required"] = "refused"
    stream_options: bool = True
    limits: frozenset[str] = frozenset({"max_tokens", "max_completion_tokens"})
    system_roles: frozenset[str] = frozenset({"system", "developer"})
    alternate: bool = False
    schemas: frozenset[str] = frozenset({"json_schema", "json_object"})
    key: str | None = None
    models: frozenset[str] | None = None
    inputs: int = 32
    # What the endpoint itself reasoned, by the id of a call that came with it.
    reasoned: dict[str, str] = field(default_factory=dict, compare=False)


def check(body: object, strict: Strict) -> None:
    """Raise the first Violation, else the first Distaste."""
    if not isinstance(body, dict):
        raise Violation("the body is no JSON object")
    _only(body, _KEYS, "request")
    _need(body.get("stream") is True, "we stream")
    _need(isinstance(body.get("model"), str), "model is a string")
    messages = body.get("messages")
    _need(isinstance(messages, list) and bool(messages), "messages are a list that is not empty")
    for tool in body.get("tools", []):
        _check_tool(tool)
    names = [tool["function"]["name"] for tool in body.get("tools", [])]
    _need("tools" not in body or bool(names), "tools are not an empty list")
    _need(len(names) == len(set(names)), "tool names are unique")
    for message in messages:
        _check_message(message)
    _check_pairs(messages)
    for complaint in (*_parameters(body, strict), *_messages(messages, strict)):
        raise Distaste(complaint)


def check_embedding(body: object, strict: Strict) -> None:
    """The same for a request for embeddings."""
    if not isinstance(body, dict):
        raise Violation("the body is no JSON object")
    # `encoding_format` and `dimensions` are refused by many, and what they ask for is what most give.
    _only(body, {"model", "input"}, "request")
    _need(isinstance(body.get("model"), str), "model is a string")
    texts = body.get("input")
    _need(isinstance(texts, list) and bool(texts), "input is a list that is not empty")
    _need(all(map(_said, texts)), "each text says something")
    if len(texts) > strict.inputs:
        raise Distaste(f"batch size {len(texts)} > maximum allowed batch size {strict.inputs}")


def check_key(headers: Mapping[str, str]) -> None:
    """A key is sent, and is not empty."""
    _need(bool(re.fullmatch(r"Bearer \S+", headers.get("authorization", ""))), "there is a bearer token")


def _need(holds: bool, rule: str) -> None:
    if not holds:
        raise Violation(rule)


def _only(value: Json, keys: set[str], where: str) -> None:
    _need(set(value) <= keys, f"{where} has unknown fields {sorted(set(value) - keys)}")


def _said(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _check_tool(tool: Json) -> None:
    _only(tool, {"type", "function"}, "tool")
    _only(tool["function"], {"name", "description", "parameters"}, "function")
    _need(bool(_NAME.fullmatch(tool["function"]["name"])), "a tool has a name")
    schema = tool["function"]["parameters"]
    _need(schema.get("type") == "object" and isinstance(schema.get("properties"), dict), "parameters are an object")
    _need(not re.search(r'"[$](ref|schema)": "', json.dumps(schema)), "a schema has no $ref and no $schema")


def _check_message(message: Json) -> None:
    role = message.get("role")
    _need(role in _MESSAGE_KEYS, f"{role!r} is no role")
    _only(message, _MESSAGE_KEYS[role], f"{role} message")
    if role != "assistant":
        _need(_said(message.get("content")), f"a {role} message says something")
        return
    calls = message.get("tool_calls")
    _need(message.get("content") is None or isinstance(message["content"], str), "content is a string or null")
    _need(_said(message.get("content")) or bool(calls), "an assistant message is not empty")
    _need("tool_calls" not in message or bool(calls), "tool_calls are not an empty list")
    for call in calls or ():
        _need(set(call) == {"id", "type", "function"} and call["type"] == "function", "a call has id, type, function")
        _need(_said(call["id"]), "a call has an id")
        _need(set(call["function"]) == {"name", "arguments"}, "a function has name and arguments")
        _need(bool(_NAME.fullmatch(call["function"]["name"])), f"{call['function']['name']!r} is no tool name")
        try:
            arguments = json.loads(call["function"]["arguments"])
        except ValueError:
            arguments = None
        _need(isinstance(arguments, dict), "arguments are the JSON of an object")


def _check_pairs(messages: list[Json]) -> None:
    """Every call is answered once, in order, right after its message."""
    waiting: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            _need(bool(waiting), "a tool message follows a call")
            _need(message.get("tool_call_id") == waiting.pop(0), "tool messages come in the order of the calls")
            continue
        _need(not waiting, f"the calls {waiting} are not answered")
        waiting = [call["id"] for call in message.get("tool_calls", [])]
        _need(len(set(waiting)) == len(waiting) and not seen & set(waiting), "ids of calls are unique")
        seen |= set(waiting)
    _need(not waiting, f"the calls {waiting} are not answered")


def _parameters(body: Json, strict: Strict) -> Iterator[str]:
    if "stream_options" in body and not strict.stream_options:
        yield "Unrecognized request argument supplied: stream_options"
    for name in {"max_tokens", "max_completion_tokens"} & set(body) - strict.limits:
        other = next(iter(strict.limits), "nothing")
        yield f"Unsupported parameter: '{name}' is not supported with this model. Use '{other}' instead."
    kind = body.get("response_format", {}).get("type", "json_schema")
    if "response_format" in body and kind not in strict.schemas:
        yield f"This response_format type {kind} is unavailable now"


def _messages(messages: list[Json], strict: Strict) -> Iterator[str]:
    for at, message in enumerate(messages):
        role = message["role"]
        if role in {"system", "developer"} and role not in strict.system_roles:
            yield f"Unsupported value: 'messages[{at}].role' does not support '{role}' with this model."
        if role == "assistant":
            yield from _empty(message, at, strict)
            yield from _reasoning(message, at, strict)
    if strict.alternate:
        yield from _order([message["role"] for message in messages])


def _empty(message: Json, at: int, strict: Strict) -> Iterator[str]:
    shape = "absent" if "content" not in message else {None: "null", "": "blank"}.get(message["content"], "text")
    if shape != "text" and shape not in strict.empty_content:
        yield {
            "null": f"Invalid value for 'messages.[{at}].content': expected a string, got null.",
            "blank": f"messages.{at}: content must be non-empty text",
            "absent": f"messages[{at}]: missing field `content`",
        }[shape]


def _reasoning(message: Json, at: int, strict: Strict) -> Iterator[str]:
    given = message.get("reasoning_content")
    if strict.reasoning == "refused":
        if given is not None:
            yield f"messages.{at}.reasoning_content: Extra inputs are not permitted"
        return
    for call in message.get("tool_calls", []):
        if given is None or given != strict.reasoned.get(call["id"], given):
            yield "The `reasoning_content` in the thinking mode must be passed back to the API."


def _order(roles: list[str]) -> Iterator[str]:
    if roles[0] in {"system", "developer"}:
        roles = roles[1:]
    if {"system", "developer"} & set(roles):
        yield "System message must be at the beginning."
    if not roles or roles[0] != "user":
        yield "Conversation roles must alternate user/assistant/user/assistant/..."
    for before, role in itertools.pairwise(roles):
        if before == "tool" and role == "user":
            yield "Unexpected role 'user' after role 'tool'"
        if before == role != "tool":
            yield "Conversation roles must alternate user/assistant/user/assistant/..."
    if roles and roles[-1] == "assistant":
        yield "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"
