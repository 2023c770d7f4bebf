"""Completion: `/` commands, `@` files, `#` memories; fuzzy, and fast for ten thousand entries."""

import asyncio
import heapq
import re
import time
from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Final, NamedTuple

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from invincat.errors import InvincatError
from invincat.repl.backend import Backend
from invincat.repl.commands import COMMANDS
from invincat.repl.safe import one_line

MAX_SHOWN: Final = 30
# How long a list is used again; typing a name must not list everything anew for each key.
FRESH_FOR: Final = 3.0

_COMMAND: Final = re.compile(r"\s*/(\S*)")
_ARGUMENT: Final = re.compile(r"\s*/(\S+)\s+(.*)", re.DOTALL)
_MENTION: Final = re.compile(r"(?:^|(?<=[\s(\[,;:]))([@#])([^\s@#]*)$")


class Candidate(NamedTuple):
    """What may be completed: the text that is inserted, what is searched (in lower case), what it says of itself."""

    text: str
    key: str
    meta: str = ""


def candidate(text: str, meta: str = "", also: str = "") -> Candidate:
    """A candidate that is found by its text and by other words."""
    return Candidate(text, f"{text} {also}".casefold() if also else text.casefold(), meta)


def match(typed: str, candidates: Sequence[Candidate], limit: int = MAX_SHOWN) -> list[Candidate]:
    """The candidates that hold the typed characters in order, the closest first."""
    wanted = typed.casefold()
    if not wanted:
        return list(candidates[:limit])
    pattern = re.compile(".*?".join(map(re.escape, wanted)), re.DOTALL)
    search = pattern.search
    found = [(item, at) for item in candidates if (at := search(item.key))]
    ranked = heapq.nsmallest(limit, found, key=lambda pair: _rank(wanted, pair[0], pair[1]))
    return [item for item, _ in ranked]


def _rank(wanted: str, item: Candidate, found: re.Match[str]) -> tuple[int, int, int, str]:
    """Less is closer: at the begin of the last part, inside it, anywhere whole, scattered."""
    key = item.key
    name = key[key.rfind("/", 0, len(item.text)) + 1 :]
    if name.startswith(wanted) or key.startswith(wanted):
        place = 0
    elif wanted in name:
        place = 1
    elif wanted in key:
        place = 2
    else:
        place = 3
    return place, found.end() - found.start(), len(key), key


class ReplCompleter(Completer):
    """The completions for the text before the cursor."""

    def __init__(self, desk: Backend) -> None:
        self._desk = desk
        self._memories: list[Candidate] = []
        self._files: list[Candidate] = []
        self._asked_at = {"@": -FRESH_FOR, "#": -FRESH_FOR}

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Only commands, which need no waiting."""
        return self._commands(document.text_before_cursor)

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """All completions; files and memories are fetched without holding the prompt."""
        text = document.text_before_cursor
        for completion in self._commands(text):
            yield completion
        if mention := _MENTION.search(text):
            sign, typed = mention[1], mention[2]
            for item in match(typed, await self._candidates(sign)):
                yield _completion(f"{sign}{_quoted(item.text)}", len(typed) + 1, item)
        elif (argument := _ARGUMENT.fullmatch(text)) and _completes_memories(argument[1]):
            for item in match(argument[2], await self._candidates("#")):
                yield _completion(item.text, len(argument[2]), item)

    def _commands(self, text: str) -> Iterable[Completion]:
        found = _COMMAND.fullmatch(text)
        if found is None:
            return
        known = [candidate(name, command.help) for name, command in COMMANDS.items()]
        for item in match(found[1], known):
            yield Completion(f"/{item.text}", -len(found[1]) - 1, display_meta=item.meta)

    async def _candidates(self, sign: str) -> list[Candidate]:
        if time.monotonic() - self._asked_at[sign] > FRESH_FOR:
            try:
                if sign == "@":
                    self._files = [candidate(path) for path in await asyncio.to_thread(self._desk.files)]
                else:
                    records = await self._desk.memories()
                    self._memories = [candidate(record.name, record.memory.title) for record in records]
            except InvincatError:
                pass  # completion that fails must not be in the way of who types; what was known stays
            self._asked_at[sign] = time.monotonic()
        return self._files if sign == "@" else self._memories


def _completes_memories(name: str) -> bool:
    return name in COMMANDS and COMMANDS[name].completes == "memory"


def _quoted(text: str) -> str:
    return f'"{text}"' if " " in text else text


def _completion(text: str, typed: int, item: Candidate) -> Completion:
    return Completion(text, -typed, display=one_line(item.text), display_meta=one_line(item.meta))
