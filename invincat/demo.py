"""The whole flow on a scratch clone: each command is really run, and what it prints is what a person would see."""

import json
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from invincat.errors import InternalError
from invincat.resources import template
from invincat.store.locate import NotARepository, child_environment, locate

Echo = Callable[[str], None]

# -P keeps the clone itself, which may hold a package of our name, out of the import path.
_OURSELVES = (sys.executable, "-P", "-m", "invincat")


@dataclass
class Scratch:
    """A clone that is thrown away, with a user's data folder of its own; nothing else is written to."""

    folder: Path
    echo: Echo

    @property
    def clone(self) -> Path:
        """The scratch clone's work tree."""
        return self.folder / "project"

    def run(self, *words: str, shown: str | None = None) -> str:
        """Print a command as a person would type it, run it, print and return its output."""
        self.echo(f"$ {shown or shlex.join(words)}")
        if words[0] == "invincat":
            words = (*_OURSELVES, *words[1:])
        done = subprocess.run(
            words,
            cwd=self.clone,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        self.echo(done.stdout)
        if done.returncode not in (0, 3):
            raise InternalError(f"a step of the demo failed with exit code {done.returncode}", where=shlex.join(words))
        return done.stdout

    def ask(self, *words: str) -> dict[str, object]:
        """The JSON answer of a command of ours, not shown."""
        command = (*_OURSELVES, *words)
        done = subprocess.run(
            command, cwd=self.clone, env=self._environment(), capture_output=True, encoding="utf-8", check=True
        )
        answer: dict[str, object] = json.loads(done.stdout)
        return answer

    def _environment(self) -> dict[str, str]:
        return {
            **child_environment(),
            "INVINCAT_DATA_DIR": str(self.folder / "data"),
            "GIT_AUTHOR_NAME": "Demo",
            "GIT_AUTHOR_EMAIL": "demo@localhost",
            "GIT_COMMITTER_NAME": "Demo",
            "GIT_COMMITTER_EMAIL": "demo@localhost",
            "GIT_PAGER": "cat",
        }


def run_demo(directory: Path, echo: Echo) -> float:
    """Play all scenes on a clone of the repository around `directory`, or of a sample; the seconds it took."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="invincat-", ignore_cleanup_errors=True) as folder:
        scratch = Scratch(Path(folder), echo)
        for title, scene in _scenes(scratch, directory):
            echo(f"\n# {title}")
            scene()
    return time.monotonic() - started


def _scenes(scratch: Scratch, directory: Path) -> Iterator[tuple[str, Callable[[], None]]]:
    yield "A scratch clone; nothing of yours is touched.", lambda: _clone(scratch, directory)
    yield "The memory store is one git ref; it takes over what the repository writes down.", lambda: _import(scratch)
    yield "A conversation: what was asked for is committed, what was said in passing waits.", lambda: _extract(scratch)
    yield "Anybody finds it, in any words.", lambda: _recall(scratch)
    yield "What an assistant is told before the change:", lambda: _brief(scratch)
    yield "Beliefs change: one commit retires the old one and names what took its place.", lambda: _supersede(scratch)
    yield "What an assistant is told after it:", lambda: _brief(scratch)
    yield "The history of what is believed is plain git.", lambda: _log(scratch)


def _clone(scratch: Scratch, directory: Path) -> None:
    """Clone the current repository; a sample stands in where there is none with a commit."""
    origin = _repository_with_commits(directory) or _sample(scratch.folder / "sample")
    # As a remote, and few commits of it: a long history is neither copied nor read through by `fsck`.
    command = ["git", "clone", "--quiet", "--depth=20", "--", origin.as_uri(), str(scratch.clone)]
    subprocess.run(command, env=child_environment(), check=True)
    scratch.run("git", "log", "--oneline", "-3")


def _repository_with_commits(directory: Path) -> Path | None:
    try:
        repository = locate(directory)
    except NotARepository:
        return None
    command = ["git", f"--git-dir={repository.git_dir}", "rev-parse", "--verify", "--quiet", "HEAD"]
    has_commits = subprocess.run(command, env=child_environment(), capture_output=True, check=False).returncode == 0
    return (repository.root or repository.git_dir) if has_commits else None


def _sample(folder: Path) -> Path:
    folder.mkdir()
    for name, text in (("AGENTS.md", "sample-agents.md"), ("README.md", "sample-readme.md")):
        (folder / name).write_text(template(f"demo/{text}"), encoding="utf-8")
    environment = child_environment()
    identity = ["-c", "user.name=Demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false"]
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "A weather service"]):
        subprocess.run(["git", *identity, *command], cwd=folder, env=environment, check=True)
    return folder


def _import(scratch: Scratch) -> None:
    scratch.run("invincat", "init", "--import")
    scratch.run("git", "status", "--short")


def _extract(scratch: Scratch) -> None:
    transcript = scratch.folder / "transcript.jsonl"
    transcript.write_text(template("demo/transcript.jsonl"), encoding="utf-8")
    scratch.run("cat", str(transcript), shown="cat transcript.jsonl")
    words = ("invincat", "extract", "--transcript", str(transcript))
    scratch.run(*words, shown="invincat extract --transcript transcript.jsonl")
    scratch.run("invincat", "review", "list")


def _recall(scratch: Scratch) -> None:
    scratch.run("invincat", "recall", "-n", "3", "what do I run before pushing?")


def _brief(scratch: Scratch) -> None:
    scratch.run("invincat", "brief")


def _supersede(scratch: Scratch) -> None:
    hits = scratch.ask("recall", "--json", "-n", "1", "make check before push")["hits"]
    name = hits[0]["name"]  # type: ignore[index]
    scratch.run(
        *("invincat", "supersede", name, "--name", "push-through-ci"),
        *("--content", "Push to a branch and let CI run the tests. It runs `make check` on every push."),
        *("--reason", "CI runs the whole suite now"),
    )
    scratch.run("git", "show", "--stat", "--format=%B", "invincat/memory", "--")
    scratch.run("invincat", "show", name)


def _log(scratch: Scratch) -> None:
    scratch.run("git", "log", "--format=%h %an: %s", "-6", "invincat/memory", "--")
    scratch.run("invincat", "check")
    scratch.run("git", "fsck", "--strict", "--no-dangling")
