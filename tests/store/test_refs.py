"""Refs that only git may move: what dulwich's files do, git does for any other kind."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from invincat.errors import StoreError
from invincat.store.base import MEMORY_REF, PROPOSALS, Draft, StoreBusy
from invincat.store.git import GitStore
from invincat.store.locate import Repository, locate
from invincat.store.refs import FileRefs, GitRefs
from invincat.store.state import Move, StateDir
from tests.memory.factories import ADA, NOW
from tests.store.writing import learn

Git = Callable[..., str]


@pytest.fixture
def store(repo: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GitStore]:
    def by_git(_: object, repository: Repository, patience: float) -> GitRefs:
        return GitRefs(repository, patience)

    monkeypatch.setattr("invincat.store.git.refs_of", by_git)
    with GitStore(locate(repo), ref_patience=0.3) as opened:
        yield opened


def test_files_are_dulwichs_and_a_reftable_is_gits(repo: Path, tmp_path: Path) -> None:
    with GitStore(locate(repo)) as store:
        assert isinstance(store._refs, FileRefs)
    with GitStore(locate(reftable(tmp_path))) as store:
        assert isinstance(store._refs, GitRefs)


def reftable(tmp_path: Path) -> Path:
    made = subprocess.run(
        ["git", "init", "--quiet", "--ref-format=reftable", tmp_path / "table"], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip(f"{subprocess.getoutput('git version')} makes no reftable repositories (2.45 does)")
    return tmp_path / "table"


def test_a_symbolic_ref_of_ours_is_refused(store: GitStore, git: Git) -> None:
    tip = learn(store, "one")
    git("update-ref", "refs/heads/memories", tip)
    git("symbolic-ref", MEMORY_REF, "refs/heads/memories")
    with pytest.raises(StoreError, match="points to refs/heads/memories"):
        store.tip()
    with store.exclusive():
        store.swap(PROPOSALS + "good", None, tip)
    git("symbolic-ref", PROPOSALS + "link", "refs/heads/memories")
    assert store.refs(PROPOSALS) == {PROPOSALS + "good": tip}


@pytest.mark.parametrize("content", ["", "rubbish\n"])
def test_a_broken_ref_is_not_an_empty_store(store: GitStore, repo: Path, content: str) -> None:
    learn(store, "one")
    (repo / ".git" / MEMORY_REF).write_text(content)
    with pytest.raises(StoreError):
        store.tip()


@pytest.mark.slow
def test_a_lock_that_stays_is_told_and_one_that_goes_is_waited_for(store: GitStore, repo: Path) -> None:
    learn(store, "one")
    lock = repo / ".git" / f"{MEMORY_REF}.lock"
    lock.write_bytes(b"")
    with pytest.raises(StoreBusy, match=r"memory\.lock"):
        learn(store, "two")
    threading.Timer(0.1, lock.unlink).start()
    assert learn(store, "two") == store.tip()


def test_a_hook_that_forbids_the_move_is_heard(store: GitStore, repo: Path) -> None:
    tip = learn(store, "one")
    hook = repo / ".git/hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    begun = time.monotonic()
    with pytest.raises(StoreError, match="hook"):
        learn(store, "two")
    assert time.monotonic() - begun < 0.3, "trying again is of no use"
    assert store.tip() == tip
    hook.unlink()
    learn(store, "three")


def test_a_move_that_the_killed_writers_git_made_is_journaled(store: GitStore, repo: Path, git: Git) -> None:
    one = learn(store, "one")
    with store.exclusive():
        [two] = store.write(one, [Draft("two\n", {"memory/a/two.md": b"x\n"})], ADA, NOW)
    StateDir(repo / ".git/invincat").announce(Move(MEMORY_REF, one, two))
    git("update-ref", MEMORY_REF, two, one)
    learn(store, "three")
    lines = [json.loads(line) for line in (repo / ".git/invincat/journal").read_text().splitlines()]
    assert [line["old"] for line in lines] == [None, one, two]


WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from invincat.store.base import MEMORY_REF, Draft, Signature
from invincat.store.git import GitStore
from invincat.store.locate import locate

with GitStore(locate(Path(sys.argv[1]))) as store:
    for number in range(int(sys.argv[3])):
        with store.exclusive(30):
            old = store.tip()
            path = f"memory/a/{sys.argv[2]}-{number}.md"
            draft = Draft(f"create {path}\\n", {path: b"text\\n"})
            [new] = store.write(old or store.write_root(), [draft], Signature("Ada", "a@b.c"), datetime.now(UTC))
            assert store.swap(MEMORY_REF, old, new)
"""


def test_writers_of_a_reftable_lose_nothing_beside_git(tmp_path: Path, git: Git) -> None:
    """Case 14; dulwich alone loses two of three here."""
    place = reftable(tmp_path)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, place, str(number), "8"], stderr=subprocess.PIPE, env=env)
        for number in range(4)
    ]
    while any(writer.poll() is None for writer in writers):
        subprocess.run(["git", "commit", "--quiet", "--allow-empty", "--message", "x"], cwd=place, check=False)
        subprocess.run(["git", "pack-refs", "--all"], cwd=place, check=False, capture_output=True)
    for writer in writers:
        complaint = writer.communicate()[1]
        assert writer.returncode == 0, complaint
    assert len(git("ls-tree", "-r", "--name-only", MEMORY_REF, "memory/", cwd=place).splitlines()) == 32
    assert git("fsck", "--strict", "--no-dangling", "--no-progress", cwd=place) == ""
