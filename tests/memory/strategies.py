"""Arbitrary valid memories, with everything that YAML and markdown make hard."""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from invincat.memory.entry import BANDS, Confidence, Kind, Memory, Source, Tier, Unknown, Verdict
from invincat.memory.evidence import Evidence
from invincat.memory.scope import Scope
from tests.memory.factories import ulid

# Texts that some loader takes for something else than a string, or that look like structure.
TRAPS = [
    *("NO", "y", "Null", "true", "off", "1.10", "0x1f", "1e3", "1_000", "12:30:45", ".inf", ".nan", "~", "="),
    *("2026-11-29", "2026-11-29T10:00:00Z", "a: b", "a:", ": a", "a #b", "# a", "- a", "? a", "| a", "> a", "a: 'b'"),
    *("'a'", '"a"', '"', "'", "\\", "a\\nb", "{a: b}", "[a]", "a, b", "&a b", "*a", "!t a", "%d", "@a", "`a`", "<<"),
    *("---", "--- a", "...", "naïve", "日本語。", "é", "ﬁ", "a\u00a0b", "a\u200db", "\U0001f600 smile", "a\u3000b"),
    *("Invincat-Op: delete", "<<<<<<< HEAD", "=======", "> Archived on 2027-01-04: no", "İ", "ß", "null", "a  b"),
]
_LINE_CHARACTERS = st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="\u2028\u2029\ufffe\uffff\ufeff")
_BODY_LINES = st.one_of(
    st.text(_LINE_CHARACTERS, max_size=30),
    st.sampled_from([*TRAPS, "", "---", "```", "    code", "> quote", "* item", "a  ", "\ttab", "+++", "\t", " "]),
)
_INSTANTS = st.integers(0, 315_500_000_000).map(
    lambda seconds: datetime(1, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
)


def lines(most: int) -> st.SearchStrategy[str]:
    """One line of at most `most` characters, never empty, never padded."""
    words = st.text(_LINE_CHARACTERS, min_size=1, max_size=most)
    return st.one_of(words, st.sampled_from(TRAPS)).map(str.strip).filter(lambda text: 0 < len(text) <= most)


BODIES = st.lists(_BODY_LINES, max_size=12).map("\n".join).map(lambda body: body.strip("\n"))
PATHS = st.sampled_from(["a", "src/a b.py", "docs/ä: ö.md", "x#L1", "tests/**", "*.py", "日本/語.md", "commit:a"])
ULIDS = st.integers(0, (1 << 128) - 1).map(ulid)

_PLACES = st.one_of(
    st.builds(
        lambda path, first, more: f"{path}#L{first}-L{first + more}", PATHS, st.integers(1, 99), st.integers(0, 9)
    ),
    st.builds(lambda path, line: f"{path}#L{line}", PATHS, st.integers(1, 99)),
    st.integers(0, 999).map(lambda number: f"turn:{number}"),
    st.sampled_from(["commit:3f2a9c4", "commit:1234567", "url:https://example.org/a?b=c#d"]),
)
EVIDENCE = st.builds(
    Evidence,
    at=_PLACES,
    blob=st.sampled_from([None, "9ab31c0", "1234567", "12e4567"]),
    quote=st.none() | lines(200),
)
SOURCES = st.builds(
    Source,
    actor=st.sampled_from(["user", "memory-agent", "rules", "import", "hook", "gardener", "mcp:cursor"]),
    session=st.none() | ULIDS,
    anchor=st.none() | lines(40),
    commit=st.sampled_from([None, "3f2a9c4", "1234567", "0012345"]),
    branch=st.none() | lines(40),
    model=st.none() | lines(40),
    evidence=st.lists(EVIDENCE, max_size=3).map(tuple),
)
# Keys that this version does not know, as people write them.
UNKNOWN = [
    Unknown("owner", "owner: team   # who\n"),
    Unknown(
        "review", "# a comment\n#  over two lines\nreview:\n  by: [ada, 'bob']\n  note: |\n    # no comment\n\n    x\n"
    ),
    Unknown("x-note", 'x-note: "quoted"\n\n'),
    Unknown("folded", "folded: >-\n  a\n  b\n"),
    Unknown("listed", "listed:\n- a\n- b: c\n"),
]


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    """Any valid memory."""
    kind = draw(st.sampled_from(Kind))
    tier = draw(st.sampled_from([Tier.HOT, Tier.WARM] if kind is Kind.CONSTRAINT else list(Tier)))
    scope = draw(st.sampled_from(Scope))
    own, other = draw(st.lists(ULIDS, min_size=2, max_size=2, unique=True))
    start, stop = sorted(draw(st.tuples(_INSTANTS, _INSTANTS)))
    end = draw(st.sampled_from(["active", "set aside", "archived", "superseded"]))
    is_over = end in {"archived", "superseded"}
    stone = {
        "archived": lines(60).map(lambda why: f"> Archived on 2027-01-04: {why}"),
        "superseded": lines(60).map(lambda why: f"> Superseded by [a](../b/a.md) ({other}) on 2027-01-04: {why}"),
    }
    return Memory(
        id=own,
        title=draw(lines(120)),
        kind=kind,
        section=draw(lines(80)),
        scope=scope,
        project=draw(st.none() | lines(80)) if scope is Scope.USER else None,
        confidence=draw(st.sampled_from(Confidence)),
        tier=tier,
        score=draw(st.integers(*BANDS[tier])),
        score_reason=draw(st.none() | lines(300)),
        verdict=draw(st.sampled_from(Verdict)),
        created_at=draw(_INSTANTS),
        updated_at=draw(_INSTANTS),
        last_scored_at=draw(_INSTANTS),
        valid_from=start,
        invalid_at=stop if is_over else None,
        superseded_by=other if end == "superseded" else None,
        set_aside=other if end == "set aside" else None,
        restores=draw(st.integers(0, 3)),
        source=draw(SOURCES),
        applies_to=tuple(draw(st.lists(PATHS, max_size=3))),
        tags=tuple(draw(st.lists(lines(40), max_size=3))),
        check=draw(st.none() | lines(80)),
        unknown=tuple(draw(st.lists(st.sampled_from(UNKNOWN), max_size=3, unique_by=lambda one: one.key))),
        body=draw(BODIES),
        tombstone=draw(stone[end]) if is_over else None,
    )
