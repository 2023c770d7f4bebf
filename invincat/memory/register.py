"""The three registers of a memory (RULES 6.1). Step 6 joins them; the clocks of RULES 6.2 are kept from the start."""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from invincat.memory.entry import Memory

SCORE_KEYS = ("score", "tier", "score_reason", "confidence", "verdict")
END_KEYS = ("invalid_at", "superseded_by", "tombstone", "restores", "set_aside")
FIXED_KEYS = ("id", "scope", "created_at", "valid_from")
CLOCKS = ("updated_at", "last_scored_at")
TEXT_KEYS = tuple(key for key in Memory.__struct_fields__ if key not in {*SCORE_KEYS, *END_KEYS, *FIXED_KEYS, *CLOCKS})

# Markers from elsewhere may give the last second that there is; memories may not (`MAX_YEAR`).
_LAST: Final = datetime(9999, 12, 31, 23, 59, 58, tzinfo=UTC)


def tick(now: datetime, previous: datetime) -> datetime:
    """The stamp of a write: max(now, previous + 1 s), so that no clock goes backwards (RULES 6.2)."""
    return max(now, min(previous, _LAST) + timedelta(seconds=1))


def text_hash(memory: Memory, wanted: str | None) -> str:
    """SHA-256 of the text register, the same for equal values whatever the file looks like.

    The wanted name is of that register (RULES 6.1), and no key of the memory: the path has it.
    """
    values = {"name": wanted, **{key: getattr(memory, key) for key in TEXT_KEYS}}
    return hashlib.sha256(msgspec.json.encode(values, order="sorted")).hexdigest()


def stamped(old: Memory, new: Memory, now: datetime) -> Memory:
    """`new` with the clock of each register that differs from `old` moved on (RULES 6.2)."""
    clocks = {}
    if any(getattr(old, key) != getattr(new, key) for key in TEXT_KEYS):
        clocks["updated_at"] = tick(now, old.updated_at)
    if any(getattr(old, key) != getattr(new, key) for key in SCORE_KEYS):
        clocks["last_scored_at"] = tick(now, old.last_scored_at)
    return msgspec.structs.replace(new, **clocks) if clocks else new
