"""The order in which history is told: newest first, and no commit before its children."""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from heapq import heappop, heappush
from typing import Final

from invincat.store.base import Commit

_LAST_SECOND: Final = 253402300799  # of the year 9999


def moment(seconds: int | None) -> datetime:
    """The time that a commit gives, in UTC; what no calendar knows becomes the nearest time that it does.

    None: it gives none that can be read, which is the earliest time, as for git.
    """
    return datetime.fromtimestamp(min(max(seconds or 0, 0), _LAST_SECOND), UTC)


def newest_first(tip: str, read: Callable[[str], Commit]) -> Iterator[Commit]:
    """All ancestors of `tip`, itself first; reads no more than it must.

    A stretch without merges is told as it is read. Clocks may be wrong, so where lines run side by side all
    of them are read down to the one commit in which they meet, and that stretch is sorted.
    """
    start: Commit | None = read(tip)
    while start is not None:
        stretch, start = _stretch(start, read)
        yield from _sorted(stretch)


def reachable(tips: Iterable[str], read: Callable[[str], Commit]) -> Iterator[str]:
    """The ids of all commits that these lead to, themselves too, each once and in no order."""
    left = list(dict.fromkeys(tips))
    seen = set(left)
    while left:
        id = left.pop()
        yield id
        for parent in read(id).parents:
            if parent not in seen:
                seen.add(parent)
                left.append(parent)


def _stretch(start: Commit, read: Callable[[str], Commit]) -> tuple[dict[str, Commit], Commit | None]:
    """The commits from `start` down to the first that all the others lead to, and that one (None: the end)."""
    stretch: dict[str, Commit] = {}
    seen = {start.id}
    frontier: list[tuple[float, str, Commit]] = []
    _push(frontier, start)
    # Once a root was read, a commit read early may be an ancestor of the one that is left: read to the end.
    rooted = False
    while frontier and (rooted or not stretch or len(frontier) > 1):
        commit = heappop(frontier)[2]
        stretch[commit.id] = commit
        rooted = rooted or not commit.parents
        for parent in commit.parents:
            if parent not in seen:
                seen.add(parent)
                _push(frontier, read(parent))
    return stretch, frontier[0][2] if frontier else None


def _sorted(stretch: dict[str, Commit]) -> Iterator[Commit]:
    """Newest first among those whose children have all been told."""
    children = dict.fromkeys(stretch, 0)
    for commit in stretch.values():
        for parent in set(commit.parents) & stretch.keys():
            children[parent] += 1
    ready: list[tuple[float, str, Commit]] = []
    for id, count in children.items():
        if not count:
            _push(ready, stretch[id])
    while ready:
        commit = heappop(ready)[2]
        yield commit
        for parent in set(commit.parents) & stretch.keys():
            children[parent] -= 1
            if not children[parent]:
                _push(ready, stretch[parent])


def _push(heap: list[tuple[float, str, Commit]], commit: Commit) -> None:
    heappush(heap, (-commit.time.timestamp(), commit.id, commit))
