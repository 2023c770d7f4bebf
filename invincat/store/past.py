"""The history of a code repository, as evidence that does not stand at HEAD is held against it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from invincat.memory.evidence import Evidence
from invincat.store.batch import MANY_PATHS, Batch, Change
from invincat.store.code import LEAST_HINT, CodeAtHead, match

# How often a file that was renamed again is followed.
_ROUNDS: Final = 8
# Commits on other branches from whose files a squash may have made those at HEAD.
_MOST_TREES: Final = 16
# So many versions of files at the commits at which they were cited are read, before their histories are.
_MOST_VERSIONS: Final = 4000
_LAST_DELETIONS: Final = 64


class Past(NamedTuple):
    """An item whose words are not at HEAD, with the file it cites (none: a commit), and what may tell of them.

    `origin` is the commit at which they were learned, `witness` the full id of one that is known to have had them.
    Nothing needs to be looked for before the commit `searched`: there the words stood in the file `moved`, or (None)
    it is known that they never stood.
    """

    item: Evidence
    path: str = ""
    origin: str | None = None
    witness: str | None = None
    searched: str | None = None
    moved: str | None = None


class CodeWithPast(CodeAtHead):
    """First `look` at HEAD for all items, then `look_back` for those of memories that do not stand there."""

    def __init__(self, head: str | None, now: Batch, rewrites: Mapping[str, str], *, is_whole: bool) -> None:
        """As `CodeAtHead`."""
        super().__init__(head, now, rewrites, is_whole=is_whole)
        self._witnesses: dict[Evidence, str] = {}
        self._deleted: set[Evidence] = set()
        self._present: set[str] = set()

    def witness(self, item: Evidence) -> str | None:
        """A commit before HEAD that had the words."""
        return self._witnesses.get(item)

    def look_back(self, past: Iterable[Past], then: Batch) -> None:
        """Look where the words of these went, and whether they ever were before HEAD."""
        gone = {one.item: one for one in past if self._has.get(one.item) is False}
        self._had |= dict.fromkeys(gone, self._never)
        files = [one for one in gone.values() if one.path]
        if self._head is None or not files:
            return
        self._follow_blobs(self._head, files, then)
        self._trust_witnesses(self._head, files, then)
        self._follow_moved(self._head, [one for one in files if self._is_open(one)], then)
        self._ask_origins(self._head, [one for one in files if self._is_untold(one)], then)
        self._search(self._head, [one for one in files if self._is_open(one)], then)
        self._follow_squashed(self._head, [one for one in files if self._is_untold(one)], then)

    def was_deleted(self, item: Evidence) -> bool:
        """Whether the file that an item cites was removed at some time before HEAD."""
        return item in self._deleted

    def _is_open(self, one: Past) -> bool:
        """Whether there is more to learn of an item: a file that is not there may have been renamed."""
        is_settled = one.item in self._deleted or self.blob(one.path) is not None
        return self._has[one.item] is False and not (self._had[one.item] and is_settled)

    def _follow_blobs(self, head: str, files: Iterable[Past], then: Batch) -> None:
        """A missing file may stand elsewhere as it was; what is in a submodule now is another repository's."""
        missing = [one for one in files if self.blob(one.path) is None]
        hinted: dict[str, list[Evidence]] = {}
        for one in missing:
            if one.item.blob and len(one.item.blob) >= LEAST_HINT:
                hinted.setdefault(one.item.blob[:LEAST_HINT], []).append(one.item)
        modules: set[str] = set()
        for entry in then.tree(head) or () if missing else ():
            if entry.kind == "commit":
                modules.add(f"{entry.path}/")
            for item in hinted.get(entry.id[:LEAST_HINT], ()):
                if entry.id.startswith(item.blob or entry.id):
                    self._has[item], self._places[item] = True, (entry.path, entry.id)
        for one in missing:
            if one.path.startswith(tuple(modules)):
                self._has[one.item] = None

    def _trust_witnesses(self, head: str, files: Iterable[Past], then: Batch) -> None:
        """What a commit is known to have had, HEAD once had when that leads to it."""
        known = then.objects(f"{one.searched}^{{commit}}" for one in files if one.searched)
        self._present = {found.id for found in known.values() if found}
        asked = [(one.item, one.witness) for one in files if one.witness]
        here = then.objects(f"{id}^{{commit}}" for _, id in asked)
        ancestors = then.ancestors(head, (found.id for found in here.values() if found)) or set()
        for item, id in asked:
            if id in ancestors:
                self._had[item], self._witnesses[item] = True, id
        moved = [(one.item, path) for one in files if (path := self._start(one)) != one.path]
        self.find(path for _, path in moved)
        self._look_into(moved)

    def _ask_origins(self, head: str, files: Iterable[Past], then: Batch) -> None:
        """The commit at which a memory was learned had the words, if they were committed by then."""
        asked = [(one, one.origin) for one in files if one.origin]
        if len({(commit, one.path) for one, commit in asked}) > _MOST_VERSIONS:
            return
        found = then.objects(name for one, commit in asked for name in (f"{commit}^{{commit}}", f"{commit}:{one.path}"))
        commits = {commit: id.id for _, commit in asked if (id := found.get(f"{commit}^{{commit}}"))}
        ancestors = then.ancestors(head, commits.values()) or set()
        versions = [
            (one.item, version, commits[commit])
            for one, commit in asked
            if commits.get(commit) in ancestors and (version := found.get(f"{commit}:{one.path}"))
        ]
        told = match([(item, version) for item, version, _ in versions], then)
        for item, version, commit in versions:
            if told.get((item, version.id)):
                self._had[item], self._witnesses[item] = True, commit

    def _follow_moved(self, head: str, files: Iterable[Past], then: Batch) -> None:
        """Where so many are missing that a folder must have moved, one of the last deletions will have done it."""
        at = [(one, path) for one in files if self.blob(path := self._start(one)) is None]
        for _ in range(_ROUNDS):
            paths = list(dict.fromkeys(path for _, path in at))
            if len(paths) <= MANY_PATHS:
                return
            last = then.changes(head, self._common(at), paths, "--diff-filter=D", f"--max-count={_LAST_DELETIONS}")
            moved = self._follow(at, self._deletions(at, last or ()), then)
            at = [(one, path) for one, path in moved if self.blob(path) is None]

    def _common(self, at: Iterable[tuple[Past, str]]) -> str | None:
        """The commit before which nothing needs to be looked for, where it is the same for all."""
        known = {self._since(one, path) for one, path in at}
        return known.pop() if len(known) == 1 else None

    def _start(self, one: Past) -> str:
        """The path from which a file is followed."""
        return one.moved if one.moved and self._had[one.item] else one.path

    def _since(self, one: Past, path: str) -> str | None:
        """The commit before which nothing needs to be looked for."""
        is_known = path == self._start(one) and (one.moved is None or self._had[one.item])
        return one.searched if is_known and one.searched in self._present else None

    def _follow_squashed(self, head: str, files: Iterable[Past], then: Batch) -> None:
        """A squash may have brought a file under a name that it got on its branch, of which no commit here tells."""
        at = [(one, one.path) for one in files if self.blob(one.path) is None and one.item not in self._deleted]
        origins = list(dict.fromkeys(one.origin for one, _ in at if one.origin))[:_MOST_TREES]
        old, new = [f"{origin}^{{tree}}" for origin in origins], f"{head}^{{tree}}"
        trees = then.objects([new, *old]) if old else {}
        here = trees.pop(new, None)
        self._follow(at, [f"{tree.id} {here.id}" for tree in dict.fromkeys(trees.values()) if tree and here], then)

    def _search(self, head: str, files: list[Past], then: Batch) -> None:
        """Read the versions that the files had before HEAD, and follow those that were renamed."""
        at = [(one, self._start(one)) for one in files]
        for _ in range(_ROUNDS):
            groups: dict[str | None, list[tuple[Past, str]]] = {}
            for one, path in at:
                groups.setdefault(self._since(one, path), []).append((one, path))
            deletions: list[str] = []
            for since, group in groups.items():
                changes = then.changes(head, since, list(dict.fromkeys(path for _, path in group)))
                if changes is None:
                    self._give_up([one for one, _ in group])
                else:
                    deletions += self._deletions(group, changes)
                    self._look_at_versions(group, changes, then)
            moved = self._follow([(one, path) for one, path in at if not self.blob(path)], deletions, then)
            at = [(one, path) for one, path in moved if self._is_untold(one) or not self.blob(path)]

    def _deletions(self, at: Iterable[tuple[Past, str]], changes: Iterable[Change]) -> list[str]:
        """The commits that removed these files."""
        removed = [change for change in changes if change.blob is None]
        paths = {change.path for change in removed}
        self._deleted |= {one.item for one, path in at if path in paths}
        return [change.commit for change in removed]

    def _look_at_versions(self, group: Iterable[tuple[Past, str]], changes: Iterable[Change], then: Batch) -> None:
        """Whether a version had the words; the newest are read first, since one of them is likely to."""
        versions: dict[str, list[Change]] = {}
        for change in changes:
            if change.blob is not None:
                versions.setdefault(change.path, []).append(change)
        left = [(one, versions.get(path, [])) for one, path in group]
        start, end = 0, 2
        while left := [(one, each) for one, each in left if len(each) > start and self._is_untold(one)]:
            wanted = [(one.item, each[start:end]) for one, each in left]
            found = then.objects(change.blob or "" for _, each in wanted for change in each)
            pairs = [(item, blob) for item, each in wanted for change in each if (blob := found.get(change.blob or ""))]
            told = match(pairs, then)
            for item, each in wanted:
                answers = [(told.get((item, change.blob or "")), change.commit) for change in each]
                if commit := next((commit for answer, commit in answers if answer), None):
                    self._had[item], self._witnesses[item] = True, commit
                elif any(answer is None for answer, _ in answers):
                    self._has[item] = None
            start, end = end, 8 * end

    def _is_untold(self, one: Past) -> bool:
        return self._has[one.item] is False and not self._had[one.item]

    def _follow(self, at: list[tuple[Past, str]], steps: Sequence[str], then: Batch) -> list[tuple[Past, str]]:
        """Look into the files that those which are not there became; gives those that lack the words, too."""
        at = [(one, path) for one, path in at if self._has[one.item] is False]
        renames = then.renames(steps) if at and steps else []
        if renames is None:
            self._give_up([one for one, _ in at])
            return []
        became: dict[str, list[str]] = {}
        for old, new in dict.fromkeys(renames):
            became.setdefault(old, []).append(new)
        moved = [(one, new) for one, path in at for new in became.get(path, ()) if self._has[one.item] is False]
        self.find(new for _, new in moved)
        self._look_into([(one.item, new) for one, new in moved])
        return [(one, new) for one, new in moved if self._has[one.item] is False]

    def _give_up(self, files: Iterable[Past]) -> None:
        for one in files:
            self._has[one.item] = None
