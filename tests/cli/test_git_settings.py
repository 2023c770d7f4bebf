"""A person's git settings change nothing of what we say or write, and none of their programs is started by us."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from invincat.store.batch import Batch, Change
from invincat.store.locate import locate

# What people set, and what would be in the way of a program that reads git's output.
SETTINGS = """\
[include]
	path = {clean}
[color]
	ui = always
[core]
	pager = {program}
	editor = true
	abbrev = 4
	quotePath = true
	fsmonitor = {program}
	hooksPath = {hooks}
	attributesFile = {attributes}
	commentChar = ";"
	logAllRefUpdates = always
	splitIndex = true
	autocrlf = true
	alternateRefsCommand = {program}
[pager]
	log = true
	config = true
	for-each-ref = true
[log]
	decorate = full
	showSignature = true
	showRoot = false
	date = relative
	follow = true
	mailmap = true
	diffMerges = off
	abbrevCommit = true
	excludeDecoration = refs/*
[format]
	pretty = oneline
	notes = *
[mailmap]
	file = {mailmap}
[diff]
	noprefix = true
	mnemonicPrefix = true
	external = {program}
	renames = false
	orderFile = {attributes}/none
	submodule = log
	relative = true
	renameLimit = 1
	wsErrorHighlight = all
	colorMoved = zebra
[diff "program"]
	textconv = {program}
	command = {program}
[filter "program"]
	clean = {program}
	smudge = {program}
	required = true
[i18n]
	logOutputEncoding = UTF-16
	commitEncoding = ISO-8859-1
[trailer]
	separators = "="
[status]
	relativePaths = true
	showUntrackedFiles = no
	short = true
[alias]
	log = "!{program}"
	config = "!{program}"
	for-each-ref = "!{program}"
	ls-files = "!{program}"
[branch]
	sort = -committerdate
[column]
	ui = always
[init]
	defaultBranch = elsewhere
	templateDir = {template}
[safe]
	bareRepository = explicit
[transfer]
	hideRefs = refs/invincat
[uploadpack]
	hideRefs = refs/invincat
[fetch]
	prune = true
	recurseSubmodules = true
[submodule]
	recurse = true
[user]
	useConfigOnly = true
"""

# What is given anew each time: ids, times, seconds.
CHANGES = re.compile(
    r"[0-9A-HJKMNP-TV-Z]{26}|\b[0-9a-f]{7,64}\b|\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ)?|\d+(?:\.\d)? [MK]B"
)


@pytest.fixture
def hostile(sealed: Path, tmp_path: Path) -> tuple[str, Path]:
    """A global configuration full of such settings, and the file in which each program says that it was started."""
    traces, hooks, template = tmp_path / "traces", tmp_path / "their-hooks", tmp_path / "template"
    program = tmp_path / "program"
    (template / "hooks").mkdir(parents=True)
    hooks.mkdir()
    hook_names = ("post-commit", "post-checkout", "post-index-change")
    for place in (program, template / "hooks/post-commit", *(hooks / name for name in hook_names)):
        place.write_text(f'#!/bin/sh\necho "$0 $*" >>"{traces}"\nexit 1\n')
        place.chmod(0o755)
    files = {
        "attributes": "* diff=program filter=program text eol=crlf\n",
        "mailmap": "Somebody Else <else@example.org> <ada@example.org>\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    places = {name: tmp_path / name for name in files}
    clean = sealed / ".gitconfig"
    text = SETTINGS.format(clean=clean, program=program, hooks=hooks, template=template, **places)
    (tmp_path / "gitconfig").write_text(text)
    return str(tmp_path / "gitconfig"), traces


@pytest.fixture
def told(invincat, repo: Path, git, commit_file, tmp_path: Path) -> dict[str, str]:
    """A repository whose memories rest on what git must be asked for: renames, deletions, merges, other letters."""
    commits = {"root": git("rev-parse", "HEAD").strip()}
    commit_file("src/straße.py", "RETRIES = 3  # never more\n", "Begin the client\n\nMemory: Retry three times.")
    commit_file("a.txt", "a\n", "Begin more\n\n; no comment\nMemory: Retry four times.")
    for name in ("old", "older"):
        commit_file(f"src/{name}.py", "\n".join(f"line {n} of the {name} module" for n in range(20)) + "\n")
    commit_file("docs/gone.md", "Deploy with the blue script.\n")
    for name, path, quote in (
        ("retries", "src/straße.py", "RETRIES = 3"),
        ("moved", "src/old.py", "line 0 of the old module"),
        ("moved-too", "src/older.py", "line 0 of the older module"),
        ("began", "README.md", "# A project"),
        ("gone", "docs/gone.md", "Deploy with the blue script."),
    ):
        item = {"op": "create", "scope": "project", "section": "Code", "name": name, "content": f"Mind {name}: {quote}"}
        invincat.apply({**item, "evidence": [{"at": f"{path}#L1", "quote": quote}]})
    item = {"op": "create", "scope": "project", "section": "Code", "name": "commit", "content": "As the client began."}
    invincat.apply({**item, "evidence": [{"at": f"commit:{git('rev-parse', 'HEAD~2').strip()}"}]})
    git("checkout", "--quiet", "-b", "side")
    commit_file("side.txt", "beside\n", "Beside")
    git("checkout", "--quiet", "main")
    for name in ("old", "older"):
        git("mv", f"src/{name}.py", f"src/new-{name}.py")
        (repo / f"src/new-{name}.py").write_text(f"{(repo / f'src/new-{name}.py').read_text()}# {name}\n")
    git("rm", "--quiet", "docs/gone.md")
    git("commit", "--quiet", "--all", "--message", "Move and remove")
    commit_file("README.md", "# Another one\n")
    git("merge", "--quiet", "--no-ff", "--message", "Merge", "side")
    commit_file("AGENTS.md", "# Rules\n\n- Always run the linter before a commit.\n- Never push to main directly.\n")
    invincat("remember", "I like tea.", "--scope", "user")
    commits["commented"], commits["trailer"] = git("log", "--format=%H", "--grep", "Memory:").split()
    commits["begin"] = git("rev-list", "--max-parents=0", "refs/invincat/memory").strip()
    return commits


@pytest.mark.slow
def test_a_persons_git_settings_change_nothing(invincat, repo, told, hostile, tmp_path, monkeypatch) -> None:
    configuration, traces = hostile
    monkeypatch.setenv("GIT_EDITOR", "sed -i s/Mind/Heed/")
    clean = _story(_copy(invincat, repo, tmp_path, "one"), told)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", configuration)
    theirs = _story(_copy(invincat, repo, tmp_path, "two"), told)
    for (words, wanted), (_, found) in zip(clean, theirs, strict=True):
        assert found == wanted, words
    assert not traces.exists(), traces.read_text()


def test_what_a_file_became_is_told_from_the_root_on(repo: Path, git, hostile, monkeypatch) -> None:
    git("mv", "README.md", "READ.md")
    git("commit", "--quiet", "--message", "Rename")
    git("checkout", "--quiet", "-b", "side", "HEAD~1")
    git("commit", "--quiet", "--allow-empty", "--message", "Beside")
    git("merge", "--quiet", "--no-commit", "--no-ff", "main")
    (repo / "merged.md").write_text("in the merge alone\n")
    git("add", ".")
    git("commit", "--quiet", "--message", "Merge")
    head = git("rev-parse", "HEAD").strip()

    def changes() -> list[list[Change] | None]:
        return [Batch(locate(repo), 30.0).changes(head, None, [path]) for path in ("README.md", "READ.md", "merged.md")]

    found = changes()
    assert [len(one or ()) for one in found] == [3, 2, 2]
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", hostile[0])
    assert changes() == found


def _copy(invincat, repo: Path, tmp_path: Path, name: str):
    """The same repository and data in another place, without what was derived from them."""
    place = tmp_path / name
    shutil.copytree(repo, place / "repo")
    shutil.copytree(invincat.environment["INVINCAT_DATA_DIR"], place / "data")
    for caches in place.glob("**/parsed"):
        shutil.rmtree(caches)
    return replace(invincat, directory=place / "repo", environment={"INVINCAT_DATA_DIR": str(place / "data")})


def _story(invincat, commits) -> list[tuple[tuple[str, ...], str]]:
    """What every command says that asks git, with exit code and what changes each time left out."""
    said = []

    def run(*words: str, input: str = "", code: int = 0, cwd: Path | None = None) -> None:
        done = invincat(*words, input=input, code=code, cwd=cwd)
        text = f"{done.out}\n{done.err}".replace(str(invincat.directory.parent), "<place>")
        said.append((words, CHANGES.sub("<changes>", text)))

    for words in (("list",), ("list", "--json"), ("brief",), ("recall", "mind", "the", "module", "--json")):
        run(*words)
    for name in ("retries", "moved", "moved-too", "gone", "began", "commit"):
        run("show", name, "--history")
    run("log", "-v")
    run("log", "gone", "--json")
    run("diff", f"{commits['begin']}..", "--format", "markdown")
    for commit in ("root", "trailer", "commented"):
        run("extract", "--commit", commits[commit], "--json")
    run("import", "--json")
    run("remember", "Über Änderungen schreibt man deutsch.", "--evidence", "src/straße.py#L1")
    run("supersede", "commit", "--content", "As it is today.", "--reason", "it moved on")
    run("archive", "moved", "--reason", "unsure")
    run("restore", "moved", "--reason", "sure")
    run("edit", "retries")
    run("move", "retries", "--section", "Client", "--reason", "tidy")
    run("delete", "gone", "--reason", "wrong")
    run("show", "gone", "--history")
    run("check")
    run("doctor")
    run("doctor", "--repair")
    run("purge", "--text", "blue script", "--yes")
    run("review", "list")
    other = invincat.directory.parent / "folder"
    other.mkdir()
    run("init", cwd=other)
    run("remember", "In a folder.", cwd=other)
    subprocess.run(["git", "init", "--quiet", "--template=", "--initial-branch=main"], cwd=other, check=True)
    run("init", cwd=other)
    run("list", cwd=other)
    return said
