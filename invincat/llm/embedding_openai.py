"""Embeddings from OpenAI-compatible endpoints. Imports the SDK, which takes half a second."""

from array import array
from collections.abc import Sequence
from typing import Final

import msgspec
from httpx2 import Response
from openai import OpenAI, Timeout

from invincat.llm.client import BadAnswer
from invincat.llm.embedding import unit
from invincat.llm.faults import Endpoint
from invincat.llm.sdk import FAULTS, explain, whole

# The SDK insists on a key; servers on this machine take any.
_NO_KEY: Final = "none"


class _Item(msgspec.Struct):
    embedding: list[float]
    index: int | None = None


class _Answer(msgspec.Struct):
    data: list[_Item]


class OpenAIEmbedder:
    """An `Embedder` for one model at one endpoint.

    `connect` and `read` are seconds: to a connection, and of silence. The `*_setting` names are for errors: what to
    fix.
    """

    def __init__(
        self,
        model: str,
        api_key: str | None,
        base_url: str = "https://api.openai.com/v1",
        *,
        connect: float = 5.0,
        read: float = 30.0,
        model_setting: str = "embedding",
        key_setting: str = "OPENAI_API_KEY",
        url_setting: str = "OPENAI_BASE_URL",
    ) -> None:
        """BadEndpoint when the base URL cannot be one; nothing is connected to yet."""
        self._endpoint = Endpoint(model, base_url, model_setting, key_setting, url_setting)
        self._key = (api_key or "").strip()
        self._read = read
        self._sdk = OpenAI(
            api_key=self._key or _NO_KEY, base_url=base_url, max_retries=0, timeout=Timeout(read, connect=connect)
        )

    @property
    def model(self) -> str:
        """`Embedder.model`: the same name at another endpoint may be another model."""
        return f"{self._endpoint.base_url} {self._endpoint.model}"

    @property
    def batch(self) -> int:
        """As many as any server takes, and one on a person's own machine manages in a second or two."""
        return 16

    @property
    def alike(self) -> None:
        """`Embedder.alike`: another model has another scale."""

    def embed(self, texts: Sequence[str], *, is_question: bool = False) -> list["array[float]"]:
        """`Embedder.embed`; the protocol has no word for what is a question."""
        if not texts:
            return []
        # No endpoint takes an empty text, and JSON no half of a character.
        clean = [text.encode("utf-8", "replace").decode().strip() or "-" for text in texts]
        body = {"model": self._endpoint.model, "input": clean}
        try:
            response = self._sdk.post("/embeddings", body=body, cast_to=Response)
            return _vectors(whole(response.content, self._endpoint), len(texts))
        except FAULTS as fault:
            raise explain(fault, self._endpoint, self._key, self._read) from None


def _vectors(answer: object, count: int) -> list["array[float]"]:
    """The vectors in the order of the texts; BadAnswer when it is not one for each, all of one dimension."""
    try:
        items = msgspec.convert(answer, _Answer).data
    except msgspec.ValidationError as fault:
        raise BadAnswer(f"the endpoint answered with no embeddings: {fault}") from None
    places = [at if item.index is None else item.index for at, item in enumerate(items)]
    if sorted(places) != list(range(count)):
        raise BadAnswer(f"the endpoint answered with {len(items)} embeddings of {count} texts")
    if len({len(item.embedding) for item in items}) != 1:
        raise BadAnswer("the endpoint answered with vectors of several dimensions")
    return [unit(item.embedding) for _, item in sorted(zip(places, items, strict=True), key=lambda pair: pair[0])]
