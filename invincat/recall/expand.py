"""Words that no memory has: taken apart where they are two words run together, else for the one they were meant as."""

from collections.abc import Callable, Iterator, Sequence
from string import ascii_lowercase
from typing import Final

from invincat.recall.analysis import Asked, stem
from invincat.recall.ranking import NAME_WEIGHT

# What a guess counts beside what was asked for.
GUESS_WEIGHT: Final = 0.5
# In short words one letter makes another word.
SHORTEST: Final = 7
LONGEST: Final = 24
SHORTEST_PART: Final = 3
# More unknown words than that are no slips, but a text about something else.
MOST: Final = 4


def weigh(asked: Sequence[Asked], has: Callable[[str], bool]) -> dict[str, float]:
    """What each term of a question counts, with those that stand in for words that the store does not have."""
    weights: dict[str, float] = {}
    tried = 0
    for term, surface, is_name in asked:
        weights[term] = max(weights.get(term, 0.0), NAME_WEIGHT if is_name else 1.0)
        word = surface.lower()
        if tried < MOST and SHORTEST <= len(word) <= LONGEST and word.isascii() and word.isalpha() and not has(term):
            tried += 1
            for guess in _guesses(word, has):
                weights.setdefault(guess, GUESS_WEIGHT)
    return weights


def _guesses(word: str, has: Callable[[str], bool]) -> tuple[str, ...]:
    halves = ((word[:at], word[at:]) for at in range(SHORTEST_PART, len(word) - SHORTEST_PART + 1))
    apart = ((stem(left), stem(right)) for left, right in halves)
    found = next(((left, right) for left, right in apart if has(left) and has(right)), None)
    return found or tuple({guess for slip in _slips(word) if has(guess := stem(slip))})


def _slips(word: str) -> Iterator[str]:
    """Words that one slip of the hand away: a letter too many, too few, another, or two swapped; the first stays."""
    for at in range(1, len(word) + 1):
        head, tail = word[:at], word[at:]
        if tail:
            yield head + tail[1:]
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]
        for letter in ascii_lowercase:
            yield head + letter + tail
            if tail:
                yield head + letter + tail[1:]
