"""Whether an edit claims another thing (RULES 1.9)."""

import pytest

from invincat.governance.claim import claims_otherwise
from invincat.memory.view import build
from tests.memory.factories import judged, record


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Push to main", "Do not push to main"),
        ("Never push to main", "Always push to main"),
        ("Don't mock the clock", "Mock the clock"),
        ("Tests must not touch the network", "Tests must touch the network"),
        ("在主分支上提交", "不在主分支上提交"),
        ("Lines have 100 characters", "Lines have 120 characters"),
        ("Use Python 3.11 or later", "Use Python 3.12 or later"),
    ],
)
def test_another_polarity_or_value_is_another_claim(old: str, new: str) -> None:
    assert claims_otherwise(old, new)
    assert claims_otherwise(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Use nox", "Use nox always"),
        ("Never push to main", "Do not push to main"),
        ("Push to main", "push to main."),
        ("Lines have 100 characters", "Lines are 100 characters wide"),
        ("Use nox", "Use nox 2024"),
        ("Do not push", "Mock the clock"),
    ],
)
def test_other_words_for_the_same_or_for_what_words_cannot_tell_pass(old: str, new: str) -> None:
    assert claims_otherwise(old, new) is None


def test_an_update_that_turns_the_claim_round_is_refused_and_a_supersession_named() -> None:
    view = build(None, [record("push", title="Push to main")])
    update = {"op": "update", "id": "push", "title": "Never push to main"}
    (reason,) = judged(view, update).reasons
    assert (reason.rule, reason.operation, reason.field) == ("RULES 1.9", 0, "title")
    assert "invincat supersede push" in reason.message
    assert judged(view, {**update, "title": "Push to main, please"}).reasons == ()
    supersede = {"op": "supersede", "id": "push", "content": "Never push to main.", "reason": "r"}
    assert judged(view, supersede).reasons == ()
