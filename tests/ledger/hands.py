"""Commits on the memory ref that no ledger made: a person's, with plain git."""

import os
import subprocess
from collections.abc import Callable, Mapping

from invincat.store.base import MEMORY_REF
from invincat.store.git import GitStore
from invincat.store.inmemory import InMemoryStore
from tests.memory.factories import ADA, NOW

# What a commit does to files: mode and bytes to put, None to remove.
Changes = Mapping[str, tuple[int, bytes] | None]
Hand = Callable[[Changes], str]


class HandInMemory:
    """Writes past the gate of a store in memory."""

    def __init__(self, store: InMemoryStore) -> None:
        self._store = store
        self._count = 0

    def __call__(self, changes: Changes) -> str:
        """The commit, which the ref names from now on; the journal does not know of it."""
        tip = self._store.tip()
        assert tip is not None
        files = dict(self._store._files(self._store.commit(tip).tree, ""))
        for path, entry in changes.items():
            files.pop(path, None)
            if entry is not None:
                files[path] = (entry[0], self._store._add_blob(entry[1]))
        self._count += 1
        message = f"by hand, {self._count}\n"
        commit = self._store._add_commit(self._store._add_tree(files), (tip,), message, ADA, NOW)
        self._store._refs[MEMORY_REF] = commit
        return commit


class HandOfGit:
    """Writes past the gate of a repository, by git itself."""

    def __init__(self, store: GitStore) -> None:
        self._git_dir = store.repository.git_dir
        self._count = 0

    def __call__(self, changes: Changes) -> str:
        """The commit, which the ref names from now on; the journal does not know of it."""
        self._git("read-tree", MEMORY_REF)
        lines = b""
        for path, entry in changes.items():
            if entry is None:
                lines += b"0 %s\t%s\0" % (b"0" * 40, path.encode())
            else:
                id = self._git("hash-object", "-w", "--stdin", input=entry[1])
                lines += b"%o %s\t%s\0" % (entry[0], id.encode(), path.encode())
        self._git("update-index", "-z", "--index-info", input=lines)
        self._count += 1
        commit = self._git("commit-tree", self._git("write-tree"), "-p", MEMORY_REF, "-m", f"by hand, {self._count}")
        self._git("update-ref", MEMORY_REF, commit)
        return commit

    def _git(self, *arguments: str, input: bytes = b"") -> str:
        env = {**os.environ, "GIT_DIR": str(self._git_dir), "GIT_INDEX_FILE": str(self._git_dir / "by-hand")}
        done = subprocess.run(["git", *arguments], input=input, env=env, check=True, capture_output=True)
        return done.stdout.decode().strip()
