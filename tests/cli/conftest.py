"""The product as a process, as a person or a script runs it."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

COMMAND = (sys.executable, "-P", "-m", "invincat")


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Invincat:
    """Run `invincat ...` in a directory; the exit code is expected to be `code`."""

    directory: Path
    environment: Mapping[str, str]

    def __call__(self, *words: str, code: int = 0, input: str | bytes = "", cwd: Path | None = None) -> Run:
        data = input.encode() if isinstance(input, str) else input
        done = subprocess.run(
            [*COMMAND, *words],
            cwd=cwd or self.directory,
            env={**os.environ, **self.environment},
            input=data,
            capture_output=True,
            check=False,
            timeout=60,
        )
        run = Run(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))
        assert run.code == code, f"{words} gave {run.code}\n{run.out}\n{run.err}"
        assert "Traceback" not in run.err
        return run

    def apply(self, *operations: Any, actor: str = "user", code: int = 0, words: tuple[str, ...] = ()) -> Any:
        batch = json.dumps({"operations": list(operations)})
        return self("apply", "-", "--actor", actor, "--json", *words, code=code, input=batch).json


@pytest.fixture
def invincat(repo: Path, tmp_path: Path) -> Invincat:
    return Invincat(repo, {"INVINCAT_DATA_DIR": str(tmp_path / "data")})


@pytest.fixture
def commit_file(repo: Path, git):
    """Write a file of the repository and commit it."""

    def write(path: str, text: str, message: str = "Change") -> None:
        place = repo / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        git("add", ".")
        git("commit", "--quiet", "--message", message)

    return write
