"""Putting an answer together from the deltas of a stream, which many servers get subtly wrong. Pure."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from invincat.llm.client import BadAnswer, BrokenStream, EmptyAnswer, Finish, ReasoningDelta, TextDelta
from invincat.llm.message import Assistant, ToolCall, is_json_object

_FINISHES: Final = {"length": Finish.LENGTH, "max_tokens": Finish.LENGTH, "content_filter": Finish.FILTER}


@dataclass
class _Slot:
    """A call under construction."""

    index: int | None
    id: str
    name: str
    parts: list[str] = field(default_factory=list)

    @property
    def arguments(self) -> str:
        return "".join(self.parts)

    @property
    def is_whole(self) -> bool:
        """A JSON object is there; nothing but space can follow it."""
        return bool(self.parts) and is_json_object(self.arguments)

    @property
    def is_placeholder(self) -> bool:
        """Some proxies send `{}` first, and then what is meant."""
        return self.arguments.strip() == "{}"


@dataclass(frozen=True)
class Assembled:
    """An answer that came to its finish. `usage` is the raw object, None when there was none."""

    message: Assistant
    finish: Finish
    cut: tuple[str, ...]
    usage: object


class Assembly:
    """Feed it the JSON of every chunk; then `finish`.

    `new_id` names calls that came without an id; ids in `taken` (those of the conversation) are not used again.
    """

    def __init__(self, new_id: Callable[[], str], taken: Collection[str] = ()) -> None:
        self._new_id = new_id
        self._taken = set(taken)
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._slots: list[_Slot] = []
        self._finish = ""
        self._usage: object = None

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._text)

    @property
    def is_whole(self) -> bool:
        """Whether the finish came."""
        return bool(self._finish) and self._finish != "error"

    def feed(self, chunk: object) -> Iterator[TextDelta | ReasoningDelta]:
        """Take a chunk in; BadAnswer when it is no JSON object. What a chunk lacks is passed over."""
        if not isinstance(chunk, dict):
            raise BadAnswer("the stream held something that is no completion chunk")
        self._usage = chunk.get("usage") or self._usage
        for choice in _dicts(chunk.get("choices")):
            if not choice.get("index"):  # we ask for one choice
                yield from self._take(_dict(choice.get("delta", choice.get("message"))))
                self._finish = str(choice.get("finish_reason") or "") or self._finish

    def feed_whole(self, completion: object) -> Iterator[TextDelta | ReasoningDelta]:
        """Take in the answer of a server that does not stream."""
        if not isinstance(completion, dict) or not _dicts(completion.get("choices")):
            raise BadAnswer("the endpoint answered JSON that is no completion")
        for choice in _dicts(completion["choices"])[:1]:
            message = _dict(choice.get("message"))
            numbered = [{**call, "index": at} for at, call in enumerate(_dicts(message.get("tool_calls")))]
            yield from self.feed({**completion, "choices": [{**choice, "delta": {**message, "tool_calls": numbered}}]})

    def finish(self) -> Assembled:
        """The answer; BrokenStream when no finish reason came (nothing else proves it whole), EmptyAnswer."""
        if not self.is_whole:
            raise BrokenStream("the answer ended before its finish", partial=self.text)
        finish = _FINISHES.get(self._finish, Finish.STOP)
        calls = [slot for slot in self._slots if slot.id or slot.name or slot.parts]
        cut: tuple[str, ...] = ()
        if finish is not Finish.STOP:
            # The last call is half, and a half one may look whole: none is run.
            calls, cut = [], tuple(slot.name for slot in calls)
        elif calls:
            finish = Finish.CALLS
        message = Assistant(
            self.text,
            tuple(ToolCall.read(self._own_id(slot.id), slot.name, slot.arguments) for slot in calls),
            "".join(self._reasoning) or None,
        )
        if message.is_empty and finish is Finish.STOP:
            raise EmptyAnswer("the model answered with nothing", next_step="say it differently, or try again")
        return Assembled(message, finish, cut, self._usage)

    def _own_id(self, id: str) -> str:
        while not id or id in self._taken:
            id = self._new_id()
        self._taken.add(id)
        return id

    def _take(self, delta: dict[str, Any]) -> Iterator[TextDelta | ReasoningDelta]:
        content = delta.get("content")
        parts = content if isinstance(content, list) else [content]
        thoughts = [part.get("thinking") for part in _dicts(parts)]
        for thought in _texts(delta.get("reasoning_content") or delta.get("reasoning"), *thoughts):
            self._reasoning.append(thought)
            yield ReasoningDelta(thought)
        for said in _texts(*parts, delta.get("refusal")):
            self._text.append(said)
            yield TextDelta(said)
        for call in _dicts(delta.get("tool_calls")):
            self._take_call(call)

    def _take_call(self, call: dict[str, Any]) -> None:
        function = _dict(call.get("function"))
        index, id = _index(call.get("index")), str(call.get("id") or "")
        name, arguments = str(function.get("name") or ""), _arguments(function.get("arguments"))
        slot = self._slot(index, id, name, arguments)
        if slot is None:
            self._slots.append(_Slot(index, id, name, [arguments] if arguments else []))
            return
        slot.id = slot.id or id
        if name != slot.name:
            slot.name += name
        if arguments.strip() and slot.is_placeholder:
            slot.parts.clear()
        if arguments:
            slot.parts.append(arguments)

    def _slot(self, index: int | None, id: str, name: str, arguments: str) -> _Slot | None:
        """The call that a fragment continues, None when it begins a new one (cases/assistant 2 and 3).

        A fragment without a name continues what is in its place. One with a name does so only when nothing tells the
        two apart: ids, names, or arguments that were whole already.
        """
        same_place = [slot for slot in self._slots if index is None or slot.index is None or slot.index == index]
        same_id = [slot for slot in same_place if id and slot.id == id]
        slot = next(reversed(same_id or same_place), None)
        if slot is None or not name:
            return slot
        other_id = bool(id and slot.id and id != slot.id)
        other_name = bool(slot.name and slot.name != name and (id or index is None or slot.parts))
        placeholder = slot.is_placeholder and bool(same_id) and index is not None
        other_arguments = slot.is_whole and bool(arguments.strip()) and not placeholder
        return None if other_id or other_name or other_arguments else slot


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _texts(*values: object) -> Iterator[str]:
    """The texts among strings, `{"text": ...}` parts, lists of those, and what else a server may put there."""
    for value in values:
        if isinstance(value, list):
            yield from _texts(*value)
            continue
        text = value.get("text") if isinstance(value, dict) else value
        if isinstance(text, str) and text:
            yield text


def _index(value: object) -> int | None:
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    return value if isinstance(value, int) else None


def _arguments(value: object) -> str:
    """Arguments are text in the protocol; some servers send the object itself."""
    if value is None or isinstance(value, str):
        return value or ""
    return msgspec.json.encode(value).decode()
