"""One pass over a pool: all memories that have any of the terms, best first."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Final, NamedTuple

from invincat.recall.analysis import Asked
from invincat.recall.expand import weigh
from invincat.recall.leaf import Counted, Key, Leaf, Pool
from invincat.recall.query import Facets, Query, Wanted
from invincat.recall.ranking import CONFIDENCE_PRIOR, PLACE_PRIOR, TIER_PRIOR, rarity

_AT_ONCE: Final = 32


class Candidate(NamedTuple):
    """A memory that the index thinks answers."""

    score: float
    key: Key


class Ranking(NamedTuple):
    """Candidates, best first, read as they are asked for; how many there are; what each term counts."""

    candidates: Iterator[Candidate]
    total: int
    worth: Mapping[str, float]


def rank(pool: Pool, query: Query, asked: Sequence[Asked]) -> Ranking:
    """All memories that have any of the terms (RULES 8) and pass the filters."""
    worth: dict[str, float] = {}
    sums: list[dict[int, float]] = [defaultdict(float) for _ in pool.parts]
    total = pool.count
    for term, weight in weigh(asked, pool.has).items():
        postings = [_postings(part, term) for part in pool.parts]
        worth[term] = value = weight * rarity(total, sum(len(numbers) for numbers, _ in postings))
        for scores, (numbers, impacts) in zip(sums, postings, strict=True):
            for number, impact in zip(numbers, impacts, strict=True):
                scores[number] += value * impact
    admitted = [(leaf, _admitted(leaf, scores, query)) for (leaf, _), scores in zip(pool.parts, sums, strict=True)]
    return Ranking(_in_order(admitted), sum(len(scores) for _, scores in admitted), worth)


def prior(facets: Facets) -> float:
    """The factor that what is known of a memory beside its words gives its score."""
    return TIER_PRIOR[facets.tier] * CONFIDENCE_PRIOR[facets.confidence]


@lru_cache(maxsize=1 << 16)
def _factor(facets: Facets, wanted: Wanted) -> float:
    """The prior of what passes the filters, 0 for what does not."""
    return prior(facets) if wanted.admits(facets) else 0.0


def _postings(part: Counted, term: str) -> tuple[Sequence[int], Sequence[float]]:
    numbers, impacts = part.leaf.postings(term)
    if not part.gone or part.gone.isdisjoint(numbers):
        return numbers, impacts
    kept = [(number, impact) for number, impact in zip(numbers, impacts, strict=True) if number not in part.gone]
    return [number for number, _ in kept], [impact for _, impact in kept]


def _admitted(leaf: Leaf, scores: Mapping[int, float], query: Query) -> dict[int, float]:
    """The documents that pass the filters, with their scores."""
    wanted = query.wanted
    factors = {raw: _factor(facets, wanted) for raw, facets in leaf.shades.items()}
    shade = leaf.facets
    found = {number: factor * value for number, value in scores.items() if (factor := factors[shade[number]])}
    if query.as_of is None and query.about is None:
        return found
    keyed = ((number, value, leaf.key(number)) for number, value in found.items())
    return {
        number: value * place(query, key.applies_to, key.places)
        for number, value, key in keyed
        if query.held(key.valid_from, key.invalid_at)
    }


def place(query: Query, patterns: tuple[str, ...], places: Sequence[str]) -> float:
    """The factor for what is about the files in play."""
    return PLACE_PRIOR if query.about is not None and query.about(patterns, places) else 1.0


def _in_order(admitted: Sequence[tuple[Leaf, Mapping[int, float]]]) -> Iterator[Candidate]:
    """Score, then what was updated last, then id; sorted and read only as far as somebody asks."""
    ranked = sorted((score for _, scores in admitted for score in scores.values()), reverse=True)
    above = float("inf")
    for last in range(_AT_ONCE - 1, len(ranked) + _AT_ONCE - 1, _AT_ONCE):
        least = ranked[min(last, len(ranked) - 1)]
        some = [
            Candidate(score, leaf.key(number))
            for leaf, scores in admitted
            for number, score in scores.items()
            if least <= score < above
        ]
        some.sort(key=attrgetter("key.id"))
        some.sort(key=attrgetter("score", "key.updated_at"), reverse=True)
        yield from some
        above = least
