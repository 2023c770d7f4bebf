"""Whether new words claim another thing than the old ones, as far as words tell (RULES 1.9)."""

import re
from typing import Final

from invincat.memory.content import normalise

# What turns a claim round; "avoid" and "instead of" have too many other uses.
_NEGATION: Final = re.compile(
    r"\b(?:not|no|never|none|nobody|cannot|without|forbidden|prohibited|(?:do|does|did|is|are|was|ca|wo|should|must)n['’]?t)\b"
    r"|不|别|勿|禁止|没有|无需"
)
_CARRIERS: Final = frozenset({"do", "does", "did", "be", "always", "to", "ever"})
_VALUE: Final = re.compile(r"\d+(?:[.:,/-]\d+)*")


def claims_otherwise(old: str, new: str) -> str | None:
    """What of a claim became another: its polarity, or the value in words that stayed; None where neither is seen."""
    before, after = normalise(old), normalise(new)
    if _without_negation(before) == _without_negation(after) and _is_negative(before) is not _is_negative(after):
        return "a negation was added or removed"
    values = _VALUE.findall(before), _VALUE.findall(after)
    if values[0] != values[1] and all(values) and _VALUE.sub("", before) == _VALUE.sub("", after):
        return "it names another value"
    return None


def _is_negative(text: str) -> bool:
    return bool(_NEGATION.search(text))


def _without_negation(text: str) -> list[str]:
    """The words that are left, small ones that negations bring along aside."""
    return [word for word in _NEGATION.sub(" ", text).split() if word not in _CARRIERS]
