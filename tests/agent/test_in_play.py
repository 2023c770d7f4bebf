"""Which files a conversation is about, read from its messages; and what a desk makes of it (RULES 11)."""

import asyncio

import pytest

from invincat.agent.in_play import paths_in
from invincat.desk import Desk, Models
from invincat.llm.message import Assistant, ToolCall, User
from invincat.memory.proposal import Proposal
from invincat.memory.scope import Scope
from tests.agent.talking import hear
from tests.fakes.answers import chat

PLACES = ("src/pay.py", "src/ship.py")


def test_what_a_person_names_and_what_tools_read_the_latest_last():
    calls = [
        ToolCall("1", "read_file", '{"path": "./src/pay.py"}'),
        ToolCall("2", "grep", '{"path": "src", "pattern": "x"}'),
        ToolCall("3", "recall", '{"query": "x"}'),
        ToolCall("4", "read_file", '{"path": 7}'),
    ]
    messages = [
        User("see @src/a.py, (@docs/) and @src/pay.py; write to me@example.org, @ noon"),
        Assistant(calls=tuple(calls)),
        User("And @src/b.py."),
    ]
    assert paths_in(messages) == ["src/a.py", "docs", "src/pay.py", "src/b.py"]


@pytest.fixture
def places(app, repo, git):
    """A repository with two files and a rule on each, which the same words find; the second is the newer one."""
    (repo / "src").mkdir()
    for place in PLACES:
        (repo / place).write_text("x = 1\n")
    git("add", ".")
    git("commit", "--quiet", "--message", "Add places")
    for place in PLACES:
        fields = {"op": "create", "scope": "project", "section": "General", "applies_to": [place], "tier": "warm"}
        operation = {**fields, "content": f"Round amounts in {place[4:-3]} up."}
        ledger = app.ledger(Scope.PROJECT)
        ledger.submit(Proposal((operation,), Scope.PROJECT, app.origin("user")), app.grounds())
    return repo


@pytest.fixture
def desk(app, openai_server):
    openai_server.always(lambda _: chat("Fine.", piece=0))
    return Desk(app, Models("talk-model", None, "key-0123456789abcdef", openai_server.base_url))


def told(desk, *texts):
    """The places in the order in which the briefing and then `recall` have them, after these messages."""

    async def run():
        await desk.open()
        try:
            for text in texts:
                await hear(desk.turn(text))
            found = (await desk.recall("round amounts")).hits
        finally:
            await desk.close()
        return [hit.title.split()[3] for hit in found]

    return asyncio.run(run())


def briefed(server):
    system = server.requests[0].messages[0]["content"]
    return sorted(("pay", "ship"), key=lambda name: system.index(f"Round amounts in {name} up"))


@pytest.mark.parametrize(("place", "name"), [("src/pay.py", "pay"), ("src/ship.py", "ship")])
def test_recall_lifts_what_a_file_that_was_named_is_about(desk, places, place, name):
    assert told(desk, f"Have a look at @{place}, please")[0] == name


@pytest.mark.parametrize(("place", "name"), [("src/pay.py", "pay"), ("src/ship.py", "ship")])
def test_what_is_changed_is_in_play_in_briefing_and_recall(desk, places, openai_server, place, name):
    (places / place).write_text("x = 2\n")
    assert told(desk, "Hello there")[0] == name
    assert briefed(openai_server)[0] == name
