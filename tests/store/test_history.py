"""The history of one memory, told from the trees: our commits and those that others made."""

import pytest

from invincat.memory.frontmatter import render
from invincat.store.base import MEMORY_REF, Draft
from invincat.store.history import ABSENT, accounts, between, graves, history_of
from tests.memory.factories import ADA, Bench, create, memory, ulid


@pytest.fixture
def bench() -> Bench:
    """Two memories; the first was reworded, rated and retired, the other reworded."""
    made = Bench()
    made.ok(create("Use nox.", name="use-nox"), create("Use markers.", name="markers"))
    made.ok({"op": "update", "id": "use-nox", "content": "Use nox. Always."})
    made.ok({"op": "update", "id": "markers", "content": "Use markers. Always."})
    made.ok({"op": "rescore", "id": "use-nox", "score": 80, "reason": "used daily"})
    made.ok({"op": "archive", "id": "use-nox", "reason": "unsure"})
    return made


def by_hand(bench: Bench, message: str, removes: tuple[str, ...] = (), **puts: str) -> str:
    """A commit that somebody else made on top of the memory ref, without our trailers."""
    files = {path.replace("__", "/").replace("_", "-") + ".md": text.encode() for path, text in puts.items()}
    tip = bench.store.tip()
    with bench.store.exclusive():
        [id] = bench.store.write(tip, [Draft(message, files, frozenset(removes))], ADA, bench.clock())
        assert bench.store.swap(MEMORY_REF, tip, id)
    return id


def told(bench: Bench, id: str, path: str | None) -> list[str]:
    """Subjects of the commits that touched it, the oldest first."""
    touches = list(history_of(bench.store, bench.store.tip(), id, path))
    return [touch.message.subject.partition(" ")[0] for touch in reversed(touches)]


def test_every_commit_that_touched_it_and_no_other(bench: Bench) -> None:
    nox, markers = (bench.memory(name).id for name in ("use-nox", "markers"))
    assert told(bench, nox, "memory/testing/use-nox.md") == ["create", "update", "score", "archive"]
    assert told(bench, markers, "memory/testing/markers.md") == ["create", "update"]


def test_the_commit_that_last_set_it_comes_first(bench: Bench) -> None:
    touch = next(history_of(bench.store, bench.store.tip(), bench.memory("markers").id, "memory/testing/markers.md"))
    assert touch.message.subject.startswith("update testing/markers")
    assert touch.before.blob != touch.after.blob


def test_through_deletion_and_what_stands_in_its_place(bench: Bench) -> None:
    id = bench.memory("markers").id
    bench.ok({"op": "delete", "id": "markers", "reason": "wrong"})
    assert told(bench, id, None) == ["create", "update", "delete"]
    [(found, touch)] = graves(bench.store, bench.store.tip(), {id})
    assert (found, touch.before.path, touch.after.path) == (id, "memory/testing/markers.md", None)


def test_commits_of_others_are_told_from_the_trees(bench: Bench) -> None:
    """No trailers, a move by hand, a file that is no memory any more, a removal without a marker."""
    made = memory(id=ulid(7))
    by_hand(bench, "first\n", memory__testing__by_hand=render(made))
    by_hand(bench, "second\n", ("memory/testing/by-hand.md",), memory__builds__other_name=render(made))
    by_hand(bench, "unrelated\n", memory__testing__third=render(memory(id=ulid(8), title="Third")))
    by_hand(bench, "conflict\n", memory__builds__other_name=f"---\nid: {made.id}\n<<<<<<< ours\n")
    assert told(bench, made.id, "memory/builds/other-name.md") == ["first", "second", "conflict"]
    by_hand(bench, "gone\n", ("memory/builds/other-name.md",))
    assert told(bench, made.id, None) == ["first", "second", "conflict", "gone"]
    by_hand(bench, "back\n", memory__testing__by_hand=render(made))
    assert told(bench, made.id, "memory/testing/by-hand.md") == ["first", "second", "conflict", "gone", "back"]


def test_a_trailer_that_lies_adds_nothing(bench: Bench) -> None:
    id = bench.memory("markers").id
    by_hand(bench, f"update testing/markers: x\n\nInvincat-Op: update\nInvincat-Memory: {id}\n", README="hello")
    assert told(bench, id, "memory/testing/markers.md") == ["create", "update"]


def test_of_an_unknown_id_there_is_no_history(bench: Bench) -> None:
    assert list(history_of(bench.store, bench.store.tip(), ulid(99), None)) == []
    assert ABSENT == (None, None, None)


def test_what_lies_between_two_commits(bench: Bench) -> None:
    chain = [commit.id for commit in bench.store.history(bench.store.tip())]
    assert [commit.id for commit in between(bench.store, chain[3], chain[0])] == chain[:3]
    assert between(bench.store, chain[0], chain[3]) == []
    assert between(bench.store, chain[0], chain[0]) == []


def test_commits_between_say_why_also_those_of_others(bench: Bench) -> None:
    start = bench.store.tip()
    bench.ok({"op": "restore", "id": "use-nox", "reason": "sure again"})
    by_hand(bench, "Add by hand\n\nBecause.\n", memory__testing__by_hand=render(memory(id=ulid(7), title="By hand")))
    said = accounts(bench.store, start, bench.store.tip())
    nox = bench.memory("use-nox").id
    assert [account.reason for account in said[nox]] == ["sure again"]
    assert [(account.subject, account.actor) for account in said[ulid(7)]] == [("Add by hand", None)]
    assert set(said) == {nox, ulid(7)}
