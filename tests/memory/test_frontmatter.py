"""A memory file's text to a Memory and back, byte for byte (FORMAT "A memory file")."""

import json
from typing import Any

import frontmatter as python_frontmatter
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from invincat.memory.entry import Kind, Memory, Source, Tier, Unknown, format_time
from invincat.memory.evidence import Evidence
from invincat.memory.frontmatter import KEYS, parse, parse_marker, render, render_marker, rewrite
from invincat.memory.handler import MemoryHandler
from invincat.memory.marker import marker_of
from invincat.memory.scope import Scope
from invincat.memory.yaml_scan import MalformedFile
from tests.memory.factories import NOW, ended, memory, quick, ulid
from tests.memory.strategies import TRAPS, UNKNOWN, memories

CANONICAL = """\
---
id: 01JDXQ6T3M9V0K8Y2W5R7N4B1C
title: Run the tests with marker-based selection
kind: convention
section: Testing
scope: project
confidence: high
tier: hot
score: 80
score_reason: stated by the maintainer in review
verdict: valid
created_at: 2026-11-29T10:00:00Z
updated_at: 2026-11-29T10:00:00Z
last_scored_at: 2026-11-29T10:00:00Z
valid_from: 2026-11-29T10:00:00Z
invalid_at: 2027-01-04T08:00:00Z
superseded_by: 01JF0W3E7Q8R9S0T1V2W3X4Y5Z
source:
  actor: memory-agent
  session: 01JDXPZ3V6C8A1B2D3E4F5G6H7
  anchor: turn:14
  commit: 3f2a9c4
  branch: feature/markers
  model: gpt-5-mini
  evidence:
  - at: pyproject.toml#L41-L47
    blob: 9ab31c0
    quote: addopts = "-m 'not slow'"
  - at: turn:14
    quote: from now on we select tests by marker
applies_to: ["tests/**", "pyproject.toml"]
tags: [pytest]
---
Why, and what to do; markdown.

> Superseded by [use-nox](../testing/use-nox.md) (01JF0W3E7Q8R9S0T1V2W3X4Y5Z) on 2027-01-04: nox drives the matrix now
"""


# --- round trips ---


def test_the_example_of_the_format_is_canonical() -> None:
    """FORMAT: what its example shows is what we write."""
    read = parse(CANONICAL)
    assert render(read) == CANONICAL
    assert read.body == "Why, and what to do; markdown."
    assert read.tombstone is not None
    assert read.tombstone.startswith("> Superseded by [use-nox]")


@quick
@given(memories())
def test_parse_gives_back_what_render_wrote(made: Memory) -> None:
    """FORMAT: any valid memory survives the file."""
    text = render(made)
    assert parse(text) == made
    assert parse(text.encode()) == made
    assert render(parse(text)) == text


@quick
@given(memories())
def test_a_file_ends_with_one_newline_and_has_its_keys_in_order(made: Memory) -> None:
    """FORMAT: UTF-8, LF, one newline at the end, keys in the order of the table."""
    text = render(made)
    assert text.endswith("\n")
    assert "\r" not in text
    keys = [key for key in MemoryHandler().load(MemoryHandler().split(text)[0]) if key in KEYS]
    assert keys == [key for key in KEYS if key in keys]
    assert {"invalid_at", "superseded_by"} <= set(keys)


@quick
@given(memories())
def test_every_loader_reads_the_same_strings(made: Memory) -> None:
    """FORMAT "Canonical YAML": a scalar is plain only where every YAML loader reads it as a string."""
    front, _ = MemoryHandler().split(render(replace(made, unknown=())))
    ours = MemoryHandler().load(front)
    assert strings(yaml.load(front, Loader=yaml.CBaseLoader)) == strings(ours)
    for loader in (yaml.SafeLoader, yaml.CSafeLoader):
        theirs = yaml.load(front, Loader=loader)
        assert {key: type(theirs[key]) for key in TEXTS if key in theirs} == dict.fromkeys(TEXTS & theirs.keys(), str)
        for key in TEXTS | {"tags", "applies_to"}:
            assert theirs.get(key) == ours.get(key)
        source, expected = theirs["source"], made.source
        for key in ("actor", "anchor", "branch", "model"):
            assert source.get(key) == getattr(expected, key)
        assert [item["at"] for item in source.get("evidence", [])] == [item.at for item in expected.evidence]
        assert [item.get("quote") for item in source.get("evidence", [])] == [one.quote for one in expected.evidence]


@pytest.mark.parametrize("trap", sorted({text for text in TRAPS if text.strip()}))
def test_what_looks_like_something_else_stays_text(trap: str) -> None:
    """FORMAT "Canonical YAML": in every place where text may stand."""
    quote = Evidence(at="turn:1", quote=trap)
    source = Source(actor="user", anchor=trap, branch=trap, model=trap, evidence=(quote,))
    made = memory(
        title=trap,
        section=trap,
        score_reason=trap,
        check=trap,
        tags=(trap,),
        scope=Scope.USER,
        project=trap,
        source=source,
    )
    made = replace(made, body=trap)
    assert parse(render(made)) == made
    front = MemoryHandler().split(render(made))[0]
    for loader in (yaml.SafeLoader, yaml.CSafeLoader, yaml.BaseLoader, yaml.CBaseLoader):
        read = yaml.load(front, Loader=loader)
        assert [read[key] for key in ("title", "section", "score_reason", "check", "project")] == [trap] * 5
        assert read["tags"] == [trap]
        assert [read["source"][key] for key in ("anchor", "branch", "model")] == [trap] * 3
        assert read["source"]["evidence"][0]["quote"] == trap


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Run it", "Run it"),
        ("naïve, [x] {y} & 'z' \"q\" * !", "naïve, [x] {y} & 'z' \"q\" * !"),
        ("日本語。", "日本語。"),
        ("a:b", "a:b"),
        ("a: b", '"a: b"'),
        ("a #b", '"a #b"'),
        ("a:", '"a:"'),
        ("a\u00a0b", '"a\u00a0b"'),
        ("a\u200db", '"a\u200db"'),
        ("a\\b", "a\\b"),
        ("1.10", '"1.10"'),
        ("- a", '"- a"'),
        ('"a"', '"\\"a\\""'),
        ("Null", '"Null"'),
        ("nullify", "nullify"),
    ],
)
def test_a_scalar_is_written_in_one_way(text: str, written: str) -> None:
    """FORMAT "Canonical YAML": plain where it is safe and printable, else as JSON with Unicode left as it is."""
    assert f"\ntitle: {written}\n" in render(memory(title=text))


@pytest.mark.parametrize(
    ("tag", "written"), [("nox", "nox"), ("a-1", "a-1"), ("Nox", '"Nox"'), ("a b", '"a b"'), ("no", '"no"')]
)
def test_an_item_of_a_list_is_written_in_one_way(tag: str, written: str) -> None:
    """FORMAT "Canonical YAML": plain only as `[a-z][a-z0-9-]*`, and as a string."""
    assert f"\ntags: [{written}]\n" in render(memory(tags=(tag,)))


TEXTS = {"title", "kind", "section", "scope", "project", "score_reason", "check", "confidence", "tier", "verdict"}


def strings(value: Any) -> Any:
    """Null as `CBaseLoader` shows it."""
    if isinstance(value, dict):
        return {key: strings(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [strings(inner) for inner in value]
    return "null" if value is None else value


def test_the_largest_memory_can_be_read_back() -> None:
    """FORMAT: what may be written may be read, also where every character takes four bytes."""
    wide = "\U00020000"
    made = memory(
        title=wide * 120,
        section=wide * 80,
        score_reason=wide * 300,
        check=wide * 4000,
        body=wide * 4000,
        tags=tuple(f"{n}{wide * 110}" for n in range(32)),
        applies_to=tuple(f"{n}{wide * 110}" for n in range(32)),
    )
    assert parse(render(made).encode()) == made


@quick
@given(memories(), st.text(max_size=40))
def test_a_marker_survives_its_file(made: Memory, reason: str) -> None:
    """RULES 6.3: everything but the text is kept in the marker."""
    marker = marker_of(made, "x", " ".join(reason.split()) or "wrong", NOW)
    if any(not (char.isprintable() or char.isspace()) for char in marker.reason):
        return
    text = render_marker(marker)
    assert parse_marker(text) == marker
    assert (
        not {"title", "section", "kind", "tags", "source"} & MemoryHandler().load(MemoryHandler().split(text)[0]).keys()
    )


def test_python_frontmatter_reads_our_files_through_our_handler() -> None:
    """FORMAT: users of python-frontmatter can load our files."""
    metadata, body = python_frontmatter.parse(CANONICAL, handler=MemoryHandler())
    assert metadata["title"] == "Run the tests with marker-based selection"
    assert body.startswith("Why, and what to do")


# --- rewriting ---


def spellings(key: str, made: Memory) -> list[str]:
    """The lines of one key, spelled as different people would."""
    canonical = MemoryHandler().load(MemoryHandler().split(render(made))[0])
    value = canonical.get(key)
    plain = render(made).split(f"\n{key}:", 1)[1].split("\n", 1)[0] if key in canonical else ""
    if value is None:
        return [f"{key}: null\n", f"{key}: ~\n", f"{key}:\n"]
    if key == "source":
        return [_nested(made), f"source: {json.dumps(value, ensure_ascii=False)}\n"]
    if isinstance(value, list):
        quoted = [json.dumps(item, ensure_ascii=False) for item in value]
        blocks = "".join(f"  - {item}   # item\n" for item in quoted)
        return [f"{key}:{plain}\n", f"{key}:\n{blocks}", f"{key}: [\n  {', '.join(quoted)}\n  ]\n"]
    double = json.dumps(value, ensure_ascii=False)
    single = "'" + value.replace("'", "''") + "'"
    return [
        f"{key}:{plain}\n",
        f"{key}:   {double}\n",
        f"{key}: {single}  # why so\n",
        f'"{key}": {double}\n',
        f"{key}: |-\n    {value}\n",
        f"{key}: >-\n  {value}\n\n\n",
    ]


def _nested(made: Memory) -> str:
    front = MemoryHandler().split(render(replace(made, unknown=())))[0]
    lines = front.split("\nsource:\n", 1)[1].split("\n")
    inner = list(lines[: next(i for i, line in enumerate([*lines, "x"]) if not line.startswith("  "))])
    return "source:\n" + "".join(f"{line}\n" for line in inner)


def differing(one: Memory, other: Memory) -> dict[str, Any]:
    """The values in which two memories differ, unknown keys aside."""
    keys = [key for key in Memory.__struct_fields__ if key != "unknown"]
    return {key: (getattr(one, key), getattr(other, key)) for key in keys if getattr(one, key) != getattr(other, key)}


HEADS = ["", "", "# about the next key\n", "# two\n#   lines\n"]
TAILS = ["", "", "\n", "\n# stands alone\n\n", "# at the end\n"]


@st.composite
def messy(draw: st.DrawFn) -> tuple[str, list[tuple[str, str]], Memory]:
    """A file in odd order and spelling, with comments and unknown keys; its parts by key; its memory."""
    made = draw(memories())
    made = replace(made, unknown=())
    present = list(MemoryHandler().load(MemoryHandler().split(render(made))[0]))
    blocks = [(key, draw(st.sampled_from(spellings(key, made)))) for key in present]
    blocks += [(one.key, one.text) for one in draw(st.lists(st.sampled_from(UNKNOWN), max_size=4, unique=True))]
    parts: list[tuple[str, str]] = []
    for key, text in draw(st.permutations(blocks)):
        parts += [("", draw(st.sampled_from(HEADS))), (key, text), ("", draw(st.sampled_from(TAILS)))]
    body = draw(st.sampled_from(["", "\n", "\n\n"])) + "\n\n".join(p for p in (made.body, made.tombstone) if p)
    file = f"---\n{''.join(text for _, text in parts)}---\n{body}{draw(st.sampled_from(['', chr(10), chr(10) * 3]))}"
    return file, parts, made


@quick
@given(messy())
def test_rewriting_an_unchanged_memory_is_the_identity(case: tuple[str, list[tuple[str, str]], Memory]) -> None:
    """FORMAT: a file that is rewritten changes only the lines of the keys that changed."""
    file, _, made = case
    read = parse(file)
    assert differing(replace(read, unknown=()), made) == {}
    assert rewrite(file, read) == file


CHANGES: dict[str, Any] = {
    "title": "Another title: with a colon",
    "score_reason": "heard again",
    "section": "Elsewhere",
    "tags": ("new", "Two Words"),
    "applies_to": ("src/**",),
    "updated_at": NOW,
    "restores": 7,
    "check": "nox -l",
    "body": "Another body\n\n---\n\n> Archived on a whim",
}


@quick
@given(messy(), st.sets(st.sampled_from(sorted(CHANGES)), min_size=1), st.booleans())
def test_rewriting_keeps_every_other_line_byte_for_byte(
    case: tuple[str, list[tuple[str, str]], Memory], chosen: set[str], emptied: bool
) -> None:
    """FORMAT: unknown keys and comments stay byte for byte, as do the lines of every key that is as it was."""
    file, parts, _ = case
    read = parse(file)
    changes = {key: CHANGES[key] for key in chosen}
    if emptied:
        changes |= {"tags": (), "check": None}
    changed = replace(read, **changes)
    text = rewrite(file, changed)
    assert differing(parse(text), changed) == {}
    assert [(one.key) for one in parse(text).unknown] == [one.key for one in read.unknown]
    front = MemoryHandler().split(text)[0]
    at = 0
    for key, part in parts:
        if key in KEYS and getattr(changed, key) != getattr(read, key):
            continue
        found = front.find(part, at)
        assert found >= 0, f"lost {part!r} in\n{front}"
        at = found + len(part)
    assert rewrite(text, changed) == text


def test_a_new_key_comes_where_the_canonical_order_has_it() -> None:
    """FORMAT: keys in this order; unknown keys after the known ones."""
    old = memory(unknown=(Unknown("owner", "# who\nowner: team\n"),))
    text = rewrite(render(old), replace(old, tags=("nox",), score_reason="why"))
    assert text == render(replace(old, tags=("nox",), score_reason="why"))


def test_a_tombstone_keeps_the_bytes_of_the_body() -> None:
    """RULES 1.5: the tombstone is appended to the full body, whatever white space that has."""
    old = memory(body="A  \n\n\n```\ncode\n```\nlast  ")
    file = render(old).replace("---\nA  ", "---\n\n\nA  ")
    text = rewrite(file, ended(old))
    assert text.removesuffix("\n\n> Archived on 2026-11-29: unsure\n").endswith(
        "---\n\n\nA  \n\n\n```\ncode\n```\nlast  "
    )
    assert parse(text) == ended(old)


def test_a_body_may_end_like_a_tombstone() -> None:
    """RULES 6.1: only the last line of an ended memory is its tombstone."""
    old = memory(body="See:\n\n> Archived on 2020-01-01: a quotation")
    assert parse(render(old)) == old
    assert parse(render(ended(old))) == ended(old)


# --- what is refused ---


def with_line(old: str, new: str) -> str:
    """The canonical file with one text replaced; it must be there."""
    assert old in CANONICAL
    return CANONICAL.replace(old, new, 1)


LAUGHS = "a: &a [x]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\n"
BAD_FILES = {
    "empty": ("", 1),
    "no front matter": ("just text\n", 1),
    "byte order mark": ("\ufeff" + CANONICAL, 1),
    "CRLF": (CANONICAL.replace("\n", "\r\n"), 1),
    "one CR in the body": (with_line("Why, and", "Why,\r and"), 34),
    "unclosed fence": (CANONICAL.replace("\n---\n", "\n"), 1),
    "fence with a space": ("--- \n" + CANONICAL[4:], 1),
    "TOML": ("+++\ntitle = 'x'\n+++\n", 1),
    "JSON": ('{"title": "x"}\n', 1),
    "list at the top": ("---\n- a\n- b\n---\n", 2),
    "scalar at the top": ("---\njust words\n---\n", 2),
    "flow mapping at the top": ("---\n{id: 1, title: x}\n---\n", 2),
    "flow mapping over lines": ("---\n{\nid: 1\n}\n---\n", 2),
    "indented mapping": ("---\n  id: 1\n  title: x\n---\n", 2),
    "explicit key": (with_line("kind: convention\n", "? kind\n: convention\n"), 4),
    "directive": ("---\n%YAML 1.1\n" + CANONICAL[4:], 3),
    "explicit document": (with_line("---\nid", "---\n--- \nid"), 2),
    "document end": (with_line("tags: [pytest]\n", "tags: [pytest]\n...\n"), 33),
    "nothing between the fences": ("---\n---\nbody\n", 2),
    "alias bomb": (with_line("---\nid", f"---\n{LAUGHS}id"), 2),
    "alias": (with_line("kind: convention", "kind: *x"), 4),
    "anchor": (with_line("kind: convention", "kind: &x convention"), 4),
    "anchor on a key": (with_line("kind: convention", "&x kind: convention"), 4),
    "tag": (with_line("score: 80", "score: !!int 80"), 9),
    "python tag": (with_line("score: 80", "score: !!python/object/apply:os.system [ls]"), 9),
    "key twice": (with_line("kind: convention\n", "kind: convention\nkind: gotcha\n"), 5),
    "inner key twice": (with_line("  actor: memory-agent\n", "  actor: user\n  actor: user\n"), 20),
    "key that is a list": (with_line("kind: convention", "[a]: convention"), 4),
    "conflict marker": (with_line("score: 80\n", "<<<<<<< ours\nscore: 80\n=======\nscore: 81\n>>>>>>> b\n"), 9),
    "conflict marker inside source": (with_line("  anchor: turn:14\n", "<<<<<<< ours\n  anchor: turn:14\n"), 21),
    "deep nesting": (with_line("tags: [pytest]", f"x: {'[' * 50}{']' * 50}"), 32),
    "very deep nesting": (with_line("tags: [pytest]", f"x: {'[' * 20000}"), 32),
    "tab as indent": (with_line("  actor: memory-agent", "\tactor: memory-agent"), 19),
    "control character": (with_line("convention", "conv\x07ention"), 4),
    "unclosed quote": (render(memory()).replace("title: Run", 'title: "Run'), 3),
    "title is null": (with_line("title: Run the tests with marker-based selection", "title: null"), 3),
    "title is a list": (with_line("title: Run the tests with marker-based selection", "title: [a]"), 3),
    "title is empty": (with_line("title: Run the tests with marker-based selection", 'title: ""'), 3),
    "title of two lines": (with_line("title: Run the", 'title: "Run\\nthe"\nx: Run the'), 3),
    "title too long": (with_line("title: Run", f"title: {'Run' * 50}"), 3),
    "unknown kind": (with_line("kind: convention", "kind: rule"), 4),
    "unknown tier": (with_line("tier: hot", "tier: tepid"), 8),
    "tier in capitals": (with_line("tier: hot", "tier: HOT"), 8),
    "tier beside the score": (with_line("tier: hot", "tier: cold"), 8),
    "score out of range": (with_line("score: 80", "score: 101"), 9),
    "negative score": (with_line("score: 80", "score: -1"), 9),
    "score with a fraction": (with_line("score: 80", "score: 80.0"), 9),
    "score in octal": (with_line("score: 80", "score: 0o120"), 9),
    "infinite score": (with_line("score: 80", "score: .inf"), 9),
    "infinity in words": (with_line("score: 80", "score: Infinity"), 9),
    "unknown verdict": (with_line("verdict: valid", "verdict: fine"), 11),
    "date without time": (with_line("created_at: 2026-11-29T10:00:00Z", "created_at: 2026-11-29"), 12),
    "time with offset": (with_line("created_at: 2026-11-29T10:00:00Z", "created_at: 2026-11-29T10:00:00+01:00"), 12),
    "no such day": (with_line("created_at: 2026-11-29T10:00:00Z", "created_at: 2026-02-30T10:00:00Z"), 12),
    "a time that cannot tick": (with_line("created_at: 2026-11-29", "created_at: 9999-12-31"), 12),
    "end before the start": (with_line("invalid_at: 2027", "invalid_at: 2025"), 16),
    "successor of the living": (with_line("invalid_at: 2027-01-04T08:00:00Z", "invalid_at: null"), 17),
    "successor is no id": (with_line("superseded_by: 01JF0W3E7Q8R9S0T1V2W3X4Y5Z", "superseded_by: use-nox"), 17),
    "lower case id": (with_line("id: 01JDXQ6T3M9V0K8Y2W5R7N4B1C", "id: 01jdxq6t3m9v0k8y2w5r7n4b1c"), 2),
    "source is text": (with_line("source:\n  actor: memory-agent\n", "source: me\nx:\n  actor: y\n"), 18),
    "unknown actor": (with_line("actor: memory-agent", "actor: somebody"), 18),
    "unknown key in source": (with_line("  actor: memory-agent\n", "  actor: user\n  trust: high\n"), 18),
    "no actor": (with_line("  actor: memory-agent\n", ""), 18),
    "evidence outside": (with_line("at: pyproject.toml#L41-L47", "at: ../x#L1"), 18),
    "tags are text": (with_line("tags: [pytest]", "tags: pytest"), 32),
    "a tag is null": (with_line("tags: [pytest]", "tags: [null]"), 32),
    "pattern outside": (with_line('"tests/**"', '"/etc/**"'), 31),
    "no tombstone line": (with_line("\n> Superseded by [use-nox]", "\n\x00> Superseded by [use-nox]"), 34),
    "a megabyte": (CANONICAL + "x" * 1_000_000, 0),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_refused_with_its_line(name: str) -> None:
    """FORMAT, LIBRARIES 5: strict about YAML; the error says on which line."""
    text, line = BAD_FILES[name]
    with pytest.raises(MalformedFile) as caught:
        parse(text.encode("utf-8", "surrogatepass"))
    assert (caught.value.line, str(caught.value)) == (line, str(caught.value))


@pytest.mark.parametrize("key", [key for key in KEYS if f"\n{key}:" in CANONICAL and key not in {"tags", "applies_to"}])
def test_a_missing_key_is_named(key: str) -> None:
    """FORMAT: optional keys may be left out, others not; `invalid_at` and `superseded_by` are always there."""
    front, rest = MemoryHandler().split(CANONICAL)
    lines = front.splitlines(keepends=True)
    start = next(n for n, line in enumerate(lines) if line.startswith(f"{key}:"))
    stop = next(n for n in range(start + 1, len(lines)) if not lines[n].startswith(" "))
    text = f"---\n{''.join(lines[:start] + lines[stop:])}---\n{rest}"
    if key == "score_reason":
        assert parse(text).score_reason is None
        return
    with pytest.raises(MalformedFile) as caught:
        parse(text)
    assert caught.value.field == key


def test_a_file_that_is_not_utf8_is_refused_with_its_line() -> None:
    """FORMAT: UTF-8."""
    with pytest.raises(MalformedFile) as caught:
        parse(CANONICAL.encode().replace(b"Why", b"\xff\xfe"))
    assert caught.value.line == 34


def test_scalars_stay_what_was_written() -> None:
    """LIBRARIES 5: `NO`, `1.10` and dates are text."""
    text = with_line("title: Run the tests with marker-based selection", "title: 1.10")
    assert parse(text).title == "1.10"
    assert parse(with_line("section: Testing", "section: NO")).section == "NO"
    assert parse(with_line("tags: [pytest]", "tags: [2026-11-29, 0x10, on]")).tags == ("2026-11-29", "0x10", "on")


_SNIPPETS = st.sampled_from(
    [
        "---\n",
        "id: x\n",
        "\n---\n",
        "- ",
        "&a ",
        "*a",
        "? ",
        "!!str ",
        "|\n",
        ">\n",
        "{",
        "[",
        '"',
        "'",
        "#",
        "\t",
        ": ",
        "\x85",
    ]
)


@quick
@given(
    st.one_of(st.binary(max_size=200), st.lists(st.one_of(_SNIPPETS, st.text(max_size=5)), max_size=30).map("".join))
)
@example(b"---\n\xff\n---\n")
@example("---\n\ud800: x\n---\n")
@example("---\n\x00\n---\n")
def test_nothing_but_malformed_file_is_ever_raised(data: bytes | str) -> None:
    """ARCHITECTURE, decision 10: a broken file never stops the store."""
    for attempt in (data, data if isinstance(data, bytes) else f"---\n{data}\n---\n"):
        for read in (parse, parse_marker):
            with pytest.raises(MalformedFile):
                read(attempt)


def outcome(data: bytes) -> Memory | MalformedFile:
    """What parsing comes to."""
    try:
        return parse(data)
    except MalformedFile as fault:
        return fault


@quick
@given(st.data())
def test_a_damaged_file_is_read_or_refused(data: st.DataObject) -> None:
    """ARCHITECTURE, decision 10: whatever bytes are cut or put in, a Memory or MalformedFile comes out."""
    raw = CANONICAL.encode()
    at = data.draw(st.integers(0, len(raw)))
    until = data.draw(st.integers(at, min(len(raw), at + 40)))
    middle = data.draw(st.binary(max_size=6) | _SNIPPETS.map(str.encode))
    damaged = raw[:at] + middle + raw[until:]
    read = outcome(damaged)
    if isinstance(read, MalformedFile):
        assert 0 <= read.line <= damaged.count(b"\n") + 2
        return
    text = damaged.decode()
    assert rewrite(text, read) == text
    again = rewrite(text, replace(read, title="Changed", tags=("a", "b"), restores=9))
    assert replace(parse(again), unknown=()) == replace(read, title="Changed", tags=("a", "b"), restores=9, unknown=())


def test_times_are_written_with_four_digits_of_the_year() -> None:
    """FORMAT: RFC 3339."""
    assert format_time(NOW.replace(year=33)) == "0033-11-29T10:00:00Z"
    old = memory(valid_from=NOW.replace(year=33))
    assert parse(render(old)) == old


def test_the_states_of_an_end_are_told_apart() -> None:
    """RULES 1.1: active means `invalid_at` null; an archived memory has no successor and is just as gone."""
    archived = ended(memory())
    superseded = ended(memory(), superseded_by=ulid(2), tombstone=None)
    assert [str(m.status) for m in (memory(), archived, superseded)] == ["active", "archived", "superseded"]
    assert [m.is_active for m in (memory(), archived, superseded)] == [True, False, False]
    assert (Kind.CONSTRAINT, Tier.COLD) == ("constraint", "cold")
