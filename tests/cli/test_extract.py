"""Learning without a model (RULES 5.5)."""

import json
import subprocess

import pytest


def transcript(*turns: tuple[str, str]) -> str:
    return "".join(json.dumps({"role": role, "text": text}, ensure_ascii=False) + "\n" for role, text in turns)


def test_a_conversation(invincat, git):
    words = transcript(
        ("user", "Remember: the staging database is reset every night."),
        ("assistant", "Remember: I said this and nobody asked me to."),
        ("user", "We always rebase before merging."),
        ("user", "Can you look at the failing test?"),
        ("user", "```\nremember: this is code\n```"),
    )
    outcomes = invincat("extract", "--transcript", "-", "--json", input=words, code=3).json["outcomes"]
    assert [outcome["verdict"] for outcome in outcomes] == ["committed", "held"]
    memories = invincat("list", "--json").json["memories"]
    assert [memory["title"] for memory in memories] == ["The staging database is reset every night"]
    assert memories[0]["source"]["evidence"][0]["at"] == "turn:1"
    assert memories[0]["confidence"] == "high" and memories[0]["score"] >= 70
    assert len(git("for-each-ref", "refs/invincat/proposals/").splitlines()) == 1


def test_a_second_run_learns_nothing_new(invincat, git):
    words = transcript(("user", "记住：提交前要运行 make lint。"), ("user", "我们总是先写测试。"))
    invincat("extract", "--transcript", "-", input=words, code=3)
    refs = git("for-each-ref", "refs/invincat/")
    outcomes = invincat("extract", "--transcript", "-", "--json", input=words, code=3).json["outcomes"]
    assert [outcome["verdict"] for outcome in outcomes] == ["noop", "held"]
    assert git("for-each-ref", "refs/invincat/") == refs


def test_preferences_go_to_the_person(invincat):
    invincat("init")
    words = transcript(("user", "Remember that I prefer tabs in my own scratch files."))
    outcome = invincat("extract", "--transcript", "-", "--json", input=words).json["outcomes"][0]
    assert (outcome["scope"], outcome["verdict"]) == ("user", "committed")


def test_a_commit_with_a_trailer(invincat, git, commit_file):
    commit_file("a.py", "x = 1\n", "Add a\n\nMemory: Constants live in a.py, nowhere else.\n")
    outcome = invincat("extract", "--commit", "HEAD", "--json").json["outcomes"][0]
    assert outcome["verdict"] == "committed"
    memory = invincat("show", outcome["operations"][0]["name"], "--json").json
    assert memory["source"]["actor"] == "rules"
    assert memory["source"]["evidence"][0]["at"] == f"commit:{git('rev-parse', 'HEAD').strip()}"


def test_bad_input_is_one_line_with_its_place(invincat):
    invincat("init")
    run = invincat("extract", "--transcript", "-", input='{"role": "user", "text": "x"}\nnonsense\n', code=1)
    assert "line 2" in run.err and run.err.count("\n") == 1
    run = invincat("extract", "--commit", "no-such-revision", code=1)
    assert "no such commit" in run.err
    run = invincat("extract", "--commit", "--output=/tmp/x", code=1)
    assert "no such commit" in run.err


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("rebase", "other"), "a rebase"),
        (("merge", "other"), "a merge"),
        (("cherry-pick", "other"), "a cherry-pick"),
        (("revert", "--no-commit", "HEAD"), "a revert"),
    ],
)
def test_case_19_extraction_is_postponed_and_saving_works(invincat, repo, git, commit_file, words, what):
    """In linked work trees too, each of which is in the middle of its own."""
    git("branch", "other")
    git("worktree", "add", "--quiet", str(repo.parent / "linked"), "other")
    for cwd in (repo.parent / "linked", repo):
        (cwd / "README.md").write_text(f"# {cwd.name}\n")
        git("commit", "--quiet", "--all", "--message", "Change\n\nMemory: Constants live in a.py.", cwd=cwd)
    subprocess.run(["git", *words], cwd=repo, capture_output=True, check=False)
    run = invincat("extract", "--commit", "HEAD", "--json")
    assert (run.json, run.err) == (
        {"outcomes": []},
        f"{what} is in progress: nothing was extracted; run it again when that is over\n",
    )
    assert git("for-each-ref", "refs/invincat") == ""
    assert "create" in invincat("remember", "Deploy on Mondays.").out
    assert "create" in invincat("extract", "--commit", "HEAD", cwd=repo.parent / "linked").out
    git(words[0], "--abort")
    assert "nothing to do" in invincat("extract", "--commit", "main").out, "it is learned, as from the other work tree"


def test_case_19_a_detached_head_is_no_reason_to_wait(invincat, git, commit_file):
    commit_file("a.py", "x = 1\n", "Add a\n\nMemory: Constants live in a.py, nowhere else.\n")
    git("checkout", "--quiet", "--detach")
    assert "create" in invincat("extract", "--commit", "HEAD").out
