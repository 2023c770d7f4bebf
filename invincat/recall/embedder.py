"""What the second leg of recall asks of whoever turns texts into vectors; `llm` has some who do."""

from array import array
from collections.abc import Sequence
from typing import Protocol


class Embedder(Protocol):
    """One embedding model, at an endpoint or on this machine. Several threads may use it."""

    @property
    def model(self) -> str:
        """Names the vectors: those of equal models, and of no others, can be compared."""

    @property
    def batch(self) -> int:
        """How many texts to give at once: as many as it takes, or as take a moment."""

    @property
    def alike(self) -> float | None:
        """How near texts are at least that say nearly the same; None when that is not known of the model."""

    def embed(self, texts: Sequence[str], *, is_question: bool = False) -> list["array[float]"]:
        """A vector for each text, in order: floats in single precision, of length 1, all of one dimension.

        Asks once, without retries. ProviderError when it did not work now, ConfigurationError when it never will.
        """
