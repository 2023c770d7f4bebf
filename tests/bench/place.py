"""Where the bench works: a sealed environment, and real repositories full of memories."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from invincat.app import App
from invincat.memory.entry import Memory
from invincat.memory.frontmatter import render
from invincat.memory.scope import Scope
from invincat.resources import template
from invincat.store.base import MEMORY_REF, Draft
from tests.bench.memories import CODE_FILES, CODE_LINES, code_line, make_memories

_PERSON: Final = {"NAME": "Ada Lovelace", "EMAIL": "ada@example.org"}
_GIT_CONFIG: Final = "[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
# Without bytecode every start would compile the package; PYTHONPATH stays, to measure a copy of it.
_FOREIGN: Final = ("GIT_", "XDG_", "LC_", "INVINCAT_", "OPENAI_", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")


@contextmanager
def sealed(home: Path) -> Iterator[None]:
    """Nothing of the machine's user is read or written while this lasts, by this process and its children."""
    before = dict(os.environ)
    config = home / ".gitconfig"
    config.write_text(_GIT_CONFIG)
    for key in list(os.environ):
        if key.startswith(_FOREIGN):
            del os.environ[key]
    os.environ.update(
        {
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_DATA_HOME": str(home / ".local/share"),
            "XDG_CACHE_HOME": str(home / ".cache"),
            "XDG_STATE_HOME": str(home / ".local/state"),
            "INVINCAT_DATA_DIR": str(home / "invincat"),
            "GIT_CONFIG_GLOBAL": str(config),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "TZ": "UTC",
            "LANG": "C.UTF-8",
            **{f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in _PERSON.items()},
        }
    )
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@dataclass(frozen=True)
class Place:
    """One repository with memories in so many sections."""

    root: Path
    sections: int
    memories: Mapping[str, Memory]

    @property
    def label(self) -> str:
        """`10000 / 20`: memories and sections."""
        return f"{len(self.memories)} / {self.sections}"

    @property
    def state_dir(self) -> Path:
        """The state directory of its store."""
        return self.root / ".git/invincat"

    def app(self) -> App:
        """A fresh app, which knows nothing yet."""
        return App.at(self.root)

    def forget(self, *folders: str) -> None:
        """Delete folders of the state directory, as they are missing in a fresh clone."""
        for folder in folders:
            shutil.rmtree(self.state_dir / folder, ignore_errors=True)


def git(root: Path, *arguments: str, input: bytes = b"", env: Mapping[str, str] | None = None) -> str:
    """Run git, which must succeed, and return what it prints."""
    done = subprocess.run(
        ["git", *arguments], cwd=root, input=input, capture_output=True, check=True, env={**os.environ, **(env or {})}
    )
    return done.stdout.decode().strip()


def build(root: Path, count: int, sections: int) -> Place:
    """A code repository with a store of `count` memories, written as one commit, then packed as a clone would be."""
    _build_code(root)
    memories = make_memories(count, sections)
    store = App.at(root).ledger(Scope.PROJECT).store
    puts = {path: render(memory).encode() for path, memory in memories.items()}
    draft = Draft("import\n", {"README.md": template("store-readme.md").encode(), **puts})
    with store.exclusive():
        [tip] = store.write(store.write_root(), [draft], store.author(), datetime.now(UTC))
        store.swap(MEMORY_REF, None, tip)
    git(root, "gc", "--quiet")
    return Place(root, sections, memories)


def _build_code(root: Path) -> None:
    for path in CODE_FILES:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{code_line(path, number)}\n" for number in range(1, CODE_LINES + 1)))
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "Begin")
