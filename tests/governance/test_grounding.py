"""Evidence against the world (RULES 4 "Evidence", 12)."""

import pytest

from invincat.governance.grounding import CITABLE_TOOLS, Grounded, Heard, NoGrounds, ground, holds, missing_ground
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
    assert holds((item,), world) == "here"


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


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ((), "here"),
        (("turn:1 words",), "here"),
        (("noxfile.py#L9 nox.options.sessions",), "here"),
        (("noxfile.py#L3 tox.options",), "unknown"),
        (("gone.py#L1 x",), "unknown"),
        (("gone.py#L1 x", "noxfile.py#L3 import"), "here"),
        (("commit:3f2a9c4 matrix",), "here"),
        (("commit:0000000 matrix",), "unknown"),
    ],
)
def test_whether_it_holds_here(items: tuple[str, ...], expected: str) -> None:
    """RULES 12: when a quote stands in its file, on whatever line; a person's words hold."""
    evidence = tuple(Evidence(at=at, quote=quote) for at, quote in (item.split(" ", 1) for item in items))
    assert holds(evidence, WORLD) == expected
