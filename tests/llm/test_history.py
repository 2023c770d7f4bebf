"""Any list of messages becomes one that the strict endpoint takes; what it takes is learned from its own words."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invincat.llm.history import CONTINUED, INTERRUPTED, NO_OUTPUT, Profile, learn, sendable, to_wire
from invincat.llm.message import Assistant, Message, System, ToolCall, ToolResult, User
from tests.fakes.strictness import Distaste, Strict, check

_IDS = st.sampled_from(["a", "b", "c", "a_2", "ü"])
_TEXTS = st.one_of(st.sampled_from(["", " ", "word", "\ud800", "world 世界"]), st.text(max_size=8))
_RAW = st.sampled_from(["", "{}", '{"a": 1}', '{"a": ', "[]", "null", "NaN", '{"a": NaN}', "{'a': 1}", "\\"])
_CALLS = st.builds(ToolCall.read, _IDS, st.sampled_from(["grep", "", "a.b c", "x" * 80, "读"]), _RAW)
_MESSAGES = st.lists(
    st.one_of(
        st.builds(System, _TEXTS),
        st.builds(User, _TEXTS),
        st.builds(Assistant, _TEXTS, st.lists(_CALLS, max_size=3).map(tuple), st.none() | _TEXTS),
        st.builds(ToolResult, _IDS, _TEXTS, st.booleans()),
    ),
    max_size=9,
)
_PROFILES = st.builds(
    Profile,
    empty_content=st.sampled_from(["null", "blank", "absent"]),
    reasoning=st.sampled_from([None, "reasoning_content"]),
    stream_options=st.booleans(),
    max_tokens=st.sampled_from(["max_tokens", "max_completion_tokens"]),
    system_role=st.sampled_from(["system", "developer", "user"]),
    alternate=st.booleans(),
)


def _strict(profile: Profile) -> Strict:
    """The endpoint that accepts what this profile says, and nothing else."""
    return Strict(
        empty_content=frozenset({profile.empty_content}),
        reasoning="required" if profile.reasoning else "refused",
        system_roles=frozenset({profile.system_role} - {"user"}),
        alternate=profile.alternate,
    )


@settings(max_examples=80, deadline=None)
@given(_MESSAGES, _PROFILES)
def test_whatever_happened_becomes_what_the_endpoint_takes(messages, profile):
    wire = to_wire(messages, profile)
    if wire:
        msgspec.json.encode(wire)
        check({"model": "fake", "stream": True, "messages": wire}, _strict(profile))


@settings(max_examples=80, deadline=None)
@given(_MESSAGES)
def test_sendable_is_idempotent_and_keeps_what_was_said(messages):
    once = sendable(messages)
    assert sendable(once) == once
    said = [message.text for message in messages if not isinstance(message, ToolResult) and message.text.strip()]
    assert [message.text for message in once if not isinstance(message, ToolResult) and message.text.strip()] == said
    called = [call.name for message in messages if isinstance(message, Assistant) for call in message.calls]
    assert [call.name for message in once if isinstance(message, Assistant) for call in message.calls] == called


@settings(max_examples=80, deadline=None)
@given(_MESSAGES)
def test_messages_survive_a_log(messages):
    clean = [message for message in messages if "\ud800" not in repr(message) and r"\ud8" not in repr(message)]
    assert msgspec.json.decode(msgspec.json.encode(clean), type=list[Message]) == clean


@settings(max_examples=80, deadline=None)
@given(_MESSAGES, _PROFILES)
def test_an_endpoint_of_any_tastes_is_learned_in_a_few_refusals(messages, tastes):
    strict = _strict(tastes)
    profile, tried = Profile(), set()
    while (complaint := _complaint(to_wire(messages, profile), strict)) is not None:
        tried.add(profile)
        profile = learn(profile, complaint)
        assert profile is not None, complaint
        assert profile not in tried
    assert len(tried) < 9


def _complaint(wire, strict):
    """What an endpoint says to a request, None when it takes it."""
    try:
        if wire:
            check({"model": "fake", "stream": True, "messages": wire}, strict)
    except Distaste as fault:
        return str(fault)
    return None


_ONE, _TWO = ToolCall("1", "read"), ToolCall("2", "grep")


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        # a missing result, then a displaced one, a second and an orphan
        ([Assistant("", (_ONE,))], [Assistant("", (_ONE,)), ToolResult("1", INTERRUPTED, is_error=True)]),
        (
            [Assistant("", (_ONE, _TWO)), ToolResult("2", "b"), User("stop"), ToolResult("1", "a")],
            [Assistant("", (_ONE, _TWO)), ToolResult("1", "a"), ToolResult("2", "b"), User("stop")],
        ),
        (
            [ToolResult("1", "orphan"), Assistant("", (_ONE,)), ToolResult("1", "a"), ToolResult("1", "again")],
            [Assistant("", (_ONE,)), ToolResult("1", "a")],
        ),
        # one id for two calls, in one message and in two
        (
            [Assistant("", (_ONE, ToolCall("1", "grep"))), ToolResult("1", "a"), ToolResult("1", "b")],
            [Assistant("", (_ONE, ToolCall("1_2", "grep"))), ToolResult("1", "a"), ToolResult("1_2", "b")],
        ),
        (
            [Assistant("", (_ONE,)), ToolResult("1", "a"), Assistant("", (_ONE,)), ToolResult("1", "b")],
            [
                *(Assistant("", (_ONE,)), ToolResult("1", "a")),
                *(Assistant("", (msgspec.structs.replace(_ONE, id="1_2"),)), ToolResult("1_2", "b")),
            ],
        ),
        # nothing said
        ([User(""), Assistant(" ", reasoning="hm"), System("\n"), User("x")], [User("x")]),
    ],
)
def test_sendable_by_example(messages, expected):
    assert sendable(messages) == expected


def test_roles_alternate_where_the_endpoint_needs_it():
    messages = [System("a"), System("b"), Assistant("Hi"), User("c"), System("d"), User("e"), Assistant("", (_ONE,))]
    wire = to_wire([*messages, ToolResult("1", ""), User("f"), Assistant("g"), Assistant("h")], Profile(alternate=True))
    assert [(message["role"], message["content"]) for message in wire] == [
        ("system", "a\n\nb"),
        ("user", CONTINUED),
        ("assistant", "Hi"),
        ("user", "c\n\nd\n\ne"),
        ("assistant", None),
        ("tool", NO_OUTPUT),
        ("assistant", CONTINUED),
        ("user", "f"),
        ("assistant", "g\n\nh"),
        ("user", CONTINUED),
    ]


# What endpoints have been seen to say, and what to do differently.
_SEEN = [
    ("Unrecognized request argument supplied: stream_options", {"stream_options": False}),
    ("[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options')}]", {"stream_options": False}),
    (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        {"max_tokens": "max_completion_tokens"},
    ),
    ("Invalid value for 'content': expected a string, got null.", {"empty_content": "blank"}),
    ("messages.1.content: Input should be a valid string", {"empty_content": "blank"}),
    ("Failed to deserialize the JSON body: messages[2]: missing field `content`", {"empty_content": "blank"}),
    ("'content' is a required property - 'messages.1'", {"empty_content": "blank"}),
    ("The content field in the assistant message can not be empty", {"empty_content": "blank"}),
    ("Missing reasoning_content field in the assistant message at message index 2", {"reasoning": "reasoning_content"}),
    (
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 3",
        {"reasoning": "reasoning_content"},
    ),
    ("Unsupported value: 'messages[0].role' does not support 'system' with this model.", {"system_role": "developer"}),
    ("System role not supported", {"system_role": "developer"}),
    ("Conversation roles must alternate user/assistant/user/assistant/...", {"alternate": True}),
    ("After the optional system message, conversation roles must alternate user and assistant", {"alternate": True}),
    ("Unexpected role 'user' after role 'tool'", {"alternate": True}),
    ("Expected last role User or Tool (or Assistant with prefix True) for serving", {"alternate": True}),
    ("System message must be at the beginning.", {"alternate": True}),
    ("Invalid parameter: 'response_format' of type 'json_schema' is not supported", {"schema": "json_object"}),
    ("This response_format type is unavailable now", {"schema": "json_object"}),
    ("max_tokens is too large: 100000. This model supports at most 4096 completion tokens", None),
    ("This model's maximum context length is 8192 tokens", None),
    ("temperature must be between 0 and 2", None),
    ("Invalid API key", None),
    ("The model is overloaded", None),
    ("The request was rejected because the content was considered high risk", None),
    ("", None),
]


@pytest.mark.parametrize(("text", "change"), _SEEN, ids=[text[:40] for text, _ in _SEEN])
def test_what_endpoints_say_is_understood(text, change):
    assert learn(Profile(), text) == (msgspec.structs.replace(Profile(), **change) if change else None)


def test_a_profile_survives_a_file():
    profile = Profile(empty_content="absent", reasoning="reasoning", system_role="user", schema=None)
    assert msgspec.json.decode(msgspec.json.encode(profile), type=Profile) == profile


@pytest.mark.parametrize(
    "make",
    [
        lambda: ToolCall("", "x"),
        lambda: ToolCall("x", ""),
        lambda: ToolCall("x", "y", "[1]"),
        lambda: ToolCall("x", "y", "{"),
    ],
)
def test_a_wrong_call_cannot_be_built(make):
    with pytest.raises(ValueError, match=r"call has|arguments are"):
        make()
