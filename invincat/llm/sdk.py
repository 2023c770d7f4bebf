"""What an endpoint did, in our terms: errors that the SDK raises, and bodies that are no answer. Imports the SDK."""

from typing import Final

import msgspec
from httpx2 import HTTPError
from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

from invincat.errors import InvincatError
from invincat.llm.client import BadAnswer, Unreachable
from invincat.llm.faults import Endpoint, from_status, from_stream, is_html, one_line, page_title

# What an answer may raise while it is opened or read.
FAULTS: Final = (APIError, HTTPError, ValueError, RecursionError)

_SHORTEST_HIDDEN: Final = 8


def explain(fault: Exception, endpoint: Endpoint, key: str, silence: float) -> InvincatError:
    """Ours for what the SDK, or the transport under it, raised; `silence` is how many seconds were waited."""
    found: InvincatError
    match fault:
        case APIStatusError():
            found = from_status(fault.status_code, fault.body, fault.response.headers, endpoint)
        case APITimeoutError():
            found = _unreachable(f"the endpoint was silent for {silence:g} s, or did not connect", endpoint)
        case APIConnectionError() | HTTPError():
            found = _unreachable(f"the connection failed: {one_line(str(fault.__cause__ or fault))}", endpoint)
        case APIError():
            found = from_stream(fault.body or str(fault), endpoint)
        case _:
            found = BadAnswer(f"the stream held what is no JSON: {one_line(str(fault))}")
    if len(key) >= _SHORTEST_HIDDEN:
        # Some endpoints repeat the key that they refuse.
        found.what = found.what.replace(key, "***")
        found.args = (found.what,)
    return found


def whole(data: bytes, endpoint: Endpoint) -> object:
    """The JSON of an answer that is not streamed; BadAnswer, or the error that it holds."""
    text = data.decode("utf-8", "replace")
    if is_html(text):
        raise BadAnswer(
            f"the endpoint answered with {page_title(text)}",
            where=endpoint.url_setting,
            next_step=f"check {one_line(endpoint.base_url)}, it may lack /v1",
        )
    try:
        found: object = msgspec.json.decode(data)
    except msgspec.DecodeError:
        raise BadAnswer(f"the endpoint answered with no JSON: {one_line(text)!r}") from None
    if isinstance(found, dict) and found.get("error"):
        raise from_stream(found["error"], endpoint)
    return found


def _unreachable(what: str, endpoint: Endpoint) -> Unreachable:
    return Unreachable(what, where=endpoint.base_url, next_step="check the network and try again")
