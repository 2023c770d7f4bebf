"""What a person sees when something else than invincat moved the memory ref (RULES 10)."""

import json
from pathlib import Path

import pytest

from invincat.store.base import MEMORY_REF


@pytest.fixture
def moved(invincat, repo: Path, git) -> str:
    """A store of two memories, one of which somebody changed with plain git; that commit."""
    invincat("init")
    invincat("remember", "Tests run through nox.")
    invincat("remember", "Releases are tagged by hand.")
    tree = repo.parent / "by-hand"
    git("worktree", "add", "--quiet", "--detach", str(tree), MEMORY_REF)
    [path] = tree.glob("memory/general/tests-run*.md")
    path.write_text(path.read_text().replace("nox", "make"))
    git("commit", "--quiet", "--all", "--message", "By hand", cwd=tree)
    commit = git("rev-parse", "HEAD", cwd=tree).strip()
    git("update-ref", MEMORY_REF, commit)
    return commit


def test_told_once_listed_as_such_and_not_injected(invincat, moved: str) -> None:
    listed = invincat("list")
    assert f"moved the project memory to {moved[:7]}" in listed.err
    [line] = [line for line in listed.out.splitlines() if "make" in line]
    assert "[not accepted]" in line
    assert listed.out.count("[not accepted]") == 1
    assert moved[:7] not in invincat("list").err, "told once"
    assert "make" not in invincat("brief").out
    assert "[not accepted]" in invincat("recall", "make").out
    marks = {memory["title"]: memory.get("untrusted", False) for memory in invincat("list", "--json").json["memories"]}
    assert marks == {"Tests run through make": True, "Releases are tagged by hand": False}
    assert [hit["untrusted"] for hit in invincat("recall", "make", "--json").json["hits"] if "untrusted" in hit] == [
        True
    ]


def test_reviewed_and_accepted(invincat, moved: str) -> None:
    assert moved[:12] in invincat("review", "list").out
    assert [row["new"] for row in invincat("review", "list", "--json").json["foreign"]] == [moved]
    assert "believed" in invincat("review", "accept", moved[:12]).out
    assert "make" in invincat("brief").out
    assert "[not accepted]" not in invincat("list").out
    assert "nothing waits" in invincat("review", "list").err


def test_the_acceptance_stands_in_journal_and_audit(invincat, moved: str, repo: Path) -> None:
    invincat("review", "accept", moved)
    last = (repo / ".git/invincat/journal").read_text().splitlines()[-1]
    assert json.loads(last)["accepted"] == moved
    assert f"{moved[:7]} brought" in (repo / ".git/invincat/audit.jsonl").read_text().splitlines()[-1]


def test_an_unknown_commit_is_no_proposal(invincat, moved: str) -> None:
    assert "no waiting proposal" in invincat("review", "accept", "0" * 40, code=1).err


def test_accepted_and_written_on_it_stays_accepted(invincat, moved: str) -> None:
    invincat("review", "accept", moved)
    invincat("remember", "Docs live beside the code.")
    assert "nothing waits" in invincat("review", "list").err
    assert "make" in invincat("brief").out
