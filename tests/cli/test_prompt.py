"""What is told beside one message: what it is about, at most three, and often nothing (issue "Recall and briefing")."""

import pytest

from tests.cli.conftest import Invincat

FILLERS = [f"Topic {word} is settled in the {word} handbook" for word in "abcdefghijklmnop"]


@pytest.fixture
def full(invincat: Invincat) -> Invincat:
    """A store with more warm memories than a briefing shows."""
    said = [*FILLERS, "Run the tests through nox", "Deploy on Tuesdays only", "Read `parse_config` before changing it"]
    operations = [{"op": "create", "scope": "project", "section": "General", "content": text} for text in said]
    invincat.apply(*({**one, "score": 30 + (at < len(FILLERS))} for at, one in enumerate(operations)))
    return invincat


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("please run all tests with nox", ["run-the-tests-through-nox"]),
        ("when do we deploy, on tuesdays?", ["deploy-on-tuesdays-only"]),
        ("parse_config crashes on an empty file", ["read-parse-config-before-changing-it"]),
        ("what is the weather like", []),
        ("fix the tests", []),
        ("", []),
        ("x" * 5000, []),
    ],
)
def test_only_what_a_message_is_about_is_told_beside_it(full: Invincat, prompt: str, expected: list[str]) -> None:
    told = full("brief", "--json", "--prompt", prompt).json
    assert told["beside"] == expected
    assert not set(expected) & set(told["shown"] + told["left_out"])


def test_what_the_briefing_has_is_not_repeated(invincat: Invincat) -> None:
    invincat("remember", "Run the tests through nox")
    assert invincat("brief", "--json", "--prompt", "run the tests with nox").json["beside"] == []


def test_never_more_than_three_and_nothing_retired(full: Invincat) -> None:
    told = full("brief", "--json", "--prompt", " ".join(FILLERS)).json["beside"]
    assert len(told) <= 3
    full("archive", "deploy-on-tuesdays-only", "--reason", "no longer")
    assert full("brief", "--json", "--prompt", "deploy on tuesdays").json["beside"] == []
