"""The state directory beside the objects: lock, pending move, append-only logs (FORMAT "State directory")."""

import json
import os
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from invincat.errors import StoreError
from invincat.memory.entry import format_time
from invincat.store.base import LogName

if TYPE_CHECKING:
    from filelock import FileLock

# Bytes of a log that are read at once from its end.
_TAIL: Final = 4096

# What some readers of lines take for the end of one, and JSON leaves as it is.
_BREAKS: Final = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}

# Seconds after which a ref's lock that is still empty is no living git's.
_EMPTY_LOCK: Final = 0.2


@dataclass(frozen=True)
class Move:
    """A ref that goes from `old` to `new`; None is absent."""

    ref: str
    old: str | None
    new: str | None


class StateDir:
    """`<git common dir>/invincat/`: folders 0700, files 0600; made when first written to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._pending = path / "pending"

    def make(self) -> None:
        """Make the directory if it is not there."""
        if self.path.is_symlink():
            raise StoreError("is a link; our state must stand in the repository itself", where=str(self.path))
        self.path.mkdir(mode=0o700, exist_ok=True)

    def lock(self) -> "FileLock":
        """The lock of all writers of this store; each thread that uses the result contends for itself."""
        from filelock import FileLock  # noqa: PLC0415 - it costs 8 ms, and who only reads takes no lock

        return FileLock(self.path / "lock", mode=0o600)

    def require_plain(self, *names: str) -> None:
        """What stands here under these names, if anything, is a plain file: nothing else is opened. StoreError."""
        for name in names:
            path = self.path / name
            try:
                mode = path.lstat().st_mode
            except FileNotFoundError:
                continue
            if not stat.S_ISREG(mode):
                raise _odd(path)

    def announce(self, move: Move) -> None:
        """Say which move is about to be made, so that whoever comes after a kill can finish it. OSError.

        A journal that cannot be written is found out now, before the ref moves.
        """
        os.close(os.open(self.path / "journal", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600))
        line = f"{move.ref} {move.old or '-'} {move.new or '-'}\n"
        draft = self.path / "pending.tmp"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(line)
        draft.replace(self._pending)

    def announced(self) -> Move | None:
        """The move that a killed writer was making, if any."""
        try:
            words = self._pending.read_text("ascii").split()
        except (FileNotFoundError, UnicodeDecodeError):
            return None
        if len(words) != 3:  # lost power before the words reached the disk: nothing can be concluded
            return None
        ref, old, new = (None if word == "-" else word for word in words)
        return Move(ref or "", old, new)

    def settle(self) -> None:
        """The announced move is made and journaled, or was not made."""
        self._pending.unlink(missing_ok=True)

    def journal(self, move: Move) -> None:
        """Write down a move that was made, with the time of the clock."""
        now = format_time(datetime.now(UTC))
        self.append("journal", {"at": now, "ref": move.ref, "old": move.old, "new": move.new})

    def last_move(self, ref: str | None = None) -> Move | None:
        """The last move in the journal, or the last of one ref."""
        for line in self._backwards("journal"):
            record = _record(line)
            if isinstance(record, dict) and ref in (None, record.get("ref")):
                named, old, new = (record.get(key) for key in ("ref", "old", "new"))
                return Move(str(named), old and str(old), new and str(new))
        return None

    def _backwards(self, log: LogName) -> Iterator[bytes]:
        """The lines of a log, the last first, which is mostly all that is read."""
        try:
            file = (self.path / log).open("rb")
        except FileNotFoundError:
            return
        with file:
            end, size, rest = file.seek(0, os.SEEK_END), _TAIL, b""
            while end:
                start = max(0, end - size)
                file.seek(start)
                rest, *lines = (file.read(end - start) + rest).split(b"\n")
                yield from reversed(lines)
                end, size = start, 4 * size
            yield rest

    def read(self, log: LogName, after: int) -> tuple[list[dict[str, Any]], int]:
        """The records of a log behind so many bytes, and how many bytes there are up to the end of the last line."""
        try:
            self.require_plain(log)
            with (self.path / log).open("rb") as file:
                if file.seek(0, os.SEEK_END) < after:
                    return [], 0
                file.seek(after)
                data = file.read()
        except (FileNotFoundError, NotADirectoryError):  # also where something else is in our place
            return [], 0
        lines = data.split(b"\n")
        found = [record for line in lines[:-1] if isinstance(record := _record(line), dict)]
        return found, after + len(data) - len(lines[-1])

    def append(self, log: LogName, record: Mapping[str, Any]) -> None:
        """One JSON line, in one write; what a full disk cut short is taken back. StoreError."""
        self.make()
        text = json.dumps(dict(record), ensure_ascii=False, separators=(",", ":")).translate(_BREAKS)
        # A lone surrogate becomes its JSON escape.
        line = text.encode("utf-8", "backslashreplace")
        path = self.path / log
        # Not blocking, because somebody may have put a pipe there.
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(path, flags, 0o600)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise _odd(path)
            size = status.st_size
            # A line torn by a power loss must not swallow this one.
            torn = size > 0 and os.lseek(descriptor, size - 1, os.SEEK_SET) >= 0 and os.read(descriptor, 1) != b"\n"
            data = (b"\n" if torn else b"") + line + b"\n"
            written = os.write(descriptor, data)
            if written != len(data):
                os.ftruncate(descriptor, size)
                raise StoreError("the disk is full", where=str(path), next_step="make room and repeat the command")
        finally:
            os.close(descriptor)


def _odd(path: Path) -> StoreError:
    return StoreError("is no plain file", where=str(path), next_step="remove it; it is not ours")


def remove_own_lock(ref_file: Path, new: str) -> None:
    """Remove a ref's lock whose words are, or begin, those that the killed writer would have written."""
    lock = ref_file.with_name(f"{ref_file.name}.lock")
    content = _content(lock)
    if content == b"":  # not yet written to: by the one that was killed, or by a git that is about to
        time.sleep(_EMPTY_LOCK)
        content = _content(lock)
    if content is not None and f"{new}\n".encode().startswith(content):
        lock.unlink(missing_ok=True)


def _record(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):  # torn by a power loss, or none of ours
        return None


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
