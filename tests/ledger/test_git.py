"""The ledger on a real repository, held against git itself."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from invincat.store.base import MEMORY_REF, PROPOSALS
from invincat.store.git import GitStore
from invincat.store.locate import locate
from invincat.store.message import read
from tests.memory.factories import MODEL, WORLD, Bench, create

Git = Callable[..., str]
TOKEN = "ghp_" + "Zk3Qv8Lr2Tn5Wb7Xc9Yd4Mf6Hs1Jg0Pa3Ue8"
ODD = [
    "Invincat-Op: delete",
    "--- a: b",
    "# no comment",
    "日本語: 「一」",
    "quotes \"and\" 'more'",
    "x" * 119,
    "a -- b",
]


@pytest.fixture
def bench(repo: Path) -> Bench:
    """A ledger on the repository, with odd titles and reasons in every kind of commit."""
    made = Bench(GitStore(locate(repo)))
    made.ok(*(create("Why: because.", title=title, name=f"m{n}") for n, title in enumerate(ODD)))
    for n, title in enumerate(ODD):
        made.ok({"op": "rescore", "id": f"m{n}", "score": 80, "reason": title})
    made.ok({"op": "supersede", "id": "m0", "content": "New.", "reason": "Invincat-Actor: nobody"})
    made.ok(
        {"op": "archive", "id": "m1", "reason": "--- unsure"}, {"op": "delete", "id": "m2", "reason": "Invincat-Op: x"}
    )
    return made


def test_git_reads_the_trailers_as_we_do(bench: Bench, git: Git) -> None:
    """FORMAT "Commits": trailers for programs, `git interpret-trailers` among them."""
    ids = git("rev-list", "--reverse", MEMORY_REF).split()[1:]
    assert len(ids) == 2 * len(ODD) + 3
    for id in ids:
        raw = git("cat-file", "commit", id).split("\n\n", 1)[1]
        message = read(raw)
        shown = [line.split(": ", 1) for line in git("interpret-trailers", "--parse", input=raw).splitlines()]
        assert shown == [line.split(": ", 1) for line in raw.rstrip().rpartition("\n\n")[2].split("\n")]
        assert ["Invincat-Op", message.op] in shown
        assert [value for key, value in shown if key == "Invincat-Reason"] == (
            [message.reason] if message.reason else []
        )
        assert git("log", "-1", "--format=%s", id).strip() == message.subject
        assert message.op is not None
        assert message.subject.startswith(f"{message.op} ")
    assert git("fsck", "--strict", "--full") == ""


def test_the_history_of_beliefs_leaves_scores_out(bench: Bench, git: Git) -> None:
    """FORMAT "Commits": the command that README prints."""
    shown = git("log", "--invert-grep", "--grep=^score", "--format=%s", "invincat/memory", "--").splitlines()
    assert [line.split(" ")[0] for line in shown[:3]] == ["delete", "archive", "supersede"]
    assert not any(line.startswith("score") for line in shown)
    assert len(shown) == len(ODD) + 4


def test_the_paths_that_people_type(bench: Bench, git: Git) -> None:
    """FORMAT "Refs": log of a section, a file at the tip."""
    assert "archive testing/m1" in git("log", "--format=%s", "invincat/memory", "--", ":/memory/testing/m1.md")
    assert git("show", "invincat/memory:memory/testing/m3.md").startswith("---\nid: ")
    assert git("status", "--porcelain") == ""
    assert git("branch", "--list", "--format=%(refname:short)") == "main\n"


def test_a_commit_made_with_plain_git_is_read(bench: Bench, git: Git, tmp_path: Path) -> None:
    """README of the store: edits made here by hand are read, too; our next commit keeps them."""
    tree = tmp_path / "tree"
    git("worktree", "add", "--quiet", "--detach", str(tree), MEMORY_REF)
    file = tree / "memory/testing/m3.md"
    text = file.read_text().replace("tags:", "tags:").replace("kind: convention", "# by hand\nkind: 'decision'")
    file.write_text(text.replace("Why: because.", "Why: by hand.\n\n---\n\n- rule"))
    (tree / "memory/testing/broken.md").write_text("---\n<<<<<<< ours\n")
    (tree / "notes.txt").write_bytes(b"\r\n\x00")
    (tree / "run.sh").write_text("#!/bin/sh\n")
    (tree / "run.sh").chmod(0o755)
    (tree / "memory/testing/link.md").symlink_to("m3.md")
    git("add", ".", cwd=tree)
    git("commit", "--quiet", "--message", "By hand", cwd=tree)
    git("update-ref", MEMORY_REF, git("rev-parse", "HEAD", cwd=tree).strip())
    held = bench.memory("m3")
    assert (held.kind, held.body) == ("decision", "Why: by hand.\n\n---\n\n- rule")
    reported = {problem.path for problem in bench.ledger.view().problems}
    assert reported == {"memory/testing/broken.md", "notes.txt", "run.sh", "memory/testing/link.md"}
    before = git("ls-tree", "-r", MEMORY_REF).splitlines()
    bench.ok({"op": "archive", "id": "m3", "reason": "r"}, create("Broken."), create("Link."))
    after = git("ls-tree", "-r", MEMORY_REF).splitlines()
    assert {line for line in before if "m3.md" not in line} <= set(after)
    now = git("show", f"{MEMORY_REF}:memory/testing/m3.md")
    assert "# by hand\nkind: 'decision'\n" in now
    assert now.endswith("- rule\n\n> Archived on 2026-11-29: r\n")
    assert {"broken", "link"}.isdisjoint(bench.ledger.view().names)


def test_a_held_proposal_is_a_ref_that_git_shows(bench: Bench, git: Git) -> None:
    """ARCHITECTURE, decision 8: review shows its diff against the memory."""
    evidence = [{"at": "url:https://example.org/x", "quote": "use tox"}]
    outcome = bench.do(create("Use tox.", evidence=evidence), source=MODEL, grounds=WORLD)
    ref = f"{PROPOSALS}{outcome.proposal}"
    assert git("merge-base", MEMORY_REF, ref) == git("rev-parse", MEMORY_REF)
    assert git("diff", "--name-only", f"{MEMORY_REF}...{ref}") == "memory/testing/use-tox.md\n"
    assert "Invincat-Held: " in git("log", "-1", "--format=%b", ref)


def test_a_refused_secret_is_nowhere_on_disk(bench: Bench, repo: Path, git: Git) -> None:
    """RULES 4.3, case 29: no object, ref or log has it, loose, packed or unreachable."""
    items = [create(f"Log in with {TOKEN}."), {"op": "archive", "id": "m4", "reason": TOKEN}]
    for item in items:
        assert bench.do(create("Fine."), item).verdict == "rejected"
    objects = git("cat-file", "--batch-all-objects", "--batch", "--unordered")
    assert TOKEN not in objects
    assert "Fine" not in objects
    grep = subprocess.run(["grep", "-r", TOKEN[8:24], str(repo)], check=False, capture_output=True)
    assert (grep.returncode, grep.stdout) == (1, b"")
