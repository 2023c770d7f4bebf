"""Locks that a killed process left: found and swept, while those of living ones stay."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from invincat.errors import InternalError
from invincat.store.git import GitStore
from invincat.store.leftovers import STALE_AFTER
from invincat.store.locate import locate

Git = Callable[..., str]

OBJECT = "objects/6c/06298fdee92682ab343b6102e0bb4b3a82adfe.lock"
REF = "refs/invincat/proposals/01JDXQ6T3M9V0K8Y2W5R7N4B1C.lock"


@pytest.fixture
def store(repo: Path) -> Iterator[GitStore]:
    with GitStore(locate(repo)) as opened:
        yield opened


def leave(repo: Path, name: str, age: float) -> Path:
    lock = repo / ".git" / name
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.write_bytes(b"")
    os.utime(lock, (time.time() - age,) * 2)
    return lock


def test_stale_locks_are_found_and_swept(store: GitStore, repo: Path, git: Git) -> None:
    stale = sorted(leave(repo, name, STALE_AFTER + 60) for name in (OBJECT, REF))
    assert store.stale_locks() == stale
    with store.exclusive():
        assert store.sweep_locks() == stale
    assert store.stale_locks() == []
    assert not any(lock.exists() for lock in stale)
    assert git("fsck", "--strict") == ""


@pytest.mark.parametrize(
    ("name", "age"),
    [
        (OBJECT, 5),
        (REF, 5),
        ("refs/heads/main.lock", STALE_AFTER + 60),
        ("packed-refs.lock", STALE_AFTER + 60),
        ("index.lock", STALE_AFTER + 60),
        ("objects/info/commit-graphs/commit-graph-chain.lock", STALE_AFTER + 60),
    ],
)
def test_what_may_be_alive_or_is_not_ours_stays(store: GitStore, repo: Path, name: str, age: float) -> None:
    lock = leave(repo, name, age)
    assert store.stale_locks() == []
    with store.exclusive():
        assert store.sweep_locks() == []
    assert lock.exists()


def test_sweeping_wants_the_lock(store: GitStore) -> None:
    with pytest.raises(InternalError):
        store.sweep_locks()
