"""Samples of time and memory, and how they are taken: in this process, or of processes."""

import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from tests.bench import launcher


@dataclass
class Sample:
    """Seconds of each run, and those that the processor worked for it; peak memory in MB, where it was measured.

    On a busy machine the processor's seconds are the steadier ones; they lack children of this process.
    """

    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    peak_mb: float | None = None

    @property
    def p50(self) -> float:
        """The median in ms."""
        return _quantile(self.seconds, 0.5)

    @property
    def p95(self) -> float:
        """The 95th percentile in ms."""
        return _quantile(self.seconds, 0.95)

    @property
    def cpu_p50(self) -> float:
        """The median of the processor's time in ms."""
        return _quantile(self.cpu, 0.5)


def _quantile(seconds: Sequence[float], share: float) -> float:
    """The smallest time that this share of the runs did not exceed, in ms."""
    return 1000 * sorted(seconds)[max(0, ceil(share * len(seconds)) - 1)]


@contextmanager
def timed(sample: Sample) -> Iterator[None]:
    """Add the time of the block to a sample."""
    worked, start = time.process_time(), time.perf_counter()
    yield
    sample.seconds.append(time.perf_counter() - start)
    sample.cpu.append(time.process_time() - worked)


def measure(runs: int, action: Callable[[], object], before: Callable[[], object] | None = None) -> Sample:
    """Time `action`, each run after an untimed `before`."""
    # What the bench itself holds, ten thousand memories and more, is not for the measured code to sweep.
    gc.collect()
    gc.freeze()
    sample = Sample()
    for _ in range(runs):
        if before is not None:
            before()
        with timed(sample):
            action()
    return sample


class CommandFailed(Exception):
    """A command that is being measured did not do its work."""


class Processes:
    """Measures commands as processes, through the small launcher."""

    def __init__(self) -> None:
        self._launcher = subprocess.Popen(
            [sys.executable, "-I", "-S", launcher.__file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._pipe(self._launcher.stdin).close()
        self._launcher.wait()
        self._pipe(self._launcher.stdout).close()

    def measure(
        self,
        runs: int,
        command: Callable[[], Sequence[str]] | Sequence[str],
        cwd: Path,
        before: Callable[[], object] | None = None,
        warm_up: int | None = None,
    ) -> Sample:
        """Time a command, each run after an untimed `before`; the first `warm_up` runs do not count, by default
        one where there are several."""
        warm_up = int(runs > 1) if warm_up is None else warm_up
        sample = Sample()
        for number in range(runs + warm_up):
            if before is not None:
                before()
            answer = self.run(command() if callable(command) else command, cwd)
            if number >= warm_up:
                sample.seconds.append(answer["seconds"])
                sample.cpu.append(answer["cpu"])
                sample.peak_mb = max(sample.peak_mb or 0.0, answer["peak_mb"])
        return sample

    def run(self, command: Sequence[str], cwd: Path) -> dict[str, Any]:
        """Run a command once; CommandFailed when it does not exit with 0."""
        pipe = self._pipe(self._launcher.stdin)
        pipe.write(json.dumps({"command": list(command), "cwd": str(cwd)}) + "\n")
        pipe.flush()
        answer: dict[str, Any] = json.loads(self._pipe(self._launcher.stdout).readline())
        if answer["code"]:
            raise CommandFailed(f"{' '.join(command)}: exit {answer['code']}\n{answer['tail']}")
        return answer

    @staticmethod
    def _pipe(pipe: IO[str] | None) -> IO[str]:
        assert pipe is not None
        return pipe
