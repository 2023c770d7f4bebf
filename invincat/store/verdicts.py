"""Whether memories hold, as it was found at the last few HEADs: a cache in SQLite beside the parsed memories."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from invincat.cache import Cache
from invincat.governance.grounding import Standing

# Raise it when Verdict changes its fields or its meaning.
VERSION: Final = 1
# As many HEADs are remembered: of some work trees, and of branches that one goes back and forth between.
KEPT: Final = 8
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
    """One SQLite file, which a purge drops with the parsed memories; `origin` and `is_over` as for `Cache`."""

    def __init__(self, folder: Path, origin: str, is_over: Callable[[], bool] = lambda: False) -> None:
        self._cache = Cache(folder, origin, f"verdicts-{VERSION}", _TABLES, is_over)

    def load(self, world: str, blobs: Sequence[str]) -> dict[str, Verdict]:
        """What is known in a world of memories by their blobs."""
        query = "select blob, said from verdict where world = ? and blob in ({keys})"
        try:
            return {blob: _decoder.decode(said) for blob, said in self._cache.read_many(query, blobs, [world])}
        except msgspec.DecodeError:
            self._cache.drop()
            return {}

    def worlds(self) -> list[World]:
        """The worlds that are remembered, the last used first."""
        return [World(*row) for row in self._cache.read("select key, head from world order by used desc")]

    def save(self, world: World, verdicts: Mapping[str, Verdict]) -> None:
        """Remember these by blob, and forget the worlds that were not used for long."""
        rows = [(world.key, blob, _encode(verdict)) for blob, verdict in verdicts.items()]
        gone = "select key from world order by used desc limit -1 offset ?"
        self._cache.write(
            ("insert or replace into world select ?, ?, coalesce(max(used), 0) + 1 from world", [world]),
            ("insert or replace into verdict values (?, ?, ?)", rows),
            (f"delete from verdict where world in ({gone})", [[KEPT]]),  # noqa: S608 - ours
            (f"delete from world where key in ({gone})", [[KEPT]]),  # noqa: S608 - ours
        )
