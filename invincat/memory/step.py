"""What an operation needs beside a view, and what comes of it: values that nothing here computes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from invincat.memory.entry import Source
from invincat.memory.evidence import Evidence
from invincat.memory.marker import Marker
from invincat.memory.refusal import Refused
from invincat.memory.scope import Scope
from invincat.memory.view import Record, View


@dataclass(frozen=True)
class Context:
    """What an operation needs beside the view: the time, fresh ids, the scope of the store, and who asks.

    `buried` are the last words of deleted memories, by id, for whoever brings them back.
    """

    now: datetime
    new_id: Callable[[], str]
    scope: Scope
    source: Source
    buried: Mapping[str, Record] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """One commit's worth of change. `op` is the subject's verb; `noop` writes nothing.

    `subject` is the memory after the change, `before` the same before it, `successor` what took its place.
    `failure` is set where a new memory was kept although the old one could not be retired (RULES 1.7).
    """

    op: str
    view: View
    subject: Record | None = None
    before: Record | None = None
    successor: Record | None = None
    reason: str | None = None
    marker: Marker | None = None
    written: tuple[Record, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, Record], ...] = ()
    failure: Refused | None = None
    note: str | None = None
    evidence: tuple[Evidence, ...] = ()
