"""The rules extractor: what is remembered when there is no model to ask (RULES 5.5). Operations, decided elsewhere."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from invincat.errors import UserError
from invincat.extraction import signals, wording
from invincat.extraction.phrases import Request, Whose, requests_in, section_for, standing_in, whose
from invincat.extraction.speech import Sentence, own_words
from invincat.governance.redaction import clip_quote
from invincat.memory.content import fingerprint, normalise, one_line, split_content
from invincat.memory.entry import Confidence, Kind
from invincat.memory.evidence import MAX_QUOTE
from invincat.memory.scope import Scope

Operation: TypeAlias = dict[str, Any]

EXPLICIT_SCORE: Final = 75
STANDING_SCORE: Final = 50
ROLES: Final = ("user", "assistant", "tool")
# How many of a person's messages back "forget that" can reach.
REACH: Final = 2

_INJECTED: Final = re.compile(
    r"<invincat-(?P<what>memory|note)\b[^>]*>.*?(?:</invincat-(?P=what)\b[^>]*>|\Z)", re.DOTALL | re.IGNORECASE
)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff\ufeff]")


@dataclass(frozen=True)
class Message:
    """One message of a conversation; `number` is its place in it, as evidence cites it (`turn:<number>`)."""

    role: str
    text: str
    tool: str | None = None
    number: int = 0


@dataclass(frozen=True)
class Extraction:
    """Operations as in CLI "operations": `commits` may be committed, each of `holds` waits for a person."""

    commits: list[Operation]
    holds: list[Operation]


@dataclass(frozen=True)
class _Found:
    request: Request
    message: Message
    spoken: int
    is_explicit: bool


def without_injected(text: str) -> str:
    """A message without what briefings, recall and notes put there: nothing is learned from itself (RULES 4)."""
    return _INJECTED.sub("\n\n", text)


def read_transcript(lines: str) -> list[Message]:
    """Messages of a JSON-lines transcript (CLI `extract`), numbered from 1 by line; UserError names a bad line."""
    return [_message(line, number) for number, line in enumerate(lines.split("\n"), 1) if line.strip(" \t\r\ufeff")]


def from_transcript(messages: Iterable[Message], project: str | None = None) -> Extraction:
    """What a person said in a conversation that is to be remembered (RULES 5.5).

    Only user messages count, without what our own briefings put there. A rule taken back later is left out.
    `project` is the key that "only here" means; None where there is no project.
    """
    found: list[_Found] = []
    said = (message for message in messages if message.role == "user")
    for spoken, message in enumerate(said):
        _listen(found, message, spoken)
    distinct: dict[str, _Found] = {}
    for one in found:
        key = normalise(one.request.content)
        if key not in distinct or (one.is_explicit and not distinct[key].is_explicit):
            distinct[key] = one
    return _sorted_out(distinct.values(), project)


def from_commit(commit_id: str, message: str, trailers: Iterable[tuple[str, str]]) -> Extraction:
    """What a commit asks to remember: each `Memory: <text>` trailer (RULES 5.5)."""
    commits: dict[str, Operation] = {}
    for key, value in trailers:
        words = one_line(value)
        if key.strip().lower() != "memory" or not words or _CONTROL.search(words):
            continue
        quote = clip_quote(words, MAX_QUOTE)
        operation = _create(words, Scope.PROJECT, f"commit:{commit_id}", quote, explicit=True)
        if quote and quote not in one_line(message):
            operation["evidence"] = [{"at": f"commit:{commit_id}"}]
        commits.setdefault(fingerprint(*split_content(words)), operation)
    return Extraction(list(commits.values()), [])


def _message(line: str, number: int) -> Message:
    where = f"line {number}"
    next_step = 'each line is like {"role": "user", "text": "..."}'
    try:
        value = json.loads(line.lstrip("\ufeff"))
    except (ValueError, RecursionError) as fault:
        raise UserError(f"is not JSON ({fault})", where=where, next_step=next_step) from None
    if not isinstance(value, dict):
        raise UserError("is no JSON object", where=where, next_step=next_step)
    role, text, tool = value.get("role"), value.get("text", value.get("content", "")), value.get("tool")
    if role not in ROLES:
        raise UserError(f"has the role {role!r}, not one of {', '.join(ROLES)}", where=where, next_step=next_step)
    if not isinstance(text, str) or not (tool is None or isinstance(tool, str)):
        raise UserError("has a 'text', 'content' or 'tool' that is no text", where=where, next_step=next_step)
    return Message(role, text, tool, number)


def _listen(found: list[_Found], message: Message, spoken: int) -> None:
    """Add what one message asks for, sentence by sentence, and take back what it takes back."""
    sentences = own_words(without_injected(message.text))
    requests = [(one, True) for one in requests_in(sentences)] + [(one, False) for one in standing_in(sentences)]
    for number, sentence in enumerate(sentences):
        taken_back = signals.RETRACTED.match(sentence.bare)
        if taken_back and not sentence.is_question:
            _take_back(found, taken_back, sentences, number, message, spoken)
        found += [
            _Found(request, message, spoken, explicit) for request, explicit in requests if request.sentence == number
        ]


def _take_back(
    found: list[_Found],
    words: re.Match[str],
    sentences: Sequence[Sentence],
    number: int,
    message: Message,
    spoken: int,
) -> None:
    """Drop what was said last; the words after "no, forget that" take its place."""
    reach = [one for one in found if spoken - one.spoken <= REACH]
    if topic := words.groupdict().get("topic"):
        wanted = set(normalise(topic).split()) - {"the", "a", "an", "about", "my", "our"}
        gone = [one for one in reach if wanted & set(normalise(one.request.content).split())]
    else:
        gone = [one for one in reach if (one.spoken, one.request.sentence) == _last(reach)]
    for one in gone:
        found.remove(one)
    if gone and (request := _correction(words, sentences, number)) is not None:
        found.append(_Found(request, message, spoken, gone[-1].is_explicit))


def _last(reach: Sequence[_Found]) -> tuple[int, int]:
    return max(((one.spoken, one.request.sentence) for one in reach), default=(-1, -1))


def _correction(words: re.Match[str], sentences: Sequence[Sentence], number: int) -> Request | None:
    """What takes the place of what was taken back: the rest of the sentence, else the next one of the message."""
    sentence = sentences[number]
    kept = signals.AFTER_RETRACTION.sub("", sentence.bare[words.end() :], count=1)
    start = len(sentence.bare) - len(kept)
    rest = sentence.text[start:].strip()
    if wording.weight(rest) >= 2:
        return Request(rest[:1].upper() + rest[1:], one_line(sentence.text), whose(sentence.bare[start:]), number)
    following = sentences[number + 1] if number + 1 < len(sentences) else None
    if following is None or following.is_question or signals.TEMPORARY.search(following.bare):
        return None
    if requests_in([following]) or standing_in([following]):
        return None
    return Request(one_line(following.text), one_line(following.text), whose(following.bare), number + 1)


def _sorted_out(found: Iterable[_Found], project: str | None) -> Extraction:
    """Whose rule it is decides where it goes (RULES 4); what is not clear, or of no known project, waits."""
    extraction = Extraction([], [])
    for one in found:
        request = one.request
        if _CONTROL.search(request.content):
            continue
        quote = clip_quote(request.quote, MAX_QUOTE)
        scope = Scope.PROJECT if request.scope is Whose.PROJECT else Scope.USER
        operation = _create(request.content, scope, f"turn:{one.message.number}", quote, explicit=one.is_explicit)
        is_clear = request.scope is not Whose.UNCLEAR
        if request.scope is Whose.ONLY_HERE:
            is_clear = project is not None
            operation |= {"project": project} if is_clear else {}
        if one.is_explicit and is_clear:
            extraction.commits.append(operation)
        else:
            extraction.holds.append(operation)
    return extraction


def _create(content: str, scope: Scope, at: str, quote: str, *, explicit: bool) -> Operation:
    kind = Kind.CONSTRAINT if wording.is_binding(content) else Kind.CONVENTION
    return {
        "op": "create",
        "scope": scope.value,
        "section": "Preferences" if scope is Scope.USER else section_for(content),
        "content": content,
        "kind": (Kind.PREFERENCE if scope is Scope.USER else kind).value,
        "confidence": (Confidence.HIGH if explicit else Confidence.MEDIUM).value,
        "score": EXPLICIT_SCORE if explicit else STANDING_SCORE,
        "score_reason": "explicit request" if explicit else "standing rule in a person's words",
        "evidence": [{"at": at, "quote": quote}],
    }
