"""The same work by other means: git's own plumbing, and SQLite's full-text search."""

import contextlib
import sqlite3
from collections.abc import Iterator
from typing import Final

from invincat.memory.entry import Memory
from invincat.store.base import MEMORY_REF
from tests.bench.bench import Bench
from tests.bench.memories import make_queries
from tests.bench.place import Place, git
from tests.bench.report import Yardstick
from tests.bench.timing import measure

_REF: Final = "refs/bench/memory"
_SCHEMA: Final = "create virtual table memory using fts5(title, body, labels, tokenize = 'porter unicode61')"
_INSERT: Final = "insert into memory values (?, ?, ?)"
_QUERY: Final = "select rowid from memory where memory match ? order by bm25(memory, 2, 1, 1.5) limit 10"


def git_write(bench: Bench, place: Place) -> Yardstick:
    """One file committed to a ref by git's plumbing, its index kept warm from one write to the next."""
    tip = git(place.root, "rev-parse", MEMORY_REF)
    env = {"GIT_INDEX_FILE": str(bench.scratch / f"index-{place.root.name}")}
    git(place.root, "read-tree", tip, env=env)
    git(place.root, "update-ref", _REF, tip)
    texts = iter(range(10**9))

    def write() -> None:
        number = next(texts)
        text = str(bench.new_memory()["content"]).encode()
        blob = git(place.root, "hash-object", "-w", "--stdin", input=text)
        entry = f"100644,{blob},memory/testing/written-by-git-{number}.md"
        git(place.root, "update-index", "--add", "--cacheinfo", entry, env=env)
        tree = git(place.root, "write-tree", env=env)
        old = git(place.root, "rev-parse", _REF)
        new = git(place.root, "commit-tree", tree, "-p", old, "-m", "create")
        git(place.root, "update-ref", _REF, new, old)

    sample = measure(bench.some, write)
    git(place.root, "update-ref", "-d", _REF)
    return Yardstick("git plumbing, 6 processes", sample)


def git_read_all(bench: Bench, place: Place) -> Yardstick:
    """Git reads every memory of the store."""
    command = ["git", "archive", "--format=tar", MEMORY_REF]
    return Yardstick("git archive", bench.processes.measure(bench.some, command, place.root))


class Fts:
    """The texts of a place in an SQLite table with full-text search, on disk."""

    def __init__(self, bench: Bench, place: Place) -> None:
        self._bench = bench
        self._rows = [_row(memory) for memory in place.memories.values()]
        self._path = bench.scratch / f"fts-{place.root.name}.sqlite3"

    def build(self) -> Yardstick:
        """The whole table, anew."""
        return Yardstick(
            "FTS5 build", measure(self._bench.few, self._build, lambda: self._path.unlink(missing_ok=True))
        )

    def query(self) -> Yardstick:
        """The ten best of a question of four words, the connection open."""
        queries = make_queries(self._bench.runs)
        with self._open() as database:
            return Yardstick("FTS5 query", measure(self._bench.runs, lambda: _ask(database, next(queries))))

    def update(self) -> Yardstick:
        """One more row, committed, and a question that finds it."""
        with self._open() as database:

            def learn() -> None:
                text = str(self._bench.new_memory()["content"])
                with database:
                    database.execute(_INSERT, (text[:80], text, ""))
                _ask(database, text[:30])

            return Yardstick("FTS5 insert, query", measure(self._bench.runs, learn))

    def _build(self) -> None:
        with contextlib.closing(sqlite3.connect(self._path)) as database, database:
            database.execute(_SCHEMA)
            database.executemany(_INSERT, self._rows)

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        if not self._path.exists():
            self._build()
        with contextlib.closing(sqlite3.connect(self._path)) as database:
            yield database


def _row(memory: Memory) -> tuple[str, str, str]:
    return memory.title, memory.body, " ".join((*memory.tags, *memory.applies_to, memory.section))


def _ask(database: sqlite3.Connection, text: str) -> list[tuple[int]]:
    terms = " OR ".join(f'"{word}"' for word in text.split())
    return list(database.execute(_QUERY, (terms,)))
