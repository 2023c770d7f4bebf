"""What is asked for: a text, which is data (RULES 8), and filters, which apply before the limit."""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from invincat.memory.content import normalise
from invincat.memory.entry import Kind, Memory
from invincat.memory.naming import section_slug
from invincat.memory.scope import Scope


class Facets(NamedTuple):
    """All of a memory that filters and the prior look at."""

    scope: str
    section: str
    kind: str
    tier: str
    active: bool
    project: str | None


def facets_of(memory: Memory) -> Facets:
    """The facets of a memory as it stands; active is RULES 1.1."""
    return Facets(
        memory.scope.value, memory.section, memory.kind.value, memory.tier.value, memory.is_active, memory.project
    )


@dataclass(frozen=True)
class Query:
    """`text` in anybody's words; at most `limit` hits; None is any. `section` as people write it, or its slug.

    `project` is where it is asked: what is limited to another project is no answer; None is outside of any.
    """

    text: str
    limit: int = 10
    scope: Scope | None = None
    section: str | None = None
    kind: Kind | None = None
    include_retired: bool = False
    project: str | None = None

    def admits(self, facets: Facets) -> bool:
        """Whether a memory with these facets may be in the answer at all."""
        return (
            (self.include_retired or facets.active)
            and facets.project in {None, self.project}
            and self.scope in {None, facets.scope}
            and self.kind in {None, facets.kind}
            and (self.section is None or _is_section(self.section, facets.section))
        )


@lru_cache(maxsize=4096)
def _is_section(wanted: str, section: str) -> bool:
    wanted = normalise(wanted)
    return wanted == normalise(section) or (wanted != "" and wanted == section_slug(section))
