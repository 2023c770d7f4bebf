"""The memory agent on real stores: what it is shown, how its answer is read, and what the gate makes of it."""

import asyncio
import json

import pytest

from invincat.agent.events import Learned
from invincat.agent.memory_agent import MAX_SHOWN, MemoryAgent
from invincat.app import App
from invincat.context.transcript import Line
from invincat.governance.grounding import Heard
from invincat.llm.client import EmptyAnswer
from invincat.llm.message import Assistant, ToolCall, ToolResult, User
from invincat.llm.scripted import Fail, Say, ScriptedClient
from invincat.memory.scope import Scope
from tests.agent.learning import NOX, Learning, answer, create
from tests.agent.memories import view_of

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
WORDS = "From now on we run the tests through nox, please."


def test_what_it_proposes_is_committed_with_all_that_is_known(learning, git):
    client = ScriptedClient([Say(answer(create(NOX, "we run the tests through nox")))], model="small-model")
    learned = learning(client)
    session = learned.begin()
    learned.said(session, WORDS)
    assert learned.work() == 0
    [record] = learned.records()
    source = record.memory.source
    assert (record.memory.title, source.actor, source.session) == (NOX, "memory-agent", session.id)
    assert source.model == "small-model"
    assert source.anchor == learned.sessions.cursor(session.id).anchor
    assert source.commit == git("rev-parse", "HEAD")[:7]
    assert source.branch == "main"
    [evidence] = source.evidence
    assert (evidence.at, evidence.quote) == ("turn:1", "we run the tests through nox")
    [event] = learned.heard
    assert isinstance(event, Learned)
    assert event.commit == git("rev-parse", "refs/invincat/memory").strip()
    assert record.name in event.text
    assert event.commit[:7] in event.text


def test_what_it_is_shown(learning):
    client = ScriptedClient([Say(answer(create(NOX, "run the tests through nox"))), Say(answer())])
    learned = learning(client)
    session = learned.begin()
    learned.said(session, WORDS)
    learned.work()
    [record] = learned.records()
    read = Assistant("", (ToolCall("c1", "read_file", '{"path":"noxfile.py"}'),))
    learned.said(session, "And what does the noxfile say?", read, ToolResult("c1", "nox.options.sessions"))
    learned.work()
    system, slice = client.asked[1].messages
    assert '"operations"' in system.text
    assert f"{record.memory.id} {record.name} project Testing: {NOX}" in slice.text
    assert "[turn:3] user:\nAnd what does the noxfile say?" in slice.text
    assert "[turn:5] tool read_file:\nnox.options.sessions" in slice.text
    assert WORDS not in slice.text, "only what is new"
    assert client.asked[1].schema is not None


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("Sure! Here it is.", "not JSON"),
        ("[]", "not one object"),
        ('{"operations": [], "notes": ""}', "not one object"),
        ('{"operations": {}}', "not one object"),
        ('{"operations": [], "operations": []}', "'operations' twice in one object"),
        ('{"operations": [1]}', "not an object"),
        (answer(*[{"op": "noop"}] * 9), "9 operations, at most 8"),
        (answer(create("x" * 501, "nox")), "501 characters, at most 500"),
        (answer(create(NOX, "nox"))[:-3], "not JSON"),
    ],
)
def test_a_malformed_answer_is_asked_for_once_more_with_the_error(learning, bad, why):
    client = ScriptedClient([Say(bad), Say(answer(create(NOX, "we run the tests through nox")))])
    learned = learning(client)
    learned.said(learned.begin(), WORDS)
    assert learned.work() == 0
    assert learned.titles() == [NOX]
    before, again = client.asked
    assert again.messages[:2] == before.messages
    assert again.messages[2] == Assistant(bad)
    assert why in again.messages[3].text
    assert learned.rejected() == []


def test_what_nobody_can_read_is_kept_without_its_secrets_and_not_asked_for_again(learning):
    client = ScriptedClient([Say("What?"), Say(f"I will not. The token is {TOKEN}")])
    learned = learning(client)
    session = learned.begin()
    learned.said(session, WORDS)
    assert learned.work() == 0
    assert len(client.asked) == 2
    [kept] = learned.rejected()
    assert kept == {"session": session.id, "raw": "I will not. The token is [secret]"}
    assert learned.sessions.cursor(session.id).count == 2
    assert learned.titles() == []


def test_a_model_that_says_nothing_at_all_is_not_asked_for_ever(learning):
    client = ScriptedClient([Say(""), Say(""), Say(""), Say("")])
    learned = learning(client)
    learned.said(learned.begin(), WORDS)
    assert learned.work() == 0
    assert [kept["raw"] for kept in learned.rejected()] == [""]


def test_a_code_fence_is_forgiven(learning):
    client = ScriptedClient([Say(f"```json\n{answer(create(NOX, 'we run the tests through nox'))}\n```")])
    learned = learning(client)
    learned.said(learned.begin(), WORDS)
    learned.work()
    assert learned.titles() == [NOX]


def test_two_scopes_in_one_answer(learning):
    mine = create("Prefers short answers", "I like short answers", scope="user")
    client = ScriptedClient([Say(answer(create(NOX, "run the tests through nox"), mine, {"op": "noop"}))])
    learned = learning(client)
    learned.said(learned.begin(), f"{WORDS} And I like short answers.")
    assert learned.work() == 0
    assert learned.titles() == [NOX]
    assert learned.titles(Scope.USER) == ["Prefers short answers"]
    assert len([event for event in learned.heard if isinstance(event, Learned)]) == 2


def test_an_operation_without_scope_goes_where_its_memory_is(learning):
    learned = learning(ScriptedClient([Say(answer(create("Prefers tabs", "I prefer tabs", scope="user")))]))
    session = learned.begin()
    learned.said(session, "Remember: I prefer tabs")
    learned.work()
    [record] = learned.records(Scope.USER)
    again = learning(ScriptedClient([Say(answer({"op": "archive", "id": record.name, "reason": "taken back"}))]))
    again.said(session, "Forget the thing about tabs, it does not matter any more")
    again.work()
    assert again.titles(Scope.USER) == []


@pytest.mark.parametrize("quote", ["we run the tests through tox", "Fine.", "nox nox nox nox"])
def test_a_claim_whose_quote_is_not_there_is_refused_and_nothing_written(learning, quote):
    client = ScriptedClient([Say(answer(create(NOX, quote)))])
    learned = learning(client)
    tip = learned.app.project.tip()
    learned.said(learned.begin(), WORDS)
    assert learned.work() == 0
    assert learned.app.project.tip() == tip
    assert learned.titles() == []
    [line] = learned.lines
    assert line.startswith("not remembered: ")
    assert "quote" in line


def test_a_quote_of_a_turn_that_was_read_before_is_none(learning):
    """Evidence is in the slice being read, not somewhere in the conversation."""
    client = ScriptedClient([Say(answer()), Say(answer(create(NOX, "run the tests through nox", turn=1)))])
    learned = learning(client)
    session = learned.begin()
    learned.said(session, WORDS)
    learned.work()
    learned.said(session, "What is the version?")
    learned.work()
    assert learned.titles() == []
    [event] = learned.heard
    assert event.proposal, "a person decides"


def test_what_the_assistant_said_is_no_evidence(learning):
    client = ScriptedClient([Say(answer(create("The answer is fine always", "Fine.", turn=2)))])
    learned = learning(client)
    learned.said(learned.begin(), WORDS)
    learned.work()
    assert learned.titles() == []
    [event] = learned.heard
    assert event.proposal, "a person decides"


def test_a_secret_in_the_conversation_is_not_shown_to_the_model(learning):
    client = ScriptedClient([Say(answer())])
    learned = learning(client)
    read = Assistant("", (ToolCall("c1", "read_file", '{"path":".env"}'),))
    learned.said(
        learned.begin(),
        f"The deploy token is {TOKEN}, mail ada@example.org, home /home/ada/work",
        read,
        ToolResult("c1", "x " * 5000 + f"TOKEN={TOKEN}" + " y" * 5000),
    )
    learned.work()
    sent = json.dumps([message.text for message in client.asked[0].messages])
    assert "[secret]" in sent
    for private in (TOKEN, TOKEN[:20], "ada@example.org", "/home/ada"):
        assert private not in sent


def test_a_proposal_with_a_secret_is_refused_and_kept_nowhere(learning):
    client = ScriptedClient([Say(answer(create(f"The token is {TOKEN}", "The deploy token")))])
    learned = learning(client)
    learned.said(learned.begin(), "The deploy token is the one from the vault")
    learned.work()
    assert learned.titles() == []
    assert TOKEN not in json.dumps(learned.rejected())
    [line] = learned.lines
    assert "secret" in line
    assert TOKEN not in line


def test_what_is_held_is_told_with_its_proposal(learning):
    """A batch that retires much waits for a person."""
    learned = learning(
        ScriptedClient(
            [
                Say(answer(*[create(f"Rule {number} is to be kept in mind", "keep rules", 1) for number in range(5)])),
                Say("later"),
            ]
        )
    )
    session = learned.begin()
    learned.said(session, "Remember to keep rules of all kinds in mind")
    learned.work()
    names = [record.name for record in learned.records()]
    retire = [{"op": "archive", "id": name, "reason": "gone"} for name in names[:3]]
    again = learning(ScriptedClient([Say(answer(*retire))]))
    again.said(session, "Three of the rules are gone for good")
    assert again.work() == 0
    [event] = again.heard
    assert isinstance(event, Learned)
    assert event.proposal
    assert event.commit is None
    assert event.text.startswith("waits for you: archive ")
    assert len(again.records()) == 5
    [ref] = again.app.project.store.refs("refs/invincat/proposals/")
    assert ref.endswith(event.proposal)


def test_outside_of_a_repository_a_project_memory_is_refused_and_not_tried_for_ever(tmp_path):
    (tmp_path / "nowhere").mkdir()
    app = App(tmp_path / "nowhere", tmp_path / "data")
    mine = create("Prefers short answers", "I like short answers", scope="user")
    client = ScriptedClient([Say(answer(create(NOX, "run the tests through nox"), mine)), Say("?"), Say("??")])
    learned = Learning.of(app, client)
    session = learned.begin()
    learned.said(session, f"{WORDS} And I like short answers.")
    assert learned.work() == 0
    assert learned.titles(Scope.USER) == ["Prefers short answers"]
    assert any(line.startswith("not remembered: ") for line in learned.lines)
    learned = Learning.of(app, client)
    learned.said(session, "Something that nobody can read")
    assert learned.work() == 0


def test_case_34_a_hypothesis_that_was_disproved_is_left_to_the_model_and_recall_is_not_shown(learning):
    client = ScriptedClient([Say(answer())])
    learned = learning(client)
    recalled = Assistant("", (ToolCall("c1", "recall", '{"query":"cache"}'),))
    learned.said(learned.begin(), "I think the cache is the culprit", recalled, ToolResult("c1", "The cache is LRU"))
    learned.work()
    text = client.asked[0].messages[1].text
    assert "I think the cache is the culprit" in text
    assert "LRU" not in text


def test_a_memory_that_looks_like_a_place_to_fill_is_not_filled(learning):
    client = ScriptedClient(
        [Say(answer(create("Write {conversation} in templates", "we write {conversation}"))), Say(answer())]
    )
    learned = learning(client)
    session = learned.begin()
    learned.said(session, "Remember: we write {conversation} in templates")
    learned.work()
    learned.said(session, "What else is there to be said?")
    learned.work()
    assert client.asked[1].messages[1].text.count("What else is there to be said?") == 1


def test_an_empty_answer_counts_as_malformed(learning):
    fault = EmptyAnswer("nothing")
    good = Say(answer(create(NOX, "run the tests through nox")))
    learned = learning(ScriptedClient([Fail(fault), Fail(fault), good]))
    learned.said(learned.begin(), WORDS)
    learned.work()
    assert learned.titles() == [NOX]


def test_without_a_model_requests_are_committed_and_standing_rules_held(learning):
    learned = learning()
    learned.said(learned.begin(), "Remember: we run the tests through nox. We always squash before merging.")
    assert learned.work() == 0
    [record] = learned.records()
    assert record.memory.source.actor == "rules"
    assert any(isinstance(event, Learned) and event.proposal for event in learned.heard)


def test_numbers_of_turns_are_those_of_the_conversation(learning):
    client = ScriptedClient([Say(answer()), Say(answer(create(NOX, "run the tests through nox", turn=3)))])
    learned = learning(client)
    session = learned.begin()
    learned.said(session, "What is in the README file?")
    learned.work()
    learned.said(session, WORDS)
    learned.work()
    [record] = learned.records()
    assert record.memory.source.evidence[0].at == "turn:3"
    assert session.messages[2] == User(WORDS)


def test_of_too_many_memories_those_that_the_slice_is_about_are_shown(learning):
    """The last of them in the tree, so that it can still be superseded."""
    others = [f"Fact {number} holds for {number * 'q'}" for number in range(MAX_SHOWN)]
    view = view_of(*others, "Zebra deployments go through Jenkins", section="Zoo")
    client = ScriptedClient([Say(answer())])
    heard = Heard("user", "Our deployments no longer go through Jenkins")
    asyncio.run(MemoryAgent(client).propose([Line(1, heard)], {Scope.PROJECT: view}))
    known = [line for line in client.asked[0].messages[1].text.splitlines() if " project Zoo: " in line]
    assert len(known) == MAX_SHOWN
    assert "Zebra deployments go through Jenkins" in known[0]
