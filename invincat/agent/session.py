"""A conversation on disk: `sessions/<ULID>.jsonl`, append-only, one holder at a time (ASSISTANT "Sessions")."""

import os
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
from filelock import FileLock, Timeout

from invincat.errors import ConfigurationError, UserError
from invincat.llm.message import Message
from invincat.memory.entry import format_time, is_ulid
from invincat.paths import make_private

# What reads conversations costs 0.1 s, which no prompt need wait for (lazy imports below).
if TYPE_CHECKING:
    from invincat.context.transcript import Cursor

Said = TypeVar("Said", bound=Message)

_SUFFIX: Final = ".jsonl"


class SessionBusy(UserError):
    """Another process has this conversation open."""


class NoSession(UserError):
    """There is no such conversation."""


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """The first line: where and with which model it began."""

    directory: str
    model: str | None = None


class _Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    at: str
    opened: Opened | None = None
    message: Message | None = None


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Line).decode


class Session:
    """One open conversation. `saving` turns false when the disk refused a line; talking goes on."""

    def __init__(self, path: Path, lock: FileLock, clock: Callable[[], datetime], messages: Iterable[Message]) -> None:
        self._path = path
        self._lock = lock
        self._clock = clock
        self.messages = list(messages)
        self.saving = True

    @property
    def id(self) -> str:
        """Its ULID."""
        return self._path.name.removesuffix(_SUFFIX)

    def append(self, message: Said) -> Said:
        """Add a message, on disk first; the message as it was added, of characters that have bytes."""
        message = _encodable_message(message)
        self._write(_Line(at=format_time(self._clock()), message=message))
        self.messages.append(message)
        return message

    def close(self) -> None:
        """Let others open it."""
        self._lock.release()

    def _write(self, line: _Line) -> None:
        if not self.saving:
            return
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with os.fdopen(descriptor, "ab") as file:
                file.write(_encode(line) + b"\n")
        except OSError:
            self.saving = False


class Sessions:
    """The conversations of one store, in one folder."""

    def __init__(self, folder: Path, clock: Callable[[], datetime], new_id: Callable[[], str]) -> None:
        self._folder = folder
        self._clock = clock
        self._new_id = new_id

    def begin(self, directory: Path, model: str | None) -> Session:
        """A new, empty conversation; ConfigurationError where none can be kept."""
        try:
            make_private(self._folder)
            session = self._hold(self._new_id(), [])
        except OSError as fault:
            what = f"no conversation can be kept there: {fault.strerror}"
            raise ConfigurationError(what, where=str(self._folder), next_step="make it writable") from None
        opened = Opened(directory=_place(directory), model=model)
        session._write(_Line(at=format_time(self._clock()), opened=opened))  # noqa: SLF001
        return session

    def resume(self, id: str) -> Session:
        """Open a conversation to go on with it; NoSession, SessionBusy. A torn last line is dropped."""
        path = self._path(self._find(id))
        session = self._hold(path.name.removesuffix(_SUFFIX), [])
        data = path.read_bytes()
        good = _whole_lines(data)
        if len(good) < len(data):
            with path.open("r+b") as file:
                file.truncate(len(good))
        session.messages = _messages(good)
        return session

    def latest(self, directory: Path) -> str | None:
        """The conversation of this directory that was written to last, of those in which something was said."""
        paths = sorted(self._paths(), key=lambda path: (path.stat().st_mtime_ns, path.name), reverse=True)
        return next((path.name.removesuffix(_SUFFIX) for path in paths if _spoken_in(path, _place(directory))), None)

    def messages(self, id: str) -> list[Message]:
        """The messages of a conversation, open elsewhere or not; NoSession."""
        path = self._path(id)
        if not path.is_file():
            raise NoSession(f"there is no session {id}")
        return _messages(_whole_lines(path.read_bytes()))

    def cursor(self, id: str) -> "Cursor":
        """How far the memory agent has read it."""
        from invincat.context.transcript import Cursor  # noqa: PLC0415 - see above

        try:
            return msgspec.json.decode(self._cursor_path(id).read_bytes(), type=Cursor)
        except (FileNotFoundError, msgspec.DecodeError):
            return Cursor()

    def move_cursor(self, id: str, cursor: "Cursor") -> None:
        """Remember how far it was read; whole or not at all."""
        draft = self._cursor_path(id).with_suffix(".draft")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(cursor))
            os.fsync(file.fileno())
        draft.replace(self._cursor_path(id))

    def _find(self, start: str) -> str:
        found = [path.name.removesuffix(_SUFFIX) for path in self._paths() if path.name.startswith(start.upper())]
        if len(found) != 1:
            what = "there is no session" if not found else "several sessions begin with"
            raise NoSession(f"{what} {start}", next_step="give the id that the session printed")
        return found[0]

    def _hold(self, id: str, messages: Iterable[Message]) -> Session:
        lock = FileLock(self._folder / f"{id}.lock", timeout=0, mode=0o600)
        try:
            lock.acquire()
        except Timeout:
            next_step = "close it there, or begin a new one"
            raise SessionBusy("the session is open in another process", where=id, next_step=next_step) from None
        return Session(self._path(id), lock, self._clock, messages)

    def _paths(self) -> list[Path]:
        ids = (path for path in self._folder.glob(f"*{_SUFFIX}")) if self._folder.is_dir() else ()
        return [path for path in ids if is_ulid(path.name.removesuffix(_SUFFIX))]

    def _path(self, id: str) -> Path:
        return self._folder / f"{id}{_SUFFIX}"

    def _cursor_path(self, id: str) -> Path:
        return self._folder / f"{id}.cursor"


def _whole_lines(data: bytes) -> bytes:
    """Everything up to the last line end: what a kill tore off is no line."""
    return data[: data.rfind(b"\n") + 1]


def _messages(data: bytes) -> list[Message]:
    found = []
    for line in data.split(b"\n"):
        try:
            read = _decode(line) if line else None
        except msgspec.DecodeError:
            continue  # a line of another version is left in the file and out of the conversation
        if read and read.message:
            found.append(read.message)
    return found


def _place(directory: Path) -> str:
    """A directory by one name, however it was reached."""
    return os.path.realpath(directory)


def _spoken_in(path: Path, place: str) -> bool:
    """Whether a conversation belongs to a directory and has a message."""
    with path.open("rb") as file:
        try:
            opened = _decode(file.readline()).opened
        except msgspec.DecodeError:
            return False
        return opened is not None and opened.directory == place and file.readline().endswith(b"\n")


def encodable(text: str) -> str:
    """The text with halves of surrogate pairs joined, or replaced where the other half is missing.

    Models stream them, and terminals and file names bring them; no file and no terminal takes them.
    """
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _encodable_message(message: Said) -> Said:
    try:
        _encode(message)
    except UnicodeEncodeError:
        return msgspec.convert(_encodable_value(msgspec.to_builtins(message)), type(message))
    return message


def _encodable_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _encodable_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable_value(inner) for inner in value]
    return encodable(value) if isinstance(value, str) else value
