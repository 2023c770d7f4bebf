"""Disposable tables in a SQLite file: what is damaged is dropped, what is busy or cannot be written is left alone."""

import contextlib
import errno
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from invincat.paths import make_private

# SQLite takes at least so many values at once.
_CHUNK: Final = 500
_SUFFIX: Final = ".sqlite3"
# Seconds that `empty` waits for somebody who writes.
_PATIENCE: Final = 10.0
_HEADER: Final = b"SQLite format 3\0"


class Cache:
    """One file, made when first written to; losing it costs time only. Several threads and processes may use it.

    `origin` is a secret of this user's installation, part of the file's name: a file that came with a repository
    from elsewhere has another name and is never opened (FORMAT "State directory"). `is_over` says whether what was
    read may not be kept any more; it is asked while nobody can `empty` the folder.
    """

    def __init__(
        self,
        folder: Path,
        origin: str,
        name: str,
        tables: Sequence[str],
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        self._path = folder / f"{origin}-{name}{_SUFFIX}"
        self._tables = tables
        self._is_over = is_over

    def read(self, query: str, values: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query; none where the file is not there or cannot be read."""
        with self._forgiving():
            if self._path.exists():
                with contextlib.closing(self._connect()) as database:
                    return database.execute(query, values).fetchall()
        return []

    def read_many(self, query: str, keys: Sequence[str], values: Sequence[str] = ()) -> list[tuple[Any, ...]]:
        """The same for any number of keys, which take the place of `{keys}` behind the other values."""
        found: list[tuple[Any, ...]] = []
        with self._forgiving():
            if keys and self._path.exists():
                with contextlib.closing(self._connect()) as database:
                    for start in range(0, len(keys), _CHUNK):
                        part = keys[start : start + _CHUNK]
                        found += database.execute(query.format(keys=",".join("?" * len(part))), [*values, *part])
        return found

    def write(self, *statements: tuple[str, Iterable[Sequence[Any]]]) -> None:
        """Carry out all of these or none, each for all of its rows; a cache that cannot be written is no fault."""
        with self._forgiving():
            make_private(self._path.parent)
            self._path.touch(mode=0o600)
            with contextlib.closing(self._connect()) as database, database:
                database.execute("pragma synchronous = off")  # what a power loss takes is made again
                database.execute("begin immediate")
                if self._is_over():
                    return
                for table in self._tables:
                    database.execute(f"create table if not exists {table}")
                for statement, rows in statements:
                    database.executemany(statement, rows)

    def drop(self) -> None:
        """Take it away: what stands in it is not what it should be."""
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=0.5)

    @contextlib.contextmanager
    def _forgiving(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.OperationalError, OSError):
            return
        except sqlite3.Error:
            self.drop()


def empty(folder: Path) -> None:
    """Delete every file of a folder of caches; TimeoutError where a process goes on writing to one, OSError.

    Whoever waits meanwhile to write to one of them writes to no file that anybody can open.
    """
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.suffix == _SUFFIX and path.is_file() and not path.is_symlink():
            _unlink(path)
        else:  # also a journal that a killed writer left
            path.unlink(missing_ok=True)


def _unlink(path: Path) -> None:
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=_PATIENCE)) as database:
            database.execute("begin exclusive")
            path.unlink(missing_ok=True)
    except sqlite3.OperationalError as fault:
        if path.exists():
            raise TimeoutError(errno.EBUSY, f"{fault}: another process goes on writing", str(path)) from None
    except sqlite3.Error:
        path.unlink(missing_ok=True)


def is_sound(path: Path) -> bool:
    """Whether a file is a database that can be read, or one that somebody is writing to."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        if file.read(len(_HEADER)) not in {_HEADER, b""}:
            return False
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=0.5)) as database:
            return bool(database.execute("pragma quick_check(1)").fetchone() == ("ok",))
    except sqlite3.DatabaseError as fault:
        return isinstance(fault, sqlite3.OperationalError)
