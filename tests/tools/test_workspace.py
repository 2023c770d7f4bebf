"""A path from a model ends inside the workspace and outside of every git directory, or is refused with a next step."""

import os
import socket
from pathlib import Path

import pytest

from invincat.errors import UserError
from invincat.tools.workspace import NoAccess, Workspace, is_git_name


def read(workspace, path):
    with workspace.open(workspace.resolve(path)) as file:
        return file.read()


def refusal(workspace, path):
    with pytest.raises(UserError) as caught:
        read(workspace, path)
    assert caught.value.next_step, "every refusal says what to do"
    return str(caught.value)


def test_relative_and_absolute_paths_inside(workspace, repo, write):
    write("src/é b.py", "1\n")
    for path in ("README.md", "./README.md", "src/../README.md", str(repo / "README.md"), "src//../README.md"):
        assert read(workspace, path) == b"# A project\n"
        assert workspace.resolve(path).name == "README.md"
    assert workspace.resolve("src/é b.py").name == "src/é b.py"


def test_the_root_is_that_of_the_work_tree(repo, write):
    write("src/a.py")
    assert Workspace.at(repo / "src").root == repo.resolve()
    assert Workspace.at(repo / "src").resolve("src/a.py").name == "src/a.py"


def test_the_root_may_be_reached_through_a_link(repo, tmp_path):
    (tmp_path / "alias").symlink_to(repo)
    workspace = Workspace.at(tmp_path / "alias")
    assert read(workspace, str(tmp_path / "alias" / "README.md")) == b"# A project\n"


def test_a_directory_without_a_repository(tmp_path):
    (tmp_path / "notes.txt").write_text("n")
    workspace = Workspace.at(tmp_path)
    assert (workspace.root, workspace.is_versioned) == (tmp_path.resolve(), False)
    assert read(workspace, "notes.txt") == b"n"
    assert "outside" in refusal(workspace, "../x")


OUTSIDE = [
    "..",
    "../secret",
    "/etc/passwd",
    "/",
    "src/../../secret",
    "out",
    "outdir/secret",
    "outdir/none",
    "../none",
    "gone",
    "chain",
]


def test_ways_out_are_refused_alike_whether_something_is_there_or_not(workspace, repo, tmp_path):
    (tmp_path / "secret").write_text("secret\n")
    (repo / "src").mkdir()
    (repo / "out").symlink_to(tmp_path / "secret")
    (repo / "outdir").symlink_to("..")
    (repo / "gone").symlink_to(tmp_path / "nowhere")
    (repo / "chain").symlink_to("outdir/secret")
    for path in OUTSIDE:
        assert "outside of the workspace" in refusal(workspace, path), path


def test_a_sibling_with_the_same_beginning_is_outside(workspace, repo):
    (repo.parent / "repo-evil").mkdir()
    (repo.parent / "repo-evil" / "x").write_text("x")
    assert "outside" in refusal(workspace, "../repo-evil/x")


def test_links_that_stay_inside_are_followed(workspace, repo):
    (repo / "alias.md").symlink_to("README.md")
    (repo / "absolute.md").symlink_to(repo / "README.md")
    assert read(workspace, "alias.md") == read(workspace, "absolute.md") == b"# A project\n"
    assert workspace.resolve("alias.md").name == "README.md"


def test_what_is_not_there_says_why(workspace, repo):
    (repo / "dangling").symlink_to("nothing")
    (repo / "loop").symlink_to("loop")
    (repo / "there").symlink_to("back")
    (repo / "back").symlink_to("there")
    assert "no such file" in refusal(workspace, "none.py")
    assert "leads nowhere" in refusal(workspace, "dangling")
    assert "leads nowhere" in refusal(workspace, "dangling/x")
    assert "leads back to itself" in refusal(workspace, "loop")
    assert "leads back to itself" in refusal(workspace, "there")
    assert "a part of it is no directory" in refusal(workspace, "README.md/x")
    assert "too long" in refusal(workspace, "a" * 5000)


@pytest.mark.parametrize("path", ["", "a\0b", "\ud800", "README.md\0"])
def test_what_is_no_path(workspace, path):
    assert "no path" in refusal(workspace, path)


CLOSED = "git directories and memory stores are closed"


GIT = [
    ".git",
    ".git/config",
    ".GIT/config",
    ".Git",
    "x/../.git/HEAD",
    "sub/.git",
    "link/config",
    "link",
    "deep/config",
    ".git/none",
    ".git.",
    ".g\u200cit/config",
]


def test_the_git_directory_is_closed_by_every_name(workspace, repo):
    (repo / "x").mkdir()
    (repo / "link").symlink_to(".git")
    (repo / "x" / "up").symlink_to("../link")
    (repo / "deep").symlink_to("x/up")
    for path in GIT:
        assert CLOSED in refusal(workspace, path), path
        assert CLOSED in refusal(workspace, str(repo / path)), path


@pytest.mark.parametrize(
    "name", [".git", ".GIT", ".git ", ".git.", "git~1", "GIT~2", ".g\u200dit", ".git::$INDEX_ALLOCATION"]
)
def test_names_that_some_file_system_takes_for_git(name):
    assert is_git_name(name)


@pytest.mark.parametrize("name", [".gitignore", ".github", "git", ".gitmodules", "x.git", ".git-hooks", "git~x"])
def test_names_that_are_not(name):
    assert not is_git_name(name)


def test_a_renamed_git_directory_is_closed(repo, git, tmp_path):
    git("init", "--quiet", "--separate-git-dir", str(repo / "data"))
    workspace = Workspace.at(repo)
    assert CLOSED in refusal(workspace, ".git")
    assert CLOSED in refusal(workspace, "data/config")
    (repo / "other").symlink_to("data")
    assert CLOSED in refusal(workspace, "other/config")
    assert read(workspace, "README.md")


def test_other_repositories_within_are_closed_too(workspace, repo, git):
    git("init", "--quiet", "nested")
    git("clone", "--quiet", "--bare", ".", "store.git")
    for path in ("nested/.git/config", "nested/.git", "store.git/config", "store.git/HEAD", "store.git"):
        assert CLOSED in refusal(workspace, path)


def test_a_linked_work_tree(repo, git, tmp_path, write):
    git("worktree", "add", "--quiet", str(tmp_path / "other"), "-b", "other")
    git("worktree", "add", "--quiet", str(repo / "inside"), "-b", "inside")
    workspace = Workspace.at(tmp_path / "other")
    assert workspace.root == (tmp_path / "other").resolve()
    assert CLOSED in refusal(workspace, ".git")
    assert "outside" in refusal(workspace, "../repo/.git/config")
    inner = Workspace.at(repo)
    assert CLOSED in refusal(inner, "inside/.git")
    assert read(inner, "inside/README.md") == b"# A project\n"


def test_a_submodule(repo, git, tmp_path):
    git("clone", "--quiet", ".", str(tmp_path / "library"))
    git("submodule", "--quiet", "add", str(tmp_path / "library"), "lib")
    workspace = Workspace.at(repo)
    assert CLOSED in refusal(workspace, "lib/.git")
    assert CLOSED in refusal(workspace, ".git/modules/lib/config")
    assert read(workspace, "lib/README.md") == b"# A project\n"
    assert Workspace.at(repo / "lib").root == (repo / "lib").resolve()
    assert "outside" in refusal(Workspace.at(repo / "lib"), "../README.md")


def test_a_store_of_ours_inside_is_closed_when_it_comes_later(repo):
    place = repo / "data" / "invincat"
    workspace = Workspace.at(repo, closed=[place])
    place.mkdir(parents=True)
    (place / "installation").write_text("secret")
    (repo / "alias").symlink_to("data")
    assert CLOSED in refusal(workspace, "data/invincat/installation")
    assert CLOSED in refusal(workspace, "alias/invincat")
    assert workspace.resolve("data").name == "data"


def test_inside_a_git_directory_everything_is_closed(repo, git):
    assert CLOSED in refusal(Workspace.at(repo / ".git"), "config")
    git("clone", "--quiet", "--bare", ".", "../bare.git")
    assert CLOSED in refusal(Workspace.at(repo.parent / "bare.git"), "config")


def test_bare_with_work_trees_beside_it(repo, git, tmp_path):
    project = tmp_path / "project"
    git("clone", "--quiet", "--bare", ".", str(project / ".bare"))
    (project / ".git").write_text("gitdir: ./.bare\n")
    git("worktree", "add", "--quiet", str(project / "main"), cwd=project)
    workspace = Workspace.at(project)
    assert CLOSED in refusal(workspace, ".bare/config")
    assert read(workspace, "main/README.md") == b"# A project\n"


def test_only_regular_files_are_opened(workspace, repo):
    os.mkfifo(repo / "pipe")
    (repo / "null").symlink_to("/dev/null")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(repo)
        try:
            listener.bind("sock")
        finally:
            os.chdir(here)
        assert "pipe" in refusal(workspace, "pipe")
        assert "socket" in refusal(workspace, "sock")
    assert "list_dir" in refusal(workspace, ".")
    assert "outside" in refusal(workspace, "null")


def test_a_device_inside_is_not_opened():
    assert "device" in refusal(Workspace(Path("/dev")), "zero")


def test_what_was_swapped_for_a_link_after_the_check_is_not_followed(workspace, repo, tmp_path, write):
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "a.py").write_text("secret")
    write("src/a.py", "fine")
    file, folder = workspace.resolve("README.md"), workspace.resolve("src/a.py")
    (repo / "README.md").unlink()
    (repo / "README.md").symlink_to(tmp_path / "secret" / "a.py")
    (repo / "src").rename(repo / "moved")
    (repo / "src").symlink_to(tmp_path / "secret")
    for place in (file, folder):
        with pytest.raises((OSError, NoAccess)):
            workspace.open(place)
