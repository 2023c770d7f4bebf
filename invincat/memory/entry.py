"""The Memory value. One that is not valid cannot be built (FORMAT "A memory file")."""

import re
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

import msgspec

from invincat.errors import UserError
from invincat.memory.evidence import MAX_EVIDENCE, MAX_QUOTE, Evidence, is_inside, parse_location
from invincat.memory.scope import Scope

MAX_TITLE = 120
MAX_SECTION = 80
MAX_BODY = 4000
# What a model proposes is shorter.
MAX_PROPOSED = 500
MAX_REASON = 300
MAX_LABEL = 120
MAX_LABELS = 32
MAX_PLACE = 1000
# A second may be added to every time (RULES 6.2), and a year has four digits.
MAX_YEAR = 9998

_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff\ufeff]")
_BODY_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff\ufeff]")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
_HEX = re.compile(r"[0-9a-f]{7,64}")
_CONFLICT: Final = re.compile(r"^<{7} .*^={7}$.*^>{7} ", re.MULTILINE | re.DOTALL)
TOMBSTONE: Final = re.compile(r"> (?:Superseded by \[|Archived on )")


class Kind(StrEnum):
    """What sort of thing is believed; a constraint is binding and never cold."""

    CONSTRAINT = "constraint"
    CONVENTION = "convention"
    DECISION = "decision"
    GOTCHA = "gotcha"
    RUNBOOK = "runbook"
    REFERENCE = "reference"
    PREFERENCE = "preference"
    REFUTED = "refuted"


class Confidence(StrEnum):
    """How sure the source was."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Tier(StrEnum):
    """How readily it is injected; each tier is a band of scores."""

    HOT = "hot"
    WARM = "warm"
    COLD = "cold"


class Verdict(StrEnum):
    """What was found about its truth; anything but `valid` asks for cleanup (RULES 4)."""

    VALID = "valid"
    OUTDATED = "outdated"
    SUPERSEDED = "superseded"
    INCONSISTENT = "inconsistent"
    MISLEADING = "misleading"


class Status(StrEnum):
    """Derived from the end register, never stored."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"


BANDS: Final = {Tier.HOT: (70, 100), Tier.WARM: (30, 69), Tier.COLD: (0, 29)}
ACTORS: Final = ("user", "memory-agent", "rules", "import", "hook", "gardener")


class InvalidMemory(UserError):
    """A value that a memory cannot have; `field` names the front matter key (or `body`)."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message, where=field)
        self.field = field
        self.message = message


def tier_of(score: int) -> Tier:
    """The band a score lies in."""
    return next(tier for tier, (low, high) in BANDS.items() if low <= score <= high)


def clamp(score: int, tier: Tier) -> int:
    """The score nearest to `score` inside the band of `tier`."""
    low, high = BANDS[tier]
    return min(max(score, low), high)


def is_ulid(text: str) -> bool:
    """Whether it is a ULID in canonical upper case."""
    return bool(_ULID.fullmatch(text))


def parse_time(text: str) -> datetime:
    """Read `YYYY-MM-DDTHH:MM:SSZ`; ValueError for anything else, fractions and offsets included."""
    if not _TIME.fullmatch(text):
        raise ValueError(f"{text!r} is not a time like 2026-11-29T10:00:00Z")
    return datetime.fromisoformat(text)


def format_time(time: datetime) -> str:
    """RFC 3339, UTC, seconds. The year is padded, which `strftime` leaves to the C library."""
    return f"{time.year:04d}-{time:%m-%dT%H:%M:%S}Z"


def is_actor(text: str) -> bool:
    """Whether it is one of the actors that FORMAT names."""
    return text in ACTORS or bool(re.fullmatch(r"mcp:[A-Za-z0-9][A-Za-z0-9._-]{0,63}", text))


def is_person(actor: str) -> bool:
    """Whether a person stands behind the write: typed by hand, or imported from what people wrote."""
    return actor in {"user", "import"}


def is_model(actor: str) -> bool:
    """Whether what it writes was worded by a model."""
    return actor in {"memory-agent", "gardener"} or actor.startswith("mcp:")


# Values refer to nothing that refers back: without `gc` ten thousand of them cost no sweep.
class Source(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Who said it, where, and on what evidence."""

    actor: str
    session: str | None = None
    anchor: str | None = None
    commit: str | None = None
    branch: str | None = None
    model: str | None = None
    evidence: tuple[Evidence, ...] = ()

    def __post_init__(self) -> None:
        if not is_actor(self.actor):
            raise InvalidMemory("source.actor", f"{self.actor!r} is none of {', '.join(ACTORS)}, mcp:<client>")
        for name in ("session", "anchor", "commit", "branch", "model"):
            check_line(f"source.{name}", getattr(self, name), MAX_LABEL, optional=True)
        if len(self.evidence) > MAX_EVIDENCE:
            raise InvalidMemory("source.evidence", f"at most {MAX_EVIDENCE} items, not {len(self.evidence)}")
        for item in self.evidence:
            _check_evidence(item)


class Unknown(msgspec.Struct, frozen=True, gc=False):
    """A front matter key that this version does not know, with its lines and comments byte for byte."""

    key: str
    text: str


class Memory(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One belief. `body` is without the tombstone, which belongs to the end register (RULES 6.1)."""

    id: str
    title: str
    kind: Kind
    section: str
    scope: Scope
    project: str | None = None
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
    source: Source
    applies_to: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    check: str | None = None
    unknown: tuple[Unknown, ...] = ()
    body: str = ""
    tombstone: str | None = None

    def __post_init__(self) -> None:
        _check_id("id", self.id)
        check_line("title", self.title, MAX_TITLE)
        check_line("section", self.section, MAX_SECTION)
        check_line("project", self.project, MAX_SECTION, optional=True)
        check_line("score_reason", self.score_reason, MAX_REASON, optional=True)
        check_line("check", self.check, MAX_BODY, optional=True)
        for field in ("applies_to", "tags"):
            _check_labels(field, getattr(self, field))
        for pattern in self.applies_to:
            if not is_inside(pattern.removesuffix("/")):
                raise InvalidMemory("applies_to", f"{pattern!r} is not a pattern inside the repository")
        _check_body(self.body)
        self._check_standing()
        self._check_end()

    def _check_standing(self) -> None:
        if isinstance(self.score, bool) or not 0 <= self.score <= 100:
            raise InvalidMemory("score", f"{self.score!r} is not a whole number from 0 to 100")
        low, high = BANDS[self.tier]
        if not low <= self.score <= high:
            raise InvalidMemory("tier", f"{self.tier} is the band {low} to {high}, the score is {self.score}")
        if self.kind is Kind.CONSTRAINT and self.tier is Tier.COLD:
            raise InvalidMemory("tier", "a constraint is never cold")
        if self.project is not None and self.scope is not Scope.USER:
            raise InvalidMemory("project", "only a memory of the user scope can be limited to a project")
        for field in ("created_at", "updated_at", "last_scored_at", "valid_from"):
            _check_time(field, getattr(self, field))

    def _check_end(self) -> None:
        if self.restores < 0:
            raise InvalidMemory("restores", f"{self.restores} is less than 0")
        for field in ("superseded_by", "set_aside"):
            if (target := getattr(self, field)) is not None:
                _check_id(field, target)
                if target == self.id:
                    raise InvalidMemory(field, "a memory cannot succeed itself")
        if self.invalid_at is None:
            if self.superseded_by is not None:
                raise InvalidMemory("superseded_by", "is set although invalid_at is null")
            if self.tombstone is not None:
                raise InvalidMemory("body", "has a tombstone although invalid_at is null")
            return
        _check_time("invalid_at", self.invalid_at)
        if self.invalid_at < self.valid_from:
            raise InvalidMemory("invalid_at", "is before valid_from")
        check_line("body", self.tombstone, MAX_BODY, optional=True)
        # The last line of the file says which of the two it is, so only one reading may be possible.
        last = self.tombstone or self.body.rpartition("\n")[2]
        if bool(TOMBSTONE.match(last)) is not (self.tombstone is not None):
            raise InvalidMemory("body", "its last line must be a tombstone where there is one, and only there")

    @property
    def end_reason(self) -> str | None:
        """Why it ended, as its tombstone says."""
        return (self.tombstone or "").partition(": ")[2] or None

    @property
    def status(self) -> Status:
        """Active means `invalid_at` is null, and nothing else does (RULES 1.1)."""
        if self.invalid_at is None:
            return Status.ACTIVE
        return Status.SUPERSEDED if self.superseded_by else Status.ARCHIVED

    @property
    def is_active(self) -> bool:
        """RULES 1.1."""
        return self.invalid_at is None


def check_line(field: str, value: str | None, most: int, *, optional: bool = False) -> None:
    """Refuse what is empty, padded, of several lines, with control characters, or longer than `most`."""
    if value is None and optional:
        return
    # Most lines are of characters that print, as no control character and no space but the common one does.
    if value and len(value) <= most and value.isprintable() and value[0] != " " != value[-1]:
        return
    if not value or value != value.strip():
        raise InvalidMemory(field, "is empty or has outer space")
    if len(value) > most:
        raise InvalidMemory(field, f"has {len(value)} characters, at most {most} are allowed")
    if found := _CONTROL.search(value):
        raise InvalidMemory(field, f"has the control character U+{ord(found[0]):04X} at {found.start() + 1}")


def _check_body(body: str) -> None:
    if len(body) > MAX_BODY:
        raise InvalidMemory("body", f"has {len(body)} characters, at most {MAX_BODY} are allowed")
    if body != body.strip("\n"):
        raise InvalidMemory("body", "begins or ends with an empty line")
    if found := _BODY_CONTROL.search(body):
        raise InvalidMemory("body", f"has the control character U+{ord(found[0]):04X} at {found.start() + 1}")
    if _CONFLICT.search(body):
        raise InvalidMemory("body", "has the conflict markers of git, so it says two things")


def _check_labels(field: str, labels: tuple[str, ...]) -> None:
    if len(labels) > MAX_LABELS:
        raise InvalidMemory(field, f"at most {MAX_LABELS} items, not {len(labels)}")
    for label in labels:
        check_line(field, label, MAX_LABEL)


def _check_evidence(item: Evidence) -> None:
    check_line("source.evidence.at", item.at, MAX_PLACE)
    check_line("source.evidence.quote", item.quote, MAX_QUOTE, optional=True)
    try:
        parse_location(item.at)
    except ValueError as fault:
        raise InvalidMemory("source.evidence.at", str(fault)) from None
    if item.blob is not None and not _HEX.fullmatch(item.blob):
        raise InvalidMemory("source.evidence.blob", f"{item.blob!r} is not an abbreviated object id")


def _check_id(field: str, value: str) -> None:
    if not is_ulid(value):
        raise InvalidMemory(field, f"{value!r} is not a ULID")


def _check_time(field: str, value: datetime) -> None:
    if value.tzinfo is UTC and not value.microsecond and value.year <= MAX_YEAR:
        return
    if value.utcoffset() is None or value.utcoffset() or value.microsecond:
        raise InvalidMemory(field, f"{value} is not a time in UTC with whole seconds")
    if value.year > MAX_YEAR:
        raise InvalidMemory(field, f"{value} is after the year {MAX_YEAR}")
