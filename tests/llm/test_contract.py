"""One suite over the scripted client and the real one; the real one talks to the strict endpoint."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace

import msgspec
import pytest

from invincat.llm.client import (
    BrokenStream,
    Client,
    ContextOverflow,
    EmptyAnswer,
    Finish,
    KeyRefused,
    RateLimited,
    Refused,
    ServerFault,
    UnknownModel,
    Unreachable,
    complete,
)
from invincat.llm.history import INTERRUPTED
from invincat.llm.message import Assistant, System, ToolCall, ToolResult, User
from invincat.llm.schema import tool_spec
from invincat.llm.scripted import IMPATIENT, Fail, Hang, Say, ScriptedClient, Turn
from invincat.llm.usage import Usage
from tests.fakes.answers import Answer, chat, cut, fail, usage
from tests.fakes.openai_server import OpenAIServer
from tests.llm.asking import HELLO, ask, client_of, listen

_FAULTS = {
    RateLimited: fail(429, "slow down"),
    ServerFault: fail(500, "the model crashed"),
    KeyRefused: fail(401, "Incorrect API key"),
    UnknownModel: fail(404, "no such model", "model_not_found"),
    ContextOverflow: fail(400, "too long", "context_length_exceeded"),
    Refused: fail(400, "temperature is out of range"),
    Unreachable: Answer(chunks=("x",), after=0, ending="reset"),
}


def _as_answer(turn: Turn) -> Answer:
    match turn:
        case Say():
            spent = usage(turn.usage.input, turn.usage.output, turn.usage.cached) if turn.usage else None
            end = {"finish": turn.finish.value} if turn.finish else {}
            return chat(turn.text, turn.calls, reasoning=turn.reasoning or "", usage=spent, tag=f"{id(turn)}_", **end)
        case Fail(error, after) if not after:
            return _FAULTS[type(error)]
        case Fail(after=after) | Hang(after=after):
            answer = chat(after, piece=0)
            return cut(answer, 2 if after else 1, ending="hang" if isinstance(turn, Hang) else "reset")


@dataclass
class Stage:
    """Where turns are played, and what the far side was sent."""

    play: Callable[..., Client]
    times_asked: Callable[[], int]


@pytest.fixture(params=["scripted", "openai"])
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    if request.param == "openai":
        server: OpenAIServer = request.getfixturevalue("openai_server")

        def real(*turns: Turn, **options: object) -> Client:
            server.script(*map(_as_answer, turns))
            return client_of(server, **options)

        yield Stage(real, lambda: len(server.requests))
        return
    clients: list[ScriptedClient] = []

    def scripted(*turns: Turn, **options: object) -> Client:
        clients.append(ScriptedClient(turns, **options))
        return clients[-1]

    yield Stage(scripted, lambda: sum(len(client.asked) for client in clients))


def test_text_arrives_in_deltas_and_whole(stage):
    (heard,) = ask(stage.play(Say("Hello there, 世界 and Zoë")))
    assert heard.text == heard.done.message.text == "Hello there, 世界 and Zoë"
    assert len(heard.parts) > 3
    assert heard.done.finish is Finish.STOP
    assert heard.done.message.calls == ()


def test_calls_arrive_whole_with_ids_of_their_own(stage):
    (heard,) = ask(stage.play(Say("I look.", [("read_file", {"path": "ä.py"}), ("grep", {"p": [1, None]})])))
    calls = heard.done.message.calls
    assert [call.name for call in calls] == ["read_file", "grep"]
    assert [msgspec.json.decode(call.arguments) for call in calls] == [{"path": "ä.py"}, {"p": [1, None]}]
    assert len({call.id for call in calls}) == 2
    assert heard.done.finish is Finish.CALLS


def test_arguments_that_are_no_json_are_kept_apart(stage):
    (heard,) = ask(stage.play(Say(calls=[("a", '{"x": '), ("b", "[1]"), ("c", "")])))
    assert [(call.arguments, call.invalid) for call in heard.done.message.calls] == [
        ("{}", '{"x": '),
        ("{}", "[1]"),
        ("{}", None),
    ]


def test_reasoning_is_a_part_of_its_own(stage):
    (heard,) = ask(stage.play(Say("Yes.", reasoning="Let me think")))
    assert heard.reasoning == heard.done.message.reasoning == "Let me think"
    assert heard.text == "Yes."


@pytest.mark.parametrize("finish", [Finish.LENGTH, Finish.FILTER])
def test_calls_of_a_cut_answer_are_removed_and_named(stage, finish):
    (heard,) = ask(stage.play(Say("So", [("write_file", {"path": "a"})], finish=finish)))
    assert heard.done.message == Assistant("So")
    assert heard.done.finish is finish
    assert heard.done.cut == ("write_file",)


def test_usage_is_told_or_estimated(stage):
    told, guessed = ask(stage.play(Say("Hi", usage=Usage(40, 2, 30)), Say("Hi")), HELLO, HELLO)
    assert told.done.usage == Usage(40, 2, 30)
    assert guessed.done.usage.estimated
    assert guessed.done.usage.input > 0
    assert guessed.done.usage.output > 0


@pytest.mark.parametrize("nothing", ["", " \n "])
def test_an_empty_answer_is_asked_for_once_more(stage, nothing):
    (heard,) = ask(stage.play(Say(nothing), Say("Here")))
    assert heard.text == "Here"
    assert len(heard.retries) == 1


def test_an_answer_that_stays_empty_is_an_error(stage):
    (heard,) = ask(stage.play(Say(), Say("  \n")))
    assert isinstance(heard.fault, EmptyAnswer)
    assert stage.times_asked() == 2


@pytest.mark.parametrize(
    "error", [RateLimited("x"), ServerFault("x"), Unreachable("x")], ids=lambda e: type(e).__name__
)
def test_faults_of_the_moment_are_retried(stage, error):
    (heard,) = ask(stage.play(Fail(error), Fail(error), Say("At last")))
    assert heard.text == "At last"
    assert [part.attempt for part in heard.retries] == [2, 3]
    assert all(part.reason for part in heard.retries)


def test_patience_ends(stage):
    (heard,) = ask(stage.play(*[Fail(ServerFault("x"))] * 5))
    assert isinstance(heard.fault, ServerFault)
    assert stage.times_asked() == 5


@pytest.mark.parametrize(
    "error",
    [KeyRefused("x"), UnknownModel("x"), Refused("x"), ContextOverflow("x")],
    ids=lambda error: type(error).__name__,
)
def test_what_will_not_clear_is_raised_at_once(stage, error):
    (heard,) = ask(stage.play(Fail(error)))
    assert type(heard.fault) is type(error)
    assert stage.times_asked() == 1


def test_a_stream_that_breaks_after_text_is_not_retried(stage):
    (heard,) = ask(stage.play(Fail(Unreachable("x"), after="Half an ans")))
    assert isinstance(heard.fault, BrokenStream)
    assert heard.fault.partial == heard.text == "Half an ans"
    assert stage.times_asked() == 1


def test_a_caller_that_can_forget_may_have_it_retried(stage):
    policy = replace(IMPATIENT, after_text=True)
    (heard,) = ask(stage.play(Fail(Unreachable("x"), after="Half an ans"), Say("Whole"), policy=policy))
    assert heard.text == "Whole"


def test_cancelling_ends_silence_at_once(stage):
    client = stage.play(Hang(after="One"))

    async def run():
        task = asyncio.ensure_future(listen(client))
        await asyncio.sleep(0.2)
        task.cancel()
        async with asyncio.timeout(1):
            with pytest.raises(asyncio.CancelledError):
                await task
        await client.aclose()

    asyncio.run(run())


def test_cancelling_ends_a_wait_at_once(stage):
    client = stage.play(Fail(RateLimited("x")), policy=replace(IMPATIENT, sleep=asyncio.sleep, first=60.0))

    async def run():
        task = asyncio.ensure_future(listen(client))
        await asyncio.sleep(0.2)
        task.cancel()
        async with asyncio.timeout(1):
            with pytest.raises(asyncio.CancelledError):
                await task
        await client.aclose()

    asyncio.run(run())
    assert stage.times_asked() == 1


def test_a_reader_may_leave_early(stage):
    client = stage.play(Say("One two three four"), Say("Again"))

    async def run():
        async with aclosing(client.stream(HELLO)) as parts:
            await anext(parts)
        assert (await complete(client, HELLO)).message.text == "Again"
        await client.aclose()

    asyncio.run(run())


def test_any_history_may_be_given(stage):
    call = ToolCall("c1", "grep")
    history = [
        System("Be brief."),
        User("Look"),
        Assistant("", (call, call)),
        User("And?"),
        ToolResult("c1", "found"),
        ToolResult("c9", "orphan"),
        Assistant(" "),
        Assistant("Cut", (ToolCall("c1", "grep"),)),
    ]
    (heard,) = ask(stage.play(Say("Fine")), history)
    assert heard.text == "Fine"


def test_tools_limits_and_schemas_are_passed_on(stage):
    tools = [tool_spec("grep", "Search", {"properties": {"pattern": {"type": "string"}}})]
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
    (heard,) = ask(stage.play(Say('{"ok": true}')), tools=tools, max_tokens=99, schema=schema)
    assert heard.text == '{"ok": true}'


def test_the_text_for_a_missing_result_says_what_is_known():
    assert "may or may not" in INTERRUPTED
