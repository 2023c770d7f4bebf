"""The stores: ref, memories, proposals, journal, backups; and what stands beside them in the state directory."""

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from invincat.app import App
from invincat.cache import is_sound
from invincat.doctor.line import Line, fail, guarded, ok, warn
from invincat.doctor.machine import stores
from invincat.errors import StoreError
from invincat.ledger import Ledger
from invincat.memory.scope import Scope
from invincat.recall.stamp import FILE as STAMP
from invincat.recall.stamp import Stamp
from invincat.review import waiting
from invincat.store.base import BACKUPS
from invincat.store.git import GitStore
from invincat.store.leftovers import EDITS, left_in_state
from invincat.store.purge import purged_in
from invincat.store.repair import diagnose

REPAIR: Final = "run `invincat doctor --repair`"
# FORMAT "State directory".
_KNOWN: Final = {
    *("index", "parsed", "reminders", "usage.json", "queue", "sessions", "journal", "rejected.jsonl", "audit.jsonl"),
    *("trust.json", "rewrites", "lock", "pending", "key", "profiles.json", EDITS),
}


def memories(app: App) -> Iterator[Line]:
    """What each store says of itself, and what is wrong with its ref."""
    for ledger in app.made():
        yield from guarded(f"{ledger.scope} memory", lambda ledger=ledger: _memory(app, ledger))  # type: ignore[misc]


def _memory(app: App, ledger: Ledger) -> Iterator[Line]:
    about = f"{ledger.scope} memory"
    assert isinstance(ledger.store, GitStore)
    if broken := diagnose(ledger.store):
        yield fail(about, f"{ledger.store.location}: {broken.fault}", REPAIR)
    elif ledger.tip():
        yield from _contents(about, ledger)
    elif ledger.scope is Scope.PROJECT:
        yield ok(about, f"{app.no_store_message()}; `invincat init` makes one")


def _contents(about: str, ledger: Ledger) -> Iterator[Line]:
    view = ledger.view()
    active = len(view.active())
    held = len(waiting(ledger))
    counts = f"{active} active, {len(view) - active} retired, {held} proposal{'' if held == 1 else 's'}"
    yield ok(about, f"{ledger.store.location}: {counts}, at {(ledger.tip() or '')[:7]}")
    if view.problems:
        yield warn(about, f"{len(view.problems)} files cannot be used", f"see `invincat check --scope {ledger.scope}`")
    for move in ledger.foreign.moves():
        message = f"something else than invincat moved it to {(move.new or 'nothing')[:7]}; not injected until accepted"
        yield warn(about, message, "see `invincat review list`")
    for ref, commit in purged_in(ledger.store).items():
        yield warn(about, f"{ref} still holds {commit[:7]}, which was purged", "run `invincat purge` as before")
    if not ledger.store.read_log("journal")[0]:
        yield ok(about, "there is no journal yet: what the ref names now is taken as ours")


def backups(app: App) -> Iterator[Line]:
    """Tips that were left behind."""
    for store in stores(app):
        if found := list(store.refs(BACKUPS)):
            newest = found[-1].removeprefix(BACKUPS)
            said = (
                f"{len(found)} of {store.location}, the newest {newest}; `invincat doctor --prune-backups` drops them"
            )
            yield ok("backups", said)


def locks(app: App) -> Iterator[Line]:
    """What killed processes left."""
    for store in stores(app):
        for path in store.stale_locks():
            yield warn("locks", f"{path} was left by a process that is gone", REPAIR)
        if not store.repository.state_dir.is_symlink():
            for path in left_in_state(store.repository.state_dir):
                yield warn("locks", f"{path} was left by a process that is gone", REPAIR)


def state(app: App) -> Iterator[Line]:
    """Size, permissions and strangers in the state directories."""
    for store in stores(app):
        folder = store.repository.state_dir
        if folder.is_symlink():
            yield fail("state", f"{folder} is a link", "remove the link; our state must stand in the repository itself")
            continue
        if not folder.is_dir():
            continue
        size = sum(path.lstat().st_size for path in folder.rglob("*"))
        yield ok("state", f"{folder}: {size / 1024 / 1024:.1f} MB")
        if open_ones := too_open(folder):
            yield warn("state", f"others may read {len(open_ones)} files, as {open_ones[0]}", REPAIR)
        left = left_in_state(folder)
        for path in sorted(folder.iterdir()):
            if path.is_symlink():
                yield fail("state", f"{path} is a link", "remove it; it is not ours")
            elif path.name not in _KNOWN and path not in left:
                yield warn("state", f"{path} is not ours", "remove it if it is not yours either")


def caches(app: App) -> Iterator[Line]:
    """The index and the parsed memories: disposable, and told of because they cost time."""
    for store in stores(app):
        folder = store.repository.state_dir
        if (folder / "index").is_dir():
            yield from _index(folder / "index", store)
        for path in broken_caches(folder):
            yield warn("index", f"{path} is broken; it is only a cache", REPAIR)


def _index(folder: Path, store: GitStore) -> Iterator[Line]:
    if stamp := _stamp(folder):
        size = sum(path.lstat().st_size for path in folder.rglob("*")) / 1024 / 1024
        state = "up to date" if _is_at(store, stamp) else "behind; a recall reads what came since beside it"
        yield ok("index", f"{folder}: {size:.1f} MB, {state}")


def _is_at(store: GitStore, stamp: Stamp) -> bool:
    try:
        return stamp.reflects(store.tip() or "")
    except StoreError:  # told of the memory itself
        return False


def _stamp(folder: Path) -> Stamp | None:
    try:
        return msgspec.json.decode((folder / STAMP).read_bytes(), type=Stamp)
    except (OSError, msgspec.MsgspecError, UnicodeError):
        return None


def broken_caches(state_dir: Path) -> list[Path]:
    """Caches that nobody can read any more: an index without its stamp, databases that are none."""
    index = state_dir / "index"
    inside = list(index.iterdir()) if index.is_dir() else []
    # What a purge leaves is the lock alone.
    is_made = any(path.is_dir() or path.name == STAMP for path in inside)
    bad = [index] if is_made and _stamp(index) is None else []
    return bad + [path for path in sorted((state_dir / "parsed").glob("*.sqlite3")) if not is_sound(path)]


def too_open(folder: Path) -> list[Path]:
    """What of a state directory others than its owner may read or write, itself included."""
    return [path for path in (folder, *sorted(folder.rglob("*"))) if _is_open(path)]


def _is_open(path: Path) -> bool:
    mode = path.lstat().st_mode
    return not stat.S_ISLNK(mode) and bool(stat.S_IMODE(mode) & 0o077)
