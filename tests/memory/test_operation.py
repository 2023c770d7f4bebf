"""The matrix of RULES 2: what each operation needs, takes and refuses."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invincat.memory.operation import FIELDS, MATRIX, decode, schema
from tests.memory.factories import places, quick, rules

VALID: dict[str, Any] = {
    "id": "use-nox",
    "by": "use-tox",
    "scope": "project",
    "section": "Testing",
    "content": "Run the tests through nox.",
    "title": "Nox runs the tests",
    "name": "use-nox",
    "project": "invincat",
    "kind": "convention",
    "check": "nox --list",
    "confidence": "low",
    "score": 70,
    "tier": "hot",
    "score_reason": "said often",
    "verdict": "outdated",
    "applies_to": ["tests/**"],
    "tags": ["nox"],
    "valid_from": "2026-11-29T10:00:00Z",
    "reason": "nox drives the matrix",
    "evidence": [{"at": "noxfile.py#L3", "quote": "sessions"}],
}
ILLEGAL: dict[str, list[Any]] = {
    "id": [None, 7, "", " x", "a\nb", ["x"], "x" * 121],
    "by": [None, 7, "", "x "],
    "scope": [None, "team", "Project", 1, ["project"]],
    "section": [None, "", " ", "x" * 81, "日" + "\n", "!!!", 5, "a\tb"],
    "content": [None, "", " \n ", "x" * 4001, 5, ["x"], {}],
    "title": [None, "", "x" * 121, "a\nb", "\x1b[31m", 5],
    "name": [None, "", "Use-Nox", "a--b", "-a", "a-", "con", "a/b", "..", "x" * 81, "a b", 5],
    "project": [None, "", "My Project", "../x", "a/b", "con", "a--b", "x" * 81, 5],
    "check": [None, " ", "a\nb", " make", "make\x1b[31m", "x" * 4001, 5, ["make"]],
    "kind": [None, "rule", "Convention", 3],
    "confidence": [None, "sure", 1.0],
    "score": [None, -1, 101, 1e999, -1e999, float("nan"), 50.5, "50", True, 10**400, -(10**400), [50]],
    "tier": [None, "tepid", "HOT", 80],
    "score_reason": [None, "", "x" * 301, 5],
    "verdict": [None, "wrong", True],
    "applies_to": [None, "tests/**", [1], [""], [None], {"a": 1}],
    "tags": [None, "nox", [1], ["a\nb"], ["x" * 121]],
    "valid_from": [None, "2026-11-29", "yesterday", 5, "2026-11-29T10:00:00+01:00", "2026-13-01T00:00:00Z"],
    "reason": [None, "", " ", "x" * 301, 5],
    "evidence": [
        *(None, "x", [None], ["x"], [{}], [{"at": 5}], [{"at": "nowhere"}], [{"at": "../x#L1"}], [{"at": "/etc/x#L1"}]),
        *([{"at": "x#L0"}], [{"at": "x#L3-L2"}], [{"at": "turn:1", "trust": "high"}], [{"at": "turn:1"}] * 4),
        *([{"at": ".git/config#L1"}], [{"at": "turn:1", "quote": 5}], [{"at": "url:ftp://x"}]),
    ],
}


def smallest(op: str) -> dict[str, Any]:
    """The operation with what it needs, and no more."""
    names = MATRIX[op].needs or ()
    extra = {"update": ("title",), "supersede": ("by",), "move": ("name",), "set": ("kind",)}.get(op, ())
    return {"op": op, **{name: VALID[name] for name in (*names, *extra)}}


def test_the_table_covers_every_field() -> None:
    """RULES 2: nothing in an operation is beyond these tests."""
    assert set(VALID) == set(ILLEGAL) == set(FIELDS)


@pytest.mark.parametrize("op", MATRIX)
def test_what_is_needed_is_enough(op: str) -> None:
    """RULES 2: column "needs"."""
    operations, reasons = decode([smallest(op)], "user")
    assert (len(operations), reasons) == (1, [])


@pytest.mark.parametrize(("op", "field"), [(op, field) for op, rule in MATRIX.items() for field in rule.needs])
def test_each_missing_field_is_named(op: str, field: str) -> None:
    """RULES 2: rule, operation number and field."""
    item = {name: value for name, value in smallest(op).items() if name != field}
    operations, reasons = decode([{"op": "noop"}, item], "user")
    assert len(operations) == 1
    assert (rules(reasons), places(reasons)) == (["RULES 2"], [(1, field)])


@pytest.mark.parametrize(
    ("op", "field"),
    [
        (op, field)
        for op, rule in MATRIX.items()
        for field in [*FIELDS, "invalid_at", "superseded_by", "created_at", "restores", "source", "tombstone"]
        if field not in (*rule.needs, *rule.may)
    ],
)
def test_each_field_that_is_not_in_the_row_is_named(op: str, field: str) -> None:
    """RULES 2: "anything else in an operation is an error that names the field"."""
    item = smallest(op) | {field: VALID.get(field, "2026-11-29T10:00:00Z")}
    _, reasons = decode([item], "user")
    assert (rules(reasons), places(reasons)) == (["RULES 2"], [(0, field)])


@pytest.mark.parametrize(
    ("op", "field"), [(op, field) for op, rule in MATRIX.items() for field in (*rule.needs, *rule.may)]
)
def test_illegal_values_are_refused_and_never_repaired(op: str, field: str) -> None:
    """RULES 2: infinity, -1, an unknown tier, a section of 81 characters."""
    base = smallest(op)
    if op == "supersede" and field not in base:
        base = {name: value for name, value in base.items() if name != "by"} | {"content": "New."}
    for value in ILLEGAL[field]:
        operations, reasons = decode([base | {field: value}], "user")
        assert not operations, f"{field}={value!r} was taken as {operations}"
        assert (rules(reasons), places(reasons)) == (["RULES 2"], [(0, field)]), value


@pytest.mark.parametrize("item", [None, 7, "create", [], {}, {"op": None}, {"op": "drop"}, {"op": ["create"]}])
def test_what_is_no_operation_is_refused(item: Any) -> None:
    """RULES 2: a closed table."""
    operations, reasons = decode([item], "user")
    assert not operations
    assert rules(reasons) == ["RULES 2"]
    assert reasons[0].operation == 0


def test_every_fault_of_a_batch_is_listed() -> None:
    """RULES 3.3: every reason, not the first."""
    bad = [{"op": "create", "scope": "team", "content": ""}, {"op": "noop"}, {"op": "archive", "tier": "hot"}]
    _, reasons = decode(bad, "user")
    found = set(places(reasons))
    assert found == {(0, "section"), (0, "scope"), (0, "content"), (2, "tier"), (2, "id"), (2, "reason")}


@pytest.mark.parametrize("actor", ["memory-agent", "rules", "hook", "gardener", "mcp:cursor"])
@pytest.mark.parametrize("op", ["restore", "move", "set"])
def test_what_is_for_a_person_is_refused_from_others(actor: str, op: str) -> None:
    """RULES 1.2, 2: column "who"; a command to check with never comes from a model."""
    assert decode([smallest(op)], actor)[1][0].field == "op"
    assert decode([smallest(op)], "user")[1] == []
    assert {op for op, rule in MATRIX.items() if "check" in rule.may and not rule.person} == set()


@pytest.mark.parametrize("op", ["move", "set"])
def test_a_reason_alone_sets_nothing(op: str) -> None:
    """RULES 2: at least one of the fields that it is for."""
    assert rules(decode([{"op": op, "id": "x", "reason": "so"}], "user")[1]) == ["RULES 2"]


@pytest.mark.parametrize("verdict", ["outdated", "superseded", "inconsistent", "misleading"])
def test_a_verdict_other_than_valid_needs_a_reason(verdict: str) -> None:
    """RULES 2."""
    item = {"op": "update", "id": "x", "verdict": verdict}
    assert places(decode([item], "user")[1]) == [(0, "reason")]
    assert decode([item | {"reason": "gone"}], "user")[1] == []
    assert decode([item | {"verdict": "valid"}], "user")[1] == []


def test_an_update_of_nothing_is_refused() -> None:
    """RULES 2: an update needs one of the next column; a reason alone changes nothing."""
    assert rules(decode([{"op": "update", "id": "x", "reason": "so"}], "user")[1]) == ["RULES 2"]


@pytest.mark.parametrize("field", ["content", "title", "section", "kind", "score", "tags", "evidence"])
def test_supersede_takes_a_name_or_a_text_not_both(field: str) -> None:
    """RULES 2: `by` or the fields of create."""
    item = {"op": "supersede", "id": "x", "reason": "r", "by": "y", field: VALID[field]}
    assert places(decode([item], "user")[1]) == [(0, field)]


def test_supersede_needs_a_name_or_a_text() -> None:
    """RULES 2."""
    assert places(decode([{"op": "supersede", "id": "x", "reason": "r"}], "user")[1]) == [(0, "content")]


def test_models_get_the_same_table_without_what_is_for_people() -> None:
    """RULES 2: validation, schema and documentation come from one table."""
    variants = schema()["properties"]["operations"]["items"]["anyOf"]
    shown = {variant["properties"]["op"]["const"]: variant for variant in variants}
    assert set(shown) == {op for op, rule in MATRIX.items() if not rule.person}
    for op, variant in shown.items():
        assert set(variant["properties"]) == {"op", *MATRIX[op].needs, *MATRIX[op].may}
        assert variant["required"] == ["op", *MATRIX[op].needs]
        assert variant["additionalProperties"] is False


def test_a_person_gets_the_whole_table() -> None:
    """RULES 2: `apply --schema` prints what `apply` takes."""
    variants = schema(person=True)["properties"]["operations"]["items"]["anyOf"]
    assert [variant["properties"]["op"]["const"] for variant in variants] == list(MATRIX)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@quick
@given(
    st.lists(
        st.dictionaries(st.sampled_from(["op", *FIELDS]), _JSON, max_size=6)
        | st.builds(
            lambda op, rest: {"op": op, **rest},
            st.sampled_from(sorted(MATRIX)),
            st.dictionaries(st.sampled_from(sorted(FIELDS)), _JSON),
        ),
        max_size=3,
    )
)
def test_any_json_is_decoded_or_refused(items: list[Any]) -> None:
    """RULES 2: never an exception, and each item is an operation or has a reason."""
    operations, reasons = decode(items, "user")
    assert len(operations) + len({reason.operation for reason in reasons}) == len(items)
