"""Take a text out of what stands beside the objects: logs, conversations, jobs, caches (FORMAT "State directory")."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from filelock import FileLock

from invincat import cache
from invincat.store.base import PATIENCE
from invincat.store.needle import Needle

# Of these a line goes that holds it; of a conversation the words, so that question and answer stay together.
_LOGS: Final = {"journal", "audit.jsonl", "rejected.jsonl", "history"}
_COMMIT: Final = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


def scrub(place: Path, needle: Needle, words: Iterable[str] = (), moved: Mapping[str, str] = _NOTHING) -> int:
    """Clean a state directory, or one file of a person's own; how many files changed. OSError.

    `words` are ids whose log lines go too. `moved` are commits that were written again, old -> new: the journal goes on
    to tell of them, since what came past the gate stays so.
    """
    known = tuple(words)

    def kept(line: str) -> str:
        return "" if drops(line) else _COMMIT.sub(lambda found: moved.get(found[0], found[0]), line)

    def drops(line: str) -> bool:
        return needle.search(line) or any(word in line for word in known)

    changed = _drop_caches(place)
    for path in files_of(place):
        if path.suffix == ".sqlite3":  # of who begins after the purge
            continue
        if path.name in _LOGS:
            changed += _rewrite(path, kept if path.name == "journal" else lambda line: "" if drops(line) else line)
        elif path.parent.name == "queue":
            if needle.search(_text(path)):
                path.unlink(missing_ok=True)
                changed += 1
        else:
            if path.suffix == ".jsonl" and needle.search(_text(path)):
                # First, so that who is killed in between leaves no cleaned conversation to be learned from again.
                _rewrite(path.with_suffix(".cursor"), _without_anchor)
            changed += _rewrite(path, lambda line: _clean(line, needle))
    return changed


def _drop_caches(place: Path) -> int:
    """Delete what is rebuilt at will, while nobody writes to it; who does so later finds out that a purge came."""
    index, parsed = place / "index", place / "parsed"
    found = [folder for folder in (index, parsed) if folder.is_dir() and not folder.is_symlink()]
    if index in found:
        with FileLock(index / "lock", timeout=PATIENCE, mode=0o600):
            for path in (path for path in index.iterdir() if path.name != "lock"):
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    if parsed in found:
        cache.empty(parsed)
    return len(found)


def files_of(place: Path) -> Iterator[Path]:
    """The regular files at or below a place; links are not followed, locks have no content."""
    if place.is_file() and not place.is_symlink():
        yield place
        return
    for folder, _, names in os.walk(place):
        paths = (Path(folder, name) for name in sorted(names))
        yield from (path for path in paths if path.is_file() and not path.is_symlink())


def holders(place: Path, needle: Needle) -> list[Path]:
    """The files that hold it."""
    return [path for path in files_of(place) if needle.search(_text(path))]


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ""


def _clean(line: str, needle: Needle) -> str:
    if not needle.search(line):
        return line
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return needle.sub(line)
    return needle.sub(json.dumps(needle.sub_json(value), ensure_ascii=False, separators=(",", ":"))) + "\n"


def _without_anchor(line: str) -> str:
    """A cursor whose count holds, whatever its messages say from now on (`context.transcript.Cursor`)."""
    try:
        return json.dumps({**json.loads(line), "anchor": ""})
    except (TypeError, ValueError, RecursionError):
        return line


def _rewrite(path: Path, change: Callable[[str], str]) -> bool:
    """Put a file with changed lines in its place; what others append meanwhile is taken along."""
    try:
        old = path.open("rb")
    except FileNotFoundError:
        return False
    with old:
        before = old.read()
        after = _changed(before, change)
        if after == before:
            return False
        draft = path.with_name(f"{path.name}.purge")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(after)
            file.flush()
            os.fsync(descriptor)
        draft.replace(path)
        if late := old.read():
            with path.open("ab") as file:
                file.write(_changed(late, change))
    return True


def _changed(data: bytes, change: Callable[[str], str]) -> bytes:
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    ended = [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    return "".join(map(change, ended)).encode("utf-8", "surrogateescape")
