"""What `check` finds in a store, with file, line and rule."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from invincat.governance.check import check
from invincat.memory.entry import Memory, Unknown, Verdict
from invincat.memory.frontmatter import render
from invincat.memory.marker import marker_of
from invincat.memory.scope import Scope
from invincat.memory.view import Problem, Record, View, build, record_of
from tests.memory.factories import NOW, create, ended, memory, record, run, ulid, view_of

TOKEN = "ghp_" + "Zk3Qv8Lr2Tn5Wb7Xc9Yd4Mf6Hs1Jg0Pa3Ue8"


def files_of(view: View) -> list[tuple[str, bytes]]:
    """The files of a view, as they would stand in its tree."""
    return [(record.path, render(record.memory).encode()) for record in view]


def found(*records: Record, **how: Any) -> list[tuple[str, str]]:
    """Rule and path of each finding."""
    view = build(None, records, **how)
    return [(finding.rule, finding.path) for finding in check(view, Scope.PROJECT, NOW, files_of(view))]


def test_a_sound_store_has_no_finding() -> None:
    """HOOKS_AND_REVIEW "check": after any operations of ours."""
    view = view_of("a", "b", "c")
    view = run(view, {"op": "supersede", "id": "a", "by": "b", "reason": "r"}).view
    view = run(view, {"op": "archive", "id": "c", "reason": "r"}).view
    view = run(view, create("Use nox.")).view
    view = run(view, {"op": "delete", "id": "b", "reason": "r"}).view
    assert check(view, Scope.PROJECT, NOW, files_of(view)) == []


def test_skipped_files_are_findings() -> None:
    """ARCHITECTURE, decision 10: skip, report file and line."""
    [finding] = check(View(problems=(Problem("memory/a/b.md", "is bad", 7, "FORMAT"),)), Scope.PROJECT, NOW, ())
    assert (finding.rule, finding.path, finding.line, finding.message) == ("FORMAT", "memory/a/b.md", 7, "is bad")


def test_a_memory_of_the_other_scope() -> None:
    """RULES 7."""
    assert found(record("a", scope=Scope.USER)) == [("RULES 7", "memory/testing/a.md")]


def test_a_memory_in_the_wrong_folder() -> None:
    """FORMAT `section`: the folder is its slug."""
    assert found(replace(record("a"), path="memory/build/a.md")) == [("FORMAT section", "memory/build/a.md")]


@pytest.mark.parametrize("key", ["created_at", "updated_at", "last_scored_at", "valid_from"])
def test_a_time_in_the_future(key: str) -> None:
    """RULES 6.2: `check` warns."""
    assert found(record("a", **{key: NOW + timedelta(seconds=1)})) == [("RULES 6.2", "memory/testing/a.md")]
    assert found(record("a", **{key: NOW})) == []


def test_an_active_memory_with_a_bad_verdict() -> None:
    """RULES 4 "Cleanup": active ones only."""
    bad = record("a", verdict=Verdict.OUTDATED)
    assert found(bad) == [("RULES 4 cleanup", "memory/testing/a.md")]
    assert found(record_of(ended(bad.memory), bad.path, bad.blob)) == []


def superseded(name: str, number: int, by: int) -> Record:
    """A memory that another took the place of."""
    stone = f"> Superseded by [x](../testing/x.md) ({ulid(by)}) on 2026-11-29: r"
    made = ended(memory(id=ulid(number), title=name), superseded_by=ulid(by), tombstone=stone)
    return record_of(made, f"memory/testing/{name}.md")


def test_a_successor_that_never_was() -> None:
    """RULES 1.4; RULES 6.3: a marker is enough."""
    assert found(superseded("a", 1, 2)) == [("RULES 1.4", "memory/testing/a.md")]
    assert found(superseded("a", 1, 2), markers=[marker_of(memory(id=ulid(2)), "b", "r", NOW)]) == []


def test_a_cycle_is_reported_for_each_of_its_members_and_no_other() -> None:
    """RULES 1.8; the walk ends also for those that lead into it."""
    ring = [superseded("a", 1, 2), superseded("b", 2, 3), superseded("c", 3, 1), superseded("d", 4, 1)]
    assert found(*ring) == [("RULES 1.8", f"memory/testing/{name}.md") for name in "abc"]


def test_secrets_hidden_characters_and_conflict_markers_have_their_line() -> None:
    """RULES 4.3, 4.4, 6.8: never the value."""
    text = f"\none\ntoken {TOKEN}\nthree\n>>>>>>> theirs\n=======\n<<<<<<< ours\nbi\u202edi"
    findings = check(View(), Scope.PROJECT, NOW, [("memory/testing/a.md", text.encode())])
    start = 2
    secret = [finding for finding in findings if "secret" in finding.rule]
    assert [finding.line for finding in secret] == [start + 1]
    assert [f.line for f in findings if f.rule == "RULES 6.8"] == [start + 3, start + 4, start + 5]
    assert [f.line for f in findings if f.rule == "RULES 4 hidden"] == [start + 6]
    assert TOKEN[4:20] not in repr(findings)


def test_a_secret_in_a_key_that_we_do_not_know_is_found() -> None:
    """RULES 4.3: comments of it, too."""
    made = memory(unknown=(Unknown("owner", f"# {TOKEN}\nowner: me\n"),))
    view = build(None, [record_of(made, "memory/testing/a.md")])
    assert any("secret" in finding.rule for finding in check(view, Scope.PROJECT, NOW, files_of(view)))


def test_a_name_that_another_should_have() -> None:
    """RULES 6.4: the least id has the name that several want."""
    suffix = ulid(1)[-6:].lower()
    rows = found(record("x", id=ulid(2), title="B"), record(f"x--{suffix}", id=ulid(1)))
    assert rows == [("RULES 6.4", f"memory/testing/x--{suffix}.md"), ("RULES 6.4", "memory/testing/x.md")]


def test_two_files_with_one_name_or_id() -> None:
    """FORMAT "Tree": a name is unique in its store, whatever its section."""
    twins = found(record("x", id=ulid(1)), record("x", id=ulid(2), title="B", section="Build"))
    assert ("FORMAT name", "memory/build/x.md") in twins
    assert ("FORMAT id", "memory/testing/y.md") in found(record("x"), record("y"))


def test_findings_are_sorted_by_place() -> None:
    """CLI `check`: the same store, the same report."""
    rows = found(record("b", id=ulid(2), scope=Scope.USER), record("a", scope=Scope.USER, title="A"))
    assert rows == sorted(rows, key=lambda row: row[1])


def test_what_no_parser_keeps_is_looked_at_too() -> None:
    """RULES 4.3: a comment above a known key, the README, a file that is no memory; with their lines."""
    files = [("README.md", b"# Memory\n"), ("memory/a/bad.md", f"---\n# {TOKEN}\nid: x\n".encode())]
    [finding] = check(View(), Scope.PROJECT, NOW, files)
    assert (finding.path, finding.line) == ("memory/a/bad.md", 2)
    assert "secret" in finding.rule


def lines(*records: Record, **how: Any) -> list[tuple[str, int]]:
    """Rule and line of each finding."""
    view = build(None, records)
    return [(finding.rule, finding.line) for finding in check(view, Scope.PROJECT, NOW, files_of(view), **how)]


def test_a_fault_of_a_key_has_the_line_of_the_key() -> None:
    """HOOKS_AND_REVIEW "check": file, line and rule."""
    assert lines(record("a", verdict=Verdict.OUTDATED)) == [("RULES 4 cleanup", 10)]
    assert lines(record("a", scope=Scope.USER)) == [("RULES 7", 6)]


def test_a_memory_beside_the_marker_of_its_deletion() -> None:
    """RULES 6.3: a hand merge that kept both sides."""
    one = record("a")
    assert found(one, markers=[marker_of(one.memory, one.name, "r", NOW)]) == [("RULES 6.3", one.path)]


def test_what_differs_from_the_parent_in_a_way_that_no_operation_makes() -> None:
    """RULES 6.1, 6.2, 6.6: a hand merge or edit; a rewording with its time is fine."""
    old = memory(id=ulid(1), title="A")

    def since(*parents: Memory, **changes: Any) -> list[str]:
        new = record_of(replace(old, **changes), "memory/testing/a.md")
        before = [{"memory/testing/a.md": parent} for parent in parents or (old,)]
        return [rule for rule, _ in lines(new, before=before)]

    earlier, later = old.updated_at - timedelta(seconds=5), old.updated_at + timedelta(seconds=5)
    old = replace(old, updated_at=earlier, last_scored_at=earlier, created_at=earlier, valid_from=earlier)
    assert since(updated_at=earlier + timedelta(seconds=1), title="B") == []
    assert since(title="B") == ["RULES 6.6"]
    assert since(score=71, tier="hot") == ["RULES 6.6"]
    assert since(created_at=earlier - timedelta(seconds=1)) == ["RULES 6.1"]
    assert since(old, replace(old, title="B")) == [], "a merge chose one of two with one stamp"
    assert since(old, replace(old, title="B", updated_at=later)) == ["RULES 6.2"], "it chose the older"
    assert since(ended(old)) == ["RULES 6.6"]
    assert since(ended(old), restores=1) == []


def test_a_memory_that_is_gone_without_a_marker() -> None:
    """RULES 6.3: absence says nothing."""
    old = record("a")
    before = [{old.path: old.memory}]
    [finding] = check(View(), Scope.PROJECT, NOW, (), before)
    assert (finding.rule, finding.path) == ("RULES 6.3", old.path)
    marked = build(None, [], markers=[marker_of(old.memory, old.name, "r", NOW)])
    assert check(marked, Scope.PROJECT, NOW, (), before) == []


@pytest.mark.parametrize(
    "path",
    ["unreadable/../x", ".git/config", "a/.GIT", "git~1", "a\\b", "con", "nul.txt", "x.", "x ", "a:b", "a\nb", "."],
)
def test_unsafe_paths(path: str) -> None:
    """FORMAT "Tree"."""
    assert [finding.path for finding in check(View(), Scope.PROJECT, NOW, [(path, b"")])] == [path]


def test_case_twins() -> None:
    """FORMAT "Tree": on some systems they are one file; so are two spellings of one letter."""
    files = [(path, b"") for path in ("a/X.md", "a/x.md", "b/\u00e9", "b/e\u0301", "c/x.md", ".github/x", "console")]
    found = check(View(), Scope.PROJECT, NOW, files)
    assert [(finding.rule, finding.path) for finding in found] == [
        ("FORMAT tree", "a/x.md"),
        ("FORMAT tree", "b/e\u0301"),
    ]


def test_what_cannot_be_read_is_a_finding_once() -> None:
    """A blob that a crash took."""
    problem = Problem("memory/a/b.md", "cannot be read: x")
    found = check(View(problems=(problem,)), Scope.PROJECT, NOW, [("memory/a/b.md", None), ("README.md", None)])
    assert [finding.path for finding in found] == ["README.md", "memory/a/b.md"]
