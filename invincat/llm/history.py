"""Making a conversation one that an endpoint takes, whatever happened to it (ASSISTANT "History stays sendable").

`Profile` is what one endpoint accepts. It starts as most endpoints are; `learn` changes it by what a 400 says.
"""

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal

import msgspec

from invincat.llm.message import Assistant, Message, System, ToolCall, ToolResult, User

INTERRUPTED: Final = "interrupted: this call did not finish; it may or may not have had an effect"

# Endpoints that refuse an empty text would refuse the whole conversation for it, for ever.
NO_OUTPUT: Final = "(no output)"

# Stands where roles must alternate and nobody said anything.
CONTINUED: Final = "(continued)"

_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]")

EmptyContent = Literal["null", "blank", "absent"]


class Profile(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an endpoint accepts. Can be stored as JSON and given to the next client for the same endpoint.

    - `empty_content`: how the missing text of an assistant message with calls is written.
    - `reasoning`: the field in which reasoning goes back, None to leave it out.
    - `alternate`: one system message, first; then user and assistant in turn.
    - `schema`: how an answer's schema is asked for; None is in words only.
    """

    empty_content: EmptyContent = "null"
    reasoning: Literal["reasoning_content", "reasoning"] | None = None
    stream_options: bool = True
    max_tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    system_role: Literal["system", "developer", "user"] = "system"
    alternate: bool = False
    schema: Literal["json_schema", "json_object"] | None = "json_schema"


def sendable(messages: Sequence[Message]) -> list[Message]:
    """The messages such that every call is followed by exactly one result, in order, and none is empty. Idempotent.

    Results are looked for up to the next assistant message; a missing one is INTERRUPTED; orphans and second results
    go. Ids that come twice in the conversation are told apart.
    """
    taken: set[str] = set()
    kept: list[Message] = []
    for position, message in enumerate(messages):
        match message:
            case ToolResult():
                continue  # stands with its call, or is an orphan
            case Assistant(calls=calls) if calls:
                found = _results(messages[position + 1 :])
                own = [msgspec.structs.replace(call, id=_unique(call.id, taken)) for call in calls]
                kept.append(msgspec.structs.replace(message, calls=tuple(own)))
                kept.extend(_answer(call, found[asked.id]) for asked, call in zip(calls, own, strict=True))
            case System() | User() | Assistant():
                if message.text.strip():
                    kept.append(message)
    return kept


def _results(after: Iterable[Message]) -> dict[str, deque[ToolResult]]:
    """The results before the next assistant message, by the id of their call."""
    found: dict[str, deque[ToolResult]] = defaultdict(deque)
    for message in after:
        if isinstance(message, Assistant):
            break
        if isinstance(message, ToolResult):
            found[message.call_id].append(message)
    return found


def _answer(call: ToolCall, results: deque[ToolResult]) -> ToolResult:
    if not results:
        return ToolResult(call.id, INTERRUPTED, is_error=True)
    return msgspec.structs.replace(results.popleft(), call_id=call.id)


def _unique(id: str, taken: set[str]) -> str:
    found, number = id, 1
    while found in taken:
        number += 1
        found = f"{id}_{number}"
    taken.add(found)
    return found


def to_wire(messages: Sequence[Message], profile: Profile) -> list[dict[str, Any]]:
    """The `messages` array of a request. Makes them sendable first, so that nobody can forget it."""
    shaped = sendable(messages)
    if profile.system_role == "user":
        shaped = [User(message.text) if isinstance(message, System) else message for message in shaped]
    if profile.alternate:
        shaped = _alternating(shaped)
    return [_one_to_wire(message, profile) for message in shaped]


def _one_to_wire(message: Message, profile: Profile) -> dict[str, Any]:
    match message:
        case System(text):
            return {"role": profile.system_role, "content": _clean(text)}
        case User(text):
            return {"role": "user", "content": _clean(text)}
        case ToolResult(call_id, text):
            content = _clean(text) if text.strip() else NO_OUTPUT
            return {"role": "tool", "tool_call_id": _clean(call_id), "content": content}
        case Assistant():
            return _assistant_to_wire(message, profile)


def _assistant_to_wire(message: Assistant, profile: Profile) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": "assistant"}
    if message.text.strip():
        wire["content"] = _clean(message.text)
    elif profile.empty_content != "absent":
        wire["content"] = {"null": None, "blank": ""}[profile.empty_content]
    # Endpoints that want reasoning back want the field with every call, even when another model made the call.
    if profile.reasoning and (message.reasoning or message.calls):
        wire[profile.reasoning] = _clean(message.reasoning or "")
    if message.calls:
        wire["tool_calls"] = [
            {
                "id": _clean(call.id),
                "type": "function",
                "function": {"name": _NOT_IN_NAMES.sub("_", call.name)[:64], "arguments": call.arguments},
            }
            for call in message.calls
        ]
    return wire


def _clean(text: str) -> str:
    """Half of a surrogate pair, as a terminal or a file name can bring, has no bytes in UTF-8."""
    return text.encode("utf-8", "replace").decode()


def _alternating(messages: Sequence[Message]) -> list[Message]:
    """One system message first, then user and assistant in turn; a tool result is followed by an assistant message."""
    shaped: list[Message] = []
    for message in messages:
        last = shaped[-1] if shaped else None
        match last, message:
            case System(before), System(text):
                shaped[-1] = System(f"{before}\n\n{text}")
            case None, System():
                shaped.append(message)
            case User(before), System(text) | User(text):
                shaped[-1] = User(f"{before}\n\n{text}")
            case ToolResult(), System(text) | User(text):
                shaped += [Assistant(CONTINUED), User(text)]
            case _, System(text):
                shaped.append(User(text))
            case Assistant(text=before), Assistant(text=text):
                joined = "\n\n".join(part for part in (before, text) if part.strip())
                shaped[-1] = msgspec.structs.replace(message, text=joined)
            case None | System(), Assistant():
                shaped += [User(CONTINUED), message]
            case _:
                shaped.append(message)
    if shaped and isinstance(shaped[-1], Assistant | System):
        shaped.append(User(CONTINUED))
    return shaped


# Characters of an error that are looked at.
_LONGEST_ERROR: Final = 4000

_Change = Callable[[Profile], dict[str, Any]]

_REFUSED: Final = (
    r"(?:unsupported|not support|unrecogni[sz]ed|unknown|unexpected|extra|not permitted|not allowed|not accepted"
    r"|invalid (?:parameter|argument|field)|forbidden|cannot be used|unavailable)"
)
_NEXT_SCHEMA: Final[dict[str, Literal["json_object"]]] = {"json_schema": "json_object"}
_NEXT_EMPTY: Final[dict[EmptyContent, EmptyContent]] = {"null": "blank", "blank": "absent", "absent": "null"}


def _near(subject: str, complaint: str = _REFUSED) -> str:
    """A pattern for a subject and a complaint in one error, in either order."""
    return rf"{subject}.*{complaint}|{complaint}.*{subject}"


def _swap_limit(profile: Profile) -> dict[str, Any]:
    return {"max_tokens": "max_completion_tokens" if profile.max_tokens == "max_tokens" else "max_tokens"}


def _swap_reasoning(profile: Profile) -> dict[str, Any]:
    return {"reasoning": None if profile.reasoning else "reasoning_content"}


_SYSTEM_ROLE: Final = (
    r"system ?(?:role|prompt|message|instruction)s?\b.{0,30}(?:not|un)\W?(?:support|allow|permit|accept)"
    r"|not support\w* (?:with )?.?system\b|role.*\bsystem\b.*not|(?:not support|unsupported).*role.*system"
)
_ORDER: Final = (
    r"alternat|unexpected role|expected last role|at the beginning|must be (?:the )?first|first message"
    r"|last message|consecutive|in a row|after (?:the )?role"
)
_ABSENCE: Final = r"(?:null|none|empty|blank|missing|required|valid string|(?:a|be|type) string|non.?empty|at least)"

# (what the text of a 400 says, what to do differently), the special before the general.
_LESSONS: Final[tuple[tuple[str, _Change], ...]] = (
    (r"stream_options|include_usage", lambda _: {"stream_options": False}),
    (_near(r"max_(?:completion_)?tokens", f"(?:{_REFUSED}|use .max)"), _swap_limit),
    (r"reasoning_content", _swap_reasoning),
    (r"""['"`]reasoning['"`]""", lambda p: {"reasoning": None if p.reasoning else "reasoning"}),
    (r"response_format|json_schema|json_object", lambda p: {"schema": _NEXT_SCHEMA.get(p.schema or "")}),
    (rf"\bdeveloper\b|{_SYSTEM_ROLE}", lambda p: {"system_role": "developer" if p.system_role == "system" else "user"}),
    # Who still finds the order wrong means the system message.
    (_ORDER, lambda p: {"alternate": True, "system_role": "user" if p.alternate else p.system_role}),
    (_near(r"\bcontent\b", _ABSENCE), lambda p: {"empty_content": _NEXT_EMPTY[p.empty_content]}),
)


def learn(profile: Profile, error_text: str) -> Profile | None:
    """The profile to try next after a 400 with this text; None when it says nothing about the shape of a request.

    Answers may lead in a circle (every shape refused): who asks stops at a profile it has tried.
    """
    text = " ".join(error_text[:_LONGEST_ERROR].lower().split())
    for pattern, change in _LESSONS:
        if re.search(pattern, text):
            learned = msgspec.structs.replace(profile, **change(profile))
            return learned if learned != profile else None
    return None
