"""A memory file's text to a Memory and back: the only parser and the only writer of the format.

Reading is strict about YAML (no aliases, anchors, tags, duplicate keys, depth) and takes every scalar as text,
so that `NO`, `1.10` or a date stay what was written (LIBRARIES "Front matter and YAML"). Writing is canonical;
`rewrite` keeps the lines of every key whose value did not change, unknown keys and comments byte for byte.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final, TypeVar

from invincat.memory.entry import (
    TOMBSTONE,
    Confidence,
    InvalidMemory,
    Kind,
    Memory,
    Source,
    Tier,
    Unknown,
    Verdict,
    format_time,
    parse_time,
)
from invincat.memory.evidence import Evidence
from invincat.memory.marker import Marker
from invincat.memory.scope import Scope
from invincat.memory.yaml_scan import MalformedFile, Node, Segment, scan

# The longest memory takes less than half of it; the rest is for keys that we do not know.
MAX_FILE = 256 * 1024


_Choice = TypeVar("_Choice", Kind, Scope, Confidence, Tier, Verdict)

_PLAIN = re.compile(r"[^\W\d_](?:.*[^\s:])?")
_PLAIN_ITEM = re.compile(r"[a-z][a-z0-9-]*")
# What some YAML 1.1 or 1.2 loader would not read as a string, of what can start with a letter.
_NOT_STRINGS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_JSON_LEAVES_UNPRINTABLE = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def split(text: str) -> tuple[str, str]:
    """Front matter and body, byte for byte; MalformedFile where one of the fences is missing."""
    if not is_fenced(text):
        raise MalformedFile("does not begin with a line '---'", 1)
    end = text.find("\n---\n", 3)
    if end < 0:
        if not text.endswith("\n---"):
            raise MalformedFile("front matter is not closed by a line '---'", 1)
        return text[4:-3], ""
    return text[4 : end + 1], text[end + 5 :]


def is_fenced(text: str) -> bool:
    """Only `---` on the very first line opens front matter."""
    return text.startswith("---\n")


def export(metadata: Mapping[str, object]) -> str:
    """Canonical YAML of known keys in the form that `scan` reads."""
    return "".join(_render_node(key, value) for key, value in metadata.items())


def parse(data: bytes | str) -> Memory:
    """The memory in a file; MalformedFile with line and field for everything that is not one."""
    front, rest = split(_decode(data))
    fields, segments = scan(front)
    try:
        return _build(fields, segments, rest)
    except InvalidMemory as fault:
        line = _line_of(fault.field, segments)
        raise MalformedFile(fault.message, line, fault.field) from None


def render(memory: Memory) -> str:
    """The canonical text of a memory."""
    front = "".join(_render_known(memory).values()) + "".join(unknown.text for unknown in memory.unknown)
    return f"---\n{front}---\n{_render_body(memory)}"


def parse_marker(data: bytes | str) -> Marker:
    """The marker in a file below `deleted/`; MalformedFile as for `parse`."""
    front, rest = split(_decode(data))
    fields, segments = scan(front)
    try:
        known = _read_fields(fields, _MARKER_KEYS, Marker)
        return Marker(**known, tombstone=_split_tombstone(rest, ended=known.get("invalid_at") is not None)[1])
    except InvalidMemory as fault:
        raise MalformedFile(fault.message, _line_of(fault.field, segments), fault.field) from None


def render_marker(marker: Marker) -> str:
    """The canonical text of a marker."""
    front = "".join(_render_known(marker, _MARKER_KEYS).values())
    return f"---\n{front}---\n{f'{marker.tombstone}{chr(10)}' if marker.tombstone else ''}"


def rewrite(text: str, memory: Memory) -> str:
    """`text`, which parses to an earlier state of `memory`, with only the lines of changed values replaced."""
    front, rest = split(text)
    old = parse(text)
    _, segments = scan(front)
    before, after = _render_known(old), _render_known(memory)
    lines: list[Segment] = []
    for segment in segments:
        if segment.key is None or segment.key not in KEYS or before.get(segment.key) == after.get(segment.key):
            lines.append(segment)
        else:
            key = segment.key if segment.key in after else None
            lines.append(Segment(key, segment.head, after.get(segment.key, ""), segment.tail))
    present = {segment.key for segment in lines}
    for key in KEYS:
        if key in after and key not in present:
            lines.insert(_place(key, lines), Segment(key, "", after[key], ""))
    body = rest if (old.body, old.tombstone) == (memory.body, memory.tombstone) else _replace_body(rest, old, memory)
    return f"---\n{''.join(segment.text for segment in lines)}---\n{body}"


def _decode(data: bytes | str) -> str:
    if len(data) > MAX_FILE:
        raise MalformedFile(f"is larger than {MAX_FILE} bytes")
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise MalformedFile("is not UTF-8", data[: fault.start].count(b"\n") + 1) from None  # type: ignore[arg-type]
    if text.startswith("\ufeff"):
        raise MalformedFile("begins with a byte order mark", 1)
    if "\r" in text:
        raise MalformedFile("has carriage returns; line ends are LF", text[: text.index("\r")].count("\n") + 1)
    return text


def _place(key: str, lines: list[Segment]) -> int:
    """Where a new key goes: behind the nearest key that comes before it in canonical order."""
    order = {name: index for index, name in enumerate(KEYS)}
    earlier = [i for i, segment in enumerate(lines) if segment.key in order and order[segment.key] < order[key]]
    return earlier[-1] + 1 if earlier else 0


def _line_of(field: str, segments: tuple[Segment, ...]) -> int:
    """The line in the file on which a key stands; the first line of the body for the body."""
    line = 2
    for segment in segments:
        if segment.key == field.partition(".")[0]:
            return line + segment.head.count("\n")
        line += segment.text.count("\n")
    return line + 1 if field == "body" else 1


# --- plain values to a Memory ---


def _text(key: str, value: Node) -> str:
    if not isinstance(value, str):
        raise InvalidMemory(key, "is not text" if value is not None else "is null")
    return value


def _optional(key: str, value: Node) -> str | None:
    return None if value is None else _text(key, value)


def _number(key: str, value: Node) -> int:
    text = _text(key, value)
    if not re.fullmatch(r"0|[1-9][0-9]{0,5}", text):
        raise InvalidMemory(key, f"{text!r} is not a whole number")
    return int(text)


def _flag(key: str, value: Node) -> bool:
    text = _text(key, value)
    if text not in {"true", "false"}:
        raise InvalidMemory(key, f"{text!r} is neither true nor false")
    return text == "true"


def _time(key: str, value: Node) -> datetime:
    try:
        return parse_time(_text(key, value))
    except ValueError as fault:
        raise InvalidMemory(key, str(fault)) from None


def _optional_time(key: str, value: Node) -> datetime | None:
    return None if value is None else _time(key, value)


def _labels(key: str, value: Node) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise InvalidMemory(key, "is not a list")
    return tuple(_text(key, item) for item in value)


def _choice(choices: type[_Choice]) -> Callable[[str, Node], _Choice]:
    def read(key: str, value: Node) -> _Choice:
        text = _text(key, value)
        try:
            return choices(text)
        except ValueError:
            raise InvalidMemory(key, f"{text!r} is none of {', '.join(choices)}") from None

    return read


def _known_keys(key: str, value: Node, known: tuple[str, ...]) -> dict[str, Node]:
    if not isinstance(value, dict):
        raise InvalidMemory(key, "is not a mapping of keys")
    for name in value:
        if name not in known:
            raise InvalidMemory(key, f"has the unknown key {name!r}")
    return value


def _source(key: str, value: Node) -> Source:
    fields = _known_keys(key, value, Source.__struct_fields__)
    listed = fields.get("evidence") or []
    if not isinstance(listed, list):
        raise InvalidMemory("source.evidence", "is not a list")
    evidence = tuple(_evidence(item) for item in listed)
    texts = {name: _optional(f"source.{name}", text) for name, text in fields.items() if name != "evidence"}
    return Source(**{"actor": "", **texts}, evidence=evidence)  # type: ignore[arg-type]


def _evidence(value: Node) -> Evidence:
    fields = _known_keys("source.evidence", value, Evidence.__struct_fields__)
    return Evidence(
        at=_text("source.evidence.at", fields.get("at")),
        blob=_optional("source.evidence.blob", fields.get("blob")),
        quote=_optional("source.evidence.quote", fields.get("quote")),
    )


# Every known key in canonical order, with its reader. `source` is the only nested one.
Readers = Mapping[str, Callable[[str, Node], object]]

KEYS: Final[Readers] = {
    "id": _text,
    "title": _text,
    "kind": _choice(Kind),
    "section": _text,
    "scope": _choice(Scope),
    "project": _text,
    "confidence": _choice(Confidence),
    "tier": _choice(Tier),
    "score": _number,
    "score_reason": _text,
    "verdict": _choice(Verdict),
    "created_at": _time,
    "updated_at": _time,
    "last_scored_at": _time,
    "valid_from": _time,
    "invalid_at": _optional_time,
    "superseded_by": _optional,
    "set_aside": _text,
    "restores": _number,
    "source": _source,
    "applies_to": _labels,
    "tags": _labels,
    "check": _text,
}
_MARKER_KEYS: Final[Readers] = {
    **{key: read for key, read in KEYS.items() if key in Marker.__struct_fields__},
    "text": _text,
    "content": _text,
    "purged": _flag,
    "reason": _text,
}
_OPTIONAL: Final = {
    "project", "score_reason", "set_aside", "restores", "applies_to", "tags", "check", "text", "content", "purged",
}  # fmt: skip


def _build(fields: dict[str, Node], segments: tuple[Segment, ...], rest: str) -> Memory:
    known = _read_fields(fields, KEYS, Memory)
    unknown = tuple(Unknown(s.key, s.text) for s in segments if s.key is not None and s.key not in KEYS)
    body, tombstone = _split_tombstone(rest, ended=known["invalid_at"] is not None)
    return Memory(**known, unknown=unknown, body=body, tombstone=tombstone)


def _read_fields(fields: dict[str, Node], readers: Readers, whose: type[Memory | Marker]) -> dict[str, Any]:
    if missing := [key for key in readers if key not in fields and key not in _OPTIONAL]:
        raise InvalidMemory(missing[0], f"is missing; a {whose.__name__.lower()} needs it")
    return {key: read(key, fields[key]) for key, read in readers.items() if key in fields}


def _split_tombstone(rest: str, *, ended: bool) -> tuple[str, str | None]:
    body = rest.strip("\n")
    head, _, last = body.rpartition("\n")
    if ended and TOMBSTONE.match(last):
        return head.rstrip("\n"), last
    return body, None


# --- a Memory to canonical text ---


def _render_known(memory: Memory | Marker, keys: Iterable[str] = ()) -> dict[str, str]:
    """Canonical lines of each known key that is to be written."""
    lines = {}
    for key in keys or KEYS:
        value = getattr(memory, key)
        if key in _OPTIONAL and not value:
            continue
        lines[key] = _render_source(value) if isinstance(value, Source) else _render_node(key, value)
    return lines


def _render_node(key: str, value: object) -> str:
    if value is None:
        return f"{key}: null\n"
    if isinstance(value, datetime):
        return f"{key}: {format_time(value)}\n"
    if isinstance(value, bool):
        return f"{key}: {'true' if value else 'false'}\n"
    if isinstance(value, int):
        return f"{key}: {value}\n"
    if isinstance(value, tuple | list):
        return f"{key}: [{', '.join(_flow_item(item) for item in value)}]\n"
    return f"{key}: {_scalar(key, str(value))}\n"


def _render_source(source: Source) -> str:
    lines = ["source:\n"]
    for name in Source.__struct_fields__:
        value = getattr(source, name)
        if name != "evidence" and value is not None:
            lines.append(f"  {name}: {_scalar(name, value)}\n")
    if source.evidence:
        lines.append("  evidence:\n")
    for item in source.evidence:
        dash = "-"
        for name in Evidence.__struct_fields__:
            if (value := getattr(item, name)) is not None:
                lines.append(f"  {dash} {name}: {_scalar(name, value)}\n")
                dash = " "
    return "".join(lines)


# Values of these keys are plain whatever they look like: a reader of ours takes every scalar as text.
_ALWAYS_PLAIN: Final = {"id", "superseded_by", "set_aside", "session", "commit", "blob"}


def _scalar(key: str, text: str) -> str:
    if key in _ALWAYS_PLAIN and re.fullmatch(r"[0-9A-Za-z]+", text):
        return text
    is_plain = (
        _PLAIN.fullmatch(text)
        and text.isprintable()
        and ": " not in text
        and " #" not in text
        and text.lower() not in _NOT_STRINGS
    )
    return text if is_plain else _quoted(text)


def _flow_item(text: str) -> str:
    return text if _PLAIN_ITEM.fullmatch(text) and text not in _NOT_STRINGS else _quoted(text)


def _quoted(text: str) -> str:
    """A JSON string with Unicode left as it is, save what YAML may not hold unescaped."""
    quoted = json.dumps(text, ensure_ascii=False)
    return _JSON_LEAVES_UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def _render_body(memory: Memory) -> str:
    parts = [part for part in (memory.body, memory.tombstone) if part]
    return "\n\n".join(parts) + "\n" if parts else ""


def _replace_body(rest: str, old: Memory, memory: Memory) -> str:
    """The new body; where only a tombstone came, what stood before keeps its bytes (RULES 1.5)."""
    if old.body == memory.body and old.tombstone is None and memory.tombstone is not None and old.body:
        return f"{rest.rstrip(chr(10))}\n\n{memory.tombstone}\n"
    return _render_body(memory)
