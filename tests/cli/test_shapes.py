"""Every shape of a git repository: the same day in each, and nothing of the person's is touched.

What the git in PATH cannot make is skipped by name; a newer one in front of PATH runs all of it.
"""

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

OLD, NEW = "Run the tests with make.", "Run the tests through nox."

Shape = Callable[[Path, Callable[..., str], Path], Path]
SHAPES: dict[str, Shape] = {}


def shape(make: Shape) -> Shape:
    """`make(repo, git, tmp_path)` gives the directory to work in."""
    SHAPES[make.__name__.strip("_")] = make
    return make


def initialised(path: Path, *options: str, why: str) -> Path:
    """A new repository with one commit, or a skip."""
    made = subprocess.run(["git", "init", "--quiet", *options, path], capture_output=True, check=False)
    if made.returncode:
        pytest.skip(f"{subprocess.getoutput('git version')} {why}")
    (path / "README.md").write_text("# A project\n")
    for words in (["add", "."], ["commit", "--quiet", "--message", "Begin"]):
        subprocess.run(["git", *words], cwd=path, check=True)
    return path


@shape
def plain(repo, git, tmp_path):
    return repo


@shape
def linked_worktree(repo, git, tmp_path):
    git("worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
    return tmp_path / "linked"


@shape
def bare(repo, git, tmp_path):
    git("clone", "--quiet", "--bare", str(repo), str(tmp_path / "bare.git"))
    return tmp_path / "bare.git"


@shape
def worktree_of_a_bare_one(repo, git, tmp_path):
    """Case 16."""
    git("clone", "--quiet", "--bare", str(repo), str(tmp_path / "project" / ".bare"))
    (tmp_path / "project" / ".git").write_text("gitdir: ./.bare\n")
    git("worktree", "add", "--quiet", "main", "main", cwd=tmp_path / "project")
    return tmp_path / "project" / "main"


@shape
def submodule(repo, git, tmp_path):
    """Case 17: the store belongs to the submodule."""
    git("clone", "--quiet", str(repo), str(tmp_path / "outer"))
    git("submodule", "--quiet", "add", str(repo), "part", cwd=tmp_path / "outer")
    git("commit", "--quiet", "--message", "Add it", cwd=tmp_path / "outer")
    return tmp_path / "outer" / "part"


@shape
def separate_git_dir(repo, git, tmp_path):
    git("clone", "--quiet", f"--separate-git-dir={tmp_path / 'apart'}", str(repo), str(tmp_path / "split"))
    return tmp_path / "split"


@shape
def subdirectory(repo, git, tmp_path):
    (repo / "src" / "deep").mkdir(parents=True)
    return repo / "src" / "deep"


@shape
def shallow(repo, git, tmp_path):
    git("commit", "--quiet", "--allow-empty", "--message", "More")
    git("clone", "--quiet", "--depth=1", repo.as_uri(), str(tmp_path / "shallow"))
    return tmp_path / "shallow"


@shape
def partial_clone(repo, git, tmp_path):
    git("config", "uploadpack.allowFilter", "true")
    git("clone", "--quiet", "--filter=blob:none", repo.as_uri(), str(tmp_path / "partial"))
    return tmp_path / "partial"


@shape
def alternates(repo, git, tmp_path):
    git("clone", "--quiet", "--shared", str(repo), str(tmp_path / "shared"))
    return tmp_path / "shared"


@shape
def sparse(repo, git, tmp_path):
    for folder in ("in", "out"):
        (repo / folder).mkdir()
        (repo / folder / "file").write_text("x\n")
    git("add", ".")
    git("commit", "--quiet", "--message", "Folders")
    git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
    return repo


@shape
def packed_refs(repo, git, tmp_path):
    git("pack-refs", "--all")
    git("gc", "--quiet")
    return repo


@shape
def sha256(repo, git, tmp_path):
    return initialised(tmp_path / "long", "--object-format=sha256", why="makes no SHA-256 repositories")


@shape
def reftable(repo, git, tmp_path):
    """Case 14."""
    return initialised(tmp_path / "table", "--ref-format=reftable", why="makes no reftable repositories (2.45 does)")


@shape
def worktree_of_a_reftable(repo, git, tmp_path):
    place = reftable(repo, git, tmp_path)
    git("worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"), cwd=place)
    return tmp_path / "linked"


@shape
def worktree_config(repo, git, tmp_path):
    git("config", "extensions.worktreeConfig", "true")
    git("worktree", "add", "--quiet", "--detach", str(tmp_path / "linked"))
    git("config", "--worktree", "core.fileMode", "false", cwd=tmp_path / "linked")
    return tmp_path / "linked"


@shape
def odd_path(repo, git, tmp_path):
    place = tmp_path / "Größe und Maß\t日本 -x"
    git("clone", "--quiet", str(repo), str(place))
    return place


@shape
def detached_head(repo, git, tmp_path):
    """Case 19, and so the next two."""
    git("checkout", "--quiet", "--detach")
    return repo


def conflicting(repo: Path, git) -> None:
    git("checkout", "--quiet", "-b", "other")
    for branch in ("other", "main"):
        git("checkout", "--quiet", branch)
        (repo / "README.md").write_text(f"# {branch}\n")
        git("commit", "--quiet", "--all", "--message", branch)


@shape
def merge_in_progress(repo, git, tmp_path):
    conflicting(repo, git)
    assert subprocess.run(["git", "merge", "other"], cwd=repo, capture_output=True, check=False).returncode
    assert (repo / ".git/MERGE_HEAD").exists()
    return repo


@shape
def rebase_in_progress(repo, git, tmp_path):
    conflicting(repo, git)
    assert subprocess.run(["git", "rebase", "other"], cwd=repo, capture_output=True, check=False).returncode
    assert (repo / ".git/rebase-merge").exists()
    return repo


@shape
def unborn_branch(repo, git, tmp_path):
    git("init", "--quiet", str(tmp_path / "unborn"))
    return tmp_path / "unborn"


@pytest.mark.parametrize("make", SHAPES.values(), ids=SHAPES.keys())
def test_a_day_in_every_shape(make, invincat, repo, git, tmp_path):
    place = make(repo, git, tmp_path)

    def day(*words: str, cwd: Path = place) -> str:
        return invincat(*words, cwd=cwd).out

    before = of_the_person(git, place)
    day("init")
    day("remember", OLD, "--section", "Testing", "--name", "tests")
    assert OLD.rstrip(".") in day("recall", "tests make")
    day("supersede", "tests", "--content", NEW, "--reason", "nox drives the matrix", "--name", "nox")
    assert "supersede" in day("log")
    assert "sound" in day("check")
    assert of_the_person(git, place) == before
    assert git("fsck", "--strict", "--no-dangling", "--no-progress", cwd=place) == ""

    assert git("log", "--format=%s", "refs/invincat/memory", "--", cwd=place).splitlines()[0].startswith("supersede")
    if make is unborn_branch:
        return  # git itself makes no work tree of it
    # Case 1: what is learned in a second work tree stays when that is removed.
    second = tmp_path / "second"
    git("worktree", "add", "--quiet", "--detach", str(second), cwd=place)
    assert NEW.rstrip(".") in day("list", cwd=second)
    day("remember", "Deploy on Mondays.", cwd=second)
    git("worktree", "remove", "--force", str(second), cwd=place)
    assert "Deploy on Mondays" in day("list")
    assert "sound" in day("check")


def of_the_person(git, place: Path) -> tuple[str, ...]:
    """HEAD, other refs, index and status: all that belongs to the code."""
    refs = git("for-each-ref", "--format=%(refname) %(objectname)", cwd=place).splitlines()
    told = [git("rev-parse", "--git-path", "HEAD", cwd=place), *(ref for ref in refs if "refs/invincat/" not in ref)]
    if git("rev-parse", "--is-bare-repository", cwd=place) == "true\n":
        return tuple(told)
    index = place / git("rev-parse", "--git-path", "index", cwd=place).strip()
    data = index.read_bytes().hex() if index.exists() else ""
    return (*told, git("status", "--porcelain=v2", "--branch", "--ignored", cwd=place), data)


def test_a_submodule_has_a_store_of_its_own(invincat, repo, git, tmp_path):
    """Case 17."""
    place = submodule(repo, git, tmp_path)
    invincat("remember", OLD, cwd=place)
    assert git("for-each-ref", "refs/invincat/", cwd=tmp_path / "outer") == ""
    assert git("for-each-ref", "refs/invincat/", cwd=place)


def test_memories_that_a_partial_clone_left_out_are_fetched_at_once(invincat, repo, git, tmp_path, monkeypatch):
    for number in range(12):
        invincat("remember", f"Fact number {number}.", "--section", f"S{number % 3}")
    git("config", "uploadpack.allowFilter", "true")
    git("update-ref", "refs/heads/invincat/memory", "refs/invincat/memory")
    place = partial_clone(repo, git, tmp_path)
    git("update-ref", "refs/invincat/memory", "origin/invincat/memory", cwd=place)
    trace = tmp_path / "trace"
    monkeypatch.setenv("GIT_CONFIG_COUNT", "0")
    monkeypatch.setattr("invincat.store.locate._KEPT", ("GIT_",))
    monkeypatch.setenv("GIT_TRACE", str(trace))
    assert invincat("list", "--json", cwd=place).json["memories"].__len__() == 12
    fetches = [line for line in trace.read_text().splitlines() if "git fetch" in line and "built-in" in line]
    assert len(fetches) == 1
    assert "sound" in invincat("check", cwd=place).out
    invincat("remember", "One more.", cwd=place)
    # The remote goes away: what is here can be read.
    (repo / ".git").rename(tmp_path / "gone")
    assert len(invincat("list", "--json", cwd=place).json["memories"]) == 13


def test_a_partial_clone_without_its_remote_says_so_in_one_line(invincat, repo, git, tmp_path):
    invincat("remember", OLD)
    git("config", "uploadpack.allowFilter", "true")
    git("update-ref", "refs/heads/invincat/memory", "refs/invincat/memory")
    place = partial_clone(repo, git, tmp_path)
    git("update-ref", "refs/invincat/memory", "origin/invincat/memory", cwd=place)
    (repo / ".git").rename(tmp_path / "gone")
    run = invincat("list", cwd=place, code=1)
    assert run.err.count("\n") == 1
    assert "partial clone left out cannot be fetched" in run.err


def test_a_hook_that_sets_git_dir_reaches_its_own_store(process, repo, git, tmp_path):
    """Git sets these for its hooks; the directory decides, as for a person."""
    other = initialised(tmp_path / "other", why="")
    environment = {
        "GIT_DIR": str(other / ".git"),
        "GIT_WORK_TREE": str(other),
        "GIT_INDEX_FILE": str(other / ".git/index"),
        "GIT_OBJECT_DIRECTORY": str(other / ".git/objects"),
        "GIT_COMMON_DIR": str(other / ".git"),
        "GIT_PREFIX": "src/",
    }
    inside = replace(process, environment={**process.environment, **environment})
    inside("remember", OLD)
    assert "make" in inside("recall", "make").out
    assert git("for-each-ref", "refs/invincat/")
    assert git("for-each-ref", "refs/invincat/", cwd=other) == ""
    assert git("fsck", "--strict") == ""


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give a file away")
def test_a_foreign_owner_is_refused_until_git_is_told(invincat, repo, git):
    invincat("remember", OLD)
    for path in (repo, repo / ".git"):
        os.chown(path, 65534, 65534)
    run = invincat("list", code=1)
    assert run.err.count("\n") == 1
    assert "dubious ownership" in run.err
    git("config", "--global", "safe.directory", str(repo), cwd=repo.parent)
    try:
        assert "make" in invincat("list").out
    finally:
        git("config", "--global", "--unset-all", "safe.directory", cwd=repo.parent)


def test_an_unknown_extension_is_one_clear_line(invincat, repo, git):
    git("config", "core.repositoryFormatVersion", "1")
    git("config", "extensions.preciousObjects", "true")
    for words in (("list",), ("remember", OLD)):
        run = invincat(*words, code=1)
        assert run.err.count("\n") == 1
        assert "preciousObjects" in run.err
    git("config", "--unset", "extensions.preciousObjects")
    git("config", "extensions.fromTheFuture", "true")
    run = invincat("list", code=1)
    assert run.err.count("\n") == 1
    assert "fromthefuture" in run.err.lower()


@pytest.mark.parametrize("make", [lambda path: path.write_text(""), lambda path: path.symlink_to("elsewhere")])
def test_without_a_state_directory_reading_works_and_writing_says_why(invincat, repo, git, make):
    """As in a read-only checkout: a file in the way refuses root as well."""
    invincat("remember", OLD)
    state = repo / ".git/invincat"
    state.rename(repo / ".git/kept")
    make(state)
    assert "make" in invincat("list").out
    assert "make" in invincat("recall", "make").out
    assert "make" in invincat("show", "run-the-tests-with-make").out
    assert "sound" in invincat("check").out
    assert "create" in invincat("log").out
    run = invincat("remember", NEW, code=1)
    assert run.err.count("\n") == 1
    assert ".git/invincat" in run.err


@pytest.mark.skipif(hasattr(os, "getuid") and os.getuid() == 0, reason="root may write to what is read-only")
def test_a_read_only_checkout(invincat, repo, git):
    invincat("remember", OLD)
    folders = [repo / ".git", *(path for path in (repo / ".git").rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o500)
    try:
        assert "make" in invincat("list").out
        assert "make" in invincat("recall", "make").out
        run = invincat("remember", NEW, code=1)
        assert run.err.count("\n") == 1
        assert "Permission denied" in run.err
    finally:
        for folder in folders:
            folder.chmod(0o700)


@pytest.mark.parametrize("name", ["lock", "pending", "pending.tmp", "journal"])
@pytest.mark.parametrize("plant", ["fifo", "link", "folder"])
def test_what_is_planted_in_the_state_directory_hangs_nobody(invincat, repo, git, name, plant):
    invincat("remember", OLD)
    tip = git("rev-parse", "refs/invincat/memory")
    path = repo / ".git/invincat" / name
    path.unlink(missing_ok=True)
    victim = repo / "victim"
    victim.write_text("precious\n")
    {"fifo": lambda: os.mkfifo(path), "link": lambda: path.symlink_to(victim), "folder": path.mkdir}[plant]()
    if name != "journal":  # which says whether another tool moved the ref
        assert "make" in invincat("list").out
    for words in (("list",), ("remember", NEW)) if name == "journal" else (("remember", NEW),):
        run = invincat(*words, code=1)
        assert run.err.count("\n") == 1
        assert f"{path}: is no plain file" in run.err
    assert victim.read_text() == "precious\n"
    assert git("rev-parse", "refs/invincat/memory") == tip


def test_a_link_where_a_section_should_be_has_a_way_out(invincat, repo, git):
    invincat("remember", OLD, "--section", "Testing")
    blob = git("hash-object", "-w", "--stdin", input="../../src").strip()
    env = {"GIT_INDEX_FILE": str(repo / ".git/planting")}
    git("read-tree", "refs/invincat/memory", env=env)
    git("update-index", "--add", "--cacheinfo", f"120000,{blob},memory/style", env=env)
    tree = git("write-tree", env=env).strip()
    planted = git("commit-tree", "-p", "refs/invincat/memory", "-m", "plant", tree).strip()
    git("update-ref", "refs/invincat/memory", planted)
    run = invincat("remember", "Format with black.", "--section", "Style", code=1)
    [line] = [line for line in run.err.splitlines() if line.startswith("invincat: ")]
    assert "symbolic link" in line
    assert "another section" in line
    invincat("remember", "Format with black.", "--section", "Formatting")
