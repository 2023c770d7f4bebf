"""What a person edits of a memory: the settable keys and the body, as a file, and back to an operation (RULES 2).

Ids, times and the end of a memory are not on the sheet, nor is its evidence, which is quoted and not worded.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from invincat.memory.content import tidy
from invincat.memory.frontmatter import export, split
from invincat.memory.view import Record
from invincat.memory.yaml_scan import MalformedFile, Node, Segment, scan

# Each key of the sheet, in the order of the file, and what it shows of a memory.
_KEYS: Final[Mapping[str, Callable[[Record], object]]] = {
    "title": lambda record: record.memory.title,
    "name": lambda record: record.name,
    "kind": lambda record: record.memory.kind,
    "section": lambda record: record.memory.section,
    "confidence": lambda record: record.memory.confidence,
    "tier": lambda record: record.memory.tier,
    "score": lambda record: record.memory.score,
    "score_reason": lambda record: record.memory.score_reason or "",
    "verdict": lambda record: record.memory.verdict,
    "applies_to": lambda record: record.memory.applies_to,
    "tags": lambda record: record.memory.tags,
    "check": lambda record: record.memory.check or "",
}
_LISTS: Final = {"applies_to", "tags"}
_REASON: Final = "reason"
_HELP: Final = "# Save and close the editor. What is saved goes through the gate; an empty file changes nothing.\n"


@dataclass(frozen=True)
class Sheet:
    """A sheet as it was saved: the fields of `set` that differ from the memory, and the line of each key."""

    changes: Mapping[str, Any]
    lines: Mapping[str, int]

    def line_of(self, field: str | None) -> int:
        """The line on which a field stands; the first of the body for the content, 0 for what has no line."""
        return self.lines.get(field or "", 0)


def write_sheet(record: Record, reason: str = "") -> str:
    """The sheet of a memory. A reason that is already known stands in it."""
    values = {key: show(record) for key, show in _KEYS.items()}
    front = export({**values, _REASON: reason})
    return f"---\n{_HELP}{front}---\n{record.memory.body}\n"


def read_sheet(text: str, record: Record) -> Sheet:
    """What a saved sheet changes of the memory; MalformedFile with line and field for what is no sheet.

    A key that was taken away is an empty value, which most of them may not have: whether a value is legal is for the
    operation to say.
    """
    front, body = split(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    fields, segments = scan(front)
    lines = _lines(segments) | {"content": front.count("\n") + 3}
    for key in fields:
        if key not in _KEYS and key != _REASON:
            raise MalformedFile(f"is no key that can be set; these can: {', '.join(_KEYS)}", lines[key], key)
    before = _values(scan(split(write_sheet(record))[0])[0], {})
    after = _values(fields, lines)
    changes: dict[str, Any] = {key: value for key, value in after.items() if value != before[key]}
    if tidy(body).strip() != tidy(record.memory.body).strip():
        # A body that is gone leaves the title to say it all, which is what content equal to the title means.
        changes["content"] = tidy(body).strip() or after["title"]
        changes["title"] = after["title"]
    if changes and fields.get(_REASON):
        changes[_REASON] = fields[_REASON]
    return Sheet(changes, lines)


def _values(fields: Mapping[str, Node], lines: Mapping[str, int]) -> dict[str, Any]:
    """The value of every key as JSON would give it."""
    values: dict[str, Any] = {}
    for key in _KEYS:
        value = fields.get(key)
        if key in _LISTS:
            values[key] = [] if value is None or value == "" else value
        elif isinstance(value, dict | list):
            raise MalformedFile("is not text; put it in quotes if it begins with [ or {", lines.get(key, 1), key)
        else:
            values[key] = value or ""
    if re.fullmatch(r"[0-9]{1,9}", values["score"]):
        values["score"] = int(values["score"])
    return values


def _lines(segments: tuple[Segment, ...]) -> dict[str, int]:
    """The line of each key in the file, whose first line is `---`."""
    found = {}
    line = 2
    for segment in segments:
        if segment.key is not None:
            found[segment.key] = line + segment.head.count("\n")
        line += segment.text.count("\n")
    return found
