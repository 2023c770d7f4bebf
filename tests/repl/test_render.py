"""Events as lines: tools, ends, restarts; widths; text that is made safe."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invincat.agent.events import End, Learned, Notice, Restarted, Text, Thinking, ToolFinished, ToolStarted
from invincat.repl.cells import cells, fit, last_rows, wrap
from invincat.repl.render import PlainAnswer, Transcript, describe
from invincat.repl.safe import one_line, safe
from invincat.repl.style import Paint
from tests.repl.fake_desk import ended

EVIL = "a\x1b]0;title\x07b\x1b[2J\x9b31m\x00\r\u202ec\u200b"
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u200b]")


def transcript(*, colour: bool = False) -> Transcript:
    return Transcript(Paint(colour), PlainAnswer)


def feed(shown: Transcript, *events) -> list[str]:
    return [line for event in events for line in shown.feed(event)]


def test_a_tool_is_one_line_when_it_has_finished():
    shown = transcript()
    assert feed(shown, ToolStarted("1", "grep", '{"pattern": "TODO", "path": "src"}')) == []
    assert shown.doing == "* grep TODO src ..."
    assert feed(shown, ToolFinished("1", "grep", "grep TODO (3 in 2 files)", "...", False)) == [
        "* grep TODO (3 in 2 files)"
    ]
    assert shown.doing == ""


def test_a_failed_tool_has_a_mark_that_needs_no_colour():
    assert feed(transcript(), ToolFinished("1", "edit_file", "no match", "...", True)) == ["! edit_file: no match"]


@pytest.mark.parametrize("arguments", ["", "{", "[1]", "7", '{"a": {"b": 1}}'])
def test_odd_arguments_are_no_fault(arguments):
    assert describe(ToolStarted("1", "glob", arguments)) == "glob"


def test_what_was_said_before_a_tool_stands_before_it():
    shown = transcript()
    assert feed(shown, Text("I will "), Text("look"), ToolStarted("1", "grep", "{}")) == ["I will look"]


def test_a_restart_drops_what_was_not_printed_and_says_so():
    shown = transcript()
    assert feed(shown, Text("half a li"), Restarted("connection lost", 2.4)) == [
        "the answer begins anew: connection lost; trying again in 2 s"
    ]
    assert feed(shown, Text("whole"), ended("whole")) == ["whole"]


def test_a_restart_after_printed_lines_calls_them_void():
    shown = transcript()
    feed(shown, Text("one\ntwo"))
    assert shown.take() == ["one"]
    assert feed(shown, Restarted("503", 0.0)) == ["what was said above is void: 503"]


@pytest.mark.parametrize("end", [end for end in End if end is not End.FINAL])
def test_an_end_that_is_not_the_last_word_is_told(end):
    assert len(feed(transcript(), ended(end=end))) == 1


def test_a_fault_is_told_in_its_own_words():
    assert feed(transcript(), ended(end=End.ERROR, error="no route to host")) == ["error: no route to host"]


def test_memory_changes_are_one_line_with_the_commit():
    assert feed(transcript(), Learned("learned use-tabs", commit="abcdef1234"), Notice("a\nb")) == [
        "learned use-tabs (abcdef1)",
        "a b",
    ]


def test_thinking_is_seen_but_not_printed():
    shown = transcript()
    assert feed(shown, Thinking("let me see")) == []
    assert shown.doing == "thinking ..."
    feed(shown, Text("x"))
    assert shown.doing == ""


def test_tokens_are_added_up():
    shown = transcript()
    feed(shown, ended(), ended())
    assert shown.usage.total == 30


@pytest.mark.parametrize(
    "event",
    [
        Learned(EVIL),
        Notice(EVIL),
        Restarted(EVIL, 1.0),
        ToolFinished("1", EVIL, EVIL, EVIL, False),
        ToolFinished("1", "x", EVIL, EVIL, True),
        ended(end=End.ERROR, error=EVIL),
    ],
)
def test_no_event_drives_the_terminal(event):
    (line,) = feed(transcript(), event)
    assert not CONTROL.search(line)


def test_without_colour_there_is_no_control_sequence_at_all():
    shown = transcript()
    lines = feed(shown, Notice("a"), ToolFinished("1", "x", "y", "", True), Text("b"), ended(end=End.TURN_CAP))
    assert "\x1b" not in "".join(lines)


def test_with_colour_each_line_ends_plain():
    for line in feed(transcript(colour=True), Notice("a"), ToolFinished("1", "x", "y", "", True)):
        assert line.startswith("\x1b[")
        assert line.endswith("\x1b[0m")


@given(st.text())
@settings(max_examples=80, deadline=None, derandomize=True)
def test_safe_text_has_no_control_characters_and_works_line_by_line(text):
    assert not CONTROL.search(safe(text))
    assert "\n" not in one_line(text)
    first, _, second = text.partition("\n")
    if not first.endswith("\r"):
        assert safe(f"{first}\n{second}") == f"{safe(first)}\n{safe(second)}"


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Cs"])), st.integers(2, 50))
@settings(max_examples=80, deadline=None, derandomize=True)
def test_wrapped_rows_fit_and_lose_nothing(text, width):
    rows = wrap(text, width)
    assert "".join(rows) == text
    assert all(cells(row) <= width for row in rows)
    assert cells(fit(text, width)) <= width
    assert last_rows(text, width, 3) == rows[-3:] or len(text) > width * 12


def test_wide_characters_take_two_cells():
    assert wrap("漢字漢字", 5) == ["漢字", "漢字"]
    assert fit("漢字漢字", 6) == "漢字…"
