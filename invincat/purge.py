"""Purge: take a memory, or a text, out of everything that is ours, and prove that it is gone.

The order makes every step safe to be killed after, and to be repeated: history, refs, logs of refs, what stands beside
the objects, objects, proof. No backup is kept, which would hold what must go.
"""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from invincat.errors import StoreError
from invincat.memory.entry import format_time
from invincat.memory.scope import Scope
from invincat.store.base import MEMORY_REF
from invincat.store.git import GitStore
from invincat.store.proof import prove
from invincat.store.prune import lost_of_ours, remove
from invincat.store.purge import Sought, Tracking, expire_logs, forget_tracking, rewrite, tracking
from invincat.store.purged import purged_ids
from invincat.store.replay import told_kept
from invincat.store.scrub import holders, scrub


class Purged(msgspec.Struct, frozen=True, kw_only=True):
    """What a purge did, or would do: counts and ids, never the text.

    `left` is what it could not remove; nothing there means proven. `others` is what only others can do, `push` the
    commands that bring the new history to remotes.
    """

    repository: str
    scope: Scope
    memory: str | None
    before: str | None
    after: str | None
    commits: int
    proposals: tuple[str, ...] = ()
    tracking: tuple[str, ...] = ()
    objects: int = 0
    files: int = 0
    scanned: int = 0
    left: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    push: tuple[str, ...] = ()
    dry_run: bool = False


def purge(
    store: GitStore, scope: Scope, sought: Sought, places: Sequence[Path], now: datetime, *, dry_run: bool = False
) -> Purged:
    """Purge one store; `places` are the state directories and files of a person's in which words of it may stand.

    StoreError, StoreBusy, IdentityMissing before anything moved; later ones are finished by repeating it.
    """
    before = store.tip()
    if dry_run:
        plan = rewrite(store, sought, scope, now, dry_run=True)
        return Purged(
            repository=store.location,
            scope=scope,
            memory=sought.memory,
            before=before,
            after=before,
            commits=len(plan.moved),
            proposals=tuple(plan.dropped),
            tracking=tuple(one.ref for one in tracking(store)),
            files=sum(len(holders(place, sought.needle)) for place in places),
            dry_run=True,
        )
    with store.exclusive(), _finishable():
        before, lost = store.tip(), store.left_behind()
        done = rewrite(store, sought, scope, now)
        fetched = forget_tracking(store, before)
        purged = purged_ids(store, store.tip())
        expire_logs(store.repository, purged)
        words = (*done.dropped, *([sought.memory] if sought.memory else []))
        files = sum(scrub(place, sought.needle, words, done.moved) for place in places)
        doomed = lost_of_ours(store.repository, purged)
        remove(store.repository, doomed)
        line = {"time": format_time(now), "actor": "user", "verdict": "purged", "memory": sought.memory}
        store.append("audit.jsonl", {**line, "commits": len(done.moved)})
    proof = prove(store, sought)
    # With the new history it is forgotten where ours had led.
    told = told_kept(store, done.moved.get(lost, lost), store.tip() or "") if lost else ""
    left = [*proof.left, *(str(path) for place in places for path in holders(place, sought.needle))]
    return Purged(
        repository=store.location,
        scope=scope,
        memory=sought.memory,
        before=before,
        after=store.tip(),
        commits=len(done.moved),
        proposals=tuple(done.dropped),
        tracking=tuple(one.ref for one in fetched),
        objects=len(doomed),
        files=files,
        scanned=proof.scanned,
        left=tuple(left),
        others=(*proof.elsewhere, *_open_sessions(places), *_unmerged(fetched), *filter(None, [told])),
        push=tuple(_push(one) for one in fetched if not one.has_more),
    )


@contextmanager
def _finishable() -> Iterator[None]:
    """What the operating system refuses as a StoreError that says what to do."""
    try:
        yield
    except OSError as fault:
        what, where = fault.strerror or str(fault), str(fault.filename) if fault.filename else None
        step = "see to permissions and free space, and run the purge again"
        raise StoreError(what, where=where, next_step=step) from None


def _open_sessions(places: Sequence[Path]) -> list[str]:
    """Conversations that a process has in its memory."""
    found = []
    for path in (path for place in places for path in sorted(place.glob("sessions/*.lock"))):
        try:
            with FileLock(path, timeout=0):
                continue
        except Timeout:
            found.append(f"the conversation {path.stem} is open in another process, which may still hold it; end that")
    return found


def _unmerged(fetched: Sequence[Tracking]) -> list[str]:
    return [
        f"{one.remote} has commits that are not here: run `invincat sync`, then the purge again, then publish"
        for one in fetched
        if one.has_more
    ]


def _push(one: Tracking) -> str:
    """The command that replaces a remote's branch, if it is still where it was last seen."""
    remote, branch = shlex.quote(one.remote), f"refs/heads/invincat/{one.branch}"
    if one.branch != "memory":
        return f"git push --force-with-lease={branch}:{one.id} {remote} :{branch}"
    return f"git push --force-with-lease={branch}:{one.id} {remote} {MEMORY_REF}:{branch}"
