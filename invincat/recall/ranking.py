"""BM25F: how much a term says of a memory, of the store, and in which order hits stand.

A term's weights in all fields are added before they saturate, as in Robertson, Zaragoza and Taylor (2004). Length
is measured against a fixed pivot instead of the store's mean, so that a memory's weights never depend on its
neighbours: they are computed once, when it is indexed, and an index that was updated ranks as one built afresh.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from math import ceil, log
from typing import Final, NamedTuple

from invincat.memory.entry import Tier
from invincat.memory.view import Record
from invincat.recall.analysis import is_compound, tokens

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

# A compound is looked for beside its parts, which must not make it outweigh the rest of the question.
COMPOUND_WEIGHT: Final = 0.5

# Enough to order equals, too little to lift a memory over one that answers clearly better.
TIER_PRIOR: Final = {Tier.HOT.value: 1.03, Tier.WARM.value: 1.0, Tier.COLD.value: 0.97}


class Text(NamedTuple):
    """One searched text of a memory, and the field it belongs to."""

    field: str
    text: str


def texts(record: Record) -> Iterator[Text]:
    """Every searched text of a memory, in the order in which `why` names them."""
    memory = record.memory
    yield Text("title", memory.title)
    yield Text("name", record.name)
    yield from (Text("tags", tag) for tag in memory.tags)
    yield Text("section", memory.section)
    yield from (Text("applies_to", pattern) for pattern in memory.applies_to)
    yield from (Text("evidence", item.quote) for item in memory.source.evidence if item.quote)
    yield Text("body", memory.body)


def impacts(record: Record) -> dict[str, float]:
    """Each term of a memory with how much it says of it: more than 0, at most `SATURATED`.

    Whole steps of 1/1024 are the same number in the single precision of the index and in a fresh calculation.
    """
    weights: dict[str, float] = defaultdict(float)
    length = 0.0
    for field, text in texts(record):
        found = tokens(text)
        if field == "name":
            # Most names are made of the title; only what one adds to it counts.
            found = [term for term in found if term not in weights]
        length += len(found) * FIELD_WEIGHTS[field]
        for term in found:
            weights[term] += FIELD_WEIGHTS[field]
    dampening = K1 * (1 - B + B * length / PIVOT)
    return {term: ceil(1024 * SATURATED * weight / (weight + dampening)) / 1024 for term, weight in weights.items()}


def rarity(total: int, having: int) -> float:
    """The usual inverse document frequency, always above 0; Whoosh's own flattens what is common."""
    return log(1 + (total - having + 0.5) / (having + 0.5))


def significance(term: str, total: int, having: int) -> float:
    """What a term of a query is worth when `having` of `total` memories have it."""
    return rarity(total, having) * (COMPOUND_WEIGHT if is_compound(term) else 1.0)


def score(impact: Mapping[str, float], worth: Mapping[str, float], tier: str) -> float:
    """What a memory with these impacts is worth to a query; 0 when it has none of its terms, whatever its tier."""
    return TIER_PRIOR[tier] * sum(value * impact[term] for term, value in worth.items() if term in impact)
