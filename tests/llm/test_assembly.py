"""However a server cuts an answer into chunks, the same answer comes out."""

import json
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invincat.llm.assembly import Assembly
from invincat.llm.client import BadAnswer, BrokenStream, EmptyAnswer, Finish, ReasoningDelta, TextDelta
from tests.fakes.answers import chat, chunk

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
_ARGUMENTS = st.dictionaries(st.text(min_size=1, max_size=4), _JSON, min_size=1, max_size=3)
_CALLS = st.lists(st.tuples(st.sampled_from(["read", "grep", "write"]), _ARGUMENTS), max_size=3)


def _assembly(taken=()):
    numbers = count()
    return Assembly(lambda: f"new_{next(numbers)}", taken)


def _play(chunks, taken=()):
    assembly = _assembly(taken)
    parts = [part for item in chunks for part in assembly.feed(item)]
    return parts, assembly.finish()


@settings(max_examples=80, deadline=None)
@given(
    text=st.text(max_size=12),
    reasoning=st.text(max_size=6),
    calls=_CALLS,
    piece=st.integers(0, 4),
    ids=st.sampled_from(["given", "none", "same", "always"]),
    indexes=st.sampled_from(["given", "none", "zero"]),
)
def test_any_cut_gives_the_same_answer(text, reasoning, calls, piece, ids, indexes):
    if not text.strip() and not calls:
        text = "x"
    answer = chat(text, calls, reasoning=reasoning, piece=piece, ids=ids, indexes=indexes)
    parts, done = _play(answer.chunks)
    assert done.message.text == text == "".join(part.text for part in parts if isinstance(part, TextDelta))
    assert (done.message.reasoning or "") == reasoning
    assert "".join(part.text for part in parts if isinstance(part, ReasoningDelta)) == reasoning
    assert [(call.name, json.loads(call.arguments)) for call in done.message.calls] == calls
    assert len({call.id for call in done.message.calls}) == len(calls)
    assert all(call.invalid is None for call in done.message.calls)
    assert done.finish is (Finish.CALLS if calls else Finish.STOP)


@settings(max_examples=80, deadline=None)
@given(calls=_CALLS.filter(bool), piece=st.integers(0, 4), data=st.data())
def test_an_answer_without_finish_never_gives_a_call(calls, piece, data):
    chunks = chat("Say", calls, piece=piece, finish=None).chunks
    keep = data.draw(st.integers(0, len(chunks)))
    with pytest.raises(BrokenStream):
        _play(chunks[:keep])


_WORDS = [
    "choices",
    "delta",
    "message",
    "content",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "id",
    "index",
    "text",
]
_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(_WORDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=80, deadline=None)
@given(st.lists(_ANYTHING, max_size=3), _ANYTHING)
def test_no_json_breaks_it(chunks, delta):
    try:
        _, done = _play([*chunks, {"choices": [{"delta": delta}]}, chunk({}, "stop")])
    except (BadAnswer, BrokenStream):
        pass
    else:
        assert not done.message.is_empty or done.finish is not Finish.STOP


def test_ids_of_the_conversation_are_not_used_again():
    _, done = _play(chat("", [("a", {"x": 1})], ids="same").chunks, {"call_a", "new_0"})
    assert done.message.calls[0].id == "new_1"


@pytest.mark.parametrize("said", ["stop", "eos", "end_turn", "tool_calls", "function_call"])
def test_the_finish_follows_from_the_calls(said):
    assert _play(chat("", [("a", {"x": 1})], finish=said).chunks)[1].finish is Finish.CALLS
    assert _play(chat("Hi", finish=said).chunks)[1].finish is Finish.STOP


def test_a_finish_that_tells_of_an_error_is_none():
    with pytest.raises(BrokenStream):
        _play(chat("Hi", finish="error").chunks)


def test_an_empty_finish_reason_in_every_chunk_is_none():
    chunks = [chunk({"content": "a"}, ""), chunk({"content": "b"}, "stop"), chunk({}, "")]
    assert _play(chunks)[1].message.text == "ab"


def test_nothing_is_an_empty_answer_unless_it_was_cut():
    with pytest.raises(EmptyAnswer):
        _play(chat("").chunks)
    assert _play(chat("", finish="length").chunks)[1].message.is_empty


def test_a_refusal_is_text():
    assert _play([chunk({"refusal": "I will not"}, "stop")])[1].message.text == "I will not"


def test_interleaved_calls():
    def part(index, arguments, **rest):
        return chunk({"tool_calls": [{"index": index, "function": {"arguments": arguments, **rest}}]})

    chunks = [part(0, '{"a"', name="x"), part(1, '{"b"', name="x"), part(0, ":1}"), part(1, ":2}"), chunk({}, "stop")]
    assert [call.arguments for call in _play(chunks)[1].message.calls] == ['{"a":1}', '{"b":2}']
