"""Search over several stores: an index each, the better hits first; by meaning, too, where settings ask for it."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from invincat.errors import ConfigurationError
from invincat.lookup import StoreCorpus
from invincat.memory.view import Record
from invincat.recall.fusion import POOL
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
        if self._semantic is None:
            return self._by_words(query, corpora, progress, is_past=is_past)
        near = self._semantic.near(query, _records(corpora))
        wide = replace(query, limit=max(query.limit, POOL)) if query.limit > 0 else query
        return near.join(query, self._by_words(wide, corpora, progress, is_past=is_past, also=near.paths))

    def refresh(self, corpora: Mapping[Path, StoreCorpus], progress: Callable[[int, int], None]) -> str | None:
        """Bring the indexes up to date now; why one could not be, else None."""
        reasons = [self._index(state).refresh(corpus, progress) for state, corpus in corpora.items()]
        return "; ".join(filter(None, reasons)) or None

    def embed(self, corpora: Mapping[Path, StoreCorpus], progress: Callable[[int, int], None]) -> int:
        """Make all vectors that are missing now, how many that were: `Meaning.fill`; ConfigurationError when off."""
        if self._semantic is None:
            step = "run `invincat config set embedding local`, or name a model of your endpoint"
            raise ConfigurationError("searching by meaning is off", where="embedding", next_step=step)
        return self._semantic.fill(_records(corpora), progress)

    def _by_words(
        self,
        query: Query,
        corpora: Mapping[Path, StoreCorpus],
        progress: Callable[[int, int], None] | None,
        *,
        is_past: bool,
        also: Collection[str] = (),
    ) -> Results:
        answers = [
            self._index(state).search(corpus, query, progress, is_past=is_past, also=also)
            for state, corpus in corpora.items()
        ]
        return merge(answers, query.limit + len(also) * len(answers))

    def _index(self, state: Path) -> Index:
        if state not in self._indexes:
            folder = state / "index"
            self._indexes[state] = Index(folder, f"{self._origin}:{folder}")
        return self._indexes[state]


def _records(corpora: Mapping[Path, StoreCorpus]) -> dict[Path, Iterable[Record]]:
    """The memories of each store under the folder where their vectors are kept."""
    return {state / "parsed": corpus.records() for state, corpus in corpora.items()}
