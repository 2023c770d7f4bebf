"""The show of issue 3: five turns on a real repository, and what a sixth, in a new process, knows."""

import json
import re

import pytest

from tests.fakes.answers import chat
from tests.headless.conftest import MEMORY, TALK, asked_of

TURNS = {
    "Remember: we run the tests through nox": "Noted.",
    "Where is the version kept?": "In `src/version.py:1`.",
    "I like short answers, by the way.": "Fine.",
    "ok, thanks!": "You are welcome.",
    "We have moved on: from now on the tests are run through tox, not nox.": "Understood.",
    "How do I run the tests?": "Through tox.",
}


def _talk(request):
    """The one who talks: it reads a file before it says where the version is."""
    said = [message for message in request.messages if message["role"] == "user"][-1]["content"]
    words = next(words for words in TURNS if said.startswith(words))
    if words.startswith("Where") and request.messages[-1]["role"] == "user":
        return chat("Let me look.", [("read_file", {"path": "src/version.py"})], tag="v")
    return chat(TURNS[words])


def _remember(request):
    """The one who remembers: it answers what a good one would, with the numbers that it was shown."""
    slice = request.messages[-1]["content"]
    remembered, _, talk = slice.partition("## The conversation")
    turns = dict(re.findall(r"\[turn:(\d+)\] user:\n([^\n]*)", talk))
    operations = []
    for number, words in turns.items():
        fields = {"scope": "project", "section": "Testing", "evidence": [{"at": f"turn:{number}"}]}
        quote = fields["evidence"][0]
        if words.startswith("Remember: "):
            quote["quote"] = "we run the tests through nox"
            operations.append({"op": "create", "content": "Run the tests through nox", "score": 80, **fields})
        if words.startswith("Where"):
            fields |= {"section": "Layout", "evidence": [{"at": "src/version.py#L1", "quote": 'VERSION = "1.0"'}]}
            operations.append({"op": "create", "content": "The version is kept in src/version.py", **fields})
        if words.startswith("I like"):
            quote["quote"] = "I like short answers"
            fields |= {"scope": "user", "section": "Preferences"}
            operations.append({"op": "create", "content": "Prefers short answers", **fields})
        if words.startswith("We have moved"):
            id = re.search(r"^(\S+) \S+ project Testing: Run the tests through nox", remembered, re.MULTILINE)[1]
            quote["quote"] = "from now on the tests are run through tox"
            content = {"content": "Run the tests through tox", "score": 80, "reason": "the team moved on"}
            operations.append({"op": "supersede", "id": id, **content, **fields})
    return chat(json.dumps({"operations": operations}))


@pytest.mark.slow
def test_five_turns_and_what_the_sixth_knows(invincat, openai_server, git, repo):
    (repo / "src").mkdir()
    (repo / "src/version.py").write_text('VERSION = "1.0"\n')
    git("add", ".")
    git("commit", "--quiet", "--message", "Version")
    openai_server.always(lambda request: (_remember if request.body["model"] == MEMORY else _talk)(request))
    told = []
    for number, words in enumerate(list(TURNS)[:5]):
        run = invincat("-p", words, "--output-format", "json", *(["-c"] if number else []))
        assert run.json["text"] == TURNS[words]
        assert run.json["queued"] == 0
        told.append([event["text"].split(" (")[0] for event in run.json["learned"]])
    assert told == [
        ["remembered run-the-tests-through-nox"],
        ["remembered the-version-is-kept-in-src-version-py"],
        ["remembered prefers-short-answers"],
        [],
        ["now holds run-the-tests-through-tox"],
    ]
    # What only acknowledges costs nothing.
    assert len(asked_of(openai_server, MEMORY)) == 4

    story = git("log", "--reverse", "--format=%s", "invincat/memory", "--").splitlines()
    assert [line for line in story if "root" not in line] == [
        "create testing/run-the-tests-through-nox: Run the tests through nox",
        "create layout/the-version-is-kept-in-src-version-py: The version is kept in src/version.py",
        "supersede testing/run-the-tests-through-nox by testing/run-the-tests-through-tox: the team moved on",
    ]
    why = git("log", "-1", "--format=%B", "invincat/memory", "--")
    assert "Invincat-Source: turn:11\nInvincat-Reason: the team moved on" in why
    successor = git("show", "invincat/memory:memory/testing/run-the-tests-through-tox.md")
    assert "from now on the tests are run through tox" in successor

    memory = invincat("show", "the-version-is-kept-in-src-version-py", "--json").json
    [evidence] = memory["source"]["evidence"]
    assert (evidence["at"], evidence["quote"]) == ("src/version.py#L1", 'VERSION = "1.0"')
    assert evidence["blob"] == git("rev-parse", "--short=10", "HEAD:src/version.py").strip()
    assert (memory["source"]["actor"], memory["source"]["model"]) == ("memory-agent", MEMORY)

    assert invincat("-p", "How do I run the tests?").out == "Through tox.\n"
    system = asked_of(openai_server, TALK)[-1].messages[0]["content"]
    for known in ("Run the tests through tox", "The version is kept in src/version.py", "Prefers short answers"):
        assert known in system
    assert "through nox" not in system
    assert [message["role"] for message in asked_of(openai_server, TALK)[-1].messages] == ["system", "user"]
