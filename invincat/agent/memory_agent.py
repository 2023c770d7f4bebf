"""The memory agent: reads what is new in a conversation and proposes operations; only the ledger writes (RULES 5)."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from invincat.governance.gate import MAX_OPERATIONS
from invincat.governance.redaction import redact
from invincat.llm.client import Client, EmptyAnswer, complete
from invincat.llm.message import Assistant, Message, System, User
from invincat.memory.batch import read_batch
from invincat.memory.operation import schema
from invincat.memory.scope import Scope
from invincat.memory.view import Record, View
from invincat.resources import template

# What reads conversations costs 0.1 s, which no prompt need wait for (lazy imports below).
if TYPE_CHECKING:
    from invincat.context.transcript import Line

# So many memories are shown to the model, what the slice is about first; the rest is left to the duplicate check.
MAX_SHOWN: Final = 200
MAX_CONTENT: Final = 500
MAX_TOKENS: Final = 4_000


@dataclass(frozen=True)
class Reply:
    """What the memory agent answered: operations by scope, or the raw text that could not be read."""

    operations: Mapping[Scope, Sequence[Any]]
    raw: str | None = None


class MemoryAgent:
    """Asks a model what to remember. Stateless: cursor, queue and stores belong to others."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._system = System(
            template("prompts/memory_agent.md")
            .replace("{most}", str(MAX_OPERATIONS))
            .replace("{schema}", msgspec.json.encode(schema()).decode())
        )

    @property
    def model(self) -> str:
        """The model that is asked."""
        return self._client.model

    async def propose(self, lines: "Sequence[Line]", views: Mapping[Scope, View]) -> Reply:
        """Operations for a part of a conversation. A malformed answer is asked for once more (RULES 5.2).

        Raises ProviderError and ConfigurationError.
        """
        # Redacting takes milliseconds that a streaming answer would be held up for.
        asked: list[Message] = [self._system, User(await asyncio.to_thread(_slice, lines, views))]
        said = await self._ask(asked)
        found = _decode(said)
        if isinstance(found, str):
            again = User(f"That was no answer of the schema: {found}. Answer with the JSON object alone.")
            said = await self._ask([*asked, Assistant(said if said.strip() else "{}"), again])
            found = _decode(said)
        if isinstance(found, str):
            return Reply({}, raw=said)
        return Reply(_by_scope(found, views))

    async def _ask(self, messages: Sequence[Message]) -> str:
        """The text of an answer. Nothing at all is malformed like anything else that cannot be read."""
        try:
            return (await complete(self._client, messages, max_tokens=MAX_TOKENS, schema=schema())).message.text
        except EmptyAnswer:
            return ""


def _slice(lines: "Sequence[Line]", views: Mapping[Scope, View]) -> str:
    remembered = [record for view in views.values() for record in view.active()]
    # Taken apart, not replaced in turn: what is remembered may itself name a place to fill.
    before, _, rest = template("prompts/memory_slice.md").partition("{remembered}")
    between, _, after = rest.partition("{conversation}")
    known = "\n".join(map(_shown, _nearest(remembered, lines))) or "nothing yet"
    conversation = "\n\n".join(map(_spoken, lines))
    return f"{before}{known}{between}{conversation}{after}"


def _nearest(records: Sequence[Record], lines: "Sequence[Line]") -> Sequence[Record]:
    """All records, or of too many those that share most words with the slice, then those of the best score."""
    if len(records) <= MAX_SHOWN:
        return records
    from invincat.recall.analysis import query_terms  # noqa: PLC0415 - stemmers, which few stores ever need here

    asked = {term for line in lines for term in query_terms(line.heard.text)}

    def rank(record: Record) -> tuple[int, int, str]:
        memory = record.memory
        shared = asked.intersection(query_terms(f"{memory.section} {memory.title} {memory.body}"))
        return -len(shared), -memory.score, record.id

    return sorted(records, key=rank)[:MAX_SHOWN]


def _shown(record: Record) -> str:
    memory = record.memory
    return f"{memory.id} {record.name} {memory.scope} {memory.section}: {memory.title}"


def _spoken(line: "Line") -> str:
    """A turn as the model sees it: redacted (RULES 4), its number as evidence cites it."""
    heard = line.heard
    who = f"tool {heard.tool}" if heard.tool else heard.role
    return f"[turn:{line.number}] {who}:\n{redact(heard.text)}"


def _decode(text: str) -> list[Any] | str:
    """The operations of an answer, or what is wrong with it. A code fence around it is the only thing forgiven."""
    bare = text.strip()
    if bare.startswith("```"):
        bare = bare.strip("`").removeprefix("json").strip()
    try:
        items = read_batch(bare)
    except ValueError as fault:
        return f"it {fault}"
    if len(items) > MAX_OPERATIONS:
        return f"it has {len(items)} operations, at most {MAX_OPERATIONS} are allowed"
    for item in items:
        if not isinstance(item, dict):
            return "an operation is not an object"
        if isinstance(content := item.get("content"), str) and len(content) > MAX_CONTENT:
            return f"a content has {len(content)} characters, at most {MAX_CONTENT} are allowed"
    return items


def _by_scope(items: Sequence[Any], views: Mapping[Scope, View]) -> dict[Scope, list[Any]]:
    """Operations by the store they are for: the scope they say, else the store that has the memory they name."""
    found: dict[Scope, list[Any]] = {}
    for item in items:
        if item.get("op") != "noop":
            found.setdefault(_scope_of(item, views), []).append(item)
    return found


def _scope_of(item: Mapping[str, Any], views: Mapping[Scope, View]) -> Scope:
    if item.get("scope") in tuple(Scope):
        return Scope(item["scope"])
    reference = item.get("id")
    owners = [scope for scope, view in views.items() if isinstance(reference, str) and view.find(reference)]
    return owners[0] if owners else Scope.PROJECT
