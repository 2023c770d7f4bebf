"""Exit codes, streams, and one clear line for what went wrong (CLI)."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from invincat.cli.main import COMMANDS
from invincat.cli.output import say

COMMAND = (sys.executable, "-P", "-m", "invincat")
FULL = Path("/dev/full")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(invincat, name):
    assert "Usage: invincat " + name in invincat(name, "--help").out


def test_help_lists_every_command(invincat):
    out = invincat("--help").out
    assert all(f"  {name} " in out for name in COMMANDS)


USAGE = (
    ("nonsense",),
    ("remember",),
    ("remember", "x", "--tier", "boiling"),
    ("supersede", "x", "--reason", "y"),
    ("archive", "x"),
    ("apply", "-", "--actor", "the cat"),
    ("update", "x", "--reason", "y"),
    ("recall", "x", "-n", "0"),
    ("-C", "/no/such/folder", "list"),
    ("extract",),
)


@pytest.mark.parametrize("words", USAGE, ids=" ".join)
def test_usage_errors_exit_2_with_one_line(invincat, words):
    run = invincat(*words, code=2)
    assert run.err.count("\n") == 1
    assert run.err.startswith("invincat: ")
    assert run.out == ""


def test_outside_a_repository(process, tmp_path):
    invincat = process
    empty = tmp_path / "empty"
    empty.mkdir()
    run = invincat("remember", "Use nox.", cwd=empty, code=1)
    assert "not inside a git repository" in run.err and "git init" in run.err
    assert list(empty.iterdir()) == []
    invincat("remember", "I like tea.", "--scope", "user", cwd=empty)
    assert invincat("recall", "--json", "tea", cwd=empty).json["total"] == 1


def test_no_identity_is_one_line_and_nothing_is_written(invincat, repo, git, tmp_path):
    config = tmp_path / "gitconfig"
    config.write_text("[user]\n\tuseConfigOnly = true\n")
    unset = {key: "" for key in os.environ if key.startswith(("GIT_AUTHOR", "GIT_COMMITTER"))}
    nobody = type(invincat)(repo, {**invincat.environment, **unset, "GIT_CONFIG_GLOBAL": str(config)})
    run = nobody("remember", "Use nox.", code=1)
    assert "git config --global user.name" in run.err and run.err.count("\n") == 1
    assert git("for-each-ref", "refs/invincat/") == ""


def test_an_ambiguous_name_lists_what_it_could_be(invincat):
    invincat("remember", "Use nox.", "--name", "use-nox")
    invincat("remember", "Use tox.", "--name", "use-tox")
    run = invincat("show", "use-", code=1)
    assert "use-nox" in run.err and "use-tox" in run.err
    assert "no memory is called" in invincat("show", "nothing", code=1).err


def test_a_name_that_nobody_has_is_told_which_are_near(invincat):
    invincat("remember", "Deploy on Fridays.")
    invincat("remember", "Use nox.")
    assert "no memory is called 'deplyo'; did you mean deploy-on-fridays?" in invincat("show", "deplyo", code=1).err
    assert "did you mean use-nox?" in invincat("archive", "use-nix", "--reason", "r", code=1).err
    assert "see `invincat list --status all`" in invincat("show", "zzz", code=1).err
    assert "nothing found; did you mean deploy-on-fridays or use-nox?" in invincat("recall", "deplo/nxo").err
    assert invincat("recall", "zzz").err == "nothing found\n"


def test_a_memory_is_near_by_the_words_of_its_title(invincat):
    invincat("remember", "部署只在星期二进行。")
    assert "did you mean bu-shu-zhi-zai-xing-qi-er-jin-xing?" in invincat("show", "部署", code=1).err


def test_what_options_kept_out_of_a_search_is_not_taken_for_a_mistake(invincat):
    invincat("remember", "Deploy on Fridays.")
    run = invincat("recall", "deploy", "--as-of", "2020-01-01", "--kind", "gotcha")
    assert run.err == "nothing found with --kind and --as-of; try it without\n"


def test_no_commit_is_shown_where_none_was_made(invincat):
    invincat("remember", "Use nox.")
    out = invincat("archive", "use-nox", "--reason", "r", "--dry-run").out
    assert out.startswith("would archive use-nox  project memory of ")


def test_the_help_of_apply_shows_a_batch_that_it_takes(invincat):
    invincat("remember", "Use tox.")
    batch = invincat("apply", "--help").out.partition("\n\n")[2].partition("\n\n")[2].partition("\n\n")[0]
    assert [done["op"] for done in invincat("apply", "-", "--json", input=batch).json["operations"]] == [
        "create",
        "archive",
    ]
    assert "none of user, memory-agent" in invincat("apply", "--schema", "--actor", "model", code=2).err


def test_what_is_remembered_needs_no_quotes(invincat):
    invincat("remember", "deploy", "on", "fridays", "--section", "Releases")
    assert invincat("show", "deploy-on-fridays", "--json").json["title"] == "deploy on fridays"
    invincat("remember", "-", input="Use nox.\n")
    assert invincat("show", "use-nox", "--json").json["title"] == "Use nox"


def test_a_time_that_is_none_is_told_what_is_one(invincat):
    invincat("remember", "Use nox.")
    assert "like 2026-11-29 or 2026-11-29T10:00:00Z" in invincat("list", "--at", "yesterday", code=1).err
    assert "for a commit or a ref use --at" in invincat("recall", "x", "--as-of", "HEAD", code=2).err


def test_long_lines_are_broken_between_words_on_a_terminal_only(invincat, monkeypatch, capsys):
    line = "  hot   constraint  Run the whole test suite before you push anything  (run-the-whole)"
    say(line)
    assert capsys.readouterr().out == f"{line}\n"
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    say(line)
    rows = capsys.readouterr().out.splitlines()
    assert " ".join(" ".join(rows).split()) == " ".join(line.split())
    assert max(map(len, rows)) <= 40
    assert rows[0].startswith("  hot   constraint  Run") and all(row.startswith("    ") for row in rows[1:])


@pytest.mark.parametrize("words", [("log",), ("show", "one", "--history"), ("diff", "invincat/memory~1"), ("doctor",)])
def test_history_is_broken_between_words_on_a_terminal(process, words):
    claim = "Run the whole suite before every push, because the runners are slow and nobody looks at them."
    process("remember", claim, "--name", "one")
    plain = process(*words).out
    environment = {**os.environ, **process.environment}
    shown = pexpect.run(
        shlex.join([*COMMAND, *words]),
        cwd=str(process.directory),
        env=environment,
        dimensions=(24, 60),
        encoding="utf-8",
    )
    assert len(shown.splitlines()) > len(plain.splitlines())
    assert shown.split() == plain.split()


def test_a_closed_pipe_is_quiet(invincat, repo):
    for number in range(3):
        invincat("remember", f"Fact number {number}.")
    pipe = f"{' '.join(COMMAND)} list --jsonl | true"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", pipe],
        cwd=repo,
        env={**os.environ, **invincat.environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""


def test_debug_shows_the_traceback(invincat, repo):
    done = subprocess.run(
        [*COMMAND, "--debug", "show", "nothing"], cwd=repo, env=os.environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "Traceback" in done.stderr


def test_json_of_a_batch_that_is_no_json(invincat):
    run = invincat("apply", "-", input="{", code=1)
    assert "is not JSON" in run.err
    run = invincat("apply", "-", input='{"operations": [], "more": 1}', code=1)
    assert '{"operations": [...]}' in run.err
    assert invincat("apply", "-", "--json", input='{"operations": [{"op": "noop"}]}').json["verdict"] == "noop"


def test_schema_is_printed(invincat):
    schema = invincat("apply", "--schema").json
    names = [variant["properties"]["op"]["const"] for variant in schema["properties"]["operations"]["items"]["anyOf"]]
    assert {"create", "update", "supersede", "archive", "restore", "noop"} <= set(names)


def test_broken_files_never_stop_the_store(invincat, git):
    """ARCHITECTURE, decision 10: a bad file is skipped, reported, and kept byte for byte."""
    invincat("remember", "Use nox.", "--name", "use-nox")
    blob = git("hash-object", "-w", "--stdin", input="---\nid: nonsense\n---\n").strip()
    tree = git("ls-tree", "refs/invincat/memory:memory/general")
    general = git("mktree", input=f"{tree}100644 blob {blob}\tbad.md\n120000 blob {blob}\tlink.md\n").strip()
    memory = git("mktree", input=f"040000 tree {general}\tgeneral\n").strip()
    lines = [line for line in git("ls-tree", "refs/invincat/memory").splitlines() if not line.endswith("\tmemory")]
    root = git("mktree", input="\n".join([*lines, f"040000 tree {memory}\tmemory"]) + "\n").strip()
    commit = git("commit-tree", root, "-p", "refs/invincat/memory", "-m", "by hand").strip()
    git("update-ref", "refs/invincat/memory", commit)

    assert [m["name"] for m in invincat("list", "--json").json["memories"]] == ["use-nox"]
    findings = invincat("check", "--format", "json", code=1).json["findings"]
    assert {(f["path"], f["line"]) for f in findings} == {
        ("memory/general/bad.md", 1),
        ("memory/general/link.md", 0),
    }
    run = invincat("remember", "Bad.", "--name", "bad", code=4)
    assert "taken" in run.err
    invincat("remember", "Use tox.", "--name", "use-tox")
    assert git("rev-parse", "refs/invincat/memory:memory/general/bad.md").strip() == blob
    assert git("ls-tree", "refs/invincat/memory:memory/general", "link.md").startswith("120000")


def test_closed_streams_are_no_fault(invincat, repo):
    command = f"{' '.join(COMMAND)} remember 'Use nox.' <&- >&- 2>&-"
    environment = {**os.environ, **invincat.environment}
    done = subprocess.run(["sh", "-c", command], cwd=repo, env=environment, check=False)
    assert done.returncode == 0
    assert "Use nox" in invincat("list").out


@pytest.mark.skipif(not FULL.exists(), reason="there is no full device here")
def test_output_that_nobody_can_take_is_one_line(invincat, repo):
    environment = {**os.environ, **invincat.environment}
    with FULL.open("w") as full:
        done = subprocess.run(
            [*COMMAND, "config", "list"], cwd=repo, env=environment, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 1
    assert done.stderr.startswith(b"invincat: cannot write the output: No space left") and done.stderr.count(b"\n") == 1


def test_json_does_not_move_the_terminals_cursor(invincat, monkeypatch):
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Ada \x9b31m\u202e\u2028")
    invincat("remember", "Use nox.")
    run = invincat("log", "--json")
    assert not {"\x9b", "\u202e", "\u2028"} & set(run.out)
    assert "Ada \x9b31m\u202e\u2028" in json.dumps(run.json, ensure_ascii=False)
