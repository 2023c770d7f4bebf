"""How each field of an operation is read, and how a model is told of it. A value that is not legal is never repaired.

A reader takes what JSON gave and returns the value; ValueError or InvalidMemory says what is wrong with it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import msgspec

from invincat.memory.content import one_line, tidy
from invincat.memory.entry import (
    MAX_BODY,
    MAX_REASON,
    MAX_SECTION,
    MAX_TITLE,
    Confidence,
    Kind,
    Tier,
    Verdict,
    check_line,
    parse_time,
)
from invincat.memory.evidence import MAX_EVIDENCE, Evidence, parse_location
from invincat.memory.naming import is_name, section_slug
from invincat.memory.scope import NoProject, Scope, require_slug

_Choices = type[Scope] | type[Kind] | type[Confidence] | type[Tier] | type[Verdict]


def _string(most: int) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        text = _text(value)
        check_line("", text, most)
        return text

    return read


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be text, not {shown_type(value)}")
    return value


def _content(value: Any) -> str:
    text = tidy(_text(value)).strip()
    if not text:
        raise ValueError("is empty")
    if len(text) > MAX_BODY:
        raise ValueError(f"has {len(text)} characters, at most {MAX_BODY} are allowed")
    return text


def _reason(value: Any) -> str:
    text = one_line(_text(value))
    check_line("", text, MAX_REASON)
    return text


def _section(value: Any) -> str:
    text = _string(MAX_SECTION)(value)
    if not section_slug(text):
        raise ValueError("has no letter or digit to make a folder's name of")
    if {".", ".."} & set(re.split(r"[/\\]", text)):
        raise ValueError(f"is no path; give a heading, such as Testing, not {text!r}")
    return text


def _name(value: Any) -> str:
    text = _text(value)
    if not is_name(text):
        raise ValueError(f"{text!r} is not a name: a-z, 0-9 and single hyphens, 1 to 80 characters, none reserved")
    return text


def _project(value: Any) -> str:
    try:
        return require_slug(_text(value))
    except NoProject as fault:
        raise ValueError(str(fault)) from None


def _check(value: Any) -> str:
    text = _text(value)
    check_line("", text or None, MAX_BODY, optional=True)
    return text


def _score(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100 or value % 1:
        raise ValueError(f"must be a whole number from 0 to 100, not {str(value)[:20]}")
    return int(value)


def _choice(choices: _Choices) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if not isinstance(value, str) or value not in tuple(choices):
            raise ValueError(f"must be one of {', '.join(choices)}, not {value!r}")
        return choices(value)

    return read


def _time(value: Any) -> datetime:
    return parse_time(_text(value))


def _labels(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"must be a list of texts, not {shown_type(value)}")
    return tuple(_string(120)(item) for item in value)


def _patterns(value: Any) -> tuple[str, ...]:
    patterns = _labels(value)
    if comment := next((pattern for pattern in patterns if pattern.startswith("#")), None):
        raise ValueError(f"has {comment!r}, which git's patterns take for a comment; one is like src/** or docs/*.md")
    return patterns


def _evidence(value: Any) -> tuple[Evidence, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"must be a list of items with 'at' and 'quote', not {shown_type(value)}")
    if len(value) > MAX_EVIDENCE:
        raise ValueError(f"at most {MAX_EVIDENCE} items, not {len(value)}")
    return tuple(_evidence_item(item) for item in value)


def _evidence_item(value: Any) -> Evidence:
    if not isinstance(value, dict):
        raise ValueError(f"each item must have 'at', not be {shown_type(value)}")
    if extra := sorted(value.keys() - {"at", "blob", "quote"}):
        raise ValueError(f"an item has the unknown key {extra[0]!r}")
    item = msgspec.convert(value, Evidence)
    parse_location(item.at)
    return item


def shown_type(value: Any) -> str:
    """What a value of JSON is, in words."""
    words = {bool: "true or false", type(None): "null", dict: "an object", list: "a list", str: "text"}
    return words.get(type(value), "a number")


@dataclass(frozen=True)
class Field:
    """How one field of an operation is read, and the JSON schema that models get for it."""

    read: Callable[[Any], Any]
    schema: Mapping[str, Any]


def _enum(choices: _Choices) -> Field:
    return Field(_choice(choices), {"type": "string", "enum": [str(choice) for choice in choices]})


_LINE: Final = {"type": "string", "minLength": 1}
_LIST: Final = {"type": "array", "items": _LINE}

FIELDS: Final[Mapping[str, Field]] = {
    "id": Field(_string(120), {**_LINE, "description": "id or name of the memory"}),
    "by": Field(_string(120), {**_LINE, "description": "id or name of the memory that takes its place"}),
    "scope": _enum(Scope),
    "section": Field(_section, {**_LINE, "maxLength": MAX_SECTION}),
    "content": Field(_content, {**_LINE, "maxLength": MAX_BODY, "description": "the claim first, then why"}),
    "title": Field(_string(MAX_TITLE), {**_LINE, "maxLength": MAX_TITLE}),
    "name": Field(_name, {**_LINE, "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$"}),
    "project": Field(_project, {**_LINE, "description": "user scope: the slug of the one project where it holds"}),
    "kind": _enum(Kind),
    "confidence": _enum(Confidence),
    "score": Field(_score, {"type": "integer", "minimum": 0, "maximum": 100}),
    "tier": _enum(Tier),
    "score_reason": Field(_reason, {**_LINE, "maxLength": MAX_REASON}),
    "verdict": _enum(Verdict),
    "applies_to": Field(_patterns, {**_LIST, "description": "globs of the paths it is about"}),
    "tags": Field(_labels, _LIST),
    "check": Field(_check, {"type": "string", "description": "a command; empty: none"}),
    "valid_from": Field(_time, {**_LINE, "description": "like 2026-11-29T10:00:00Z, not in the future"}),
    "reason": Field(_reason, {**_LINE, "maxLength": MAX_REASON}),
    "evidence": Field(
        _evidence,
        {
            "type": "array",
            "maxItems": MAX_EVIDENCE,
            "items": {
                "type": "object",
                "properties": {"at": _LINE, "blob": _LINE, "quote": _LINE},
                "required": ["at"],
                "additionalProperties": False,
            },
        },
    ),
}
