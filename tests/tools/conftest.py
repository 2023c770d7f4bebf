"""Tools are used as the loop uses them: run in an event loop, their errors turned into results by a toolbox."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pytest

from invincat.llm.message import ToolCall
from invincat.tools.base import Result, Tool
from invincat.tools.registry import Toolbox
from invincat.tools.workspace import Workspace


class Use(Protocol):
    def __call__(self, tool: Tool, **arguments: Any) -> Result: ...


@pytest.fixture(scope="session")
def use() -> Use:
    """`use(tool, path="x")`: one call through a toolbox."""

    def run(tool: Tool, **arguments: Any) -> Result:
        call = ToolCall("call-1", tool.spec.name, json.dumps(arguments))
        return asyncio.run(Toolbox([tool]).run(call))

    return run


@pytest.fixture
def workspace(repo: Path) -> Workspace:
    return Workspace.at(repo)


@pytest.fixture
def write(repo: Path) -> Callable[..., Path]:
    """`write("src/a.py", "text")` in the repository, folders made as needed."""

    def make(name: str, content: str | bytes = "x\n") -> Path:
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make
