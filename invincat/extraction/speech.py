"""What a person says in their own words: code, quotations, pastes and machine output cut away (RULES 4, 5.5)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from invincat.extraction.sentences import sentence_spans

# A paragraph this long in a message this long was written elsewhere.
MAX_MESSAGE = 3000
MAX_PARAGRAPH = 700
# Of a message longer than twice this, only the beginning and the end are read (RULES 5.3).
MAX_READ = 6000

# Whole blocks that are nobody's words, cut first, in this order.
_BLOCKS: Final = (
    re.compile(r"^[ \t]*(?P<fence>`{3,}|~{3,}).*?(?:^[ \t]*(?P=fence)[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE),
    re.compile(r"(?P<quotes>\"\"\"|''').*?(?:(?P=quotes)|\Z)", re.DOTALL),
    re.compile(r"<(?P<tag>[A-Za-z][\w-]*)(?:\s[^<>]*)?>.*?</(?P=tag)(?:\s[^<>]*)?>", re.DOTALL),
    # A tag that is never closed, of the kind that programs write.
    re.compile(r"<[a-z]+(?:[-_][a-z]+)+(?:\s[^<>]*)?>.*", re.DOTALL),
    re.compile(r"^Traceback \(most recent call last\):.*?(?=\n[ \t]*\n|\Z)", re.DOTALL | re.MULTILINE),
    # A document with headings is a paste, and so is all that follows it.
    re.compile(r"^#{1,6} \S.*", re.DOTALL | re.MULTILINE),
)
# A line that announces somebody else's words; all that follows it is theirs.
_ANNOUNCED: Final = re.compile(
    r"^[^\n]*\b(?:feedback|comments?|reviews?|messages?|errors?|outputs?|logs?|issues?|description|stack ?trace|"
    r"traceback|says?|said|wrote|writes|reads|replied|article|docs?|documentation|prompt|email|spec|snippet|plan|"
    r"following text|ticket)\b[^\n.!?。]{0,40}[:：][ \t]*\n(?P<theirs>.*)|"
    r"^[^\n]*(?:报错|日志|反馈|评论|原文|输出|他说|她说)[^\n。]{0,20}[:：][ \t]*\n(?P<ihre>.*)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
# Lines that machines write.
_MACHINE_LINE: Final = re.compile(
    r"[ \t]*(?:>|diff --git |index [0-9a-f]{7}|@@ |\+\+\+ |--- |\+\s|\$ |❯|»|#\s*$|%\s|PS [A-Z]:|"
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:|\d\d:\d\d:\d\d\b|at [\w.$<>]+ ?\(|File \"|\s*\^+\s*$|"
    r"(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|TRACE|FAIL(?:ED)?|E  )\b[:\s\]]|\S+:\d+(?::\d+)?:?\s|\d+(?::|"
    r"\s*\|)(?:\s|$)|"
    r"[\w.]*(?:Error|Exception|Warning): |--- FAIL|=== RUN|npm ERR|error(?:\[\w+\])?: |warning: |\|.*\|\s*$|\{.*\}\s*$)"
)
# Words inside a sentence that are somebody else's, or code: they stay in it, but say nothing by themselves.
_MASKED: Final = (
    re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)"),
    re.compile(
        r"\"[^\"\n]+\"|“[^”\n]+”|«[^»\n]+»|「[^」\n]+」|『[^』\n]+』|(?<!\w)'[^'\n]{2,}'(?!\w)|‘[^’\n]{2,}’(?!\w)"
    ),
    re.compile(r"https?://\S+"),
)
_ITEM: Final = re.compile(r"[ \t]*(?:[-*+•]|\d{1,2}[.)、])\s+")
_INDENTED: Final = re.compile(r"(?: {4}|\t)")
_QUESTION: Final = re.compile(
    r"(?i)^(?:(?:and|so|but|hm+|ok(?:ay)?|q)[\s,:]+)*(?:why|how|what|who|whose|where|when (?:do|does|did|is|are|will|"
    r"should)|"
    r"which|do|does|did|is|are|am|was|were|can|could|would|will|should|shall|may|has|have you|have we|isn't|aren't|"
    r"don't (?:we|you|they|i)|doesn't|didn't|wouldn't|shouldn't|couldn't|any (?:idea|reason|way))\b|[?？]\W*$|"
    r"[吗呢么]\W*$|"
    r"^(?:为什么|怎么|如何|是否|能不能|可不可以|要不要|是不是|有没有)"
)


@dataclass(frozen=True)
class Sentence:
    """A sentence of a person. `bare` is `text` with quoted words, code and links blanked, at the same offsets.

    `paragraph` numbers the line or list item it belongs to, `block` what no empty line parts.
    """

    text: str
    bare: str
    is_question: bool
    paragraph: int
    block: int


def own_words(text: str) -> list[Sentence]:
    """The sentences a person wrote as their own (RULES 4): in code, quotes, logs and pastes there are none."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if len(text) > 2 * MAX_READ:
        text = f"{text[:MAX_READ]}\n\n{text[-MAX_READ:]}"
    for pattern in _BLOCKS:
        text = pattern.sub("\n\n", text)
    if found := _ANNOUNCED.search(text):
        text = text[: found.start("theirs") if found["theirs"] is not None else found.start("ihre")]
    blocks = [block for block in re.split(r"\n[ \t]*\n", text) if block.strip()]
    if len(text) > MAX_MESSAGE:
        blocks = [block for block in (blocks[0], *blocks[1:][-1:]) if len(block) <= MAX_PARAGRAPH] if blocks else []
    found_sentences: list[Sentence] = []
    paragraph = 0
    for number, block in enumerate(blocks):
        for words in _paragraphs(block):
            paragraph += 1
            found_sentences += _sentences(words, paragraph, number)
    return found_sentences


def _paragraphs(block: str) -> Iterator[str]:
    """Lines, those that go on in the next one joined; machine lines and indented code left out."""
    lines = block.split("\n")
    if _INDENTED.match(lines[0]) and not _ITEM.match(lines[0]):
        lines = [line for line in lines if not _INDENTED.match(line)]
    current = ""
    for line in lines:
        if _MACHINE_LINE.match(line):
            if current:
                yield current
            current = ""
            continue
        goes_on = current and line.strip()[:1].islower() and not current.rstrip().endswith((".", "!", "?", ":", "："))
        if goes_on:
            current = f"{current}\n{line}"
            continue
        if current:
            yield current
        item = _ITEM.match(line)
        current = line[item.end() :] if item else line.strip()
    if current:
        yield current


def _sentences(words: str, paragraph: int, block: int) -> Iterator[Sentence]:
    bare = words
    for pattern in _MASKED:
        bare = pattern.sub(lambda found: "\x01" * len(found[0]), bare)
    for start, end in sentence_spans(bare):
        said = bare[start:end]
        if any(char.isalnum() for char in said):
            text = words[start:end]
            yield Sentence(text, said.replace("\n", " "), bool(_QUESTION.search(said)), paragraph, block)
