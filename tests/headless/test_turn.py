"""`invincat -p`: three forms, exit codes, stdin, and that it never waits for anybody (cases 37, 38, 40)."""

import json
import os
import signal
import socket
import time
from dataclasses import replace

import pytest

from invincat.agent.talk import NO_MODEL
from invincat.store.git import GitStore
from invincat.store.locate import locate
from tests.fakes.answers import chat, cut, fail, html, never
from tests.fakes.strictness import Strict
from tests.headless.conftest import MEMORY, TALK, asked_of, by_model, wait_for


@pytest.fixture(autouse=True)
def hello(openai_server):
    openai_server.always(by_model("Hello, Ada."))


@pytest.mark.slow
def test_json_with_case_40_a_denied_tool_in_the_result(invincat, openai_server):
    openai_server.script(chat("Look.", [("list_dir", {"path": "."}), ("read_file", {"path": ".git/config"})]))
    run = invincat("-p", "ok", "--output-format", "json")
    found = run.json
    assert run.out.count("\n") == 1
    assert (found["end"], found["text"], found["error"], found["queued"]) == ("final", "Hello, Ada.", None, 0)
    assert [(tool["name"], tool["is_error"]) for tool in found["tools"]] == [("list_dir", False), ("read_file", True)]
    assert found["usage"]["input"] > 0
    assert len(found["session"]) == 26


@pytest.mark.slow
def test_stream_json(invincat, openai_server):
    openai_server.script(chat("Look.", [("list_dir", {"path": "."})]))
    run = invincat("-p", "Remember: we use nox for the tests", "--output-format", "stream-json")
    kinds = [event["event"] for event in run.events]
    assert kinds[:2] == ["session", "text"]
    assert kinds[-1] == "turn_ended"
    assert kinds.index("tool_started") + 1 == kinds.index("tool_finished")
    assert run.err == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "code", "says"),
    [
        (fail(401, "Incorrect API key"), 1, "OPENAI_API_KEY"),
        (fail(404, "The model `talk-model` does not exist", "model_not_found"), 1, "OPENAI_MODEL"),
        (fail(400, "your prompt is odd"), 1, "your prompt is odd"),
        (cut(chat("Half of the answer"), 4), 75, "before its finish"),
        (html(), 75, "a web page"),
    ],
    ids=["key", "model", "refused", "broken", "html"],
)
def test_faults_are_one_line_and_a_code(invincat, openai_server, answer, code, says):
    openai_server.always(lambda _: answer)
    run = invincat("-p", "Remember: we use nox", "--output-format", "json", code=code)
    assert (run.json["end"], run.json["queued"]) == ("error", 1)
    first, last = run.err.splitlines()
    assert first == run.json["error"]
    assert says in first
    assert last == "learning goes on at the next start"
    assert len(asked_of(openai_server, TALK)) == 1
    assert len(asked_of(openai_server, MEMORY)) <= 1, "who cannot be asked is not waited for"


@pytest.mark.slow
def test_an_endpoint_that_cannot_be_is_said_before_anything_is_asked(invincat):
    run = invincat("-p", "Hi", code=1, env={"OPENAI_BASE_URL": "localhost:1234/v1"})
    assert run.err.count("\n") == 1
    assert "OPENAI_BASE_URL" in run.err
    assert run.out == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "input", "code"),
    [
        (("-p", ""), None, 42),
        (("-p", "x"), b"\xff\xfe", 42),
        (("-p", "x"), b"x" * 1_000_001, 42),
        (("-p", "x", "--output-format", "xml"), None, 2),
        (("-p", "x", "-r", "0" * 26), None, 1),
        (("-p", "x", "-c"), None, 1),
    ],
)
def test_bad_input_and_usage(invincat, openai_server, words, input, code):
    run = invincat(*words, code=code, input=input)
    assert run.out == ""
    assert run.err.count("\n") == 1
    assert openai_server.requests == []


@pytest.mark.slow
@pytest.mark.parametrize("words", [("--max-turns", "2"), ("--max-tokens", "20")])
def test_caps(invincat, openai_server, words):
    numbers = iter(range(100))
    openai_server.always(by_model(lambda _: chat("More.", [("list_dir", {"path": "."})], tag=f"n{next(numbers)}")))
    run = invincat("-p", "ok", *words, code=53)
    assert run.out == "More.\n"
    assert words[0] in run.err
    assert len(openai_server.requests) == 2


def test_stdin_is_appended(invincat, openai_server):
    run = invincat("-p", "Explain this:", input="Ein Fehler: ö\n".encode())
    assert run.out == "Hello, Ada.\n"
    assert asked_of(openai_server, TALK)[0].messages[1:] == [
        {"role": "user", "content": "Explain this:\n\nEin Fehler: ö"}
    ]


@pytest.mark.slow
def test_stdin_alone_is_the_prompt(invincat, openai_server):
    assert invincat(input=b"ok\n").out == "Hello, Ada.\n"
    assert openai_server.requests[0].messages[-1]["content"] == "ok"


@pytest.mark.slow
def test_a_socket_is_stdin_too(invincat, openai_server):
    """Node gives its children sockets for pipes."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = invincat.start("-p", "Explain:", stdin=theirs)
        theirs.close()
        ours.sendall(b"this")
        ours.shutdown(socket.SHUT_WR)
        out, _ = process.communicate(timeout=20)
    assert out == b"Hello, Ada.\n"
    assert openai_server.requests[0].messages[-1]["content"] == "Explain:\n\nthis"


@pytest.mark.slow
def test_case_40_nothing_on_stdin_never_hangs(invincat):
    assert invincat("-p", "ok").out == "Hello, Ada.\n"
    closed = {"stdin": None, "preexec_fn": lambda: os.close(0)}
    assert invincat("-p", "ok", **closed).out == "Hello, Ada.\n"
    assert invincat(**closed, code=42).out == ""
    assert invincat(code=42).out == ""


@pytest.mark.slow
def test_case_40_a_pipe_that_was_inherited_and_is_never_closed_never_hangs(invincat):
    read, write = os.pipe()
    try:
        run = invincat("-p", "Hi", stdin=read, timeout=15)
    finally:
        os.close(read)
        os.close(write)
    assert run.out == "Hello, Ada.\n"
    assert "nothing came on stdin" in run.err


@pytest.mark.slow
@pytest.mark.parametrize("form", ["text", "stream-json"])
def test_case_40_a_closed_pipe_is_quiet(invincat, openai_server, form):
    openai_server.always(by_model(lambda _: replace(chat("word " * 200), write=400, pause=0.01)))
    process = invincat.start("-p", "ok", "--output-format", form)
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, b"")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["text", "stream-json"])
def test_an_interrupt_is_130_and_reported(invincat, openai_server, form):
    answer = cut(chat("The first half, and then", piece=4), 4, ending="hang")
    openai_server.always(by_model(lambda _: answer))
    process = invincat.start("-p", "Explain", "--output-format", form)
    wait_for(lambda: openai_server.requests)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert process.returncode == 130
    assert b"Traceback" not in err
    if form == "text":
        assert out == b"The first ha\n"
    else:
        last = json.loads(out.splitlines()[-1])
        assert (last["end"], last["text"]) == ("interrupted", "The first ha")
    openai_server.always(by_model("Again."))
    assert invincat("-p", "Go on", "-c").out == "Again.\n"
    assert openai_server.requests[-1].messages[-3:] == [
        {"role": "user", "content": "Explain"},
        {"role": "assistant", "content": "The first ha"},
        {"role": "user", "content": "Go on"},
    ]


@pytest.mark.slow
def test_an_interrupt_before_anything_was_said(invincat, openai_server):
    openai_server.always(by_model(lambda _: never()))
    process = invincat.start("-p", "Explain")
    wait_for(lambda: openai_server.requests)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err.splitlines()[0]) == (130, b"", b"interrupted")


@pytest.mark.slow
def test_case_37_killed_while_a_tool_runs_it_is_resumed_and_the_tool_not_run_again(
    invincat, openai_server, repo, state
):
    """The tool waits for the store's lock, which the test holds."""
    openai_server.script(chat("Noting it.", [("propose_memory", {"operations": [{"op": "noop"}]})], tag="k"))
    invincat("init")
    with GitStore(locate(repo)).exclusive():
        process = invincat.start("-p", "Note it", "--output-format", "stream-json")
        while b"tool_started" not in (line := process.stdout.readline()):
            assert line
        process.kill()
        process.wait()
    [log] = (state / "sessions").glob("*.jsonl")
    with log.open("ab") as file:
        file.write(b'{"at":"2026-01-01T00:00:00Z","mess')
    assert invincat("-p", "What came of it?", "-c", "--output-format", "json").json["tools"] == []
    talk = asked_of(openai_server, TALK)[-1].messages
    assert [message["role"] for message in talk[1:]] == ["user", "assistant", "tool", "user"]
    assert talk[3]["content"].startswith("interrupted: ")
    assert all(json.loads(line) for line in log.read_bytes().splitlines())


@pytest.mark.slow
def test_case_38_a_second_process_is_refused_with_one_line(invincat, openai_server):
    answers = iter([never()])
    openai_server.always(by_model(lambda _: next(answers, chat("Hello"))))
    first = invincat.start("-p", "Wait for me")
    wait_for(lambda: openai_server.requests)
    run = invincat("-p", "Me too", "-c", code=1)
    assert run.err.count("\n") == 1
    assert "open in another process" in run.err
    first.kill()
    first.wait()
    assert invincat("-p", "Me too", "-c").out == "Hello\n"


@pytest.mark.slow
def test_continue_and_resume(invincat, openai_server, repo):
    first, second = (
        invincat("-p", words, "--output-format", "json", cwd=repo.parent).json["session"] for words in ("no", "yes")
    )
    assert invincat("-C", "..", "-p", "ok", "-r", first, "--output-format", "json").json["session"] == first
    assert invincat("-p", "sure", "-c", "--output-format", "json", cwd=repo.parent).json["session"] == first
    assert first != second
    said = [message["content"] for message in asked_of(openai_server, TALK)[-1].messages if message["role"] == "user"]
    assert said == ["no", "ok", "sure"]


def test_without_a_model_it_says_how_to_get_one_and_remembers(invincat, openai_server):
    none = {"OPENAI_MODEL": "", "INVINCAT_MEMORY_MODEL": "", "OPENAI_API_KEY": ""}
    run = invincat("-p", "Remember: we run the tests through nox", env=none)
    assert run.out == ""
    said, learned, _ = run.err.splitlines()
    assert said == NO_MODEL
    assert learned.startswith("remembered ")
    assert openai_server.requests == []
    assert "nox" in invincat("list").out
    invincat("-p", "From now on we always lint with ruff", env=none, code=3)
    run = invincat("-p", "Remember: we run the tests through n\u202eox", env=none, code=4)
    assert "not remembered: " in run.err
    invincat("-p", "Where is the retry logic?", env=none, code=1)


@pytest.mark.slow
def test_the_session_is_told_in_every_form_so_that_it_can_be_resumed(invincat, openai_server):
    err = invincat("-p", "ok").err
    assert err.startswith("session ")
    id = err.split()[1]
    events = invincat("-p", "no", "-r", id, "--output-format", "stream-json").events
    assert events[0] == {"event": "session", "id": id}
    assert invincat("-p", "yes", "-r", id, "--output-format", "json").json["session"] == id


def test_without_a_model_the_result_says_so(invincat):
    none = {"OPENAI_MODEL": "", "INVINCAT_MEMORY_MODEL": ""}
    run = invincat("-p", "ok", "--output-format", "json", env=none, code=1)
    assert (run.json["end"], run.json["error"]) == ("no_model", NO_MODEL)


@pytest.mark.slow
def test_the_second_model_is_asked_to_remember(invincat, openai_server):
    openai_server.strict = Strict(models=frozenset({TALK, MEMORY}))
    invincat("-p", "We run the tests through nox")
    assert [request.body["model"] for request in openai_server.requests] == [TALK, MEMORY]
    assert "tools" not in asked_of(openai_server, MEMORY)[0].body


@pytest.mark.slow
def test_a_second_model_that_is_not_there_is_one_line_and_the_answer_stands(invincat, openai_server):
    openai_server.strict = Strict(models=frozenset({TALK}))
    run = invincat("-p", "We run the tests through nox")
    assert run.out == "Hello, Ada.\n"
    assert "INVINCAT_MEMORY_MODEL" in run.err
    assert run.err.splitlines()[-2] == "learning goes on at the next start"
