"""Operations that somebody asks for, not decided yet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from invincat.memory.entry import Source
from invincat.memory.scope import Scope
from invincat.memory.view import Record


@dataclass(frozen=True)
class Proposal:
    """A batch as it was given: all of it becomes true, or nothing (RULES 3.3).

    `items` are operations as JSON objects, still unchecked. `hold` is the reason why a person must decide
    whatever the gate finds, None when the gate decides. `decided` says that a person said yes to it: nothing is held
    any more, and evidence that was there then need not be found again. `seen` tells which memory each reference meant
    when the proposal was worded: one that has changed since is not overwritten (RULES 3.4). `buried` are the last words
    of deleted memories that a person brings back, by id.
    """

    items: tuple[Any, ...]
    scope: Scope
    source: Source
    hold: str | None = None
    decided: bool = False
    seen: Mapping[str, Record] = field(default_factory=dict)
    buried: Mapping[str, Record] = field(default_factory=dict)
