"""From candidates to hits: each is read from the corpus, verified, looked at closely and shown."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Final, NamedTuple

from msgspec.structs import replace

from invincat.memory.view import Record
from invincat.recall.analysis import Asked, chunks, telling_words
from invincat.recall.corpus import Corpus
from invincat.recall.hit import Hit, Results, present
from invincat.recall.leaf import Pool
from invincat.recall.query import Query, facets_of
from invincat.recall.ranking import (
    CLOSENESS,
    SAMENESS,
    SATURATED,
    Pair,
    Part,
    closeness,
    impacts,
    parts,
    sameness,
    score,
    words_of,
)
from invincat.recall.scan import Candidate, Ranking, place, prior, rank

# So many of the best are looked at closely, however few are asked for.
CLOSELY: Final = 20


class _Closely(NamedTuple):
    """What is looked for in the words of a candidate: pairs with what each is worth, all words, what they are worth."""

    pairs: Mapping[Pair, float]
    words: Counter[str]
    worth: float


class _Found(NamedTuple):
    value: float
    record: Record
    read: Sequence[Part]


def answer(
    corpus: Corpus,
    query: Query,
    asked: Sequence[Asked],
    pool: Pool,
    tip: str,
    degraded: str | None,
    also: Collection[str] = (),
) -> Results:
    """The best that are still what they were found as, or match as they are now; then what else `also` names."""
    ranking = rank(pool, query, asked)
    wanted = _closely(query.text, ranking)
    found: list[_Found] = []
    total = ranking.total
    for candidate, record in _read(corpus, ranking.candidates):
        if one := _verify(candidate, record, query, ranking):
            found.append(_closer(one, wanted))
        else:
            total -= 1
        if len(found) == max(query.limit, CLOSELY):
            break  # now: asking for one more would read many
    found.sort(key=lambda one: (-one.value, -one.record.memory.updated_at.timestamp(), one.record.id))
    del found[query.limit :]
    named = corpus.read(sorted(set(also).difference(one.record.path for one in found)))
    found += [
        _closer(_as_it_stands(one, query, ranking), wanted) for one in named.values() if query.accepts(one.memory)
    ]
    perfect = wanted.worth + CLOSENESS * sum(wanted.pairs.values())
    scores = (min(100 * one.value / perfect, 100.0) if one.value else 0.0 for one in found)
    hits = (
        _linked(corpus, pool, present(one.record, score, ranking.worth, one.read), one)
        for one, score in zip(found, scores, strict=True)
    )
    return Results(tuple(hits), total, tip, degraded)


def _closely(text: str, ranking: Ranking) -> _Closely:
    """Of a question; a pair of words side by side is worth what the lesser of the two is."""
    read, worth = tuple(chunks(text)), ranking.worth
    pairs = {(a, b): min(worth[a], worth[b]) for a, b in pairwise(telling_words(read)) if a in worth and b in worth}
    return _Closely(pairs, words_of(read), SATURATED * sum(worth.values()))


def _read(corpus: Corpus, candidates: Iterator[Candidate]) -> Iterator[tuple[Candidate, Record | None]]:
    """Candidates with what stands in their files now, read some at a time."""
    while some := list(islice(candidates, CLOSELY)):
        records = corpus.read([candidate.key.path for candidate in some])
        for candidate in some:
            yield candidate, records.get(candidate.key.path)


def _verify(candidate: Candidate, record: Record | None, query: Query, ranking: Ranking) -> _Found | None:
    """What a candidate is worth as it stands now; None when it is gone, or is no answer any more."""
    if record is None or not query.accepts(record.memory):
        return None
    if record.blob == candidate.key.blob:
        return _Found(candidate.score, record, parts(record))
    one = _as_it_stands(record, query, ranking)
    return one if one.value else None


def _as_it_stands(record: Record, query: Query, ranking: Ranking) -> _Found:
    """What a memory is worth by its own words; 0 when it has none of the question's."""
    memory, read = record.memory, parts(record)
    places = tuple(item.at for item in memory.source.evidence)
    factor = prior(facets_of(memory)) * place(query, memory.applies_to, places)
    return _Found(factor * score(impacts(read), ranking.worth), record, read)


def _closer(one: _Found, wanted: _Closely) -> _Found:
    """The same, worth more for words side by side as in the question, and for nearly being the question."""
    more = CLOSENESS * closeness(wanted.pairs, one.read) + SAMENESS * wanted.worth * sameness(wanted.words, one.read)
    return one._replace(value=one.value + more)


def _linked(corpus: Corpus, pool: Pool, hit: Hit, one: _Found) -> Hit:
    """A hit with the names of those before and after it."""
    id, end = one.record.id, one.record.memory.superseded_by
    after = corpus.find(end) if end else None
    before = max(pool.superseded_by(id), key=lambda key: (key.invalid_at or "", key.id), default=None)
    past = corpus.read([before.path]).get(before.path) if before else None
    if past is not None and past.memory.superseded_by != id:
        past = None
    if after is None and past is None:
        return hit
    return replace(hit, successor=after.name if after else None, predecessor=past.name if past else None)
