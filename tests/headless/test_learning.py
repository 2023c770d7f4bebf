"""What is learned by a process that ends: flushed, queued, killed, and exactly once."""

import json
import time
from dataclasses import replace

import pytest

from tests.fakes.answers import chat, never
from tests.headless.conftest import MEMORY, TALK, asked_of, by_model, wait_for

NOX = {
    "op": "create",
    "scope": "project",
    "section": "Testing",
    "content": "Run the tests through nox",
    "evidence": [{"at": "turn:1", "quote": "we run the tests through nox"}],
}
WORDS = "From now on we run the tests through nox"
LEARNED = json.dumps({"operations": [NOX]})
TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


def _slow(seconds):
    """An extraction that takes so long, a little at a time."""
    answer = chat(LEARNED, piece=8)
    return replace(answer, write=-(-len(answer.render({})) // 10), pause=seconds / 10)


def _memories(git):
    subjects = git("log", "--format=%s", "refs/invincat/memory").splitlines()
    return [subject for subject in subjects if subject != "memory: root"]


@pytest.mark.slow
def test_it_is_flushed_before_the_end_and_told_in_one_line(invincat, openai_server, git):
    openai_server.always(by_model("Fine.", lambda _: _slow(1.0)))
    run = invincat("-p", WORDS)
    assert run.out == "Fine.\n"
    commit = git("rev-parse", "--short=7", "refs/invincat/memory").strip()
    learned, session = run.err.splitlines()
    assert learned == f"remembered run-the-tests-through-nox ({commit})"
    assert session.startswith("session ")
    assert len(_memories(git)) == 1


@pytest.mark.slow
def test_the_answer_is_there_before_anything_is_learned(invincat, openai_server):
    openai_server.always(by_model("Fine.", lambda _: _slow(2.0)))
    process = invincat.start("-p", WORDS)
    assert process.stdout.readline() == b"Fine.\n"
    there = time.monotonic()
    process.communicate(timeout=20)
    assert time.monotonic() - there > 1.0


@pytest.mark.slow
def test_killed_while_it_learns_it_is_learned_exactly_once_by_the_next(invincat, openai_server, git, state):
    openai_server.always(by_model("Fine.", lambda _: never()))
    process = invincat.start("-p", WORDS)
    wait_for(lambda: asked_of(openai_server, MEMORY))
    process.kill()
    process.wait()
    assert len(list((state / "queue").glob("*.json"))) == 1
    openai_server.always(by_model("Hello.", LEARNED))
    run = invincat("-p", "ok", "--output-format", "json")
    assert [event["event"] for event in run.json["learned"]] == ["learned"]
    assert run.json["queued"] == 0
    assert len(asked_of(openai_server, MEMORY)) == 2
    assert len(_memories(git)) == 1
    assert invincat("-p", "ok", "--output-format", "json").json["learned"] == []
    assert len(asked_of(openai_server, MEMORY)) == 2
    assert len(_memories(git)) == 1


@pytest.mark.slow
def test_an_interrupt_while_it_learns_leaves_it_queued_and_the_answer_stands(invincat, openai_server, git):
    openai_server.always(by_model("Fine.", lambda _: never()))
    process = invincat.start("-p", WORDS, "--output-format", "json")
    wait_for(lambda: asked_of(openai_server, MEMORY))
    process.send_signal(2)
    out, err = process.communicate(timeout=10)
    assert process.returncode == 130
    assert (json.loads(out)["text"], json.loads(out)["queued"]) == ("Fine.", 1)
    assert err == b"learning goes on at the next start\n"


@pytest.mark.slow
def test_two_processes_at_once_read_nothing_twice(invincat, openai_server, git):
    openai_server.always(by_model("Fine.", lambda _: _slow(2.0)))
    first = invincat.start("-p", WORDS)
    wait_for(lambda: asked_of(openai_server, MEMORY))
    second = invincat("-p", "ok", "--output-format", "json")
    assert second.json["queued"] == 1
    assert second.err == "learning goes on at the next start\n"
    first.communicate(timeout=20)
    assert len(asked_of(openai_server, MEMORY)) == 1
    assert len(_memories(git)) == 1


@pytest.mark.slow
def test_no_secret_of_the_conversation_reaches_the_model_that_remembers(invincat, openai_server, repo):
    (repo / "deploy.ini").write_text(f"[deploy]\ntoken = {TOKEN}\nowner = ada@example.org\n")
    openai_server.script(chat("", [("read_file", {"path": "deploy.ini"})]))
    openai_server.always(by_model("Yes."))
    invincat("-p", f"Is {TOKEN} what stands in deploy.ini?")
    [request] = asked_of(openai_server, MEMORY)
    assert TOKEN.encode() not in request.raw
    assert b"ada@example.org" not in request.raw
    assert b"[secret]" in request.raw
    assert TOKEN.encode() in asked_of(openai_server, TALK)[-1].raw, "the person's own question is not changed"
