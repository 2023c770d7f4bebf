"""HEAD of a code repository, as evidence is held against it."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Final

from invincat.governance.quoting import Quotable
from invincat.memory.evidence import CommitRef, Evidence, FileLines
from invincat.store.batch import Batch, Found
from invincat.store.grounds import MAX_FILE

# Shorter hints could be anybody's.
LEAST_HINT: Final = 7


class CodeAtHead:
    """`grounding.Code`: answers what it has looked at; an item that it has not cannot be told."""

    def __init__(self, head: str | None, now: Batch, rewrites: Mapping[str, str], *, is_whole: bool) -> None:
        """`head` is a full id (None: no commit yet); `rewrites` maps old commits to new ones (full ids).

        Not `is_whole`: the clone is shallow or partial, and what it does not show may still have been.
        """
        self._head = head
        self._now = now
        self._rewrites = rewrites
        self._rewritten = sorted(rewrites)
        self._never = False if is_whole else None
        self._has: dict[Evidence, bool | None] = {}
        self._had: dict[Evidence, bool | None] = {}
        self._files: dict[str, Found | None] = {}
        self._places: dict[Evidence, tuple[str, str]] = {}

    def has(self, item: Evidence) -> bool | None:
        """`Code.has`."""
        return self._has.get(item)

    def had(self, item: Evidence) -> bool | None:
        """`Code.had`."""
        return self._had.get(item)

    def place(self, item: Evidence) -> tuple[str, str] | None:
        """The path and the blob at HEAD in which the words stand."""
        return self._places.get(item)

    def find(self, paths: Iterable[str]) -> None:
        """Look up what stands at these paths, for `blob` to tell."""
        wanted = {f"{self._head}:{path}": path for path in paths if path not in self._files}
        found = dict.fromkeys(wanted) if self._head is None else self._now.objects(wanted)
        self._files |= {wanted[name]: one for name, one in found.items()}

    def blob(self, path: str) -> str | None:
        """The blob at a path of HEAD; None where there is none, or nobody looked."""
        found = self._files.get(path)
        return found.id if found is not None and found.kind == "blob" else None

    def look(self, items: Iterable[Evidence]) -> None:
        """Look whether the words of these stand at HEAD."""
        commits: list[Evidence] = []
        files: list[Evidence] = []
        for item in dict.fromkeys(items):
            (commits if isinstance(item.location, CommitRef) else files).append(item)
        self._look_at_commits(commits)
        at = {item: _path(item) for item in files}
        self.find(at.values())
        self._has |= {item: False for item, path in at.items() if path in self._files}
        self._look_into(at.items())

    def _look_at_commits(self, items: Iterable[Evidence]) -> None:
        """An item's commit, or one that it was rewritten to, is HEAD or leads to it."""
        names = {item: [f"{id}^{{commit}}" for id in self._successors(item)] for item in items}
        if self._head is None or not names:
            self._has |= dict.fromkeys(names, False)
            return
        found = self._now.objects(name for each in names.values() for name in each)
        known = {item: {one.id for name in each if (one := found.get(name))} for item, each in names.items()}
        ancestors = self._now.ancestors(self._head, (id for each in known.values() for id in each))
        for item, ids in known.items():
            is_told = ancestors is not None and found.keys() >= set(names[item])
            self._has[item] = bool(ids & (ancestors or set())) or (self._never if is_told else None)

    def _successors(self, item: Evidence) -> list[str]:
        """The commit that an item cites, and all that it became."""
        cited = item.location.id if isinstance(item.location, CommitRef) else ""
        at = bisect_left(self._rewritten, cited)
        old = self._rewritten[at] if at < len(self._rewritten) else ""
        chain = [cited]
        new = self._rewrites[old] if old.startswith(cited) else None
        while new is not None and new not in chain:
            chain.append(new)
            new = self._rewrites.get(new)
        return chain

    def _look_into(self, places: Iterable[tuple[Evidence, str]]) -> None:
        """Look for the words of items in files at HEAD."""
        asked = [(item, path, found) for item, path in places if (found := self._files.get(path))]
        told = match([(item, found) for item, _, found in asked], self._now)
        for item, path, found in asked:
            if (answer := told.get((item, found.id))) or self._has[item] is False:
                self._has[item] = answer
            if answer:
                self._places[item] = (path, found.id)


def match(pairs: Iterable[tuple[Evidence, Found]], batch: Batch) -> dict[tuple[Evidence, str], bool]:
    """Whether blobs have the words of items; what is too large or could not be read is left out."""
    told: dict[tuple[Evidence, str], bool] = {}
    unread: dict[Found, list[Evidence]] = {}
    for item, blob in dict.fromkeys(pairs):
        is_hinted = item.blob is not None and len(item.blob) >= LEAST_HINT and blob.id.startswith(item.blob)
        if blob.kind != "blob":
            told[item, blob.id] = False
        elif item.quote is None or is_hinted:
            told[item, blob.id] = True
        elif blob.size <= MAX_FILE:
            unread.setdefault(blob, []).append(item)
    items = {blob.id: each for blob, each in unread.items()}
    for id, data in batch.contents(unread):
        text = Quotable(data.decode("utf-8", "replace"))
        told |= {(item, id): text.has(item.quote or "") for item in items[id]}
    return told


def _path(item: Evidence) -> str:
    return item.location.path if isinstance(item.location, FileLines) else ""
