"""The loop with the scripted model: what is said, what is run, what is kept, and how a turn ends."""

import asyncio
import itertools

import msgspec
import pytest

from invincat.agent.events import End, Notice, Restarted, TurnEnded
from invincat.agent.loop import Limits
from invincat.context.transcript import lines_of
from invincat.errors import StoreError
from invincat.llm.client import (
    BadEndpoint,
    BrokenStream,
    Finish,
    KeyRefused,
    RateLimited,
    Refused,
    ServerFault,
    UnknownModel,
)
from invincat.llm.message import Assistant, System, ToolResult, User
from invincat.llm.scripted import Fail, Say, ScriptedClient
from invincat.llm.usage import Usage
from tests.agent.talking import (
    SYSTEM,
    Probe,
    check_whole,
    conversation,
    ended,
    lines_on_disk,
    play,
    said,
    tools_in,
)


@pytest.fixture
def session(sessions, tmp_path):
    return sessions.begin(tmp_path, "scripted")


def test_a_plain_answer(session, sessions, tmp_path):
    client = ScriptedClient([Say("Hello, Ada.", usage=Usage(7, 3))])
    events = play(conversation(client, session), "Hi")
    assert said(events) == "Hello, Ada."
    assert ended(events) == TurnEnded(End.FINAL, "Hello, Ada.", Usage(7, 3))
    assert session.messages == [User("Hi"), Assistant("Hello, Ada.")]
    assert sessions.messages(session.id) == session.messages
    assert client.asked[0].messages == (System(SYSTEM), User("Hi"))


def test_tools_are_run_in_rounds_until_the_last_word(session):
    client = ScriptedClient(
        [
            Say("Let me look.", [("probe", {"n": 1}), ("other", {"n": 2})], usage=Usage(10, 1)),
            Say("", [("probe", {"n": 3})], usage=Usage(20, 2)),
            Say("Done.", usage=Usage(30, 3)),
        ]
    )
    probe, other = Probe(), Probe("other", lambda number: "seen")
    events = play(conversation(client, session, probe, other), "Go")
    assert tools_in(events) == [
        "ToolStarted probe",
        "ToolFinished probe",
        "ToolStarted other",
        "ToolFinished other",
        "ToolStarted probe",
        "ToolFinished probe",
    ]
    assert (probe.ran, other.ran) == ([{"n": 1}, {"n": 3}], [{"n": 2}])
    assert ended(events) == TurnEnded(End.FINAL, "Done.", Usage(60, 6))
    results = [message.text for message in session.messages if isinstance(message, ToolResult)]
    assert results == ["result 1", "seen", "result 2"]
    check_whole(session)


@pytest.mark.parametrize("raw", ['{"n": 1', "[1]", "n=1", '{"n": NaN}'])
def test_invalid_arguments_are_answered_and_never_run(session, raw):
    client = ScriptedClient([Say(calls=[("probe", raw)]), Say("Sorry.")])
    probe = Probe()
    events = play(conversation(client, session, probe), "Go")
    assert probe.ran == []
    [result] = [message for message in session.messages if isinstance(message, ToolResult)]
    assert result.is_error
    assert "was not run" in result.text
    assert ended(events).end is End.FINAL
    [call] = client.asked[1].messages[2].calls
    assert call.arguments == "{}"
    check_whole(session)


def test_a_tool_that_is_not_there_is_answered(session):
    client = ScriptedClient([Say(calls=[("rm_rf", {})]), Say("Sorry.")])
    play(conversation(client, session, Probe()), "Go")
    [result] = [message for message in session.messages if isinstance(message, ToolResult)]
    assert result.is_error
    check_whole(session)


@pytest.mark.parametrize(("finish", "why"), [(Finish.LENGTH, "length limit"), (Finish.FILTER, "filter")])
def test_calls_that_were_cut_are_not_run_and_the_model_is_told(session, finish, why):
    cut = Say("Writing it", [("probe", {"n": 1}), ("probe", {"n": 2})], finish=finish)
    client = ScriptedClient([cut, Say("Smaller then.")])
    probe = Probe()
    events = play(conversation(client, session, probe), "Write a book")
    assert probe.ran == []
    assert ended(events).text == "Smaller then."
    note = client.asked[1].messages[-1]
    assert isinstance(note, User)
    assert why in note.text
    assert "probe, probe was not run" in note.text
    # Ours, and not the person's: nothing that learns hears it.
    assert [line.heard.text for line in lines_of(session.messages) if line.heard.role == "user"] == ["Write a book"]


def test_an_answer_that_is_cut_again_and_again_ends_the_turn(session):
    client = ScriptedClient(lambda _: Say("", [("probe", {"n": 1})], finish=Finish.LENGTH))
    events = play(conversation(client, session, Probe()), "Go")
    assert ended(events).end is End.REPEATING
    assert len(client.asked) == 5


def test_an_answer_cut_by_length_without_calls_is_final_and_said(session):
    client = ScriptedClient([Say("Once upon a", finish=Finish.LENGTH)])
    events = play(conversation(client, session), "Tell")
    assert Notice("the answer was cut by the length limit") in events
    assert ended(events).text == "Once upon a"


def test_case_10_a_stream_that_broke_keeps_the_turn_and_runs_no_half_call(session):
    client = ScriptedClient([Fail(ServerFault("gone"), after="The half of "), Say("All of it.")])
    probe = Probe()
    talk = conversation(client, session, probe)
    events = play(talk, "Explain")
    assert ended(events).end is End.ERROR
    assert ended(events).try_later
    assert session.messages == [User("Explain"), Assistant("The half of ")]
    assert probe.ran == []
    assert ended(play(talk, "Again")).text == "All of it."
    assert client.asked[-1].messages[1:] == (User("Explain"), Assistant("The half of "), User("Again"))


def test_case_10_a_call_that_ran_is_not_run_again_when_the_next_answer_breaks(session):
    client = ScriptedClient([Say(calls=[("probe", {"n": 1})]), Fail(BrokenStream("gone"), after="So"), Say("Fine.")])
    probe = Probe()
    talk = conversation(client, session, probe)
    play(talk, "Go")
    events = play(talk, "Go on")
    assert probe.ran == [{"n": 1}]
    assert ended(events).text == "Fine."
    check_whole(session)


def test_case_5_an_empty_answer_is_asked_for_once_more_then_said(session):
    client = ScriptedClient([Say(""), Say(" \n"), Say("Here.")])
    talk = conversation(client, session)
    events = play(talk, "Hi")
    assert ended(events).error == "the model answered with nothing; say it differently, or try again"
    assert len(client.asked) == 2
    assert session.messages == [User("Hi")]
    assert ended(play(talk, "Hi again")).text == "Here."


def test_a_retry_is_shown_as_a_restart(session):
    client = ScriptedClient([Fail(RateLimited("slow down", retry_after=7.0)), Say("Now.")])
    events = play(conversation(client, session), "Hi")
    [restarted] = [event for event in events if isinstance(event, Restarted)]
    assert restarted.reason == "slow down"
    assert restarted.seconds >= 7
    assert events.index(restarted) == 0
    assert ended(events).text == "Now."


@pytest.mark.parametrize(
    "fault",
    [
        KeyRefused("the key is refused", where="OPENAI_API_KEY", next_step="set a key"),
        UnknownModel("no model 'x'", where="OPENAI_MODEL", next_step="name one"),
        BadEndpoint("no such page", where="OPENAI_BASE_URL", next_step="check it"),
        Refused("the endpoint answered 400: no"),
    ],
    ids=lambda fault: type(fault).__name__,
)
def test_a_fault_that_does_not_clear_is_one_line_at_the_end(session, fault):
    events = play(conversation(ScriptedClient([Fail(fault)]), session), "Hi")
    assert events == [TurnEnded(End.ERROR, "", Usage(), error=str(fault), try_later=False)]
    assert "\n" not in events[0].error


def test_the_same_call_with_the_same_result_five_times_ends_the_turn(session):
    client = ScriptedClient(lambda _: Say("", [("probe", {"n": 1})]))
    probe = Probe(answer=lambda number: "the same")
    events = play(conversation(client, session, probe), "Loop")
    assert ended(events).end is End.REPEATING
    assert len(probe.ran) == 5
    check_whole(session)


def test_polling_with_changing_results_goes_on(session):
    answers = itertools.chain([Say("", [("probe", {"n": 1})])] * 12, [Say("Ready.")])
    client = ScriptedClient(lambda _: next(answers))
    probe = Probe(answer=lambda number: f"{number} of 12 done")
    assert ended(play(conversation(client, session, probe), "Wait for it")).text == "Ready."
    assert len(probe.ran) == 12


def test_repeats_are_counted_within_a_turn(session):
    answers = itertools.cycle([*[Say("", [("probe", {"n": 1})])] * 3, Say("Same.")])
    client = ScriptedClient(lambda _: next(answers))
    talk = conversation(client, session, Probe(answer=lambda number: "the same"))
    assert [event.end for event in play(talk, "One", "Two") if isinstance(event, TurnEnded)] == [End.FINAL, End.FINAL]


def test_the_cap_on_requests(session):
    client = ScriptedClient(lambda _: Say("Working.", [("probe", {"n": 1})]))
    events = play(conversation(client, session, Probe(), limits=Limits(3)), "Go")
    assert ended(events).end is End.TURN_CAP
    assert ended(events).text == "Working."
    assert len(client.asked) == 3
    check_whole(session)


def test_the_last_word_within_the_cap_is_final(session):
    client = ScriptedClient([Say("Done.")])
    assert ended(play(conversation(client, session, limits=Limits(1)), "Go")).end is End.FINAL


def test_the_budget_of_tokens(session):
    client = ScriptedClient(lambda _: Say("", [("probe", {"n": 1})], usage=Usage(40, 10)))
    events = play(conversation(client, session, Probe(), limits=Limits(50, tokens=100)), "Go")
    assert ended(events).end is End.BUDGET
    assert ended(events).usage.total == 100
    check_whole(session)


def test_what_changed_in_memory_stands_behind_the_words_and_the_prefix_stays(session):
    notes = iter([None, '<invincat-memory mark="1">\nuse nox\n</invincat-memory mark="1">', None])

    async def news() -> str | None:
        return next(notes)

    client = ScriptedClient(lambda _: Say("Fine."))
    play(conversation(client, session, news=news), "One", "Two", "Three")
    first, second, third = (asked.messages for asked in client.asked)
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert second[-1] == User('Two\n\n<invincat-memory mark="1">\nuse nox\n</invincat-memory mark="1">')


def test_halves_of_surrogates_break_neither_the_log_nor_the_events(session, sessions):
    client = ScriptedClient([Say("A cat \ud83d\ude3a and half \ud83d", [("probe", {"n": 1})]), Say("Done.")])
    events = play(conversation(client, session, Probe()), "Caf\udce9")
    msgspec.json.encode(events)
    assert sessions.messages(session.id) == session.messages
    assert session.messages[0] == User("Caf\ufffd")
    assert session.messages[1].text == "A cat \U0001f63a and half \ufffd"


def test_case_38_a_full_disk_is_said_once_and_before_the_end(session, sessions, tmp_path):
    client = ScriptedClient(lambda _: Say("Still here."))
    talk = conversation(client, session)
    play(talk, "One")
    [path] = (tmp_path / "sessions").glob("*.jsonl")
    kept = path.read_bytes()
    path.unlink()
    path.symlink_to("/dev/full")
    second, third = play(talk, "Two"), play(talk, "Three")
    [notice] = [event for event in second if isinstance(event, Notice)]
    assert "no longer be saved" in notice.text
    assert ended(second).text == ended(third).text == "Still here."
    assert not any(isinstance(event, Notice) for event in third)
    assert [message.text for message in session.messages] == [
        "One",
        "Still here.",
        "Two",
        "Still here.",
        "Three",
        "Still here.",
    ]
    assert kept.endswith(b"\n")


@pytest.mark.parametrize("heard", [1, 2, 3])
def test_a_front_end_that_stops_listening_leaves_the_history_whole(session, heard):
    """Closing takes effect at once, not when the garbage is collected."""
    client = ScriptedClient([Say("", [("probe", {"n": 1}), ("probe", {"n": 2})])])

    async def run() -> None:
        turn = conversation(client, session, Probe()).turn("Go")
        for _ in range(heard):
            await anext(turn)
        await turn.aclose()
        check_whole(session)

    asyncio.run(run())
    assert [type(message) for message in session.messages] == [User, Assistant, ToolResult, ToolResult]


def test_a_log_holds_one_line_a_message(session, tmp_path):
    client = ScriptedClient([Say("", [("probe", {"n": 1})]), Say("Done.\nReally.")])
    play(conversation(client, session, Probe()), "Two\nlines")
    lines = [msgspec.json.decode(line) for line in lines_on_disk(tmp_path / "sessions")]
    assert lines[0]["opened"]["model"] == "scripted"
    assert [line["message"]["role"] for line in lines[1:]] == ["user", "assistant", "tool", "assistant"]


def test_a_fault_of_the_news_ends_the_turn_like_any_other(session):
    async def news() -> str | None:
        raise StoreError("the store is gone")

    events = play(conversation(ScriptedClient(), session, news=news), "Hi")
    assert events == [TurnEnded(End.ERROR, "", Usage(), error="the store is gone")]
    assert [message.text for message in session.messages] == ["Hi"], "what was said is not lost"


def test_what_is_refused_by_any_name_is_not_to_be_tried_later(session):
    class Special(Refused):
        exit_code = 75

    events = play(conversation(ScriptedClient([Fail(Special("no"))]), session), "Hi")
    assert not ended(events).try_later


def test_switching_goes_on_with_prompt_and_history(session):
    first, second = ScriptedClient([Say("One.")]), ScriptedClient([Say("Two.")])
    talk = conversation(first, session)
    play(talk, "Hi")
    talk.switch(second)
    play(talk, "Ho")
    assert [message.text for message in second.asked[0].messages] == [SYSTEM, "Hi", "One.", "Ho"]
