"""An embedder without a model: words are axes, and words that a table makes equal are one. Passes the contract."""

import re
import zlib
from array import array
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from invincat.errors import InvincatError
from invincat.llm.embedding import unit

_WORD: Final = re.compile(r"\w+")


@dataclass
class ScriptedEmbedder:
    """An `Embedder` for tests. `meanings` maps a word to the one that it means.

    Each request takes one of `faults`, raised if it is not None, until they are used up. `asked` grows with each.
    """

    meanings: Mapping[str, str] = field(default_factory=dict)
    faults: deque[InvincatError | None] = field(default_factory=deque)
    model: str = "scripted"
    batch: int = 16
    alike: float | None = None
    dimension: int = 512
    asked: list[tuple[tuple[str, ...], bool]] = field(default_factory=list)

    def embed(self, texts: Sequence[str], *, is_question: bool = False) -> list["array[float]"]:
        """`Embedder.embed`."""
        self.asked.append((tuple(texts), is_question))
        if self.faults and (fault := self.faults.popleft()) is not None:
            raise fault
        return [unit(self._vector(text)) for text in texts]

    def _vector(self, text: str) -> list[float]:
        # A little of everything, so that a text without words has a direction, too.
        vector = [0.01] * self.dimension
        for word in _WORD.findall(text.casefold()):
            meant = self.meanings.get(word, word)
            vector[zlib.crc32(meant.encode("utf-8", "replace")) % self.dimension] += 1.0
        return vector
