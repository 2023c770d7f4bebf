"""What is found, in which order, and how it is shown."""

from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from filelock import FileLock
from hypothesis import given, settings
from hypothesis import strategies as st

from invincat.memory.entry import Confidence, Kind, Memory, Tier
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


def test_what_is_found_in_traditional_characters_is_shown_in_them(index: Index, corpus, record) -> None:
    body = "一" * MAX_SNIPPET + "翻譯檔放在這裡。" + "一" * MAX_SNIPPET
    store = corpus(record("機能のテスト", body), record("Deploy on Fridays", number=1))
    (hit,) = index.search(store, Query("翻译")).hits
    assert hit.why == ("body: 翻譯",)
    assert "翻譯檔" in hit.snippet
    assert index.search(store, Query("機能")).hits[0].why[0] == "title: 機能"


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgress", {"postgres"}),
        ("postgers", {"postgres"}),
        ("depnedencies of postgres", {"postgres", "deps"}),
        ("orderrepo", {"snake", "camel", "kebab"}),
        ("OrderRepo", {"snake", "camel", "kebab", "apart"}),
        ("testsuite", {"suite"}),
        ("precommit", {"hook"}),
        ("--no-verify", {"hook"}),
        ("E501", {"lint"}),
        ("v3.11", {"python"}),
        ("cahe", set()),
        ("orderxyz", set()),
        ("get_or_create", {"getter"}),
    ],
)
def test_what_nobody_wrote_is_taken_for_what_was_meant(index: Index, corpus, record, text: str, expected) -> None:
    titles = {
        "postgres": "Postgres is started by compose",
        "deps": "Pin all dependencies",
        "snake": "Use order_repo for reads",
        "camel": "OrderRepo writes",
        "kebab": "The order-repo package is frozen",
        "apart": "An order in a repo stays",
        "suite": "The test suite takes a minute",
        "hook": "pre-commit must not be skipped with --no-verify",
        "lint": "E501 is off",
        "python": "Support Python v3.11 and up",
        "cache": "A cache or two",
        "getter": "Call get_or_create once",
    }
    store = corpus(*(record(title, name=name, number=n) for n, (name, title) in enumerate(titles.items())))
    found = names(index.search(store, Query(text, limit=20)))
    assert set(found) == expected
    assert not expected or index.search(store, Query(text)).hits[0].why


def test_a_guess_never_stands_in_for_a_word_that_is_there(index: Index, corpus, record) -> None:
    store = corpus(record("Correction of rules", number=1), record("Collection of stamps", number=2))
    assert names(index.search(store, Query("correction"))) == ["correction-of-rules"]
    assert names(index.search(store, Query("collection"))) == ["collection-of-stamps"]
    assert index.search(store, Query("colection")).total == 1


def test_words_side_by_side_count_for_more(index: Index, corpus, record) -> None:
    store = corpus(
        record("Release the branch and tag the cache", number=3, name="apart"),
        record("Cache the tag and branch the release", number=2, name="together"),
    )
    assert names(index.search(store, Query("cache tag")))[0] == "together"
    assert names(index.search(store, Query("release branch")))[0] == "apart"


def test_what_is_nearly_the_question_comes_before_what_only_has_its_words(index: Index, corpus, record) -> None:
    """Function words count there, too: the same rule in another wording is what was meant."""
    store = corpus(
        record("Deploy, cache, branch", "Deploy: cache. Branch: deploy, cache.", number=2, name="words"),
        record("Never deploy the cache on the branch", number=3, name="same"),
    )
    assert names(index.search(store, Query("Do not deploy the cache on the branch")))[0] == "same"
    assert names(index.search(store, Query("deploy cache branch")))[0] == "words"


def test_confidence_orders_equals(index: Index, corpus, record) -> None:
    store = corpus(
        *(record("cache rules", number=n, name=c.value, confidence=c) for n, c in enumerate(reversed(Confidence))),
        record("cache invalidation rules", number=9, name="better", confidence=Confidence.LOW, tier=Tier.COLD),
    )
    assert names(index.search(store, Query("cache rules")))[:3] == ["high", "medium", "low"]
    assert names(index.search(store, Query("invalidation rules")))[0] == "better"


def test_the_past_is_searched_beside_the_kept_index_which_stays_where_it_is(
    index: Index, directory: Path, history, record
) -> None:
    old = [record(f"cache rule {n} of old", number=n, name=f"n{n}") for n in range(60)]
    new = [record(f"cache rule {n}", number=n, name=f"n{n}", retired=n < 5) for n in range(60)]
    at = history(old, new)
    index.refresh(at(1))
    kept = (directory / "stamp.json").read_bytes()
    for _ in range(2):
        assert index.search(at(0), Query("old"), is_past=True) == Index(directory / "x", "y").search(
            at(0), Query("old")
        )
        assert index.search(at(0), Query("old"), is_past=True).total == 60
        assert index.search(at(1), Query("old")).total == 0
        assert index.search(at(1), Query("cache")).total == 55
    assert (directory / "stamp.json").read_bytes() == kept
    assert Index(directory / "none", "here").search(at(0), Query("old"), is_past=True).total == 60
    assert not (directory / "none").exists()


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


@settings(max_examples=40, deadline=None)
@given(
    before=RECORDS,
    now=RECORDS,
    asked=st.lists(st.sampled_from([*WORDS, "chache", "releasebranch", "测试", "of"]), min_size=1, max_size=4),
    limit=st.integers(1, 15),
    is_told=st.booleans(),
)
def test_nothing_retired_is_ever_in_a_default_answer(
    tmp_path_factory, history, record, before, now, asked, limit, is_told
) -> None:
    """With a fresh index, with one of another commit, and with one that nobody may bring up to date."""
    stored = [
        [record(" ".join(words), name=f"n{n}", number=n, retired=r, tier=t) for n, (words, r, t) in enumerate(version)]
        for version in (before, now)
    ]
    at = history(*stored)
    folder = tmp_path_factory.mktemp("retired") / "index"
    Index(folder, "here").refresh(at(0))
    corpus = at(1) if is_told else Untold(at(1))
    with FileLock(folder / "lock"), pytest.MonkeyPatch.context() as patch:
        patch.setattr("invincat.recall.index.PATIENCE", 0.0)
        stale = Index(folder, "here").search(corpus, Query(" ".join(asked), limit=limit))
    fresh = Index(folder, "here").search(corpus, Query(" ".join(asked), limit=limit))
    active = {one.path for one in corpus.records() if one.memory.is_active}
    for results in (stale, fresh):
        assert {hit.path for hit in results.hits} <= active
        assert {hit.status for hit in results.hits} <= {"active"}
        assert len(results.hits) <= min(limit, results.total)
    assert is_told is False or stale == fresh


class Untold:
    """A corpus that cannot tell what changed."""

    def __init__(self, corpus) -> None:
        self.tip, self.records, self.read, self.find = corpus.tip, corpus.records, corpus.read, corpus.find

    def is_purged(self) -> bool:
        return False

    def changes(self, since: str) -> None:
        return None


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


def test_an_index_of_many_parts_answers_as_one(tmp_path: Path, corpus, record, monkeypatch: pytest.MonkeyPatch) -> None:
    store = corpus(*(record(f"{WORDS[n % 7]} {WORDS[n % 5]} rule {n}", number=n) for n in range(20)))
    whole = Index(tmp_path / "whole", "here")
    expected = [whole.search(store, Query(f"{word} rule")) for word in WORDS]
    monkeypatch.setattr("invincat.recall.shelf._SEGMENT_SIZE", 3)
    parts = Index(tmp_path / "parts", "here")
    assert [parts.search(store, Query(f"{word} rule")) for word in WORDS] == expected
    assert len(list((tmp_path / "parts").glob("*/*.seg"))) == 7
