"""Parsed memories on disk, by blob id: a cache in SQLite below the state directory, rebuilt at will."""

import contextlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from invincat.memory.entry import InvalidMemory, Memory
from invincat.paths import make_private
from invincat.store.tree import Decoded, Row

# Raise it when Memory changes its fields: entries of another shape are never read.
VERSION: Final = 3
_CHUNK: Final = 500
_TABLES: Final = (
    "entry (blob text primary key, fingerprint text, memory blob)",
    "section (folder text primary key, tree text, rows blob)",
    "note (name text primary key, data blob)",
)

_encode = msgspec.msgpack.Encoder().encode
_decoder = msgspec.msgpack.Decoder(Memory)
_rows = msgspec.msgpack.Decoder(list[Row])


class ParsedCache:
    """An EntryCache in one SQLite file.

    `origin` is a secret of this user's installation, part of the file's name: a file that came with a repository
    from elsewhere has another name and is never opened (FORMAT "State directory").
    """

    def __init__(self, folder: Path, origin: str) -> None:
        self._path = folder / f"{origin}-{VERSION}.sqlite3"
        self._known: dict[str, Decoded] = {}

    def load(self, blobs: Sequence[str]) -> dict[str, Decoded]:
        """What is known of these blobs; an unreadable cache is dropped and knows nothing."""
        found = {blob: self._known[blob] for blob in blobs if blob in self._known}
        missing = [blob for blob in blobs if blob not in found]
        if missing and self._path.exists():
            try:
                found |= self._read(missing)
            except (sqlite3.Error, msgspec.DecodeError, InvalidMemory):
                self._drop()
        return found

    def save(self, entries: dict[str, Decoded]) -> None:
        """Remember these; a cache that cannot be written is no fault."""
        self._known |= entries
        rows = [(blob, entry.fingerprint, _encode(entry.memory)) for blob, entry in entries.items()]
        try:
            self._write("insert or ignore into entry values (?, ?, ?)", rows)
        except (sqlite3.Error, OSError):
            self._drop()

    def section(self, folder: str) -> tuple[str, list[Row]] | None:
        """The rows of a section, and the tree id of its folder then."""
        if not self._path.exists():
            return None
        try:
            with contextlib.closing(self._connect()) as database:
                found = database.execute("select tree, rows from section where folder = ?", [folder]).fetchone()
            return (found[0], _rows.decode(found[1])) if found else None
        except (sqlite3.Error, msgspec.DecodeError):
            self._drop()
            return None

    def save_section(self, folder: str, tree: str, rows: Sequence[Row]) -> None:
        """Remember the rows of a section."""
        try:
            self._write("insert or replace into section values (?, ?, ?)", [(folder, tree, _encode(list(rows)))])
        except (sqlite3.Error, OSError):
            self._drop()

    def note(self, name: str) -> bytes | None:
        """`NoteCache.note`."""
        if not self._path.exists():
            return None
        try:
            with contextlib.closing(self._connect()) as database:
                found = database.execute("select data from note where name = ?", [name]).fetchone()
            return bytes(found[0]) if found else None
        except sqlite3.Error:
            self._drop()
            return None

    def save_note(self, name: str, data: bytes) -> None:
        """`NoteCache.save_note`."""
        try:
            self._write("insert or replace into note values (?, ?)", [(name, data)])
        except (sqlite3.Error, OSError):
            self._drop()

    def _write(self, statement: str, rows: Sequence[tuple[str | bytes, ...]]) -> None:
        make_private(self._path.parent)
        is_new = not self._path.exists()
        with contextlib.closing(self._connect()) as database, database:
            database.execute("pragma synchronous = off")  # what a power loss takes is parsed again
            if is_new:
                self._path.chmod(0o600)
            for table in _TABLES:
                database.execute(f"create table if not exists {table}")
            database.executemany(statement, rows)

    def _read(self, blobs: Sequence[str]) -> dict[str, Decoded]:
        found: dict[str, Decoded] = {}
        with contextlib.closing(self._connect()) as database:
            for start in range(0, len(blobs), _CHUNK):
                part = blobs[start : start + _CHUNK]
                marks = ",".join("?" * len(part))
                query = f"select blob, fingerprint, memory from entry where blob in ({marks})"  # noqa: S608 - only marks
                for blob, mark, data in database.execute(query, part):
                    found[blob] = Decoded(_decoder.decode(data), mark)
        self._known |= found
        return found

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=0.5)

    def _drop(self) -> None:
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
