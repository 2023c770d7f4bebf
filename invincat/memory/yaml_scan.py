"""The YAML of front matter, read strictly: one pass over the events gives the values and the lines of each key.

No aliases, anchors, tags, duplicate keys or depth; every scalar is text, so that `NO`, `1.10` or a date stay what
was written (LIBRARIES "Front matter and YAML").
"""

from dataclasses import dataclass
from typing import NamedTuple, Union

from invincat.errors import UserError

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


class Span(NamedTuple):
    """A key, the line it stands on, and the first line that cannot be part of its value (lines count from 0)."""

    key: str
    start: int
    stop: int


def scan(front: str) -> tuple[dict[str, Node], tuple[Segment, ...]]:
    """The mapping in `front` and the lines of each of its keys; MalformedFile counts lines from the `---` above."""
    from invincat.memory.yaml_compose import compose  # noqa: PLC0415 - PyYAML, which reading from the cache needs not

    root, spans = compose(front)
    return root, _segments(front, spans)


def _segments(front: str, spans: list[Span]) -> tuple[Segment, ...]:
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
