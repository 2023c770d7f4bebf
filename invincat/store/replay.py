"""Commits of ours that another tool's move left out, to be written again on top of it (RULES 3.4).

No merge: nothing is joined. What both sides touched is left to the person who finds it under `refs/invincat/backup/`.
"""

from pathlib import PurePosixPath

from invincat.store.base import Draft, Store
from invincat.store.files import MEMORY_FOLDER
from invincat.store.history import between
from invincat.store.journal import difference
from invincat.store.message import read


def replay(store: Store, lost: str, tip: str) -> list[Draft]:
    """Our operations that lead to `lost` and not to `tip` as drafts on top of the latter, oldest first, as said then.

    None at all unless they stand in one line, and nobody else there or here touched their files or their names.
    ObjectMissing.
    """
    commits = between(store, tip, lost)[::-1]
    if not commits or any(len(commit.parents) != 1 for commit in commits):
        return []
    [base] = commits[0].parents
    ours, theirs = [], [difference(store, base, tip, "")]
    for before, commit in zip([base, *(commit.id for commit in commits)], commits, strict=False):
        op = read(commit.message).op
        # A purge has written history anew: it can only be repeated.
        if commit.parents != (before,) or op == "purge":
            return []
        one = difference(store, before, commit.id, commit.message)
        if op is None:
            theirs.append(one)
        else:
            ours.append(Draft(one.message, one.puts, one.removes, commit.author, commit.time))
    return [] if _touched(ours) & _touched(theirs) else ours


def _touched(drafts: list[Draft]) -> set[str]:
    """Paths, and the names of memories, which are their own in a store whatever the section (FORMAT "Tree")."""
    paths = {path for draft in drafts for path in (*draft.puts, *draft.removes)}
    return paths | {PurePosixPath(path).name for path in paths if path.startswith(f"{MEMORY_FOLDER}/")}
