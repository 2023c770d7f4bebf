"""Commits of ours that another tool's move left out, to be written again on top of it (RULES 3.4).

No merge: nothing is joined. What both sides touched is left to the person who finds it under `refs/invincat/backup/`.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Final

from invincat.errors import StoreError
from invincat.store.base import BACKUPS, Draft, Store, can_say
from invincat.store.files import DELETED_FOLDER, MEMORY_FOLDER, shown
from invincat.store.history import between, id_in
from invincat.store.journal import difference
from invincat.store.message import read
from invincat.store.purged import purged_ids

# So many commits are named.
_SAID: Final = 5


def replay(store: Store, lost: str, tip: str) -> list[Draft]:
    """Our operations that lead to `lost` and not to `tip` as drafts on top of the latter, oldest first, as said then.

    None at all unless they stand in one line, and nobody else there or here touched their files, names or memories.
    What a purge rewrote stays out: `tip` has it as the purge left it (HOOKS_AND_REVIEW "Sync and purge").
    ObjectMissing, NoDraft.
    """
    commits = between(store, tip, lost)[::-1]
    if not commits or any(len(commit.parents) != 1 for commit in commits):
        return []
    [base] = commits[0].parents
    purged = purged_ids(store, tip)
    ours, theirs = [], [difference(store, base, tip, "")]
    for before, commit in zip([base, *(commit.id for commit in commits)], commits, strict=False):
        op = read(commit.message).op
        # A purge has written history anew: it can only be repeated.
        if commit.parents != (before,) or op == "purge":
            return []
        if commit.id in purged:
            continue
        one = difference(store, before, commit.id, commit.message)
        if op is None:
            theirs.append(one)
        elif not can_say(commit.author, commit.message):
            return []
        else:
            ours.append(Draft(one.message, one.puts, one.removes, commit.author, commit.time))
    return [] if _touched(ours) & _touched(theirs) else ours


def told_again(drafts: Sequence[Draft]) -> str:
    """What to tell of a replay: it must not pass unseen, since somebody may have left them out on purpose."""
    said = [shown(read(draft.message).subject.partition(":")[0]) for draft in drafts[:_SAID]]
    more = [f"{len(drafts) - _SAID} more"] if len(drafts) > _SAID else []
    what = f"another tool's move of the memory ref had left out {', '.join([*said, *more])}"
    return f"{what}: done again; `invincat delete` what somebody undid on purpose"


def told_kept(store: Store, lost: str, tip: str) -> str:
    """What to tell where none was possible; nothing of what a purge rewrote, which the tip has as that left it."""
    with suppress(StoreError):
        if lost in purged_ids(store, tip):
            return ""
    what = "another tool's move of the memory ref left out what was written here"
    if lost not in store.refs(BACKUPS).values():
        return f"{what}, and git has dropped it; a clone or a backup of the disk may still have {lost[:12]}"
    return (
        f"{what}, and it cannot simply be done again: see `invincat diff {tip[:12]}..{lost[:12]}`; "
        "`invincat doctor` lists the backup of it"
    )


def _touched(drafts: list[Draft]) -> set[str]:
    """Paths, the ids of memories, and their names, which are their own in a store whatever the section (FORMAT)."""
    paths = {path for draft in drafts for path in (*draft.puts, *draft.removes)}
    files = [data for draft in drafts for path, data in draft.puts.items() if _is_in(path, MEMORY_FOLDER)]
    names = {PurePosixPath(path).name for path in paths if _is_in(path, MEMORY_FOLDER)}
    markers = {PurePosixPath(path).stem for path in paths if _is_in(path, DELETED_FOLDER)}
    return paths | names | markers | {id for data in files if (id := id_in(data))}


def _is_in(path: str, folder: str) -> bool:
    return path.startswith(f"{folder}/")
