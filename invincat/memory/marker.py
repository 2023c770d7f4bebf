"""What stays of a deleted memory: everything but its text, with stamp, hash and reason (RULES 6.3)."""

from datetime import datetime
from typing import Final

import msgspec

from invincat.memory.content import fingerprint
from invincat.memory.entry import Confidence, InvalidMemory, Memory, Tier, Verdict
from invincat.memory.register import text_hash, tick
from invincat.memory.scope import Scope

# The reason of a marker that a purge left: the true one might say what was purged.
PURGED: Final = "purged"


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """The registers of a deleted memory that go on joining. `text` is the hash of the text register.

    `content` is the fingerprint of what it said, by which one who says it again is known. The marker of a purged
    memory beats every text (RULES 6.3) and has neither, which would let one try out texts.
    """

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
    text: str | None = None
    content: str | None = None
    purged: bool = False
    reason: str
    tombstone: str | None = None

    def __post_init__(self) -> None:
        if self.purged is not (self.text is None) or (self.purged and self.content):
            raise InvalidMemory("text", "is the hash of what was deleted, and of what was purged there is none")

    @property
    def path(self) -> str:
        """Where it stands in the tree."""
        return f"deleted/{self.id}.md"


def marker_of(memory: Memory, wanted: str | None, reason: str, now: datetime) -> Marker:
    """The marker that a deletion at `now` leaves; deleting is a write of the text register (RULES 6.2).

    `wanted` is the wanted name of the memory.
    """
    shared = {name: getattr(memory, name) for name in Marker.__struct_fields__ if name in Memory.__struct_fields__}
    shared["updated_at"] = tick(now, memory.updated_at)
    said = fingerprint(memory.title, memory.body)
    return Marker(**shared, text=text_hash(memory, wanted), content=said, reason=reason)


def purged_marker(id: str, scope: Scope, last: Memory | Marker | None, now: datetime) -> Marker:
    """The marker that a purge at `now` leaves: of the last version, if one can be read, nothing that anybody said."""
    if last is None:
        return Marker(
            id=id,
            scope=scope,
            confidence=Confidence.MEDIUM,
            tier=Tier.WARM,
            score=50,
            verdict=Verdict.VALID,
            created_at=now,
            updated_at=now,
            last_scored_at=now,
            valid_from=now,
            purged=True,
            reason=PURGED,
        )
    said = ("text", "content", "score_reason", "tombstone", "purged", "reason", "updated_at")
    kept = {name: getattr(last, name) for name in Marker.__struct_fields__ if name not in said}
    return Marker(**kept, updated_at=tick(now, last.updated_at), purged=True, reason=PURGED)
