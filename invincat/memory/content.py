"""Content as people and models give it, and the title and body that a memory keeps of it (FORMAT `title`)."""

import hashlib
import re
import unicodedata

from invincat.memory.entry import MAX_TITLE

# A sentence ends at a full stop that is followed by space, or at a CJK stop; abbreviations, the numbers of a list
# and inline code do not end one: the first branch takes a code span whole.
_SENTENCE_END = re.compile(
    r"(?P<code>(?P<ticks>`+).+?(?P=ticks)(?!`))|(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)(?<!\bcf)(?<!\s\d)(?<!\s\d\d)[.!?](?=\s)|[。！？]"
)


def tidy(content: str) -> str:
    """LF line ends, no trailing space, no outer empty lines."""
    lines = (line.rstrip() for line in content.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    return "\n".join(lines).strip("\n")


def split_content(content: str, title: str | None = None) -> tuple[str, str]:
    """Title and body of a memory.

    Without a title given, it is the first sentence, cut at a word to 120 characters; the body is what the
    title leaves out, or the whole content where the title had to be cut.
    """
    content = tidy(content).strip()
    if title is not None:
        body = content
        return title, "" if normalise(body) == normalise(title) else body
    first, _, rest = content.partition("\n")
    first = first.strip()
    found = next((end for end in _SENTENCE_END.finditer(first) if not end["code"]), None)
    sentence = first[: found.end()] if found else first
    tail = first[len(sentence) :].strip()
    title = " ".join(sentence.split()).rstrip(" .。")
    if not title:
        title, tail = " ".join(first.split()), ""
    if len(title) > MAX_TITLE:
        return clip(title, MAX_TITLE), content
    body = tidy("\n".join(part for part in (tail, rest.strip("\n")) if part))
    return title, body


def one_line(text: str) -> str:
    """All white space folded to single spaces."""
    return " ".join(text.split())


def normalise(text: str) -> str:
    """What two texts must share to be called equal (RULES 4 "Duplicates"): case, width, space and final dots fold."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(" .。!！;；")


def fingerprint(title: str, body: str) -> str:
    """16 hex digits that are the same for equal content (after `normalise`)."""
    return hashlib.blake2b(normalise(f"{title}. {body}").encode(), digest_size=8).hexdigest()


def clip(text: str, most: int) -> str:
    """At most `most` characters, cut at a word where there is one, with an ellipsis."""
    if len(text) <= most:
        return text
    head = text[: most - 1]
    space = head.rfind(" ")
    return f"{(head[:space] if space > most // 2 else head).rstrip()}…"
