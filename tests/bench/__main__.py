"""`python -m tests.bench`: build the repositories, measure, print one table."""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.bench import report
from tests.bench.bench import Bench
from tests.bench.place import Place, build, sealed
from tests.bench.reads import briefing_rows, check_rows, index_rows, list_rows, recall_rows, start_rows
from tests.bench.report import Row
from tests.bench.standing import standing_rows
from tests.bench.timing import Processes
from tests.bench.writes import remember_rows, write_rows

START: Final = "start"
# Measured in this order in every repository.
GROUPS: Final[Mapping[str, Callable[[Bench, Place], list[Row]]]] = {
    "write": write_rows,
    "remember": remember_rows,
    "recall": recall_rows,
    "index": index_rows,
    "briefing": briefing_rows,
    "list": list_rows,
    "standing": standing_rows,
    "check": check_rows,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the arguments and run; exceptions are faults of the bench or of what it measures."""
    asked = _parser().parse_args(arguments)
    before = report.load()
    with tempfile.TemporaryDirectory(prefix="invincat-bench-") as folder:
        scratch = Path(folder)
        with sealed(scratch), Processes() as processes:
            rows: list[Row] = []
            try:
                for found in _measure(Bench(asked.runs, processes, scratch), asked.sizes, asked.sections, asked.only):
                    rows += found
            finally:  # what was measured before something failed is worth seeing
                _print(rows, before, asked.json)


def _print(rows: Sequence[Row], before: Sequence[float], file: Path | None) -> None:
    print(f"{report.machine()}; load {before} before, {report.load()} after; `!` is above its target\n")
    print(report.table(rows))
    if file:
        file.write_text(report.as_json(rows, before))


def _measure(bench: Bench, sizes: Sequence[int], shapes: Sequence[int], groups: Sequence[str]) -> Iterator[list[Row]]:
    if START in groups:
        yield start_rows(bench)
    chosen = [name for name in GROUPS if name in groups]
    for size in sizes if chosen else ():
        for sections in shapes:
            root = bench.scratch / f"{size}-{sections}"
            _say(f"building {size} memories, {sections} sections")
            place = build(root, size, sections)
            for name in chosen:
                _say(f"measuring {name}")
                yield GROUPS[name](bench, place)


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    names = [START, *GROUPS]
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--sizes", type=_numbers, default=[1000, 10000], metavar="N,N", help="memories a store")
    parser.add_argument(
        "--sections", type=_numbers, default=[20, 1], metavar="N,N", help="sections a store, 20 at most"
    )
    parser.add_argument("--only", type=_names(names), default=names, metavar="NAME,NAME", help=", ".join(names))
    parser.add_argument("--runs", type=int, default=21, metavar="N", help="runs of what is quick; processes get fewer")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every run to a file, too")
    return parser


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _names(known: Sequence[str]) -> Callable[[str], list[str]]:
    def read(text: str) -> list[str]:
        names = text.split(",")
        if wrong := [name for name in names if name not in known]:
            raise argparse.ArgumentTypeError(f"{wrong[0]} is none of {', '.join(known)}")
        return names

    return read


if __name__ == "__main__":
    main()
