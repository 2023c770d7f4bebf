"""The evidence of a repository and a conversation, as the gate asks for it."""

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from invincat.governance.grounding import Heard, SourceText
from invincat.store.source import Source

# Longer files are not evidence that anybody reads; generated ones would only cost time.
MAX_FILE: Final = 2 * 1024 * 1024
_NOBODY: Final[Mapping[int, Heard]] = MappingProxyType({})


class RepositoryGrounds:
    """Files and commits of the code repository, and the messages of the slice being read. Each file is read once."""

    def __init__(self, source: Source | None, turns: Mapping[int, Heard] = _NOBODY) -> None:
        self._source = source
        self._turns = turns
        self._files: dict[str, SourceText | None] = {}
        self._listed: frozenset[str] | None = None

    def file(self, path: str) -> SourceText | None:
        """`Grounds.file`: a text file of the work tree (of HEAD in a bare repository)."""
        if path not in self._files:
            self._files[path] = self._read(path)
        return self._files[path]

    def commit(self, id: str) -> SourceText | None:
        """`Grounds.commit`."""
        found = self._source.commit(id) if self._source else None
        # A commit of ours is no evidence: nothing is learned from itself (RULES 4).
        return SourceText(found.message) if found and "\nInvincat-Op: " not in found.message else None

    def turn(self, number: int) -> Heard | None:
        """`Grounds.turn`."""
        return self._turns.get(number)

    def _read(self, path: str) -> SourceText | None:
        if self._source is None or not self._is_listed(self._source, path):
            return None
        data = self._source.read(path)
        if data is None or len(data) > MAX_FILE:
            return None
        return SourceText(data.decode("utf-8-sig", "replace"), self._source.blob_id(data)[:10])

    def _is_listed(self, source: Source, path: str) -> bool:
        """Whether git lists the file, also where a link leads: what is ignored stays out of what a team shares."""
        if self._listed is None:
            self._listed = frozenset(source.files())
        root = source.repository.root
        if path not in self._listed or root is None:
            return path in self._listed
        real = os.path.realpath(root / path)
        return os.path.relpath(real, os.path.realpath(root)).replace(os.sep, "/") in self._listed
