"""What differs between two views, and how it is called."""

from typing import Any

import pytest

from invincat.memory.difference import Change, Turn, compare, difference
from invincat.memory.view import View
from tests.memory.factories import context, memory, run, ulid, view_of


def only(old: View, new: View) -> Change:
    """The one change."""
    [change] = difference(old, new, {})
    return change


@pytest.mark.parametrize(
    ("item", "turns"),
    [
        ({"op": "update", "content": "Another wording."}, (Turn.REWORDED,)),
        ({"op": "rescore", "score": 90, "reason": "daily"}, (Turn.RESCORED,)),
        ({"op": "update", "content": "Said better.", "score": 90}, (Turn.REWORDED, Turn.RESCORED)),
        ({"op": "archive", "reason": "unsure"}, (Turn.ARCHIVED,)),
        ({"op": "supersede", "by": "b", "reason": "better"}, (Turn.SUPERSEDED,)),
        ({"op": "delete", "reason": "wrong"}, (Turn.DELETED,)),
        ({"op": "update", "tags": ["x"]}, (Turn.REWORDED,)),
    ],
)
def test_each_operation_has_its_name(item: dict[str, Any], turns: tuple[Turn, ...]) -> None:
    old = view_of("a", "b")
    assert only(old, run(old, {"id": "a", **item}).view).turns == turns


def test_what_came_is_believed_and_what_went_is_not() -> None:
    old, new = view_of("a"), view_of("a", "b")
    assert only(old, new).turns == (Turn.CREATED,)
    assert only(new, old).turns == (Turn.GONE,)
    assert difference(old, view_of("a"), {}) == ()


def test_a_restored_one_is_believed_again() -> None:
    old = view_of("a")
    archived = run(old, {"op": "archive", "id": "a", "reason": "unsure"}).view
    restored = run(archived, {"op": "restore", "id": "a", "reason": "sure"}).view
    assert only(archived, restored).turns == (Turn.RESTORED,)
    gone = run(archived, {"op": "delete", "id": "a", "reason": "wrong"}).view
    assert only(archived, gone).turns == (Turn.CLEARED,)
    assert only(View(), archived).turns == (Turn.PASSED,)


def test_the_end_says_by_what_and_why() -> None:
    old = view_of("a", "b")
    change = only(old, run(old, {"op": "supersede", "id": "a", "by": "b", "reason": "b: it is better"}).view)
    assert (change.successor, change.end, change.status) == ("testing/b", "b: it is better", "superseded")


def test_values_of_two_versions_by_key() -> None:
    old, new = memory(body="One.\nTwo."), memory(body="One.", score=80, tier="hot", tags=("x",), score_reason="daily")
    assert {field.key: (field.old, field.new) for field in compare(old, new)} == {
        "tier": ("warm", "hot"),
        "score": (50, 80),
        "score_reason": (None, "daily"),
        "tags": (None, ("x",)),
        "body": ("One.\nTwo.", "One."),
    }
    assert compare(old, old) == ()


def test_the_order_is_by_gravity() -> None:
    old = view_of("a", "b", "c")
    new = run(old, {"op": "rescore", "id": "a", "score": 90, "reason": "x"}).view
    new = run(new, {"op": "archive", "id": "b", "reason": "x"}).view
    new = run(new, {"op": "create", "scope": "project", "section": "T", "content": "New."}, context()).view
    assert [change.turns[0] for change in difference(old, new, {})] == [Turn.CREATED, Turn.ARCHIVED, Turn.RESCORED]
    assert ulid(3) not in {change.id for change in difference(old, new, {})}
