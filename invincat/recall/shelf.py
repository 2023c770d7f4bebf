"""One Whoosh index: terms with their impacts, and per memory its facets and its key. No text is kept.

Whoosh unpickles its table of contents, segment directories and posting blocks when it opens them. Who opens a shelf
has made sure that it was made here (`stamp`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import whoosh
from whoosh.codec.whoosh3 import W3Codec, W3LeafMatcher
from whoosh.columns import ColumnReader, RefBytesColumn, VarBytesColumn
from whoosh.fields import COLUMN, ID, FieldType, Schema
from whoosh.filedb.filestore import FileStorage
from whoosh.filedb.structfile import StructFile
from whoosh.formats import Existence
from whoosh.index import FileIndex
from whoosh.reading import IndexReader

from invincat.errors import StoreError
from invincat.memory.view import Record
from invincat.recall.leaf import Key, decode_key, document, shades_of

SCHEMA: Final = f"4 whoosh {whoosh.versionstring()}"
Progress = Callable[[int, int], None]

# Whoosh unpickles what it reads, and what is corrupt may raise anything, a bare Exception among it.
_FAULTS: Final = Exception
_STEP: Final = 100
_LITTLE: Final = 500
# Beyond so many megabytes of postings Whoosh sorts them on the disk, which takes three times as long for each.
_MEMORY: Final = 256
_SEGMENT_SIZE: Final = 10_000


class Broken(StoreError):
    """The index cannot be read and is to be built again; a person sees it only when that does not help."""

    def __init__(self, fault: BaseException) -> None:
        super().__init__(f"the search index cannot be read ({fault!r})", next_step="it is rebuilt at the next search")


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

    def __init__(self) -> None:
        # Large blocks that are not packed, since reading them is most of a search.
        super().__init__(blocklimit=1024, compression=0)


_SCHEMA: Final = Schema(
    text=_Impacts(),
    path=ID(),
    successor=ID(),
    facets=COLUMN(RefBytesColumn()),
    key=COLUMN(VarBytesColumn()),
)


class Shelf:
    """An open index. What it reads is a snapshot until `refresh`."""

    def __init__(self, storage: _Files) -> None:
        """Broken when there is none, or it cannot be read."""
        self._storage = storage
        self.refresh()

    @classmethod
    def open(cls, folder: Path) -> "Shelf":
        """Open what `build` made in this folder; Broken."""
        return cls(_Files(str(folder)))

    @classmethod
    def build(cls, folder: Path, records: Iterable[Record], progress: Progress | None = None) -> "Shelf":
        """Index records into a new folder; OSError when it cannot be written."""
        folder.mkdir(mode=0o700)
        storage = _Files(str(folder))
        everything = list(records)
        index = FileIndex.create(storage, _SCHEMA)
        for start in range(0, len(everything), _SEGMENT_SIZE):
            writer = index.writer(codec=_Codec(), limitmb=_MEMORY)
            for done, record in enumerate(everything[start : start + _SEGMENT_SIZE], start):
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
            reader = self._index.reader()
            # An index has no segments before the first memory.
            self.leaves = [_Segment(leaf) for leaf, _ in reader.leaf_readers()] if reader.doc_count_all() else []
        except _FAULTS as fault:
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
                        for number in _numbers(leaf, "path", path):
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
        stored = sum(len(leaf.facets) for leaf in self.leaves)
        count = sum(leaf.size for leaf in self.leaves)
        return stored - count > max(count, _LITTLE)


class _Segment:
    """A Whoosh segment as a leaf; every answer may be Broken."""

    def __init__(self, reader: IndexReader) -> None:
        self._reader = reader
        self._keys: ColumnReader = reader.column_reader("key", translate=False)
        self.facets: Sequence[bytes] = list(reader.column_reader("facets", translate=False))
        self.shades = shades_of(self.facets)
        self.size: int = reader.doc_count()
        self.gone: frozenset[int] = frozenset(reader.deleted_docs_set)

    def key(self, number: int) -> Key:
        """`Leaf.key`."""
        with _broken():
            return decode_key(self._keys[number])

    def has(self, term: str) -> bool:
        """`Leaf.has`."""
        with _broken():
            return ("text", term) in self._reader

    def postings(self, term: str) -> tuple[Sequence[int], Sequence[float]]:
        """`Leaf.postings`."""
        with _broken():
            return _postings(self._reader, "text", term)

    def at(self, path: str) -> Iterable[int]:
        """`Leaf.at`."""
        with _broken():
            return _numbers(self._reader, "path", path)

    def before(self, id: str) -> Iterable[int]:
        """`Leaf.before`."""
        with _broken():
            return _numbers(self._reader, "successor", id)


@contextmanager
def _broken() -> Iterator[None]:
    try:
        yield
    except _FAULTS as fault:
        raise Broken(fault) from fault


def _document(record: Record) -> dict[str, object]:
    made = document(record)
    fields: dict[str, object] = {"text": made.impacts, "path": made.path, "facets": made.facets, "key": made.key}
    return {**fields, "successor": made.successor} if made.successor else fields


def _numbers(reader: IndexReader, field: str, value: str) -> Sequence[int]:
    return _postings(reader, field, value)[0]


def _postings(reader: IndexReader, field: str, term: str) -> tuple[Sequence[int], Sequence[float]]:
    """The documents that have a term, deleted ones too, with its impact in each; a block at a time."""
    if (field, term) not in reader:
        return (), ()
    matcher = reader.postings(field, term)
    matcher = getattr(matcher, "child", matcher)  # past the filter of deleted documents
    numbers: list[int] = []
    impacts: list[float] = []
    while matcher.is_active():
        if isinstance(matcher, W3LeafMatcher):
            matcher.id(), matcher.weight()
            numbers += matcher._ids  # noqa: SLF001 - Whoosh hands out one posting at a time
            impacts += matcher._weights  # noqa: SLF001 - as above
            matcher._next_block()  # noqa: SLF001 - as above
        else:
            numbers.append(matcher.id())
            impacts.append(matcher.weight())
            matcher.next()
    return numbers, impacts
