"""The whole examination: every probe, none of which can break another."""

from collections.abc import Callable, Iterator
from typing import Final

from invincat.app import App
from invincat.doctor import machine, memory
from invincat.doctor.line import Line, guarded

_PROBES: Final[tuple[tuple[str, Callable[[App], Iterator[Line]]], ...]] = (
    ("program", machine.program),
    ("repository", machine.repository),
    ("identity", machine.person),
    ("memory", memory.memories),
    ("index", memory.caches),
    ("locks", memory.locks),
    ("state", memory.state),
    ("backups", memory.backups),
    ("objects", machine.objects),
    ("settings", machine.settings),
)


def examine(app: App) -> list[Line]:
    """All lines, in the order of the probes; a fault that several of them meet is told once."""
    lines = [
        line
        for about, probe in _PROBES
        for line in guarded(about, lambda probe=probe: probe(app))  # type: ignore[misc]
    ]
    first = {line.message: line for line in reversed(lines) if line.status == "fail"}
    return [line for line in lines if line.status != "fail" or first[line.message] is line]
