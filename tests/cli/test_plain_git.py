"""Everything is readable with plain git, in the forms that FORMAT lists; nothing of the user's is touched."""

from pathlib import Path


def test_the_forms_of_format(invincat, git):
    invincat("remember", "Use nox.", "--section", "Testing", "--name", "use-nox")
    invincat("remember", "Tag from main.", "--section", "Releases")
    assert git("log", "--format=%s", "invincat/memory", "--").splitlines()[-1] == "memory: root"
    patch = git("log", "-p", "--format=%s", "invincat/memory", "--", ":/memory/testing")
    assert "+title: Use nox" in patch and "Tag from main" not in patch
    assert git("show", "invincat/memory:memory/testing/use-nox.md").startswith("---\nid: ")
    assert "create" not in git("log", "--exclude=refs/invincat/*", "--all", "--format=%s")
    assert "Op: create" in git("log", "-1", "--format=%(trailers:key=Invincat-Op)", "invincat/memory", "--")
    assert git("fsck", "--strict", "--no-dangling") == ""
    assert "README.md" in git("ls-tree", "--name-only", "invincat/memory")


def test_work_tree_index_and_status_stay_untouched(invincat, repo, git):
    (repo / "half.py").write_text("half done\n")
    git("add", "half.py")
    (repo / "README.md").write_text("# A project, edited\n")
    (repo / "new.txt").write_text("not added\n")

    def state() -> tuple[str, bytes, list[Path]]:
        files = sorted(path for path in repo.rglob("*") if ".git" not in path.parts)
        return git("status", "--porcelain"), (repo / ".git/index").read_bytes(), files

    before = state()
    invincat("init", "--import")
    invincat("remember", "Use nox.", "--name", "use-nox")
    invincat("supersede", "use-nox", "--content", "Use tox.", "--reason", "simpler")
    invincat("recall", "tox")
    invincat("brief")
    assert state() == before
    assert git("stash", "list") == ""


def test_state_files_are_private(invincat, repo):
    invincat("remember", "Use nox.")
    invincat("recall", "nox")
    state = repo / ".git/invincat"
    assert state.stat().st_mode & 0o077 == 0
    loose = [path for path in state.rglob("*") if path.stat().st_mode & 0o077]
    assert loose == []
    assert not (state / "memory").exists()


def test_a_repository_with_a_planted_index_does_not_run_it(invincat, repo, git):
    """An index or parsed entries from elsewhere are never opened (FORMAT)."""
    invincat("remember", "Use nox.", "--name", "use-nox")
    invincat("recall", "nox")
    stranger = type(invincat)(repo, {"INVINCAT_DATA_DIR": str(repo.parent / "stranger")})
    before = {path for path in (repo / ".git/invincat/index").rglob("*") if path.is_file()}
    assert stranger("recall", "--json", "nox").json["total"] == 1
    after = {path for path in (repo / ".git/invincat/index").rglob("*") if path.is_file()}
    kept = {path.name for path in before & after}
    assert kept <= {"lock", "stamp.json"}, "the index of another installation was kept"


def test_linked_worktrees_share_one_store(invincat, repo, git):
    """Case 1: saved in a linked worktree, readable when that is gone."""
    git("worktree", "add", "--quiet", "../linked", "-b", "side")
    linked = repo.parent / "linked"
    invincat("remember", "Use nox.", "--name", "use-nox", cwd=linked)
    assert invincat("show", "use-nox", "--json").json["source"]["branch"] == "side"
    git("worktree", "remove", "--force", "../linked")
    assert invincat("recall", "--json", "nox").json["total"] == 1
