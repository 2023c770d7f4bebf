"""What is found, in which order, and how it is shown."""

from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invincat.memory.entry import Kind, Memory, Tier
from invincat.memory.scope import Scope
from invincat.recall.hit import MAX_SNIPPET, Hit, Results, merge, snippet
from invincat.recall.index import Index
from invincat.recall.query import Query

WORDS = ["nox", "tests", "deploy", "cache", "lint", "release", "branch"]


def names(results: Results) -> list[str]:
    return [hit.name for hit in results.hits]


def test_a_hit_tells_what_it_is_and_why(index: Index, corpus, record) -> None:
    store = corpus(
        record(
            "Run the tests through nox",
            "It drives the matrix.\nSessions of nox are in noxfile.py.",
            section="Testing",
            tags=("nox",),
            applies_to=("noxfile.py", "tests/**"),
            quotes=("nox.options.sessions",),
            tier=Tier.HOT,
        ),
        record("Deploy on Fridays", number=1),
    )
    results = index.search(store, Query("nox"))
    assert (results.total, results.at, results.degraded) == (1, "v0", None)
    (hit,) = results.hits
    assert (hit.name, hit.path) == ("run-the-tests-through-nox", "memory/testing/run-the-tests-through-nox.md")
    assert (hit.section, hit.scope, hit.tier, hit.status, hit.kind) == (
        "Testing",
        "project",
        "hot",
        "active",
        "convention",
    )
    assert hit.why == (
        "title: nox",
        "name: run-the-tests-through-nox",
        "tags: nox",
        "evidence: nox.options.sessions",
        "body: nox",
    )
    assert hit.snippet == "Sessions of nox are in noxfile.py."
    assert index.search(store, Query("noxfile.py")).hits[0].why == ("applies_to: noxfile.py", "body: noxfile.py")
    assert not isinstance(hit, Memory)


@pytest.mark.parametrize(
    "text",
    ["", "   ", "*", "*:*", "?", "~", '"', "()", "... !!! ---", "。、「」", "___", "\x00", "[{", "^^ && ||"],
)
def test_no_word_no_hits(index: Index, corpus, record, text: str) -> None:
    assert index.search(corpus(record("Anything at all", "a b c")), Query(text)).hits == ()


@pytest.mark.parametrize(
    "text",
    [
        "title:nox",
        "nox*",
        "nox~2",
        '"nox',
        "nox AND absentword",
        "NOT nox",
        "nox OR",
        "+nox -tests",
        "[nox TO zzz]",
        "nox^5",
        "{nox",
        "facets:active nox",
    ],
)
def test_query_syntax_is_data(index: Index, corpus, record, text: str) -> None:
    store = corpus(record("Use nox"), record("Deploy on Fridays", number=1))
    assert names(index.search(store, Query(text))) == ["use-nox"]


@pytest.mark.parametrize("text", ["path:memory", "facets:true", "*eploy", "fridaysabsent AND nothing", "key:2026"])
def test_fields_of_the_index_cannot_be_asked(index: Index, corpus, record, text: str) -> None:
    assert index.search(corpus(record("Deploy on Fridays")), Query(text)).hits == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("如何运行测试", "zh"),
        ("测试", "zh"),
        ("テストの実行方法", "ja"),
        ("빌드 캐시", "ko"),
        ("pytest 怎么跑", "glued"),
        ("pytest", "glued"),
        ("rotate credentials zzzunknownzzz", "en"),
        ("rotat credentials", "en"),
        ("锁", "single"),
    ],
)
def test_languages_and_typos(index: Index, corpus, record, text: str, expected: str) -> None:
    store = corpus(
        record("运行测试前先同步依赖", name="zh", number=1),
        record("テストを実行する前に同期する", name="ja", number=2),
        record("빌드 캐시를 지우지 않는다", name="ko", number=3),
        record("用pytest跑单元", name="glued", number=4),
        record("Rotate all credentials every month", name="en", number=5),
        record("提交文件锁定", name="single", number=6),
    )
    assert names(index.search(store, Query(text)))[0] == expected


def test_odd_and_endless_text_is_searched_like_any_other(index: Index, corpus, record) -> None:
    store = corpus(record("Use nox", "A" * 4000), record("Deploy on Fridays", number=1))
    page = "nox " + " ".join(f"word{n}" for n in range(20_000))
    for text in (page, "A" * 4000, "A" * 100_000 + " nox", "nox \udcff\ud800 \x00", "nox\n\n\u200b\u202e"):
        assert names(index.search(store, Query(text))) == ["use-nox"]


def test_filters_apply_before_the_limit(index: Index, corpus, record) -> None:
    many = [record(f"cache cache cache {n}", number=n, kind=Kind.GOTCHA, retired=n % 2 == 0) for n in range(30)]
    few = [
        record("something about a cache in a long title of many words", number=40, section="Build & CI"),
        record("one more note that says cache among many other words", number=41, scope=Scope.USER),
    ]
    store = corpus(*many, *few)
    assert set(names(index.search(store, Query("cache", limit=3, kind=Kind.CONVENTION)))) == {few[0].name, few[1].name}
    assert names(index.search(store, Query("cache", limit=1, scope=Scope.USER))) == [few[1].name]
    for section in ("build & ci", "BUILD & CI", "build-ci"):
        assert names(index.search(store, Query("cache", limit=1, section=section))) == [few[0].name]
    assert index.search(store, Query("cache", section="Build")).hits == ()
    assert index.search(store, Query("cache", limit=2)).total == 17
    everything = index.search(store, Query("cache", limit=100, include_retired=True))
    assert everything.total == len(everything.hits) == 32
    assert {hit.status for hit in everything.hits} == {"active", "archived"}
    assert index.search(store, Query("cache", limit=0)).hits == ()


def test_a_section_that_has_no_slug_is_compared_as_written(index: Index, corpus, record) -> None:
    here = record("cache one", section="!!!", number=1, name="one")
    other = record("cache two", section="???", number=2, name="two")
    here, other = (msgspec.structs.replace(r, path=f"memory/x/{r.name}.md") for r in (here, other))
    assert names(index.search(corpus(here, other), Query("cache", section="!!!"))) == ["one"]


def test_the_tier_orders_equals_and_lifts_nothing_irrelevant(index: Index, corpus, record) -> None:
    store = corpus(
        record("cache rules", number=1, tier=Tier.COLD, name="cold"),
        record("cache rules", number=2, tier=Tier.HOT, name="hot", kind=Kind.CONSTRAINT),
        record("cache invalidation on release", number=3, tier=Tier.COLD, name="relevant"),
        record("release notes", number=4, tier=Tier.HOT, name="beside"),
        record("something else", number=5, tier=Tier.HOT, name="irrelevant"),
    )
    assert names(index.search(store, Query("cache rules"))) == ["hot", "cold", "relevant"]
    assert names(index.search(store, Query("invalidation on release")))[0] == "relevant"


def test_ties_are_broken_by_time_then_id(index: Index, corpus, record) -> None:
    first = record("cache", number=1, name="aaa")
    later = first.memory.updated_at + timedelta(days=1)
    store = corpus(
        record("cache", number=3, name="ccc"),
        record("cache", number=2, name="bbb"),
        record("cache", number=9, name="ddd", updated_at=later),
        first,
    )
    assert names(index.search(store, Query("cache"))) == ["ddd", "aaa", "bbb", "ccc"]
    assert names(index.search(store, Query("cache", limit=2))) == ["ddd", "aaa"]


RECORDS = st.lists(
    st.tuples(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), st.booleans(), st.sampled_from(Tier)),
    max_size=12,
)


@settings(max_examples=20, deadline=None)
@given(versions=st.lists(RECORDS, min_size=2, max_size=4), asked=st.lists(st.sampled_from(WORDS), min_size=1))
def test_an_updated_index_answers_as_one_built_afresh(tmp_path_factory, history, record, versions, asked) -> None:
    base: Path = tmp_path_factory.mktemp("equal")
    stored = [
        [
            record(" ".join(words), name=f"n{n}", number=n, retired=retired, tier=tier)
            for n, (words, retired, tier) in enumerate(version)
        ]
        for version in versions
    ]
    at = history(*stored)
    updated = Index(base / "updated", "here")
    for number in range(len(versions)):
        query = Query(" ".join(asked), limit=5)
        answer = updated.search(at(number), query)
        assert answer == Index(base / f"fresh{number}", "here").search(at(number), query)
        assert all(hit.status == "active" for hit in answer.hits)
        active = [r for r in at(number).records() if r.memory.is_active]
        expected = {r.path for r in active if not set(r.memory.title.split()).isdisjoint(asked)}
        assert answer.total == len(expected)
        assert {hit.path for hit in answer.hits} <= expected


def test_the_snippet_is_the_telling_line_and_short() -> None:
    worth = {"nox": 3.0, "matrix": 2.0, "run": 1.0}
    assert snippet("first line\nrun it\nnox has a matrix\nnox", worth) == "nox has a matrix"
    assert snippet("\n\nnothing here\nnor here", worth) == "nothing here"
    assert snippet("", worth) == ""
    long = "x " * 200 + "nox" + " y" * 200
    cut = snippet(long, worth)
    assert len(cut) == MAX_SNIPPET
    assert "nox" in cut
    assert cut.startswith("…")
    assert cut.endswith("…")
    assert len(snippet("nox" + "z" * 4000, worth)) <= MAX_SNIPPET


def test_merged_results_keep_the_order_of_stores_on_ties() -> None:
    def hit(name: str, score: float) -> Hit:
        fields = ("path", "id", "blob", "title", "kind", "section", "scope", "tier", "status", "snippet")
        return Hit(name=name, score=score, why=(), **dict.fromkeys(fields, ""))

    project = Results((hit("a", 9.0), hit("b", 5.0)), 7, "v1")
    user = Results((hit("c", 9.0), hit("d", 6.0)), 2, "v2", "slow")
    merged = merge([project, user], 3)
    assert [h.name for h in merged.hits] == ["a", "c", "d"]
    assert (merged.total, merged.at, merged.degraded) == (9, "v1", "slow")
    assert merge([], 5) == Results((), 0, None)


def test_scores_of_a_small_store_can_be_compared_with_those_of_a_big_one(tmp_path: Path, corpus, record) -> None:
    big = corpus(record("Use nox for tests"), *(record(f"Other rule {n}", number=n) for n in range(1, 60)))
    small = corpus(record("Use nox for tests"))
    query = Query("nox tests")
    (of_big, *_), (of_small,) = (
        Index(tmp_path / f"{n}", "here").search(store, query).hits for n, store in enumerate((big, small))
    )
    assert of_small.score == pytest.approx(of_big.score, rel=0.05)
    assert 0 < of_small.score <= 100
