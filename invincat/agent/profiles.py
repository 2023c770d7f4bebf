"""What endpoints were found to accept: shared by the clients of a process, and kept for the next (ASSISTANT "Talking").

Each endpoint teaches by refusals; to ask it again in every process, or once a client, would cost a refusal each time.
"""

import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import msgspec

from invincat.llm.client import Client, Part
from invincat.llm.history import Profile
from invincat.llm.message import Message
from invincat.llm.schema import ToolSpec
from invincat.paths import make_private

_Kept = dict[str, dict[str, Profile]]


class Profiles:
    """Profiles by base URL and model, in a file that nobody else can read. A file that is broken is none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._known: _Kept | None = None

    def of(self, base_url: str, model: str) -> Profile:
        """What is known of an endpoint; what most accept where nothing is."""
        with self._lock:
            if self._known is None:
                self._known = self._read()
            return self._known.get(base_url, {}).get(model) or Profile()

    def keep(self, base_url: str, model: str, profile: Profile) -> None:
        """Remember what an endpoint taught; for this process only where the file cannot be written."""
        with self._lock, suppress(OSError):
            # Another process may have learned of another endpoint meanwhile.
            known = (self._known or {}) | self._read()
            known[base_url] = known.get(base_url, {}) | {model: profile}
            self._known = known
            self._write(known)

    def _read(self) -> _Kept:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=_Kept)
        except (OSError, msgspec.DecodeError):
            return {}

    def _write(self, known: _Kept) -> None:
        make_private(self._path.parent)
        draft = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(known))
        draft.replace(self._path)


class Taught(Client, Protocol):
    """A client that changes its profile by what the endpoint refuses."""

    profile: Profile


class ProfiledClient:
    """A `Client` that begins each request with what any client of its endpoint has learned, and hands on its own."""

    def __init__(self, client: Taught, profiles: Profiles, base_url: str) -> None:
        self._client = client
        self._profiles = profiles
        self._base_url = base_url

    @property
    def model(self) -> str:
        """`Client.model`."""
        return self._client.model

    async def stream(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        *,
        max_tokens: int | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[Part, None]:
        """`Client.stream`."""
        known = self._client.profile = self._profiles.of(self._base_url, self.model)
        try:
            async with aclosing(self._client.stream(messages, tools, max_tokens=max_tokens, schema=schema)) as parts:
                async for part in parts:
                    yield part
        finally:
            if self._client.profile != known:
                self._profiles.keep(self._base_url, self.model, self._client.profile)

    async def aclose(self) -> None:
        """`Client.aclose`."""
        await self._client.aclose()
