"""What was typed, kept in a file of the person's own; a line that holds a secret is never written."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import msgspec
from prompt_toolkit.history import History

from invincat.governance.secrets import scan
from invincat.paths import make_private

MAX_ENTRIES: Final = 2000
MAX_ENTRY: Final = 4000


class InputHistory(History):
    """Entries on disk, one JSON string a line, the newest last; without a path in memory only.

    `expand` gives what folded pastes stand for: the file must make sense to later sessions.
    """

    def __init__(self, path: Path | None, expand: Callable[[str], str]) -> None:
        super().__init__()
        self._path = path
        self._expand = expand

    def load_history_strings(self) -> Iterable[str]:
        """The entries, the newest first; the file is cut when it has grown to twice what is kept."""
        try:
            data = self._path.read_bytes() if self._path else b""
        except OSError:
            return []
        entries = [entry for line in data.splitlines() if (entry := _decode(line))]
        if len(entries) > 2 * MAX_ENTRIES:
            entries = entries[-MAX_ENTRIES:]
            self._write(entries, os.O_TRUNC)
        return reversed(entries)

    def store_string(self, string: str) -> None:
        """Keep an entry on disk, unless it is very long or a secret stands in it."""
        text = self._expand(string)
        if len(text) <= MAX_ENTRY and not scan(text):
            self._write([text], os.O_APPEND)

    def _write(self, entries: list[str], how: int) -> None:
        """Write entries; a history that cannot be kept is no reason to stop talking."""
        if self._path is None:
            return
        lines = b"".join(msgspec.json.encode(_sound(entry)) + b"\n" for entry in entries)
        try:
            make_private(self._path.parent)
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | how, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                os.fchmod(descriptor, 0o600)
                file.write(lines)
        except OSError:
            self._path = None


def _sound(text: str) -> str:
    """The text without halves of characters, which a broken paste may bring and no file can hold."""
    return text.encode("utf-8", "replace").decode()


def _decode(line: bytes) -> str | None:
    try:
        return msgspec.json.decode(line, type=str)
    except msgspec.DecodeError:
        return None
