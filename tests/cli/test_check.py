"""`check [REV]`: what a person, a script and a workflow are told of a store, also of one that is only fetched."""

from pathlib import Path

import pytest

from invincat.store.base import MEMORY_REF

TOKEN = "ghp_" + "Zk3Qv8Lr2Tn5Wb7Xc9Yd4Mf6Hs1Jg0Pa3Ue8"


@pytest.fixture
def store(invincat) -> None:
    invincat("init")
    invincat("remember", "Tests run through nox.")
    invincat("remember", "Releases are tagged by hand.")


@pytest.fixture
def tree(store: None, repo: Path, git) -> Path:
    """The store's files, checked out for a person who edits them by hand."""
    git("worktree", "add", "--quiet", "-b", "by-hand", str(repo.parent / "by-hand"), MEMORY_REF)
    return repo.parent / "by-hand"


@pytest.fixture
def by_hand(tree: Path, git):
    def commit(message: str = "By hand") -> str:
        git("add", "--all", cwd=tree)
        git("commit", "--quiet", "--allow-empty", "--message", message, cwd=tree)
        return git("rev-parse", "HEAD", cwd=tree).strip()

    return commit


def rules(run) -> list[str]:
    return [finding["rule"] for finding in run.json["findings"]]


def test_a_sound_store_is_counted_by_itself(invincat) -> None:
    invincat("remember", "Use nox.")
    invincat("remember", "Use tox.")
    assert invincat("check").out == "sound: 2 memories in the project store\n"
    invincat("remember", "I like tea.", "--scope", "user")
    assert invincat("check").out == "sound: 2 memories in the project store, 1 memory in the user store\n"


def test_what_our_own_operations_leave_is_sound(invincat, store: None) -> None:
    invincat("update", "tests-run-through-nox", "--content", "Tests run through nox, always.")
    invincat("rescore", "tests-run-through-nox", "--score", "90", "--reason", "r")
    invincat("archive", "releases-are-tagged-by-hand", "--reason", "r")
    invincat("restore", "releases-are-tagged-by-hand", "--reason", "r")
    invincat("delete", "releases-are-tagged-by-hand", "--reason", "r")
    for back in range(6):
        assert "sound" in invincat("check", f"invincat/memory~{back}").out


def test_any_revision_may_be_asked_about(invincat, tree: Path, by_hand) -> None:
    """The store itself is sound; the branch that somebody would merge is not."""
    [path] = tree.glob("memory/general/tests*.md")
    path.write_text(path.read_text() + f"\ntoken {TOKEN}\n")
    commit = by_hand()
    assert "sound" in invincat("check").out
    for rev in (commit, commit[:10], "by-hand", "refs/heads/by-hand"):
        run = invincat("check", rev, "--json", code=1)
        assert "secret:github-token" in rules(run)
        assert TOKEN not in run.out
    assert "sound" in invincat("check", "by-hand~1").out
    assert "no memory commit" in invincat("check", "nonsense", code=1).err
    assert "memory store" in invincat("check", "main", code=1).err


def test_in_ci_there_is_no_ref_of_ours(invincat, tree: Path, by_hand, git, tmp_path: Path) -> None:
    """A clone has the published branch only; a bare mirror of one, too."""
    git("branch", "invincat/memory", MEMORY_REF)
    [path] = tree.glob("memory/general/tests*.md")
    path.rename(path.with_name("Bad Name.md"))
    commit = by_hand()
    git("clone", "--quiet", "--no-hardlinks", str(tree), str(tmp_path / "clone"))
    git("clone", "--quiet", "--bare", "--no-hardlinks", str(tree), str(tmp_path / "bare.git"))
    clone, bare = tmp_path / "clone", tmp_path / "bare.git"
    assert "sound" in invincat("check", "origin/invincat/memory", cwd=clone).out
    run = invincat("check", "origin/by-hand", "--format", "github", cwd=clone, code=1)
    assert run.out.startswith("::error file=memory/general/Bad Name.md,line=1::")
    assert "sound" in invincat("check", "refs/heads/invincat/memory", cwd=bare).out
    invincat("check", commit, cwd=bare, code=1)


def test_a_hand_merge_that_kept_a_deleted_memory(invincat, tree: Path, by_hand, git) -> None:
    """Marker and file: git merges both without a conflict."""
    [path] = tree.glob("memory/general/tests*.md")
    kept = path.read_text()
    invincat("delete", "tests-run-through-nox", "--reason", "r")
    git("merge", "--quiet", "--no-edit", MEMORY_REF, cwd=tree)
    path.write_text(kept)
    assert rules(invincat("check", by_hand(), "--json", code=1)) == ["RULES 6.3"]


def test_a_hand_merge_that_left_both_files(invincat, tree: Path, by_hand) -> None:
    [path] = tree.glob("memory/general/tests*.md")
    (tree / "memory/general/tests-twice.md").write_text(path.read_text())
    assert rules(invincat("check", by_hand(), "--json", code=1)) == ["FORMAT id"]


def test_a_hand_edit_without_its_time(invincat, tree: Path, by_hand) -> None:
    [path] = tree.glob("memory/general/tests*.md")
    text = path.read_text()
    path.write_text(text.replace("nox", "make"))
    run = invincat("check", by_hand(), "--json", code=1)
    line = text.splitlines().index(next(line for line in text.splitlines() if line.startswith("updated_at"))) + 1
    assert [(finding["rule"], finding["line"]) for finding in run.json["findings"]] == [("RULES 6.6", line)]


def test_a_memory_that_a_hand_removed(invincat, tree: Path, by_hand) -> None:
    [path] = tree.glob("memory/general/tests*.md")
    path.unlink()
    assert rules(invincat("check", by_hand(), "--json", code=1)) == ["RULES 6.3"]


def test_a_lost_blob_is_a_finding(invincat, store: None, repo: Path, git) -> None:
    id = git("rev-parse", f"{MEMORY_REF}:memory/general/tests-run-through-nox.md").strip()
    (repo / ".git/objects" / id[:2] / id[2:]).unlink()
    readme = git("rev-parse", f"{MEMORY_REF}:README.md").strip()
    (repo / ".git/objects" / readme[:2] / readme[2:]).unlink()
    for cache in (repo / ".git/invincat/parsed").glob("*"):
        cache.unlink()
    run = invincat("check", "--json", code=1)
    assert [finding["path"] for finding in run.json["findings"]] == [
        "README.md",
        "memory/general/tests-run-through-nox.md",
    ]


def test_evidence_that_stands_here_no_more(invincat, store: None, commit_file) -> None:
    """RULES 12, only when it is asked for."""
    commit_file("noxfile.py", "nox.options.sessions = ['tests']\n")
    invincat("remember", "Sessions are listed in noxfile.", "--evidence", "noxfile.py#L1-L1")
    assert "sound" in invincat("check", "--evidence").out
    commit_file("noxfile.py", "pass\n")
    assert "sound" in invincat("check").out
    run = invincat("check", "--evidence", "--json", code=1)
    assert rules(run) == ["RULES 12"]
    assert "stale" in run.json["findings"][0]["message"]


def test_folders_that_hold_each_other_many_times_end(invincat, store: None, git) -> None:
    """Thirty levels of ten equal folders are 10^30 paths, and thirty trees."""
    tree = git(
        "mktree", input=f"100644 blob {git('hash-object', '-w', '--stdin', input=TOKEN).strip()}\ttoken\n"
    ).strip()
    for _ in range(30):
        tree = git("mktree", input="".join(f"040000 tree {tree}\td{number}\n" for number in range(10))).strip()
    root = git("ls-tree", MEMORY_REF) + f"040000 tree {tree}\tdeep\n"
    commit = git("commit-tree", "-p", MEMORY_REF, "-m", "deep", git("mktree", input=root).strip()).strip()
    git("update-ref", MEMORY_REF, commit)
    found = invincat("check", "--json", code=1).json["findings"]
    assert len([one for one in found if "secret" in one["rule"]]) == 1
