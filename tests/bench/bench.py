"""What every measurement needs: how often, where, the launcher of processes, and the yardsticks that are no store's."""

import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.bench.memories import make_body, make_title
from tests.bench.place import Place
from tests.bench.report import Yardstick
from tests.bench.timing import Processes, Sample


@dataclass
class Bench:
    """One run of the bench. `scratch` is an empty folder that is deleted afterwards."""

    runs: int
    processes: Processes
    scratch: Path
    _chance: random.Random = field(default_factory=lambda: random.Random(3))

    @property
    def some(self) -> int:
        """Runs of what takes a process."""
        return max(1, self.runs // 3)

    @property
    def few(self) -> int:
        """Runs of what takes seconds."""
        return max(1, self.runs // 7)

    def invincat(self, *arguments: str) -> list[str]:
        """The command as it is installed beside this Python."""
        return [str(Path(sys.executable).with_name("invincat")), *arguments]

    def process(self, place: Place, *arguments: str, runs: int | None = None) -> Sample:
        """Time `invincat` with these arguments in a repository."""
        return self.processes.measure(runs or self.some, self.invincat(*arguments), place.root)

    def new_memory(self) -> dict[str, Any]:
        """A create operation with a claim that nobody made before."""
        number = self._chance.getrandbits(40)
        content = f"{make_title(self._chance)} in case {number}. {make_body(self._chance)}"
        return {"op": "create", "scope": "project", "section": "Testing", "content": content}

    @cached_property
    def python(self) -> Yardstick:
        """A Python that does nothing."""
        return self._command("python -c pass", [sys.executable, "-c", "pass"])

    @cached_property
    def git(self) -> Yardstick:
        """A git that does nothing."""
        return self._command("git --version", ["git", "--version"])

    def _command(self, name: str, command: Sequence[str]) -> Yardstick:
        return Yardstick(name, self.processes.measure(self.runs, command, self.scratch))
