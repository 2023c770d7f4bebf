"""The second leg of recall, by meaning: finds what says the same in other words.

Vectors are made on a thread and kept by blob and model; what has none yet is found by its words alone. Whatever goes
wrong on the way, the words still answer (RULES 9).
"""

import threading
from array import array
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from itertools import islice
from typing import Final

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from invincat.errors import InvincatError, ProviderError
from invincat.memory.view import Record
from invincat.recall.analysis import query_terms
from invincat.recall.embedder import Embedder
from invincat.recall.fusion import POOL, WORDS_ALONE, cut, fuse, spread
from invincat.recall.hit import Hit, Results, present
from invincat.recall.query import Query
from invincat.recall.vectors import Stock, VectorCache

# Seconds that a search waits for the vector of its question, and for those of memories that have none yet.
PATIENCE: Final = 2.0
PATIENCE_FOR_MEMORIES: Final = 0.5
# Memories that are read for the thread at once, which takes a moment; their vectors take it seconds.
PORTION: Final = 500
# Of a longer text the beginning stands for all of it; models read little more.
MAX_TEXT: Final = 2000
WHY: Final = "meaning"
# What single precision makes of two that are equal.
_EQUAL: Final = 1e-6


class Meaning:
    """The leg by meaning, over all stores that are searched together. One thread may search."""

    def __init__(self, embedder: Embedder, patience: float = PATIENCE) -> None:
        self._embedder = embedder
        self._patience = patience
        self._making: threading.Thread | None = None
        self._has_made = threading.Event()
        self._fault: InvincatError | None = None
        self._last: tuple[list[str], NDArray[np.float32]] = [], np.empty((0, 0), np.float32)

    def join(self, query: Query, stocks: Sequence[Stock], words: Results) -> Results:
        """The best `query.limit` by words and by meaning; `words.hits` are the first `POOL` by words, or more.

        Where meaning cannot be asked for, the words are the answer and `degraded` says why (RULES 9). What will not
        clear by itself is raised: ConfigurationError.
        """
        if not query_terms(query.text) or query.limit < 1:
            return cut(words, query.limit)
        try:
            vector = _within(self._patience, lambda: self._embedder.embed([query.text[:MAX_TEXT]], is_question=True)[0])
        except ProviderError as fault:
            return cut(words, query.limit, f"{WORDS_ALONE}: {fault.what}")
        question = np.frombuffer(vector, np.float32)
        near, lacks = self._compare(question, stocks, query)
        if lacks:
            self._make(lacks)
            near, lacks = self._compare(question, stocks, query)
        return cut(_joined(query, near, words), query.limit, self._incomplete(lacks, near))

    def _compare(
        self, question: NDArray[np.float32], stocks: Sequence[Stock], query: Query
    ) -> tuple["_Near", list[Stock]]:
        """How near everything is that has a vector of the question's dimension, and what has none."""
        records: list[Record] = []
        rows: dict[str, bytes] = {}
        lacks = []
        for stock in stocks:
            wanted = [record for record in stock.records if record.is_active or query.seeks_retired]
            known = stock.cache.load(self._embedder.model, [record.blob for record in wanted])
            found = [record for record in wanted if len(known.get(record.blob, b"")) == question.nbytes]
            records += found
            rows |= known
            if len(found) < len(wanted):
                have = {record.blob for record in found}
                lacks.append(Stock([record for record in wanted if record.blob not in have], stock.cache))
        return _Near(records, self._matrix([record.blob for record in records], rows, len(question)) @ question), lacks

    def _matrix(self, blobs: list[str], rows: Mapping[str, bytes], dimension: int) -> NDArray[np.float32]:
        """The vectors of these blobs as rows; the last one is kept, since putting it together takes longest."""
        known, matrix = self._last
        if known != blobs or matrix.shape[1] != dimension:
            matrix = np.frombuffer(b"".join(map(rows.__getitem__, blobs)), np.float32).reshape(-1, dimension)
            self._last = blobs, matrix
        return matrix

    def _make(self, lacks: Sequence[Stock]) -> None:
        """Begin to make vectors on a thread, unless one is at it, and wait a little for them.

        For the first ones longer: a command that ends with its answer would never get any further.
        """
        if self._making is None or not self._making.is_alive():
            # Read here: the stores are not made for several threads.
            tasks = [(stock.cache, {one.blob: _text(one) for one in stock.records[:PORTION]}) for stock in lacks]
            self._making = threading.Thread(target=self._embed, args=[tasks], name="embedding", daemon=True)
            self._has_made.clear()
            self._making.start()
        self._making.join(PATIENCE_FOR_MEMORIES)
        self._has_made.wait(self._patience)

    def _embed(self, tasks: Sequence[tuple[VectorCache, Mapping[str, str]]]) -> None:
        """Make vectors of texts by blob. A fault ends it, and the next search tries again (RULES 9)."""
        self._fault = None
        try:
            for cache, texts in tasks:
                waiting = list(texts)
                while batch := waiting[: self._embedder.batch]:
                    vectors = self._embedder.embed([texts[blob] for blob in batch])
                    cache.save(self._embedder.model, dict(zip(batch, vectors, strict=True)))
                    self._has_made.set()
                    del waiting[: len(batch)]
        except InvincatError as fault:
            self._fault = fault
        finally:
            self._has_made.set()

    def _incomplete(self, lacks: Sequence[Stock], near: "_Near") -> str | None:
        if not lacks:
            return None
        count = sum(len(stock.records) for stock in lacks)
        why = f": {self._fault.what}" if self._fault else ""
        return f"{count} of {count + len(near.records)} memories are found by words alone so far{why}"


class _Near:
    """How near to the question each record is that has a vector."""

    def __init__(self, records: Sequence[Record], scores: NDArray[np.float32]) -> None:
        self.records = records
        self._scores = scores
        self.by_id: Mapping[str, float] = dict(zip((record.id for record in records), scores.tolist(), strict=True))

    def best(self, query: Query) -> list[Record]:
        """The nearest `POOL` that pass the filters, without the farther half: everything is near to some degree."""
        ranked = (self.records[at] for at in np.argsort(-self._scores, kind="stable"))
        pool = list(islice((record for record in ranked if query.accepts(record.memory)), POOL))
        floor = spread([self.by_id[record.id] for record in pool]).mean - _EQUAL if pool else 0.0
        return [record for record in pool if self.by_id[record.id] >= floor]


def _joined(query: Query, near: _Near, words: Results) -> Results:
    hits = {hit.id: hit for hit in words.hits}
    found = {record.id: record for record in near.best(query)}
    scores = fuse(
        {id: hit.score for id, hit in hits.items()},
        {id: near.by_id[id] for id in {**hits, **found} if id in near.by_id},
    )
    ranked = sorted(scores, key=scores.__getitem__, reverse=True)[: query.limit]
    shown = tuple(_hit(scores[id], hits.get(id) or present(found[id], 0.0, {})) for id in ranked)
    return replace(words, hits=shown, total=words.total + sum(hit.id not in hits for hit in shown))


def _hit(score: float, hit: Hit) -> Hit:
    """A hit with its score of both legs, and what speaks for it if no word does."""
    return replace(hit, score=round(min(max(score, 0.0), 100.0), 2), why=hit.why or (WHY,))


def _text(record: Record) -> str:
    memory = record.memory
    return f"{memory.title}\n{memory.body}".strip()[:MAX_TEXT]


def _within(seconds: float, job: "Callable[[], array[float]]") -> "array[float]":
    """What a job returns or raises, on a thread that is left behind when it takes longer; then ProviderError."""
    future: Future[array[float]] = Future()

    def run() -> None:
        try:
            future.set_result(job())
        except BaseException as fault:  # noqa: BLE001 - it is raised where somebody waits for it
            future.set_exception(fault)

    threading.Thread(target=run, name="embedding-question", daemon=True).start()
    try:
        return future.result(seconds)
    except TimeoutError:
        raise ProviderError(f"the embedding of the question took longer than {seconds:g} s") from None
