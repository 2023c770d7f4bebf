"""Views with memories in them, made the way they are made: by operations through the gate."""

from datetime import UTC, datetime
from typing import Any

from invincat.app import new_id
from invincat.governance.gate import judge
from invincat.governance.grounding import NoGrounds
from invincat.memory.entry import Source
from invincat.memory.proposal import Proposal
from invincat.memory.scope import Scope
from invincat.memory.step import Context
from invincat.memory.view import View

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def view_of(*contents: str, scope: Scope = Scope.PROJECT, **fields: Any) -> View:
    """A view in which a person wrote these down, each hot."""
    view = View()
    for content in contents:
        operation = {
            "op": "create",
            "scope": str(scope),
            "section": "General",
            "content": content,
            "score": 90,
            **fields,
        }
        source = Source(actor="user")
        context = Context(now=NOW, new_id=new_id, scope=scope, source=source)
        view = judge(view, Proposal((operation,), scope, source), context, NoGrounds()).steps[-1].view
    return view
