"""Views of a store, read at once or bit by bit."""

import errno
import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invincat.memory.view import View
from invincat.store.files import changed_files
from invincat.store.parsed import ParsedCache
from invincat.store.tree import ViewReader
from tests.memory.factories import Bench, create

PICKS = st.integers(0, 99)
OPERATIONS = st.one_of(
    st.builds(
        lambda text, section: create(text, section=section),
        st.sampled_from(["Use nox", "Use tox", "Use nox! Yes", "日本"]),
        st.sampled_from(["Testing", "Build"]),
    ),
    st.builds(lambda n: {"op": "archive", "id": n, "reason": "r"}, PICKS),
    st.builds(lambda n: {"op": "delete", "id": n, "reason": "r"}, PICKS),
    st.builds(lambda n: {"op": "restore", "id": n, "reason": "r"}, PICKS),
    st.builds(lambda n, m: {"op": "supersede", "id": n, "by": m, "reason": "r"}, PICKS, PICKS),
    st.builds(
        lambda n, text: {"op": "supersede", "id": n, "content": text, "reason": "r"},
        PICKS,
        st.sampled_from(["New", "Use nox"]),
    ),
    st.builds(lambda n, score: {"op": "rescore", "id": n, "score": score, "reason": "r"}, PICKS, st.integers(0, 100)),
    st.builds(lambda n, tag: {"op": "update", "id": n, "tags": [tag]}, PICKS, st.sampled_from(["a", "b"])),
)


def aimed(view: View, item: dict[str, Any]) -> dict[str, Any]:
    """The operation with a memory's name in place of each number."""
    names = sorted(view.names) or ["nowhere"]
    return {key: names[value % len(names)] if key in {"id", "by"} else value for key, value in item.items()}


def assert_equal(one: View, other: View) -> None:
    """All that a view says."""
    for part in ("commit", "records", "names", "wanted", "content", "markers", "problems", "blocked"):
        assert getattr(one, part) == getattr(other, part), part
    for record in one:
        twin = other.records[record.id]
        assert (record.fingerprint, record.is_active) == (twin.fingerprint, twin.is_active)
        assert record.memory == twin.memory
        assert record.is_active is record.memory.is_active


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.lists(OPERATIONS, min_size=1, max_size=3), max_size=8))
def test_an_incremental_reading_equals_a_fresh_one(batches: list[list[dict[str, Any]]]) -> None:
    """ARCHITECTURE, "view": whatever was read before; and the files changed are those that differ."""
    bench = Bench()
    bench.ok(create("The first."))
    tips = [bench.store.tip()]
    for batch in batches:
        outcome = bench.do(*(aimed(bench.ledger.view(), item) for item in batch))
        assert outcome.verdict in {"committed", "noop", "failed", "rejected"}
        assert_equal(bench.ledger.view(), bench.fresh())
        assert bench.fresh().problems == ()
        tips.append(bench.store.tip())
    for old, new in itertools.pairwise(tips):
        before, after = (
            {path: data for path, data in bench.files(tip).items() if path.startswith("memory/")} for tip in (old, new)
        )
        changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
        assert {change.path for change in changed_files(bench.store, old, new)} == changed
    for tip in reversed(tips):
        assert_equal(bench.ledger.view(tip), ViewReader(bench.store, bench.ledger.reader._cache).view(tip))


def test_a_record_is_read_alone(tmp_path: Path) -> None:
    """`ViewReader.record`: what the view has, or nothing."""
    bench = Bench()
    bench.ok(create("Use nox."))
    reader = ViewReader(bench.store, ParsedCache(tmp_path, "origin"))
    tip = bench.store.tip()
    assert reader.record(tip, "memory/testing/use-nox.md") == bench.fresh().find("use-nox")
    for path in ("memory/testing/nothing.md", "README.md", "memory/nowhere/x.md"):
        assert reader.record(tip, path) is None


def test_parsed_memories_are_kept_and_a_broken_cache_is_dropped(tmp_path: Path) -> None:
    """FORMAT "State directory": disposable, rebuilt at will; those of another installation are never opened."""
    bench = Bench()
    bench.ok(create("Use nox. Why: speed.", tags=["a"], applies_to=["tests/**"]), create("日本語。"))
    tip = bench.store.tip()
    assert_equal(ViewReader(bench.store, ParsedCache(tmp_path, "here")).view(tip), bench.fresh())
    [file] = tmp_path.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    again = ParsedCache(tmp_path, "here")
    assert len(again.load([record.blob for record in bench.fresh()])) == 2
    assert ParsedCache(tmp_path, "elsewhere").load([record.blob for record in bench.fresh()]) == {}
    for damage in (b"", b"SQLite format 3\0garbage", file.read_bytes()[:5000] + b"\xff" * 5000):
        file.write_bytes(damage)
        assert_equal(ViewReader(bench.store, ParsedCache(tmp_path, "here")).view(tip), bench.fresh())


def test_a_cache_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    """FORMAT "State directory": losing it costs time only."""
    bench = Bench()
    bench.ok(create("Use nox."))
    (tmp_path / "file").write_text("in the way")
    reader = ViewReader(bench.store, ParsedCache(tmp_path / "file", "here"))
    assert_equal(reader.view(bench.store.tip()), bench.fresh())


def test_a_cache_that_may_not_be_looked_at_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The refusal is played, because root may enter everything."""
    bench = Bench()
    bench.ok(create("Use nox."))

    def refuse(path: Path) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "exists", refuse)
    reader = ViewReader(bench.store, ParsedCache(tmp_path / "parsed", "here"))
    assert_equal(reader.view(bench.store.tip()), bench.fresh())
