"""What each operation does to a view (RULES 1, 2, 6.2)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from invincat.memory.change import rate
from invincat.memory.entry import BANDS, Kind, Memory, Tier
from invincat.memory.naming import derive_name, is_name, section_slug, settle, wanted_name
from invincat.memory.refusal import Refused
from invincat.memory.register import tick
from invincat.memory.scope import Scope
from invincat.memory.step import Step
from invincat.memory.view import Problem, View, build, record_of
from tests.memory.factories import MODEL, NOW, context, create, ended, ids, memory, quick, record, run, ulid, view_of

LATER = NOW + timedelta(days=3)
TWO = view_of("old", "new")


def refused(view: View, item: dict[str, Any], **how: Any) -> Refused:
    """The refusal of an operation that must be refused."""
    with pytest.raises(Refused) as caught:
        run(view, item, context(**how))
    return caught.value


def supersede(id: str = "old", **fields: Any) -> dict[str, Any]:
    """A supersede operation."""
    return {"op": "supersede", "id": id, "reason": "nox drives the matrix now", **fields}


def subject(step: Step) -> Memory:
    """The memory after a step."""
    assert step.subject is not None
    return step.subject.memory


def found(view: View, name: str) -> Memory:
    """A memory of a view."""
    held = view.find(name)
    assert held is not None
    return held.memory


# --- guards (RULES 1.4) ---


def test_the_guards_stand_in_order() -> None:
    """RULES 1.4: same, then old already invalid, then successor missing or invalid."""
    retired = build(None, [*TWO, record("gone", id=ulid(9), **_end())])
    for name in ("old", ulid(1), ulid(1).lower()):
        assert "cannot supersede itself" in refused(retired, supersede(by=name)).message
    # the same and invalid: the first guard speaks
    assert "cannot supersede itself" in refused(retired, supersede("gone", by="gone")).message
    # invalid and the successor missing or invalid: the second guard speaks
    assert "already archived" in refused(retired, supersede("gone", by="nowhere")).message
    assert "already archived" in refused(retired, supersede("gone", by="new")).message
    missing, invalid = refused(retired, supersede(by="nowhere")), refused(retired, supersede(by="gone"))
    assert "does not exist" in missing.message
    assert "itself archived" in invalid.message
    assert {fault.rule for fault in (missing, invalid)} == {"RULES 1.4"}
    assert (missing.field, refused(retired, supersede("gone", by="new")).field) == ("by", "id")


def _end() -> dict[str, Any]:
    return {"invalid_at": NOW, "tombstone": "> Archived on 2026-11-29: unsure"}


def test_an_ended_memory_names_its_successor() -> None:
    """RULES 1.4: "old is already invalid -> error naming its successor"."""
    view = run(TWO, supersede(by="new")).view
    message = refused(view, supersede(by="new")).message
    assert "superseded by new" in message
    assert "superseded by new" in refused(view, {"op": "archive", "id": "old", "reason": "r"}).message


def test_what_does_not_exist_is_named() -> None:
    """RULES 2: `id` takes an id or a name."""
    for op, fields in {"archive": {}, "delete": {}, "rescore": {"score": 1}, "retier": {"tier": "hot"}}.items():
        fault = refused(TWO, {"op": op, "id": "nowhere", "reason": "r", **fields})
        assert (fault.field, "nowhere" in fault.message) == ("id", True)


# --- the end of a memory (RULES 1.1 to 1.5) ---


def test_superseding_writes_both_ends_and_nothing_else() -> None:
    """RULES 1.3, 2: `valid_from` and `updated_at` of the old one never change."""
    step = run(TWO, supersede(by="new"), context(LATER))
    old = found(TWO, "old")
    assert subject(step) == replace(
        old,
        invalid_at=LATER,
        superseded_by=ulid(2),
        tombstone=f"> Superseded by [new](../testing/new.md) ({ulid(2)}) on 2026-12-02: nox drives the matrix now",
    )
    assert found(step.view, "new") == found(TWO, "new")


def test_superseding_ends_not_before_the_successor_holds() -> None:
    """RULES 1.3: the later of now and the successor's `valid_from`, never before its own."""
    view = build(None, [record("old", id=ulid(1), valid_from=LATER), record("new", id=ulid(2), title="New")])
    assert subject(run(view, supersede(by="new"))).invalid_at == LATER
    view = build(None, [record("old", id=ulid(1)), record("new", id=ulid(2), title="New", valid_from=LATER)])
    assert subject(run(view, supersede(by="new"))).invalid_at == LATER


def test_archiving_ends_not_before_it_began() -> None:
    """RULES 1.3."""
    view = build(None, [record("old", valid_from=LATER)])
    assert subject(run(view, {"op": "archive", "id": "old", "reason": "r"})).invalid_at == LATER


def test_the_tombstone_follows_the_full_body() -> None:
    """RULES 1.5: not a snippet, not a title."""
    body = "\n".join(f"line {n}" for n in range(300))
    view = build(None, [record("old", body=body)])
    done = subject(run(view, {"op": "archive", "id": "old", "reason": "unsure since the move"}, context(LATER)))
    assert done.body == body
    assert done.tombstone == "> Archived on 2026-12-02: unsure since the move"
    assert done.updated_at == NOW


def test_a_successor_made_with_it_inherits_section_kind_and_score() -> None:
    """RULES 2: the fields of create; what they leave out is as it was."""
    view = build(None, [record("old", kind=Kind.CONSTRAINT, score=90, tier=Tier.HOT, section="Build")])
    step = run(view, supersede(content="Use nox. It works."))
    assert step.successor is not None
    fresh = step.successor.memory
    assert (fresh.kind, fresh.section, fresh.score, fresh.title, fresh.body) == (
        *(Kind.CONSTRAINT, "Build", 90),
        *("Use nox", "It works."),
    )
    assert subject(step).superseded_by == fresh.id
    assert step.failure is None


def test_the_tombstone_links_to_where_the_successor_stands() -> None:
    """RULES 1.5, 6.4: also when its id is less than that of the memory that has the name it wants."""
    view = build(None, [record("use-nox", id=ulid(1 << 90)), record("old", id=ulid(5), title="Old")])
    step = run(view, supersede(content="Use nox"), context(start=7))
    assert step.successor is not None
    assert step.view.records[ulid(7)].path == step.successor.path == "memory/testing/use-nox.md"
    assert "[use-nox](../testing/use-nox.md)" in str(subject(step).tombstone)
    assert step.view.records[ulid(1 << 90)].name == f"use-nox--{ulid(1 << 90)[-6:].lower()}"


# --- a failed supersede (RULES 1.7) ---


@pytest.mark.parametrize(("target", "guard"), [("nowhere", "no memory"), ("gone", "already archived")])
def test_a_failed_supersede_keeps_the_new_memory_and_fails(target: str, guard: str) -> None:
    """RULES 1.7: committed as a create, the call fails; repeating it makes no second one."""
    view = build(None, [record("gone", **_end())])
    step = run(view, supersede(target, content="Use nox."))
    assert (step.op, len(step.written)) == ("create", 1)
    assert step.failure is not None
    assert guard in step.failure.message
    again = run(step.view, supersede(target, content="Use nox."), context(start=1 << 81))
    assert (again.op, again.written) == ("noop", ())
    assert again.failure is not None
    assert again.subject == step.subject


def test_a_failed_supersede_with_a_name_can_be_repeated() -> None:
    """RULES 1.7: an equal active memory is taken, also where the call gives it a name, which it then has."""
    item = supersede("nowhere", content="Use nox.", name="nox")
    step = run(TWO, item)
    again = run(step.view, item, context(start=1 << 81))
    assert (again.op, again.subject) == ("noop", step.subject)


def test_an_equal_active_memory_is_taken_as_the_successor() -> None:
    """RULES 1.7."""
    view = run(TWO, create("Use nox.")).view
    step = run(view, supersede(content="use NOX"), context(start=1 << 81))
    assert step.op == "supersede"
    assert len(step.written) == 1
    assert subject(step).superseded_by == found(view, "use-nox").id


def test_superseding_by_the_same_words_is_the_first_guard() -> None:
    """RULES 1.4, 1.7: nothing new is made of an equal text."""
    step = run(TWO, supersede(content="About old. It drives the version matrix."))
    assert step.op == "noop"
    assert step.failure is not None
    assert "itself" in step.failure.message


# --- names (RULES 1.6, 6.4) ---


@pytest.mark.parametrize("end", ["active", "archived", "superseded"])
def test_an_occupied_name_is_an_error_with_file_state_and_successor(end: str) -> None:
    """RULES 1.6: never a silent clobber."""
    view = {
        "active": TWO,
        "archived": run(TWO, {"op": "archive", "id": "old", "reason": "r"}).view,
        "superseded": run(TWO, supersede(by="new")).view,
    }[end]
    fault = refused(view, create("Something else.", name="old"))
    assert (fault.rule, fault.field) == ("RULES 1.6", "name")
    assert "memory/testing/old.md" in fault.message
    assert end in fault.message
    assert ("superseded by new" in fault.message) is (end == "superseded")


def test_a_retired_name_stays_occupied_until_it_is_deleted() -> None:
    """RULES 1.6: the way out works."""
    view = run(TWO, {"op": "archive", "id": "old", "reason": "r"}).view
    refused(view, create("Something else.", name="old"))
    step = run(view, {"op": "delete", "id": "old", "reason": "r"}, context(LATER))
    assert step.marker is not None
    assert step.removed == ("memory/testing/old.md",)
    assert step.view.markers[ulid(1)] == step.marker
    assert step.marker.updated_at == LATER
    assert run(step.view, create("Something else.", name="old")).view.find("old") is not None


def test_an_occupied_derived_name_gets_a_suffix() -> None:
    """RULES 1.6, 6.4: a name that was merely derived never collides."""
    view = run(View(), create("Use nox.", section="A")).view
    step = run(view, create("Use nox! It is quick.", section="B"), context(start=1 << 81))
    assert step.subject is not None
    assert step.subject.name == f"use-nox--{ulid(1 << 81)[-6:].lower()}"


def test_a_freed_name_goes_to_the_next() -> None:
    """RULES 6.4: in the same commit, and the step says so."""
    view = run(View(), create("Use nox.")).view
    view = run(view, create("Use nox! It is quick."), context(start=1 << 81)).view
    step = run(view, {"op": "delete", "id": "use-nox", "reason": "r"})
    assert [(old, now.path) for old, now in step.renamed] == [
        (f"memory/testing/use-nox--{ulid(1 << 81)[-6:].lower()}.md", "memory/testing/use-nox.md")
    ]
    assert step.removed == ("memory/testing/use-nox.md", step.renamed[0][0])
    assert found(step.view, "use-nox").id == ulid(1 << 81)


def test_names_of_files_that_are_no_memories_are_never_taken() -> None:
    """FORMAT "Tree": a bad file's name is never clobbered, with or without a suffix."""
    suffix = ulid(1 << 80)[-6:].lower()
    bad = [Problem("memory/testing/use-nox.md", "bad"), Problem(f"memory/testing/use-nox--{suffix}.md", "bad")]
    view = build(None, [], problems=bad)
    assert refused(view, create("Use nox.", name="use-nox")).rule == "RULES 1.6"
    step = run(view, create("Use nox."))
    assert step.written[0].path == f"memory/testing/use-nox--{ulid(1 << 80).lower()}.md"


def test_a_memory_in_the_wrong_folder_is_not_moved_onto_a_bad_file() -> None:
    """FORMAT "Tree": kept byte for byte by our commits."""
    stray = record("x", section="Testing")
    view = build(None, [replace(stray, path="memory/build/x.md")], problems=[Problem("memory/testing/x.md", "bad")])
    step = run(view, {"op": "archive", "id": "x", "reason": "r"})
    assert [written.path for written in step.written] == ["memory/build/x.md"]


@quick
@given(st.text(max_size=200), st.text(max_size=100))
def test_derived_names_are_legal(title: str, section: str) -> None:
    """FORMAT "Tree": ASCII slugs with single hyphens, never empty, never reserved."""
    name, folder = derive_name(title), section_slug(section)
    assert is_name(name)
    assert wanted_name(name) == name
    assert folder == "" or is_name(folder)


@quick
@given(st.sets(st.integers(0, 300).map(lambda n: ulid((n << 28) + n % 2)), max_size=8), st.sets(st.integers(0, 9)))
def test_settled_names_are_unique_and_can_be_read_back(wanting: set[str], blocking: set[int]) -> None:
    """RULES 6.4: the least id has the name, others a suffix, the whole id where that is taken."""
    blocked = {f"x--{id[-6:].lower()}" for n, id in enumerate(sorted(wanting)) if n in blocking}
    names = settle("x", wanting, blocked)
    assert set(names) == wanting
    assert len(set(names.values())) == len(names)
    assert not blocked & set(names.values())
    assert all(wanted_name(name) == "x" for name in names.values())
    if wanting:
        assert names[min(wanting)] == "x"


def test_a_fresh_name_is_the_one_it_will_have() -> None:
    """RULES 6.4: derived names depend on ids alone, not on who came first."""
    view = View()
    for make in (ids(1 << 90), ids(1 << 70), ids(1 << 80)):
        view = run(view, create(f"Use nox. {make()}"), replace_id(make())).view
    by_id = sorted(view.records)
    assert {id: view.records[id].name for id in by_id} == settle("use-nox", by_id)


def replace_id(id: str) -> Any:
    """A context whose next id is this."""
    return type(context())(now=NOW, new_id=lambda: id, scope=Scope.PROJECT, source=context().source)


# --- create ---


def test_defaults_are_those_of_the_format() -> None:
    """FORMAT: kind, confidence, score, times."""
    made = subject(run(View(), create("Use nox. It works."), context(LATER)))
    assert (made.title, made.body, made.kind, made.confidence) == ("Use nox", "It works.", "convention", "high")
    assert (made.score, made.tier, made.verdict, made.restores) == (50, "warm", "valid", 0)
    assert made.created_at == made.updated_at == made.last_scored_at == made.valid_from == LATER
    modelled = subject(run(View(), create("Use nox."), context(source=MODEL)))
    assert (modelled.confidence, modelled.source.actor, modelled.source.session) == (
        *("medium", "memory-agent"),
        MODEL.session,
    )
    mine = subject(run(View(), create("I like nox.", scope="user"), context(scope=Scope.USER)))
    assert (mine.kind, mine.scope) == ("preference", "user")


def test_valid_from_may_be_past_and_not_future() -> None:
    """FORMAT `valid_from`."""
    made = subject(run(View(), create("Use nox.", valid_from="2020-01-01T00:00:00Z")))
    assert made.valid_from.year == 2020
    assert made.created_at == NOW
    fault = refused(View(), create("Use nox.", valid_from="2026-11-29T10:00:01Z"))
    assert fault.field == "valid_from"


@pytest.mark.parametrize("at", [" a.py#L1", "a\x85b.py#L1", "a\u2028b.py#L1", "\ud800.py#L1", f"{'a' * 1000}#L1"])
def test_a_place_is_one_line_that_can_be_written(at: str) -> None:
    """FORMAT `source.evidence`: it stands in the file and in a trailer."""
    fault = refused(View(), create("Use nox.", evidence=[{"at": at}]))
    assert (fault.rule, fault.field) == ("FORMAT", "source.evidence.at")


@pytest.mark.parametrize("pattern", ["src/", "src/**", "*.py", "!src/a.py"])
def test_a_pattern_may_name_a_folder(pattern: str) -> None:
    """FORMAT `applies_to`: as git's own patterns, below the root."""
    assert subject(run(View(), create("Use nox.", applies_to=[pattern]))).applies_to == (pattern,)


def test_one_batch_is_of_one_scope() -> None:
    """RULES 7: never the user's scope by default, nor another than the store's."""
    assert refused(View(), create("Use nox.", scope="user")).field == "scope"


@pytest.mark.parametrize(
    "other", ["Use nox. It works.", "use NOX.\n\nIt  works", "Use nox. It works!", "Ｕse nox. It works"]
)
def test_an_equal_active_memory_makes_the_create_a_noop(other: str) -> None:
    """RULES 4 "Duplicates": equal after normalisation, and it says so."""
    view = run(View(), create("Use nox. It works.")).view
    step = run(view, create(other), context(start=1 << 81))
    assert (step.op, step.written, step.view) == ("noop", (), view)
    assert step.note
    assert "use-nox" in step.note


def test_an_equal_retired_memory_does_not_stop_a_create() -> None:
    """RULES 4 "Duplicates": active ones only; case 36: a new id. It may hold anew; the note says how it ended."""
    view = run(View(), create("Use nox.")).view
    view = run(view, {"op": "archive", "id": "use-nox", "reason": "no time"}).view
    step = run(view, create("use nox"), context(start=1 << 81))
    assert step.op == "create"
    assert step.subject is not None
    assert step.subject.name.startswith("use-nox--")
    assert "use-nox said this and is archived since 2026-11-29 (no time)" in str(step.note)
    assert "`invincat restore use-nox` undoes it" in str(step.note)


def test_what_a_deleted_memory_said_is_created_with_a_new_id() -> None:
    """Case 36; the note says that it was deleted, and why."""
    view = run(View(), create("Use nox.")).view
    gone = run(view, {"op": "delete", "id": "use-nox", "reason": "wrong"})
    step = run(gone.view, create("Use nox."), context(start=1 << 81))
    assert (step.op, step.note) == ("create", "this was deleted on 2026-11-29 (wrong)")
    assert step.subject is not None and gone.subject is not None
    assert step.subject.id != gone.subject.id


def test_an_equal_memory_is_found_while_one_of_several_is_active() -> None:
    """RULES 4 "Duplicates": also where hand-made files said it twice, and one of them ended."""
    view = build(None, [record("a", id=ulid(1)), record("b", id=ulid(2))])
    view = run(view, {"op": "archive", "id": "a", "reason": "r"}).view
    assert run(view, create("Run the tests through nox. It drives the version matrix.")).op == "noop"


# --- score and tier (RULES 2) ---


@quick
@given(
    st.integers(0, 100),
    st.none() | st.integers(0, 100),
    st.none() | st.sampled_from(Tier),
)
def test_score_and_tier_agree(old: int, score: int | None, tier: Tier | None) -> None:
    """RULES 2: score alone derives the tier, tier alone clamps the score, of both the tier wins."""
    new, band = rate(old, None, score, tier)
    low, high = BANDS[band]
    assert low <= new <= high
    assert band is tier or tier is None
    wish = old if score is None else score
    assert new == (wish if tier is None else min(max(wish, low), high))


RATINGS = [
    ({"score": 29}, (29, "cold")),
    ({"score": 30}, (30, "warm")),
    ({"score": 69}, (69, "warm")),
    ({"score": 70}, (70, "hot")),
    ({"tier": "hot"}, (70, "hot")),
    ({"tier": "cold"}, (29, "cold")),
    ({"tier": "warm"}, (50, "warm")),
    ({"score": 100, "tier": "cold"}, (29, "cold")),
    ({"score": 0, "tier": "hot"}, (70, "hot")),
    ({"score": 75.0}, (75, "hot")),
]


@pytest.mark.parametrize(("fields", "expected"), RATINGS)
def test_ratings(fields: dict[str, Any], expected: tuple[int, str]) -> None:
    """RULES 2, the same for create and update."""
    made = subject(run(View(), create("Use nox.", **fields)))
    assert (made.score, made.tier) == expected
    done = run(view_of("x"), {"op": "update", "id": "x", **fields})
    assert (subject(done).score, subject(done).tier) == expected


def test_a_constraint_is_never_cold() -> None:
    """FORMAT `kind`: refused, not repaired."""
    view = build(None, [record("x", kind=Kind.CONSTRAINT)])
    for item in (
        create("Never push.", kind="constraint", score=10),
        {"op": "retier", "id": "x", "tier": "cold", "reason": "r"},
        {"op": "rescore", "id": "x", "score": 5, "reason": "r"},
        {"op": "update", "id": "x", "tier": "cold"},
    ):
        assert refused(view, item).field == "tier"


# --- update, rescore, retier (RULES 2, 6.2) ---


def test_only_the_register_that_is_written_moves_its_clock() -> None:
    """RULES 6.2: text moves `updated_at`, score moves `last_scored_at`, an end moves neither."""
    view = view_of("x")
    for item, moved in [
        ({"op": "update", "id": "x", "title": "Other"}, {"updated_at"}),
        ({"op": "update", "id": "x", "tags": ["a"]}, {"updated_at"}),
        ({"op": "update", "id": "x", "evidence": [{"at": "turn:1"}]}, {"updated_at"}),
        ({"op": "update", "id": "x", "confidence": "low"}, {"last_scored_at"}),
        ({"op": "update", "id": "x", "verdict": "outdated", "reason": "r"}, {"last_scored_at"}),
        ({"op": "update", "id": "x", "title": "Other", "score": 3}, {"updated_at", "last_scored_at"}),
        ({"op": "rescore", "id": "x", "score": 3, "reason": "r"}, {"last_scored_at"}),
        ({"op": "retier", "id": "x", "tier": "hot", "reason": "r"}, {"last_scored_at"}),
        ({"op": "archive", "id": "x", "reason": "r"}, set()),
    ]:
        done = subject(run(view, item, context(LATER)))
        clocks = {key for key in ("updated_at", "last_scored_at") if getattr(done, key) != NOW}
        assert clocks == moved, item
        assert all(getattr(done, key) == LATER for key in clocks)


def test_no_clock_goes_backwards() -> None:
    """RULES 6.2: max(now, previous + 1 s)."""
    assert tick(NOW, NOW) == NOW + timedelta(seconds=1)
    assert tick(NOW, LATER) == LATER + timedelta(seconds=1)
    assert tick(LATER, NOW) == LATER
    last = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert tick(NOW, last) == last, "no later one can be said"
    done = subject(run(view_of("x"), {"op": "update", "id": "x", "title": "T"}, context(NOW - timedelta(days=9))))
    assert done.updated_at == NOW + timedelta(seconds=1)


def test_a_clock_at_its_end_is_refused() -> None:
    """FORMAT: a value that can be wrong cannot be built."""
    late = NOW.replace(year=9998, month=12, day=31, hour=23, minute=59, second=59)
    view = build(None, [record("x", updated_at=late)])
    assert refused(view, {"op": "update", "id": "x", "title": "T"}).field == "updated_at"


def test_what_is_so_already_is_a_noop() -> None:
    """RULES 2: no commit without a change."""
    for item in (
        {"op": "update", "id": "x", "title": "About x"},
        {"op": "update", "id": "x", "tier": "warm"},
        {"op": "update", "id": "x", "content": "It drives the version matrix.", "title": "About x", "tags": []},
    ):
        assert run(view_of("x"), item).op == "noop"


@pytest.mark.parametrize("item", [{"op": "update", "title": "T"}, {"op": "rescore", "score": 90, "reason": "r"}])
def test_a_retired_memory_is_never_revived_by_an_edit(item: dict[str, Any]) -> None:
    """RULES 2: update and rescore leave the end as it is."""
    view = run(view_of("x", "y"), supersede("x", by="y")).view
    done = subject(run(view, {**item, "id": "x"}, context(LATER)))
    before = found(view, "x")
    assert (done.invalid_at, done.superseded_by, done.tombstone) == (
        before.invalid_at,
        before.superseded_by,
        before.tombstone,
    )


def test_an_update_to_what_another_says_is_refused() -> None:
    """RULES 4 "Duplicates"."""
    assert refused(TWO, {"op": "update", "id": "new", "title": "About old"}).rule == "RULES 4"


# --- restore and delete ---


def test_restore_undoes_an_end_and_counts() -> None:
    """RULES 1.2, 6.2: neither clock moves."""
    view = run(TWO, supersede(by="new")).view
    step = run(view, {"op": "restore", "id": "old", "reason": "it was right"}, context(LATER))
    assert subject(step) == replace(found(TWO, "old"), restores=1)
    assert refused(step.view, {"op": "restore", "id": "old", "reason": "r"}).rule == "RULES 1.2"


def test_restoring_beside_an_equal_memory_is_refused() -> None:
    """RULES 1.2: only while the result is sound."""
    view = build(None, [record("a", id=ulid(1), **_end()), record("b", id=ulid(2))])
    assert refused(view, {"op": "restore", "id": "a", "reason": "r"}).rule == "RULES 4"


def test_restoring_what_a_broken_cycle_kept_active_drops_the_edge() -> None:
    """RULES 6.4: restoring such a memory adds 1 to `restores`."""
    view = build(None, [record("a", set_aside=ulid(2)), record("b", id=ulid(2), title="B")])
    done = subject(run(view, {"op": "restore", "id": "a", "reason": "r"}))
    assert (done.set_aside, done.restores, done.is_active) == (None, 1, True)
    retired = subject(run(view, {"op": "archive", "id": "a", "reason": "r"}))
    assert (retired.set_aside, retired.restores, retired.is_active) == (None, 1, False)


def test_a_model_deletes_only_what_is_active() -> None:
    """RULES 2: column "who"."""
    view = run(TWO, {"op": "archive", "id": "old", "reason": "r"}).view
    item = {"op": "delete", "id": "old", "reason": "r"}
    assert refused(view, item, source=MODEL).rule == "RULES 2"
    assert run(view, item).op == "delete"
    assert run(view, {**item, "id": "new"}, context(source=MODEL)).op == "delete"


def test_deleting_again_finds_nothing() -> None:
    """RULES 6.3: the marker stands, the memory is gone."""
    view = run(TWO, {"op": "delete", "id": "old", "reason": "r"}).view
    assert refused(view, {"op": "delete", "id": ulid(1), "reason": "r"}).field == "id"
    assert set(view.markers) == {ulid(1)}
    assert view.find("old") is None


def test_ended_is_not_a_matter_of_the_successor() -> None:
    """RULES 1.1: an archived memory is out of the active ones."""
    view = build(None, [record("a"), record_of(ended(memory(id=ulid(2))), "memory/testing/b.md")])
    assert [held.name for held in view.active()] == ["a"]


# --- move and set, a person's (RULES 2, 6.2, 6.4) ---


def move(id: str = "old", **fields: Any) -> dict[str, Any]:
    """A move operation."""
    return {"op": "move", "id": id, "reason": "it is found there", **fields}


def test_a_move_is_one_step_with_the_old_path_gone() -> None:
    """FORMAT "Tree": name and section change by `move` alone; the text register's clock goes on (RULES 6.1, 6.2)."""
    step = run(TWO, move(name="nox", section="Build tools"), context(LATER))
    assert (step.op, step.removed) == ("move", ("memory/testing/old.md",))
    assert step.subject is not None
    assert (step.subject.path, step.subject.id) == ("memory/build-tools/nox.md", ulid(1))
    assert subject(step) == replace(found(TWO, "old"), section="Build tools", updated_at=LATER)
    assert step.view.find("old") is None


def test_a_name_alone_moves_the_clock_too() -> None:
    """RULES 6.1: the wanted name is of the text register, though the file does not spell it."""
    step = run(TWO, move(name="nox"), context(LATER))
    assert subject(step) == replace(found(TWO, "old"), updated_at=LATER)


def test_a_section_that_is_spelled_otherwise_stays_where_it_is() -> None:
    """FORMAT `section`: the folder is its slug."""
    step = run(TWO, move(section="testing"))
    assert (step.op, step.removed, subject(step).section) == ("update", (), "testing")


def test_moving_to_where_it_is_changes_nothing() -> None:
    """RULES 2."""
    assert run(TWO, move(name="old", section="Testing")).op == "noop"


def test_a_move_never_takes_a_place() -> None:
    """RULES 1.6: not of an active, not of a retired memory, nor of a file that is none."""
    fault = refused(TWO, move(name="new"))
    assert (fault.rule, fault.field, "memory/testing/new.md" in fault.message) == ("RULES 1.6", "name", True)
    retired = run(TWO, {"op": "archive", "id": "new", "reason": "r"}).view
    assert "archived" in refused(retired, move(name="new")).message
    bad = build(None, [*TWO], problems=[Problem("memory/build/old.md", "bad"), Problem("memory/build/x.md", "bad")])
    assert refused(bad, move(section="Build")).field == "section"
    assert refused(bad, move(name="x")).field == "name"


def test_a_retired_memory_can_be_moved_out_of_the_way() -> None:
    """RULES 1.6: a person's decision, as deleting is; its end stays as it was."""
    view = run(TWO, {"op": "archive", "id": "old", "reason": "r"}).view
    step = run(view, move(name="old-build"), context(LATER))
    end = found(view, "old")
    assert subject(step) == replace(end, updated_at=LATER)
    assert run(step.view, create("Something else.", name="old")).op == "create"


def test_a_move_frees_the_name_for_the_next() -> None:
    """RULES 6.4: in the same commit; links of predecessors keep their words, the id in them counts."""
    view = run(View(), create("Use nox.")).view
    view = run(view, create("Use nox! It is quick."), context(start=1 << 81)).view
    view = run(view, create("Use make."), context(start=1 << 82)).view
    view = run(view, supersede("use-make", by="use-nox")).view
    step = run(view, move("use-nox", name="nox"))
    assert [now.path for _, now in step.renamed] == ["memory/testing/use-nox.md"]
    assert found(step.view, "use-nox").id == ulid(1 << 81)
    assert found(step.view, "use-make") == found(view, "use-make")


def test_a_person_sets_kind_and_check() -> None:
    """RULES 2; an empty command takes the command away."""
    item = {"op": "set", "id": "old", "reason": "it is binding"}
    step = run(TWO, {**item, "kind": "constraint", "check": "nox --list"}, context(LATER))
    assert step.op == "update"
    assert subject(step) == replace(found(TWO, "old"), kind=Kind.CONSTRAINT, check="nox --list", updated_at=LATER)
    assert subject(run(step.view, {**item, "check": ""})).check is None
    assert run(TWO, {**item, "check": ""}).op == "noop"


def test_a_constraint_is_never_cold_nor_made_warm_by_itself() -> None:
    """RULES 2: refused with what to do, never repaired."""
    cold = build(None, [record("old", score=10, tier=Tier.COLD)])
    item = {"op": "set", "id": "old", "reason": "it is binding", "kind": "constraint"}
    fault = refused(cold, item)
    assert (fault.field, "30 or more" in fault.message) == ("tier", True)
    assert subject(run(cold, {**item, "tier": "warm"})).score == 30
    bound = run(cold, {**item, "score": 40}).view
    assert "another kind" in refused(bound, {"op": "retier", "id": "old", "tier": "cold", "reason": "r"}).message


def test_one_set_moves_rewords_and_rates() -> None:
    """What an editor's file says is one operation on one memory (RULES 3.1)."""
    item = {"op": "set", "id": "old", "reason": "r", "name": "nox", "title": "Nox", "score": 90, "section": "Build"}
    step = run(TWO, item, context(LATER))
    made = subject(step)
    assert (step.op, step.view.records[ulid(1)].path) == ("move", "memory/build/nox.md")
    assert (made.title, made.score, made.tier, made.updated_at, made.last_scored_at) == (
        *("Nox", 90, Tier.HOT),
        *(LATER, LATER),
    )


# --- personal memories of one project (RULES 4 "Whose rule is it?") ---


def test_a_project_limits_a_memory_of_the_user_scope_alone() -> None:
    """FORMAT `scope`."""
    mine = context(scope=Scope.USER)
    step = run(View(), create("Use tabs.", scope="user", project="invincat"), mine)
    assert subject(step).project == "invincat"
    assert refused(View(), create("Use tabs.", project="invincat")).field == "project"
    after = run(step.view, supersede("use-tabs", content="Use spaces."), context(scope=Scope.USER, start=1 << 81))
    assert after.successor is not None
    assert after.successor.memory.project == "invincat"


def test_equal_words_for_another_project_are_another_memory() -> None:
    """RULES 4 "Duplicates": said already is what already holds there."""
    mine = create("Use tabs.", scope="user")
    view = run(View(), {**mine, "project": "a"}, context(scope=Scope.USER)).view
    assert run(view, {**mine, "project": "a"}, context(scope=Scope.USER, start=1 << 81)).op == "noop"
    assert run(view, {**mine, "project": "b"}, context(scope=Scope.USER, start=1 << 81)).op == "create"
    everywhere = run(view, mine, context(scope=Scope.USER, start=1 << 81))
    assert everywhere.op == "create"
    assert run(everywhere.view, {**mine, "project": "b"}, context(scope=Scope.USER, start=1 << 82)).op == "noop"


# --- restore says what holds as well ---


def test_restoring_tells_of_the_successor_that_stays() -> None:
    """RULES 1.2: both hold then."""
    view = run(TWO, supersede(by="new")).view
    restore = {"op": "restore", "id": "old", "reason": "r"}
    assert "new, which had taken the place of old, holds as well" in str(run(view, restore).note)
    gone = run(view, {"op": "archive", "id": "new", "reason": "r"}).view
    assert run(gone, restore).note is None


def test_the_hash_in_a_marker_tells_wanted_names_apart() -> None:
    """RULES 6.1, 6.3: the wanted name is of the text register; a suffix (6.4) is not."""
    made = memory(title="Use nox")
    views = [
        build(None, [record(name, id=made.id, title="Use nox")]) for name in ("a", "b", f"a--{made.id[-6:].lower()}")
    ]
    first, second, suffixed = (run(view, {"op": "delete", "id": made.id, "reason": "r"}).marker for view in views)
    assert first and second and suffixed
    assert first.text == suffixed.text != second.text


def test_a_memory_that_stands_in_two_files_is_left_alone() -> None:
    """FORMAT `id`: it would be unclear which of the two a change is about; neither is renamed beside another change."""
    twins = build(None, [record("a", id=ulid(2), title="One"), record("x", id=ulid(2), title="Two", section="Z")])
    for op in ("archive", "delete", "restore"):
        fault = refused(twins, {"op": op, "id": "a", "reason": "r"})
        assert (fault.rule, "memory/z/x.md" in fault.message) == ("FORMAT id", True)
    item = {"op": "supersede", "id": "a", "content": "Three.", "name": "three", "reason": "r"}
    step = run(twins, item)
    assert (step.op, step.failure and step.failure.rule) == ("create", "FORMAT id")
    step = run(twins, create("A"), context(start=0))
    assert (step.renamed, [record.name for record in step.written]) == ((), ["a--000000"])


def test_a_name_that_was_taken_over_is_found_in_the_same_batch() -> None:
    """RULES 6.4: the least id gets the name, and the name means that memory from then on."""
    late = build(None, [record("use-nox", id=ulid(9), title="Use nox")])
    step = run(late, create("Use nox. It is quick."), context(start=1))
    held = step.view.find("use-nox")
    assert held and held.id == ulid(1)
    assert step.view.find("use-nox--000009")
