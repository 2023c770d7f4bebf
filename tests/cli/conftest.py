"""The product as a process, as a person or a script runs it."""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from invincat.cli.main import run as run_program

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
    """Run `invincat ...` in a directory; the exit code is expected to be `code`.

    In this very process, which is fast; `as_process` runs the real one, which tests of streams and start-up want.
    """

    directory: Path
    environment: Mapping[str, str]
    as_process: bool = False

    def __call__(self, *words: str, code: int = 0, input: str | bytes = "", cwd: Path | None = None) -> Run:
        data = input.encode() if isinstance(input, str) else input
        run = (self._spawn if self.as_process else self._call)(words, data, cwd or self.directory)
        assert run.code == code, f"{words} gave {run.code}\n{run.out}\n{run.err}"
        assert "Traceback" not in run.err
        return run

    def _spawn(self, words: tuple[str, ...], data: bytes, cwd: Path) -> Run:
        environment = {**os.environ, **self.environment}
        done = subprocess.run(
            [*COMMAND, *words], cwd=cwd, env=environment, input=data, capture_output=True, check=False, timeout=60
        )
        return Run(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))

    def _call(self, words: tuple[str, ...], data: bytes, cwd: Path) -> Run:
        streams = [io.TextIOWrapper(io.BytesIO(part), "utf-8", "replace") for part in (data, b"", b"")]
        before, environment = (sys.stdin, sys.stdout, sys.stderr), dict(os.environ)
        code: object = 0
        try:
            os.environ.update(self.environment)
            sys.stdin, sys.stdout, sys.stderr = streams
            with contextlib.chdir(cwd):
                run_program(list(words))
        except SystemExit as ended:
            code = ended.code
        finally:
            sys.stdin, sys.stdout, sys.stderr = before
            os.environ.clear()
            os.environ.update(environment)
        out, err = (_written(stream) for stream in streams[1:])
        assert isinstance(code, int)
        return Run(code, out, err)

    def apply(self, *operations: Any, actor: str = "user", code: int = 0, words: tuple[str, ...] = ()) -> Any:
        batch = json.dumps({"operations": list(operations)})
        return self("apply", "-", "--actor", actor, "--json", *words, code=code, input=batch).json


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8", "replace")


@pytest.fixture
def process(invincat: Invincat) -> Invincat:
    """The same as a real process."""
    return replace(invincat, as_process=True)


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
