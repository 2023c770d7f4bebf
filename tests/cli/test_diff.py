"""The semantic difference of two memory commits, in a terminal, as markdown and as JSON."""

import json

import pytest

from invincat.cli.markdown import code, escaped, fenced
from tests.cli.by_hand import commit_by_hand


@pytest.fixture
def two(invincat, commit_file):
    """A store in which one memory took another's place, one was rated, and one deleted."""
    commit_file("noxfile.py", "import nox\n\nnox.options.sessions = ['tests']\n")
    invincat("remember", "Use markers.", "--name", "markers", "--section", "Testing")
    invincat("remember", "Tag from main.", "--name", "tags")
    invincat("remember", "Squash fixups.", "--name", "squash")
    words = ("--content", "Use nox. It drives the matrix.", "--name", "use-nox", "--section", "Testing")
    invincat("supersede", "markers", *words, "--evidence", "noxfile.py#L3", "--reason", "nox is better")
    invincat("rescore", "tags", "--score", "90", "--reason", "used daily")
    invincat("delete", "squash", "--reason", "was never true")
    return invincat


SINCE = "invincat/memory~3"


def test_what_is_believed_what_no_longer_and_why(two):
    out = two("diff", f"{SINCE}..").out
    believed, _, rest = out.partition("Believed no longer:")
    gone, _, rescored = rest.partition("Rescored:")
    assert "+ Use nox" in believed and "It drives the matrix." in believed
    assert "why: nox is better  supersede by Ada Lovelace (user)" in believed
    assert "evidence: noxfile.py#L3  \"nox.options.sessions = ['tests']\"" in believed
    assert "- Use markers" in gone and "superseded by testing/use-nox: nox is better" in gone
    assert "- Squash fixups" in gone and "deleted: was never true" in gone
    assert "score: 50 -> 90" in rescored and "why: used daily" in rescored


def test_the_ways_to_name_two_commits(two, git):
    old, new = git("rev-parse", "refs/invincat/memory~3", "refs/invincat/memory").split()
    forms = [(f"{old}..{new}",), (old, new), (f"{old[:9]}..",), (SINCE,), (SINCE, "invincat/memory")]
    answers = [two("diff", *words, "--format", "json").json for words in forms]
    assert all(answer == answers[0] for answer in answers)
    assert (answers[0]["from"], answers[0]["to"]) == (old, new)
    assert two("diff", "..", "--format", "json").json["changes"] == []
    assert "nothing differs" in two("diff", "invincat/memory").out


def test_as_json_each_change_says_how_and_why(two):
    changes = two("diff", SINCE, "--format", "json").json["changes"]
    assert [(change["label"], change["turns"]) for change in changes] == [
        ("testing/use-nox", ["created"]),
        ("testing/markers", ["superseded"]),
        ("general/squash", ["deleted"]),
        ("general/tags", ["rescored"]),
    ]
    assert changes[1]["successor"] == "testing/use-nox"
    assert changes[2]["because"][0]["reason"] == "was never true"


def test_backwards_what_came_later_is_gone(two):
    out = two("diff", "invincat/memory", SINCE).out
    assert "+ Squash fixups" in out and "- Use nox" in out
    assert "deleted" not in out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("HEAD..",), 1, "no memory commit"),
        (("--", "--all"), 1, "no memory commit"),
        (("a", "b", "c"), 2, "A..B"),
        (("a..b", "c"), 2, "A..B"),
        (("invincat/memory...",), 1, "no memory commit"),
        ((), 2, "A..B"),
    ],
)
def test_what_is_no_pair_of_commits_is_one_line(two, words, code, message):
    fault = two("diff", *words, code=code).err
    assert message in fault and fault.count("\n") == 1


def test_a_proposal_is_shown_as_what_would_be_believed(invincat):
    line = json.dumps({"role": "user", "text": "We always squash fixup commits."}) + "\n"
    outcome = invincat("extract", "--transcript", "-", "--json", input=line, code=3).json["outcomes"][0]
    id = outcome["proposal"]
    out = invincat("review", "show", id).out
    assert "waits: " in out and "proposed by rules" in out
    assert "+ We always squash fixup commits" in out
    assert 'evidence: turn:1  "We always squash fixup commits."' in out
    shown = invincat("review", "show", id, "--format", "json").json
    assert shown["proposal"]["id"] == id and shown["changes"][0]["turns"] == ["created"]
    assert invincat("diff", f"invincat/memory..{id}", "--format", "json").json["changes"] == shown["changes"]
    assert f"## Proposal {id}" in invincat("review", "show", id, "--format", "markdown").out


def test_markdown_repeats_the_reasons(two):
    out = two("diff", SINCE, "--format", "markdown").out
    assert "- **Use nox**" in out and "- ~~Use markers~~" in out
    assert "why: nox is better; supersede by Ada Lovelace (user)" in out
    assert "superseded by testing/use-nox: nox is better" in out
    assert "`noxfile.py#L3`" in out


HOSTILE = "**bold** @team fixes #12 <img src=x> [a](http://x) `code` GH-7 www.x.org ~~no~~ | :tada: \u202e"


def test_words_of_a_memory_are_no_markdown(invincat, git, repo):
    invincat("remember", "Use nox. It drives the matrix.", "--name", "x")
    text = git("show", "invincat/memory:memory/general/x.md").replace("title: Use nox", 'title: "@team fixes #12 <b>"')
    text = text.replace("It drives the matrix.", f"{HOSTILE}\n```\n````\n# Heading\n@everyone")
    commit_by_hand(git, repo, "memory/general/x.md", text, "By hand, fixes #12")
    out = invincat("diff", "invincat/memory~2", "--format", "markdown").out
    fence = out.index("`````text")
    assert "@everyone" in out[fence : out.index("`````", fence + 5)], "the fence is longer than any in the body"
    running = out[:fence]
    assert "@<!-- -->team" in running and "\\#<!-- -->12" in running and "\\<b\\>" in running
    assert "\u202e" not in out


def test_escaping_leaves_nothing_live():
    text = escaped(HOSTILE)
    for live in ("@team", "#12", " <img", " [a", "://", "GH-7", "www.x", ":tada:", "**", "~~", " `"):
        assert live not in text, live
    assert escaped("used since 2026-11-29 (daily), mostly.") == "used since 2026-11-29 (daily), mostly."
    assert escaped("- a") == "\\- a" and escaped("1. a") == "1\\. a" and escaped("# a") == "\\# a"
    assert code("a `b` ``c") == "```a `b` ``c```" and code("`") == "`` ` ``"
    assert fenced(["````", "x"])[0] == "`````text"
