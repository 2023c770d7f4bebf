"""Set right what can be set right safely; each step is said, and stands in the journal."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from invincat.app import App, utc_now
from invincat.doctor.line import Line, fail, guarded, ok
from invincat.doctor.machine import stores
from invincat.doctor.memory import broken_caches, too_open
from invincat.memory.entry import format_time
from invincat.store.base import BACKUPS
from invincat.store.git import GitStore
from invincat.store.leftovers import left_in_state
from invincat.store.repair import Repaired, diagnose, repair


def mend(app: App) -> list[Line]:
    """What was done, and what could not be."""
    found: list[Line] = []
    for store in stores(app):
        for step in (_permissions, _leftovers, _ref, _caches):
            found += guarded("repair", lambda store=store, step=step: step(store))  # type: ignore[misc]
    return found or [ok("repair", "there was nothing to do")]


def prune_backups(app: App) -> list[Line]:
    """Drop all tips that were left behind; their objects go with the next `git gc`."""
    return [line for store in stores(app) for line in guarded("backups", lambda store=store: _prune(store))]  # type: ignore[misc]


def _prune(store: GitStore) -> Iterator[Line]:
    with store.exclusive():
        for ref, tip in store.refs(BACKUPS).items():
            if store.swap(ref, tip, None):
                yield ok("backups", f"dropped {ref}, which was at {tip}")


def _permissions(store: GitStore) -> Iterator[Line]:
    folder = store.repository.state_dir
    if not folder.is_dir() or folder.is_symlink():
        return
    found = too_open(folder)
    for path in found:
        path.chmod(0o700 if path.is_dir() else 0o600)
    if found:
        yield _done(store, f"made {len(found)} files of {folder} readable by their owner only")


def _leftovers(store: GitStore) -> Iterator[Line]:
    folder = store.repository.state_dir
    if not folder.is_dir():
        return
    with store.exclusive():
        paths = store.sweep_locks()
        for path in left_in_state(folder):
            _remove(path)
            paths.append(path)
        for path in paths:
            yield _done(store, f"removed {path}")


def _ref(store: GitStore) -> Iterator[Line]:
    broken = diagnose(store)
    if broken is None:
        return
    done = repair(store, utc_now())
    if done is None:
        step = "`git fetch` a remote that has it, or take the repository from a backup, then run it again"
        yield fail("repair", f"{broken.fault}; no commit of a store can be read here", step)
        return
    yield ok("repair", _say(done))


def _say(done: Repaired) -> str:
    kept = f"; what it was is kept: {done.kept}" if done.kept else ""
    left = f"; {done.left_behind} commits are not in it" if done.left_behind else ""
    return f"set the memory ref to {done.commit[:12]} ({done.origin}){left}{kept}"


def _caches(store: GitStore) -> Iterator[Line]:
    folder = store.repository.state_dir
    for path in broken_caches(folder) if folder.is_dir() and not folder.is_symlink() else ():
        _remove(path)
        yield _done(store, f"removed the broken cache {path}")


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _done(store: GitStore, what: str) -> Line:
    store.append("journal", {"at": format_time(utc_now()), "doctor": what})
    return ok("repair", what)
