"""Explicit requests and standing rules in what a person says (RULES 5.1, 5.5), and whose rule it is (RULES 4)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from invincat.extraction import signals, wording
from invincat.extraction.speech import Sentence, own_words
from invincat.memory.content import one_line

MAX_CONTENT = 1000
# A rule of fewer words says too little to stand alone.
LEAST_WORDS = 3
_MY_TEAM: Final = re.compile(r"(?i)\bmy (?:team|company)\b")
_NO_RULE: Final = (signals.TEMPORARY, signals.UNSURE, signals.REPORTED, signals.COMPLAINT)
_PIECES: Final = re.compile(r"[\s,.;:!…，。；：！、~～-]+")


class Whose(StrEnum):
    """Whose rule it is (RULES 4); `only here` is a person's own, limited to this project."""

    PROJECT = "project"
    USER = "user"
    ONLY_HERE = "only here"
    UNCLEAR = "unclear"


@dataclass(frozen=True)
class Request:
    """Something to remember: `content`, the literal words it was said in, whose it is, and the sentence's number."""

    content: str
    quote: str
    scope: Whose
    sentence: int = 0


def is_trivial(text: str) -> bool:
    """Whether a message is empty or only acknowledges (RULES 5.1); what asks to be remembered never is."""
    if not any(char.isalnum() for char in text):
        return True
    if len(text) > 120:
        return False
    return _only_acknowledges(text) and not find_requests(text) and not find_standing(text)


def find_requests(text: str) -> list[Request]:
    """What a person explicitly asks to remember, in their own words."""
    return requests_in(own_words(text))


def find_standing(text: str) -> list[Request]:
    """Standing rules in a person's everyday words; explicit requests are not among them."""
    return standing_in(own_words(text))


def requests_in(sentences: Sequence[Sentence]) -> list[Request]:
    """The explicit requests among the sentences of one message."""
    found: list[Request] = []
    for number, sentence in enumerate(sentences):
        for content, quote in _requested(sentences, number):
            if (request := _request(content, quote, number, sentence)) is not None:
                found.append(request)
    return found


def standing_in(sentences: Sequence[Sentence]) -> list[Request]:
    """The standing rules among the sentences of one message."""
    asked = {request.quote for request in requests_in(sentences)}
    return [
        Request(_stated(sentence.text), one_line(sentence.text), whose(sentence.bare), number)
        for number, sentence in enumerate(sentences)
        if one_line(sentence.text) not in asked and _stands(sentence) and not _is_joke(sentences, number)
    ]


def whose(bare: str) -> Whose:
    """Whose rule a sentence states, by its persons (RULES 4). Without any it is about the code, so the project's."""
    words = signals.WHOSE["frame"].sub(" ", bare)
    group = signals.WHOSE["group"].search(words)
    if signals.WHOSE["person"].search(_MY_TEAM.sub(" ", words)):
        if group:
            return Whose.UNCLEAR
        if signals.WHOSE["only here"].search(words):
            return Whose.ONLY_HERE
        return Whose.UNCLEAR if signals.WHOSE["place"].search(words) else Whose.USER
    return Whose.UNCLEAR if signals.WHOSE["manner"].search(words) and not group else Whose.PROJECT


def section_for(content: str) -> str:
    """A section by the first table row whose words it has; `General` for none."""
    return next((name for name, words in signals.SECTIONS if words.search(content)), "General")


def _only_acknowledges(text: str) -> bool:
    rest = " ".join(piece for piece in _PIECES.split(text.replace("’", "'")) if any(map(str.isalnum, piece)))
    while rest:
        found = signals.ACKNOWLEDGED.match(rest)
        if found is None:
            return False
        rest = rest[found.end() :].strip()
    return True


def _requested(sentences: Sequence[Sentence], number: int) -> list[tuple[str, str]]:
    """Content and quote of each thing that one sentence asks to remember."""
    sentence = sentences[number]
    if signals.RECALLED.search(sentence.bare) or _is_joke(sentences, number):
        return []
    for pattern in signals.REQUESTS:
        if (found := pattern.match(sentence.bare)) is not None:
            return _asked(found, sentences, number)
    return []


def _asked(found: re.Match[str], sentences: Sequence[Sentence], number: int) -> list[tuple[str, str]]:
    sentence = sentences[number]
    groups = found.groupdict()
    if "duty" in groups:
        stands = signals.DUTY.search(groups["duty"])
        return [(_as_order(sentence.text[found.start("duty") :]), sentence.text)] if stands else []
    if "claim" in groups and not (
        groups["claim"].lower().startswith(("we ", "i ")) or wording.has_verb(groups["claim"])
    ):
        return []
    content = sentence.text[found.start("content") : found.end("content")].strip(" ,，:：")
    if any(char.isalnum() for char in content):
        return [_continued(sentences, number, content)]
    points_on = sentence.bare.rstrip().endswith((":", "："))
    return _following(sentences, number) if points_on else _preceding(sentences, number)


def _continued(sentences: Sequence[Sentence], number: int, content: str) -> tuple[str, str]:
    """The content with the sentences of its line that lean on it."""
    quote = sentences[number].text
    for later in sentences[number + 1 :]:
        if later.paragraph != sentences[number].paragraph or later.is_question or not wording.is_dependent(later.bare):
            break
        content, quote = f"{content} {later.text}", f"{quote} {later.text}"
    return content, quote


def _following(sentences: Sequence[Sentence], number: int) -> list[tuple[str, str]]:
    """Each line after "remember:", to the next empty line (or the next block, when nothing follows at once)."""
    later = sentences[number + 1 :]
    if not later or later[0].block > sentences[number].block + 1:
        return []
    block = later[0].block
    lines: dict[int, list[str]] = {}
    for one in later:
        if one.block != block or one.is_question:
            break
        lines.setdefault(one.paragraph, []).append(one.text)
    return [(text, text) for text in (" ".join(line) for line in lines.values())]


def _preceding(sentences: Sequence[Sentence], number: int) -> list[tuple[str, str]]:
    before = sentences[number - 1] if number else None
    if before is None or before.is_question:
        return []
    return [(before.text, before.text)]


def _request(content: str, quote: str, number: int, sentence: Sentence) -> Request | None:
    # "Can you please remember that ...?" asks politely, and not whether it is so.
    content = _stated(content.rstrip("?？ ") if _asks_politely(sentence) else content)
    bare = sentence.bare if quote == sentence.text else content
    if wording.weight(content) < 2 or signals.TEMPORARY.search(bare) or content.rstrip().endswith(("?", "？")):
        return None
    return Request(content[:MAX_CONTENT].rstrip(), one_line(quote), whose(_without_request(bare)), number)


def _asks_politely(sentence: Sentence) -> bool:
    return sentence.is_question and bool(signals.POLITE.match(sentence.bare))


def _without_request(bare: str) -> str:
    """The sentence without "I want you to remember that", whose person is nobody's rule."""
    for pattern in signals.REQUESTS:
        if (found := pattern.match(bare)) is not None:
            groups = found.groupdict()
            return groups.get("content") or groups.get("duty") or bare
    return bare


def _as_order(duty: str) -> str:
    """`to run the tests` as `run the tests`, `not to` as `do not`."""
    negative = re.match(r"(?i)not\s+to\s+", duty)
    rest = re.sub(r"(?i)^(?:not\s+)?to\s+", "", duty)
    return f"Do not {rest}" if negative else rest


def _stated(words: str) -> str:
    words = one_line(words).strip(" ,;:，；：-–—")
    return words[:1].upper() + words[1:]


def _stands(sentence: Sentence) -> bool:
    bare = sentence.bare
    if sentence.is_question or wording.weight(bare) < LEAST_WORDS or any(one.search(bare) for one in _NO_RULE):
        return False
    main = signals.CONDITION.sub("", bare, count=1)
    if signals.CHOICE.search(main) or signals.ABOUT_TASK.search(main):
        return False
    return any((found := one.search(main)) is not None and _orders(found, main) for one in signals.STANDING)


def _orders(found: re.Match[str], main: str) -> bool:
    """Whether the phrase tells what is to be done, and not what happened."""
    groups = found.groupdict()
    if "time" in groups:
        rest = main[found.end() :].strip(" ,:.!。")
        # "Use httpx from now on" gives the order first; "use it from now on" says nothing alone.
        head = main[: found.start()]
        orders = wording.is_directive(rest or head) and (bool(rest) or not wording.is_dependent(head))
        return orders or bool(signals.SOMEBODY.search(main))
    verb = (groups.get("verb") or "").lower()
    if not verb:
        return True
    if groups.get("group"):
        is_past = verb.endswith("ed") and verb != "need" and not wording.is_order_verb(verb)
        return not is_past and verb not in signals.NARRATION and not signals.TROUBLE.match(main, found.start("verb"))
    return wording.is_order_verb(verb)


def _is_joke(sentences: Sequence[Sentence], number: int) -> bool:
    around = sentences[number : number + 2]
    return any(signals.JOKE.search(one.bare) for one in around)
