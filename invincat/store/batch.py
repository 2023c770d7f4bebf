"""Many questions to a code repository at once, each kind in one git process; none of them writes or fetches."""

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from invincat.store.locate import Repository, TookTooLong, run_in

# A partial clone would fetch what it lacks: no answer is better. The second is what a git older than 2.45 heeds.
_OFFLINE: Final[Mapping[str, str]] = MappingProxyType({"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"})
# Bytes of files that are held at once, at least one file.
_PORTION: Final = 8 * 1024 * 1024
# How often a git that dies of one question is asked the ones behind it.
_DEATHS: Final = 16
# Each path costs at every tree on the way; of more than so many the whole history is cheaper.
MANY_PATHS: Final = 200

_FAULTS: Final = frozenset({b"dangling", b"loop", b"notdir", b"symlink"})
_ABSENT: Final = frozenset({b"missing", b"ambiguous"})


class Found(NamedTuple):
    """An object: its full id, its kind, and its size in bytes."""

    id: str
    kind: str
    size: int


class Change(NamedTuple):
    """A file that a commit made or changed (`blob`), or removed (None)."""

    commit: str
    path: str
    blob: str | None


class Entry(NamedTuple):
    """What stands at a path of a tree; a submodule's kind is `commit`."""

    path: str
    kind: str
    id: str


class Batch:
    """Questions to one repository. When git took `patience` seconds for them in all, the rest is not answered: None.

    Names come from memories: they go through the standard input, where nothing is an option, and have no line ends.
    """

    def __init__(self, repository: Repository, patience: float) -> None:
        self._repository = repository
        self._left = patience

    def objects(self, names: Iterable[str]) -> dict[str, Found | None]:
        """The objects that revisions name, None for what is not there; links in trees are followed.

        A name that cannot be told is left out: a partial clone lacks it, or the time was up.
        """
        left = list(dict.fromkeys(names))
        told: dict[str, Found | None] = {}
        for _ in range(_DEATHS):
            if not left:
                break
            answer = self._run(["cat-file", "--batch-check", "--follow-symlinks"], left, accept_failure=True)
            if answer is None:
                break
            found = list(_objects(answer))
            told |= zip(left, found, strict=False)
            left = left[len(found) + 1 :]  # it died of the first that it did not answer
        return told

    def contents(self, blobs: Iterable[Found]) -> Iterator[tuple[str, bytes]]:
        """Ids and bytes of blobs, a portion at a time; those that cannot be read are left out."""
        portion: list[str] = []
        size = 0
        for blob in {blob.id: blob for blob in blobs}.values():
            if portion and size + blob.size > _PORTION:
                yield from self._contents(portion)
                portion, size = [], 0
            portion.append(blob.id)
            size += blob.size
        if portion:
            yield from self._contents(portion)

    def ancestors(self, head: str, commits: Iterable[str]) -> set[str] | None:
        """Which of these commits (full ids, all of them here) are `head` or lead to it."""
        asked = set(commits)
        if not asked:
            return set()
        answer = self._run(["rev-list", "--stdin"], [*sorted(asked), f"^{head}"])
        return None if answer is None else asked - set(answer.decode().split())

    def tree(self, commit: str) -> Iterator[Entry] | None:
        """All files and submodules at a commit."""
        answer = self._run(["ls-tree", "-r", "-z", "--full-tree", commit], [])
        return None if answer is None else _entries(answer)

    def changes(self, head: str, since: str | None, paths: Sequence[str], *limit: str) -> list[Change] | None:
        """All that `head` and its ancestors, but not `since` and its own, did to these paths; newest first.

        `limit` are options of `git log`.
        """
        limits = ["--", *paths] if len(paths) <= MANY_PATHS else []
        heads = [head, f"^{since}"] if since else [head]
        how = ["-z", "-m", "--raw", "--full-history", "--no-renames", "--no-abbrev"]
        answer = self._run(
            ["--literal-pathspecs", "log", *how, *limit, "--format=%H", "--stdin"],
            [*heads, *limits],
        )
        wanted = frozenset(paths)
        return None if answer is None else [change for change, _ in _changes(answer) if change.path in wanted]

    def renames(self, steps: Iterable[str]) -> list[tuple[str, str]] | None:
        """Old and new paths of the files that were renamed.

        Each step is a commit, or two trees, the older first.
        """
        how = ["-r", "-z", "-m", "-M", "--diff-filter=R", "--raw", "--no-abbrev"]
        answer = self._run(["diff-tree", *how, "--stdin"], list(dict.fromkeys(steps)))
        return None if answer is None else [(change.path, new) for change, new in _changes(answer) if new]

    def _contents(self, ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        answer = self._run(["cat-file", "--batch"], ids, accept_failure=True) or b""
        at = 0
        while at < len(answer):
            end = answer.index(b"\n", at)
            id, kind, *size = answer[at:end].split(b" ")
            at = end + 1
            if size:
                data = answer[at : at + int(size[0])]
                at += int(size[0]) + 1
                if kind == b"blob":
                    yield id.decode(), data

    def _run(self, arguments: Sequence[str], lines: Sequence[str], *, accept_failure: bool = False) -> bytes | None:
        if self._left <= 0:
            return None
        start = time.monotonic()
        try:
            asked = run_in(
                self._repository,
                arguments,
                input=b"".join(os.fsencode(line) + b"\n" for line in lines),
                more=_OFFLINE,
                timeout=self._left,
            )
        except TookTooLong:
            return None
        finally:
            self._left -= time.monotonic() - start
        return None if asked.returncode and not accept_failure else asked.stdout


def _objects(answer: bytes) -> Iterator[Found | None]:
    """Answers of `--batch-check --follow-symlinks`; where a link leads nowhere, its bytes follow."""
    at = 0
    while (end := answer.find(b"\n", at)) >= 0:
        words = answer[at:end].split(b" ")
        at = end + 1
        if len(words) == 2 and words[0] in _FAULTS:
            at += int(words[1]) + 1
            yield None
        elif words[-1] in _ABSENT:
            yield None
        else:
            id, kind, size = words
            yield Found(id.decode(), kind.decode(), int(size))


def _entries(answer: bytes) -> Iterator[Entry]:
    for line in answer.split(b"\0"):
        head, _, path = line.partition(b"\t")
        if path:
            _, kind, id = head.split(b" ")
            yield Entry(os.fsdecode(path), kind.decode(), id.decode())


def _changes(answer: bytes) -> Iterator[tuple[Change, str | None]]:
    """Raw differences below the commits that made them, with the new path of a rename."""
    commit = ""
    words = iter(answer.split(b"\0"))
    for word in words:
        before, _, raw = word.rpartition(b"\n")  # a line end stands between a commit or trees and what differs
        commit = before.decode() or commit
        if not raw.startswith(b":"):
            commit = raw.decode() or commit
            continue
        _, _, _, id, status = raw.split(b" ")
        path = os.fsdecode(next(words))
        new = os.fsdecode(next(words)) if status[:1] in {b"R", b"C"} else None
        yield Change(commit, path, id.decode() if id.strip(b"0") else None), new
