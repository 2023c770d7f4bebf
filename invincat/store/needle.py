"""What a purge looks for, and what stands in its place afterwards."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from slugify import slugify

from invincat.errors import UserError

# A word that every place can take: prose, YAML, JSON, a tag, a slug, a path, a branch.
PUT: Final = "purged"
# The shortest piece of a text, cut off by an ellipsis or a name's length, that is taken for it.
_PIECE: Final = 4
_SLUG_PIECE: Final = 8
# What stands in every store; who would match it would take the store apart.
_FORMAT: Final = f"""{PUT}
---
id: 01JDXQ6T3M9V0K8Y2W5R7N4B1C
kind: convention
scope: project
confidence: high
tier: warm
verdict: valid
created_at: 2026-11-29T10:00:00Z
invalid_at: null
superseded_by: null
source:
  actor: user
---
memory/general/
format: 1
Invincat-Op: create
Invincat-Memory: """.splitlines()


@dataclass(frozen=True)
class Needle:
    """A text or pattern, found however JSON or YAML spell it.

    `texts` are literal ones, which `pattern` finds; `names` are files and folders called after it, and their new names.
    """

    pattern: re.Pattern[str]
    texts: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def of_texts(texts: Iterable[str]) -> "Needle":
        """Literal texts, in any case, with any white space and under any number of JSON's backslashes."""
        found = tuple(sorted({" ".join(text.split()) for text in texts if text.strip()}, key=lambda t: (-len(t), t)))
        return Needle(re.compile("|".join(_spelled(text) for text in found) or r"(?!)", re.IGNORECASE), found)

    @staticmethod
    def of_pattern(pattern: str) -> "Needle":
        """A regular expression of Python's; UserError for one that is none."""
        try:
            return Needle(re.compile(pattern))
        except re.error as fault:
            raise UserError(f"is no regular expression: {fault.msg}", where="--pattern") from None

    def with_names(self, names: Mapping[str, str]) -> "Needle":
        """This, and whole names that were made from it, with what each is called from now on."""
        return replace(self, names=dict(names))

    def require_narrow(self) -> None:
        """UserError for what the format itself says, or for what matches nothing at all."""
        if any(self.pattern.search(text) for text in _FORMAT):
            raise UserError("matches words of the format itself", next_step="give more of the text")

    def search(self, text: str) -> bool:
        """Whether it stands in a text, as it is or below JSON's quoting."""
        return bool(self._called and self._called.search(text)) or any(True for _ in self.matches(text))

    def stands_in(self, text: str) -> bool:
        """Whether it stands in a text as it is."""
        return any(True for _ in self._found(text))

    def matches(self, text: str) -> Iterator[str]:
        """What was found, word for word; what stands in place of something purged is not."""
        for part in (text, *_quoted_in(text)):
            yield from self._found(part)

    def _found(self, text: str) -> Iterator[str]:
        return (match[0] for match in self.pattern.finditer(text) if match[0] != PUT[: len(match[0])])

    def sub(self, text: str) -> str:
        """The text with `purged`, or as much of it as there is room for, in the place of what is sought."""
        if self._called:
            text = self._called.sub(lambda match: self.names[match[0]], text)
        return self.pattern.sub(lambda match: PUT[: len(match[0])], text)

    @cached_property
    def _called(self) -> re.Pattern[str] | None:
        words = "|".join(re.escape(name) for name in sorted(self.names, key=len, reverse=True))
        return re.compile(rf"(?<![0-9A-Za-z])(?:{words})(?![0-9A-Za-z])") if words else None

    def sub_json(self, value: Any) -> Any:
        """The same for every string in a JSON value; a string that is JSON itself stays so."""
        if isinstance(value, dict):
            return {self.sub(key): self.sub_json(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.sub_json(inner) for inner in value]
        if not isinstance(value, str):
            return value
        if value[:1] in {"{", "["} and (inner := _json(value)) is not None and (clean := self.sub_json(inner)) != inner:
            return json.dumps(clean, ensure_ascii=False)
        return self.sub(value)

    def cut(self, text: str, found: Iterable[str]) -> str:
        """A clipped text without the piece of what was found in full elsewhere that it ends with."""
        head = text[:-1].rstrip()
        length = _overlap(head, [*found, *self.texts], _PIECE) if text.endswith("…") else 0
        return f"{head[:-length]}{PUT[:length]}…" if length else text


def rename(name: str, needle: Needle, found: Iterable[str]) -> str:
    """What a file or folder is called whose name was made from what was found."""
    slugs = sorted({slug for text in found if len(slug := slugify(text)) >= _PIECE}, key=len)[::-1]
    stem, dot, suffix = needle.sub(name).partition(".")
    for slug in slugs:
        stem = re.sub(rf"(?<![0-9a-z]){slug}(?![0-9a-z])", PUT[: len(slug)], stem)
    length = _overlap(stem, slugs, _SLUG_PIECE)
    stem = f"{stem[:-length].rstrip('-')}-{PUT}".strip("-") if length else stem
    return f"{stem}{dot}{suffix}"


def _overlap(text: str, wholes: Iterable[str], least: int) -> int:
    """How much of the end of a text is the beginning of one of the others."""
    longest = 0
    for whole in wholes:
        for length in range(min(len(text), len(whole)), least - 1, -1):
            if text[-length:].lower() == whole[:length].lower():
                longest = max(longest, length)
                break
    return longest


def _spelled(text: str) -> str:
    return "".join(_letter(letter) for letter in text)


def _letter(letter: str) -> str:
    if letter == " ":
        return r"(?:\s|\\+[nrt])+"
    if letter == "\\":
        return r"\\+"
    if letter in "\"'/":
        return rf"\\*{letter}"
    if letter.isascii():
        return re.escape(letter)
    escaped = "".join(rf"\\+u{code}" for code in re.findall("....", letter.encode("utf-16-be").hex()))
    return f"(?:{re.escape(letter)}|{escaped})"


_QUOTED: Final = re.compile(r'"(?:[^"\\\n]|\\[^\n])*"')


def _quoted_in(text: str) -> Iterator[str]:
    """The strings with escapes in a text, read as JSON reads them, and those inside of these."""
    for match in _QUOTED.finditer(text) if "\\" in text else ():
        inner = _json(match[0]) if "\\" in match[0] else None
        if isinstance(inner, str):
            yield inner
            yield from _quoted_in(inner)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
