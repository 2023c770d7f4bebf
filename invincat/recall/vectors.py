"""Vectors on disk, by model and blob: a cache in SQLite below the state directory, made anew at will."""

from array import array
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from invincat.cache import Cache
from invincat.memory.view import Record

# Raise it when what is embedded of a memory, or the shape of a row, changes.
VERSION: Final = 1
_TABLE: Final = "vector (model text, blob text, data blob, primary key (model, blob))"


class Stock(NamedTuple):
    """All records of a store at the commit that is searched, and where their vectors are kept."""

    records: Sequence[Record]
    cache: "VectorCache"


class VectorCache:
    """Vectors in a SQLite file beside the parsed memories, where a purge takes all of it; the rest as for `Cache`."""

    def __init__(self, folder: Path, origin: str, is_over: Callable[[], bool] = lambda: False) -> None:
        self._cache = Cache(folder, origin, f"vectors-{VERSION}", [_TABLE], is_over)
        self._known: defaultdict[str, dict[str, bytes]] = defaultdict(dict)

    def load(self, model: str, blobs: Sequence[str]) -> dict[str, bytes]:
        """A model's vectors of these blobs, as far as they are known, as bytes; an unreadable cache is dropped."""
        known = self._known[model]
        missing = [blob for blob in blobs if blob not in known]
        query = "select blob, data from vector where model = ? and blob in ({keys})"
        known |= dict(self._cache.read_many(query, missing, [model]))
        return {blob: known[blob] for blob in blobs if blob in known}

    def save(self, model: str, vectors: Mapping[str, "array[float]"]) -> None:
        """Remember these; a cache that cannot be written is no fault."""
        rows = {blob: vector.tobytes() for blob, vector in vectors.items()}
        self._known[model] |= rows
        self._cache.write(
            ("insert or replace into vector values (?, ?, ?)", [(model, blob, data) for blob, data in rows.items()])
        )

    def drop(self) -> None:
        """Forget all of them: some are damaged."""
        self._known.clear()
        self._cache.drop()
