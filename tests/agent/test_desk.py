"""The desk with the real SDK on the wire: the prefix, notes on memory, and learning that is in nobody's way."""

import asyncio
import itertools
import json
import time
from contextlib import aclosing
from dataclasses import replace

import pytest

from invincat.agent.events import End, Learned, Text, TurnEnded
from invincat.agent.session import SessionBusy
from invincat.desk import Desk, Models
from tests.agent.learning import answer, create
from tests.agent.talking import hear, until
from tests.fakes.answers import chat

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
