"""Two rankings as one: the weighted sum of standardised scores.

Ranks alone would do away with how sure the words are, and lose what is certain (LIBRARIES "How to fuse a dense leg").
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import Final, NamedTuple

from msgspec.structs import replace

from invincat.recall.hit import Results
from invincat.recall.query import Query

# Candidates of each leg; from 20 to 200 the first ten were measured to be as good.
POOL: Final = 50
# What meaning counts, the words counting the rest: with a model of which no more is known; and with one that can tell
# when a memory says what is asked, then and otherwise. Measured by `tests.bench.recall_quality`.
EVEN: Final = 0.5
RESTATED: Final = 0.8
QUESTIONED: Final = 0.3

WORDS_ALONE: Final = "found by words alone"
WHY: Final = "meaning"


class Spread(NamedTuple):
    """The mean and the standard deviation of scores."""

    mean: float
    deviation: float

    def standardise(self, value: float) -> float:
        """How many deviations above the mean; 0 where all are equal."""
        return (value - self.mean) / self.deviation if self.deviation else 0.0


@dataclass(frozen=True)
class Near:
    """How near to the question memories are, by id, as far as that is known; `degraded` says why it may not be.

    `paths` are the files of the nearest, `weight` is what meaning counts.
    """

    by_id: Mapping[str, float] = field(default_factory=dict)
    paths: frozenset[str] = frozenset()
    weight: float = EVEN
    degraded: str | None = None

    def join(self, query: Query, words: Results) -> Results:
        """The best `query.limit` by both; `words.hits` are the first `POOL` by words, or more, and all of `paths`."""
        if not self.by_id:
            return cut(words, query.limit, self.degraded)
        hits = {hit.id: hit for hit in words.hits}
        meant = {id: self.by_id[id] for id in hits if id in self.by_id}
        scores = fuse({id: hit.score for id, hit in hits.items()}, meant, self.weight)
        ranked = sorted(scores, key=scores.__getitem__, reverse=True)[: query.limit]
        best = tuple(
            replace(hits[id], score=round(min(max(scores[id], 0.0), 100.0), 2), why=hits[id].why or (WHY,))
            for id in ranked
        )
        total = words.total + sum(hit.why == (WHY,) for hit in best)
        return cut(replace(words, hits=best, total=total), query.limit, self.degraded)


def spread(values: Collection[float]) -> Spread:
    """Of at least one value."""
    mean = sum(values) / len(values)
    return Spread(mean, sqrt(sum((value - mean) ** 2 for value in values) / len(values)))


def fuse(words: Mapping[str, float], meaning: Mapping[str, float], weight: float = EVEN) -> dict[str, float]:
    """The scores of all candidates of both legs, in the units of `words`; both standardised over all of them.

    Who has no word in common has 0 of them; whose meaning is not known is taken for average. Where the words tell
    nothing apart, the units are those of `meaning`, in per cent, and it counts alone.
    """
    candidates = dict.fromkeys([*words, *meaning])
    if not candidates:
        return {}
    said = spread([words.get(key, 0.0) for key in candidates])
    meant = spread(list(meaning.values())) if meaning else Spread(0.0, 0.0)
    unit = said if said.deviation else Spread(100 * meant.mean, 100 * meant.deviation)
    share = weight if said.deviation else 1.0
    sums = {
        key: (1 - share) * said.standardise(words.get(key, 0.0))
        + share * meant.standardise(meaning.get(key, meant.mean))
        for key in candidates
    }
    return {key: unit.mean + value * unit.deviation for key, value in sums.items()}


def cut(results: Results, limit: int, reason: str | None = None) -> Results:
    """The first hits of an answer, with one more reason why something may be missing."""
    degraded = "; ".join(filter(None, (results.degraded, reason))) or None
    return replace(results, hits=results.hits[: max(limit, 0)], degraded=degraded)
