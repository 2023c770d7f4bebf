from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invincat.extraction.conventions import Rule, rules_in
from invincat.extraction.reimport import ImportPlan, KeptOut, imported_paths, not_said_elsewhere, plan_import
from invincat.memory.content import split_content
from invincat.memory.entry import Confidence, Kind, Memory, Source, Verdict, tier_of
from invincat.memory.evidence import Evidence
from invincat.memory.marker import marker_of
from invincat.memory.naming import derive_name, memory_path
from invincat.memory.scope import Scope
from invincat.memory.view import Record, View, build, record_of

PATH = "AGENTS.md"
BLOB = "0123456789abcdef0123"
START = datetime(2026, 11, 29, 10, tzinfo=UTC)


def memory(number: int, operation: dict[str, Any], actor: str = "import") -> Record:
    title, body = split_content(operation["content"])
    made = Memory(
        id=f"{number:026d}",
        title=title,
        body=body,
        kind=Kind(operation["kind"]),
        section=operation["section"],
        scope=Scope(operation["scope"]),
        confidence=Confidence.HIGH,
        score=operation["score"],
        tier=tier_of(operation["score"]),
        score_reason=operation["score_reason"],
        verdict=Verdict.VALID,
        created_at=START,
        updated_at=START,
        last_scored_at=START,
        valid_from=START,
        source=Source(actor=actor, evidence=tuple(Evidence(**item) for item in operation["evidence"])),
        applies_to=tuple(operation["applies_to"]),
    )
    return record_of(made, memory_path(made.section, f"{derive_name(title)}-{number}"))


def retired(record: Record, successor: str | None = None) -> Record:
    ended = msgspec.structs.replace(record.memory, invalid_at=START + timedelta(days=1), superseded_by=successor)
    return record_of(ended, record.path)


def applied(view: View, plan: ImportPlan) -> View:
    for operation in plan.operations:
        new = memory(len(view) + 1, operation)
        view = view.put(new)
        if operation["op"] == "supersede":
            view = view.put(retired(view.records[operation["id"]], new.memory.id))
    return view


def imported(text: str) -> View:
    return applied(build(None, []), plan(build(None, []), text))


def plan(view: View, text: str, path: str = PATH) -> ImportPlan:
    return plan_import(view, path, text, rules_in(text, path), BLOB)


def told(operations: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(one["op"], one.get("content") or one["id"]) for one in operations]


def titles(view: View) -> list[str]:
    return [record.memory.title for record in view.active()]


def test_a_new_rule_is_a_create_with_its_evidence() -> None:
    made = plan(build(None, []), "# Guide\n\n## Testing\n- Never skip a failing test.\n")
    assert made.operations == (
        {
            "op": "create",
            "scope": "project",
            "section": "Testing",
            "content": "Never skip a failing test.",
            "kind": "constraint",
            "score": 70,
            "score_reason": "binding in AGENTS.md",
            "applies_to": [],
            "evidence": [{"at": "AGENTS.md#L4", "blob": "0123456789ab", "quote": "Never skip a failing test."}],
        },
    )
    assert made.archive_proposals == ()


def test_importing_the_same_file_again_changes_nothing() -> None:
    text = "- Use `nox` for tests\n- Never push to main\n\nDo not:\n- use default exports\n"
    assert plan(imported(text), text) == ImportPlan()


def test_moved_lines_change_nothing() -> None:
    assert plan(imported("- Sort the imports\n"), "# New title\n\nHello!\n\n- Sort the imports\n") == ImportPlan()


def test_changed_wording_supersedes_the_memory_of_the_old_wording() -> None:
    view = imported("- Run the tests with tox before you push\n- Keep the changelog sorted\n")
    made = plan(view, "- Run the tests with nox before you push\n- Keep the changelog sorted\n")
    assert told(made.operations) == [("supersede", "Run the tests with nox before you push")]
    (operation,) = made.operations
    assert view.records[operation["id"]].memory.title == "Run the tests with tox before you push"
    assert operation["reason"] == "AGENTS.md now says so"
    assert made.archive_proposals == ()


def test_pairs_are_one_to_one_and_the_most_alike_come_first() -> None:
    view = imported("- Run the unit tests with tox\n- Run the slow tests with tox -e slow\n")
    made = plan(view, "- Run the slow tests with nox -s slow\n- Run the unit tests with nox\n")
    old = {view.records[one["id"]].memory.title: one["content"] for one in made.operations}
    assert old == {
        "Run the unit tests with tox": "Run the unit tests with nox",
        "Run the slow tests with tox -e slow": "Run the slow tests with nox -s slow",
    }


def test_of_equally_alike_ones_the_same_section_is_paired() -> None:
    view = imported("## Api\n- Limit pages to 50 rows\n## Web\n- Limit pages to 60 rows\n")
    made = plan(view, "## Api\n- Limit pages to 55 rows\n## Web\n- Limit pages to 60 rows\n")
    assert [view.records[one["id"]].memory.section for one in made.operations] == ["Api"]


def test_a_rule_that_is_gone_is_only_proposed_for_archiving() -> None:
    view = imported("- Sort the imports\n- Never push to main\n")
    made = plan(view, "- Sort the imports\n")
    assert made.operations == ()
    (proposal,) = made.archive_proposals
    assert view.records[proposal["id"]].memory.title == "Never push to main"
    assert (proposal["op"], proposal["reason"]) == ("archive", "AGENTS.md no longer says so")


def test_something_quite_different_is_a_create_beside_a_proposal() -> None:
    made = plan(imported("- Sort the imports\n"), "- Deploy from the release branch only\n")
    assert [one["op"] for one in made.operations] == ["create"]
    assert len(made.archive_proposals) == 1


def test_what_was_retired_stays_retired() -> None:
    view = imported("- Sort the imports\n")
    (record,) = view.active()
    made = plan(view.put(retired(record)), "- Sort the imports\n")
    assert made == ImportPlan(kept_out=(KeptOut(f"{PATH}#L1", "Sort the imports", record.id),))


def test_words_that_stand_there_still_are_not_gone_when_they_are_taken_for_no_rule_any_more() -> None:
    """As after an upgrade; words that are really gone are proposed, also out of several quotes."""
    text = "Sort the imports\n"
    view = imported("- Sort the imports\n- Never push to main\n")
    made = plan_import(view, PATH, text, [], BLOB)
    (proposal,) = made.archive_proposals
    assert view.records[proposal["id"]].memory.title == "Never push to main"


def test_what_was_deleted_stays_deleted() -> None:
    view = imported("- Sort the imports\n")
    (record,) = view.active()
    view = view.drop(record.id, marker_of(record.memory, record.name, "r", START))
    made = plan(view, "- Sort the imports\n- Deploy from the release branch only\n")
    assert made.kept_out == (KeptOut(f"{PATH}#L1", "Sort the imports", record.id),)
    assert [one["content"] for one in made.operations] == ["Deploy from the release branch only"]


def test_what_a_person_put_in_its_place_stays() -> None:
    view = imported("- Sort the imports\n")
    (record,) = view.active()
    own = memory(7, {**plan(build(None, []), "- Let ruff sort the imports\n").operations[0], "evidence": []}, "user")
    view = view.put(own, retired(record, own.memory.id))
    made = plan(view, "- Sort the imports\n")
    assert made == ImportPlan(kept_out=(KeptOut(f"{PATH}#L1", "Sort the imports", record.id),))


def test_a_file_that_goes_back_to_its_old_wording_is_followed() -> None:
    first, second = "- Run the tests with tox before you push\n", "- Run the tests with nox before you push\n"
    view = imported(first)
    view = applied(view, plan(view, second))
    made = plan(view, first)
    assert told(made.operations) == [("supersede", "Run the tests with tox before you push")]
    view = applied(view, made)
    assert titles(view) == ["Run the tests with tox before you push"]
    assert plan(view, first) == ImportPlan()


def test_a_memory_that_a_person_has_reworded_is_left_alone_while_the_file_says_the_same() -> None:
    view = imported("- Sort the imports\n")
    (record,) = view.active()
    edited = record_of(msgspec.structs.replace(record.memory, title="Imports are sorted by isort"), record.path)
    assert plan(view.put(edited), "- Sort the imports\n") == ImportPlan()


def test_a_changed_lead_in_is_a_changed_rule() -> None:
    made = plan(imported("When writing tests:\n- use factories\n"), "When writing fixtures:\n- use factories\n")
    assert told(made.operations) == [("supersede", "When writing fixtures: use factories")]


def test_what_any_other_active_memory_says_is_not_said_again() -> None:
    view = imported("- Sort the imports\n")
    assert plan(view, "- sort the imports.\n", "CLAUDE.md") == ImportPlan()


def test_memories_of_other_files_and_actors_are_not_touched() -> None:
    view = imported("- Sort the imports\n")
    assert plan(view, "- Deploy from the release branch\n", "CLAUDE.md").archive_proposals == ()
    by_hand = build(None, [memory(1, plan(build(None, []), "- Sort the imports\n").operations[0], "user")])
    assert plan(by_hand, "") == ImportPlan()


def test_equal_rules_of_one_file_are_one() -> None:
    (rule,) = rules_in("- Sort the imports\n", PATH)
    twice = [rule, replace(rule, first_line=9, last_line=9, section="Other")]
    assert len(plan_import(build(None, []), PATH, "", twice, BLOB).operations) == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Supported systems are:\n- Linux\n- Windows\n", "Supported systems are:\n- Linux\n- Windows\n- macOS\n"),
        ("> Use the test server.\n> It is slow.\n", "> Use the test server.\n> It is fast.\n"),
        (f"- Use {'very ' * 100}long names\n", f"- Use {'very ' * 100}short names\n"),
    ],
)
def test_a_change_behind_what_is_quoted_is_seen(before: str, after: str) -> None:
    view = imported(before)
    assert plan(view, before) == ImportPlan()
    assert [one["op"] for one in plan(view, after).operations] == ["supersede"]


def test_the_paths_of_active_imported_memories_are_known() -> None:
    view = imported("- Sort the imports\n")
    (record,) = view.active()
    assert imported_paths(view) == {PATH}
    assert imported_paths(view.put(retired(record))) == set()
    by_hand = build(None, [memory(1, plan(build(None, []), "- Sort the imports\n").operations[0], "user")])
    assert imported_paths(by_hand) == set()


def test_a_rule_that_another_file_says_now_is_not_archived() -> None:
    view = imported("- Sort the imports\n- Never push to main\n")
    gone = plan(view, "").archive_proposals
    left = not_said_elsewhere(view, gone, rules_in("- sort the imports\n", "CLAUDE.md"))
    assert [view.records[one["id"]].memory.title for one in left] == ["Never push to main"]


LINES = st.lists(
    st.sampled_from(
        [
            "- Run the tests with nox",
            "- Run the tests with tox",
            "- Run the slow tests with tox",
            "- Never push to main",
            "- Always push to main",
            "## Style",
            "## Don'ts",
            "When testing:",
            "- Use tabs in Makefiles",
            "- Sort the imports",
            "",
            "Do not edit generated files.",
            "- 提交前必须运行测试",
            "- 提交前必须运行检查",
        ]
    ),
    max_size=12,
).map("\n".join)


@settings(deadline=None, max_examples=60)
@given(st.lists(LINES, min_size=1, max_size=4))
def test_planning_again_after_the_plan_was_applied_gives_no_operation(versions: list[str]) -> None:
    view = build(None, [])
    for text in versions:
        made = plan(view, text)
        touched = [one["id"] for one in (*made.operations, *made.archive_proposals) if "id" in one]
        assert len(touched) == len(set(touched))
        view = applied(view, made)
        again = plan(view, text)
        assert again.operations == ()
        assert again.archive_proposals == made.archive_proposals


@pytest.mark.parametrize("path", ["AGENTS.md", "docs/" + "long/" * 60 + "AGENTS.md"])
def test_reasons_stay_short(path: str) -> None:
    rule: Rule = rules_in("- Sort the imports\n", path)[0]
    (operation,) = plan_import(build(None, []), path, "", [rule], BLOB).operations
    assert len(operation["score_reason"]) <= 300
