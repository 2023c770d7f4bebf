"""What to tell a model beside one message: at most three memories, and nothing rather than noise.

A search always has a best hit; a prompt need have none. A hit is told when the prompt names what it is about: one
sentence has a good part of its claim's words, or a name that stands in it (an identifier, a path, a flag).
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from invincat.recall.analysis import ask, chunks, telling_words
from invincat.recall.hit import Hit

MOST: Final = 3
# Of a prompt so many characters are looked at: what is wanted stands there, and a long paste has words of everything.
MAX_PROMPT: Final = 400
# Of so many hits the first is looked for; beyond them none was ever told.
CANDIDATES: Final = 12

# Words of the claim that a sentence of the prompt must have, and their share of it.
LEAST_WORDS: Final = 2
LEAST_SHARE: Final = 0.6

# Lines are wrapped: only an empty one ends a sentence.
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n\s*\n")


def to_tell(prompt: str, hits: Iterable[Hit]) -> list[Hit]:
    """Of the hits for a prompt, best first, those above the floor that hold here."""
    prompt = prompt[:MAX_PROMPT]
    said = [frozenset(telling_words(chunks(sentence))) for sentence in _SENTENCE_END.split(prompt)]
    names = frozenset(asked.term for asked in ask(prompt) if asked.is_name)
    told = (hit for hit in hits if not hit.mark and (_claims(hit, said) or _names(hit, names)))
    return [hit for hit, _ in zip(told, range(MOST), strict=False)]


def _claims(hit: Hit, said: Sequence[frozenset[str]]) -> bool:
    """Whether a sentence has a good part of the claim's words."""
    words = frozenset(telling_words(chunks(hit.title)))
    shared = max(len(words & sentence) for sentence in said)
    return shared >= LEAST_WORDS and shared >= LEAST_SHARE * len(words)


def _names(hit: Hit, names: frozenset[str]) -> bool:
    """Whether the claim has a name that the prompt has, whole."""
    return any(not names.isdisjoint(chunk.names) for chunk in chunks(hit.title))
