"""A memory on a person's sheet and back: what was not touched does not change."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invincat.memory.change import apply
from invincat.memory.entry import Memory
from invincat.memory.naming import memory_path
from invincat.memory.operation import MATRIX, decode
from invincat.memory.sheet import read_sheet, write_sheet
from invincat.memory.view import build, record_of
from invincat.memory.yaml_scan import MalformedFile
from tests.memory.factories import context, quick, record
from tests.memory.strategies import memories


@quick
@given(memories(), st.booleans())
def test_a_sheet_that_comes_back_as_it_was_changes_nothing(made: Memory, crlf: bool) -> None:
    """Also from an editor that writes other line ends, whatever characters the values have."""
    one = record_of(made, memory_path(made.section, "one"))
    text = write_sheet(one)
    sheet = read_sheet(text.replace("\n", "\r\n") if crlf else text, one)
    assert dict(sheet.changes) == {}
    for key, line in sheet.lines.items():
        if key != "content":
            assert text.split("\n")[line - 1].startswith(f"{key}:")


@quick
@given(memories(), memories())
def test_what_a_sheet_changes_is_what_the_memory_then_says(old: Memory, new: Memory) -> None:
    """RULES 2: every key of the sheet is one that `set` takes, and nothing else moves."""
    one = record_of(old, memory_path(old.section, "one"))
    other = record_of(new, memory_path(new.section, "other"))
    changes = read_sheet(write_sheet(other, "so"), one).changes
    assert set(changes) <= set(MATRIX["set"].may) | {"reason"}
    operations, reasons = decode([{"op": "set", "id": "one", "reason": "so", **changes}], "user")
    if reasons:
        assert {reason.field for reason in reasons} <= {"score_reason", "content", "title", "section"}
        return
    step = apply(build(None, [one]), operations[0], context(scope=old.scope))
    assert step.subject is not None
    made = step.subject.memory
    for key in ("title", "kind", "section", "confidence", "verdict", "tier", "applies_to", "tags", "check"):
        assert getattr(made, key) == getattr(new, key), key
    assert (step.subject.name, made.id, made.invalid_at, made.source) == ("other", old.id, old.invalid_at, old.source)


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("score: 50", "score: 80", {"score": 80}),
        ("score: 50", "score: lots", {"score": "lots"}),
        ("tags: []", "tags: [a, b]", {"tags": ["a", "b"]}),
        ("tags: []\n", "", {}),
        ("kind: convention\n", "", {"kind": ""}),
        ('check: ""', "check: make", {"check": "make"}),
        ('\nreason: ""', "\nreason: no change, no reason", {}),
        (
            "It drives the version matrix.\n",
            "",
            {"title": "Run the tests through nox", "content": "Run the tests through nox"},
        ),
    ],
)
def test_only_what_was_changed_is_in_the_operation(old: str, new: str, changes: dict[str, Any]) -> None:
    """A key that was taken away is an empty value; whether it may be empty is for the operation to say."""
    one = record("nox")
    assert old in write_sheet(one)
    assert dict(read_sheet(write_sheet(one).replace(old, new), one).changes) == changes


@pytest.mark.parametrize(
    "text", ["", "nothing", "---\ntitle: x\n", "---\nid: x\n---\n", "---\n- a\n---\n", "---\na: *b\n---\n"]
)
def test_what_is_no_sheet_is_told_by_line(text: str) -> None:
    """Ids, times and the end of a memory are no keys of it."""
    with pytest.raises(MalformedFile) as caught:
        read_sheet(text, record("nox"))
    assert caught.value.line >= 1
