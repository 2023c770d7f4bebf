"""What does not hold here is marked wherever memories are shown (RULES 12, case 2)."""

NOX = {"at": "noxfile.py#L2", "quote": "nox.options.sessions"}


def _learn_on_a_branch(invincat, git, commit_file):
    """On `main`, with a memory of the branch `feature`."""
    invincat("init")
    git("switch", "--quiet", "--create", "feature")
    commit_file("noxfile.py", "import nox\nnox.options.sessions = []\n")
    operation = {"op": "create", "scope": "project", "section": "Testing", "content": "Run the tests through nox"}
    invincat.apply({**operation, "evidence": [NOX]}, actor="memory-agent")
    git("switch", "--quiet", "main")


def _holds(invincat):
    [listed] = invincat("list", "--json").json["memories"]
    [hit] = invincat("recall", "--json", "nox").json["hits"]
    shown = invincat("show", "--json", "run-the-tests-through-nox").json
    assert listed["holds"] == hit["holds"] == shown["holds"]
    return shown["holds"]


def test_a_memory_of_another_branch_is_marked_until_the_branch_arrives(invincat, git, commit_file):
    _learn_on_a_branch(invincat, git, commit_file)
    assert _holds(invincat) == "provisional"
    mark = "provisional: learned on feature"
    for words in (("list",), ("recall", "nox"), ("show", "run-the-tests-through-nox")):
        assert mark in invincat(*words).out
    git("merge", "--quiet", "--squash", "feature")
    git("commit", "--quiet", "--message", "Squash")
    assert _holds(invincat) == "here"
    assert "provisional" not in invincat("list").out
    commit_file("noxfile.py", "import tox\n")
    assert _holds(invincat) == "stale"
    assert "[stale: stood at " in invincat("list").out


def test_right_after_an_import_of_a_file_that_is_not_committed_all_holds(invincat, repo):
    (repo / "AGENTS.md").write_text("# Project\n\n- Never push to main without a review.\n")
    invincat("init", "--import")
    [memory] = invincat("list", "--json").json["memories"]
    assert memory["holds"] == "here"
    (repo / "AGENTS.md").unlink()
    assert "[provisional: learned on main]" in invincat("list").out
