"""What can be searched: leaves of documents with their terms, on disk or in memory, and what of them counts."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

import msgspec

from invincat.memory.entry import format_time
from invincat.memory.view import Record
from invincat.recall.query import Facets, facets_of
from invincat.recall.ranking import impacts, parts

_NONE: Final[tuple[Sequence[int], Sequence[float]]] = ((), ())


class Key(NamedTuple):
    """What a document stands for, and what some questions ask of it; times as in the file."""

    updated_at: str
    id: str
    path: str
    blob: str
    valid_from: str
    invalid_at: str | None
    applies_to: tuple[str, ...]
    places: tuple[str, ...]


class Document(NamedTuple):
    """A memory as it is indexed: terms with their impacts, encoded facets and key, whom it was superseded by."""

    path: str
    impacts: dict[str, float]
    facets: bytes
    key: bytes
    successor: str | None


class Leaf(Protocol):
    """A set of documents, numbered from 0; some of them may be no more."""

    @property
    def size(self) -> int:
        """How many documents count."""

    @property
    def gone(self) -> AbstractSet[int]:
        """Numbers of documents that are no more."""

    @property
    def facets(self) -> Sequence[bytes]:
        """The encoded facets by number."""

    @property
    def shades(self) -> Mapping[bytes, Facets]:
        """What those that occur stand for."""

    def key(self, number: int) -> Key:
        """The key of a document."""

    def has(self, term: str) -> bool:
        """Whether there is such a term."""

    def postings(self, term: str) -> tuple[Sequence[int], Sequence[float]]:
        """The documents with a term, and its impact in each; those that are no more, too."""

    def at(self, path: str) -> Iterable[int]:
        """The documents that stand for a file."""

    def before(self, id: str) -> Iterable[int]:
        """The documents that were superseded by this memory."""


def document(record: Record) -> Document:
    """A record as it is indexed."""
    memory = record.memory
    key = Key(
        format_time(memory.updated_at),
        memory.id,
        record.path,
        record.blob,
        format_time(memory.valid_from),
        format_time(memory.invalid_at) if memory.invalid_at else None,
        memory.applies_to,
        tuple(item.at for item in memory.source.evidence),
    )
    return Document(
        record.path,
        impacts(parts(record)),
        msgspec.json.encode(facets_of(memory)),
        msgspec.json.encode(key),
        memory.superseded_by,
    )


def shades_of(facets: Iterable[bytes]) -> dict[bytes, Facets]:
    """The different facets among these, decoded."""
    return {raw: msgspec.json.decode(raw, type=Facets) for raw in set(facets)}


def decode_key(raw: bytes) -> Key:
    """A key as `document` encodes it."""
    return _keys.decode(raw)


_keys: Final = msgspec.json.Decoder(Key)


class MemoryLeaf:
    """A leaf that was made now."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.facets: list[bytes] = []
        self.gone: frozenset[int] = frozenset()
        self._keys: list[Key] = []
        self._postings: dict[str, tuple[list[int], list[float]]] = defaultdict(lambda: ([], []))
        self._paths: dict[str, int] = {}
        self._before: dict[str, list[int]] = defaultdict(list)
        for number, made in enumerate(map(document, records)):
            self.facets.append(made.facets)
            self._keys.append(decode_key(made.key))
            self._paths[made.path] = number
            if made.successor:
                self._before[made.successor].append(number)
            for term, impact in made.impacts.items():
                numbers, weights = self._postings[term]
                numbers.append(number)
                weights.append(impact)
        self.shades = shades_of(self.facets)

    @property
    def size(self) -> int:
        """All of them."""
        return len(self._keys)

    def key(self, number: int) -> Key:
        """`Leaf.key`."""
        return self._keys[number]

    def has(self, term: str) -> bool:
        """`Leaf.has`."""
        return term in self._postings

    def postings(self, term: str) -> tuple[Sequence[int], Sequence[float]]:
        """`Leaf.postings`."""
        return self._postings.get(term, _NONE)

    def at(self, path: str) -> Iterable[int]:
        """`Leaf.at`."""
        return [self._paths[path]] if path in self._paths else []

    def before(self, id: str) -> Iterable[int]:
        """`Leaf.before`."""
        return self._before.get(id, ())


class Counted(NamedTuple):
    """A leaf, and the documents in it that do not count."""

    leaf: Leaf
    gone: AbstractSet[int]


@dataclass(frozen=True)
class Pool:
    """All that one search looks at."""

    parts: tuple[Counted, ...]

    @staticmethod
    def of(leaves: Iterable[Leaf]) -> "Pool":
        """These leaves, whole."""
        return Pool(tuple(Counted(leaf, leaf.gone) for leaf in leaves))

    def changed(self, removed: Iterable[str], put: Iterable[Record]) -> "Pool":
        """The pool with other documents in place of what stands at some paths."""
        put = list(put)
        paths = {*removed, *(record.path for record in put)}
        kept = [
            Counted(leaf, {*gone, *(number for path in paths for number in leaf.at(path))}) for leaf, gone in self.parts
        ]
        fresh = MemoryLeaf(put)
        return Pool((*kept, Counted(fresh, fresh.gone)))

    @property
    def count(self) -> int:
        """How many documents count."""
        return sum(leaf.size - len(gone) + len(leaf.gone) for leaf, gone in self.parts)

    def has(self, term: str) -> bool:
        """Whether any leaf has the term."""
        return any(leaf.has(term) for leaf, _ in self.parts)

    def superseded_by(self, id: str) -> Iterator[Key]:
        """The memories whose successor this one is."""
        for leaf, gone in self.parts:
            yield from (leaf.key(number) for number in leaf.before(id) if number not in gone)
