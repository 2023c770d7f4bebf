"""BM25F: how much a term says of a memory, of the store, and in which order hits stand.

A term's weights in all fields are added before they saturate, as in Robertson, Zaragoza and Taylor (2004). Length
is measured against a fixed pivot instead of the store's mean, so that a memory's weights never depend on its
neighbours: they are computed once, when it is indexed, and an index that was updated ranks as one built afresh.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import ceil, log
from typing import Final, NamedTuple

from invincat.memory.entry import Confidence, Tier
from invincat.memory.view import Record
from invincat.recall.analysis import Chunk, chunks, telling_words

K1: Final = 1.2
B: Final = 0.4
PIVOT: Final = 40.0
SATURATED: Final = K1 + 1

FIELD_WEIGHTS: Final = {
    "title": 1.25,
    "name": 0.5,
    "tags": 1.25,
    "section": 0.7,
    "applies_to": 1.0,
    "evidence": 0.5,
    "body": 1.0,
}
# Fields of running text, in which it counts that words stand side by side.
_PROSE: Final = frozenset({"title", "evidence", "body"})

# A name is looked for beside its words, which must not make it outweigh the rest of the question.
NAME_WEIGHT: Final = 0.25
# What two words of a question that stand side by side count, where they do so in the memory, too.
CLOSENESS: Final = 1.0

# What it counts, of what all words of a question could, that a memory says the same in the same words.
SAMENESS: Final = 1.0

# Enough to order equals, too little to lift a memory over one that answers clearly better.
TIER_PRIOR: Final = {Tier.HOT.value: 1.03, Tier.WARM.value: 1.0, Tier.COLD.value: 0.97}
CONFIDENCE_PRIOR: Final = {Confidence.HIGH.value: 1.01, Confidence.MEDIUM.value: 1.0, Confidence.LOW.value: 0.97}
# For what is about the files in play: more, and still only among what answers.
PLACE_PRIOR: Final = 1.25

Pair = tuple[str, str]


class Part(NamedTuple):
    """One searched text of a memory, the field it belongs to, and its words."""

    field: str
    text: str
    chunks: Sequence[Chunk]


def parts(record: Record) -> list[Part]:
    """Every searched text of a memory, in the order in which `why` names them."""
    return [Part(field, text, tuple(chunks(text))) for field, text in _texts(record)]


def _texts(record: Record) -> Iterator[tuple[str, str]]:
    memory = record.memory
    yield "title", memory.title
    yield "name", record.name
    yield from (("tags", tag) for tag in memory.tags)
    yield "section", memory.section
    yield from (("applies_to", pattern) for pattern in memory.applies_to)
    yield from (("evidence", item.quote) for item in memory.source.evidence if item.quote)
    yield "body", memory.body


def impacts(read: Iterable[Part]) -> dict[str, float]:
    """Each term of a memory with how much it says of it: more than 0, at most `SATURATED`.

    Whole steps of 1/1024 are the same number in the single precision of the index and in a fresh calculation.
    """
    weights: dict[str, float] = defaultdict(float)
    length = 0.0
    for part in read:
        found = [term for chunk in part.chunks for term in chunk.terms]
        if part.field == "name":
            # Most names are made of the title; only what one adds to it counts.
            found = [term for term in found if term not in weights]
        weight = FIELD_WEIGHTS[part.field]
        length += len(found) * weight
        for term in found:
            weights[term] += weight
    dampening = K1 * (1 - B + B * length / PIVOT)
    return {term: ceil(1024 * SATURATED * weight / (weight + dampening)) / 1024 for term, weight in weights.items()}


def rarity(total: int, having: int) -> float:
    """The usual inverse document frequency, always above 0; Whoosh's own flattens what is common."""
    return log(1 + (total - having + 0.5) / (having + 0.5))


def score(impact: Mapping[str, float], worth: Mapping[str, float]) -> float:
    """What a memory with these impacts is worth to a query; 0 when it has none of its terms."""
    return sum(value * impact[term] for term, value in worth.items() if term in impact)


def pairs_of(text: Iterable[Chunk]) -> set[Pair]:
    """Words that stand side by side, but for function words."""
    return set(pairwise(telling_words(text)))


def closeness(wanted: Mapping[Pair, float], read: Iterable[Part]) -> float:
    """What the pairs of a query that stand in a memory are worth."""
    if not wanted:
        return 0.0
    found = set().union(*(pairs_of(part.chunks) for part in read if part.field in _PROSE))
    return sum(value for pair, value in wanted.items() if pair in found)


def words_of(text: Iterable[Chunk]) -> Counter[str]:
    """All words of a text, function words too."""
    return Counter(word for chunk in text for word in chunk.words)


def sameness(asked: Counter[str], read: Iterable[Part]) -> float:
    """How nearly one text of a memory has the words of a query and no others: 0 up to a half of them, 1 for all."""
    most, wanted = 0.5, asked.total()
    for part in read:
        size = sum(len(chunk.words) for chunk in part.chunks)
        # Texts of which one is three times as long as the other have no half in common.
        if part.field in _PROSE and max(size, wanted) < 3 * min(size, wanted):
            most = max(most, 2 * (asked & words_of(part.chunks)).total() / (wanted + size))
    return (2 * most - 1) ** 2
