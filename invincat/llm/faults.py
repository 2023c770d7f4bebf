"""What an endpoint's error means, as one of the errors of `client`. Pure; the only table of status codes."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from invincat.errors import InvincatError
from invincat.llm.client import (
    BadEndpoint,
    ContextOverflow,
    KeyRefused,
    RateLimited,
    Refused,
    ServerFault,
    UnknownModel,
    Unreachable,
)
from invincat.llm.retry import retry_after

_LONGEST: Final = 240
_HTML: Final = re.compile(r"\s*<(?:!doctype|html|head|body|\?xml)", re.IGNORECASE)
_TITLE: Final = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)

_OVERFLOW: Final = re.compile(
    r"context_length_exceeded|exceed_context_size|maximum context|context (?:length|window|size)"
    r"|(?:prompt|input|request) is too long|too many (?:input )?tokens|input length and",
    re.IGNORECASE,
)
_NO_MODEL: Final = re.compile(
    r"model_not_found|(?:unknown|invalid) model\b|\bmodel\b[^.]{0,100}(?:not exist|not found|no such|not a valid)",
    re.IGNORECASE,
)
_NO_CREDIT: Final = re.compile(r"insufficient_quota|insufficient.balance|billing|out of credit", re.IGNORECASE)


@dataclass(frozen=True)
class Endpoint:
    """A model at a base URL, and the names of the settings that say so. BadEndpoint when the URL cannot be one.

    The URL is http(s) with a host and no more than a path (RULES 9).
    """

    model: str
    base_url: str
    model_setting: str = "OPENAI_MODEL"
    key_setting: str = "OPENAI_API_KEY"
    url_setting: str = "OPENAI_BASE_URL"

    def __post_init__(self) -> None:
        step = "set it to something like https://api.example.com/v1"
        try:
            parts = urlsplit(self.base_url)
            host, _ = parts.hostname, parts.port
        except ValueError as fault:
            raise BadEndpoint(f"is no URL: {fault}", where=self.url_setting, next_step=step) from None
        if parts.scheme not in {"http", "https"}:
            what = f"starts with neither http:// nor https://: {one_line(self.base_url)!r}"
            raise BadEndpoint(what, where=self.url_setting, next_step=step)
        if not host or re.search(r"\s", self.base_url):
            raise BadEndpoint(f"names no host: {one_line(self.base_url)!r}", where=self.url_setting, next_step=step)
        if "@" in parts.netloc or parts.query or parts.fragment:
            what = "must not hold a user, a query or a fragment"
            raise BadEndpoint(what, where=self.url_setting, next_step=f"put the key into {self.key_setting}")


def from_status(status: int, body: object, headers: Mapping[str, str], endpoint: Endpoint) -> InvincatError:
    """The error for a response of 400 and above. `body` is its JSON, or its text."""
    said = describe(body)
    text = f"{_code(body)} {full_text(body)}"
    if status < 500 and _OVERFLOW.search(text):
        return ContextOverflow(f"the conversation is too long for the model: {said}")
    if status in {400, 404, 422} and _NO_MODEL.search(text):
        return _unknown_model(said, endpoint)
    if status in {403, 429} and _NO_CREDIT.search(text):
        status = 402
    make = _BY_STATUS.get(status) or (_server_fault if status >= 500 else _refused)
    return make(
        f"the endpoint answered {status}: {said}" if said else f"the endpoint answered {status}", headers, endpoint
    )


def from_stream(error: object, endpoint: Endpoint) -> InvincatError:
    """The error for an `error` object inside a stream, which has a status only if it says so."""
    code = _code(error)
    if code.isdecimal() and 400 <= int(code) < 600:
        return from_status(int(code), error, {}, endpoint)
    said = describe(error)
    if _OVERFLOW.search(f"{code} {full_text(error)}"):
        return ContextOverflow(f"the conversation is too long for the model: {said}")
    if "rate_limit" in code:
        return RateLimited(f"the endpoint broke off: {said}")
    return ServerFault(f"the endpoint broke off: {said}")


def full_text(body: object) -> str:
    """What an error body says, in the shapes that servers use."""
    if isinstance(body, Mapping):
        inner = body.get("error")
        if isinstance(inner, Mapping | str):
            return full_text(inner)
        keys = ("message", "detail", "msg", "error_description")
        return next((str(body[key]) for key in keys if body.get(key)), str(dict(body)) if body else "")
    return "" if body is None else str(body)


def describe(body: object) -> str:
    """What an error body says, in one line."""
    text = full_text(body)
    return page_title(text) if is_html(text) else one_line(text)


def is_html(text: str) -> bool:
    """Whether a body is a web page, as proxies and wrong URLs give it."""
    return bool(_HTML.match(text))


def page_title(text: str) -> str:
    """A web page in one line."""
    title = _TITLE.search(text)
    return f"a web page, {one_line(title[1])!r}" if title else "a web page"


def one_line(text: str) -> str:
    """Text of others for an error line: no control characters, at most 240 characters."""
    found = "".join(char if char.isprintable() else " " for char in text[: _LONGEST * 4])
    found = " ".join(found.split())
    return found if len(found) <= _LONGEST else f"{found[: _LONGEST - 1]}…"


def _code(body: object) -> str:
    if not isinstance(body, Mapping):
        return ""
    inner = body.get("error")
    if isinstance(inner, Mapping):
        return _code(inner)
    return " ".join(str(body[key]) for key in ("code", "type") if body.get(key) is not None and body[key] != "error")


def _unknown_model(what: str, endpoint: Endpoint) -> InvincatError:
    return UnknownModel(
        f"the endpoint has no model {endpoint.model!r}: {what}"
        if what
        else f"the endpoint has no model {endpoint.model!r}",
        where=endpoint.model_setting,
        next_step="name one that it has",
    )


def _key_refused(what: str, _: Mapping[str, str], endpoint: Endpoint) -> InvincatError:
    return KeyRefused(what, where=endpoint.key_setting, next_step="set a key that this endpoint accepts")


def _no_credit(what: str, _: Mapping[str, str], endpoint: Endpoint) -> InvincatError:
    return KeyRefused(what, where=endpoint.key_setting, next_step="check the account's credit")


def _no_such_page(what: str, _: Mapping[str, str], endpoint: Endpoint) -> InvincatError:
    return BadEndpoint(
        what, where=endpoint.url_setting, next_step=f"check {one_line(endpoint.base_url)}, it may lack /v1"
    )


def _timed_out(what: str, *_: object) -> InvincatError:
    return Unreachable(what)


def _rate_limited(what: str, headers: Mapping[str, str], _: Endpoint) -> InvincatError:
    seconds = retry_after(headers)
    step = f"try again in {seconds:.0f} s" if seconds else "try again later"
    return RateLimited(what, retry_after=seconds, next_step=step)


def _server_fault(what: str, headers: Mapping[str, str], _: Endpoint) -> InvincatError:
    return ServerFault(what, retry_after=retry_after(headers))


def _refused(what: str, *_: object) -> InvincatError:
    return Refused(what)


_Maker = Callable[[str, Mapping[str, str], Endpoint], InvincatError]

_BY_STATUS: Final[dict[int, _Maker]] = {
    401: _key_refused,
    402: _no_credit,
    403: _key_refused,
    404: _no_such_page,
    405: _no_such_page,
    408: _timed_out,
    429: _rate_limited,
}
