"""What is asked for: a text, which is data (RULES 8), and filters, which apply before the limit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from invincat.memory.content import normalise
from invincat.memory.entry import Kind, Memory, format_time
from invincat.memory.naming import section_slug
from invincat.memory.scope import Scope

# Whether a memory with these patterns, and evidence at these places, is about what is in play.
About = Callable[[tuple[str, ...], Sequence[str]], bool]


class Facets(NamedTuple):
    """All of a memory that filters and the prior look at."""

    scope: str
    section: str
    kind: str
    tier: str
    confidence: str
    active: bool
    project: str | None


def facets_of(memory: Memory) -> Facets:
    """The facets of a memory as it stands; active is RULES 1.1."""
    return Facets(
        memory.scope.value,
        memory.section,
        memory.kind.value,
        memory.tier.value,
        memory.confidence.value,
        memory.is_active,
        memory.project,
    )


class Wanted(NamedTuple):
    """The filters on facets; None is any."""

    retired: bool
    projects: frozenset[str]
    scope: Scope | None
    kind: Kind | None
    section: str | None

    def admits(self, facets: Facets) -> bool:
        """Whether a memory with these facets passes."""
        return (
            (facets.active or self.retired)
            and (facets.project is None or facets.project in self.projects)
            and self.scope in {None, facets.scope}
            and self.kind in {None, facets.kind}
            and (self.section is None or _is_section(self.section, facets.section))
        )


@dataclass(frozen=True)
class Query:
    """`text` in anybody's words; at most `limit` hits; None is any. `section` as people write it, or its slug.

    `projects` is what the project where it is asked is called: what is limited to another one is no answer. `as_of`
    asks for what held then, as known now, retired since or not. `about` tells from patterns and places whether a
    memory is about what is in play, which lifts it.
    """

    text: str
    limit: int = 10
    scope: Scope | None = None
    section: str | None = None
    kind: Kind | None = None
    include_retired: bool = False
    projects: frozenset[str] = frozenset()
    as_of: datetime | None = None
    about: About | None = None

    @property
    def seeks_retired(self) -> bool:
        """Whether what is retired by now may be in the answer."""
        return self.include_retired or self.as_of is not None

    @property
    def wanted(self) -> Wanted:
        """What memories must be to be in the answer at all, whatever they say."""
        return Wanted(self.seeks_retired, self.projects, self.scope, self.kind, self.section)

    def held(self, valid_from: str, invalid_at: str | None) -> bool:
        """Whether `as_of`, where it is asked for, lies in an interval; the end is no part of it (RULES 1.3)."""
        if self.as_of is None:
            return True
        time = format_time(self.as_of)
        return valid_from <= time and (invalid_at is None or time < invalid_at)

    def accepts(self, memory: Memory) -> bool:
        """Whether a memory as it stands may be in the answer."""
        end = format_time(memory.invalid_at) if memory.invalid_at else None
        return self.wanted.admits(facets_of(memory)) and self.held(format_time(memory.valid_from), end)


@lru_cache(maxsize=4096)
def _is_section(wanted: str, section: str) -> bool:
    wanted = normalise(wanted)
    return wanted == normalise(section) or (wanted != "" and wanted == section_slug(section))
