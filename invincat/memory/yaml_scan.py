"""The YAML of front matter, read strictly: one pass over the events gives the values and the lines of each key.

No aliases, anchors, tags, duplicate keys or depth; every scalar is text, so that `NO`, `1.10` or a date stay what
was written (LIBRARIES "Front matter and YAML").
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Union

import yaml
from yaml.reader import ReaderError

from invincat.errors import UserError

MAX_DEPTH = 6

Node = Union[str, None, list["Node"], dict[str, "Node"]]  # noqa: UP007 - `|` cannot name what is being defined


class MalformedFile(UserError):
    """A file that is no memory; `line` counts from 1, 0 when it is about the whole file."""

    def __init__(self, message: str, line: int = 0, field: str | None = None) -> None:
        super().__init__(message, where=field)
        self.message = message
        self.line = line
        self.field = field


@dataclass(frozen=True)
class Segment:
    """One top-level key: the comments right above it, its own lines, then comments and empty lines that stand alone.

    `key` is None where only the comments of a key are left.
    """

    key: str | None
    head: str
    lines: str
    tail: str

    @property
    def text(self) -> str:
        """All of it."""
        return self.head + self.lines + self.tail


def scan(front: str) -> tuple[dict[str, Node], tuple[Segment, ...]]:
    """The mapping in `front` and the lines of each of its keys; MalformedFile counts lines from the `---` above."""
    try:
        root, spans = _Composer(front).mapping()
    except ReaderError as fault:
        line = front.encode("utf-8", "surrogatepass")[: fault.position].count(b"\n") + 2
        raise MalformedFile(f"is not YAML: {fault.reason}", line) from None
    except yaml.MarkedYAMLError as fault:
        # A quote or bracket that nobody closed is found where the text ends; a block began long before its fault.
        is_unclosed = (fault.context or "").startswith(("while scanning", "while parsing a flow"))
        mark = (is_unclosed and fault.context_mark) or fault.problem_mark
        raise MalformedFile(f"is not YAML: {fault.problem}", mark.line + 2 if mark else 1) from None
    except (yaml.YAMLError, ValueError, RecursionError) as fault:
        raise MalformedFile(f"is not YAML: {fault}", 1) from None
    return root, _segments(front, spans)


class _Span(NamedTuple):
    """A key, the line it stands on, and the first line that cannot be part of its value (lines count from 0)."""

    key: str
    start: int
    stop: int


class _Composer:
    """Builds plain values from the events of the C parser and refuses what a memory has no use for."""

    def __init__(self, text: str) -> None:
        self._events = iter(yaml.parse(text, Loader=yaml.CSafeLoader))
        self._stop = 0

    def mapping(self) -> tuple[dict[str, Node], list[_Span]]:
        """The top-level mapping and where each of its keys stands."""
        for event in self._events:
            self._refuse_document_marker(event)
            if isinstance(event, yaml.MappingStartEvent):
                break
            if not isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent):
                raise MalformedFile("front matter is not a mapping of keys", _line(event))
        self._refuse_extras(event)
        if getattr(event, "flow_style", False):
            raise MalformedFile("front matter is not one key a line", _line(event))
        root: dict[str, Node] = {}
        spans: list[_Span] = []
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._key(event, root)
            if event.start_mark is None or event.start_mark.column:
                raise MalformedFile("has a key that does not begin its line", _line(event), key)
            self._stop = event.start_mark.line + 1
            root[key] = self._value(next(self._events), 1)
            spans.append(_Span(key, event.start_mark.line, self._stop))
        if not isinstance(event := next(self._events), yaml.DocumentEndEvent):
            raise MalformedFile("has something after the front matter", _line(event))
        self._refuse_document_marker(event)
        if not isinstance(event := next(self._events), yaml.StreamEndEvent):
            raise MalformedFile("has a second document in the front matter", _line(event))
        return root, spans

    def _value(self, event: yaml.Event, depth: int) -> Node:
        self._refuse_extras(event)
        if isinstance(event, yaml.ScalarEvent):
            # A block scalar's end lies behind the empty lines that follow; its text is indented, so no comment is it.
            mark = event.start_mark if event.style in {"|", ">"} else event.end_mark
            self._stop = max(self._stop, mark.line + 1 if mark else 0)
            is_null = event.implicit[0] and event.value in {"", "null", "~", "Null", "NULL"}
            return None if is_null else event.value
        if depth >= MAX_DEPTH:
            raise MalformedFile(f"is nested deeper than {MAX_DEPTH}", _line(event))
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Node] = []
            while not isinstance(item := next(self._events), yaml.SequenceEndEvent):
                items.append(self._value(item, depth + 1))
            return items
        inner: dict[str, Node] = {}
        while not isinstance(item := next(self._events), yaml.MappingEndEvent):
            key = self._key(item, inner)
            inner[key] = self._value(next(self._events), depth + 1)
        return inner

    def _key(self, event: yaml.Event, mapping: Mapping[str, Node]) -> str:
        self._refuse_extras(event)
        if not isinstance(event, yaml.ScalarEvent):
            raise MalformedFile("has a key that is not text", _line(event))
        if event.value in mapping:
            raise MalformedFile(f"has the key {event.value!r} twice", _line(event), event.value)
        return str(event.value)

    @staticmethod
    def _refuse_document_marker(event: yaml.Event) -> None:
        if getattr(event, "explicit", None) and isinstance(event, yaml.DocumentStartEvent | yaml.DocumentEndEvent):
            raise MalformedFile("has a YAML document marker in the front matter", _line(event))

    @staticmethod
    def _refuse_extras(event: yaml.Event) -> None:
        line = _line(event)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise MalformedFile("uses a YAML alias or anchor", line)
        if tag := getattr(event, "tag", None):
            raise MalformedFile(f"uses the YAML tag {tag}", line)


def _segments(front: str, spans: list[_Span]) -> tuple[Segment, ...]:
    """Cut the front matter at its top-level keys; comments at column 0 right above a key go with it."""
    lines = front.splitlines(keepends=True)
    segments = []
    begin = 0
    for span, following in zip(spans, [*spans[1:], None], strict=True):
        cut = following.start if following else len(lines)
        while following and cut > span.stop and lines[cut - 1].startswith("#"):
            cut -= 1
        end = cut
        while end > span.stop and (lines[end - 1].startswith("#") or not lines[end - 1].strip()):
            end -= 1
        head, own, tail = lines[begin : span.start], lines[span.start : end], lines[end:cut]
        segments.append(Segment(span.key, "".join(head), "".join(own), "".join(tail)))
        begin = cut
    return tuple(segments)


def _line(event: yaml.Event) -> int:
    """The line in the file: marks count from 0, and `---` stands above."""
    return event.start_mark.line + 2 if event.start_mark else 1
