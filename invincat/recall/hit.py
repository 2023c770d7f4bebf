"""What a search answers. A hit is no memory and cannot be handed to the lifecycle (RULES 1.5)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from invincat.governance.grounding import Standing
from invincat.memory.evidence import Evidence
from invincat.memory.view import Record
from invincat.recall.analysis import Chunk, chunks, is_cjk, pairs
from invincat.recall.ranking import Part, parts

MAX_SNIPPET: Final = 160
_WHOLE_FIELDS: Final = frozenset({"tags", "applies_to"})


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One memory that answers, as it stands at `Results.at`.

    `score` is the share of a perfect answer in per cent, so that the scores of two stores can be compared; `why`
    names fields and the words found there; `snippet` is a line of the body, at most `MAX_SNIPPET` characters.
    `successor` is the name of the memory that took its place, `predecessor` of the one whose place it took (of
    several, the one that was retired last). `holds` says whether it holds here, `mark` in words where it does not
    (RULES 12).
    """

    name: str
    path: str
    id: str
    blob: str
    title: str
    kind: str
    section: str
    scope: str
    tier: str
    status: str
    score: float
    why: tuple[str, ...]
    snippet: str
    evidence: tuple[Evidence, ...] = ()
    predecessor: str | None = None
    successor: str | None = None
    holds: str = "unknown"
    mark: str = ""


class Results(msgspec.Struct, frozen=True):
    """The best hits first, how many memories match in all, the commit, and why the answer may be incomplete."""

    hits: tuple[Hit, ...]
    total: int
    at: str | None
    degraded: str | None = None

    def with_standings(self, standings: Mapping[str, Standing]) -> "Results":
        """The same answer with what does not hold here marked, and after all that does (RULES 12)."""
        hits = (replace(hit, holds=standings[hit.id].holds.value, mark=standings[hit.id].mark) for hit in self.hits)
        return replace(self, hits=tuple(sorted(hits, key=lambda hit: bool(hit.mark))))


def merge(answers: Sequence[Results], limit: int) -> Results:
    """One answer of those of several stores; equal scores stand in the order of the stores. `at` is the first's."""
    hits = sorted((hit for answer in answers for hit in answer.hits), key=lambda hit: -hit.score)
    reasons = dict.fromkeys(answer.degraded for answer in answers if answer.degraded)
    return Results(
        hits=tuple(hits[: max(limit, 0)]),
        total=sum(answer.total for answer in answers),
        at=next((answer.at for answer in answers if answer.at), None),
        degraded="; ".join(reasons) or None,
    )


def present(record: Record, score: float, worth: Mapping[str, float], read: Sequence[Part] | None = None) -> Hit:
    """The hit that stands for a record; `worth` maps each term of the query to what it counts, `read` is `parts`."""
    memory = record.memory
    read = parts(record) if read is None else read
    return Hit(
        name=record.name,
        path=record.path,
        id=memory.id,
        blob=record.blob,
        title=memory.title,
        kind=memory.kind.value,
        section=memory.section,
        scope=memory.scope.value,
        tier=memory.tier.value,
        status=memory.status.value,
        score=round(score, 2),
        why=why(read, worth.keys()),
        snippet=snippet(memory.body, worth),
        evidence=memory.source.evidence,
    )


def why(read: Iterable[Part], terms: Iterable[str]) -> tuple[str, ...]:
    """Per field that matches, `field: word, word` as they are written there; labels are named whole."""
    wanted = frozenset(terms)
    found: dict[str, dict[str, str]] = {}
    for part in read:
        words = [word for chunk in part.chunks for word in _matching(chunk, wanted)]
        if words and part.field in _WHOLE_FIELDS:
            words = [part.text]
        for word in words:
            found.setdefault(part.field, {}).setdefault(word.casefold(), word)
    return tuple(f"{field}: {', '.join(words.values())}" for field, words in found.items())


def _matching(chunk: Chunk, wanted: frozenset[str]) -> list[str]:
    """The words of a chunk to show: itself, or of a run of CJK only the pairs that were asked for."""
    if wanted.isdisjoint(chunk.names) and wanted.isdisjoint(chunk.words):
        return []
    if not is_cjk(chunk.surface):
        return [chunk.surface]
    return [pair for pair, term in zip(pairs(chunk.surface), chunk.words, strict=True) if term in wanted]


def snippet(body: str, worth: Mapping[str, float]) -> str:
    """The line of a body that says most about the query, cut around the first word that matches."""
    lines = [line for line in map(str.strip, body.splitlines()) if line]
    if not lines:
        return ""
    best = max(lines, key=lambda line: sum(worth[term] for term in _terms_in(line, worth)))
    if len(best) <= MAX_SNIPPET:
        return best
    return _cut(best, _first_match(best, worth))


def _terms_in(line: str, worth: Mapping[str, float]) -> set[str]:
    return {term for chunk in chunks(line) for term in chunk.terms if term in worth}


def _first_match(line: str, worth: Mapping[str, float]) -> int:
    wanted = frozenset(worth)
    words = (word for chunk in chunks(line) for word in _matching(chunk, wanted))
    # A word that only folding made of the line has no place in it; the beginning will do.
    return max(line.find(next(words, "")), 0)


def _cut(line: str, place: int) -> str:
    """At most `MAX_SNIPPET` characters with `place` in sight, an ellipsis where something is left out."""
    start = min(max(place - MAX_SNIPPET // 4, 0), len(line) - MAX_SNIPPET)
    end = start + MAX_SNIPPET
    head, tail = "…" * (start > 0), "…" * (end < len(line))
    return head + line[start + len(head) : end - len(tail)] + tail
