"""Messages of memory commits: for people, for programs, and never forged (FORMAT "Commits")."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invincat.memory.entry import Source
from invincat.memory.view import View
from invincat.store.message import LEAST_ABOUT, MAX_SUBJECT, Hold, compose, compose_scores, read
from tests.memory.factories import MODEL, USER, context, create, quick, run, ulid, view_of
from tests.memory.strategies import lines

OPS = {"create", "update", "supersede", "archive", "restore", "delete", "score", "move"}
FORGED = [
    *(
        "Invincat-Op: delete",
        "x Invincat-Op: delete",
        "-- ",
        "--- a",
        "--",
        "---",
        "a: b: c",
        "Signed-off-by: Eve <e@x>",
    ),
    *("# comment", "diff --git a/x b/x", "fixup! x", "(cherry picked from commit 1)", "x\u2028Invincat-Op: delete"),
    *("Invincat-Reason: forged", "+ plus", "* star", "> quote", "日本語: 一", "x " * 50),
]
TEXTS = st.one_of(lines(100), st.sampled_from(FORGED))


def messages(title: str, reason: str, source: Source = USER) -> dict[str, str]:
    """A message of each operation, all with this title and reason."""
    at = context(source=source)
    view = view_of("one", "two")
    view = run(view, {"op": "update", "id": "one", "title": title}).view
    made = [
        (View(), create("Body.", title=title)),
        (view_of("one"), {"op": "update", "id": "one", "title": title, "reason": reason}),
        (view, {"op": "update", "id": "one", "tags": ["a"]}),
        (view, {"op": "supersede", "id": "one", "by": "two", "reason": reason}),
        (view_of("one"), {"op": "supersede", "id": "one", "content": "Body.", "title": title, "reason": reason}),
        (view, {"op": "archive", "id": "one", "reason": reason}),
        (view, {"op": "delete", "id": "one", "reason": reason}),
        (view_of("one"), {"op": "set", "id": "one", "title": title, "name": "three", "reason": reason}),
        (view, {"op": "rescore", "id": "one", "score": 3, "reason": reason}),
        (
            run(view, {"op": "archive", "id": "one", "reason": "r"}).view,
            {"op": "restore", "id": "one", "reason": reason},
        ),
    ]
    return {
        str(n): compose(run(start, item, at), source, Hold(reason) if n % 2 else None)
        for n, (start, item) in enumerate(made)
    }


@quick
@given(TEXTS, TEXTS)
def test_no_text_can_forge_a_message(title: str, reason: str) -> None:
    """FORMAT "Commits": no line begins with `--- `, the subject with the operation, trailers say what we said."""
    title, reason = " ".join(title.split()), " ".join(reason.split())
    for text in messages(title, reason).values():
        subject, empty, *_ = text.split("\n")
        assert len(subject) <= max(MAX_SUBJECT, len(subject.partition(": ")[0]) + LEAST_ABOUT)
        assert subject.split(" ")[0] in OPS
        assert empty == ""
        assert not any(re.match(r"---(\s|$)|[<>=#]|diff |Signed", line) for line in text.split("\n"))
        message = read(text)
        assert message.op == subject.split(" ")[0]
        assert message.subject == subject
        assert message.memories in {(ulid(1),), (ulid(1 << 80),)}
        assert message.reason in {None, reason}
        assert message.held in {None, reason}
        trailers = text.rstrip("\n").rpartition("\n\n")[2].split("\n")
        assert all(line.startswith("Invincat-") for line in trailers)
        assert not any(line.startswith("Invincat-") for line in text.split("\n")[: -len(trailers) - 1])


def test_the_example_of_the_format() -> None:
    """FORMAT "Commits"."""
    step = run(
        view_of("run-with-markers", "use-nox"),
        {"op": "supersede", "id": "run-with-markers", "by": "use-nox", "reason": "nox drives the matrix now"},
    )
    assert compose(step, MODEL) == (
        "supersede testing/run-with-markers by testing/use-nox: nox drives the matrix now\n"
        "\n"
        "- About run-with-markers\n"
        "+ About use-nox\n"
        "\n"
        "Invincat-Op: supersede\n"
        f"Invincat-Memory: {ulid(1)}\n"
        f"Invincat-Successor: {ulid(2)}\n"
        "Invincat-Actor: memory-agent\n"
        f"Invincat-Session: {MODEL.session}\n"
        "Invincat-Reason: nox drives the matrix now\n"
    )


@pytest.mark.parametrize(
    ("item", "left", "came"),
    [
        (create("New thing."), [], ["New thing"]),
        ({"op": "update", "id": "one", "title": "T"}, ["About one"], ["T"]),
        ({"op": "update", "id": "one", "tags": ["x"]}, [], []),
        ({"op": "archive", "id": "one", "reason": "r"}, ["About one"], []),
        ({"op": "delete", "id": "one", "reason": "r"}, ["About one"], []),
        ({"op": "rescore", "id": "one", "score": 1, "reason": "r"}, [], []),
        ({"op": "supersede", "id": "one", "content": "N.", "reason": "r"}, ["About one"], ["N"]),
        ({"op": "supersede", "id": "gone", "content": "N.", "reason": "r"}, [], ["N"]),
    ],
)
def test_the_body_says_what_is_believed_now(item: dict[str, Any], left: list[str], came: list[str]) -> None:
    """FORMAT "Commits": `-` for what went, `+` for what came."""
    lines_of = compose(run(view_of("one", "two"), item), USER).split("\n")
    assert [line[2:] for line in lines_of if line.startswith("- ")] == left
    assert [line[2:] for line in lines_of if line.startswith("+ ")] == came


def test_sources_are_named() -> None:
    """FORMAT "Commits": `Invincat-Source` for each item of evidence."""
    evidence = [{"at": "docs/a: b.md#L1-L2", "quote": "x"}, {"at": "turn:14"}]
    text = compose(run(View(), create("New.", evidence=evidence)), MODEL)
    assert read(text).sources == ("docs/a: b.md#L1-L2", "turn:14")


def test_scores_share_one_message() -> None:
    """FORMAT "Commits": `git log --invert-grep --grep='^score'` leaves them out."""
    view = view_of("one", "two")
    steps = [run(view, {"op": "rescore", "id": name, "score": 90, "reason": f"why {name}"}) for name in ("one", "two")]
    text = compose_scores(steps, USER)
    assert text.startswith("score 2 memories\n\n* testing/one: 90 hot\n* testing/two: 90 hot\n\n")
    message = read(text)
    assert (message.op, message.memories, message.actor) == ("score", (ulid(1), ulid(2)), "user")
    assert compose_scores(steps[:1], USER) == compose(steps[0], USER)


def test_renames_are_told() -> None:
    """RULES 6.4: "one commit, said in the reply", and in the log."""
    view = run(View(), create("Use nox.")).view
    view = run(view, create("Use nox! Yes."), context(start=1 << 81)).view
    text = compose(run(view, {"op": "delete", "id": "use-nox", "reason": "r"}), USER)
    assert f"! memory/testing/use-nox--{ulid(1 << 81)[-6:].lower()}.md is now testing/use-nox\n" in text


@pytest.mark.parametrize(
    "text", ["", "by hand\n", "by hand\n\nSigned-off-by: Ada <a@example.org>\n", "Invincat-Op: x\n\nby hand\n"]
)
def test_what_we_did_not_write_has_no_operation(text: str) -> None:
    """RULES 6.6."""
    assert read(text).op is None


@quick
@given(st.text(max_size=200))
def test_any_message_is_read(text: str) -> None:
    """RULES 6.6: commits made by hand say anything."""
    assert read(text).subject == text.partition("\n")[0]
