"""The rows of the bench, as one table or as JSON."""

import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tests.bench.timing import Sample

_HEADINGS: Final = ("store", "what", "runs", "p50 ms", "p95 ms", "cpu ms", "peak MB", "yardstick", "its p50", "times")
_LEFT: Final = frozenset({0, 1, 7})


@dataclass(frozen=True)
class Yardstick:
    """What a row is held against, measured in the same run."""

    name: str
    sample: Sample


@dataclass(frozen=True)
class Row:
    """One measurement. `place` is empty for what has no memories; `target` is the p50 in ms that is asked for."""

    group: str
    place: str
    what: str
    sample: Sample
    yardstick: Yardstick | None = None
    target: float | None = None


def table(rows: Sequence[Row]) -> str:
    """All rows in columns; `!` marks a p50 above its target."""
    lines = [_HEADINGS, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADINGS))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column in _LEFT else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def as_json(rows: Sequence[Row], load: Sequence[float]) -> str:
    """The same for programs, with every single run and the machine."""
    return json.dumps(
        {"machine": machine(), "load_before": list(load), "rows": [_plain(row) for row in rows]}, indent=1
    )


def machine() -> str:
    """Python, system, cores."""
    return f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores"


def load() -> tuple[float, ...]:
    """The load averages of the machine, where it tells them."""
    return tuple(round(value, 2) for value in os.getloadavg()) if sys.platform != "win32" else ()


def _cells(row: Row) -> tuple[str, ...]:
    sample, yardstick = row.sample, row.yardstick
    missed = row.target is not None and sample.p50 > row.target
    target = f" (target {row.target:g})" if row.target is not None else ""
    return (
        row.place,
        f"{row.what}{target}",
        str(len(sample.seconds)),
        f"{'! ' if missed else ''}{_number(sample.p50)}",
        _number(sample.p95),
        _number(sample.cpu_p50),
        f"{sample.peak_mb:.0f}" if sample.peak_mb else "",
        yardstick.name if yardstick else "",
        _number(yardstick.sample.p50) if yardstick else "",
        f"{sample.p50 / yardstick.sample.p50:.1f}" if yardstick and yardstick.sample.p50 else "",
    )


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.3f}"


def _plain(row: Row) -> dict[str, Any]:
    yardstick = row.yardstick
    return {
        "group": row.group,
        "place": row.place,
        "what": row.what,
        "p50_ms": row.sample.p50,
        "p95_ms": row.sample.p95,
        "cpu_p50_ms": row.sample.cpu_p50,
        "peak_mb": row.sample.peak_mb,
        "target_ms": row.target,
        "runs_ms": [1000 * seconds for seconds in row.sample.seconds],
        "yardstick": {"name": yardstick.name, "p50_ms": yardstick.sample.p50} if yardstick else None,
    }
