"""The person interrupts: whatever was under way, the history stays sendable and every call has a result."""

import pytest

from invincat.agent.events import Text, ToolFinished, ToolStarted
from invincat.agent.loop import INTERRUPTED
from invincat.llm.client import RateLimited
from invincat.llm.message import Assistant, ToolResult, User
from invincat.llm.retry import Policy
from invincat.llm.scripted import Fail, Hang, Say, ScriptedClient
from tests.agent.talking import Probe, Stuck, check_whole, conversation, ended, interrupted, play


@pytest.fixture
def session(sessions, tmp_path):
    return sessions.begin(tmp_path, "scripted")


def test_while_the_answer_streams(session):
    client = ScriptedClient([Hang("The first half"), Say("Again.")])
    talk = conversation(client, session)
    interrupted(talk, "Explain", lambda event: event == Text("half"))
    assert session.messages == [User("Explain"), Assistant("The first half")]
    assert ended(play(talk, "Once more")).text == "Again."


def test_before_anything_was_said(session):
    client = ScriptedClient([Say("", [("probe", {"n": 1})]), Hang(), Say("Again.")])
    talk = conversation(client, session, Probe())
    interrupted(talk, "Explain", lambda event: isinstance(event, ToolFinished))
    assert [type(message) for message in session.messages] == [User, Assistant, ToolResult]
    check_whole(session)
    assert ended(play(talk, "Once more")).text == "Again."


def test_while_a_tool_runs(session, sessions):
    calls = [("probe", {"n": 1}), ("stuck", {"n": 2}), ("probe", {"n": 3})]
    client = ScriptedClient([Say("Looking.", calls), Say("Fine.")])
    probe, stuck = Probe(), Stuck("stuck")
    talk = conversation(client, session, probe, stuck)
    interrupted(talk, "Go", lambda event: isinstance(event, ToolStarted) and event.name == "stuck")
    assert probe.ran == [{"n": 1}]
    assert stuck.ran == [{"n": 2}]
    assert [message.text for message in session.messages[2:]] == ["result 1", INTERRUPTED, INTERRUPTED]
    check_whole(session)
    assert sessions.messages(session.id) == session.messages
    assert ended(play(talk, "Go on")).text == "Fine."
    assert probe.ran == [{"n": 1}]


def test_while_waiting_to_ask_again(session):
    """A wait that the endpoint asked for ends at once."""
    client = ScriptedClient([Fail(RateLimited("slow down", retry_after=60.0)), Say("Fine.")], policy=Policy())
    talk = conversation(client, session)
    interrupted(talk, "Go", lambda event: True)
    assert session.messages == [User("Go")]
    assert ended(play(talk, "Go on")).text == "Fine."


def test_again_and_again(session):
    client = ScriptedClient(lambda asked: Hang("Half.") if len(client.asked) % 2 else Say("", [("stuck", {"n": 1})]))
    talk = conversation(client, session, Stuck("stuck"))
    for _ in range(3):
        interrupted(talk, "Go", lambda event: isinstance(event, Text | ToolStarted))
        interrupted(talk, "Go", lambda event: isinstance(event, Text | ToolStarted))
    assert len(session.messages) == 3 * 2 + 3 * 3
    check_whole(session)
