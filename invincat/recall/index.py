"""The disposable index of one store: whoever reads brings it up to date, whoever finds it broken rebuilds it."""

import errno
import re
import secrets
import shutil
import threading
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from invincat.memory.view import Record
from invincat.paths import make_private
from invincat.recall import stamp as stamps
from invincat.recall.analysis import ask
from invincat.recall.answer import answer
from invincat.recall.corpus import Changes, Corpus
from invincat.recall.hit import Results
from invincat.recall.leaf import MemoryLeaf, Pool
from invincat.recall.query import Query
from invincat.recall.shelf import SCHEMA, Broken, Progress, Shelf
from invincat.recall.stamp import Stamp

if TYPE_CHECKING:
    from filelock import BaseFileLock

PATIENCE: Final = 2.0
# Without any index there is nothing to answer from, and whoever has the lock is building one.
PATIENCE_FOR_THE_FIRST: Final = 15.0
# So many changed files are searched beside the index before it is written anew.
FEW: Final = 32
# A pasted page is no question; its first words stand for it.
MAX_TERMS: Final = 256

# Names of what we make in the directory: folders of indexes, the stamp and its drafts.
_OURS: Final = re.compile(r"[0-9a-f]{16}|stamp\.json|stamp-.*")
_LOCK: Final = "lock"
_BUSY: Final = "another process is updating the index; what changed last may be missing"
_PURGED: Final = "memories were purged meanwhile; ask again"
_ABSENT: Final = "another process is building the index; ask again in a moment"


class Index:
    """The index of one store in a directory that is all its own; no other file may be kept there.

    `origin` names this very store on this very machine. What stands in the directory with another origin came from
    elsewhere (a copied or unpacked git directory): it is never opened, since opening runs pickles, but deleted.
    """

    def __init__(self, directory: Path, origin: str) -> None:
        self._directory = directory
        self._origin = origin
        self._guard = threading.Lock()
        self._shelf: Shelf | None = None
        self._folder = ""
        self._seen: Stamp | None = None
        self._laid: tuple[Stamp | None, str, Pool] | None = None

    def search(
        self,
        corpus: Corpus,
        query: Query,
        progress: Progress | None = None,
        *,
        is_past: bool = False,
        also: Collection[str] = (),
    ) -> Results:
        """The best `query.limit` memories at the corpus' tip; `progress(done, total)` is told of a rebuild.

        `is_past`: that is not the tip of the store, and the index kept on disk stays where it is. `also` names files
        to answer with, too, after those, whether or not they have a word of the question.

        No word in the text, no hits (RULES 8). Every hit is read from the corpus and passes the filters as it
        stands there, however old the index is; `Results.degraded` says when something may be missing.
        """
        asked = ask(query.text)[:MAX_TERMS]
        tip = corpus.tip()
        if tip is None or not asked or query.limit < 1:
            return Results((), 0, tip)
        with self._guard:
            try:
                pool, degraded = self._pool(corpus, tip, progress, is_past=is_past)
                return answer(corpus, query, asked, pool, tip, degraded, also)
            except Broken:
                pool, degraded = self._pool(corpus, tip, progress, is_past=is_past, bad=self._folder)
                return answer(corpus, query, asked, pool, tip, degraded, also)

    def refresh(self, corpus: Corpus, progress: Progress | None = None) -> str | None:
        """Bring the index up to the corpus' tip; the reason why it could not be, else None."""
        tip = corpus.tip()
        if tip is None:
            return None
        with self._guard:
            return self._current(corpus, tip, progress)[1]

    def _pool(
        self, corpus: Corpus, tip: str, progress: Progress | None, *, is_past: bool, bad: str | None = None
    ) -> tuple[Pool, str | None]:
        """What to search, and the reason if it is not what the tip has.

        What little changed since the index was written is laid over it, which is sooner done than to write it.
        """
        stamp = self._stamp()
        usable = stamp if stamp is not None and stamp.folder != bad else None
        pool = self._laid_over(usable, corpus, tip, None if is_past else FEW) if usable else None
        if pool is None and is_past:
            pool = self._made(corpus, tip)
        if pool is not None:
            return pool, None
        shelf, degraded = self._current(corpus, tip, progress, bad)
        if degraded and usable and (pool := self._laid_over(usable, corpus, tip, None)):
            return pool, None
        if shelf is None and degraded != _ABSENT:
            return self._made(corpus, tip), degraded
        return Pool.of(shelf.leaves if shelf else ()), degraded

    def _made(self, corpus: Corpus, tip: str) -> Pool:
        """All memories, indexed in memory."""
        if self._laid is None or self._laid[:2] != (None, tip):
            self._laid = None, tip, Pool.of([MemoryLeaf(corpus.records())])
        return self._laid[2]

    def _laid_over(self, stamp: Stamp, corpus: Corpus, tip: str, most: int | None) -> Pool | None:
        """The index with what differs at the tip; None when that cannot be told, or is more than `most` files."""
        if self._laid is not None and self._laid[:2] == (stamp, tip):
            return self._laid[2]
        shelf = self._as_stamped(stamp)
        if shelf is None:
            return None
        pool = Pool.of(shelf.leaves)
        if not stamp.reflects(tip):
            changes = _way(stamp, corpus)
            if changes is None or (most is not None and len(changes.removed) + len(changes.put) > most):
                return None
            pool = pool.changed(changes.removed, changes.put)
        self._laid = stamp, tip, pool
        return pool

    def _current(
        self, corpus: Corpus, tip: str, progress: Progress | None, bad: str | None = None
    ) -> tuple[Shelf | None, str | None]:
        """The best index to be had without a long wait, and the reason if it is not that of the tip."""
        stamp = self._stamp()
        if stamp is not None and stamp.folder != bad and stamp.reflects(tip):
            shelf = self._as_stamped(stamp)
            if shelf is not None:
                return shelf, None
        try:
            with self._locked(PATIENCE if stamp else PATIENCE_FOR_THE_FIRST):
                # A purge moves the refs, then takes this lock and deletes what it finds.
                if corpus.is_purged():
                    return None, _PURGED
                return self._bring_up(corpus, tip, progress, bad), None
        except TimeoutError:
            shelf = self._older(bad)
            return shelf, _BUSY if shelf else _ABSENT
        except OSError as fault:
            return self._older(bad), f"the index cannot be written: {fault.strerror or fault}"

    def _bring_up(self, corpus: Corpus, tip: str, progress: Progress | None, bad: str | None) -> Shelf:
        stamp = self._stamp()
        if stamp is None or stamp.folder == bad:
            return self._rebuild(corpus, tip, progress)
        try:
            shelf = self._open(stamp)
            if not stamp.reflects(tip) and not self._update(shelf, stamp, corpus, tip):
                return self._rebuild(corpus, tip, progress)
        except Broken:
            return self._rebuild(corpus, tip, progress)
        return self._rebuild(corpus, tip, progress) if shelf.is_wasteful else shelf

    def _update(self, shelf: Shelf, stamp: Stamp, corpus: Corpus, tip: str) -> bool:
        """Lead the index from whatever it reflects to the tip; False when the way cannot be told."""
        changes = _way(stamp, corpus)
        if changes is None:
            return False
        if changes != Changes():
            stamps.write(self._directory, replace(stamp, maybe=(*stamp.maybe, tip)))
            shelf.update(changes.removed, {record.path: record for record in changes.put})
        self._settle(shelf, replace(stamp, commit=tip, maybe=()))
        return True

    def _rebuild(self, corpus: Corpus, tip: str, progress: Progress | None) -> Shelf:
        """Build into a folder of its own, point the stamp at it, and delete everything else."""
        stamp = self._stamp()
        self._sweep(keep=stamp.folder if stamp else None)
        folder = secrets.token_hex(8)
        shelf = Shelf.build(self._directory / folder, corpus.records(), progress)
        self._settle(shelf, Stamp(schema=SCHEMA, origin=self._origin, folder=folder, commit=tip))
        self._sweep(keep=folder)
        return shelf

    def _settle(self, shelf: Shelf, stamp: Stamp) -> None:
        stamps.write(self._directory, stamp)
        self._shelf, self._folder, self._seen = shelf, stamp.folder, stamp

    def _stamp(self) -> Stamp | None:
        return stamps.read(self._directory, SCHEMA, self._origin)

    def _open(self, stamp: Stamp) -> Shelf:
        """The index that a stamp of ours names, as it stands now; Broken."""
        if self._shelf is None or self._folder != stamp.folder:
            self._shelf, self._folder = Shelf.open(self._directory / stamp.folder), stamp.folder
        elif self._seen != stamp or stamp.maybe:
            self._shelf.refresh()
        self._seen = stamp
        return self._shelf

    def _try_open(self, stamp: Stamp) -> Shelf | None:
        try:
            return self._open(stamp)
        except Broken:
            return None

    def _as_stamped(self, stamp: Stamp) -> Shelf | None:
        """The index that a stamp names, with the content that it had then; None when somebody updates it meanwhile."""
        shelf = self._try_open(stamp)
        # An update announces itself in the stamp before it commits: the same stamp, the same content.
        if shelf is not None and self._stamp() == stamp:
            return shelf
        self._seen = None
        return None

    def _older(self, bad: str | None) -> Shelf | None:
        """An index of an older tip, None when there is none that can be read."""
        stamp = self._stamp()
        return self._try_open(stamp) if stamp is not None and stamp.folder != bad else None

    def _locked(self, patience: float) -> "BaseFileLock":
        """Hold off other writers; TimeoutError after `patience` seconds, OSError."""
        from filelock import FileLock  # noqa: PLC0415 - it costs 8 ms, and who only reads takes no lock

        self._refuse_links()
        if self._directory.is_file():  # in our own state directory, where whatever is broken is built again
            self._directory.unlink()
        make_private(self._directory)
        return FileLock(self._directory / _LOCK, timeout=patience, mode=0o600)

    def _refuse_links(self) -> None:
        """What stands behind a link is not ours, and must not be written to or swept; OSError."""
        for place in (self._directory, self._directory.parent):
            if place.is_symlink():
                raise NotADirectoryError(errno.ENOTDIR, "is a link, not a directory of ours", str(place))

    def _sweep(self, keep: str | None) -> None:
        """Delete what indexes of ours leave, but the lock and what is to be kept; without opening anything."""
        kept = {_LOCK, keep, stamps.FILE if keep else None}
        for entry in self._directory.iterdir():
            if entry.name in kept or not _OURS.fullmatch(entry.name):
                continue
            if entry.is_dir() and not entry.is_symlink():
                # A reader elsewhere may have it open, which some systems forbid to delete: next time.
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink()


def _way(stamp: Stamp, corpus: Corpus) -> Changes | None:
    """What leads the index from whatever it reflects to the tip; None when the way cannot be told."""
    removed: dict[str, None] = {}
    put: dict[str, Record] = {}
    for since in (stamp.commit, *stamp.maybe):
        changes = corpus.changes(since)
        if changes is None:
            return None
        removed.update(dict.fromkeys(changes.removed))
        put.update((record.path, record) for record in changes.put)
    return Changes(tuple(removed), tuple(put.values()))
