"""Which embeddings recall's second leg uses, as settings say; made when the first search asks for them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from invincat.errors import ConfigurationError
from invincat.memory.view import Record
from invincat.recall.embedder import Embedder
from invincat.recall.fusion import WORDS_ALONE, Near
from invincat.recall.query import Query
from invincat.recall.vectors import Stock, VectorCache

# The SDK, numpy and a model cost half a second: only who has set the leg pays for them (lazy imports below).
if TYPE_CHECKING:
    from invincat.recall.dense import Meaning


@dataclass(frozen=True)
class Embedding:
    """`model` at an endpoint, None for the one on this machine. The `*_setting` say where each was set."""

    model: str | None
    key: str | None
    base_url: str
    setting: str
    url_setting: str

    def embedder(self) -> Embedder:
        """ConfigurationError when the extra is not installed, or the base URL cannot be one."""
        if self.model is None:
            from invincat.llm.embedding_local import LocalEmbedder  # noqa: PLC0415 - see above

            return LocalEmbedder(self.setting)
        from invincat.llm.embedding_openai import OpenAIEmbedder  # noqa: PLC0415 - see above

        return OpenAIEmbedder(
            self.model, self.key, self.base_url, model_setting=self.setting, url_setting=self.url_setting
        )


class Semantic:
    """The leg by meaning. What will not clear by itself is raised once; then the words answer alone (RULES 9)."""

    def __init__(self, chosen: Embedding, origin: str, is_over: Callable[[], bool]) -> None:
        """`origin` and `is_over` are as in `VectorCache`."""
        self._chosen = chosen
        self._origin = origin
        self._is_over = is_over
        self._caches: dict[Path, VectorCache] = {}
        self._fault: ConfigurationError | None = None

    def near(self, query: Query, records: Mapping[Path, Iterable[Record]]) -> Near:
        """`Meaning.near`; `records` of each store stand under the folder where their vectors are kept."""
        if self._fault is None:
            try:
                return self._meaning.near(query, self._stocks(records))
            except ConfigurationError as fault:
                self._fault = fault
                raise
        return Near(degraded=f"{WORDS_ALONE}: {self._fault}")

    def fill(self, records: Mapping[Path, Iterable[Record]], progress: Callable[[int, int], None]) -> int:
        """`Meaning.fill`; `records` as for `near`."""
        return self._meaning.fill(self._stocks(records), progress)

    def _stocks(self, records: Mapping[Path, Iterable[Record]]) -> list[Stock]:
        return [Stock(list(found), self._cache(folder)) for folder, found in records.items()]

    def _cache(self, folder: Path) -> VectorCache:
        return self._caches.setdefault(folder, VectorCache(folder, self._origin, self._is_over))

    @cached_property
    def _meaning(self) -> "Meaning":
        try:
            from invincat.recall.dense import Meaning  # noqa: PLC0415 - see above
        except ModuleNotFoundError:
            what, step = (
                "searching by meaning is not installed",
                "run `pip install 'invincat[semantic]'`, or set it to off",
            )
            raise ConfigurationError(what, where=self._chosen.setting, next_step=step) from None
        return Meaning(self._chosen.embedder())
