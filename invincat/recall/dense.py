"""The second leg of recall, by meaning: finds what says the same in other words.

Vectors are made on a thread and kept by blob and model; what has none yet is found by its words alone. Whatever goes
wrong on the way, the words still answer (RULES 9).
"""

import threading
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from itertools import islice
from typing import Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from invincat.errors import InvincatError, ProviderError
from invincat.memory.view import Record
from invincat.recall.analysis import query_terms
from invincat.recall.embedder import Embedder
from invincat.recall.fusion import EVEN, POOL, QUESTIONED, RESTATED, WORDS_ALONE, Near, spread
from invincat.recall.query import Query
from invincat.recall.vectors import Stock, VectorCache

# Seconds that a search waits for the vector of its question, and for those of memories that have none yet.
PATIENCE: Final = 2.0
PATIENCE_FOR_MEMORIES: Final = 0.5
# Memories that are read for the thread at once, which takes a moment; their vectors take it seconds.
PORTION: Final = 500
# Of a longer text the beginning stands for all of it; models read little more.
MAX_TEXT: Final = 2000
# What single precision makes of two that are equal.
_EQUAL: Final = 1e-6
# What models that keep little precision make of the length 1.
_TOLERANCE: Final = 0.02

Answer = TypeVar("Answer")
Progress = Callable[[int, int], None]


class Meaning:
    """The leg by meaning, over all stores that are searched together. One thread may search."""

    def __init__(self, embedder: Embedder, patience: float = PATIENCE) -> None:
        self._embedder = embedder
        self._patience = patience
        self._making: threading.Thread | None = None
        self._has_made = threading.Event()
        self._fault: InvincatError | None = None
        self._last: tuple[list[str], NDArray[np.float32]] = [], np.empty((0, 0), np.float32)

    def near(self, query: Query, stocks: Sequence[Stock]) -> Near:
        """How near everything is that may be in the answer.

        Where meaning cannot be asked for, nothing is near and `degraded` says why (RULES 9). What will not clear by
        itself is raised: ConfigurationError.
        """
        if not query_terms(query.text) or query.limit < 1:
            return Near()
        try:
            asked = _within(self._patience, lambda: self._read(query.text[:MAX_TEXT]))
        except ProviderError as fault:
            return Near(degraded=f"{WORDS_ALONE}: {fault.what}")
        rows, lacks = self._load(asked, stocks, query)
        if not rows.are_sound:
            for stock in stocks:
                stock.cache.drop()
            rows, lacks = self._load(asked, stocks, query)
        if lacks:
            self._make(lacks)
            rows, lacks = self._load(asked, stocks, query)
        return self._compare(asked, rows, query, self._incomplete(lacks, len(rows.records)))

    def fill(self, stocks: Sequence[Stock], progress: Progress) -> int:
        """Make all vectors that are missing now, those of active memories first; how many that were.

        Each batch is kept at once. ProviderError, ConfigurationError: what was made until then stays.
        """
        # What there is may be of another dimension; and a key that is refused is told even if nothing is missing.
        size = memoryview(self._embedder.embed(["-"])[0]).nbytes
        tasks = [(stock.cache, self._missing(stock, size)) for stock in stocks]
        done, total = 0, sum(len(texts) for _, texts in tasks)
        for cache, texts in tasks:
            for count in self._made(cache, texts):
                done += count
                progress(done, total)
        return total

    def _missing(self, stock: Stock, size: int) -> dict[str, str]:
        known = stock.cache.load(self._embedder.model, [record.blob for record in stock.records])
        lacks = (record for record in stock.records if len(known.get(record.blob, b"")) != size)
        return {record.blob: _text(record) for record in sorted(lacks, key=lambda record: not record.is_active)}

    def _read(self, text: str) -> "_Asked":
        """The question, and where the model tells the two apart what it says."""
        (question,) = self._embedder.embed([text], is_question=True)
        said = None if self._embedder.alike is None else self._embedder.embed([text])[0]
        return _Asked(_row(question), None if said is None else _row(said))

    def _load(self, asked: "_Asked", stocks: Sequence[Stock], query: Query) -> tuple["_Rows", list[Stock]]:
        """Everything that may be asked for and has a vector of the question's dimension, and what has none."""
        records: list[Record] = []
        rows: dict[str, bytes] = {}
        lacks = []
        for stock in stocks:
            wanted = [record for record in stock.records if record.is_active or query.seeks_retired]
            known = stock.cache.load(self._embedder.model, [record.blob for record in wanted])
            found = [record for record in wanted if len(known.get(record.blob, b"")) == asked.question.nbytes]
            records += found
            rows |= known
            if len(found) < len(wanted):
                have = {record.blob for record in found}
                lacks.append(Stock([record for record in wanted if record.blob not in have], stock.cache))
        return _Rows(records, self._matrix([record.blob for record in records], rows, len(asked.question))), lacks

    def _compare(self, asked: "_Asked", rows: "_Rows", query: Query, degraded: str | None) -> Near:
        """What is near: to what the question says, if some memory says the same, else to the question."""
        if not rows.records:
            return Near(degraded=degraded)
        scores, weight = rows.vectors @ asked.question, EVEN
        if asked.said is not None and self._embedder.alike is not None:
            alike = rows.vectors @ asked.said
            is_restated = alike.max() >= self._embedder.alike
            scores, weight = (alike, RESTATED) if is_restated else (scores, QUESTIONED)
        by_id = dict(zip((record.id for record in rows.records), scores.tolist(), strict=True))
        return Near(by_id, _nearest(rows.records, scores, query), weight, degraded)

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
                for _ in self._made(cache, texts):
                    self._has_made.set()
        except InvincatError as fault:
            self._fault = fault
        finally:
            self._has_made.set()

    def _made(self, cache: VectorCache, texts: Mapping[str, str]) -> Iterator[int]:
        """Make and keep vectors of texts by blob, a batch at a time; how many each time."""
        waiting = list(texts)
        while batch := waiting[: self._embedder.batch]:
            vectors = self._embedder.embed([texts[blob] for blob in batch])
            cache.save(self._embedder.model, dict(zip(batch, vectors, strict=True)))
            del waiting[: len(batch)]
            yield len(batch)

    def _incomplete(self, lacks: Sequence[Stock], known: int) -> str | None:
        if not lacks:
            return None
        count = sum(len(stock.records) for stock in lacks)
        why = f": {self._fault.what}" if self._fault else ""
        return f"{count} of {count + known} memories are found by words alone so far{why}"


class _Asked(NamedTuple):
    """A question as a vector, and what it says as one, where the model tells the two apart."""

    question: NDArray[np.float32]
    said: NDArray[np.float32] | None


class _Rows(NamedTuple):
    """Memories, and their vectors as rows."""

    records: Sequence[Record]
    vectors: NDArray[np.float32]

    @property
    def are_sound(self) -> bool:
        """Whether all are of length 1; what is not was damaged on disk."""
        with np.errstate(all="ignore"):
            return bool((np.abs(np.einsum("ij,ij->i", self.vectors, self.vectors) - 1) < _TOLERANCE).all())


def _nearest(records: Sequence[Record], scores: NDArray[np.float32], query: Query) -> frozenset[str]:
    """The files of the `POOL` that pass the filters, without the farther half: everything is near to some degree."""
    ranked = ((records[at], float(scores[at])) for at in np.argsort(-scores, kind="stable"))
    pool = list(islice(((record, score) for record, score in ranked if query.accepts(record.memory)), POOL))
    floor = spread([score for _, score in pool]).mean - _EQUAL if pool else 0.0
    return frozenset(record.path for record, score in pool if score >= floor)


def _row(vector: "array[float]") -> NDArray[np.float32]:
    return np.frombuffer(vector, np.float32)


def _text(record: Record) -> str:
    memory = record.memory
    return f"{memory.title}\n{memory.body}".strip()[:MAX_TEXT]


def _within(seconds: float, job: Callable[[], Answer]) -> Answer:
    """What a job returns or raises, on a thread that is left behind when it takes longer; then ProviderError."""
    future: Future[Answer] = Future()

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
