"""The queue: durable, bounded, never twice, never in the way."""

import asyncio
import stat
import time

import msgspec
import pytest
from filelock import FileLock

from invincat.agent.events import Learned, Notice
from invincat.agent.worker import describe
from invincat.llm.client import KeyRefused, RateLimited, Refused, ServerFault
from invincat.llm.message import Assistant, System, ToolCall, ToolResult, User
from invincat.llm.scripted import Fail, Hang, Say, ScriptedClient
from invincat.memory.refusal import Reason
from invincat.memory.scope import Scope
from invincat.outcome import Done, Outcome
from tests.agent.learning import NOX, answer, create
from tests.agent.talking import until

WORDS = "From now on we run the tests through nox, please."
GOOD = Say(answer(create(NOX, "run the tests through nox")))


def test_a_job_is_done_once_and_gone(learning):
    client = ScriptedClient([GOOD])
    learned = learning(client)
    learned.said(learned.begin(), WORDS)
    [path] = learned.worker.folder.glob("*.json")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert learned.work() == 0
    assert learned.work() == 0
    assert len(client.asked) == 1
    assert not list(learned.worker.folder.glob("*.json")) + list(learned.worker.folder.glob("*.draft"))


def test_a_job_of_a_killed_process_is_done_by_the_next(learning):
    learned = learning(ScriptedClient())
    learned.said(learned.begin(), WORDS)
    later = learning(ScriptedClient([GOOD]))
    assert later.work() == 0
    assert later.titles() == [NOX]


def test_killed_between_commit_and_cursor_it_is_read_again_and_nothing_is_written_twice(learning):
    learned = learning(ScriptedClient([GOOD]))
    session = learned.begin()
    learned.said(session, WORDS)
    learned.work()
    tip = learned.app.project.tip()
    (learned.app.state_dir / "sessions" / f"{session.id}.cursor").unlink()
    learned.worker.enqueue(session.id, 2)
    again = learning(ScriptedClient([GOOD]))
    assert again.work() == 0
    assert again.app.project.tip() == tip
    assert again.heard == []


@pytest.mark.parametrize(
    "fault",
    [RateLimited("slow down"), ServerFault("broken"), Refused("400"), KeyRefused("no key")],
    ids=lambda fault: type(fault).__name__,
)
def test_a_model_that_fails_leaves_the_job_and_the_next_start_does_it(learning, fault):
    client = ScriptedClient(lambda _: Fail(fault))
    learned = learning(client)
    session = learned.begin()
    learned.said(session, WORDS)
    assert learned.work() == 1
    [notice] = learned.heard
    assert isinstance(notice, Notice)
    assert fault.what in notice.text
    assert learned.sessions.cursor(session.id).count == 0
    later = learning(ScriptedClient([GOOD]))
    assert later.work() == 0
    assert later.titles() == [NOX]


def test_what_will_be_refused_again_is_asked_for_once_a_start(learning):
    client = ScriptedClient(lambda _: Fail(Refused("400")))
    learned = learning(client)
    session = learned.begin()
    for number in range(4):
        learned.said(session, f"{WORDS} {number}")

    async def run() -> None:
        task = asyncio.create_task(learned.worker.run())
        await asyncio.sleep(0.3)
        learned.worker.finish()
        await task

    asyncio.run(run())
    assert len(client.asked) == 1
    assert learned.worker.left() == 4


def test_a_new_turn_is_a_new_chance(learning):
    faults = iter([Fail(Refused("400")), Say(answer(create(NOX, "run the tests through nox")))])
    learned = learning(ScriptedClient(lambda _: next(faults)))
    session = learned.begin()

    async def run() -> None:
        task = asyncio.create_task(learned.worker.run())
        learned.said(session, WORDS)
        await asyncio.sleep(0.3)
        learned.said(session, "And what is the version of it?")
        learned.worker.finish()
        await task

    asyncio.run(run())
    assert learned.titles() == [NOX]
    assert learned.worker.left() == 0


def test_several_turns_of_a_conversation_are_read_as_one(learning):
    client = ScriptedClient([GOOD])
    learned = learning(client)
    session = learned.begin()
    for text in (WORDS, "What is the version?", "And the licence?"):
        learned.said(session, text)
    assert learned.work() == 0
    assert len(client.asked) == 1


def test_a_turn_that_is_not_over_is_not_read(learning):
    client = ScriptedClient([Say(answer()), Say(answer())])
    learned = learning(client)
    session = learned.begin()
    learned.said(session, WORDS)
    session.append(User("The next question, to which there is no answer yet"))
    learned.work()
    assert "next question" not in client.asked[0].messages[1].text
    session.append(Assistant("Here it is."))
    learned.worker.enqueue(session.id, 4)
    learned.work()
    assert "next question" in client.asked[1].messages[1].text
    assert WORDS not in client.asked[1].messages[1].text


def test_an_older_job_reads_nothing_anew(learning):
    client = ScriptedClient([Say(answer())])
    learned = learning(client)
    session = learned.begin()
    learned.said(session, WORDS)
    learned.said(session, "What is the version?")
    learned.work()
    learned.worker.enqueue(session.id, 2)
    assert learned.work() == 0
    assert len(client.asked) == 1
    assert learned.sessions.cursor(session.id).count == 4


@pytest.mark.parametrize("text", ["ok", "Thanks!", "👍", "好的，谢谢！", "嗯，继续"])
def test_what_only_acknowledges_is_not_read(learning, text):
    client = ScriptedClient()
    learned = learning(client)
    session = learned.begin()
    learned.said(session, text)
    assert learned.work() == 0
    assert client.asked == []
    assert learned.sessions.cursor(session.id).count == 2


@pytest.mark.parametrize("text", ["好的，记住：用 nox 跑测试", "ok, remember: we use nox"])
def test_what_asks_to_be_remembered_is_never_trivial(learning, text):
    client = ScriptedClient([Say(answer())])
    learned = learning(client)
    learned.said(learned.begin(), text)
    learned.work()
    assert len(client.asked) == 1


def test_a_large_turn_is_read_in_parts_in_order_and_each_is_settled(learning):
    """What tools brought behind the person's words is read, too."""
    calls = tuple(ToolCall(f"c{number}", "read_file", '{"path":"a"}') for number in range(12))
    results = [ToolResult(f"c{number}", f"file {number} " + "x" * 5900) for number in range(12)]
    broken = [Say(answer()), Say(answer()), Fail(Refused("400"))]
    client = ScriptedClient(broken)
    learned = learning(client)
    session = learned.begin()
    learned.said(session, WORDS, Assistant("", calls), *results)
    assert learned.work() == 1
    reached = learned.sessions.cursor(session.id).count
    assert 2 < reached < 15
    rest = ScriptedClient(lambda _: Say(answer()))
    assert learning(rest).work() == 0
    texts = [asked.messages[1].text for asked in (*client.asked[:2], *rest.asked)]
    found = [number for text in texts for number in range(12) if f"\nfile {number} " in text]
    assert found == list(range(12))
    assert not any(isinstance(message, System) for message in session.messages)


def test_a_history_that_was_edited_is_read_anew(learning):
    client = ScriptedClient([Say(answer()), Say(answer())])
    learned = learning(client)
    session = learned.begin()
    learned.said(session, WORDS)
    learned.work()
    path = learned.app.state_dir / "sessions" / f"{session.id}.jsonl"
    path.write_bytes(path.read_bytes().replace(b"through nox", b"through tox"))
    learned.worker.enqueue(session.id, 2)
    learned.work()
    assert "through tox" in client.asked[1].messages[1].text


def test_two_processes_read_nothing_twice(learning):
    """The second finds the first at work, waits, and finds nothing left."""
    learned, other = learning(ScriptedClient([GOOD])), learning(ScriptedClient())
    learned.said(learned.begin(), WORDS)
    with FileLock(learned.worker.folder / "lock"):
        assert other.work() == 1
        assert other.heard == []
    assert learned.work() == 0
    assert other.work() == 0


@pytest.mark.parametrize("junk", [b"", b"{", b'{"session": 1}', b'{"session":"01ARZ3NDEKTSV4RRFFQ69G5FAV","count":2}'])
def test_a_job_that_can_never_be_done_goes(learning, junk):
    learned = learning(ScriptedClient([GOOD]))
    learned.said(learned.begin(), WORDS)
    (learned.worker.folder / "01ARZ3NDEKTSV4RRFFQ69G5FAV.json").write_bytes(junk)
    assert learned.work() == 0
    assert learned.titles() == [NOX]


def test_a_queue_that_cannot_be_used_ends_nothing(learning):
    learned = learning(ScriptedClient([GOOD]))
    learned.said(learned.begin(), WORDS)
    (learned.worker.folder / "lock").mkdir()
    assert learned.work() == 1
    assert learned.lines == ["learning waits, the queue cannot be used: Is a directory"]


def test_a_fault_is_told_once(learning):
    learned = learning(ScriptedClient(lambda _: Fail(KeyRefused("no key"))))
    session = learned.begin()
    for _ in range(3):
        learned.said(session, WORDS)
        learned.work()
    assert len(learned.heard) == 1


def test_being_cancelled_ends_a_request_at_once_and_leaves_the_job(learning):
    learned = learning(ScriptedClient([Hang()]))
    learned.said(learned.begin(), WORDS)

    async def run() -> float:
        task = asyncio.create_task(learned.worker.run())
        await asyncio.sleep(0.2)
        began = time.monotonic()
        task.cancel()
        await asyncio.wait([task])
        return time.monotonic() - began

    assert asyncio.run(run()) < 0.5
    assert learned.worker.left() == 1
    later = learning(ScriptedClient([GOOD]))
    assert later.work() == 0
    assert later.titles() == [NOX]


def test_being_cancelled_while_it_is_written_down_settles_it(learning):
    """What the ledger has begun is carried through, and the cursor with it: nothing is asked for twice."""
    client = ScriptedClient([GOOD])
    learned = learning(client)
    session = learned.begin()
    learned.said(session, WORDS)

    async def run() -> None:
        task = asyncio.create_task(learned.worker.run())
        with learned.app.project.store.exclusive():
            await until(lambda: client.asked)
            await asyncio.sleep(0.2)  # the ledger waits for the lock that is held here
            task.cancel()
            await asyncio.sleep(0.02)
            assert not task.done()
        await asyncio.wait([task])

    asyncio.run(run())
    assert learned.titles() == [NOX]
    assert learned.sessions.cursor(session.id).count == 2
    later = learning(ScriptedClient())
    assert later.work() == 0


def test_what_was_learned_is_told_in_one_line_each(learning):
    two = Say(answer(create(NOX, "run the tests through nox"), create("Ask before you push", "From now on")))
    learned = learning(ScriptedClient([two]))
    learned.said(learned.begin(), WORDS)
    learned.work()
    assert [type(event) for event in learned.heard] == [Learned, Learned]
    assert not any("\n" in line for line in learned.lines)


def _outcome(verdict, *operations, **fields):
    base = {"repository": "r", "scope": Scope.PROJECT, "before": None, "after": None}
    return Outcome(verdict=verdict, operations=operations, **base, **fields)


CREATE = Done(op="create", name="use-nox", id="1", commit=None)
ASKED = Reason(rule="RULES 4", message="a person decides")


def test_what_is_held_is_offered_also_with_a_hint_but_once():
    held = _outcome("held", CREATE, reasons=(ASKED,), proposal="01P", hint="like use-tox, which is archived")
    [event] = describe(held)
    assert isinstance(event, Learned)
    assert event.proposal == "01P"
    assert "create use-nox" in event.text
    assert describe(msgspec.structs.replace(held, known=True)) == []


def test_what_was_not_retired_is_said():
    done = Done(op="create", name="use-nox", id="1", commit="c" * 40)
    why = Reason(rule="RULES 1.7", message="use-tox changed meanwhile")
    learned, notice = describe(_outcome("failed", done, reasons=(why,), kept="use-nox", still_active="use-tox"))
    assert learned == Learned("remembered use-nox (ccccccc)", commit="c" * 40)
    assert notice.text.startswith("use-tox was not retired and still holds (use-tox changed meanwhile)")


def test_another_learner_does_what_the_old_one_could_not(learning):
    learned = learning(ScriptedClient([Fail(KeyRefused("no"))]))
    learned.said(learned.begin(), WORDS)

    async def run():
        working = asyncio.create_task(learned.worker.run())
        await until(lambda: learned.heard)
        assert learned.worker.left() == 1
        learned.worker.change(learning(ScriptedClient([GOOD])).worker.learner)
        await until(lambda: not learned.worker.left())
        learned.worker.finish()
        await working

    asyncio.run(run())
    assert learned.titles() == [NOX]
