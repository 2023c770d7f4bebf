"""The toolbox: one result for each call, bounded and sendable, and only the tools of the role."""

import asyncio

import pytest

from invincat.llm.message import ToolCall
from invincat.llm.schema import ToolSpec, tool_spec
from invincat.tools.base import MAX_RESULT, Result, bounded, failure, summarise, visible
from invincat.tools.registry import TOOLS, Handles, Role, Toolbox, toolbox

NAMES = ("read_file", "list_dir", "glob", "grep", "recall", "propose_memory")


class Scripted:
    """A tool that does what it is told."""

    def __init__(self, act):
        self.spec = ToolSpec("scripted", "", {"type": "object", "properties": {}})
        self._act = act

    async def run(self, arguments):
        return self._act(arguments)


@pytest.fixture
def box(workspace):
    return toolbox(Role.MAIN, Handles(workspace=workspace, recall=lambda _: None, submit=lambda *_, **__: None))


def run(box, name, arguments="{}", invalid=None):
    return asyncio.run(box.run(ToolCall("1", name, arguments, invalid)))


def raising(fault):
    def act(_arguments):
        raise fault

    return Toolbox([Scripted(act)])


def test_the_table(box):
    assert TOOLS[Role.MAIN] == NAMES == tuple(spec.name for spec in box.specs)
    for spec in box.specs:
        assert len(spec.description) > 80
        assert spec.parameters["additionalProperties"] is False
        # Every endpoint takes the schema as it is: normalising it changes nothing.
        assert (
            tool_spec(spec.name, spec.description, spec.parameters).parameters["properties"].keys()
            == spec.parameters["properties"].keys()
        )


def test_a_call(box):
    result = run(box, "read_file", '{"path": "README.md"}')
    assert result == Result("README.md: lines 1-1 of 1 lines\n     1\t# A project\n", summary="read_file README.md 1-1")


def test_an_unknown_tool_lists_the_tools(box):
    result = run(box, "rm\x1b -rf")
    assert result.is_error
    assert "there is no tool" in result.text
    assert ", ".join(NAMES) in result.text
    assert "\x1b" not in result.text + result.summary


def test_arguments_that_were_no_json_are_not_run(box):
    result = run(box, "read_file", invalid='{"path": ')
    assert result.is_error
    assert "not run" in result.text


def test_errors_of_the_system_name_no_place(tmp_path):
    result = run(raising(PermissionError(13, "Permission denied", str(tmp_path))), "scripted", '{"path": "x"}')
    assert (result.text, result.is_error) == ("Error: the system refused: Permission denied", True)
    assert result.summary == "scripted x (failed)"


@pytest.mark.parametrize("fault", [ValueError("a fault of ours"), KeyError("x"), asyncio.CancelledError()])
def test_anything_else_propagates(fault):
    with pytest.raises(type(fault)):
        run(raising(fault), "scripted")


def test_what_a_tool_forgot_is_bounded_and_sendable():
    result = run(Toolbox([Scripted(lambda _: Result("\ud800" + "x" * 100_000, summary=""))]), "scripted")
    assert len(result.text) <= MAX_RESULT + 10
    result.text.encode()


@pytest.mark.parametrize(
    "text", ["", "x" * 1000, "x" * 5000, "line\n" * 1000, "x" * 3000 + "\nend\n", "a\n" + "b" * 5000]
)
def test_bounded(text):
    cut = bounded(text, "ask again", 1000)
    assert len(cut) <= 1000
    assert bounded(cut, "ask again", 1000) == cut
    if len(text) <= 1000:
        assert cut == text
    else:
        assert "left out here; ask again" in cut
        assert cut[:50].split("\n")[0] in text
        assert cut.rstrip("\n")[-3:] in text


def test_bounded_counts_what_it_cut():
    text = "".join(f"{number:04}\n" for number in range(2000))
    head, _, rest = bounded(text, "how", 2000).partition("[... ")
    note, _, tail = rest.partition(" ...]\n")
    assert text.startswith(head)
    assert text.endswith(tail)
    assert int(note.split()[0]) == len(text) - len(head) - len(tail)


def test_summaries_are_one_short_line():
    assert summarise("grep", "a\nb\x1b", None, "", "(3)") == "grep a b\\x1b (3)"
    assert len(summarise("x" * 500)) == 120


def test_visible():
    assert visible("a\tb\x00\x7f\udcff\ud800é") == "a\tb\\x00\\x7f\\xff\\ud800é"


def test_a_failure_says_so_in_its_text():
    assert failure("why", summary="s") == Result("Error: why", is_error=True, summary="s")
