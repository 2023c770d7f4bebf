"""The desk with the real SDK on the wire: the prefix, notes on memory, and learning that is in nobody's way."""

import asyncio
import itertools
import json
import subprocess
import sys
import time
from contextlib import aclosing
from dataclasses import replace

import pytest

from invincat.agent.events import End, Learned, Text, TurnEnded
from invincat.agent.session import SessionBusy
from invincat.agent.talk import NO_MODEL
from invincat.desk import Desk, Models
from invincat.errors import UserError
from tests.agent.learning import answer, create, jsonl
from tests.agent.talking import hear, until
from tests.fakes.answers import chat
from tests.fakes.strictness import Strict

MEMORY = "memory-model"


@pytest.fixture
def desk(app, openai_server):
    """`desk()`: a fresh one on the same repository."""
    models = Models("talk-model", MEMORY, "key-0123456789abcdef", openai_server.base_url)
    return lambda **options: Desk(app, models, **options)


def _is_memory(request):
    return request.body["model"] == MEMORY


def _slow(text, seconds):
    whole = chat(text, piece=8)
    return replace(whole, write=-(-len(whole.render({})) // 10), pause=seconds / 10)


def _learns_turn(number, content, quote):
    return answer(create(content, quote, turn=number))


async def _play(desk, *texts):
    await desk.open()
    try:
        return [event for text in texts for event in await hear(desk.turn(text))]
    finally:
        await desk.close()


def _prefix(before, after):
    """Whether one request begins with all messages of another, in bytes."""
    end = before.raw.rindex(b"}]", 0, before.raw.index(b'"stream"'))
    return after.raw.startswith(before.raw[: end + 1])


def test_the_prefix_is_byte_identical_and_what_changed_is_a_note_behind_the_words(desk, openai_server, app):
    numbers = iter(range(100))

    def say(request):
        if _is_memory(request):
            return chat('{"operations": []}')
        if request.messages[-1]["role"] == "user":
            return chat("Looking.", [("list_dir", {"path": "."})], tag=f"n{next(numbers)}")
        return chat("Fine.")

    openai_server.always(say)

    async def run():
        one = desk()
        await one.open()
        await hear(one.turn("What is here?"))
        await one.remember("Run the tests through nox", user=False)
        await hear(one.turn("And now?"))
        await hear(one.turn("And then?"))
        await one.close()

    asyncio.run(run())
    asked = [request for request in openai_server.requests if not _is_memory(request)]
    assert len(asked) == 6
    assert all(_prefix(before, after) for before, after in itertools.pairwise(asked))
    assert len({json.dumps(request.body["tools"]) for request in asked}) == 1
    said = [message["content"] for message in asked[-1].messages if message["role"] == "user"]
    assert said[0] == "What is here?"
    assert said[1].startswith("And now?\n\n<invincat-memory ")
    assert "holds now: Run the tests through nox" in said[1]
    assert said[2] == "And then?"
    assert "nox" not in asked[-1].messages[0]["content"]


def test_the_next_session_is_briefed_with_it(desk, openai_server):
    openai_server.always(lambda _: chat("Fine."))
    words = "We run the tests through nox"

    def say(request):
        return chat(_learns_turn(1, "Run the tests through nox", words) if _is_memory(request) else "Fine.", piece=0)

    openai_server.always(say)
    asyncio.run(_play(desk(), words))
    asyncio.run(_play(desk(), "ok"))
    system = openai_server.requests[-1].messages[0]
    assert system["role"] == "system"
    assert "Run the tests through nox" in system["content"]


def test_a_turn_is_answered_while_extraction_takes_its_time(desk, openai_server):
    """The event loop is not held up either."""
    slow = _slow(_learns_turn(1, "Run the tests through nox", "We run the tests through nox"), 5.0)
    openai_server.always(lambda request: slow if _is_memory(request) else chat("Fine."))
    gaps = []

    async def tick():
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.005)
            gaps.append(time.perf_counter() - began)

    async def run():
        one = desk()
        await one.open()
        await hear(one.turn("We run the tests through nox"))
        await until(lambda: any(_is_memory(request) for request in openai_server.requests))
        ticking = asyncio.create_task(tick())
        began = time.perf_counter()
        events = await hear(one.turn("And now?"))
        took = time.perf_counter() - began
        await asyncio.sleep(0.5)
        assert one.remembering(), "it is still at it"
        ticking.cancel()
        began = time.perf_counter()
        left = await one.close(0.1)
        return events, took, left, time.perf_counter() - began

    events, took, left, closing = asyncio.run(run())
    assert events[-1].text == "Fine."
    assert took < 2.0
    assert sorted(gaps)[len(gaps) // 2] < 0.05
    assert left == 2
    assert closing < 1.5, "the flush is bounded"


@pytest.mark.slow
def test_closing_waits_for_what_is_under_way_and_asks_only_once(desk, openai_server, app):
    words = "We run the tests through nox"
    slow = _slow(_learns_turn(1, "Run the tests through nox", words), 1.0)
    openai_server.always(lambda request: slow if _is_memory(request) else chat("Fine."))

    async def run():
        one = desk()
        await one.open()
        told = []

        async def listen():
            told.extend([event async for event in one.background()])

        listening = asyncio.create_task(listen())
        await hear(one.turn(words))
        await asyncio.sleep(0.3)
        left = await one.close()
        await listening
        return left, told

    left, told = asyncio.run(run())
    assert left == 0
    assert [type(event) for event in told] == [Learned]
    assert len([request for request in openai_server.requests if _is_memory(request)]) == 1
    assert [record.memory.title for record in app.project.view().active()] == ["Run the tests through nox"]


@pytest.mark.slow
def test_clearing_begins_anew_and_loses_nothing_that_is_being_learned(desk, openai_server, app):
    words = "We run the tests through nox"
    slow = _slow(_learns_turn(1, "Run the tests through nox", words), 0.5)
    openai_server.always(lambda request: slow if _is_memory(request) else chat("Fine."))

    async def run():
        one = desk()
        await one.open()
        told = []

        async def listen():
            told.extend([event async for event in one.background()])

        listening = asyncio.create_task(listen())
        await hear(one.turn(words))
        before = one.session_id
        after = await one.clear()
        assert after != before
        one.sessions.resume(before).close()
        await hear(one.turn("ok"))
        await one.close()
        await listening
        return told

    assert [type(event) for event in asyncio.run(run())] == [Learned]
    talk = [request for request in openai_server.requests if not _is_memory(request)]
    assert [message["role"] for message in talk[-1].messages] == ["system", "user"]
    assert len([request for request in openai_server.requests if _is_memory(request)]) == 1


def test_an_interrupt_on_the_wire_leaves_at_once(desk, openai_server):
    openai_server.always(lambda _: replace(chat("word " * 500), write=50, pause=0.05))

    async def run():
        one = desk()
        await one.open()
        task = asyncio.create_task(hear(one.turn("Go on and on")))
        await until(lambda: openai_server.requests)
        await asyncio.sleep(0.3)
        began = time.perf_counter()
        task.cancel()
        await asyncio.wait([task])
        took = time.perf_counter() - began
        await one.close(0.0)
        return took

    assert asyncio.run(run()) < 0.5
    assert openai_server.left.wait(2)


def test_the_prompt_does_not_wait_for_the_sdk(desk):
    """Opening makes no client; the first request waits for it, if it must."""

    async def run():
        one = desk()
        began = time.perf_counter()
        await one.open()
        took = time.perf_counter() - began
        await one.close()
        return took

    assert asyncio.run(run()) < 1.0


def test_a_session_is_let_go_when_the_desk_closes(desk, openai_server):
    openai_server.always(lambda _: chat("Fine."))

    async def run():
        one = desk()
        await one.open()
        async with aclosing(one.turn("ok")) as events:
            heard = [event async for event in events]
        with pytest.raises(SessionBusy):
            one.sessions.resume(one.session_id)
        await one.close()
        one.sessions.resume(one.session_id).close()
        return heard

    heard = asyncio.run(run())
    assert isinstance(heard[0], Text)
    assert isinstance(heard[-1], TurnEnded)
    assert heard[-1].end is End.FINAL


def _conversation(openai_server, model):
    return [request.messages for request in openai_server.requests if request.body["model"] == model]


def test_another_model_goes_on_in_the_same_session_and_remembers_where_no_other_does(app, openai_server):
    openai_server.always(lambda request: chat("Fine." if "tools" in request.body else '{"operations": []}', piece=0))

    async def run():
        one = Desk(app, Models("first", None, "key-0123456789abcdef", openai_server.base_url))
        await one.open()
        session = one.session_id
        await hear(one.turn("What is here?"))
        await until(lambda: not one.unlearned())
        told = await one.set_model("second")
        assert (one.model, one.session_id) == ("second", session)
        await hear(one.turn("And there?"))
        await one.close()
        return told

    assert "second" in asyncio.run(run())
    asked = [(request.body["model"], "tools" in request.body) for request in openai_server.requests]
    assert sorted(asked[:2]) == [("first", False), ("first", True)]
    assert sorted(asked[2:]) == [("second", False), ("second", True)]
    before, after = (
        next(m for m in _conversation(openai_server, name) if len(m) != 2 or "here" in m[1]["content"])
        for name in ("first", "second")
    )
    assert before[:2] == after[:2], "prompt and history are the same"
    assert [message["content"] for message in after[2:]] == ["Fine.", "And there?"]


def test_the_second_model_goes_on_remembering(desk, openai_server):
    openai_server.always(lambda request: chat('{"operations": []}' if _is_memory(request) else "Fine.", piece=0))

    async def run():
        one = desk()
        await one.open()
        await one.set_model("other-model")
        await hear(one.turn("We run the tests through nox"))
        await one.close()

    asyncio.run(run())
    assert [request.body["model"] for request in openai_server.requests] == ["other-model", MEMORY]


def test_a_model_can_be_named_where_there_was_none(app, openai_server):
    openai_server.always(lambda request: chat("Fine." if "tools" in request.body else '{"operations": []}', piece=0))

    async def run():
        one = Desk(app, Models(None, None, None, openai_server.base_url))
        await one.open()
        [silent] = await hear(one.turn("ok"))
        session = one.session_id
        await one.set_model("named-model")
        events = await hear(one.turn("Hello?"))
        assert one.session_id == session
        with pytest.raises(SessionBusy):
            one.sessions.resume(session)
        await one.close()
        return silent, events

    silent, events = asyncio.run(run())
    assert (silent.end, silent.error) == (End.NO_MODEL, NO_MODEL)
    assert events[-1].text == "Fine."
    assert {request.body["model"] for request in openai_server.requests} == {"named-model"}


def test_a_model_without_any_endpoint_is_refused(app):
    async def run():
        one = Desk(app, Models(None, None, None, None))
        await one.open()
        with pytest.raises(UserError, match="OPENAI_API_KEY"):
            await one.set_model("named-model")
        assert one.model is None
        await one.close()

    asyncio.run(run())


def test_a_model_that_the_endpoint_lacks_is_said_with_the_command_that_named_it(desk, openai_server):
    openai_server.strict = Strict(models=frozenset({"talk-model", MEMORY}))
    openai_server.always(lambda _: chat("Fine."))

    async def run():
        one = desk()
        await one.open()
        await one.set_model("no-such-model")
        lost = await hear(one.turn("ok"))
        await one.set_model("talk-model")
        found = await hear(one.turn("ok"))
        await one.close()
        return lost[-1], found[-1]

    lost, found = asyncio.run(run())
    assert lost.error.startswith("/model: ")
    assert (found.end, found.text) == (End.FINAL, "Fine.")


def test_every_briefing_is_in_the_audit_log_without_its_words(desk, openai_server, app):
    async def run():
        one = desk()
        await one.open()
        for number in range(16):
            await one.remember(f"Rule {number} about {'abcdefghijklmnop'[number] * 6}", user=False)
        session = await one.clear()
        await one.close()
        return session

    session = asyncio.run(run())
    path = app.repository.state_dir / "audit.jsonl"
    line = [line for line in jsonl(path) if line.get("event") == "briefing"][-1]
    names = {record.name for record in app.project.view().active()}
    assert line["session"] == session
    assert line["shown"]
    assert line["left_out"]
    assert {*line["shown"], *line["left_out"]} == names
    assert line["left_out_total"] == len(line["left_out"])
    assert set(line) == {"time", "event", "session", "shown", "left_out", "left_out_total"}


def test_what_an_endpoint_taught_is_known_to_both_models_and_to_the_next_process(app, openai_server):
    """Nobody is refused a second time for the same."""
    openai_server.strict = Strict(stream_options=False)
    openai_server.always(lambda request: chat("Fine." if "tools" in request.body else '{"operations": []}', piece=0))
    models = Models("one-model", None, "key-0123456789abcdef", openai_server.base_url)
    asyncio.run(_play(Desk(app, models), "We run the tests through nox"))
    assert ["stream_options" in request.body for request in openai_server.requests] == [True, False, False]
    asyncio.run(_play(Desk(app, models), "ok"))
    assert ["stream_options" in request.body for request in openai_server.requests[3:]] == [False]
    kept = app.state_dir / "profiles.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    kept.write_bytes(b'{"http')
    asyncio.run(_play(Desk(app, models), "ok"))
    assert ["stream_options" in request.body for request in openai_server.requests[4:]] == [True, False]


def test_the_prompt_waits_for_no_markdown_and_no_matching():
    """Each costs tens of milliseconds, and a first prompt needs none of it."""
    late = ("markdown_it", "rapidfuzz", "openai", "rich", "whoosh", "invincat.intake", "invincat.extraction")
    code = f"import sys, invincat.desk, invincat.repl.shell; print([name for name in {late} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
