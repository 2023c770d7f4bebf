"""The gate's order, its batches and what it admits (RULES 3, 4)."""

from dataclasses import replace as replace_proposal
from typing import Any

import pytest
from msgspec.structs import replace

from invincat.governance.gate import Judgement, judge
from invincat.governance.grounding import RULE as EVIDENCE
from invincat.governance.grounding import NoGrounds
from invincat.memory.entry import Source
from invincat.memory.scope import Scope
from invincat.memory.view import View, build, record_of
from tests.memory.factories import (
    MODEL,
    NOX,
    SAID,
    USER,
    WORLD,
    context,
    create,
    ended,
    judged,
    places,
    proposal,
    record,
    rules,
    run,
    ulid,
    view_of,
)

PEOPLE = [USER, Source(actor="import")]
MODELS = [MODEL, *(Source(actor=actor) for actor in ("rules", "hook", "gardener", "mcp:cursor"))]
TEN = view_of(*(f"m{n}" for n in range(10)))
TOKEN = "ghp_" + "Zk3Qv8Lr2Tn5Wb7Xc9Yd4Mf6Hs1Jg0Pa3Ue8"


def decision(judgement: Judgement) -> str:
    """commit, hold or reject; the other two never come without a reason."""
    assert bool(judgement.reasons) is (judgement.decision != "commit")
    assert bool(judgement.steps) or judgement.decision == "reject"
    return str(judgement.decision)


def archive(name: str) -> dict[str, Any]:
    """An archive operation."""
    return {"op": "archive", "id": name, "reason": "unsure"}


def rescore(name: str, score: int = 90) -> dict[str, Any]:
    """A rescore operation."""
    return {"op": "rescore", "id": name, "score": score, "reason": "used daily"}


# --- RULES 3.1 ---

TWICE = [
    (archive("m1"), rescore("m1")),
    (archive("m1"), rescore(ulid(2))),
    (archive("m1"), rescore(ulid(2).lower())),
    (rescore("m1"), rescore("m1", 10)),
    (archive("m1"), archive("m1")),
    ({"op": "supersede", "id": "m2", "by": "m1", "reason": "r"}, archive("m1")),
    ({"op": "supersede", "id": "m2", "by": ulid(2), "reason": "r"}, {"op": "update", "id": "m1", "title": "T"}),
    (
        {"op": "supersede", "id": "m1", "by": "m2", "reason": "r"},
        {"op": "supersede", "id": "m2", "by": "m1", "reason": "r"},
    ),
    (
        {"op": "supersede", "id": "m1", "by": "m2", "reason": "r"},
        {"op": "supersede", "id": "m2", "by": "m3", "reason": "r"},
    ),
]


@pytest.mark.parametrize("pair", TWICE)
@pytest.mark.parametrize("source", [USER, MODEL])
def test_the_same_memory_twice_rejects_the_batch(pair: tuple[dict[str, Any], ...], source: Source) -> None:
    """RULES 3.1: by name and by id, as `id` and as `by`; naming the id and the operations."""
    for batch in (pair, pair[::-1]):
        judgement = judged(TEN, rescore("m7"), *batch, source=source)
        assert decision(judgement) == "reject"
        assert set(rules(judgement.reasons)) == {"RULES 3.1"}
        assert {1, 2} >= {reason.operation for reason in judgement.reasons}
        assert all("m1" in r.message or ulid(2) in r.message.upper() or "m2" in r.message for r in judgement.reasons)
        assert all("1 (" in reason.message and "2 (" in reason.message for reason in judgement.reasons)


def test_two_memories_may_have_one_successor() -> None:
    """RULES 3.1: each id changes once; to be named as `by` twice changes nothing."""
    batch = [{"op": "supersede", "id": name, "by": "m9", "reason": "said by both"} for name in ("m1", "m2")]
    assert decision(judged(TEN, *batch)) == "commit"


def test_delete_and_create_touch_different_ids() -> None:
    """RULES 3.1, 3.5: the way to give a name to a new belief."""
    batch = [{"op": "delete", "id": "m1", "reason": "wrong"}, create("Another thing.", name="m1")]
    judgement = judged(TEN, *batch)
    assert decision(judgement) == "commit"
    held = judgement.steps[-1].view.find("m1")
    assert held is not None
    assert held.memory.id != ulid(2)


def test_a_name_that_is_given_means_the_same_memory() -> None:
    """RULES 3.1: no way round it by moving the memory first; a chain of moves names each once."""
    to = {"op": "move", "id": "m1", "name": "fresh", "reason": "r"}
    for other in (archive("fresh"), rescore("fresh"), {"op": "set", "id": "fresh", "check": "make", "reason": "r"}):
        found = judged(TEN, to, other)
        assert (decision(found), set(rules(found.reasons))) == ("reject", {"RULES 3.1"})
    chain = judged(TEN, to, {"op": "move", "id": "m2", "name": "m1", "reason": "r"})
    assert [step.subject.name for step in chain.steps if step.subject] == ["fresh", "m1"]
    assert decision(judged(TEN, to, {"op": "move", "id": "m2", "name": "m1", "reason": "r"}, archive("m1"))) == "reject"


def test_what_changed_since_it_was_seen_is_not_overwritten() -> None:
    """RULES 3.4."""
    view = build(None, [record("one", id=ulid(1))])
    item = {"op": "set", "id": "one", "title": "New", "reason": "r"}
    same = view.records[ulid(1)]
    for seen, expected in (
        (same, "commit"),
        (replace(same, blob="9ab31c0"), "reject"),
        (replace(same, id=ulid(2)), "reject"),  # it is deleted, and another has its name
    ):
        given = replace_proposal(proposal(item), seen={"one": seen})
        assert decision(judge(view, given, context(), NoGrounds())) == expected


def test_an_update_that_only_rates_follows_its_file() -> None:
    """FORMAT "Commits": scores come last, when a deletion may have given their memory another name (RULES 6.4)."""
    view = run(View(), create("Use nox.")).view
    view = run(view, create("Use nox! It is quick."), context(start=1 << 81)).view
    rated = {"op": "update", "id": ulid(1 << 81), "title": "Use nox!", "score": 90}
    done = judged(view, rated, {"op": "delete", "id": "use-nox", "reason": "r"})
    score = next(step for step in done.steps if step.op == "score")
    assert [record.path for record in score.written] == ["memory/testing/use-nox.md"]


# --- RULES 3.2 ---


@pytest.mark.parametrize("source", MODELS, ids=lambda source: str(source.actor))
def test_a_batch_of_nine_is_rejected_from_all_but_people(source: Source) -> None:
    """RULES 3.2: at most 8 operations."""
    nine = [rescore(f"m{n}") for n in range(9)]
    judgement = judged(TEN, *nine, source=source)
    assert (decision(judgement), rules(judgement.reasons)) == ("reject", ["RULES 3.2"])
    assert decision(judged(TEN, *nine[:8], source=source)) == "commit"
    noops = [{"op": "noop"}] * 9
    assert decision(judged(TEN, *noops, source=source)) == "reject"


@pytest.mark.parametrize("source", PEOPLE, ids=lambda source: str(source.actor))
def test_people_and_imports_are_exempt(source: Source) -> None:
    """RULES 3.2: "from anyone but a person or an import"."""
    assert decision(judged(TEN, *(archive(f"m{n}") for n in range(10)), source=source)) == "commit"


@pytest.mark.parametrize(
    ("size", "retired", "expected"),
    [
        *((1, 1, "commit"), (2, 1, "commit"), (3, 2, "hold"), (9, 1, "commit"), (9, 2, "hold"), (10, 2, "commit")),
        *((10, 3, "hold"), (14, 2, "commit"), (15, 3, "commit"), (15, 4, "hold"), (2, 2, "reject"), (8, 8, "reject")),
    ],
)
def test_a_fifth_may_go_at_once(size: int, retired: int, expected: str) -> None:
    """RULES 3.2: more than max(1, 20 %) is held; emptying a scope of two or more is rejected."""
    view = view_of(*(f"m{n}" for n in range(size)))
    judgement = judged(view, *(archive(f"m{n}") for n in range(retired)), source=MODEL)
    assert decision(judgement) == expected
    assert set(rules(judgement.reasons)) <= {"RULES 3.2"}


def test_every_way_out_counts() -> None:
    """RULES 3.2: retired, deleted or marked invalid."""
    batch = [
        archive("m1"),
        {"op": "delete", "id": "m2", "reason": "wrong", "evidence": [NOX]},
        {"op": "update", "id": "m3", "verdict": "outdated", "reason": "gone", "evidence": [NOX]},
    ]
    assert decision(judged(TEN, *batch, source=MODEL, grounds=WORLD)) == "hold"
    assert decision(judged(TEN, *batch[:2], source=MODEL, grounds=WORLD)) == "commit"
    superseded = {"op": "supersede", "id": "m4", "by": "m5", "reason": "r"}
    assert decision(judged(TEN, batch[0], batch[1], superseded, source=MODEL, grounds=WORLD)) == "hold"


def test_shares_are_of_the_active_memories() -> None:
    """RULES 3.2: retired ones do not make a scope larger, equal ones do not make it smaller."""
    retired = [replace_end(record(f"r{n}", id=ulid(100 + n), title=f"R{n}")) for n in range(20)]
    few = build(None, [*view_of("a", "b", "c"), *retired])
    assert decision(judged(few, archive("a"), archive("b"), source=MODEL)) == "hold"
    twins = build(None, [record(f"t{n}", id=ulid(n + 1)) for n in range(10)])
    assert decision(judged(twins, archive("t1"), archive("t2"), source=MODEL)) == "commit"


def replace_end(held: Any) -> Any:
    """The record of an ended memory."""
    return record_of(ended(held.memory), held.path, held.blob)


def test_replacing_the_only_memories_leaves_a_scope_filled() -> None:
    """RULES 3.2: what comes in the same batch counts."""
    batch = [
        {"op": "supersede", "id": "a", "content": "New a.", "reason": "r", "evidence": [NOX]},
        {"op": "supersede", "id": "b", "content": "New b.", "reason": "r", "evidence": [NOX]},
    ]
    assert decision(judged(view_of("a", "b"), *batch, source=MODEL, grounds=WORLD)) == "hold"


# --- RULES 3.3 ---


def test_one_illegal_operation_rejects_the_whole_batch() -> None:
    """RULES 3.3: all or nothing, with every reason."""
    judgement = judged(TEN, archive("m1"), archive("nowhere"), {**rescore("m3"), "id": "nobody"})
    assert (decision(judgement), judgement.steps) == ("reject", ())
    assert places(judgement.reasons) == [(1, "id"), (2, "id")] or places(judgement.reasons) == [(2, "id"), (1, "id")]


def test_one_doubt_holds_the_whole_batch() -> None:
    """RULES 3.3: one that needs a person holds them all."""
    batch = [create("Use nox.", evidence=[NOX]), create("Use tox.", evidence=[{"at": "url:https://example.org/x"}])]
    judgement = judged(View(), *batch, source=MODEL, grounds=WORLD)
    assert decision(judgement) == "hold"
    assert len(judgement.steps) == 2
    assert places(judgement.reasons) == [(1, "evidence")]


def test_a_proposal_that_asks_to_be_held_is_held() -> None:
    """RULES 5.5: standing-rule phrases wait for a keypress."""
    given = proposal(create("Use nox."), hold="said in passing")
    judgement = judge(View(), given, context(), NoGrounds())
    assert decision(judgement) == "hold"
    assert judgement.reasons[0].message == "said in passing"


def test_what_would_change_nothing_is_not_held() -> None:
    """RULES 4 "Duplicates": an equal create is a no-op, whatever its evidence is worth."""
    view = run(View(), create("Use nox.")).view
    again = create("Use nox.", evidence=[{"at": "url:https://example.org/x"}])
    assert decision(judged(view, again, source=MODEL)) == "commit"


def test_an_empty_batch_is_a_noop() -> None:
    """CLI: a no-op is no fault."""
    assert judged(TEN).reasons == ()
    assert judged(TEN, {"op": "noop"}).steps[0].op == "noop"


def test_a_failing_supersede_is_the_only_exception() -> None:
    """RULES 1.7, 3.3: the rest of the batch is carried out."""
    batch = [archive("m1"), {"op": "supersede", "id": "nowhere", "content": "Use nox.", "reason": "r"}]
    judgement = judged(TEN, *batch)
    assert decision(judgement) == "commit"
    assert [step.op for step in judgement.steps] == ["archive", "create"]
    assert [step.failure is not None for step in judgement.steps] == [False, True]


def test_the_order_of_scores_in_a_batch_does_not_matter() -> None:
    """RULES 6.4, FORMAT "Commits": a memory that is scored may get another name in the same batch."""
    view = build(None, [record("x", id=ulid(1)), record(f"x--{ulid(31)[-6:].lower()}", id=ulid(31), title="Z")])
    batch = [rescore(f"x--{ulid(31)[-6:].lower()}"), {"op": "delete", "id": "x", "reason": "r"}]
    for order in (batch, batch[::-1]):
        judgement = judged(view, *order)
        assert decision(judgement) == "commit"
        assert [step.op for step in judgement.steps] == [
            "score" if item["op"] == "rescore" else "delete" for item in order
        ]
        scored = next(step for step in judgement.steps if step.op == "score")
        assert [written.path for written in scored.written] == ["memory/testing/x.md"]


# --- RULES 4.3 and 4.4 ---

PLACES: list[tuple[dict[str, Any], str]] = [
    ({"op": "create", "scope": "project", "section": "S", "content": f"x\nuse {TOKEN}"}, "content"),
    (create("x", title=f"token {TOKEN}"), "title"),
    (create("x", tags=["a", TOKEN]), "tags"),
    (create("x", section=TOKEN), "section"),
    (create("x", applies_to=[f"src/{TOKEN}"]), "applies_to"),
    (create("x", evidence=[{"at": "turn:1", "quote": TOKEN}]), "evidence"),
    (create("x", score_reason=TOKEN), "score_reason"),
    (create("x", nonsense={"deep": [TOKEN]}), "nonsense"),
    (archive("m1") | {"reason": f"because {TOKEN}"}, "reason"),
    ({"op": TOKEN}, "op"),
    ({"op": "noop", TOKEN: 1}, "a field's name"),
]


@pytest.mark.parametrize(("item", "field"), PLACES)
@pytest.mark.parametrize("source", [USER, MODEL])
def test_secrets_are_named_without_their_value(item: dict[str, Any], field: str, source: Source) -> None:
    """RULES 4.3, case 29: rule and place, never the value; before any other message could quote it."""
    judgement = judged(TEN, {"op": "noop"}, item, source=source)
    assert decision(judgement) == "reject"
    assert all("secret" in reason.rule for reason in judgement.reasons)
    assert places(judgement.reasons) == [(1, field)]
    assert TOKEN not in repr(judgement)
    assert TOKEN[4:20] not in repr(judgement)
    if field == "content":
        assert "line 2" in judgement.reasons[0].message


def test_a_secret_in_the_source_is_found() -> None:
    """RULES 4.3, case 29: in a branch name."""
    judgement = judged(View(), create("Use nox."), source=replace(USER, branch=f"fix/{TOKEN}"))
    assert decision(judgement) == "reject"
    assert TOKEN not in repr(judgement)
    assert judgement.reasons[0].field == "source.branch"


def test_an_item_that_is_no_object_is_searched() -> None:
    """RULES 4.3."""
    judgement = judged(View(), TOKEN)
    assert decision(judgement) == "reject"
    assert TOKEN not in repr(judgement)


def test_deep_nesting_is_refused_and_searched() -> None:
    """RULES 2: never an exception."""
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]
    assert decision(judged(View(), create("x", tags=deep))) == "reject"


HIDDEN = {"bidi": "a\u202eb", "zero-width": "a\u200bb", "tag": "a\U000e0041b", "mixed-script": "p\u0430ypal"}


@pytest.mark.parametrize("kind", HIDDEN)
def test_hidden_characters_are_refused_and_shown_escaped(kind: str) -> None:
    """RULES 4.4: from a person too, who sees where they are; a store that holds one is not sound."""
    item = create(f"Use {HIDDEN[kind]} always.")
    for source in (*MODELS, Source(actor="import")):
        judgement = judged(View(), {**item, "evidence": [NOX]}, source=source, grounds=WORLD)
        assert decision(judgement) == "reject"
        assert ("RULES 4 hidden", 0, "content") in [(r.rule, r.operation, r.field) for r in judgement.reasons]
    [reason] = judged(View(), item).reasons
    assert HIDDEN[kind] not in reason.message
    assert kind in reason.message
    assert "<U+" in reason.message


# --- RULES 4 "Evidence", as the gate uses it ---


@pytest.mark.parametrize("op", ["create", "supersede", "update", "verdict", "delete"])
def test_what_a_model_says_needs_evidence(op: str) -> None:
    """RULES 2, 4: none -> rejected; only the web -> held; checked -> committed."""
    item = {
        "create": create("Use nox."),
        "supersede": {"op": "supersede", "id": "m1", "content": "Use nox.", "reason": "r"},
        "update": {"op": "update", "id": "m1", "content": "Use nox."},
        "verdict": {"op": "update", "id": "m1", "verdict": "misleading", "reason": "r"},
        "delete": {"op": "delete", "id": "m1", "reason": "r"},
    }[op]
    web = [{"at": "url:https://example.org/x", "quote": "use nox"}]
    for evidence, expected in ((None, "reject"), ([], "reject"), (web, "hold"), ([NOX], "commit")):
        given = item if evidence is None else {**item, "evidence": evidence}
        judgement = judged(TEN, given, source=MODEL, grounds=WORLD)
        assert decision(judgement) == expected, evidence
        if expected != "commit":
            assert [(r.rule, r.operation, r.field) for r in judgement.reasons] == [(EVIDENCE, 0, "evidence")]
    for source in PEOPLE:
        assert decision(judged(TEN, item, source=source, grounds=WORLD)) == "commit"


def test_a_false_quote_is_refused_from_everybody() -> None:
    """RULES 4: the quote must literally be there."""
    item = create("Use nox.", evidence=[{"at": "noxfile.py#L3", "quote": "tox.options"}])
    for source in (USER, MODEL):
        assert places(judged(View(), item, source=source, grounds=WORLD).reasons) == [(0, "evidence")]


def test_the_user_scope_needs_own_words() -> None:
    """RULES 4: "user scope needs a person's own words"."""
    item = create("I like nox.", scope="user")
    for evidence, expected in (([NOX], "hold"), ([], "reject"), ([SAID], "commit"), ([NOX, SAID], "commit")):
        judgement = judged(View(), {**item, "evidence": evidence}, source=MODEL, scope=Scope.USER, grounds=WORLD)
        assert decision(judgement) == expected


def test_a_score_needs_no_evidence() -> None:
    """RULES 4: create, update or supersede do."""
    assert decision(judged(TEN, rescore("m1"), source=MODEL)) == "commit"


def test_blob_and_quote_are_filled_in() -> None:
    """FORMAT `source.evidence`: grounding rests on the words themselves."""
    judgement = judged(View(), create("Use nox.", evidence=[{"at": "noxfile.py#L3"}]), source=MODEL, grounds=WORLD)
    [item] = judgement.steps[0].written[0].memory.source.evidence
    assert (item.quote, item.blob) == ("nox.options.sessions = ['tests']", "9ab31c0")


def test_the_same_input_gives_the_same_judgement() -> None:
    """ARCHITECTURE, decision 9: rules are pure."""
    batch = [create("Use nox.", evidence=[NOX]), archive("m1")]
    assert judged(TEN, *batch, source=MODEL, grounds=WORLD) == judged(TEN, *batch, source=MODEL, grounds=WORLD)
