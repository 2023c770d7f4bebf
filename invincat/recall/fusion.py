"""Two rankings as one: the sum of standardised scores, half and half.

Ranks alone would do away with how sure the words are, and lose what is certain (LIBRARIES "How to fuse a dense leg").
"""

from collections.abc import Collection, Mapping
from math import sqrt
from typing import Final, NamedTuple

from msgspec.structs import replace

from invincat.recall.hit import Results

# Candidates of each leg; from 20 to 200 the first ten were measured to be as good.
POOL: Final = 50
WORDS_ALONE: Final = "found by words alone"


class Spread(NamedTuple):
    """The mean and the standard deviation of scores."""

    mean: float
    deviation: float

    def standardise(self, value: float) -> float:
        """How many deviations above the mean; 0 where all are equal."""
        return (value - self.mean) / self.deviation if self.deviation else 0.0


def spread(values: Collection[float]) -> Spread:
    """Of at least one value."""
    mean = sum(values) / len(values)
    return Spread(mean, sqrt(sum((value - mean) ** 2 for value in values) / len(values)))


def fuse(words: Mapping[str, float], meaning: Mapping[str, float]) -> dict[str, float]:
    """The scores of all candidates of both legs, in the units of `words`; both standardised over all of them.

    Who has no word in common has 0 of them; whose meaning is not known is taken for average. Where the words tell
    nothing apart, the units are those of `meaning`, in per cent.
    """
    candidates = dict.fromkeys([*words, *meaning])
    if not candidates:
        return {}
    said = spread([words.get(key, 0.0) for key in candidates])
    meant = spread(list(meaning.values())) if meaning else Spread(0.0, 0.0)
    unit = said if said.deviation else Spread(100 * meant.mean, 100 * meant.deviation)
    sums = {
        key: said.standardise(words.get(key, 0.0)) + meant.standardise(meaning.get(key, meant.mean))
        for key in candidates
    }
    half = 0.5 if said.deviation else 1.0
    return {key: unit.mean + half * value * unit.deviation for key, value in sums.items()}


def cut(results: Results, limit: int, reason: str | None = None) -> Results:
    """The first hits of an answer, with one more reason why something may be missing."""
    degraded = "; ".join(filter(None, (results.degraded, reason))) or None
    return replace(results, hits=results.hits[: max(limit, 0)], degraded=degraded)
