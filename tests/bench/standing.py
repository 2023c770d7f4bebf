"""What it costs to know which memories hold here: all of them after a checkout, and the hits of a search."""

import random
import sys
from typing import Final

from invincat.memory.scope import Scope
from tests.bench.bench import Bench
from tests.bench.memories import CODE_FILES
from tests.bench.place import Place, git
from tests.bench.report import Row
from tests.bench.timing import measure

_ALL: Final = """\
from pathlib import Path
from invincat.app import App
app = App.at(Path.cwd())
app.standings.of(app.project.view())
"""
# Files that lose all that memories quote of them.
_DIFFERENT: Final = CODE_FILES[:3]
_COMMITS: Final = 300
_HITS: Final = 10


def standing_rows(bench: Bench, place: Place) -> list[Row]:
    """Right after a checkout of a HEAD that nobody asked about, back on one that was, warm, and cold for a few hits."""
    _grow(place)
    app = place.app()
    records = list(app.ledger(Scope.PROJECT).view())
    few = random.Random(4).sample(records, _HITS)
    for record in records:
        assert record.memory
    app.standings.of(records)
    numbers = iter(range(10**9))

    def move_on() -> None:
        _contradict(place, next(numbers))

    def forget() -> None:
        for file in (place.state_dir / "parsed").glob("*-verdicts-*"):
            file.unlink()

    everything = "standing of all"
    first = measure(bench.few, lambda: place.app().standings.of(records), forget)
    moved = measure(bench.some, lambda: place.app().standings.of(records), move_on)
    warm = measure(bench.some, lambda: app.standings.of(records))
    hits = measure(bench.runs, lambda: place.app().standings.of(few), forget)
    known = measure(bench.runs, lambda: app.standings.of(few))
    command = [sys.executable, "-c", _ALL]
    process = bench.processes.measure(bench.few, command, place.root, move_on)
    rows = [
        Row("standing", place.label, f"{everything}, nothing known", first, bench.git),
        Row("standing", place.label, f"{everything}, after a checkout", moved, bench.git, target=2000),
        Row("standing", place.label, f"{everything}, warm", warm, bench.git),
        Row("standing", place.label, f"standing of {_HITS} hits, nothing known", hits, bench.git, target=30),
        Row("standing", place.label, f"standing of {_HITS} hits, warm", known, bench.git),
        Row("standing", place.label, f"{everything}, cold process, after a checkout", process, bench.python),
    ]
    git(place.root, "switch", "--quiet", "main")
    return rows


def _grow(place: Place) -> None:
    """A history in which every file changed often, on a branch of its own."""
    git(place.root, "switch", "--quiet", "--create", "standing")
    lines = []
    for number in range(_COMMITS):
        path = CODE_FILES[number % len(CODE_FILES)]
        text = f"{(place.root / path).read_text()}# {number}\n".encode()
        lines += [
            b"commit refs/heads/standing",
            b"committer Ada Lovelace <ada@example.org> %d +0000" % (1.7e9 + number),
        ]
        lines += [b"data 6", b"Change", *([b"from refs/heads/standing^0"] if not number else [])]
        lines += [b"M 100644 inline " + path.encode(), b"data %d" % len(text), text]
    git(place.root, "fast-import", "--quiet", input=b"\n".join(lines) + b"\n")
    git(place.root, "reset", "--quiet", "--hard")


def _contradict(place: Place, number: int) -> None:
    """A commit in which some files lose all that memories quote of them."""
    for path in _DIFFERENT:
        (place.root / path).write_text(f"nothing of it is left, {number}\n")
    git(place.root, "commit", "--quiet", "--all", "--message", "Contradict")
