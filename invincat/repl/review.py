"""Held proposals, put to the person one at a time: one keypress at an empty prompt decides."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from invincat.repl.style import BLANK, Line, Paint
from invincat.review import Waiting

# A key that is pressed in the same moment in which an offer appears was meant for something else.
ARMED_AFTER: Final = 0.6
# A word that begins with one of the keys goes on within this time; a decision stands alone.
ALONE_FOR: Final = 0.35
NO_REASON: Final = "rejected at the prompt"


class Decision(StrEnum):
    """What a person can say of a proposal."""

    ACCEPT = "accept"
    REJECT = "reject"
    LATER = "later"


KEYS: Final[Mapping[str, Decision]] = {"a": Decision.ACCEPT, "r": Decision.REJECT, "l": Decision.LATER}


@dataclass(frozen=True)
class Offer:
    """A proposal to decide: its id, and what it would change, on one line."""

    id: str
    text: str
    details: Waiting | None = None


class Offers:
    """The proposals that wait for a key, the oldest first. Times are seconds of one clock, given by the caller."""

    def __init__(self) -> None:
        self._waiting: list[Offer] = []
        self._armed_at = 0.0
        self._of = 0
        self.is_review = False

    @property
    def current(self) -> Offer | None:
        """The proposal that a key would decide."""
        return self._waiting[0] if self._waiting else None

    @property
    def count(self) -> tuple[int, int]:
        """Which one of how many the current one is."""
        return self._of - len(self._waiting) + 1, self._of

    def is_armed(self, now: float) -> bool:
        """Whether a key decides."""
        return bool(self._waiting) and now >= self._armed_at

    def add(self, offer: Offer, now: float) -> None:
        """One more that was held just now."""
        if all(offer.id != other.id for other in self._waiting):
            if not self._waiting:
                self._of, self._armed_at = 0, now + ARMED_AFTER
            self._waiting.append(offer)
            self._of += 1

    def review(self, waiting: list[Waiting], now: float) -> None:
        """Go through these, on the person's own wish."""
        self._waiting = [Offer(held.id, "; ".join(held.changes), held) for held in waiting]
        self._of, self._armed_at, self.is_review = len(waiting), now, True

    def settle(self) -> Offer | None:
        """The current one, which is decided now; the next takes its place."""
        settled = self._waiting.pop(0) if self._waiting else None
        self.is_review &= bool(self._waiting)
        return settled

    def put_off(self) -> None:
        """All of them later: `/review` finds them again."""
        self._waiting.clear()
        self.is_review = False


def hint(offers: Offers) -> str:
    """The line above the prompt that says which keys decide; empty without an offer."""
    if offers.current is None:
        return ""
    number, of = offers.count
    place = f"{number} of {of}: " if of > 1 else ""
    return f"{place}a accept, r reject, l later  {offers.current.text}"


def details(paint: Paint, waiting: Waiting) -> list[Line]:
    """What there is to know of a held proposal."""
    origin = f"{waiting.scope} memory, proposed by {waiting.actor or 'nobody known'}, {waiting.since[:10]}"
    return [
        BLANK,
        paint.line(f"{waiting.id}  {origin}", "dim"),
        *(paint.indented(change, "bold") for change in waiting.changes),
        paint.indented(f"waits: {waiting.reason or 'no reason was given'}"),
    ]
