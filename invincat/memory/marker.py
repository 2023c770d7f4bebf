"""What stays of a deleted memory: everything but its text, with stamp, hash and reason (RULES 6.3)."""

from datetime import datetime

import msgspec

from invincat.memory.entry import Confidence, Memory, Tier, Verdict
from invincat.memory.register import text_hash, tick
from invincat.memory.scope import Scope


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """The registers of a deleted memory that go on joining. `text` is the hash of the text register."""

    id: str
    scope: Scope
    confidence: Confidence
    tier: Tier
    score: int
    score_reason: str | None = None
    verdict: Verdict
    created_at: datetime
    updated_at: datetime
    last_scored_at: datetime
    valid_from: datetime
    invalid_at: datetime | None = None
    superseded_by: str | None = None
    set_aside: str | None = None
    restores: int = 0
    text: str
    reason: str
    tombstone: str | None = None

    @property
    def path(self) -> str:
        """Where it stands in the tree."""
        return f"deleted/{self.id}.md"


def marker_of(memory: Memory, reason: str, now: datetime) -> Marker:
    """The marker that a deletion at `now` leaves; deleting is a write of the text register (RULES 6.2)."""
    shared = {name: getattr(memory, name) for name in Marker.__struct_fields__ if name in Memory.__struct_fields__}
    shared["updated_at"] = tick(now, memory.updated_at)
    return Marker(**shared, text=text_hash(memory), reason=reason)
