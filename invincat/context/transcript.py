"""A conversation as extraction reads it: what is new since the cursor, in bounded parts, without our own words in it.

The cursor's anchor is a hash chain over the messages, so that a history that was edited, replayed or compacted is
noticed and read anew (RULES 5.2).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from invincat.extraction.extractor import without_injected
from invincat.governance.grounding import Heard
from invincat.governance.redaction import redact
from invincat.llm.message import Assistant, Message, System, ToolResult, User

MAX_MESSAGE: Final = 6_000
MAX_SLICE: Final = 24_000

# Of what is clipped so much is redacted first on either side, so that no secret is cut in half and not known any more.
_MARGIN: Final = 6_000


class Cursor(msgspec.Struct, frozen=True):
    """How far a conversation was read: the number of messages, and the anchor of their chain.

    A purge that changed the messages leaves the anchor empty: they are not learned from again.
    """

    count: int = 0
    anchor: str = ""


@dataclass(frozen=True)
class Line:
    """One message of a slice: its number (from 1) in the conversation, who spoke, what counts of it."""

    number: int
    heard: Heard


def cursor_at(messages: Sequence[Message], count: int) -> Cursor:
    """The cursor behind the first `count` messages."""
    anchor = ""
    for message in messages[:count]:
        anchor = hashlib.blake2b(anchor.encode() + msgspec.json.encode(message), digest_size=12).hexdigest()
    return Cursor(count, anchor)


def first_new(messages: Sequence[Message], cursor: Cursor) -> int:
    """The index of the first message that was not read; 0 when the history is not the one that was (RULES 5.2)."""
    anchors = {"", cursor_at(messages, cursor.count).anchor}
    if cursor.count <= len(messages) and cursor.anchor in anchors:
        return cursor.count
    return 0


def lines_of(messages: Sequence[Message], start: int = 0) -> list[Line]:
    """The messages from index `start` on that have words of somebody, injected memory cut out, long ones clipped."""
    tools = {call.id: call.name for message in messages if isinstance(message, Assistant) for call in message.calls}
    found = []
    for number, message in enumerate(messages, 1):
        heard = _heard(message, tools) if number > start else None
        if heard and heard.text.strip():
            found.append(Line(number, heard))
    return found


def turn_begin(messages: Sequence[Message], index: int) -> int:
    """The index of the person's words to which the message at `index` belongs; 0 when there are none before it."""
    while index and not (isinstance(message := messages[index], User) and without_injected(message.text).strip()):
        index -= 1
    return index


def parts(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines in order, in parts of at most `MAX_SLICE` characters (RULES 5.3)."""
    found: list[list[Line]] = []
    size = 0
    for line in lines:
        if not found or size + len(line.heard.text) > MAX_SLICE:
            found.append([])
            size = 0
        found[-1].append(line)
        size += len(line.heard.text)
    return found


def _heard(message: Message, tools: dict[str, str]) -> Heard | None:
    match message:
        case User(text):
            return Heard("user", _clipped(without_injected(text)))
        case Assistant(text):
            return Heard("assistant", _clipped(text))
        case ToolResult(call_id, text):
            name = tools.get(call_id, "unknown")
            # What memory tools answered is our own words: nothing is learned from itself (RULES 4).
            return None if name in {"recall", "propose_memory"} else Heard("tool", _clipped(text), name)
        case System():
            return None


def _clipped(text: str) -> str:
    """Head and tail of what is too long, without its secrets."""
    if len(text) <= MAX_MESSAGE:
        return text
    half = MAX_MESSAGE // 2
    if len(text) <= 2 * (half + _MARGIN):
        head = tail = redact(text)
    else:
        head, tail = redact(text[: half + _MARGIN]), redact(text[-half - _MARGIN :])
    return f"{head[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{tail[-half:]}"
