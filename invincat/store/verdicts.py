"""Whether memories hold, as it was found at the last few HEADs: a cache in SQLite beside the parsed memories."""

import contextlib
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from invincat.governance.grounding import Standing
from invincat.paths import make_private

# Raise it when Verdict changes its fields or its meaning.
VERSION: Final = 1
# As many HEADs are remembered: of some work trees, and of branches that one goes back and forth between.
KEPT: Final = 8
_CHUNK: Final = 500
_TABLES: Final = (
    "world (key text primary key, head text, used integer)",
    "verdict (world text, blob text, said blob, primary key (world, blob)) without rowid",
)


class World(NamedTuple):
    """What verdicts rest on: HEAD's commit (None: none yet), and a key that differs whenever they could."""

    key: str
    head: str | None


class Verdict(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How a memory stands at a HEAD.

    `place` is the path and the blob that has its words, `witness` the full id of a commit that once had them;
    `claims` are the paths and quotes of what does not hold. `is_unmoved`: their files were never removed or renamed
    before that HEAD.
    """

    standing: Standing
    place: tuple[str, str] | None = None
    witness: str | None = None
    claims: tuple[tuple[str, str], ...] = ()
    is_unmoved: bool = False


_encode = msgspec.msgpack.Encoder().encode
_decoder = msgspec.msgpack.Decoder(Verdict)


class VerdictCache:
    """One SQLite file, which a purge drops with the parsed memories; `origin` as for these. Losing it costs time."""

    def __init__(self, folder: Path, origin: str) -> None:
        self._path = folder / f"{origin}-verdicts-{VERSION}.sqlite3"

    def load(self, world: str, blobs: Sequence[str]) -> dict[str, Verdict]:
        """What is known in a world of memories by their blobs."""
        if not blobs or not self._path.exists():
            return {}
        try:
            with contextlib.closing(self._connect()) as database:
                return {blob: _decoder.decode(said) for blob, said in _select(database, world, blobs)}
        except (sqlite3.Error, msgspec.DecodeError):
            self._drop()
            return {}

    def worlds(self) -> list[World]:
        """The worlds that are remembered, the last used first."""
        if not self._path.exists():
            return []
        try:
            with contextlib.closing(self._connect()) as database:
                return [World(*row) for row in database.execute("select key, head from world order by used desc")]
        except sqlite3.Error:
            self._drop()
            return []

    def save(self, world: World, verdicts: Mapping[str, Verdict]) -> None:
        """Remember these by blob; a cache that cannot be written is no fault."""
        rows = [(world.key, blob, _encode(verdict)) for blob, verdict in verdicts.items()]
        try:
            make_private(self._path.parent)
            is_new = not self._path.exists()
            with contextlib.closing(self._connect()) as database, database:
                database.execute("pragma synchronous = off")  # what a power loss takes is asked again
                if is_new:
                    self._path.chmod(0o600)
                for table in _TABLES:
                    database.execute(f"create table if not exists {table}")
                use = "insert or replace into world select ?, ?, coalesce(max(used), 0) + 1 from world"
                database.execute(use, world)
                database.executemany("insert or replace into verdict values (?, ?, ?)", rows)
                old = "select key from world order by used desc limit -1 offset ?"
                gone = [key for (key,) in database.execute(old, [KEPT])]
                for table, column in (("verdict", "world"), ("world", "key")):
                    marks = [[key] for key in gone]
                    database.executemany(f"delete from {table} where {column} = ?", marks)  # noqa: S608 - ours
        except (sqlite3.Error, OSError):
            self._drop()

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=0.5)

    def _drop(self) -> None:
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)


def _select(database: sqlite3.Connection, world: str, blobs: Sequence[str]) -> list[tuple[str, bytes]]:
    if len(blobs) > _CHUNK:
        wanted = frozenset(blobs)
        everything = database.execute("select blob, said from verdict where world = ?", [world])
        return [row for row in everything if row[0] in wanted]
    marks = ",".join("?" * len(blobs))
    query = f"select blob, said from verdict where world = ? and blob in ({marks})"  # noqa: S608 - only marks
    return database.execute(query, [world, *blobs]).fetchall()
