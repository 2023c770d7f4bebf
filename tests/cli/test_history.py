"""History as people ask for it: log, show, list and plain `git blame`."""

from pathlib import Path

import pytest

from tests.cli.by_hand import commit_by_hand


@pytest.fixture
def nox(invincat, commit_file):
    """One memory through its life: created, reworded, rated, superseded."""
    commit_file("noxfile.py", "import nox\n\nnox.options.sessions = ['tests']\n")
    invincat("remember", "Use markers. They are fast.", "--name", "markers", "--section", "Testing")
    invincat("update", "markers", "--content", "Use markers. They are fast.\nAnd few.")
    invincat("rescore", "markers", "--score", "80", "--reason", "used daily")
    words = ("--content", "Use nox.", "--name", "use-nox", "--section", "Testing", "--evidence", "noxfile.py#L3")
    invincat("supersede", "markers", *words, "--reason", "nox drives the matrix now")
    return invincat


def test_git_blame_finds_the_commit_of_each_line(nox, git):
    """Only lines of changed keys are written anew, so that blame says which commit set which value."""
    subjects = git("log", "--format=%H %s", "invincat/memory", "--").splitlines()
    verbs = {line.split()[0]: line.split()[1] for line in subjects}
    blamed = {}
    for line in git("blame", "-l", "-s", "invincat/memory", "--", "memory/testing/markers.md").splitlines():
        commit, _, text = line.partition(" ")
        blamed[text.partition(") ")[2]] = verbs[commit]
    by_key = {text.partition(":")[0]: verb for text, verb in blamed.items()}
    created = ("id", "title", "kind", "section", "scope", "confidence", "verdict", "created_at", "valid_from", "source")
    assert {key: by_key[key] for key in created} == dict.fromkeys(created, "create")
    assert blamed["They are fast."] == "create"
    assert {by_key["updated_at"], blamed["And few."]} == {"update"}
    assert {by_key[key] for key in ("tier", "score", "last_scored_at")} == {"score"}
    ends = {key: verb for key, verb in by_key.items() if key in {"invalid_at", "superseded_by"} or key[:1] == ">"}
    assert set(ends.values()) == {"supersede"} and len(ends) == 3


def test_log_of_one_memory_says_why_by_whom_and_on_what(nox):
    out = nox("log", "markers").out
    assert "    why: nox drives the matrix now\n    by: user\n    evidence: noxfile.py#L3\n" in out
    assert "- Use markers" in out and "+ Use nox" in out
    assert "why:" not in nox("log", "markers", "--oneline").out
    assert "why: used daily" in nox("log", "-v").out
    ops = [commit["op"] for commit in nox("log", "markers", "--json").json["commits"]]
    assert ops == ["supersede", "score", "update", "create"]


def test_log_counts_commits_of_others(nox, git, repo):
    """A commit made by hand has no trailers: the trees tell."""
    text = git("show", "invincat/memory:memory/testing/use-nox.md").replace("title: Use nox", "title: Use nox only")
    commit_by_hand(git, repo, "memory/testing/use-nox.md", text, "Reword by hand")
    log = nox("log", "use-nox", "--json").json["commits"]
    assert log[0]["subject"] == "Reword by hand"
    version = nox("show", "use-nox", "--history", "--json").json["versions"][0]
    assert version["fields"] == [{"key": "title", "old": "Use nox", "new": "Use nox only"}]
    assert (version["op"], version["event"]) == (None, "changed by hand")


def test_versions_say_what_changed_by_key(nox):
    out = nox("show", "markers", "--history").out
    assert "score: 50 -> 80" in out and "tier: warm -> hot" in out and "why: used daily" in out
    assert "  + And few." in out
    assert "superseded_by: use-nox" in out
    versions = nox("show", "markers", "--history", "--json").json["versions"]
    assert [version["op"] for version in versions] == ["supersede", "score", "update", "create"]
    assert versions[-1]["event"] == "created as memory/testing/markers.md"


def test_a_deleted_memory_is_found_by_its_id_and_by_the_name_it_had(nox):
    id = nox("show", "use-nox", "--json").json["id"]
    nox("move", "use-nox", "--name", "nox-it-is", "--reason", "shorter")
    nox("delete", "nox-it-is", "--reason", "was never true")
    for name in ("nox-it-is", id, id[:20].lower(), "memory/testing/nox-it-is.md"):
        out = nox("show", name).out
        assert "deleted on" in out and "was never true" in out and "title: Use nox" in out
        assert "is deleted" in nox("log", name).out
    shown = nox("show", id, "--json").json
    assert (shown["status"], shown["actor"], shown["reason"]) == ("deleted", "user", "was never true")
    assert shown["last"]["title"] == "Use nox"
    log = nox("log", id, "--json").json
    assert (log["status"], [commit["op"] for commit in log["commits"]]) == ("deleted", ["delete", "move", "supersede"])
    assert nox("list", "--status", "deleted", "--json").json["memories"][0]["name"] == "nox-it-is"
    assert "Use nox  (nox-it-is)" in nox("list", "--status", "deleted").out
    assert "no memory is called" in nox("show", "never-was", code=1).err


def test_an_exact_old_name_counts_where_only_starts_are_left(invincat):
    for name in ("fact-1", "fact-10", "fact-11"):
        invincat("remember", f"This is {name} of them.", "--name", name)
    invincat("delete", "fact-1", "--reason", "wrong")
    assert "deleted on" in invincat("show", "fact-1").out
    assert "could be" in invincat("show", "fact", code=1).err


def test_as_it_was_at_a_commit_or_a_time(nox, git):
    first = git("rev-list", "--reverse", "invincat/memory", "--").split()[1]
    shown = nox("show", "markers", "--at", first, "--json").json
    assert (shown["at"], shown["score"], shown["status"], shown["body"]) == (first, 50, "active", "They are fast.")
    assert "archived" not in nox("show", "markers", "--at", first[:10]).out
    listed = nox("list", "--at", "invincat/memory~1", "--json").json
    assert [memory["name"] for memory in listed["memories"]] == ["markers"]
    assert [memory["name"] for memory in nox("list", "--at", "2100-01-01", "--json").json["memories"]] == ["use-nox"]
    assert "did not exist yet" in nox("list", "--at", "2021-01-01", code=1).err
    assert "no memory commit" in nox("show", "markers", "--at", "HEAD", code=1).err
    assert "no memory was called" in nox("show", "use-nox", "--at", first, code=1).err


def test_a_memory_that_moved_is_found_where_it_was(nox):
    nox("move", "use-nox", "--name", "nox-it-is", "--reason", "shorter")
    before = nox("show", "nox-it-is", "--at", "invincat/memory~1", "--json").json
    assert before["name"] == "use-nox"
    assert nox("show", "use-nox", "--at", "invincat/memory~1", "--json").json["id"] == before["id"]
    event = nox("show", "nox-it-is", "--history", "--json").json["versions"][0]["event"]
    assert event == "moved from memory/testing/use-nox.md to memory/testing/nox-it-is.md"


def test_hidden_characters_of_the_history_are_shown(invincat, git, repo):
    invincat("remember", "Use nox.", "--name", "nox")
    text = git("show", "invincat/memory:memory/general/nox.md").replace("title: Use nox", 'title: "Use \u202enox"')
    commit_by_hand(git, repo, "memory/general/nox.md", text, "Re\u200bword")
    invincat("delete", "nox", "--reason", "was wrong")
    for words in (("show", "nox"), ("log", "nox"), ("show", "nox", "--history"), ("list", "--status", "deleted")):
        out = invincat(*words).out
        assert "\u202e" not in out and "\u200b" not in out and "<U+" in out, words


def test_of_two_lines_that_were_merged_each_commit_is_told_once(invincat, git):
    """A merge counts for a memory only where it is neither side's."""
    invincat("remember", "Use nox.", "--name", "nox")
    base = git("rev-parse", "refs/invincat/memory").strip()
    invincat("update", "nox", "--content", "Use nox. Always.")
    ours = git("rev-parse", "refs/invincat/memory").strip()
    git("update-ref", "refs/invincat/memory", base)
    invincat("remember", "Use ruff.", "--name", "ruff")
    ruff = git("show", "refs/invincat/memory:memory/general/ruff.md")
    theirs = git("rev-parse", "refs/invincat/memory").strip()
    git("update-ref", "refs/invincat/memory", ours)
    joined = commit_by_hand(git, Path(git("rev-parse", "--show-toplevel").strip()), "memory/general/ruff.md", ruff, "x")
    merge = git("commit-tree", f"{joined}^{{tree}}", "-p", ours, "-p", theirs, "-m", "merge").strip()
    git("update-ref", "refs/invincat/memory", merge)
    subjects = {
        name: [commit["subject"] for commit in invincat("log", name, "--json").json["commits"]]
        for name in ("nox", "ruff")
    }
    assert subjects == {
        "nox": ["update general/nox: Use nox", "create general/nox: Use nox"],
        "ruff": ["create general/ruff: Use ruff"],
    }
    changes = invincat("diff", f"{ours[:10]}..{merge[:10]}", "--format", "json").json["changes"]
    assert [(change["label"], change["because"][-1]["commit"]) for change in changes] == [("general/ruff", theirs)]


def test_in_a_shallow_clone_history_ends_where_the_clone_does(nox, git, repo):
    git("branch", "invincat/memory", "refs/invincat/memory")
    git("clone", "--quiet", "--depth", "2", "--no-single-branch", f"file://{repo}", "../shallow")
    clone = repo.parent / "shallow"
    git("update-ref", "refs/invincat/memory", "origin/invincat/memory", cwd=clone)
    assert [commit["op"] for commit in nox("log", "--json", cwd=clone).json["commits"]] == ["supersede", "score"]
    assert len(nox("show", "markers", "--history", "--json", cwd=clone).json["versions"]) == 2
    assert "+ Use nox" in nox("diff", "origin/invincat/memory~1", cwd=clone).out
    assert "does not reach back" in nox("diff", "origin/invincat/memory~2", cwd=clone, code=1).err
    assert "did not exist yet" in nox("list", "--at", "2021-01-01", cwd=clone, code=1).err
