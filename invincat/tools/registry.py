"""Which role has which tools, as one table, and the toolbox that runs a model's calls."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

import msgspec

from invincat.errors import InvincatError
from invincat.llm.message import ToolCall
from invincat.llm.schema import ToolSpec
from invincat.recall.hit import Results
from invincat.recall.query import Query
from invincat.tools.base import Result, Tool, bounded, failure, summarise, visible
from invincat.tools.files import GlobFiles, ListDir, ReadFile
from invincat.tools.memory import ProposeMemory, Recall, Submit
from invincat.tools.search import Grep
from invincat.tools.workspace import Workspace


class Role(StrEnum):
    """Who runs tools (ASSISTANT "Roles")."""

    MAIN = "main"


@dataclass(frozen=True, kw_only=True)
class Handles:
    """All that tools may reach: small callables, no ledger. `ripgrep` is the program's path, None without it."""

    workspace: Workspace
    recall: Callable[[Query], Results]
    submit: Submit
    ripgrep: str | None = None


_MAKERS: Final[Mapping[str, Callable[[Handles], Tool]]] = {
    "read_file": lambda handles: ReadFile(handles.workspace),
    "list_dir": lambda handles: ListDir(handles.workspace),
    "glob": lambda handles: GlobFiles(handles.workspace),
    "grep": lambda handles: Grep(handles.workspace, handles.ripgrep),
    "recall": lambda handles: Recall(handles.recall),
    "propose_memory": lambda handles: ProposeMemory(handles.submit),
}

TOOLS: Final[Mapping[Role, tuple[str, ...]]] = {
    Role.MAIN: ("read_file", "list_dir", "glob", "grep", "recall", "propose_memory"),
}


class Toolbox:
    """The tools of one session. What is not in it cannot be run, whatever the model was shown."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as models see them, in order."""
        return tuple(tool.spec for tool in self._tools.values())

    async def run(self, call: ToolCall) -> Result:
        """Run one call: exactly one bounded result, an error result for what the model can mend or must know.

        Only InvincatError and OSError become results; anything else is a fault of ours and propagates, as does
        being cancelled.
        """
        tool = self._tools.get(call.name)
        summary = summarise(call.name, _first_text(call), "(failed)")
        if tool is None:
            known = ", ".join(self._tools)
            return failure(f"there is no tool {visible(call.name)[:80]!r}; there are {known}", summary=summary)
        if call.invalid is not None:
            return failure("the arguments were not the JSON text of an object, so it was not run", summary=summary)
        try:
            return _sendable(await tool.run(msgspec.json.decode(call.arguments, type=dict[str, Any])))
        except InvincatError as fault:
            return _sendable(failure(str(fault), summary=summary))
        except OSError as fault:
            # Its own text would name the place on disk.
            return failure(f"the system refused: {fault.strerror or 'unknown fault'}", summary=summary)


def toolbox(role: Role, handles: Handles) -> Toolbox:
    """The tools of a role."""
    return Toolbox([_MAKERS[name](handles) for name in TOOLS[role]])


def _first_text(call: ToolCall) -> str:
    """The first argument that is text, such as the path, so that people see which of several calls it was."""
    values = msgspec.json.decode(call.arguments, type=dict[str, Any]).values()
    return next((value for value in values if isinstance(value, str)), "")


def _sendable(result: Result) -> Result:
    """Within bounds and encodable, whatever a tool forgot."""
    text = bounded(result.text, "ask for less").encode("utf-8", "backslashreplace").decode()
    return replace(result, text=text)
