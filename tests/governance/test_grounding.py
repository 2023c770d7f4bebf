"""Evidence against the world (RULES 4 "Evidence", 12)."""

import time
from dataclasses import dataclass, field

import pytest

from invincat.governance.grounding import (
    CITABLE_TOOLS,
    Grounded,
    Heard,
    Holds,
    NoCode,
    NoGrounds,
    Standing,
    ground,
    holds,
    missing_ground,
)
from invincat.governance.quoting import Quotable
from invincat.memory.entry import Source
from invincat.memory.evidence import Evidence
from invincat.memory.refusal import Refused
from invincat.memory.scope import Scope
from tests.memory.factories import WORLD, World


def grounded(at: str, quote: str | None = None, world: World = WORLD) -> Grounded:
    """One item, grounded."""
    return ground((Evidence(at=at, quote=quote),), world)


def heard(role: str, text: str, tool: str | None = None) -> World:
    """A world in which only this was said."""
    return World(turns={1: Heard(role, text, tool)})


@pytest.mark.parametrize(
    ("at", "quote", "why"),
    [
        ("noxfile.py#L1", "nox.options", "the quote does not stand at noxfile.py#L1"),
        ("noxfile.py#L3", "Nox.options", "the quote does not stand"),
        ("noxfile.py#L3", "…", "the quote does not stand"),
        ("noxfile.py#L3", "", "the quote does not stand"),
        ("toxfile.py#L1", None, "there is no file toxfile.py"),
        ("noxfile.py#L4", None, "noxfile.py has 3 lines, not 4"),
        ("noxfile.py#L1-L4", "import nox", "noxfile.py has 3 lines, not 4"),
        ("commit:3f2a9c4", "Drive it by tox", "the quote does not stand"),
        ("turn:1", "we select tests by name", "the quote does not stand"),
        ("turn:2", "I said something else", "the quote does not stand"),
    ],
)
def test_what_is_not_there_is_refused(at: str, quote: str | None, why: str) -> None:
    """RULES 4: the quote must literally be there; the error says where it is not."""
    with pytest.raises(Refused) as caught:
        grounded(at, quote)
    assert why in caught.value.message
    assert caught.value.field == "evidence"


@pytest.mark.parametrize(
    ("at", "quote", "checked", "own_words"),
    [
        ("noxfile.py#L3", "nox.options.sessions", 1, 0),
        ("noxfile.py#L1-L3", "import nox nox.options.sessions", 1, 0),
        ("noxfile.py#L2", None, 0, 0),
        ("commit:3f2a9c4", None, 1, 0),
        ("commit:3f2a9c4", "the matrix", 1, 0),
        ("commit:0000000", "the matrix", 0, 0),
        ("turn:1", "we select tests by marker", 1, 1),
        ("turn:1", "we", 1, 1),
        ("turn:2", "I will always run the slow tests", 0, 0),
        ("turn:3", "collected 14 items", 1, 0),
        ("turn:3", "14", 0, 0),
        ("turn:4", "the web page says to use tox", 0, 0),
        ("turn:9", "nobody said it", 0, 0),
        ("url:https://example.org/", "on the web", 0, 0),
    ],
)
def test_what_counts(at: str, quote: str | None, checked: int, own_words: int) -> None:
    """RULES 4: lines of a file, a commit, an allowed tool, a person's words; not the assistant, not the web."""
    done = grounded(at, quote)
    assert (done.checked, done.own_words) == (checked, own_words)


@pytest.mark.parametrize("tool", ["web_fetch", "recall", "mcp__x", None, "Bash"])
def test_other_tools_do_not_count(tool: str | None) -> None:
    """RULES 4: "tool evidence comes from ... only"; nothing is learned from recall."""
    assert grounded("turn:1", "collected 14 items", heard("tool", "collected 14 items", tool)).checked == 0


@pytest.mark.parametrize("tool", sorted(CITABLE_TOOLS))
@pytest.mark.parametrize(
    ("quote", "enough"),
    [
        ("12345678", True),
        ("1 2 3 4 5 6 7 8", True),
        ("1234567", False),
        ("我们使用", True),
        ("我们用", False),
        ("我 们 使 用", True),
    ],
)
def test_the_words_of_a_tool_have_a_minimum(tool: str, quote: str, enough: bool) -> None:
    """RULES 4: at least 8 non-space or 4 CJK characters; the tools that count."""
    assert {"read_file", "edit_file", "write_file", "execute", "bash", "shell"} == CITABLE_TOOLS
    assert grounded("turn:1", quote, heard("tool", f"x {quote} y", tool)).checked == enough


def test_quotes_of_lines_are_kept_redacted_and_short() -> None:
    """FORMAT `quote`: redacted, at most 200 characters."""
    world = World(files={"a.py": f"mail ada@example.org\nhome /home/ada/x\n{'long ' * 100}\n"})
    [item] = grounded("a.py#L1-L2", None, world).evidence
    assert item.quote is not None
    assert "ada@example.org" not in item.quote
    assert "/home/ada" not in item.quote
    [item] = grounded("a.py#L3", None, world).evidence
    assert item.quote is not None
    assert len(item.quote) <= 200


def test_a_redacted_quote_still_stands_where_it_was_taken() -> None:
    """RULES 4: the model quotes from what it was shown, which is redacted."""
    world = World(files={"a.py": "ask ada@example.org about the release\n"})
    [item] = grounded("a.py#L1", None, world).evidence
    assert grounded("a.py#L1", item.quote, world).checked == 1


@pytest.mark.parametrize(
    ("actor", "scope", "evidence", "fine"),
    [
        ("user", Scope.PROJECT, (0, 0), True),
        ("import", Scope.USER, (0, 0), True),
        ("memory-agent", Scope.PROJECT, (0, 0), False),
        ("memory-agent", Scope.PROJECT, (1, 0), True),
        ("mcp:x", Scope.PROJECT, (0, 0), False),
        ("memory-agent", Scope.USER, (2, 0), False),
        ("memory-agent", Scope.USER, (1, 1), True),
    ],
)
def test_how_much_is_enough(actor: str, scope: Scope, evidence: tuple[int, int], fine: bool) -> None:
    """RULES 4: one checked item in project scope, own words in user scope, nothing from people."""
    assert (missing_ground(Grounded((), *evidence), actor, scope) is None) is fine


def test_without_a_world_nothing_is_checked() -> None:
    """RULES 4: a file that cannot be looked at is not there."""
    assert ground((Evidence(at="turn:1", quote="words"),), NoGrounds()).checked == 0
    with pytest.raises(Refused):
        ground((Evidence(at="a.py#L1"),), NoGrounds())


@dataclass
class Known:
    """A code whose answers are given: what has, and what had, each item."""

    now: dict[str, bool | None]
    once: dict[str, bool | None] = field(default_factory=dict)

    def has(self, item: Evidence) -> bool | None:
        return self.now[item.at]

    def had(self, item: Evidence) -> bool | None:
        return self.once[item.at]


@pytest.mark.parametrize(
    ("now", "once", "expected"),
    [
        ({"a.py#L1": True}, {}, Holds.HERE),
        ({"a.py#L1": False, "b.py#L1": True, "commit:3f2a9c4": False}, {}, Holds.HERE),
        ({"a.py#L1": False, "commit:3f2a9c4": True}, {"a.py#L1": False}, Holds.PROVISIONAL),
        ({"commit:3f2a9c4": True, "commit:3f2a9c5": False}, {}, Holds.HERE),
        ({"a.py#L1": False, "b.py#L1": False}, {"a.py#L1": True, "b.py#L1": None}, Holds.STALE),
        ({"a.py#L1": False, "b.py#L1": None}, {"a.py#L1": True, "b.py#L1": None}, Holds.UNKNOWN),
        ({"a.py#L1": None}, {"a.py#L1": False}, Holds.UNKNOWN),
        ({"a.py#L1": False, "b.py#L1": False}, {"a.py#L1": False, "b.py#L1": None}, Holds.UNKNOWN),
        ({"a.py#L1": False, "turn:1": True}, {"a.py#L1": False}, Holds.PROVISIONAL),
    ],
)
def test_whether_it_holds_here(now: dict[str, bool | None], once: dict[str, bool | None], expected: Holds) -> None:
    """RULES 12: one quote that stands in its file is enough; commits count where no file is cited."""
    source = Source(actor="memory-agent", evidence=tuple(Evidence(at=at, quote="words") for at in now)[:3])
    assert holds(source, Scope.PROJECT, Known(now, once)) == expected


@pytest.mark.parametrize(
    ("actor", "scope", "items", "expected"),
    [
        ("user", Scope.PROJECT, (), Holds.HERE),
        ("import", Scope.PROJECT, ("url:https://example.org/",), Holds.HERE),
        ("rules", Scope.PROJECT, ("turn:1",), Holds.HERE),
        ("memory-agent", Scope.PROJECT, (), Holds.UNKNOWN),
        ("memory-agent", Scope.PROJECT, ("url:https://example.org/",), Holds.UNKNOWN),
        ("user", Scope.PROJECT, ("a.py#L1",), Holds.UNKNOWN),
        ("memory-agent", Scope.USER, ("a.py#L1",), Holds.HERE),
    ],
)
def test_the_words_of_a_person_need_no_code(actor: str, scope: Scope, items: tuple[str, ...], expected: Holds) -> None:
    """RULES 12: they hold; about a person nothing else can be said at all (RULES 4)."""
    source = Source(actor=actor, evidence=tuple(Evidence(at=at) for at in items))
    assert holds(source, scope, NoCode()) == expected


@pytest.mark.parametrize(
    ("standing", "mark"),
    [
        (Standing(Holds.HERE), ""),
        (Standing(Holds.UNKNOWN), ""),
        (Standing(Holds.STALE, "3f2a9c4"), "stale: stood at 3f2a9c4"),
        (Standing(Holds.PROVISIONAL, "feature/x"), "provisional: learned on feature/x"),
        (Standing(Holds.PROVISIONAL), "provisional"),
    ],
)
def test_what_does_not_hold_here_is_marked(standing: Standing, mark: str) -> None:
    assert standing.mark == mark


LONG = "nothing to see\n" * 2000


@pytest.mark.parametrize(
    ("quote", "text", "stands"),
    [
        ("a  b", "x a\n\tb y", True),
        ("A b", "a b", False),
        ("", "a", False),
        ("…", "a", False),
        ("a b…", "a b c", True),
        ("ask [e-mail] first", "ask ada@example.org first", True),
        ("ask [e-mail] first", f"{LONG}ask ada@example.org\n first\n{LONG}", True),
        ("ask [e-mail] first", f"{LONG}ask somebody first\n{LONG}", False),
        ("see ~/x/y", f"{LONG}see /home/ada/x/y\n", True),
        ("in …/b/c", "in /opt/a/b/c", True),
        ("[e-mail]", "ada@example.org", True),
        ("[e-mail]", f"{LONG}ada@example.org", False),
        ("arr[0] = ~x", "arr[0] = ~x", True),
    ],
)
def test_how_a_quote_stands_in_a_text(quote: str, text: str, stands: bool) -> None:
    """RULES 4: literally, white space folded, or as the text reads redacted."""
    assert Quotable(text).has(quote) is stands


def test_looking_for_a_redacted_quote_does_not_redact_a_long_text() -> None:
    text = Quotable("token = value\n" * 100_000)
    start = time.process_time()
    assert not text.has("token = [secret]")
    assert time.process_time() - start < 2
