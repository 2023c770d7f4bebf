"""Which memories are about the files that somebody works on: by `applies_to`, or by the files of their evidence."""

from collections.abc import Iterable
from functools import lru_cache

import pathspec

from invincat.memory.entry import Memory
from invincat.memory.evidence import FileLines


class Coverage:
    """Files and folders in play, relative to the root; a folder stands for what is below it."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = tuple(paths)
        self._files = frozenset(self._paths)
        self._folders = tuple(f"{path}/" for path in self._paths)
        self._tried = [*self._paths, *(f"{folder}x" for folder in self._folders)]
        # Many memories share their patterns.
        self._known: dict[tuple[str, ...], bool] = {(): False}

    def covers(self, memory: Memory) -> bool:
        """Whether a memory is about one of them."""
        for item in memory.source.evidence:
            # Most cite something else, which a look at the beginning tells.
            if item.at.startswith(self._paths) and self._is_at(item.at):
                return True
        return bool(memory.applies_to) and self._matches(memory.applies_to)

    def about(self, patterns: tuple[str, ...], places: Iterable[str]) -> bool:
        """Whether what has these patterns, and evidence at these places, is about one of them."""
        return any(map(self._is_at, places)) or self._matches(patterns)

    def _is_at(self, at: str) -> bool:
        path = at.rpartition("#L")[0]
        return path in self._files or path.startswith(self._folders)

    def _matches(self, patterns: tuple[str, ...]) -> bool:
        known = self._known.get(patterns) if self._paths else False
        if known is None:
            known = self._known[patterns] = any(_globs(patterns).match_files(self._tried))
        return known


@lru_cache(maxsize=4096)
def _globs(patterns: tuple[str, ...]) -> pathspec.GitIgnoreSpec:
    return pathspec.GitIgnoreSpec.from_lines(patterns)


def evidence_files(memory: Memory) -> frozenset[str]:
    """The files that a memory cites."""
    locations = (item.location for item in memory.source.evidence)
    return frozenset(location.path for location in locations if isinstance(location, FileLines))
