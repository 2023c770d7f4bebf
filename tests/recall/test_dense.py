"""The leg by meaning: what it adds, what it never takes away, and what remains when it fails (RULES 8, 9)."""

import threading
import time
from array import array
from collections import deque

import pytest
from ulid import ULID

from invincat.errors import ConfigurationError, ProviderError
from invincat.llm.embedding_scripted import ScriptedEmbedder
from invincat.memory.entry import Kind
from invincat.memory.scope import Scope
from invincat.recall.dense import Meaning
from invincat.recall.fusion import POOL, WHY, fuse
from invincat.recall.query import Query
from invincat.recall.vectors import Stock, VectorCache

SAME = {"exams": "tests", "ship": "deploy", "weekend": "fridays", "storage": "cache"}


def names(results):
    return [hit.name for hit in results.hits]


@pytest.fixture
def cache(tmp_path):
    return VectorCache(tmp_path / "parsed", "here")


@pytest.fixture
def search(index, cache):
    """Search a corpus by words and meaning."""

    def run(store, query, embedder=None, meaning=None, cache=cache):
        query = Query(query) if isinstance(query, str) else query
        leg = meaning or Meaning(embedder or ScriptedEmbedder(SAME))
        near = leg.near(query, [Stock(list(store.records()), cache)])
        wide = Query(**{**vars(query), "limit": max(query.limit, POOL)})
        return near.join(query, index.search(store, wide, also=near.paths))

    return run


@pytest.fixture
def store(corpus, record):
    return corpus(
        record("Run the tests through nox", number=1, name="nox"),
        record("Deploy on Fridays", number=2, name="deploy"),
        record("The cache is cleared by hand", number=3, name="cache", kind=Kind.GOTCHA),
        record("Deploy to the old cluster", number=4, name="old", retired=True),
        record("Deploy my notes", number=5, name="mine", scope=Scope.USER),
        record("Deploy elsewhere", number=6, name="elsewhere", scope=Scope.USER, project="another"),
    )


def test_what_says_the_same_in_other_words_is_found(search, store):
    (hit, *_) = search(store, "exams").hits
    assert (hit.name, hit.why) == ("nox", (WHY,))
    assert 0 < hit.score <= 100
    assert search(store, "exams").degraded is None


def test_what_the_words_are_sure_of_stays_first(search, store):
    (hit, *_) = search(store, "tests nox").hits
    assert hit.name == "nox"
    assert WHY not in hit.why


def test_an_exact_name_is_not_lost_among_what_is_near(search, corpus, record):
    near = [record(f"The cache {'of something else ' * (n % 6)}number {n}", number=n, name=f"n{n}") for n in range(60)]
    exact = record("INV_4711 is deprecated", number=99, name="exact")
    embedder = ScriptedEmbedder({"inv_4711": "cache"})
    assert names(search(corpus(*near, exact), "INV_4711", embedder))[0] == "exact"


def test_a_hit_by_meaning_is_the_same_record_as_one_by_words(search, corpus, record):
    old = record("Exams run on a laptop", number=1, name="old", retired=True, superseded_by=str(ULID.from_int(3)))
    store = corpus(old, record("Run the tests through nox", "Nox drives the matrix.", number=2, name="nox"))
    (hit,) = search(store, "exams").hits
    assert (hit.name, hit.why, hit.snippet, hit.predecessor) == ("nox", (WHY,), "Nox drives the matrix.", "old")
    (retired, *_) = search(store, Query("exams laptop", include_retired=True)).hits
    assert (retired.name, retired.successor) == ("old", "nox")


def test_what_is_to_be_answered_with_passes_the_filters_and_stands_there_once(index, store):
    everything = [record.path for record in store.records()]
    results = index.search(store, Query("nox"), also=[*everything, "memory/general/gone.md"])
    assert (names(results)[0], sorted(names(results)), results.total) == ("nox", ["cache", "deploy", "mine", "nox"], 1)
    assert names(index.search(store, Query("nox", kind=Kind.GOTCHA), also=everything)) == ["cache"]


def test_what_is_near_says_its_words_however_many_have_more_of_them(search, corpus, record):
    many = [record(f"ship ship ship number {n}", number=n, name=f"n{n}") for n in range(POOL * 2)]
    wanted = record("ship", "dusk nightfall sundown twilight gloaming moonrise " * 4, number=500, name="it")
    evening = dict.fromkeys([*wanted.memory.body.split(), "evening"], "evening")
    embedder = ScriptedEmbedder(evening, alike=0.7)
    results = search(corpus(*many, wanted), "ship evening", embedder)
    found = {hit.name: hit.why for hit in results.hits}
    assert (found["it"], results.total) == (("title: ship",), POOL * 2 + 1)


def test_what_says_the_same_counts_more_than_its_words(search, corpus, record):
    same = record("Exams ship nightly", number=1, name="same")
    words = record("Tests deploy", "Tests deploy, tests deploy.", number=2, name="words")
    others = [record(f"Rule number {n}", number=n + 3, name=f"n{n}") for n in range(20)]
    store, text = corpus(same, words, *others), "Tests deploy nightly"
    assert names(search(store, text, ScriptedEmbedder(SAME, alike=0.95)))[0] == "same"
    assert names(search(store, text, ScriptedEmbedder(SAME, alike=1.01)))[0] == "words"


def test_only_a_model_that_tells_what_is_alike_is_asked_twice(search, store):
    for alike, asked in ((None, [("tests",)]), (0.9, [("tests",), ("tests",)])):
        embedder = ScriptedEmbedder(SAME, alike=alike)
        search(store, "tests", embedder)
        assert [texts for texts, _ in embedder.asked if texts == ("tests",)] == asked


def test_no_word_in_the_question_no_hits_and_nothing_is_sent(search, store):
    embedder = ScriptedEmbedder()
    for text in ("", "***", "。、"):
        assert search(store, text, embedder).hits == ()
    assert embedder.asked == []


def test_filters_hold_for_what_is_found_by_meaning(search, store):
    def found(**filters):
        return set(names(search(store, Query("ship", **filters))))

    assert found() >= {"deploy"}
    assert not found() & {"old", "elsewhere"}
    assert "old" in found(include_retired=True)
    assert "elsewhere" in found(projects=frozenset({"another"}))
    assert found(scope=Scope.USER) == {"mine"}
    assert found(kind=Kind.GOTCHA) <= {"cache"}
    assert found(section="Nowhere") == set()
    assert len(search(store, Query("ship", limit=1)).hits) == 1
    assert search(store, Query("ship", limit=0)).hits == ()


def test_filters_apply_before_the_limit(search, corpus, record):
    many = [record(f"ship {n}", number=n, name=f"n{n}", retired=True) for n in range(POOL * 2)]
    wanted = record("deploy it", number=500, name="wanted", kind=Kind.GOTCHA)
    others = [record(f"ship it {n}", number=n + 600, name=f"o{n}") for n in range(POOL * 2)]
    store = corpus(*many, wanted, *others)
    assert names(search(store, Query("ship", limit=1, kind=Kind.GOTCHA))) == ["wanted"]


def test_the_words_answer_when_the_question_cannot_be_embedded(search, store):
    embedder = ScriptedEmbedder(SAME, deque([ProviderError("slow down")]))
    results = search(store, "tests", embedder)
    assert (names(results), results.degraded) == (["nox"], "found by words alone: slow down")
    assert names(search(store, "exams", embedder))[0] == "nox"


def test_a_question_is_not_waited_for_without_end(search, store):
    class Stuck(ScriptedEmbedder):
        def embed(self, texts, *, is_question=False):
            leave.wait(20)
            return super().embed(texts, is_question=is_question)

    leave = threading.Event()
    try:
        results = search(store, "tests", meaning=Meaning(Stuck(), patience=0.05))
        assert names(results) == ["nox"]
        assert results.degraded == "found by words alone: the embedding of the question took longer than 0.05 s"
    finally:
        leave.set()


def test_a_mistake_in_the_settings_surfaces(search, store):
    with pytest.raises(ConfigurationError, match="wrong key"):
        search(store, "tests", ScriptedEmbedder(faults=deque([ConfigurationError("wrong key")])))


def test_background_embedding_that_fails_is_tried_again_at_the_next_search(search, store):
    embedder = ScriptedEmbedder(SAME, deque([None, ProviderError("overloaded")]))
    meaning = Meaning(embedder)
    first = search(store, "exams", meaning=meaning)
    assert first.hits == ()
    assert first.degraded == "5 of 5 memories are found by words alone so far: overloaded"
    second = search(store, "exams", meaning=meaning)
    assert (names(second)[0], second.degraded) == ("nox", None)


def test_what_is_made_while_nobody_waits_is_there_for_the_next_search(search, store):
    class Slow(ScriptedEmbedder):
        def embed(self, texts, *, is_question=False):
            if not is_question:
                go.wait(20)
            return super().embed(texts, is_question=is_question)

    go = threading.Event()
    meaning = Meaning(Slow(SAME), patience=0.5)
    results = search(store, "tests", meaning=meaning)
    assert names(results) == ["nox"]
    assert results.degraded == "5 of 5 memories are found by words alone so far"
    go.set()
    meaning._making.join(20)
    assert search(store, "exams", meaning=meaning).degraded is None


@pytest.mark.slow
def test_a_search_that_ends_its_process_has_made_some_vectors(search, corpus, record, cache):
    """However slow the model: commands that are over in a moment would otherwise never come to an end."""

    class Slow(ScriptedEmbedder):
        def embed(self, texts, *, is_question=False):
            if not is_question:
                time.sleep(0.7)
            return super().embed(texts, is_question=is_question)

    store = corpus(*(record(f"Rule {n}", number=n, name=f"n{n}") for n in range(40)))
    assert search(store, "rule", Slow(batch=8)).degraded == "32 of 40 memories are found by words alone so far"
    assert len(cache.load("scripted", [record.blob for record in store.records()])) == 8


def test_a_memory_without_a_vector_keeps_its_place_by_words(search, store, cache):
    embedder = ScriptedEmbedder(SAME)
    search(store, "tests", embedder)
    known = cache.load(embedder.model, [record.blob for record in store.records()])
    cache._known[embedder.model] = dict(list(known.items())[1:])
    embedder.faults.extend([None, ProviderError("overloaded")])
    assert names(search(store, "tests nox", embedder, cache=cache))[0] == "nox"


def test_vectors_are_made_once_and_only_for_what_is_new(search, history, record, tmp_path):
    before, after = record("Use nox", number=1, name="a"), record("Use tox", number=2, name="b")
    at = history([before], [before, after])
    embedder = ScriptedEmbedder()
    for number in (0, 0, 1):
        search(at(number), "nox", embedder, cache=VectorCache(tmp_path / "kept", "here"))
    assert [texts for texts, is_question in embedder.asked if not is_question] == [("Use nox",), ("Use tox",)]


def test_vectors_of_another_model_or_dimension_are_not_used(search, store, cache):
    search(store, "tests", ScriptedEmbedder(SAME))
    blobs = [record.blob for record in store.records()]
    assert cache.load("another", blobs) == {}
    wider = ScriptedEmbedder(SAME, dimension=600)
    assert search(store, "exams", wider).degraded is None
    assert {len(row) for row in cache.load(wider.model, blobs).values()} == {2400}


def test_vectors_from_elsewhere_and_damaged_ones_are_made_anew(search, store, tmp_path):
    folder = tmp_path / "parsed"
    search(store, "tests")
    blobs = [record.blob for record in store.records()]
    assert VectorCache(folder, "here").load("scripted", blobs)
    assert VectorCache(folder, "another machine").load("scripted", blobs) == {}
    (file,) = folder.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_bytes(b"no database" * 1000)
    assert names(search(store, "exams", cache=VectorCache(folder, "here")))[0] == "nox"
    assert VectorCache(folder, "here").load("scripted", blobs)


def test_vectors_that_are_none_are_made_anew(search, store, cache):
    search(store, "tests")
    blobs = [record.blob for record in store.records()]
    for value in (float("nan"), 1e30, 0.0):
        cache.save("scripted", {blobs[0]: array("f", [value] * 512)})
        cache._known.clear()
        assert names(search(store, "exams", cache=cache))[0] == "nox"
        assert cache.load("scripted", blobs[:1])[blobs[0]] != array("f", [value] * 512).tobytes()


def filled(embedder, store, cache):
    told = []
    count = Meaning(embedder).fill([Stock(list(store.records()), cache)], lambda *progress: told.append(progress))
    return count, told


def test_everything_is_embedded_at_once_active_memories_first(store, cache):
    embedder = ScriptedEmbedder(batch=4)
    assert filled(embedder, store, cache) == (6, [(4, 6), (6, 6)])
    assert embedder.asked[-1][0][-1] == "Deploy to the old cluster"
    assert filled(embedder, store, cache) == (0, [])


def test_embedding_everything_goes_on_where_it_failed(store, cache):
    embedder = ScriptedEmbedder(batch=4, faults=deque([None, None, ProviderError("overloaded")]))
    with pytest.raises(ProviderError, match="overloaded"):
        filled(embedder, store, cache)
    assert filled(embedder, store, VectorCache(cache._cache._path.parent, "here")) == (2, [(2, 2)])


def test_vectors_of_another_dimension_are_made_anew_at_once(store, cache):
    filled(ScriptedEmbedder(), store, cache)
    assert filled(ScriptedEmbedder(dimension=600), store, cache)[0] == 6


def test_a_place_that_cannot_be_written_costs_nothing_but_time(search, store, tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert names(search(store, "exams", cache=VectorCache(tmp_path / "file", "here")))[0] == "nox"


def test_an_empty_store_and_one_memory(search, corpus, record):
    assert search(corpus(), "tests").hits == ()
    assert names(search(corpus(record("Run the tests", name="one")), "exams")) == ["one"]


def test_fusion_orders_by_both_halves():
    fused = fuse({"a": 90.0, "b": 50.0, "c": 48.0}, {"a": 0.5, "b": 0.1, "c": 0.9})
    assert sorted(fused, key=fused.__getitem__, reverse=True) == ["a", "c", "b"]


def test_fusion_keeps_the_scores_on_which_both_agree():
    words = {"a": 90.0, "b": 50.0, "c": 10.0}
    for weight in (0.0, 0.3, 0.5, 1.0):
        assert fuse(words, {key: value / 100 for key, value in words.items()}, weight) == pytest.approx(words)


def test_fusion_weighs_what_meaning_counts():
    words, meaning = {"a": 90.0, "b": 10.0}, {"a": 0.1, "b": 0.9}
    assert fuse(words, meaning, 0.3)["a"] > fuse(words, meaning, 0.3)["b"]
    assert fuse(words, meaning, 0.8)["a"] < fuse(words, meaning, 0.8)["b"]


def test_fusion_takes_what_is_not_known_for_average():
    fused = fuse({"a": 80.0, "b": 60.0}, {"b": 0.9, "c": 0.1})
    assert fused["a"] > fused["c"]
    assert fuse({"a": 80.0, "b": 60.0}, {}) == pytest.approx({"a": 75.0, "b": 65.0})
    assert fuse({}, {"a": 0.9, "b": 0.7}) == pytest.approx({"a": 90.0, "b": 70.0})
    assert fuse({}, {}) == {}
