"""The history of one memory, told from the trees, and what the commits between two of them say."""

import re
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from invincat.memory.difference import Account
from invincat.memory.entry import format_time
from invincat.store.ancestry import reachable
from invincat.store.base import FOLDER_MODE, Commit, Store
from invincat.store.files import DELETED_FOLDER, MEMORY_FOLDER, changed_files, find_blob
from invincat.store.message import Message, read

_ID = re.compile(rb"^id: *[\"']?([0-9A-Z]{26})[\"']?$", re.MULTILINE)
# Bytes of a file among which its id is looked for.
_HEAD: Final = 4096


class State(NamedTuple):
    """Where a memory stands in a tree: its file and blob, and the blob of its marker; None for what is not there."""

    path: str | None = None
    blob: str | None = None
    marker: str | None = None


ABSENT: Final = State()


class Touch(NamedTuple):
    """A commit that touched a memory: what it was in the (first) parent, and what it is since."""

    commit: Commit
    message: Message
    before: State
    after: State


def history_of(store: Store, tip: str, id: str, path: str | None) -> Iterator[Touch]:
    """The commits that touched a memory, newest first; `path` is its file at `tip`, None where it has none.

    Told from the trees, through moves, deletion and marker: commits that we did not write count like ours. A merge
    counts where it differs from all its parents.
    """
    places, commits = _followed(store, tip, id, path)
    for commit in commits:
        after, parents = _states(store, commit, id, places)
        if after not in parents:
            yield Touch(commit, read(commit.message), parents[0], after)


def graves(store: Store, tip: str, ids: Collection[str]) -> Iterator[tuple[str, Touch]]:
    """Of deleted memories the commits that took their files, the last deleted first, with where these stood before.

    `ids` have markers at `tip`, and were not purged.
    """
    wanted = set(ids)
    for commit in _touching(store, tip, [_marker_path(id) for id in sorted(wanted)]):
        came = _marked(store, commit).difference(*(_marked(store, store.commit(parent)) for parent in commit.parents))
        for id in sorted(wanted & came):
            wanted.discard(id)
            # Somebody may have removed the file before the marker came (RULES 6.6).
            touches = history_of(store, commit.id, id, None)
            if last := next((touch for touch in touches if touch.before.path), None):
                yield id, last


def _touching(store: Store, tip: str, places: Collection[str]) -> Iterator[Commit]:
    return map(store.commit, store.touching(tip, places)) if places else iter(())


def _followed(store: Store, tip: str, id: str, path: str | None) -> tuple[list[str], list[Commit]]:
    """Where a memory stood in all of the history, with its marker, and the commits that touched one of these places.

    Each move that is found leads to more commits to look at.
    """
    marker = _marker_path(id)
    places = [marker, path] if path else [marker]
    if path is None and find_blob(store, tip, marker) is None:
        places += _lost(store, tip, id)
    seen: set[str] = set()
    while True:
        commits = list(_touching(store, tip, places))
        fresh = [commit for commit in commits if commit.id not in seen]
        found = [place for commit in fresh for place in _elsewhere(store, commit, id, places)]
        seen.update(commit.id for commit in fresh)
        new = dict.fromkeys(place for place in found if place not in places)
        if not new:
            return places, commits
        places += new


def _elsewhere(store: Store, commit: Commit, id: str, places: Collection[str]) -> Iterator[str]:
    """Where else a memory stood on the other side of a commit at which it came, went or got its marker."""
    after, parents = _states(store, commit, id, places)
    for parent, before in zip(commit.parents, parents, strict=False):
        came = before.path is None and (after.path is not None or (after.marker is not None and before.marker is None))
        went = before.path is not None and after.path is None
        if not (came or went) or _is_made(read(commit.message), id):
            continue
        sides = [(file.path, file.old if came else file.new) for file in changed_files(store, parent, commit.id)]
        if found := next((path for path, blob in sides if blob and _id_in(store, blob) == id), None):
            yield found
        elif came and before.marker is None:
            yield from _lost(store, parent, id)


def _lost(store: Store, tip: str, id: str) -> list[str]:
    """Where a memory stood last that is not there, and of which no marker tells."""
    for commit in _touching(store, tip, [MEMORY_FOLDER]):
        for parent in commit.parents:
            for file in changed_files(store, parent, commit.id):
                if file.old and _id_in(store, file.old) == id:
                    return [file.path]
    return []


def _states(store: Store, commit: Commit, id: str, places: Collection[str]) -> tuple[State, list[State]]:
    """Where a memory stands at a commit and at each of its parents; the root has an empty one."""
    parents = [_state(store, parent, id, places) for parent in commit.parents]
    return _state(store, commit.id, id, places), parents or [ABSENT]


def _state(store: Store, commit: str, id: str, places: Collection[str]) -> State:
    marker = _marker_path(id)
    for place in places:
        if place != marker and (blob := find_blob(store, commit, place)) and _id_in(store, blob) == id:
            return State(place, blob, find_blob(store, commit, marker))
    return State(marker=find_blob(store, commit, marker))


def _is_made(message: Message, id: str) -> bool:
    """Whether this commit of ours gave the id, so that there is nothing before it."""
    return message.op in {"create", "supersede"} and id in {*message.memories, message.successor}


def _marker_path(id: str) -> str:
    return f"{DELETED_FOLDER}/{id}.md"


def _marked(store: Store, commit: Commit) -> set[str]:
    """The ids in the names of a commit's markers."""
    folders = [entry.id for entry in store.list_tree(commit.tree) if entry[:2] == (DELETED_FOLDER, FOLDER_MODE)]
    return {entry.name.removesuffix(".md") for folder in folders for entry in store.list_tree(folder)}


def _id_in(store: Store, blob: str) -> str | None:
    return id_in(store.read_blob(blob))


def id_in(data: bytes) -> str | None:
    """The id that a file gives, also one that is no memory any more."""
    found = _ID.search(data[:_HEAD])
    return found[1].decode() if found else None


def between(store: Store, old: str, new: str) -> list[Commit]:
    """The commits that lead to `new` and not to `old`, newest first."""
    found: list[Commit] = []
    left = {new}
    for commit in store.history(new):
        if left == {old}:
            return found
        left.discard(commit.id)
        left.update(commit.parents)
        found.append(commit)
    older = set(reachable([old], store.commit))
    return [commit for commit in found if commit.id not in older]


def accounts(store: Store, old: str, new: str) -> dict[str, list[Account]]:
    """What the commits between two say of each memory that they touched, newest first.

    Ours name the memories; of others the files that changed tell.
    """
    found: dict[str, list[Account]] = {}
    for commit in between(store, old, new):
        message = read(commit.message)
        ids = {*message.memories, *filter(None, [message.successor])} or set(_touched(store, commit))
        for id in ids:
            found.setdefault(id, []).append(account(commit, message))
    return found


def account(commit: Commit, message: Message) -> Account:
    """What a commit says."""
    return Account(
        commit=commit.id,
        time=format_time(commit.time),
        author=commit.author.name,
        op=message.op,
        actor=message.actor,
        reason=message.reason,
        sources=message.sources,
        subject=message.subject,
    )


def _touched(store: Store, commit: Commit) -> Iterator[str]:
    for parent in commit.parents[:1]:
        for file in changed_files(store, parent, commit.id):
            if id := _id_in(store, file.new or file.old or ""):
                yield id
