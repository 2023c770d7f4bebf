"""The product itself on a terminal: `invincat` with a real desk, a real repository and the strict endpoint."""

import sys

import pytest

from tests.fakes.answers import chat
from tests.fakes.openai_server import openai_server
from tests.repl.terminal import Terminal

__all__ = ["openai_server"]
PROGRAM = (sys.executable, "-P", "-m", "invincat")


@pytest.fixture
def invincat(repo, tmp_path):
    """`invincat(words, **environment)`: on a terminal in the repository."""
    made = []

    def start(*words, **environment):
        sealed = {"INVINCAT_DATA_DIR": str(tmp_path / "data"), **environment}
        made.append(Terminal.of((*PROGRAM, *words), repo, columns=100, **sealed))
        return made[-1]

    yield start
    for terminal in made:
        terminal.kill()


def _answer(request):
    return chat("Fine, Ada." if "tools" in request.body else '{"operations": []}', piece=0)


@pytest.mark.slow
def test_it_talks_switches_and_says_how_to_go_on(invincat, openai_server):
    openai_server.always(_answer)
    endpoint = {"OPENAI_BASE_URL": openai_server.base_url, "OPENAI_API_KEY": "key-0123456789abcdef"}
    screen = invincat(OPENAI_MODEL="first-model", **endpoint)
    screen.until("first-model | main")
    screen.send("hello\r")
    screen.until("Fine, Ada.")
    screen.send("/model second-model\r")
    screen.until("second-model answers from now on")
    screen.send("again\r")
    screen.until(lambda: screen.text.count("Fine, Ada.") == 2)
    screen.send("\x04")
    screen.until("go on with: invincat -c")
    assert screen.code() == 0
    talk = [request.body["model"] for request in openai_server.requests if "tools" in request.body]
    assert talk == ["first-model", "second-model"]


def test_without_a_model_it_remembers(invincat):
    screen = invincat()
    screen.until("No model is configured, so there is no answer.")
    screen.send("/remember Use tabs\r")
    screen.until("remembered use-tabs")
    screen.send("\x04")
    assert screen.code() == 0
