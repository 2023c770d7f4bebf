"""The look at a person's repository: what is there is told as git has it, and nothing leads out of it."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from invincat.store.base import Signature
from invincat.store.locate import locate
from invincat.store.source import Source

Git = Callable[..., str]


@pytest.fixture
def source(repo: Path) -> Source:
    return Source(locate(repo))


@pytest.fixture
def bare(repo: Path, git: Git, tmp_path: Path) -> Source:
    git("clone", "--quiet", "--bare", str(repo), str(tmp_path / "bare.git"))
    return Source(locate(tmp_path / "bare.git"))


def test_head_and_branch(source: Source, git: Git) -> None:
    head = git("rev-parse", "HEAD").strip()
    assert source.position() == (source.head(), source.branch()) == (head, "main")
    git("switch", "--quiet", "--create", "feature/x")
    assert source.branch() == "feature/x"
    git("switch", "--quiet", "--detach")
    assert source.position() == (source.head(), source.branch()) == (head, None)
    git("switch", "--quiet", "--orphan", "empty")
    assert source.position() == (source.head(), source.branch()) == (None, "empty")


@pytest.mark.parametrize("packed", [False, True])
def test_where_head_is_stands_in_the_files_or_is_asked_of_git(
    source: Source, repo: Path, git: Git, tmp_path: Path, packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    git("worktree", "add", "--quiet", "-b", "feature/x", str(tmp_path / "tree"))
    git("commit", "--quiet", "--allow-empty", "--message", "More")
    if packed:
        git("pack-refs", "--all")
    asked: list[object] = []
    ask = Source._ask
    monkeypatch.setattr(Source, "_ask", lambda source, *words: asked.append(words) or ask(source, *words))
    assert source.position() == (git("rev-parse", "main").strip(), "main")
    assert Source(locate(tmp_path / "tree")).position() == (git("rev-parse", "feature/x").strip(), "feature/x")
    assert len(asked) == (2 if packed else 0)
    (repo / ".git/HEAD").write_text("ref: refs/heads/../../HEAD\n")
    assert source.head() is None


def test_read_is_of_the_work_tree(source: Source, repo: Path) -> None:
    (repo / "src").mkdir()
    (repo / "src" / "é b.py").write_bytes(b"\xff\r\n")
    assert source.read("src/é b.py") == b"\xff\r\n"
    (repo / "README.md").write_text("changed\n")
    assert source.read("README.md") == b"changed\n"
    assert source.read_at("HEAD", "README.md") == b"# A project\n"


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "/etc/passwd",
        "../secret",
        "src/../../secret",
        "none",
        "src",
        ".git/config",
        ".GIT/config",
        "a\0b",
        "out",
        "outdir/secret",
        "into-git",
        "gitdir/config",
        "loop",
        "pipe",
        "README.md/x",
    ],
)
def test_read_stays_inside(source: Source, repo: Path, tmp_path: Path, path: str) -> None:
    (tmp_path / "secret").write_text("secret\n")
    (repo / "src").mkdir()
    for name, target in (
        ("out", tmp_path / "secret"),
        ("outdir", tmp_path),
        ("into-git", repo / ".git" / "config"),
        ("gitdir", ".git"),
        ("loop", "loop"),
    ):
        (repo / name).symlink_to(target)
    os.mkfifo(repo / "pipe")
    assert source.read(path) is None


def test_a_link_that_stays_inside_is_followed(source: Source, repo: Path) -> None:
    (repo / "alias.md").symlink_to("README.md")
    assert source.read("alias.md") == b"# A project\n"


def test_a_bare_repository_is_read_at_head(bare: Source) -> None:
    assert bare.read("README.md") == b"# A project\n"
    assert bare.read("none") is None
    assert bare.read("../HEAD") is None
    assert bare.files() == ["README.md"]
    assert bare.branch() == "main"


def test_read_at_a_revision(source: Source, repo: Path, git: Git) -> None:
    first = git("rev-parse", "HEAD").strip()
    (repo / "src").mkdir()
    (repo / "src" / "with space.py").write_text("x = 1\n\nend")
    (repo / "README.md").write_text("second\n")
    git("add", ".")
    git("commit", "--quiet", "--message", "More")
    git("tag", "-a", "v1", "-m", "one")
    for rev in ("HEAD~1", first, first[:8], "main~1", "v1~1"):
        assert source.read_at(rev, "README.md") == b"# A project\n", rev
    assert source.read_at("v1", "src/with space.py") == b"x = 1\n\nend"
    assert source.read_at("HEAD", "src") is None
    assert source.read_at("HEAD", "none") is None
    assert source.read_at("none", "README.md") is None


@pytest.mark.parametrize(
    "rev",
    [
        "--all",
        "-p",
        "--output=owned",
        "",
        " ",
        "HEAD:README.md",
        ":README.md",
        ":/Begin",
        "HEAD\nHEAD",
        "HEAD..HEAD",
        "HEAD\0",
        "^HEAD",
        "1" * 40,
        "--end-of-options",
        "--batch-all-objects",
    ],
)
def test_a_revision_is_never_an_option_or_a_search(source: Source, repo: Path, rev: str) -> None:
    assert source.commit(rev) is None
    assert source.read_at(rev, "README.md") is None
    assert sorted(path.name for path in repo.iterdir()) == [".git", "README.md"]


@pytest.mark.parametrize("path", ["../README.md", "/README.md", "./README.md", "a\nHEAD:README.md", ""])
def test_a_path_at_a_revision_is_one_path(source: Source, path: str) -> None:
    assert source.read_at("HEAD", path) is None


def test_a_commit_with_trailers(source: Source, git: Git) -> None:
    message = (
        "Use nox\n\nBecause tox is slow.\n\nMemory: run the tests\n  through nox\n"
        "Co-authored-by: Grace <grace@example.org>\nMemory: and é\n"
    )
    env = {"GIT_AUTHOR_DATE": "2026-11-29T12:00:00+0200", "GIT_AUTHOR_NAME": "Zoë"}
    git("commit", "--quiet", "--allow-empty", "--file=-", input=message, env=env)
    found = source.commit("HEAD")
    assert found is not None
    assert found.id == git("rev-parse", "HEAD").strip()
    assert found.author == Signature("Zoë", "ada@example.org")
    assert found.time == datetime(2026, 11, 29, 10, tzinfo=UTC)
    assert found.message == message
    assert found.trailers == (
        ("Memory", "run the tests through nox"),
        ("Co-authored-by", "Grace <grace@example.org>"),
        ("Memory", "and é"),
    )
    first = source.commit("HEAD~1")
    assert first is not None
    assert (first.message, first.trailers) == ("Begin\n", ())


def test_configuration_does_not_change_what_is_read(source: Source, git: Git) -> None:
    for key, value in (
        ("log.showSignature", "true"),
        ("format.pretty", "oneline"),
        ("color.ui", "always"),
        ("core.quotePath", "true"),
        ("log.date", "relative"),
        ("trailer.separators", ":"),
    ):
        git("config", key, value)
    found = source.commit("main")
    assert found is not None
    assert found.message == "Begin\n"
    assert source.branch() == "main"


def test_only_commits_are_commits(source: Source, git: Git) -> None:
    head = git("rev-parse", "HEAD").strip()
    git("tag", "-a", "v1", "-m", "one")
    assert all(source.commit(rev) for rev in (head, head[:7], "HEAD", "main", "v1"))
    for rev in (git("rev-parse", "HEAD^{tree}").strip(), "HEAD^{tree}", "none", head[:-1] + "x"):
        assert source.commit(rev) is None
    tagged = source.commit("v1")
    assert tagged is not None
    assert tagged.id == head


def test_blob_id_is_that_of_git(source: Source, repo: Path, git: Git) -> None:
    for data in (b"", b"text\n", bytes(range(256))):
        assert source.blob_id(data) == git("hash-object", "--stdin", input=data).strip()


def test_files_are_what_git_would_list(source: Source, repo: Path, git: Git) -> None:
    (repo / "src").mkdir()
    for name in ("src/é\n.py", "src/b.py", "notes.log", "new"):
        (repo / name).write_text(name)
    (repo / ".gitignore").write_text("*.log\n")
    git("add", "src/b.py")
    assert source.files() == [".gitignore", "README.md", "new", "src/b.py", "src/é\n.py"]
    assert Source(locate(repo / "src")).files() == source.files(), "wherever one stands"


def test_changed_files_are_in_play_unless_they_are_a_multitude(source: Source, repo: Path, git: Git) -> None:
    assert source.changed() == []
    (repo / "README.md").write_text("changed\n")
    (repo / "moved é\n.py").write_text("x")
    (repo / "new.py").write_text("x")
    git("add", "moved é\n.py")
    assert source.changed() == ["README.md", "moved é\n.py"]
    for number in range(120):
        (repo / f"generated-{number}").write_text("x")
    git("add", ".")
    assert source.changed() == []


def test_a_path_in_conflict_is_listed_once(source: Source, repo: Path, git: Git) -> None:
    git("switch", "--quiet", "--create", "other")
    (repo / "README.md").write_text("other\n")
    git("commit", "--quiet", "--all", "--message", "Other")
    git("switch", "--quiet", "main")
    (repo / "README.md").write_text("main\n")
    git("commit", "--quiet", "--all", "--message", "Main")
    with pytest.raises(AssertionError):
        git("merge", "--quiet", "other")
    assert source.files() == ["README.md"]


def test_an_unborn_repository(git: Git, tmp_path: Path) -> None:
    git("init", "--quiet", str(tmp_path / "new"))
    git("init", "--quiet", "--bare", str(tmp_path / "new.git"))
    for place in ("new", "new.git"):
        source = Source(locate(tmp_path / place))
        assert (source.head(), source.branch(), source.files(), source.changed()) == (None, "main", [], [])
        assert source.commit("HEAD") is None
        assert source.read("README.md") is None


def test_a_hook_does_not_mislead(source: Source, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git("init", "--quiet", str(tmp_path / "other"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "other" / "index"))
    assert source.files() == ["README.md"]
    assert source.commit("main")


@pytest.mark.parametrize("how", ["replaced", "grafted"])
def test_what_one_clone_grafts_does_not_change_with_what_the_project_began(
    source: Source, repo: Path, git: Git, how: str
) -> None:
    first = git("rev-parse", "HEAD").strip()
    git("commit", "--quiet", "--allow-empty", "--message", "Go on")
    if how == "replaced":
        git("replace", "--graft", "HEAD")
    else:
        (repo / ".git/info/grafts").write_text(git("rev-parse", "HEAD"))
    assert source.first_commit() == first
    git("switch", "--quiet", "--orphan", "empty")
    assert source.first_commit() is None
