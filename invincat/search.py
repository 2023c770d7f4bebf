"""Search over several stores: an index each, the better hits first; by meaning, too, where settings ask for it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from invincat.lookup import StoreCorpus
from invincat.recall.hit import Results, merge
from invincat.recall.index import Index
from invincat.recall.query import Query

# Only who has set the second leg pays for it.
if TYPE_CHECKING:
    from invincat.semantic import Semantic


class Search:
    """Keeps the indexes open that were asked. `origin` names the installation (see `installation`)."""

    def __init__(self, origin: str, semantic: "Semantic | None") -> None:
        self._origin = origin
        self._semantic = semantic
        self._indexes: dict[Path, Index] = {}

    def find(
        self,
        query: Query,
        corpora: Mapping[Path, StoreCorpus],
        progress: Callable[[int, int], None] | None = None,
        *,
        is_past: bool = False,
    ) -> Results:
        """The hits of all stores, each under its state directory; `is_past` where they are asked of an old commit."""
        wide = self._semantic.widen(query) if self._semantic else query
        answers = [
            self._index(state).search(corpus, wide, progress, is_past=is_past) for state, corpus in corpora.items()
        ]
        words = merge(answers, wide.limit)
        if self._semantic is None:
            return words
        records = {state / "parsed": corpus.records() for state, corpus in corpora.items()}
        return self._semantic.join(query, records, words)

    def _index(self, state: Path) -> Index:
        if state not in self._indexes:
            folder = state / "index"
            self._indexes[state] = Index(folder, f"{self._origin}:{folder}")
        return self._indexes[state]
