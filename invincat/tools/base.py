"""What a tool is: a description for models, arguments that are decoded strictly, a result that is bounded."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar

import msgspec

from invincat.errors import UserError
from invincat.llm.schema import ToolSpec
from invincat.memory.content import one_line
from invincat.resources import template

MAX_RESULT: Final = 16_000
MAX_SUMMARY: Final = 120

_ROOM_FOR_NOTE: Final = 400
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_WORDS: Final = {
    "string": "text",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}

Shape = TypeVar("Shape", bound=msgspec.Struct)


class BadArguments(UserError):
    """The arguments of a call are not what the tool takes; the message names each, and what is allowed."""


@dataclass(frozen=True)
class Result:
    """What a call brought. `text` is for the model, `summary` one short line for people."""

    text: str
    is_error: bool = False
    summary: str = field(kw_only=True)


def failure(text: str, *, summary: str) -> Result:
    """A result that says it is an error in its text too, because the wire has no field for that."""
    return Result(f"Error: {text}", is_error=True, summary=summary)


class Tool(Protocol):
    """One thing a model may ask for.

    `run` takes the decoded JSON object. It raises InvincatError or OSError for what the model should hear; the
    toolbox makes error results of them. Cancelling it ends what it started.
    """

    @property
    def spec(self) -> ToolSpec:
        """Name, description and parameters, as models get them."""

    async def run(self, arguments: dict[str, Any]) -> Result:
        """Do it."""


# --- arguments: one Struct is both the schema for the model and the check ---


def spec_of(name: str, shape: type[msgspec.Struct]) -> ToolSpec:
    """The tool as models see it; the description is `templates/tools/<name>.md`."""
    return ToolSpec(name, description_of(name), _schema(shape))


def description_of(name: str) -> str:
    """What models are told of a tool."""
    return template(f"tools/{name}.md").strip()


def decode(shape: type[Shape], arguments: Mapping[str, Any]) -> Shape:
    """The arguments as a value; BadArguments with every fault, not only the first. Null stands for not given."""
    properties = _schema(shape)["properties"]
    faults: list[str] = []
    values: dict[str, Any] = {}
    for one in msgspec.structs.fields(shape):
        value = arguments.get(one.name)
        if value is None:
            if one.required:
                faults.append(f"{one.name} is missing; it must be {_allowed(properties[one.name])}")
            continue
        try:
            values[one.name] = msgspec.convert(value, one.type)
        except msgspec.ValidationError:
            faults.append(f"{one.name} must be {_allowed(properties[one.name])}, not {_shown(value)}")
    faults += [f"there is no argument {_shown(name)}" for name in arguments if name not in properties]
    if faults:
        raise BadArguments("; ".join(faults), next_step=f"the arguments are {', '.join(properties)}")
    return shape(**values)


def _schema(shape: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON schema of a Struct of plain fields. That null may be said for "not given" is not advertised."""
    _, components = msgspec.json.schema_components([shape])
    found = components[shape.__name__]
    properties = {name: _flat(inner, components) for name, inner in found["properties"].items()}
    return {
        "type": "object",
        "properties": properties,
        "required": found["required"],
        "additionalProperties": False,
    }


def _flat(schema: dict[str, Any], components: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """The schema of one field without references, and without null as an alternative."""
    rest = {key: value for key, value in schema.items() if key not in {"anyOf", "$ref", "title"}}
    if rest.get("default", "") is None:
        del rest["default"]
    for branch in schema.get("anyOf", ()):
        if branch != {"type": "null"}:
            rest = {**_flat(branch, components), **rest}
    if "$ref" in schema:
        rest = {**_flat(components[schema["$ref"].rpartition("/")[2]], components), **rest}
    # Some endpoints refuse choices without a type.
    return {"type": "string", **rest} if "enum" in rest else rest


def _allowed(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    word = _WORDS[schema["type"]]
    for least, most, unit in (("minimum", "maximum", ""), ("minLength", "maxLength", " characters")):
        if most in schema:
            return f"{word} of {schema.get(least, 0)} to {schema[most]}{unit}"
        if least in schema:
            return f"{word} of {schema[least]} or more{unit}"
    return word


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


# --- text that comes from elsewhere ---


def visible(text: str) -> str:
    r"""One line of foreign text with control characters and undecodable bytes as `\x1b`, so that it stays one line.

    Bytes that are not UTF-8 are expected as `surrogateescape` gives them.
    """
    return _CONTROLS.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    code = code - 0xDC00 if 0xDC80 <= code <= 0xDCFF else code
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def summarise(*words: object) -> str:
    """A summary: the words on one line of at most `MAX_SUMMARY` characters."""
    line = visible(one_line(" ".join(str(word) for word in words if word not in {None, ""})))
    return line if len(line) <= MAX_SUMMARY else f"{line[: MAX_SUMMARY - 1]}…"


def bounded(text: str, how: str, most: int = MAX_RESULT) -> str:
    """The text within `most` characters: head and tail, and between them a line that says what was cut.

    `how` tells how to get what was cut. Cut at line ends where lines are not too long for that.
    """
    if len(text) <= most:
        return text
    room = most - _ROOM_FOR_NOTE
    head, tail = text[: room * 2 // 3], text[-(room // 3) :]
    head = head[: head.rfind("\n") + 1] or head
    tail = tail[tail.find("\n") + 1 :] or tail
    cut = text[len(head) : len(text) - len(tail)]
    note = f"[... {len(cut)} characters ({cut.count(chr(10))} lines) left out here; {how[:200]} ...]"
    return f"{head}{'' if head.endswith(chr(10)) else chr(10)}{note}\n{tail}"
