"""The index follows its store, and survives what can happen to a directory and to other processes."""

import os
import pickle
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from msgspec.structs import replace
from whoosh.fields import Schema
from whoosh.filedb.filestore import FileStorage
from whoosh.index import TOC

from invincat.recall import stamp as stamps
from invincat.recall.corpus import Changes, Corpus
from invincat.recall.hit import Results
from invincat.recall.index import Index
from invincat.recall.query import Query
from invincat.recall.shelf import SCHEMA

FORK = get_context("fork")
WORDS = ("nox", "cache", "deploy", "lint", "branch", "release", "typing", "secret")


class Counting:
    """A corpus that counts what was asked of it."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.rebuilds = 0
        self.tip, self.changes, self.read, self.find = corpus.tip, corpus.changes, corpus.read, corpus.find
        self.is_purged = corpus.is_purged

    def records(self) -> Any:
        self.rebuilds += 1
        return self.corpus.records()


def stamp_of(directory: Path) -> stamps.Stamp:
    stamp = stamps.read(directory, SCHEMA, "here")
    assert stamp is not None
    return stamp


def titles(results: Results) -> set[str]:
    return {hit.title for hit in results.hits}


@pytest.fixture(scope="session")
def evolution(history, record) -> Callable[[int], Any]:
    """Twelve versions in which words come and go, records retire and return, and files vanish."""
    rng = random.Random(5)
    place: dict[int, Any] = {}
    versions = []
    for number in range(12):
        for n in rng.sample(range(40), 40 if number == 0 else 9):
            title = f"{rng.choice(WORDS)} {rng.choice(WORDS)} v{number}"
            place[n] = record(title, name=f"n{n}", number=n, retired=rng.random() < 0.2)
            if rng.random() < 0.15:
                del place[n]
        versions.append(list(place.values()))
    return history(*versions)


def expected(corpus: Any, word: str) -> set[str]:
    records = getattr(corpus, "corpus", corpus).records()
    return {r.memory.title for r in records if r.memory.is_active and word in r.memory.title.split()}


def assert_right(index: Index, corpus: Any, words: tuple[str, ...] = WORDS) -> None:
    for word in words:
        results = index.search(corpus, Query(word, limit=100))
        assert results.degraded is None
        assert titles(results) == expected(corpus, word)
        assert results.total == len(results.hits)


def test_no_store_no_hits_and_no_files(index: Index, directory: Path, corpus) -> None:
    class Nothing(Counting):
        def __init__(self) -> None:
            super().__init__(corpus())
            self.tip = lambda: None

    assert index.search(Nothing(), Query("nox")) == Results((), 0, None)
    assert not directory.exists()


def test_an_empty_store_is_a_store(index: Index, history, record) -> None:
    at = history([], [record("Use nox")], [])
    assert index.search(at(0), Query("nox")).hits == ()
    assert titles(index.search(at(1), Query("nox"))) == {"Use nox"}
    assert index.search(at(2), Query("nox")).hits == ()


def test_it_follows_the_store_in_both_directions_without_a_rebuild(index: Index, evolution) -> None:
    index.refresh(evolution(0))
    for number in (1, 2, 5, 3, 11, 0, 7):
        corpus = Counting(evolution(number))
        assert_right(index, corpus)
        assert corpus.rebuilds == 0


def test_another_process_sees_what_this_one_indexed(index: Index, directory: Path, evolution) -> None:
    other = Index(directory, "here")
    for number in (0, 4, 2):
        index.refresh(evolution(number))
        corpus = Counting(evolution(number))
        assert_right(other, corpus)
        assert corpus.rebuilds == 0


def test_a_way_that_cannot_be_told_means_a_rebuild_and_progress_is_told(
    index: Index, evolution, record, history
) -> None:
    index.refresh(evolution(3))
    elsewhere = history([record("nox nox")])(0)
    seen: list[tuple[int, int]] = []

    class Unrelated(Counting):
        def __init__(self) -> None:
            super().__init__(elsewhere)
            self.tip, self.changes = lambda: "w0", lambda since: None

    assert titles(index.search(Unrelated(), Query("nox"), lambda done, total: seen.append((done, total)))) == {
        "nox nox"
    }
    assert seen == [(0, 1), (1, 1)]


def test_many_small_updates_stay_small_and_right(index: Index, directory: Path, evolution) -> None:
    for number in [0, *[n for _ in range(8) for n in (5, 1, 9, 3)]]:
        index.refresh(evolution(number))
    assert_right(index, evolution(3))
    assert len(list((directory / stamp_of(directory).folder).glob("*.seg"))) < 8


def test_an_index_that_is_mostly_waste_is_built_again(index: Index, history, record) -> None:
    def version(number: int) -> list[Any]:
        return [record(f"nox {n} v{number}", name=f"n{n}", number=n) for n in range(300)]

    at = history(version(0), version(1), version(2))
    rebuilds = []
    for number in range(3):
        corpus = Counting(at(number))
        assert index.search(corpus, Query(f"v{number}")).total == 300
        rebuilds.append(corpus.rebuilds)
    assert rebuilds == [1, 0, 1]


def test_every_hit_is_verified_while_somebody_else_writes(index: Index, directory: Path, history, record) -> None:
    gone, stays = record("cache gone", number=1), record("cache stays", number=2)
    retired = record("cache retires", number=3, name="retires")
    changed = record("cache changes", number=4, name="changes")
    at = history(
        [gone, stays, retired, changed],
        [
            stays,
            record("cache retires", number=3, name="retires", retired=True),
            record("cache has changed", number=4, name="changes"),
            record("cache is new", number=5),
        ],
    )
    index.refresh(at(0))
    with held(directory / "lock"):
        results = index.search(at(1), Query("cache", limit=2))
    assert (titles(results), results.total, results.degraded) == ({"cache stays", "cache has changed"}, 3, None)
    assert titles(index.search(at(1), Query("cache"))) == {"cache stays", "cache has changed", "cache is new"}


@pytest.mark.slow
def test_every_hit_is_verified_where_nobody_can_tell_what_changed(
    index: Index, directory: Path, history, record
) -> None:
    at = history(
        [record("cache gone", number=1), record("cache stays", number=2), record("cache retires", number=3, name="r")],
        [
            record("cache stays", number=2),
            record("cache retires", number=3, name="r", retired=True),
            record("cache is new", number=5),
        ],
    )
    index.refresh(at(0))
    lost = Counting(at(1))
    lost.changes = lambda since: None
    with held(directory / "lock"):
        results = index.search(lost, Query("cache"))
    assert titles(results) == {"cache stays"}
    assert results.degraded is not None
    assert "another process" in results.degraded
    assert titles(index.search(lost, Query("cache"))) == {"cache stays", "cache is new"}


@contextmanager
def held(lock: Path) -> Iterator[None]:
    """Another process holds the lock, and whoever waits for it does not wait for long."""
    ready, done = FORK.Event(), FORK.Event()
    holder = FORK.Process(target=_hold, args=(lock, ready, done))
    holder.start()
    try:
        assert ready.wait(10)
        began = time.monotonic()
        yield
        assert time.monotonic() - began < 4
    finally:
        done.set()
        holder.join()


def _hold(lock: Path, ready: Any, done: Any) -> None:
    with FileLock(lock):
        ready.set()
        done.wait(20)


@pytest.mark.parametrize("reached", [False, True])
def test_an_update_that_died_is_repaired_by_path(directory: Path, evolution, reached: bool) -> None:
    """Killed between the note of the update and its end: the content is of either commit, and the tip of a third."""
    Index(directory, "here").refresh(evolution(2))
    before = stamp_of(directory)
    if reached:
        Index(directory, "here").refresh(evolution(8))
    stamps.write(directory, replace(before, maybe=("v8",)))
    for number in (2, 8, 5):
        corpus = Counting(evolution(number))
        assert_right(Index(directory, "here"), corpus)
        assert corpus.rebuilds == 0


def _truncate(folder: Path) -> None:
    for file in folder.glob("*.seg"):
        os.truncate(file, file.stat().st_size // 2)


def _empty(folder: Path) -> None:
    for file in folder.glob("*.seg"):
        os.truncate(file, 0)


def _lose_segments(folder: Path) -> None:
    for file in folder.glob("*.seg"):
        file.unlink()


def _scramble_contents(folder: Path) -> None:
    for file in folder.glob("*.toc"):
        file.write_bytes(b"\x00" * 200)


def _lose_everything(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()


def _put_a_file_in_its_place(folder: Path) -> None:
    shutil.rmtree(folder.parent)
    folder.parent.write_text("not a folder\n")


def _garble_stamp(folder: Path) -> None:
    (folder.parent / "stamp.json").write_bytes(b'{"schema": \xff')


def _other_version(folder: Path) -> None:
    stamps.write(folder.parent, replace(stamp_of(folder.parent), schema="0"))


def _escape(folder: Path) -> None:
    stamps.write(folder.parent, replace(stamp_of(folder.parent), folder="../index"))


@pytest.mark.parametrize(
    "harm",
    [
        _truncate,
        _empty,
        _lose_segments,
        _scramble_contents,
        _lose_everything,
        _put_a_file_in_its_place,
        _garble_stamp,
        _other_version,
        _escape,
    ],
)
def test_what_is_broken_is_built_again(directory: Path, evolution, harm: Callable[[Path], None]) -> None:
    Index(directory, "here").refresh(evolution(1))
    harm(directory / stamp_of(directory).folder)
    for number in (1, 2):
        assert_right(Index(directory, "here"), evolution(number))
    assert {entry.name for entry in directory.iterdir()} == {"lock", "stamp.json", stamp_of(directory).folder}


class Bomb:
    """Unpickled, it leaves a trace."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.trace),)


def test_a_foreign_index_is_deleted_and_never_opened(directory: Path, tmp_path: Path, evolution) -> None:
    trace = tmp_path / "trace"
    Index(directory, "elsewhere").refresh(evolution(1))
    stamp = stamps.read(directory, SCHEMA, "elsewhere")
    assert stamp is not None
    folder = directory / stamp.folder
    TOC(Schema(), [Bomb(trace)], 99).write(FileStorage(str(folder)), "MAIN")
    for number in range(3):
        (directory / f"stray{number}.pickle").write_bytes(pickle.dumps(Bomb(trace)))
    (directory / "link").symlink_to(tmp_path)
    assert_right(Index(directory, "here"), evolution(1))
    assert not trace.exists()
    assert not folder.exists()
    assert tmp_path.exists()
    left = {entry.name for entry in directory.iterdir() if entry.name != "link" and not entry.name.startswith("stray")}
    assert left == {"lock", "stamp.json", stamp_of(directory).folder}


def test_the_bomb_is_live(directory: Path, tmp_path: Path, evolution) -> None:
    trace = tmp_path / "trace"
    Index(directory, "here").refresh(evolution(1))
    TOC(Schema(), [Bomb(trace)], 99).write(FileStorage(str(directory / stamp_of(directory).folder)), "MAIN")
    Index(directory, "here").search(evolution(1), Query("nox"))
    assert trace.exists()


def test_a_directory_that_cannot_be_written_is_a_reason_not_an_error(tmp_path: Path, evolution) -> None:
    (tmp_path / "file").write_text("in the way")
    results = Index(tmp_path / "file" / "index", "here").search(evolution(1), Query("nox", limit=100))
    assert titles(results) == expected(evolution(1), "nox")
    assert results.degraded is not None
    assert "cannot be written" in results.degraded


def _write_on(directory: Path, evolution: Callable[[int], Any], seed: int, turns: int) -> None:
    rng = random.Random(seed)
    index = Index(directory, "here")
    for _ in range(turns):
        index.refresh(evolution(rng.randrange(12)))


def _search_on(directory: Path, evolution: Callable[[int], Any], seed: int, turns: int) -> None:
    rng = random.Random(seed)
    index = Index(directory, "here")
    for _ in range(turns):
        corpus, word = evolution(rng.randrange(12)), rng.choice(WORDS)
        results = index.search(corpus, Query(word, limit=100))
        right = titles(results) == expected(corpus, word)
        assert right or (results.degraded and titles(results) < expected(corpus, word))


@pytest.mark.slow
def test_readers_and_writers_at_once(directory: Path, evolution) -> None:
    jobs = [(_write_on, 1), (_write_on, 2), (_search_on, 3), (_search_on, 4)]
    processes = [FORK.Process(target=work, args=(directory, evolution, seed, 12)) for work, seed in jobs]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * len(jobs)
    assert_right(Index(directory, "here"), evolution(6))


def _moments(count: int) -> Iterator[float]:
    rng = random.Random(11)
    yield 0.0
    yield from (rng.uniform(0.005, 0.12) for _ in range(count - 1))


@pytest.mark.parametrize("kills", [10, pytest.param(60, marks=pytest.mark.slow)])
def test_killed_writers_leave_an_index_that_answers_right(directory: Path, evolution, kills: int) -> None:
    Index(directory, "here").refresh(evolution(0))
    for turn, moment in enumerate(_moments(kills)):
        writer = FORK.Process(target=_write_on, args=(directory, evolution, turn, 10_000))
        writer.start()
        time.sleep(moment)
        assert writer.pid is not None
        os.kill(writer.pid, signal.SIGKILL)
        writer.join()
        assert writer.exitcode == -signal.SIGKILL
        assert_right(Index(directory, "here"), evolution(turn % 12), WORDS[:3])


def test_killed_builders_leave_no_trace(directory: Path, history, record) -> None:
    corpus = history([record(f"nox rule {n}", name=f"n{n}", number=n) for n in range(400)])(0)
    for moment in (0.02, 0.05, 0.1):
        builder = FORK.Process(target=Index(directory, "here").refresh, args=(corpus,))
        builder.start()
        time.sleep(moment)
        builder.kill()
        builder.join()
    results = Index(directory, "here").search(corpus, Query("nox"))
    assert (results.total, results.degraded) == (400, None)
    assert {entry.name for entry in directory.iterdir()} == {"lock", "stamp.json", stamp_of(directory).folder}


def test_changes_are_values() -> None:
    assert Changes() == Changes((), ())


def test_what_stands_behind_a_link_is_never_swept(tmp_path: Path, evolution: Callable[[int], Any]) -> None:
    """A planted link must not make a search delete somebody's folder."""
    home = tmp_path / "home"
    (home / "0123456789abcdef").mkdir(parents=True)
    (home / "keep").write_text("mine")
    (tmp_path / "index").symlink_to(home)
    results = Index(tmp_path / "index", "origin").search(evolution(0), Query("nox"))
    assert results.degraded
    assert sorted(entry.name for entry in home.iterdir()) == ["0123456789abcdef", "keep"]
