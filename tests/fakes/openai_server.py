"""A strict OpenAI-compatible endpoint on loopback. It answers by a script, and checks every request.

    def test_it(openai_server):
        openai_server.script(chat("Hello"), fail(429, "slow down"))
        ... OpenAIClient("fake", "key", openai_server.base_url) ...

Any request that no endpoint would take (`strictness.Violation`) fails the test at its end.
"""

import json
import select
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import pytest

from tests.fakes.answers import Answer, Json, fail
from tests.fakes.strictness import Distaste, Strict, Violation, check, check_embedding, check_key

CHAT = "/v1/chat/completions"
EMBEDDINGS = "/v1/embeddings"

# Seconds between two looks at whether to stop.
_POLL = 0.01


@dataclass(frozen=True)
class Request:
    """A request as it came; header names are lower case."""

    path: str
    headers: dict[str, str]
    body: Any
    raw: bytes

    @property
    def messages(self) -> list[Json]:
        return self.body["messages"]


Scripted = Answer | Callable[[Request], Answer]


class OpenAIServer:
    """Start it as a context manager. `strict` may be changed at any time.

    `requests` holds all that came, `refusals` the 400s that its tastes gave, `violations` what no endpoint takes,
    `left` is set when a client leaves before the answer is over.
    """

    def __init__(self, *answers: Scripted, strict: Strict | None = None) -> None:
        self.strict = strict or Strict()
        self.requests: list[Request] = []
        self.refusals: list[str] = []
        self.violations: list[str] = []
        self.left = threading.Event()
        self._answers: deque[Scripted] = deque(answers)
        self._always: Callable[[Request], Answer] | None = None
        self._lock = threading.Lock()
        self.stopping = threading.Event()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(_POLL,), name="fake-openai")

    @property
    def base_url(self) -> str:
        """What `OPENAI_BASE_URL` would be."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def script(self, *answers: Scripted) -> None:
        """Append answers, one for each request that is not refused."""
        self._answers.extend(answers)

    def always(self, answer: Callable[[Request], Answer]) -> None:
        """Answer by a function when the script is used up."""
        self._always = answer

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def answer(self, request: Request) -> Answer:
        """Decide on a request; called from the threads of connections."""
        with self._lock:
            self.requests.append(request)
            try:
                check_key(request.headers)
                if (refusal := self._door(request)) is not None:
                    return refusal
                look = check_embedding if request.path == EMBEDDINGS else check
                look(request.body, self.strict)
            except Distaste as fault:
                self.refusals.append(str(fault))
                return fail(400, str(fault), "invalid_request_error")
            except Violation as fault:
                return self._violated(str(fault))
            if not self._answers and self._always is None:
                return self._violated("the script has no more answers")
            found = self._answers.popleft() if self._answers else self._always
            answer = found(request) if callable(found) else found
            self._remember(answer)
            return answer

    def _door(self, request: Request) -> Answer | None:
        if request.path == "/v1/models":
            names = sorted(self.strict.models or {"fake"})
            listing = {"object": "list", "data": [{"id": name, "object": "model"} for name in names]}
            return Answer(body=json.dumps(listing).encode(), content_type="application/json")
        if request.path not in {CHAT, EMBEDDINGS}:
            return fail(404, "Not Found")
        if self.strict.key and request.headers.get("authorization") != f"Bearer {self.strict.key}":
            key = request.headers["authorization"].removeprefix("Bearer ")
            return fail(401, f"Incorrect API key provided: {key}.", "invalid_api_key")
        model = request.body.get("model") if isinstance(request.body, dict) else None
        if self.strict.models is not None and model not in self.strict.models:
            return fail(404, f"The model `{model}` does not exist", "model_not_found")
        return None

    def _violated(self, rule: str) -> Answer:
        self.violations.append(rule)
        return fail(418, f"violation: {rule}")  # a status and words that no client learns from or retries

    def _remember(self, answer: Answer) -> None:
        """What was reasoned with which call, for endpoints that want it back."""
        reasoned, ids = "", []
        for part in answer.chunks:
            for choice in part.get("choices", []) if isinstance(part, dict) else []:
                reasoned += choice["delta"].get("reasoning_content") or ""
                ids += [call["id"] for call in choice["delta"].get("tool_calls", []) if call.get("id")]
        self.strict.reasoned.update(dict.fromkeys(ids, reasoned))


class _Http(ThreadingHTTPServer):
    owner: OpenAIServer
    daemon_threads = False  # so that closing waits for them

    def handle_error(self, request: Any, client_address: Any) -> None:
        self.owner.violations.append(f"the fake server failed on {client_address}")
        super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            body = None
        headers = {key.lower(): value for key, value in self.headers.items()}
        answer = self.server.owner.answer(Request(self.path, headers, body, raw))
        try:
            self._play(answer, answer.render(body if isinstance(body, dict) else {}))
        except ConnectionError:
            self.server.owner.left.set()

    def do_GET(self) -> None:
        self.do_POST()

    def _play(self, answer: Answer, body: bytes) -> None:
        if answer.after == 0 and answer.ending == "hang":
            self._wait()
            return
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Connection", "close")
        if answer.framing == "chunked":
            self.send_header("Transfer-Encoding", "chunked")
        for key, value in answer.headers.items():
            self.send_header(key, value)
        self.end_headers()
        self._write(answer, body[: answer.after])
        if answer.after is not None:
            self._end(answer)
        elif answer.framing == "chunked":
            self.wfile.write(b"0\r\n\r\n")

    def _write(self, answer: Answer, body: bytes) -> None:
        size = answer.write or len(body) or 1
        for start in range(0, len(body), size):
            part = body[start : start + size]
            self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part) if answer.framing == "chunked" else part)
            if answer.pause and self.server.owner.stopping.wait(answer.pause):
                return

    def _end(self, answer: Answer) -> None:
        if answer.ending == "hang":
            self._wait()
        elif answer.ending == "reset":
            # The client must have read what came before: a reset throws away what is still on its way.
            self.server.owner.stopping.wait(0.05)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def _wait(self) -> None:
        """Say nothing until the client leaves or the test is over."""
        while not self.server.owner.stopping.is_set():
            if select.select([self.connection], [], [], _POLL)[0] and not self.connection.recv(1024):
                raise ConnectionAbortedError
        self.close_connection = True

    def log_message(self, format: str, *arguments: Any) -> None:
        """Quiet."""


@pytest.fixture
def openai_server() -> Iterator[OpenAIServer]:
    """A server for one test, which fails when a request broke what every endpoint asks for."""
    with OpenAIServer() as server:
        yield server
    assert not server.violations
