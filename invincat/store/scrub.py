"""Take a text out of what stands beside the objects: logs, conversations, jobs, caches (FORMAT "State directory")."""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from invincat.store.needle import Needle

# Rebuilt at will, so that nobody need look into them.
_CACHES: Final = ("index", "parsed")
# Of these a line goes that holds it; of a conversation the words, so that question and answer stay together.
_LOGS: Final = {"journal", "audit.jsonl", "rejected.jsonl", "history"}


def scrub(place: Path, needle: Needle, words: Iterable[str] = ()) -> int:
    """Clean a state directory, or one file of a person's own; how many files changed. OSError.

    `words` are ids whose log lines go too.
    """
    known = tuple(words)

    def drops(line: str) -> bool:
        return needle.search(line) or any(word in line for word in known)

    changed = 0
    for cache in _CACHES:
        if place.is_dir() and (place / cache).exists():
            shutil.rmtree(place / cache, ignore_errors=True)
            changed += 1
    for path in files_of(place):
        if path.name in _LOGS:
            changed += _rewrite(path, lambda line: "" if drops(line) else line)
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
