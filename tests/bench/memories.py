"""Memories as a project of some years would have them, the same for the same seed."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from ulid import ULID

from invincat.memory.entry import Confidence, Kind, Memory, Source, Verdict, tier_of
from invincat.memory.evidence import Evidence, file_location
from invincat.memory.naming import derive_name, memory_path
from invincat.memory.scope import Scope
from tests.bench.vocabulary import (
    ADJECTIVES,
    GLOBS,
    IDENTIFIERS,
    NOUNS,
    PLACES,
    SECTIONS,
    SENTENCES,
    TAGS,
    VERBS,
)

BEGIN: Final = datetime(2024, 1, 8, 9, 0, tzinfo=UTC)
# The files of the code repository, which evidence points at.
CODE_FILES: Final = tuple(f"src/app/module_{number:02d}.py" for number in range(30))
CODE_LINES: Final = 40
RETIRED_SHARE: Final = 0.08
QUERY_TERMS: Final = 4


def code_line(path: str, number: int) -> str:
    """Line `number` (from 1) of a file of the code repository."""
    chance = random.Random(f"{path}:{number}")
    return f"{chance.choice(NOUNS)}_{number} = {chance.choice(VERBS)}({chance.choice(NOUNS)!r})"


def make_memories(count: int, sections: int, seed: int = 1) -> dict[str, Memory]:
    """`count` memories in so many sections, by path in the tree; names are unique."""
    chance = random.Random(seed)
    made: dict[str, Memory] = {}
    names: set[str] = set()
    while len(made) < count:
        title = make_title(chance)
        name = derive_name(title)
        if name in names:
            continue
        names.add(name)
        memory = _memory(chance, title, SECTIONS[len(made) % sections], BEGIN + timedelta(minutes=17 * len(made)))
        made[memory_path(memory.section, name)] = memory
    return made


def make_title(chance: random.Random) -> str:
    """A claim of some six to nine words."""
    nouns = chance.sample(NOUNS, 2)
    place = chance.choice(PLACES).strip()
    verb, adjectives = chance.choice(VERBS), chance.sample(ADJECTIVES, 2)
    return f"{verb} the {adjectives[0]} {nouns[0]} of {adjectives[1]} {nouns[1]} {place}".capitalize()


def make_body(chance: random.Random) -> str:
    """Two to six sentences, one a line."""
    return "\n".join(_sentence(chance, form) for form in chance.sample(SENTENCES, chance.randint(2, 6)))


def make_queries(count: int, seed: int = 2) -> Iterator[str]:
    """Questions of four words, two of which tell much and two little."""
    chance = random.Random(seed)
    for _ in range(count):
        nouns = chance.sample(NOUNS, 2)
        yield f"{chance.choice(VERBS)} {nouns[0]} {chance.choice(ADJECTIVES)} {nouns[1]}"


def _sentence(chance: random.Random, form: str) -> str:
    return form.format(
        noun=chance.choice(NOUNS),
        noun2=chance.choice(NOUNS),
        adjective=chance.choice(ADJECTIVES),
        verb=chance.choice(VERBS),
        place=chance.choice(PLACES).strip(),
        identifier=chance.choice(IDENTIFIERS),
        number=chance.randint(2, 90),
    )


def _memory(chance: random.Random, title: str, section: str, at: datetime) -> Memory:
    score = chance.randint(30, 69) if chance.random() < 0.85 else chance.randint(70, 95)
    ended = at + timedelta(days=30) if chance.random() < RETIRED_SHARE else None
    return Memory(
        id=str(ULID.from_datetime(at))[:10] + "".join(chance.choices("0123456789ABCDEFGHJKMNPQRSTVWXYZ", k=16)),
        title=title,
        kind=chance.choice(list(Kind)),
        section=section,
        scope=Scope.PROJECT,
        confidence=chance.choice(list(Confidence)),
        tier=tier_of(score),
        score=score,
        score_reason="standing rule" if chance.random() < 0.4 else None,
        verdict=Verdict.VALID,
        created_at=at,
        updated_at=at,
        last_scored_at=at,
        valid_from=at,
        invalid_at=ended,
        source=_source(chance),
        applies_to=tuple(chance.sample(GLOBS, chance.randint(0, 2))),
        tags=tuple(chance.sample(TAGS, chance.randint(0, 3))),
        body=make_body(chance),
        tombstone=f"> Archived on {ended:%Y-%m-%d}: nobody needs it since the move" if ended else None,
    )


def _source(chance: random.Random) -> Source:
    return Source(
        actor=chance.choice(("user", "memory-agent", "import")),
        commit=f"{chance.getrandbits(28):07x}",
        branch=chance.choice(("main", "feature/markers", "fix/timeouts")),
        evidence=tuple(_evidence(chance) for _ in range(chance.randint(0, 2))),
    )


def _evidence(chance: random.Random) -> Evidence:
    path, line = chance.choice(CODE_FILES), chance.randint(1, CODE_LINES)
    return Evidence(at=file_location(path, line, line), quote=code_line(path, line))
