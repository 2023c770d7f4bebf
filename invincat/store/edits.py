"""What a purge takes out of a history: one memory whole, or a text wherever it stands.

Of a memory every version goes, and so does what the commits about it say; files of others keep their bytes. A text is
replaced by the word `purged`, in old versions too: the history goes on telling when and why something was believed.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from invincat.memory.content import clip, one_line
from invincat.memory.entry import InvalidMemory, Memory
from invincat.memory.frontmatter import parse, parse_marker, rewrite
from invincat.memory.yaml_scan import MalformedFile
from invincat.store.message import Message, read
from invincat.store.needle import PUT, Needle

# As a marker gives the hashes of a text (`memory.marker`).
_HASH: Final = re.compile(rb"(?<![0-9a-f])(?:[0-9a-f]{64}|[0-9a-f]{16})(?![0-9a-f])")

# Values of these keys are what a person or model wrote; the others are the format's own.
_SAID: Final = (
    *("title", "section", "project", "score_reason", "source", "applies_to", "tags"),
    *("check", "unknown", "body", "tombstone"),
)


class MemoryEdit:
    """Takes out the memory with an id. `needle` finds its titles and texts in what commits say."""

    def __init__(self, id: str, needle: Needle) -> None:
        self._id = id
        self._needle = needle
        self._is_of = is_of(id)

    def file(self, data: bytes) -> bytes | None:
        """None for a version of it, or an old marker."""
        return None if self._is_of(data) else data

    def name(self, name: str) -> str:
        """As it is."""
        return name

    def person(self, line: str) -> str:
        """As it is."""
        return line

    def message(self, text: str, *, is_touched: bool) -> str:
        """Of commits about it only what programs need; of others what does not repeat it."""
        said = read(text)
        if said.op != "purge" and (self._id in {*said.memories, said.successor} or is_touched):
            return _bare(said, self._id)
        return self._needle.sub(text)


class TextEdit:
    """Replaces a text or what a pattern finds. `names` says how files and folders are called from now on.

    `hashes` are those of texts that held it, as markers of deleted memories have them, and what takes their place: by
    the old ones it could be tried out.
    """

    def __init__(
        self, needle: Needle, names: Mapping[str, str], hashes: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._needle = needle
        self._names = names
        self._hashes = hashes

    def file(self, data: bytes) -> bytes | None:
        """The file with `purged` in its place; None where no memory would be left of one."""
        if self._hashes:
            data = _HASH.sub(lambda found: self._hashes.get(found[0].decode(), "").encode() or found[0], data)
        text = data.decode("utf-8", "surrogateescape")
        if not self._needle.search(text):
            return data
        memory = _parsed(text)
        if memory is None:
            return _bytes(self._needle.sub(text))
        try:
            clean = self._needle.sub(rewrite(text, self._memory(memory, text)))
        except (InvalidMemory, msgspec.ValidationError):
            clean = self._needle.sub(text)
        return _bytes(clean) if _parsed(clean) and not self._needle.search(clean) else None

    def name(self, name: str) -> str:
        """The name without it."""
        return self._names.get(name, name)

    def person(self, line: str) -> str:
        """Name and e-mail without it."""
        return self._needle.sub(line)

    def message(self, text: str, *, is_touched: bool) -> str:
        """The message without it; of a subject that was cut nothing but what was done stays."""
        found = list(self._needle.matches(text))
        subject, end, rest = text.partition("\n")
        if (found or is_touched) and subject.endswith("…"):
            subject = f"{subject.partition(': ')[0]}: {PUT}"
        return self._needle.sub(subject) + end + self._needle.sub(rest)

    def _memory(self, memory: Memory, text: str) -> Memory:
        plain: dict[str, Any] = {key: msgspec.to_builtins(getattr(memory, key)) for key in _SAID}
        plain["title"] = self._needle.cut(memory.title, map(one_line, self._needle.matches(text)))
        whole = {**msgspec.to_builtins(memory), **self._needle.sub_json(plain)}
        return msgspec.convert(whole, Memory)


def is_of(id: str) -> Callable[[bytes], bool]:
    """Whether a file is a version of the memory with an id, readable or not, or a marker that is no purge's."""
    line = re.compile(rb"(?m)^id: *[\"']?" + id.encode() + rb"[\"']? *\r?$")
    return lambda data: bool(line.search(data)) and not is_purged(data)


def is_purged(data: bytes) -> bool:
    """Whether a file is the marker that a purge left."""
    try:
        return b"\npurged: true\n" in data and parse_marker(data).purged
    except MalformedFile:
        return False


def texts_of(data: bytes) -> list[str]:
    """What a version of a memory says, line by line as far as a line is long enough to be told from others."""
    memory = _parsed(data.decode("utf-8", "surrogateescape"))
    if memory is None:
        return []
    lines = [line.strip(" -*>#") for line in memory.body.splitlines()]
    quotes = [item.quote for item in memory.source.evidence if item.quote]
    parts = [memory.title, one_line(memory.body), *lines, *quotes, memory.score_reason or ""]
    return [part for part in parts if len(part) >= _TELLING]


# Shorter texts stand in other places for other reasons.
_TELLING: Final = 12


def _bare(said: Message, id: str) -> str:
    """A message that names a memory by its id only."""
    op = said.op or "import"
    names = said.memories or (id,)
    about = names[0] if len(names) == 1 else f"{len(names)} memories"
    by = f" by {said.successor}" if said.successor else ""
    trailers = [
        ("Op", op),
        *(("Memory", name) for name in names),
        ("Successor", said.successor),
        ("Actor", said.actor),
        ("Session", said.session),
    ]
    tail = "".join(f"Invincat-{key}: {value}\n" for key, value in trailers if value)
    return f"{clip(f'{op} {about}{by}', 120)}: {PUT}\n\n{tail}"


def _parsed(text: str) -> Memory | None:
    try:
        return parse(text)
    except (MalformedFile, UnicodeEncodeError):
        return None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
