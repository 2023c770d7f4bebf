"""Search over the stores that may be read: an index each, the better hits first; by meaning, too, where that is set."""

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from invincat.errors import ConfigurationError
from invincat.ledger import Ledger
from invincat.lookup import StoreCorpus, record_behind
from invincat.memory.scope import Scope
from invincat.memory.view import Record
from invincat.place import Place
from invincat.recall.fusion import POOL
from invincat.recall.hit import Hit, Results, merge
from invincat.recall.index import Index
from invincat.recall.prompt import CANDIDATES, MAX_PROMPT, to_tell
from invincat.recall.query import About, Query
from invincat.revisions import places
from invincat.store.standing import Standings

# Only who has set the second leg pays for it.
if TYPE_CHECKING:
    from invincat.config import Settings
    from invincat.semantic import Semantic

Progress = Callable[[int, int], None]
Corpora = Mapping[Path, StoreCorpus]


class Stores(Protocol):
    """What a search needs to know of where it is asked; `app.App` does."""

    @property
    def place(self) -> Place:
        """Which project this is."""

    @property
    def project_keys(self) -> frozenset[str]:
        """All that it is called by."""

    @property
    def settings(self) -> "Settings":
        """What is set; ConfigurationError when a file of settings is broken."""

    @property
    def installation(self) -> str:
        """What names the caches of this installation."""

    @property
    def standings(self) -> Standings:
        """Whether memories hold here."""

    def readable(self, scope: Scope | None = None) -> list[Ledger]:
        """The ledgers that have memories to read; NoStore, NoProject."""

    def state_of(self, ledger: Ledger) -> Path:
        """The state directory of one of them."""

    def untrusted(self) -> frozenset[str]:
        """Ids of memories that no person has accepted."""


class Search:
    """Keeps the indexes open that were asked; the stores are asked anew each time."""

    def __init__(self, stores: Stores, semantic: "Semantic | None") -> None:
        self._stores = stores
        self._semantic = semantic
        self._indexes: dict[Path, Index] = {}

    def recall(
        self,
        query: Query,
        progress: Progress | None = None,
        *,
        paths: Sequence[str] = (),
        in_play: Sequence[str] = (),
        at: str | None = None,
    ) -> Results:
        """What was found, what does not hold here marked and last (RULES 12).

        What is about one of `paths`, or the working folder, is lifted; `in_play` are such paths, relative to the root.
        For `at` and errors see `find`.
        """
        results = self.find(replace(query, about=self._about(paths, in_play)), progress, at=at)
        return results.with_standings(self._stores.standings.of(self._behind(results.hits)))

    def find(self, query: Query, progress: Progress | None = None, *, at: str | None = None) -> Results:
        """Search what may be read, whether or not it holds here; of two stores the better hits first.

        `at` asks what a store said then (`Ledger.resolve`); UserError where none has such a commit.
        """
        asked, is_past = replace(query, projects=self._stores.project_keys), at is not None
        corpora = self._corpora(query.scope, at)
        if self._semantic is None:
            return self._by_words(asked, corpora, progress, is_past=is_past)
        near = self._semantic.near(asked, _records(corpora))
        wide = replace(asked, limit=max(asked.limit, POOL)) if asked.limit > 0 else asked
        return near.join(asked, self._by_words(wide, corpora, progress, is_past=is_past, also=near.paths))

    def beside(self, prompt: str, paths: Sequence[str] = (), known: Container[str] = ()) -> list[Record]:
        """The few memories that hold here and that one message is about, but for the ids in `known`; often none."""
        found = self.recall(Query(prompt[:MAX_PROMPT], limit=CANDIDATES), paths=paths)
        untrusted = self._stores.untrusted()
        hits = [hit for hit in found.hits if hit.id not in known and hit.id not in untrusted]
        return self._behind(to_tell(prompt, hits))

    def refresh(self, progress: Progress) -> str | None:
        """Bring the indexes up to date now, rather than with the next search; why one could not be."""
        reasons = [self._index(state).refresh(corpus, progress) for state, corpus in self._corpora().items()]
        return "; ".join(filter(None, reasons)) or None

    def embed(self, progress: Progress) -> int:
        """Make all vectors that are missing, rather than in the background; how many that were (`Meaning.fill`).

        ConfigurationError when searching by meaning is off or cannot work, ProviderError.
        """
        if self._semantic is None:
            _ = self._stores.settings  # a file that cannot be read is why it seems to be off
            step = "run `invincat config set embedding local`, or name a model of your endpoint"
            raise ConfigurationError("searching by meaning is off", where="embedding", next_step=step)
        return self._semantic.fill(_records(self._corpora()), progress)

    def _corpora(self, scope: Scope | None = None, at: str | None = None) -> Corpora:
        asked_of = places(self._stores.readable(scope), at)
        return {self._stores.state_of(ledger): StoreCorpus(ledger, commit) for ledger, commit in asked_of}

    def _about(self, paths: Sequence[str], in_play: Sequence[str]) -> About | None:
        place = self._stores.place
        in_play = [*map(place.repository_path, paths), *in_play, *place.working_folder()]
        if not in_play:
            return None
        from invincat.memory.coverage import Coverage  # noqa: PLC0415 - globs cost 8 ms

        return Coverage(in_play).about

    def _behind(self, hits: Iterable[Hit]) -> list[Record]:
        """What was found; the memories themselves are read when somebody asks for them."""
        ledgers = {ledger.scope: ledger for ledger in self._stores.readable()}
        return [record_behind(ledgers[Scope(hit.scope)], hit) for hit in hits]

    def _by_words(
        self,
        query: Query,
        corpora: Corpora,
        progress: Progress | None,
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
            self._indexes[state] = Index(folder, f"{self._stores.installation}:{folder}")
        return self._indexes[state]


def _records(corpora: Corpora) -> dict[Path, Iterable[Record]]:
    """The memories of each store under the folder where their vectors are kept."""
    return {state / "parsed": corpus.records() for state, corpus in corpora.items()}
