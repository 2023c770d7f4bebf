"""What killed processes left in a repository, which nobody else would ever remove (LIBRARIES 2 "kill -9").

Of objects: only our writers make such locks (git writes them under other names); one blocks every later writer of the
same bytes until it meets it. Of our refs: our own are healed by the next writer, those of a killed git are not.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

# Seconds after which a lock is nobody's: both kinds are held for milliseconds.
STALE_AFTER: Final = 600.0

_OBJECT_LOCKS: Final = "objects/[0-9a-f][0-9a-f]/*.lock"
_REF_LOCKS: Final = "refs/invincat/**/*.lock"

# Where a person's words stand while they are in an editor, below the state directory.
EDITS: Final = "edits"
# What else is left in a state directory, and how many seconds it may be alive. Who edits may take days.
_FILES: Final = {"pending.tmp": 0.0, "*.purge": STALE_AFTER, "*/*.purge": STALE_AFTER, f"{EDITS}/*": 7 * 86400.0}


def left_in_state(state_dir: Path) -> list[Path]:
    """Files and folders in a state directory that nobody needs any more, sorted; OSError."""
    return sorted(path for pattern, most in _FILES.items() for path, age in _aged(state_dir, pattern) if age > most)


def stale_locks(common_dir: Path) -> list[Path]:
    """Locks of objects and of our refs that are older than `STALE_AFTER`, sorted; OSError."""
    return sorted(path for path, age in _locks(common_dir) if age > STALE_AFTER)


def sweep_locks(common_dir: Path) -> list[Path]:
    """Remove the stale ones and say which; only while holding the writers' lock. OSError."""
    found = stale_locks(common_dir)
    for path in found:
        path.unlink(missing_ok=True)
    return found


def _locks(common_dir: Path) -> Iterator[tuple[Path, float]]:
    """Every lock with its age in seconds."""
    for pattern in (_OBJECT_LOCKS, _REF_LOCKS):
        yield from _aged(common_dir, pattern)


def _aged(folder: Path, pattern: str) -> Iterator[tuple[Path, float]]:
    now = time.time()
    for path in folder.glob(pattern):
        try:
            yield path, now - path.lstat().st_mtime
        except FileNotFoundError:
            continue
