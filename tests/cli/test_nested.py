"""Repositories in repositories, and packages of a monorepo (case 6)."""

from pathlib import Path


def titles(listed) -> list[str]:
    return [memory["title"] for memory in listed.json["memories"]]


def test_the_nearest_repository_owns_what_is_said_in_it(invincat, git):
    """Case 6."""
    inner: Path = invincat.directory / "vendor/inner"
    (inner / "deep").mkdir(parents=True)
    git("init", "--quiet", cwd=inner)
    invincat("init")
    invincat("remember", "Build the outer one with make.")
    assert "run `invincat init`" in invincat("list", code=1, cwd=inner / "deep").err
    invincat("init", cwd=inner)
    invincat("remember", "Build the inner one with ninja.", cwd=inner / "deep")
    assert titles(invincat("list", "--json")) == ["Build the outer one with make"]
    assert titles(invincat("list", "--json", cwd=inner / "deep")) == ["Build the inner one with ninja"]


def test_a_package_of_a_monorepo_is_kept_as_a_field(invincat, commit_file):
    """Case 6: the root's store keeps it, with the package's paths."""
    commit_file("packages/web/AGENTS.md", "# Web\n\n- Always test components with vitest.\n")
    package = invincat.directory / "packages/web"
    invincat("init", "--import", cwd=package)
    [memory] = invincat("list", "--json").json["memories"]
    assert memory["applies_to"] == ["packages/web/**"]
    assert (invincat.directory / ".git/invincat").is_dir()
