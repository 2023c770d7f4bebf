"""The real client against the strict endpoint: cases of cases/assistant.md by number, and every fault of a server."""

import asyncio
import json
from dataclasses import replace

import msgspec
import pytest

from invincat.llm.client import (
    BadAnswer,
    BadEndpoint,
    BrokenStream,
    Finish,
    KeyRefused,
    RateLimited,
    Refused,
    ServerFault,
    UnknownModel,
    Unreachable,
)
from invincat.llm.history import Profile
from invincat.llm.message import Assistant, System, ToolCall, ToolResult, User
from invincat.llm.openai import OpenAIClient
from invincat.llm.schema import tool_specs
from invincat.llm.scripted import IMPATIENT
from tests.fakes.answers import Answer, chat, chunk, cut, deltas, fail, html, never, plain, usage
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.strictness import Strict
from tests.llm.asking import HELLO, KEY, ask, ask_server, client_of

A, B = {"path": "a.py"}, {"path": "b.py", "depth": [1, 2]}
CALLS = [("read_file", A), ("list_dir", B)]


def _call(index=None, id=None, name=None, arguments=None):
    given = {"index": index, "id": id, "type": "function" if name else None}
    function = {key: value for key, value in {"name": name, "arguments": arguments}.items() if value is not None}
    return {**{key: value for key, value in given.items() if value is not None}, "function": function}


def _calls_of(heard):
    return [(call.name, msgspec.json.decode(call.arguments)) for call in heard.done.message.calls]


def _ids_of(heard):
    return [call.id for call in heard.done.message.calls]


# Calls, as servers get them wrong.


def test_case_2_two_calls_in_one_delta_with_one_index(openai_server):
    both = [_call(0, "call_1", "read_file", json.dumps(A)), _call(0, "call_2", "list_dir", json.dumps(B))]
    openai_server.script(deltas({"tool_calls": both}, finish="tool_calls"))
    heard = ask_server(openai_server)
    assert _calls_of(heard) == CALLS
    assert _ids_of(heard) == ["call_1", "call_2"]


def test_case_2_the_same_tool_twice_in_one_delta_with_one_index(openai_server):
    both = [_call(0, "call_1", "read_file", json.dumps(A)), _call(0, "call_2", "read_file", json.dumps(B))]
    openai_server.script(deltas({"tool_calls": both}, finish="tool_calls"))
    assert _calls_of(ask_server(openai_server)) == [("read_file", A), ("read_file", B)]


def test_case_2_fragments_go_on_with_the_newest_call_of_their_index(openai_server):
    openai_server.script(
        deltas(
            {
                "tool_calls": [
                    _call(0, "call_1", "read_file", json.dumps(A)),
                    _call(0, "call_2", "list_dir", '{"path": '),
                ]
            },
            {"tool_calls": [_call(0, arguments='"b.py", "depth"')]},
            {"tool_calls": [_call(0, "call_2", arguments=": [1, 2]}")]},
            finish="tool_calls",
        )
    )
    assert _calls_of(ask_server(openai_server)) == CALLS


@pytest.mark.parametrize("ids", ["given", "none", "same", "always"])
@pytest.mark.parametrize("indexes", ["given", "none", "zero"])
def test_case_3_calls_without_id_or_index_or_with_doubled_ones(openai_server, ids, indexes):
    openai_server.script(*(chat("", CALLS, ids=ids, indexes=indexes, piece=piece) for piece in (0, 1, 5)))
    for heard in ask(client_of(openai_server), HELLO, HELLO, HELLO):
        assert _calls_of(heard) == CALLS
        assert len(set(_ids_of(heard))) == 2
        assert all(_ids_of(heard))


def test_case_3_a_synthesised_id_is_stable_and_new(openai_server):
    openai_server.script(chat("", CALLS[:1], ids="none"), chat("", CALLS[:1], ids="same"), chat("Done"))
    first = ask_server(openai_server).done.message
    history = [*HELLO, first, ToolResult(first.calls[0].id, "text")]
    stored = msgspec.json.decode(msgspec.json.encode(history), type=list[User | Assistant | ToolResult])
    taken = ToolCall("call_a", "read_file")
    stored += [Assistant(calls=(taken,)), ToolResult("call_a", "text")]
    second = ask_server(openai_server, stored).done.message
    ask_server(openai_server, [*stored, second, ToolResult(second.calls[0].id, "more")])
    sent = [message["tool_call_id"] for message in openai_server.requests[-1].messages if message["role"] == "tool"]
    assert sent == [first.calls[0].id, "call_a", second.calls[0].id]
    assert second.calls[0].id != "call_a"


def test_ids_and_names_that_come_late_or_with_every_fragment(openai_server):
    openai_server.script(
        deltas(
            {"tool_calls": [_call(0, name="read_file", arguments="")]},
            {"tool_calls": [_call(0, id="call_1", arguments='{"path":')]},
            {"tool_calls": [_call(0, id="call_1", name="read_file", arguments='"a.py"}')]},
            {"tool_calls": [_call(0, id="call_1", name="read_file", arguments="")]},
            finish="tool_calls",
        )
    )
    heard = ask_server(openai_server)
    assert _calls_of(heard) == CALLS[:1]
    assert _ids_of(heard) == ["call_1"]


def test_a_placeholder_of_arguments_is_replaced(openai_server):
    openai_server.script(
        deltas(
            {"tool_calls": [_call(0, "call_1", "read_file", "{}")]},
            {"tool_calls": [_call(0, arguments='{"path":')]},
            {"tool_calls": [_call(0, arguments='"a.py"}')]},
            finish="tool_calls",
        )
    )
    assert _calls_of(ask_server(openai_server)) == CALLS[:1]


def test_a_new_id_with_every_fragment_is_one_call(openai_server):
    openai_server.script(
        deltas(
            {"tool_calls": [_call(0, "call_1", "read_file", '{"path":')]},
            {"tool_calls": [_call(0, "call_2", arguments='"a.py"}')]},
            finish="stop",
        )
    )
    heard = ask_server(openai_server)
    assert _calls_of(heard) == CALLS[:1]
    assert heard.done.finish is Finish.CALLS


def test_arguments_as_an_object_and_a_call_without_name(openai_server):
    calls = [_call(0, "call_1", "read_file", A), _call(1, "call_2", arguments="{}")]
    openai_server.script(deltas({"tool_calls": calls}), chat("Sorry"))
    heard = ask_server(openai_server)
    assert _calls_of(heard) == [*CALLS[:1], ("unnamed", {})]
    ask_server(openai_server, [*HELLO, heard.done.message])


def test_a_name_that_no_endpoint_takes_does_not_block_the_conversation(openai_server):
    openai_server.script(chat("", [("functions.read file\n" + "x" * 70, A)]), chat("Sorry"))
    first = ask_server(openai_server).done.message
    assert ask_server(openai_server, [*HELLO, first]).text == "Sorry"


# Whole, cut and broken answers.


@pytest.mark.parametrize("write", [1, 2, 3, 7])
def test_utf8_and_events_may_be_split_anywhere(openai_server, write):
    openai_server.script(replace(chat("Zoë sagt 世界 🎉", CALLS, reasoning="思考"), write=write))
    heard = ask_server(openai_server)
    assert heard.text == "Zoë sagt 世界 🎉"
    assert heard.reasoning == "思考"
    assert _calls_of(heard) == CALLS


@pytest.mark.parametrize("ending", ["close", "reset", "hang"])
def test_what_goes_wrong_after_the_finish_does_no_harm(openai_server, ending):
    whole = chat("Whole", CALLS)
    openai_server.script(cut(whole, len(whole.chunks), ending=ending))
    (heard,) = ask(client_of(openai_server, read=0.3))
    assert heard.text == "Whole"
    assert _calls_of(heard) == CALLS
    assert heard.done.usage.estimated


@pytest.mark.parametrize("framing", ["chunked", "close"])
def test_a_missing_done_is_fine_when_the_finish_came(openai_server, framing):
    openai_server.script(replace(chat("Whole", done=False), framing=framing))
    assert ask_server(openai_server).text == "Whole"


def test_case_5_an_empty_answer_is_not_stored(openai_server):
    openai_server.script(chat(""), chat(" \n"))
    heard = ask_server(openai_server, [*HELLO, Assistant(""), Assistant("  ", reasoning="hm"), User("Still there?")])
    assert isinstance(heard.fault, BadAnswer)
    assert "nothing" in str(heard.fault)
    assert [message["role"] for message in openai_server.requests[0].messages] == ["user", "user"]


@pytest.mark.parametrize("ending", ["close", "reset"])
@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize("framing", ["chunked", "close"])
def test_case_10_half_a_call_is_never_run_and_asked_for_again(openai_server, ending, done, framing):
    half = cut(replace(chat("", CALLS), framing=framing), 4, ending=ending, done=done)
    openai_server.script(half, chat("", CALLS))
    heard = ask_server(openai_server)
    assert _calls_of(heard) == CALLS
    assert len(heard.retries) == 1
    assert openai_server.requests[0].body == openai_server.requests[1].body


@pytest.mark.parametrize("ending", ["close", "reset"])
def test_case_10_text_and_half_a_call(openai_server, ending):
    openai_server.script(cut(chat("I read it. ", CALLS), 6, ending=ending))
    heard = ask_server(openai_server)
    assert isinstance(heard.fault, BrokenStream)
    assert heard.fault.partial == "I read it. "


def test_case_10_a_whole_looking_call_without_finish_is_not_run(openai_server):
    openai_server.script(*[chat("", CALLS, finish=None)] * 5)
    assert isinstance(ask_server(openai_server).fault, BrokenStream)


def test_a_stop_at_the_limit_removes_calls(openai_server):
    openai_server.script(chat("", [("write_file", '{"path": "a", "text": "lon')], finish="length"))
    done = ask_server(openai_server).done
    assert done.message.is_empty
    assert (done.finish, done.cut) == (Finish.LENGTH, ("write_file",))


def test_silence_in_mid_stream(openai_server):
    openai_server.script(cut(chat("Half"), 2, ending="hang"))
    (heard,) = ask(client_of(openai_server, read=0.2))
    assert isinstance(heard.fault, BrokenStream)
    assert heard.text == "Half"


def test_an_endpoint_that_never_answers(openai_server):
    openai_server.script(never(), never())
    (heard,) = ask(client_of(openai_server, read=0.1, policy=replace(IMPATIENT, attempts=2)))
    assert isinstance(heard.fault, Unreachable)
    assert openai_server.base_url in str(heard.fault)


def test_slow_bytes_are_waited_for(openai_server):
    openai_server.script(replace(chat("Slow and steady", piece=0), write=200, pause=0.05))
    (heard,) = ask(client_of(openai_server, read=2.0))
    assert heard.text == "Slow and steady"


def test_nobody_listens():
    with OpenAIServer() as server:
        address = server.base_url
    (heard,) = ask(OpenAIClient("fake", KEY, address, policy=IMPATIENT))
    assert isinstance(heard.fault, Unreachable)
    assert len(heard.retries) == 4


def test_leaving_early_closes_the_connection(openai_server):
    openai_server.script(cut(chat("One"), 2, ending="hang"))
    client = client_of(openai_server)

    async def run():
        parts = client.stream(HELLO)
        await anext(parts)
        await parts.aclose()
        assert await asyncio.to_thread(openai_server.left.wait, 2)
        await client.aclose()

    asyncio.run(run())


# Answers that are none.


def test_a_server_that_does_not_stream(openai_server):
    openai_server.script(
        plain("Look", CALLS), plain(None, [("x", "{}"), ("x", "{}")], finish="tool_calls"), plain("Hi")
    )
    first, second, third = ask(client_of(openai_server), HELLO, HELLO, HELLO)
    assert first.text == "Look"
    assert _calls_of(first) == CALLS
    assert len(second.done.message.calls) == 2
    assert third.done.usage.input == 7


@pytest.mark.parametrize("content_type", ["text/plain", "application/octet-stream", "text/event-stream"])
def test_a_stream_by_another_name(openai_server, content_type):
    openai_server.script(replace(chat("Hi"), content_type=content_type))
    assert ask_server(openai_server).text == "Hi"


def test_a_whole_completion_as_one_event(openai_server):
    body = plain("Hi", CALLS).body
    openai_server.script(Answer(body=b"data: " + body + b"\n\ndata: [DONE]\n\n"))
    heard = ask_server(openai_server)
    assert heard.text == "Hi"
    assert _calls_of(heard) == CALLS


def test_a_last_chunk_that_repeats_the_message_adds_nothing(openai_server):
    last = {"choices": [{"index": 0, "delta": {}, "message": {"content": "Hi"}, "finish_reason": "stop"}]}
    openai_server.script(Answer((chunk({"content": "Hi"}), last)))
    assert ask_server(openai_server).text == "Hi"


def test_rubbish_after_text(openai_server):
    openai_server.script(Answer((chunk({"content": "Half"}), "{rubbish")))
    fault = ask_server(openai_server).fault
    assert isinstance(fault, BrokenStream)
    assert fault.partial == "Half"


def test_content_in_parts(openai_server):
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    openai_server.script(deltas({"content": [thought, {"type": "text", "text": "Yes"}]}))
    heard = ask_server(openai_server)
    assert (heard.text, heard.reasoning) == ("Yes", "hm")


@pytest.mark.parametrize("answer", [html(), html(text="<html>\n<p>Sign in\x1b[31m")])
def test_a_web_page_is_told_in_one_line(openai_server, answer):
    openai_server.script(answer)
    fault = ask_server(openai_server).fault
    assert isinstance(fault, BadAnswer)
    assert "web page" in str(fault)
    assert "OPENAI_BASE_URL" in str(fault)
    assert str(fault).isprintable()


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body=b"not json", content_type="application/json"),
        Answer(body=b'{"hello": 1}', content_type="application/json"),
        Answer(body=b"[]", content_type="application/json"),
        Answer(body=b"data: {half\n\n"),
        Answer(body=b"data: [1]\n\n"),
        Answer(body=b'data: {"choices": "\xff\xfe"}\n\n'),
        Answer(body=b"data: " + b"[" * 100_000 + b"\n\n"),
    ],
)
def test_an_answer_that_is_no_completion(openai_server, answer):
    openai_server.script(answer)
    fault = ask_server(openai_server).fault
    assert isinstance(fault, BadAnswer)
    assert str(fault).isprintable()


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"message": "overloaded", "type": "server_error"}, ServerFault),
        ({"message": "slow down", "code": 429}, RateLimited),
        ({"message": "slow down", "code": "rate_limit_exceeded"}, RateLimited),
        ({"message": "the model crashed", "code": 502}, ServerFault),
        ("it is broken", ServerFault),
    ],
)
def test_an_error_inside_the_stream(openai_server, error, kind):
    openai_server.script(deltas({"role": "assistant"}, finish=None), chat("Better"))
    heard = ask_server(openai_server)
    assert heard.text == "Better"
    bad = Answer((chunk({"role": "assistant"}), {"error": error}), done=True)
    openai_server.script(bad, chat("Better"))
    assert ask_server(openai_server).text == "Better"
    openai_server.script(*[bad] * 5)
    assert isinstance(ask_server(openai_server).fault, kind)


def test_an_error_inside_the_stream_after_text(openai_server):
    openai_server.script(Answer((chunk({"content": "Half"}), {"error": {"message": "gone", "code": 500}})))
    fault = ask_server(openai_server).fault
    assert isinstance(fault, BrokenStream)
    assert fault.partial == "Half"
    assert "gone" in str(fault)


def test_an_error_inside_the_stream_that_will_not_clear(openai_server):
    openai_server.script(Answer(({"error": {"message": "bad request", "code": 400}},)))
    assert isinstance(ask_server(openai_server).fault, Refused)


# Refusals.


@pytest.mark.parametrize(
    ("answer", "kind", "names"),
    [
        (fail(401, "Incorrect API key provided"), KeyRefused, "OPENAI_API_KEY"),
        (fail(403, "Country not supported"), KeyRefused, "OPENAI_API_KEY"),
        (fail(402, "Insufficient Balance"), KeyRefused, "credit"),
        (fail(429, "You exceeded your current quota", "insufficient_quota"), KeyRefused, "credit"),
        (fail(404, "The model `x` does not exist", "model_not_found"), UnknownModel, "OPENAI_MODEL"),
        (fail(404, 'model "x" not found, try pulling it first'), UnknownModel, "OPENAI_MODEL"),
        (fail(400, "Invalid model name passed in model=x"), UnknownModel, "OPENAI_MODEL"),
        (fail(404, "Not Found"), BadEndpoint, "OPENAI_BASE_URL"),
        (html(404), BadEndpoint, "OPENAI_BASE_URL"),
        (fail(400, "temperature must be below 2"), Refused, "temperature"),
        (fail(413, "Payload too large"), Refused, "413"),
        (Answer(status=400, body=b'{"detail": [{"msg": "bad"}]}', content_type="application/json"), Refused, "bad"),
        (Answer(status=400, body=b"", content_type="text/plain"), Refused, "400"),
    ],
)
def test_refusals_are_not_retried_and_say_what_to_fix(openai_server, answer, kind, names):
    openai_server.script(answer)
    fault = ask_server(openai_server).fault
    assert type(fault) is kind
    assert names in str(fault)
    assert str(fault).isprintable()
    assert len(openai_server.requests) == 1


def test_a_key_that_is_refused_is_not_shown(openai_server):
    openai_server.strict = Strict(key="another")
    fault = ask_server(openai_server).fault
    assert isinstance(fault, KeyRefused)
    assert KEY not in str(fault) + repr(fault)


def test_other_settings_are_named():
    with OpenAIServer(strict=Strict(models=frozenset({"large"}))) as server:
        client = client_of(server, model="small", model_setting="INVINCAT_MEMORY_MODEL")
        fault = ask(client)[0].fault
    assert isinstance(fault, UnknownModel)
    assert str(fault).startswith("INVINCAT_MEMORY_MODEL: ")


@pytest.mark.parametrize("status", [500, 502, 503, 529])
def test_server_faults_are_retried(openai_server, status):
    openai_server.script(html(status), fail(status, "overloaded"), chat("Up again"))
    heard = ask_server(openai_server)
    assert heard.text == "Up again"
    assert "502 Bad Gateway" in heard.retries[0].reason


def test_retry_after_is_honoured(openai_server):
    openai_server.script(
        fail(429, "slow", headers={"Retry-After": "3"}),
        fail(429, "slow", headers={"retry-after-ms": "1500"}),
        fail(503, "slow", headers={"Retry-After": "3600"}),
        chat("Now"),
    )
    (heard,) = ask(client_of(openai_server, policy=replace(IMPATIENT, random=lambda: 0.0)))
    assert [part.seconds for part in heard.retries] == [3.0, 1.5, 60.0]


def test_patience_has_a_budget(openai_server):
    openai_server.script(*[fail(429, "slow", headers={"Retry-After": "50"})] * 4)
    fault = ask_server(openai_server).fault
    assert isinstance(fault, RateLimited)
    assert "50 s" in str(fault)
    assert len(openai_server.requests) == 4


@pytest.mark.parametrize(
    "url",
    [
        "",
        "api.example.com/v1",
        "ftp://x/v1",
        "http://",
        "https:///v1",
        "http://a b/v1",
        "http://h:x/v1",
        "http://u:p@h/v1",
    ],
)
def test_a_base_url_is_checked_when_the_client_is_built(url):
    with pytest.raises(BadEndpoint, match=r"^OPENAI_BASE_URL: "):
        OpenAIClient("fake", KEY, url)


def test_no_key_is_needed_on_a_local_server(openai_server):
    openai_server.script(chat("Hi"))
    (heard,) = ask(client_of(openai_server, api_key=None))
    assert heard.text == "Hi"


# What an endpoint accepts is learned once.

_CALL = Assistant("", (ToolCall("c1", "grep"),), "I wonder")
_TALK = [System("Be brief"), User("One"), User("Two"), _CALL, ToolResult("c1", ""), User("Three"), Assistant("Four")]


def _learns(server, strict, most, *, options=None):
    """Two requests to an endpoint of these tastes; it refuses at most so many times, and only in the first."""
    server.strict = strict
    server.script(chat("One"), chat("Two"))
    client = client_of(server)
    first, second = ask(client, _TALK, [*_TALK, User("Five")], **(options or {}))
    assert (first.text, second.text) == ("One", "Two")
    assert 0 < len(server.refusals) <= most
    assert len(server.requests) == len(server.refusals) + 2
    return client.profile


@pytest.mark.parametrize(
    "accepted",
    [{"blank"}, {"absent"}, {"blank", "absent"}],
    ids=lambda accepted: "-".join(sorted(accepted)),
)
def test_empty_content_is_learned(openai_server, accepted):
    assert _learns(openai_server, Strict(empty_content=frozenset(accepted)), 2).empty_content in accepted


def test_case_7_reasoning_goes_back_where_it_is_required(openai_server):
    openai_server.strict = Strict(reasoning="required")
    openai_server.script(chat("", CALLS[:1], reasoning="I must look"), chat("", CALLS[:1], tag="b"), chat("Done"))
    client = client_of(openai_server)

    async def run():
        history = [*HELLO]
        for _ in range(3):
            parts = [part async for part in client.stream(history)]
            history += [parts[-1].message, *(ToolResult(call.id, "x") for call in parts[-1].message.calls)]
        await client.aclose()
        return history

    history = asyncio.run(run())
    assert history[-1] == Assistant("Done")
    sent = [message for message in openai_server.requests[-1].messages if message["role"] == "assistant"]
    assert [message["reasoning_content"] for message in sent] == ["I must look", ""]
    assert len(openai_server.refusals) == 1


def test_case_7_reasoning_is_dropped_otherwise(openai_server):
    openai_server.script(chat("Hi"))
    ask_server(openai_server, _TALK)
    assert b"reasoning" not in openai_server.requests[0].raw
    assert not openai_server.refusals


def test_case_7_reasoning_that_was_returned_stops_when_refused(openai_server):
    openai_server.script(chat("Hi"))
    client = client_of(openai_server, profile=Profile(reasoning="reasoning_content"))
    ask(client, _TALK)
    assert client.profile.reasoning is None


def test_case_8_stream_options_refused(openai_server):
    profile = _learns(openai_server, Strict(stream_options=False), 1)
    assert not profile.stream_options
    openai_server.script(chat("Hello"))
    (heard,) = ask(client_of(openai_server, profile=profile))
    assert heard.done.usage.estimated


def test_case_8_no_usage(openai_server):
    openai_server.script(chat("Hello", usage=None), chat("Hello", usage={"prompt_tokens": 9}), chat("Hello"))
    none, half, whole = ask(client_of(openai_server), HELLO, HELLO, HELLO)
    assert none.done.usage.estimated
    assert half.done.usage.estimated
    assert half.done.usage.input == 9
    assert not whole.done.usage.estimated


def test_cached_tokens_are_counted(openai_server):
    openai_server.script(
        chat("Hi", usage=usage(100, 1, 64)), chat("Hi", usage={**usage(9, 1), "prompt_cache_hit_tokens": 5})
    )
    first, second = ask(client_of(openai_server), HELLO, HELLO)
    assert (first.done.usage.cached, second.done.usage.cached) == (64, 5)


@pytest.mark.parametrize("accepted", ["max_tokens", "max_completion_tokens"])
def test_the_name_of_the_limit_is_learned(openai_server, accepted):
    openai_server.strict = Strict(limits=frozenset({accepted}))
    openai_server.script(chat("Hi"))
    ask(client_of(openai_server, profile=Profile(max_tokens="max_tokens")), max_tokens=50)
    assert openai_server.requests[-1].body[accepted] == 50


@pytest.mark.parametrize("accepted", [{"developer"}, set()], ids=str)
def test_the_system_role_is_learned(openai_server, accepted):
    profile = _learns(openai_server, Strict(system_roles=frozenset(accepted)), 2)
    assert profile.system_role == (accepted.pop() if accepted else "user")


def test_alternation_is_learned(openai_server):
    assert _learns(openai_server, Strict(alternate=True), 1).alternate


@pytest.mark.parametrize("accepted", [{"json_object"}, set()], ids=str)
def test_the_way_to_ask_for_a_schema_is_learned(openai_server, accepted):
    schema = {"type": "object", "properties": {"verdict": {"type": "string"}}}
    _learns(openai_server, Strict(schemas=frozenset(accepted)), 2, options={"schema": schema})
    assert "verdict" in openai_server.requests[-1].messages[-1]["content"]


def test_everything_at_once_is_learned(openai_server):
    strict = Strict(
        empty_content=frozenset({"absent"}),
        reasoning="required",
        stream_options=False,
        limits=frozenset({"max_completion_tokens"}),
        system_roles=frozenset({"developer"}),
        alternate=True,
        schemas=frozenset(),
    )
    _learns(openai_server, strict, 9, options={"max_tokens": 9, "schema": {"type": "object", "properties": {}}})


def test_an_endpoint_that_refuses_every_shape_ends_in_an_error(openai_server):
    openai_server.strict = Strict(empty_content=frozenset())
    assert isinstance(ask_server(openai_server, _TALK).fault, Refused)
    assert len(openai_server.requests) == 3


def test_what_was_tried_in_vain_is_not_remembered(openai_server):
    openai_server.strict = Strict(empty_content=frozenset())
    client = client_of(openai_server)
    ask(client, _TALK)
    assert client.profile == Profile()


def test_what_was_learned_outlives_a_refusal_of_another_kind(openai_server):
    openai_server.strict = Strict(stream_options=False)
    openai_server.script(fail(400, "temperature must be below 2"))
    client = client_of(openai_server)
    assert isinstance(ask(client)[0].fault, Refused)
    assert client.profile == Profile(stream_options=False)


def test_a_long_complaint_is_read_to_its_end(openai_server):
    long = "extra inputs are not permitted " * 40 + "body.stream_options"
    openai_server.script(Answer(status=422, body=json.dumps({"detail": [{"msg": long}]}).encode()), chat("Hi"))
    assert ask_server(openai_server).text == "Hi"


def test_case_12_tools_of_any_origin_are_taken(openai_server):
    cyclic = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": {"node": {"$ref": "#/$defs/Node"}},
        "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
    }
    raw = [("bare", "", {}), ("cyclic", "", cyclic), ("bad", "", {"type": "string"}), ("bad name", "", {})]
    tools, warnings = tool_specs(raw)
    openai_server.script(chat("Hi"))
    ask(client_of(openai_server), tools=tools)
    sent = [tool["function"]["name"] for tool in openai_server.requests[0].body["tools"]]
    assert sent == ["bare", "cyclic"]
    assert len(warnings) == 2


def test_text_that_has_no_utf8_is_sent_all_the_same(openai_server):
    openai_server.script(chat("Hi"))
    assert ask_server(openai_server, [User("a\udcff\ud800b")]).text == "Hi"


def test_nothing_to_send_is_an_error_without_a_request(openai_server):
    assert isinstance(ask_server(openai_server, [User(" "), ToolResult("x", "y")]).fault, Refused)
    assert not openai_server.requests


def test_the_fake_endpoint_finds_what_no_endpoint_takes():
    with OpenAIServer(chat("Hi")) as server:
        asked = {"model": "fake", "stream": True, "messages": [{"role": "tool", "tool_call_id": "x", "content": "y"}]}
        client = client_of(server)

        async def run():
            with pytest.raises(Exception, match="violation"):
                await client._sdk.post("/chat/completions", body=asked, cast_to=object)
            await client.aclose()

        asyncio.run(run())
        assert server.violations == ["a tool message follows a call"]
