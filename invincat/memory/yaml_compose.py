"""The events of the C parser of YAML to plain values, and what a memory has no use for refused.

Apart from `yaml_scan` because PyYAML costs a twentieth of a cold start, and who reads what is cached needs none of it.
"""

from collections.abc import Mapping

import yaml
from yaml.reader import ReaderError

from invincat.memory.yaml_scan import MalformedFile, Node, Span

MAX_DEPTH = 6


def compose(front: str) -> tuple[dict[str, Node], list[Span]]:
    """The mapping in `front` and where each of its keys stands; MalformedFile counts lines from the `---` above."""
    try:
        return _Composer(front).mapping()
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


class _Composer:
    """Builds plain values from the events of the C parser and refuses what a memory has no use for."""

    def __init__(self, text: str) -> None:
        self._events = iter(yaml.parse(text, Loader=yaml.CSafeLoader))
        self._stop = 0

    def mapping(self) -> tuple[dict[str, Node], list[Span]]:
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
        spans: list[Span] = []
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._key(event, root)
            if event.start_mark is None or event.start_mark.column:
                raise MalformedFile("has a key that does not begin its line", _line(event), key)
            self._stop = event.start_mark.line + 1
            root[key] = self._value(next(self._events), 1)
            spans.append(Span(key, event.start_mark.line, self._stop))
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


def _line(event: yaml.Event) -> int:
    """The line in the file: marks count from 0, and `---` stands above."""
    return event.start_mark.line + 2 if event.start_mark else 1
