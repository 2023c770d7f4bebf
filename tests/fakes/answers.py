"""What the fake endpoint can answer, well and badly. An answer is data; `dataclasses.replace` makes it worse."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Json = dict[str, Any]

HTML = "<!DOCTYPE html>\n<html><head><title>502 Bad\nGateway</title></head><body>nginx</body></html>"


@dataclass(frozen=True)
class Answer:
    """A response.

    `chunks` go out as server-sent events, unless there is a `body`. `usage` is sent as the last chunk, if it was asked
    for. `after` bytes of the body `ending` happens: the connection closes, resets, or stays silent. `write` is bytes
    per write, `pause` seconds between writes. Framing "close" has no length: the end of the connection is the end.
    """

    chunks: tuple[Json | str, ...] = ()
    usage: Json | None = None
    done: bool = True
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "text/event-stream; charset=utf-8"
    body: bytes | None = None
    write: int | None = None
    pause: float = 0.0
    after: int | None = None
    ending: Literal["close", "reset", "hang"] = "close"
    framing: Literal["chunked", "close"] = "chunked"

    def render(self, request: Json) -> bytes:
        """The body for a request."""
        if self.body is not None:
            return self.body
        chunks = list(self.chunks)
        if self.usage and (request.get("stream_options") or {}).get("include_usage"):
            chunks.append({**_HEAD, "choices": [], "usage": self.usage})
        events = [chunk if isinstance(chunk, str) else json.dumps(chunk, ensure_ascii=False) for chunk in chunks]
        return "".join(f"data: {event}\n\n" for event in [*events, *(["[DONE]"] if self.done else [])]).encode()


_HEAD: Json = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "fake"}


def chunk(delta: Json, finish: str | None = None) -> Json:
    """One event of a stream."""
    return {**_HEAD, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def usage(sent: int, received: int, cached: int = 0) -> Json:
    """The usage object."""
    return {
        "prompt_tokens": sent,
        "completion_tokens": received,
        "total_tokens": sent + received,
        "prompt_tokens_details": {"cached_tokens": cached},
    }


def deltas(*parts: Json, finish: str | None = "stop", **rest: Any) -> Answer:
    """A stream of these deltas, with a finish of its own chunk unless it is None."""
    ends = (chunk({}, finish),) if finish else ()
    return Answer((*(chunk(part) for part in parts), *ends), **{"usage": usage(12, 5), **rest})


def chat(
    text: str = "",
    calls: Sequence[tuple[str, Json | str]] = (),
    *,
    reasoning: str = "",
    finish: str | None = "",
    piece: int = 4,
    ids: Literal["given", "none", "same", "always"] = "given",
    indexes: Literal["given", "none", "zero"] = "given",
    tag: str = "a",
    **rest: Any,
) -> Answer:
    """A streamed answer. Texts and arguments are split into pieces of so many characters; 0 leaves them whole.

    `ids`: with the first fragment of a call, never, the same for all calls, or repeated with every fragment.
    `tag` makes ids differ between answers. `finish` "" follows from the calls, None is left out.
    """
    parts: list[Json] = [{"role": "assistant", "content": ""}]
    parts += [{"reasoning_content": part} for part in _pieces(reasoning, piece)]
    parts += [{"content": part} for part in _pieces(text, piece)]
    for number, (name, arguments) in enumerate(calls):
        raw = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        id = f"call_{tag}" if ids == "same" else f"call_{tag}{number}"
        for at, part in enumerate(_pieces(raw, piece) or [""]):
            call: Json = {"function": {"arguments": part}}
            if at == 0:
                call = {"type": "function", "function": {"name": name, "arguments": part}}
            if ids != "none" and (at == 0 or ids == "always"):
                call["id"] = id
            if indexes != "none":
                call["index"] = number if indexes == "given" else 0
            parts.append({"tool_calls": [call]})
    end = ("tool_calls" if calls else "stop") if finish == "" else finish
    return deltas(*parts, finish=end, **rest)


def plain(text: str | None, calls: Sequence[tuple[str, Json | str]] = (), finish: str = "stop") -> Answer:
    """A server that does not stream: one JSON completion."""
    message: Json = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"call_p{number}",
                "type": "function",
                "function": {"name": name, "arguments": raw if isinstance(raw, str) else json.dumps(raw)},
            }
            for number, (name, raw) in enumerate(calls)
        ]
    whole = {
        **_HEAD,
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": usage(7, 3),
    }
    return Answer(body=json.dumps(whole).encode(), content_type="application/json")


def embeddings(vectors: Sequence[Sequence[float]], indexes: Literal["given", "none", "backwards"] = "given") -> Answer:
    """Vectors, in the order of the texts or from the last to the first."""
    data: list[Json] = [{"object": "embedding", "embedding": list(vector)} for vector in vectors]
    if indexes != "none":
        for number, item in enumerate(data):
            item["index"] = number
    whole = {"object": "list", "data": data[::-1] if indexes == "backwards" else data, "model": "fake"}
    return Answer(body=json.dumps(whole).encode(), content_type="application/json")


def fail(status: int, message: str, code: str | None = None, headers: Mapping[str, str] | None = None) -> Answer:
    """A status with an error object."""
    error = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    return Answer(
        body=json.dumps(error).encode(), status=status, headers=headers or {}, content_type="application/json"
    )


def html(status: int = 200, text: str = HTML) -> Answer:
    """A web page, as a proxy or a wrong URL gives it."""
    return Answer(body=text.encode(), status=status, content_type="text/html")


def cut(
    answer: Answer, events: int, *, ending: Literal["close", "reset", "hang"] = "close", done: bool = False
) -> Answer:
    """The answer ends after so many events, with or without `[DONE]`; if it closes, the HTTP response is whole."""
    short = replace(answer, chunks=answer.chunks[:events], usage=None, done=done)
    return short if ending == "close" else replace(short, after=len(short.render({})), ending=ending)


def never() -> Answer:
    """Takes the request and says nothing."""
    return Answer(after=0, ending="hang")


def _pieces(text: str, size: int) -> list[str]:
    return list(_cut(text, size)) if size else [text] if text else []


def _cut(text: str, size: int) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]
