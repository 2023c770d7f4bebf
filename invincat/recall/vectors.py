"""Vectors on disk, by model and blob: a cache in SQLite below the state directory, made anew at will."""

import contextlib
import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from invincat.memory.view import Record
from invincat.paths import make_private

# Raise it when what is embedded of a memory, or the shape of a row, changes.
VERSION: Final = 1
_CHUNK: Final = 500
_TABLE: Final = "vector (model text, blob text, data blob, primary key (model, blob))"


class Stock(NamedTuple):
    """All records of a store at the commit that is searched, and where their vectors are kept."""

    records: Sequence[Record]
    cache: "VectorCache"


class VectorCache:
    """Vectors in a SQLite file beside the parsed memories, where a purge takes all of it.

    `origin` is a secret of this user's installation, part of the file's name: a file that came with a repository
    from elsewhere has another name and is never opened (FORMAT "State directory"). Several threads may use it.
    """

    def __init__(self, folder: Path, origin: str) -> None:
        self._path = folder / f"{origin}-vectors-{VERSION}.sqlite3"
        self._known: defaultdict[str, dict[str, bytes]] = defaultdict(dict)

    def load(self, model: str, blobs: Sequence[str]) -> dict[str, bytes]:
        """A model's vectors of these blobs, as far as they are known, as bytes; an unreadable cache is dropped."""
        known = self._known[model]
        missing = [blob for blob in blobs if blob not in known]
        if missing and self._path.exists():
            with self._forgiving():
                known |= self._read(model, missing)
        return {blob: known[blob] for blob in blobs if blob in known}

    def save(self, model: str, vectors: Mapping[str, "array[float]"]) -> None:
        """Remember these; a cache that cannot be written is no fault."""
        rows = {blob: vector.tobytes() for blob, vector in vectors.items()}
        self._known[model] |= rows
        with self._forgiving():
            make_private(self._path.parent)
            self._path.touch(mode=0o600)
            with contextlib.closing(self._connect()) as database, database:
                database.execute("pragma synchronous = off")  # what a power loss takes is made again
                database.execute(f"create table if not exists {_TABLE}")
                database.executemany(
                    "insert or replace into vector values (?, ?, ?)",
                    [(model, blob, data) for blob, data in rows.items()],
                )

    def _read(self, model: str, blobs: Sequence[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        with contextlib.closing(self._connect()) as database:
            for start in range(0, len(blobs), _CHUNK):
                part = blobs[start : start + _CHUNK]
                marks = ",".join("?" * len(part))
                query = f"select blob, data from vector where model = ? and blob in ({marks})"  # noqa: S608 - only marks
                found |= dict(database.execute(query, [model, *part]))
        return found

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=0.5)

    @contextlib.contextmanager
    def _forgiving(self) -> Iterator[None]:
        """A file that is busy or cannot be written is left alone, one that is damaged is dropped."""
        try:
            yield
        except (sqlite3.OperationalError, OSError):
            return
        except sqlite3.Error:
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)
