"""What a conversation with a model consists of: a closed union of values that a session log can hold as JSON."""

from typing import Final

import msgspec

# What a call is named that the model gave no name; no tool has it, so the loop answers with an error.
UNNAMED: Final = "unnamed"


def is_json_object(text: str) -> bool:
    """Whether the text is strict JSON (no NaN, no trailing comma) of one object."""
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """The model asks for one tool. Build it from model output with `read`.

    `arguments` is always the JSON text of an object. When the model sent something else, that stands in `invalid`,
    `arguments` is `{}`, and the call is answered with an error result and never run.
    """

    id: str
    name: str
    arguments: str = "{}"
    invalid: str | None = None

    def __post_init__(self) -> None:
        if not self.id or not self.name:
            raise ValueError("a call has an id and a name")
        if not is_json_object(self.arguments):
            raise ValueError("arguments are the JSON text of an object")

    @classmethod
    def read(cls, id: str, name: str, raw: str) -> "ToolCall":
        """A call from what a model sent; nothing and `null` mean no arguments, anything else odd is `invalid`."""
        name = name or UNNAMED
        if raw.strip() in {"", "null"}:
            return cls(id, name)
        return cls(id, name, raw) if is_json_object(raw) else cls(id, name, invalid=raw)


class System(msgspec.Struct, frozen=True, tag="system", tag_field="role"):
    """Instructions of ours."""

    text: str


class User(msgspec.Struct, frozen=True, tag="user", tag_field="role"):
    """The person's words, or ours in their place."""

    text: str


class Assistant(msgspec.Struct, frozen=True, tag="assistant", tag_field="role", omit_defaults=True):
    """A whole answer of the model. `reasoning` is kept for endpoints that want it back."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    reasoning: str | None = None

    @property
    def is_empty(self) -> bool:
        """No text and no calls: never stored, never sent."""
        return not self.calls and not self.text.strip()


class ToolResult(msgspec.Struct, frozen=True, tag="tool", tag_field="role", omit_defaults=True):
    """What a call brought. The wire has no field for `is_error`: the text says so itself."""

    call_id: str
    text: str
    is_error: bool = False


Message = System | User | Assistant | ToolResult
