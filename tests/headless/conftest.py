"""The product as a process, talking to the strict endpoint of the test."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.answers import Answer, chat
from tests.fakes.openai_server import OpenAIServer, Request, openai_server

__all__ = ["openai_server"]

COMMAND = (sys.executable, "-P", "-m", "invincat")
TALK, MEMORY = "talk-model", "memory-model"


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(frozen=True)
class Invincat:
    """`invincat(...)` runs to its end; `start` gives the process. `stdin` is bytes to pipe in, or a file."""

    directory: Path
    environment: Mapping[str, str]
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, *words: str, env: Mapping[str, str] | None = None, **options: Any) -> "subprocess.Popen[bytes]":
        given = {
            "cwd": self.directory,
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            **options,
        }
        process = subprocess.Popen([*COMMAND, *words], env={**os.environ, **self.environment, **(env or {})}, **given)
        self.processes.append(process)
        return process

    def __call__(
        self, *words: str, code: int = 0, input: bytes | None = None, timeout: float = 20, **options: Any
    ) -> Run:
        if input is not None:
            options["stdin"] = subprocess.PIPE
        process = self.start(*words, **options)
        out, err = process.communicate(input, timeout=timeout)
        run = Run(process.returncode, (out or b"").decode(), (err or b"").decode())
        assert run.code == code, f"{words} gave {run.code}\n{run.out}\n{run.err}"
        assert "Traceback" not in run.err
        assert "Error" not in run.err
        return run


@pytest.fixture
def invincat(repo: Path, tmp_path: Path, openai_server: OpenAIServer):
    """`invincat -p ...` in a real repository with a store; the endpoint is the test's."""
    found = Invincat(
        repo,
        {
            "INVINCAT_DATA_DIR": str(tmp_path / "data"),
            "OPENAI_BASE_URL": openai_server.base_url,
            "OPENAI_API_KEY": "key-0123456789abcdef",
            "OPENAI_MODEL": TALK,
            "INVINCAT_MEMORY_MODEL": MEMORY,
        },
    )
    yield found
    for process in found.processes:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe:
                pipe.close()


@pytest.fixture
def state(repo: Path) -> Path:
    return repo / ".git/invincat"


def by_model(
    talk: Callable[[Request], Answer] | str, memory: Callable[[Request], Answer] | str = '{"operations": []}'
) -> Callable[[Request], Answer]:
    """Answers of the one who talks and the one who remembers; a text is always said."""

    def answer(request: Request) -> Answer:
        found = memory if request.body["model"] == MEMORY else talk
        return chat(found, piece=0) if isinstance(found, str) else found(request)

    return answer


def asked_of(server: OpenAIServer, model: str) -> list[Request]:
    return [request for request in server.requests if request.body and request.body["model"] == model]


def wait_for(holds: Callable[[], Any], seconds: float = 10.0) -> None:
    """Until something holds; a process that never gets there fails the test."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)
