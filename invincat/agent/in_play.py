"""Which files a conversation is about, as far as its messages tell: what a person names, what tools looked at."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from invincat.llm.message import Assistant, Message, User

# As the completer offers them (`repl.completer`); what ends a sentence is no part of a path.
_MENTION: Final = re.compile(r"(?:^|(?<=[\s(\[,;:]))@([^\s@#]*[^\s@#.,;:!?)\]])")

# Their path says where to look, not what at.
_SEARCHES: Final = frozenset({"list_dir", "glob", "grep"})


def paths_in(messages: Iterable[Message]) -> list[str]:
    """The paths of `@src/app.py` and of what tools were called with, each once, the latest last."""
    found: dict[str, None] = {}
    for path in (path for message in messages for path in _paths(message)):
        found.pop(path, None)
        found[path] = None
    return list(found)


def _paths(message: Message) -> Iterator[str]:
    if isinstance(message, User):
        yield from (path.removesuffix("/") for path in _MENTION.findall(message.text))
    elif isinstance(message, Assistant):
        for call in message.calls:
            path = msgspec.json.decode(call.arguments, type=dict[str, Any]).get("path")
            if isinstance(path, str) and call.name not in _SEARCHES:
                yield path.removeprefix("./")
