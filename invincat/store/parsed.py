"""Parsed memories on disk, by blob id: a cache in SQLite below the state directory, rebuilt at will."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from invincat.cache import Cache
from invincat.memory.entry import InvalidMemory, Memory
from invincat.store.tree import Decoded, Row

# Raise it when Memory changes its fields: entries of another shape are never read.
VERSION: Final = 3
_TABLES: Final = (
    "entry (blob text primary key, fingerprint text, memory blob)",
    "section (folder text primary key, tree text, rows blob)",
    "note (name text primary key, data blob)",
)

_SOUND: Final = "sound"

_encode = msgspec.msgpack.Encoder().encode
_decoder = msgspec.msgpack.Decoder(Memory)
_rows = msgspec.msgpack.Decoder(list[Row])


class ParsedCache:
    """An EntryCache and a NoteCache in one SQLite file; `origin` and `is_over` as for `Cache`."""

    def __init__(self, folder: Path, origin: str, is_over: Callable[[], bool] = lambda: False) -> None:
        self._cache = Cache(folder, origin, str(VERSION), _TABLES, is_over)
        self._known: dict[str, Decoded] = {}

    def load(self, blobs: Sequence[str]) -> dict[str, Decoded]:
        """What is known of these blobs; an unreadable cache is dropped and knows nothing."""
        missing = [blob for blob in blobs if blob not in self._known]
        rows = self._cache.read_many("select blob, fingerprint, memory from entry where blob in ({keys})", missing)
        try:
            self._known |= {blob: Decoded(_decoder.decode(data), mark) for blob, mark, data in rows}
        except (msgspec.DecodeError, InvalidMemory):
            self._cache.drop()
        return {blob: self._known[blob] for blob in blobs if blob in self._known}

    def save(self, entries: dict[str, Decoded]) -> None:
        """Remember these; a cache that cannot be written is no fault."""
        self._known |= entries
        rows = [(blob, entry.fingerprint, _encode(entry.memory)) for blob, entry in entries.items()]
        self._cache.write(("insert or ignore into entry values (?, ?, ?)", rows))

    def section(self, folder: str) -> tuple[str, list[Row]] | None:
        """The rows of a section, and the tree id of its folder then."""
        found = self._cache.read("select tree, rows from section where folder = ?", [folder])
        try:
            return (found[0][0], _rows.decode(found[0][1])) if found else None
        except msgspec.DecodeError:
            self._cache.drop()
            return None

    def save_section(self, folder: str, tree: str, rows: Sequence[Row]) -> None:
        """Remember the rows of a section."""
        self._cache.write(("insert or replace into section values (?, ?, ?)", [(folder, tree, _encode(list(rows)))]))

    def is_sound(self, tree: str) -> bool:
        """Whether this tree was last said to have every file of it in its view."""
        return self.note(_SOUND) == tree.encode()

    def save_sound(self, tree: str) -> None:
        """Remember it."""
        self.save_note(_SOUND, tree.encode())

    def note(self, name: str) -> bytes | None:
        """`NoteCache.note`."""
        found = self._cache.read("select data from note where name = ?", [name])
        return bytes(found[0][0]) if found else None

    def save_note(self, name: str, data: bytes) -> None:
        """`NoteCache.save_note`."""
        self._cache.write(("insert or replace into note values (?, ?)", [(name, data)]))
