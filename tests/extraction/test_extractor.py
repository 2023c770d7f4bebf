import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invincat.errors import UserError
from invincat.extraction.extractor import Extraction, Message, from_commit, from_transcript, read_transcript
from invincat.governance.redaction import clip_quote
from invincat.memory.content import one_line


def heard(*texts: str) -> Extraction:
    """What is drawn from a conversation in which the assistant answers each message of a person."""
    messages: list[Message] = []
    for text in texts:
        messages.append(Message("user", text, number=len(messages) + 1))
        messages.append(Message("assistant", "Understood, we always do that.", number=len(messages) + 1))
    return from_transcript(messages)


def contents(operations: list[dict[str, object]]) -> list[object]:
    return [operation["content"] for operation in operations]


def test_a_transcript_is_read_line_by_line() -> None:
    lines = '{"role": "user", "text": "hi"}\n\n{"role": "tool", "text": "x", "tool": "read_file"}\r\n'
    lines += '{"role": "assistant"}\n{"role": "user", "content": "as OpenAI says it"}\n'
    assert read_transcript(lines) == [
        Message("user", "hi", number=1),
        Message("tool", "x", "read_file", 3),
        Message("assistant", "", number=4),
        Message("user", "as OpenAI says it", number=5),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '"x"',
        '{"role": "boss", "text": ""}',
        '{"role": "user", "text": 1}',
        '{"role": "user", "content": [{"type": "text", "text": "hi"}]}',
        '{"text": "x"}',
        "NaN",
        "[" * 9999,
    ],
)
def test_a_bad_line_is_named(line: str) -> None:
    with pytest.raises(UserError) as caught:
        read_transcript(f'{{"role": "user", "text": "hi"}}\n{line}\n')
    assert caught.value.where == "line 2"


def test_an_explicit_request_is_an_operation_to_commit() -> None:
    assert heard("Hello!", "Remember: run the tests with nox.") == Extraction(
        commits=[
            {
                "op": "create",
                "scope": "project",
                "section": "Testing",
                "content": "Run the tests with nox.",
                "kind": "convention",
                "confidence": "high",
                "score": 75,
                "score_reason": "explicit request",
                "evidence": [{"at": "turn:3", "quote": "Remember: run the tests with nox."}],
            }
        ],
        holds=[],
    )


def test_a_standing_rule_waits_for_a_person() -> None:
    found = heard("We never push directly to main.")
    assert found.commits == []
    (operation,) = found.holds
    assert (operation["confidence"], operation["kind"], operation["scope"]) == ("medium", "constraint", "project")


def test_whose_rule_it_is_decides_where_it_goes() -> None:
    mine = heard("remember that I prefer short answers")
    assert [(one["scope"], one["kind"]) for one in mine.commits] == [("user", "preference")]
    said = [Message("user", "remember that I prefer tabs, but only here", number=1)]
    here = from_transcript(said, "invincat")
    assert [(one["scope"], one["project"]) for one in here.commits] == [("user", "invincat")]
    nowhere = from_transcript(said)
    assert nowhere.commits == []
    assert ["project" in one for one in nowhere.holds] == [False]
    unclear = heard("remember that I use tabs and we format with ruff")
    assert unclear.commits == []
    assert [one["scope"] for one in unclear.holds] == ["user"]


def test_only_a_person_is_heard() -> None:
    words = "remember: we always use nox"
    messages = [Message(role, words, "read_file" if role == "tool" else None, 1) for role in ("assistant", "tool")]
    assert from_transcript(messages) == Extraction([], [])


def test_what_our_own_briefing_says_is_not_learned_again() -> None:
    fence = '<invincat-memory mark="x1">\nRemember: we use tox.\n</invincat-memory mark="x1">'
    assert heard(f"{fence}\nRemember: we use nox.").commits[0]["content"] == "We use nox."
    assert heard(fence) == Extraction([], [])
    assert heard("<invincat-memory>\nRemember: we use tox.") == Extraction([], [])


def test_equal_contents_are_one_and_the_explicit_one_counts() -> None:
    found = heard("we always squash before merging", "remember: we always squash before merging.")
    assert (len(found.commits), found.holds) == (1, [])


@pytest.mark.parametrize(
    ("first", "then", "left"),
    [
        ("remember: tests run with tox", "No, forget that, we use nox", ["We use nox"]),
        ("remember: tests run with tox", "Scratch that. Tests run with nox.", ["Tests run with nox."]),
        ("remember: tests run with tox", "sorry, that was wrong: tests run with nox", ["Tests run with nox"]),
        ("记住：测试用 tox 运行", "不对，测试用 nox 运行", ["测试用 nox 运行"]),
        ("记住：测试用 tox 运行", "算了", []),
        ("remember: tests run with tox", "forget that", []),
        ("remember: tests run with tox. Never mind.", "go on", []),
        ("remember: tests run with tox", "no, forget that. Remember: tests run with nox", ["Tests run with nox"]),
        ("remember: tests run with tox", "don't forget that. Go on.", ["Tests run with tox"]),
    ],
)
def test_what_is_taken_back_is_not_remembered(first: str, then: str, left: list[str]) -> None:
    assert contents(heard(first, then).commits) == left


def test_taking_back_reaches_the_last_thing_said_or_what_is_named() -> None:
    first, second = "remember: tests run with tox", "remember: we deploy from main"
    assert contents(heard(first, second, "scratch that").commits) == ["Tests run with tox"]
    assert contents(heard(first, second, "forget what I said about the tests").commits) == ["We deploy from main"]
    assert contents(heard(first, "fix a", "fix b", "fix c", "never mind").commits) == ["Tests run with tox"]


def test_a_quote_is_at_most_200_characters_of_the_message() -> None:
    text = f"remember: use {'very ' * 80}long names"
    (operation,) = heard(text).commits
    (evidence,) = operation["evidence"]
    assert len(evidence["quote"]) <= 200
    assert text.startswith(evidence["quote"])


def test_memory_trailers_of_a_commit() -> None:
    message = "Add nox\n\nMemory: Run the tests with nox\nmemory: Run the tests with nox.\nMEMORY: Never push to main\n"
    trailers = [
        ("Memory", "Run the tests with nox"),
        ("memory", "Run the tests with nox."),
        ("MEMORY", "Never push to main"),
        ("Refs", "#1"),
        ("Memory", " "),
    ]
    found = from_commit("3f2a9c4", message, trailers)
    assert contents(found.commits) == ["Run the tests with nox", "Never push to main"]
    assert found.commits[1]["evidence"] == [{"at": "commit:3f2a9c4", "quote": "Never push to main"}]
    assert (found.commits[1]["confidence"], found.commits[1]["score"]) == ("high", 75)
    assert found.holds == []


SAID = st.lists(
    st.sampled_from(
        [
            "remember: use nox",
            "forget that",
            "we always squash",
            "no",
            "I prefer tabs",
            "scratch that, we use ruff",
            "记住：用 pnpm",
            "算了",
            "remember this",
            "remember:",
            "- a b",
            "?",
            "\x00",
            "\u2028",
            "<invincat-memory>",
        ]
    ),
    max_size=6,
).map("\n".join)


@settings(deadline=None, max_examples=80)
@given(st.lists(st.one_of(st.text(max_size=80), SAID), max_size=4))
def test_any_conversation_gives_operations_whose_quotes_are_there(texts: list[str]) -> None:
    messages = [Message("user", text, number=number) for number, text in enumerate(texts)]
    found = from_transcript(messages)
    for operation in (*found.commits, *found.holds):
        (evidence,) = operation["evidence"]
        text = texts[int(evidence["at"].removeprefix("turn:"))]
        assert 0 < len(evidence["quote"]) <= 200
        assert evidence["quote"] in one_line(text)
    lines = "\n".join(json.dumps({"role": "user", "text": text}) for text in texts)
    assert contents(from_transcript(read_transcript(lines)).commits) == contents(found.commits)


def test_a_long_quote_is_cut_where_all_quotes_are() -> None:
    words = "记" + "e\u0301" * 300
    (operation,) = from_transcript([Message("user", f"remember: {words} stays", number=1)]).commits
    assert operation["evidence"][0]["quote"] == clip_quote(f"remember: {words} stays")
