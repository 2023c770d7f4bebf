"""How long to wait, and how much was spent."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from invincat.llm.client import EmptyAnswer, RateLimited, ServerFault, Unreachable
from invincat.llm.message import Assistant, System, ToolCall, User
from invincat.llm.retry import Policy, delay, retry_after
from invincat.llm.schema import tool_spec
from invincat.llm.usage import Usage, estimate, estimate_messages, read_usage

NOW = datetime(2026, 10, 21, 7, 28, 0, tzinfo=UTC)
LATER = "Wed, 21 Oct 2026 07:28:07 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-1"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, 0.0),
        ({"retry-after": ""}, None),
        ({"retry-after": LATER}, 7.0),
        ({"retry-after": LATER, "date": "Wed, 21 Oct 2026 07:28:05 GMT"}, 2.0),
        ({"retry-after": LATER, "date": "yesterday"}, 7.0),
        ({"retry-after": "Wed, 21 Oct 2020 07:28:07 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:07 -0000"}, 7.0),
        ({"retry-after": "2", "retry-after-ms": "1500"}, 1.5),
    ],
)
def test_retry_after_is_seconds_or_a_date(headers, seconds):
    assert retry_after(headers, NOW) == seconds


def test_delays_double_with_jitter_up_to_a_cap():
    low, high = (Policy(random=lambda: 0.0), Policy(random=lambda: 1.0))
    assert [delay(high, number, Unreachable("x")) for number in range(1, 6)] == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert [delay(low, number, Unreachable("x")) for number in range(1, 3)] == [0.25, 0.5]
    assert delay(high, 30, ServerFault("x")) == 60.0


def test_the_endpoint_is_never_asked_sooner_than_it_says():
    policy = Policy(random=lambda: 0.0)
    assert delay(policy, 1, RateLimited("x", retry_after=9.0)) == 9.0
    assert delay(replace(policy, random=lambda: 1.0), 1, ServerFault("x", retry_after=9.0)) == 9.5
    assert delay(policy, 1, RateLimited("x", retry_after=900.0)) == 60.0
    assert delay(policy, 1, EmptyAnswer("x")) == 0.0


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("word", 1), ("words", 2), ("世界", 2), ("世界 and more", 2 + 3), ("한국어", 3), ("🎉", 1)],
)
def test_tokens_are_estimated_by_script(text, tokens):
    assert estimate(text) == tokens


def test_everything_that_is_sent_counts():
    bare = estimate_messages([User("x" * 400)])
    assert bare >= 100
    assert estimate_messages([System("x" * 400), User("x" * 400)]) == 2 * bare
    assert estimate_messages([Assistant("", (ToolCall("1", "grep", '{"a": "' + "x" * 400 + '"}'),))]) > bare
    assert estimate_messages([User("x" * 400)], [tool_spec("grep", "y" * 400, {})]) > bare + 100


def test_usage_adds_up():
    assert Usage(1, 2, 1) + Usage(10, 20, estimated=True) == Usage(11, 22, 1, estimated=True)
    assert Usage(1, 2).total == 3


@pytest.mark.parametrize(
    "raw",
    [None, {}, [], "x", {"prompt_tokens": "9"}, {"prompt_tokens": -1, "completion_tokens": 2}, {"prompt_tokens": True}],
)
def test_usage_that_is_none_is_estimated(raw):
    found = read_usage(raw, [User("Hello")], (), Assistant("Hi there"))
    assert found.estimated
    assert found.input == estimate_messages([User("Hello")])
    assert found.output == 2
