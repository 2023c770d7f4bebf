"""One analyser for what is indexed and what is asked: words, stems, identifiers and their parts, CJK pairs."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

import Stemmer

from invincat.recall.words import CJK_FUNCTION_WORDS, CJK_PARTICLES, FUNCTION_WORDS

# Han, Hiragana, Katakana and Hangul: written without spaces, or with endings that no English stemmer takes off.
_CJK: Final = (
    "\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3131-\u318e\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_LETTER: Final = rf"[^\W{_CJK}]"
# A chunk is a run of CJK, or what people write as one word: a name with dots, dashes or slashes, a version, C++.
_JOINED: Final = r"[A-Za-z](?:\+\+|\#)(?!\w)|{letter}+(?:(?:[-./\\:@+'\u2019]|::|://){letter}+)*"
_ASCII_CHUNK: Final = re.compile(_JOINED.format(letter=r"\w"))
# Text, as compiling these classes takes a fortieth of a cold search, which may never meet them.
_CHUNK: Final = f"[{_CJK}]+|{_JOINED.format(letter=_LETTER)}"
_SEGMENT: Final = re.compile(r"[^\W\d_]+|\d+")
_HUMP: Final = re.compile(r"[A-Z]{2,}s(?![A-Za-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_CONTRACTION: Final = re.compile(r"[^\W\d_]+'(?:d|ll|m|re|s|t|ve)", re.IGNORECASE)
_IS_CJK: Final = f"[{_CJK}]"
_APOSTROPHE: Final = str.maketrans("\u2019", "'")
_PLAIN_NAME: Final = re.compile(r"[^\W\d_]+(?:[-_][^\W\d_]+)+")
_JOINTS: Final = str.maketrans("", "", "-_")
# Accents only: the marks that change a kana or a vowel of an Indic script stand elsewhere.
_ACCENTS: Final = re.compile("[\u0300-\u036f]")

_STEMMER: Final = Stemmer.Stemmer("english")


class Chunk(NamedTuple):
    """A stretch of text as it is written: the names that it is as a whole, and the words in it, as terms."""

    surface: str
    names: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def terms(self) -> tuple[str, ...]:
        """All that it is indexed under."""
        return self.names + self.words


class Asked(NamedTuple):
    """A term to look for; the word of the question that it comes from; whether it is a name of several words."""

    term: str
    word: str
    is_name: bool


def tokens(text: str) -> list[str]:
    """The terms to index, in order and with repetitions; nothing is left out."""
    return [term for chunk in chunks(text) for term in chunk.terms]


def ask(text: str) -> list[Asked]:
    """What to look for, in order, each term once; empty when there is no word in the text (RULES 8).

    Function words are dropped unless there is nothing else, also those within a name; a CJK character is looked for
    by itself only when it stands alone.
    """
    everything: dict[str, Asked] = {}
    telling: dict[str, Asked] = {}
    for chunk in chunks(text):
        for term in _wanted(chunk):
            asked = everything.setdefault(term, Asked(term, chunk.surface, term in chunk.names))
            if not _is_function(chunk, term):
                telling.setdefault(term, asked)
    return list((telling or everything).values())


def query_terms(text: str) -> list[str]:
    """The terms alone of what to look for."""
    return [asked.term for asked in ask(text)]


def telling_words(found: Iterable[Chunk]) -> list[str]:
    """The words of a text in order, repeated as they are, without function words and without names of several."""
    return [word for chunk in found if chunk.surface.lower() not in FUNCTION_WORDS for word in chunk.words]


def chunks(text: str) -> Iterator[Chunk]:
    """The words of a text with their terms; `surface` is the word after NFKC, without accents."""
    folded = fold(text)
    return (_chunk(found[0]) for found in re.finditer(_ASCII_CHUNK if folded.isascii() else _CHUNK, folded))


def is_cjk(surface: str) -> bool:
    """Whether a chunk is a run of CJK, which nobody wrote as one word."""
    return not surface.isascii() and bool(re.match(_IS_CJK, surface))


def fold(text: str) -> str:
    """NFKC without accents on letters, so that what looks alike is alike."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text)))


def pairs(run: str) -> tuple[str, ...]:
    """The characters of a run of CJK, and each two that stand side by side."""
    return (*run, *(run[i : i + 2] for i in range(len(run) - 1)))


@lru_cache(maxsize=65536)
def _chunk(surface: str) -> Chunk:
    if not is_cjk(surface):
        return Chunk(surface, *_terms(surface))
    from invincat.recall.han import simplified  # noqa: PLC0415 - a large table, which a store without CJK never needs

    return Chunk(surface, (), pairs(simplified(surface)))


def _terms(word: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names: the whole, and the compound names in a path. Words: those in it, and the humps of camel case.

    A lone letter is no part worth finding. `order_repo`, `order-repo` and `OrderRepo` are one name, that of who
    writes it as one word.
    """
    word = word.translate(_APOSTROPHE)
    whole = word.casefold()
    if _CONTRACTION.fullmatch(word):
        return (), (stem(whole),)
    segments = _SEGMENT.findall(word)
    if not segments:
        return (), ()
    humps = [_humps(segment) for segment in segments]
    if segments == [word]:
        words = humps[0]
        return ((stem(whole),), _stems(words)) if words else ((), (stem(whole),))
    if [whole] == [segment.casefold() for segment in segments]:
        return (), (stem(whole),)
    parts = [part for segment, its in zip(segments, humps, strict=True) for part in (segment, *its)]
    names = [name for name in whole.split("/") if len(_SEGMENT.findall(name)) > 1] if "/" in whole else []
    return tuple(map(_joined, (whole, *names))), _stems(parts)


def _joined(name: str) -> str:
    return stem(name.translate(_JOINTS)) if _PLAIN_NAME.fullmatch(name) else name


def _stems(parts: Iterable[str]) -> tuple[str, ...]:
    return tuple(stem(part.casefold()) for part in parts if len(part) > 1 or part.isdecimal())


def _humps(segment: str) -> list[str]:
    humps = _HUMP.findall(segment) if segment.isascii() else []
    return humps if len(humps) > 1 else []


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """What the forms of a word have in common; the word is in lower case."""
    found: str = _STEMMER.stemWord(word)
    return found


def _wanted(chunk: Chunk) -> tuple[str, ...]:
    """The terms of a chunk of a question."""
    return tuple(term for term in chunk.terms if len(term) > 1) or chunk.terms if is_cjk(chunk.surface) else chunk.terms


def _is_function(chunk: Chunk, term: str) -> bool:
    if is_cjk(chunk.surface):
        return term in CJK_FUNCTION_WORDS or not CJK_PARTICLES.isdisjoint(term)
    if chunk.surface.translate(_APOSTROPHE).casefold() in FUNCTION_WORDS:
        return True
    return bool(chunk.names) and term not in chunk.names and term in _FUNCTION_STEMS


_FUNCTION_STEMS: Final = frozenset(map(stem, FUNCTION_WORDS))
