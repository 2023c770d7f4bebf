"""One Whoosh index: terms with their impacts, and per memory its facets and its key. No text is kept.

Whoosh unpickles its table of contents, segment directories and posting blocks when it opens them. Who opens a shelf
has made sure that it was made here (`stamp`).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import whoosh
from whoosh.codec.whoosh3 import W3Codec
from whoosh.columns import ColumnReader, RefBytesColumn, VarBytesColumn
from whoosh.fields import COLUMN, ID, FieldType, Schema
from whoosh.filedb.filestore import FileStorage, RamStorage, Storage
from whoosh.filedb.structfile import StructFile
from whoosh.formats import Existence
from whoosh.index import FileIndex
from whoosh.reading import IndexReader

from invincat.errors import StoreError
from invincat.memory.entry import format_time
from invincat.memory.view import Record
from invincat.recall.query import Facets, Query, facets_of
from invincat.recall.ranking import TIER_PRIOR, impacts, significance

SCHEMA: Final = f"2 whoosh {whoosh.versionstring()}"
Progress = Callable[[int, int], None]

# Whoosh unpickles what it reads, and what is corrupt may raise anything, a bare Exception among it.
_FAULTS: Final = Exception
_STEP: Final = 100
_LITTLE: Final = 500


class Broken(StoreError):
    """The index cannot be read and is to be built again; a person sees it only when that does not help."""

    def __init__(self, fault: BaseException) -> None:
        super().__init__(f"the search index cannot be read ({fault!r})", next_step="it is rebuilt at the next search")


class Candidate(NamedTuple):
    """A memory that the index thinks answers, to be verified in the corpus."""

    score: float
    updated_at: str
    id: str
    path: str


class Ranking(NamedTuple):
    """Candidates, best first, read as they are asked for; how many there are; what each term counts."""

    candidates: Iterator[Candidate]
    total: int
    worth: Mapping[str, float]


class _Files(FileStorage):  # type: ignore[misc]
    """Whoosh's own, which leaves a file open when it cannot make sense of it."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self._opened: list[StructFile] = []

    def create_file(self, name: str, **options: object) -> StructFile:
        file = super().create_file(name, **options)
        Path(self.folder, name).chmod(0o600)
        return file

    def lock(self, name: str) -> object:
        Path(self.folder, name).touch(0o600)
        return super().lock(name)

    def open_file(self, name: str, **options: object) -> StructFile:
        self._opened = [file for file in self._opened if not file.is_closed]
        self._opened.append(super().open_file(name, **options))
        return self._opened[-1]

    def close_all(self) -> None:
        for file in self._opened:
            if not file.is_closed:
                file.close()


class _Leaf(NamedTuple):
    """One segment: its reader, and by document number the encoded facets and keys."""

    reader: IndexReader
    facets: Sequence[bytes]
    keys: ColumnReader


class _Impacts(FieldType):  # type: ignore[misc]
    """Terms that come weighted; Whoosh neither analyses nor measures them."""

    def __init__(self) -> None:
        # Postings hold no value beside the weight; with `Frequency` a merge would look for one.
        super().__init__(Existence(), None)

    def index(self, value: Mapping[str, float], **_: object) -> Iterator[tuple[bytes, int, float, bytes]]:
        for term, impact in value.items():
            yield term.encode(), 1, impact, b""


class _Codec(W3Codec):  # type: ignore[misc]
    """Whoosh's own, without lengths of fields: impacts know of them, and it asks the disk for each posting."""

    length_stats = False


_SCHEMA: Final = Schema(text=_Impacts(), path=ID(), facets=COLUMN(RefBytesColumn()), key=COLUMN(VarBytesColumn()))


class Shelf:
    """An open index. What it reads is a snapshot until `refresh`."""

    def __init__(self, storage: Storage) -> None:
        """Broken when there is none, or it cannot be read."""
        self._storage = storage
        self.refresh()

    @classmethod
    def open(cls, folder: Path) -> "Shelf":
        """Open what `build` made in this folder; Broken."""
        return cls(_Files(str(folder)))

    @classmethod
    def build(cls, folder: Path | None, records: Iterable[Record], progress: Progress | None = None) -> "Shelf":
        """Index records into a new folder, or with None in memory; OSError when it cannot be written."""
        if folder is not None:
            folder.mkdir(mode=0o700)
        storage = _Files(str(folder)) if folder is not None else RamStorage()
        everything = list(records)
        writer = FileIndex.create(storage, _SCHEMA).writer(codec=_Codec())
        for done, record in enumerate(everything):
            if progress is not None and done % _STEP == 0:
                progress(done, len(everything))
            writer.add_document(**_document(record))
        writer.commit(merge=False)
        if progress is not None:
            progress(len(everything), len(everything))
        return cls(storage)

    def refresh(self) -> None:
        """See what other processes committed; Broken."""
        try:
            self._index = FileIndex(self._storage, schema=_SCHEMA)
            self._leaves = _leaves(self._index.reader())
        except _FAULTS as fault:
            if isinstance(self._storage, _Files):
                self._storage.close_all()
            raise Broken(fault) from fault

    def update(self, removed: Iterable[str], put: Mapping[str, Record]) -> None:
        """Replace or take out what stands at these paths; harmless when repeated. Broken, OSError."""
        try:
            writer = self._index.writer(codec=_Codec())
            with writer.reader() as reader:
                leaves = list(reader.leaf_readers()) if reader.doc_count_all() else []
                for path in {*removed, *put}:
                    for leaf, base in leaves:
                        for number, _ in _postings(leaf, path, "path"):
                            writer.delete_document(base + number)
            for record in put.values():
                writer.add_document(**_document(record))
            writer.commit()
        except OSError:
            raise
        except _FAULTS as fault:
            raise Broken(fault) from fault
        self.refresh()

    @property
    def is_wasteful(self) -> bool:
        """Whether most of what is stored is no longer true, and it is enough to be felt."""
        stored: int = sum(leaf.reader.doc_count_all() for leaf in self._leaves)
        return stored - self._count() > max(self._count(), _LITTLE)

    def _count(self) -> int:
        count: int = sum(leaf.reader.doc_count() for leaf in self._leaves)
        return count

    def rank(self, query: Query, terms: Sequence[str]) -> Ranking:
        """All memories that have any of the terms (RULES 8) and pass the filters; Broken."""
        try:
            return self._rank(query, terms)
        except _FAULTS as fault:
            raise Broken(fault) from fault

    def _rank(self, query: Query, terms: Sequence[str]) -> Ranking:
        count = self._count()
        worth: dict[str, float] = {}
        scores: list[dict[int, float]] = [defaultdict(float) for _ in self._leaves]
        for term in terms:
            postings = [list(_postings(leaf.reader, term)) for leaf in self._leaves]
            worth[term] = value = significance(term, count, sum(map(len, postings)))
            for sums, found in zip(scores, postings, strict=True):
                for number, impact in found:
                    sums[number] += value * impact
        admitted = [
            (score, leaf, number)
            for leaf, sums in zip(self._leaves, scores, strict=True)
            for number, score in _admitted(leaf, sums, query)
        ]
        admitted.sort(key=itemgetter(0), reverse=True)
        return Ranking(_in_order(admitted), len(admitted), worth)


def _document(record: Record) -> dict[str, object]:
    memory = record.memory
    return {
        "text": impacts(record),
        "path": record.path,
        "facets": msgspec.json.encode(facets_of(memory)),
        "key": msgspec.json.encode((format_time(memory.updated_at), memory.id, record.path)),
    }


def _leaves(reader: IndexReader) -> list[_Leaf]:
    """The segments of an index, which has none before the first memory."""
    readers = [leaf for leaf, _ in reader.leaf_readers()] if reader.doc_count_all() else []
    return [
        _Leaf(leaf, list(leaf.column_reader("facets", translate=False)), leaf.column_reader("key", translate=False))
        for leaf in readers
    ]


def _postings(leaf: IndexReader, term: str, field: str = "text") -> Iterator[tuple[int, float]]:
    """The documents that have a term, with its impact; deleted ones are left out."""
    if (field, term) not in leaf:
        return
    matcher = leaf.postings(field, term)
    while matcher.is_active():
        yield matcher.id(), matcher.weight()
        matcher.next()


def _admitted(leaf: _Leaf, sums: Mapping[int, float], query: Query) -> Iterator[tuple[int, float]]:
    """The documents that pass the filters, with their scores."""
    factors: dict[bytes, float] = {}
    for number, value in sums.items():
        raw = leaf.facets[number]
        if (factor := factors.get(raw)) is None:
            facets = msgspec.json.decode(raw, type=Facets)
            factor = factors[raw] = TIER_PRIOR[facets.tier] if query.admits(facets) else 0.0
        if factor:
            yield number, factor * value


def _in_order(admitted: Iterable[tuple[float, _Leaf, int]]) -> Iterator[Candidate]:
    """Score, then what was updated last, then id; keys are read only as far as somebody asks. Broken."""
    try:
        for score, equals in groupby(admitted, key=itemgetter(0)):
            candidates = [
                Candidate(score, *msgspec.json.decode(leaf.keys[number], type=tuple[str, str, str]))
                for _, leaf, number in equals
            ]
            candidates.sort(key=attrgetter("id"))
            candidates.sort(key=attrgetter("updated_at"), reverse=True)
            yield from candidates
    except _FAULTS as fault:
        raise Broken(fault) from fault
