"""One analyser for what is indexed and what is asked: words, stems, identifiers and their parts, CJK pairs."""

import re
import unicodedata
from collections.abc import Iterator
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
_CHUNK: Final = re.compile(
    rf"(?P<cjk>[{_CJK}]+)|[A-Za-z](?:\+\+|\#)(?!\w)|{_LETTER}+(?:(?:[-./\\:@+'\u2019]|::|://){_LETTER}+)*"
)
_SEGMENT: Final = re.compile(r"[^\W\d_]+|\d+")
_HUMP: Final = re.compile(r"[A-Z]{2,}s(?![A-Za-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_CONTRACTION: Final = re.compile(r"[^\W\d_]+'(?:d|ll|m|re|s|t|ve)", re.IGNORECASE)
_IS_CJK: Final = re.compile(f"[{_CJK}]")
_APOSTROPHE: Final = str.maketrans("\u2019", "'")
# Accents only: the marks that change a kana or a vowel of an Indic script stand elsewhere.
_ACCENTS: Final = re.compile("[\u0300-\u036f]")

_STEMMER: Final = Stemmer.Stemmer("english")


class Chunk(NamedTuple):
    """A stretch of text as it is written, and the terms it stands for."""

    surface: str
    terms: tuple[str, ...]


def tokens(text: str) -> list[str]:
    """The terms to index, in order and with repetitions; nothing is left out."""
    return [term for chunk in chunks(text) for term in chunk.terms]


def query_terms(text: str) -> list[str]:
    """The terms to look for, in order, each once; empty when there is no word in the text (RULES 8).

    Function words are dropped unless there is nothing else; a CJK character is looked for by itself only when it
    stands alone.
    """
    everything: dict[str, None] = {}
    telling: dict[str, None] = {}
    for surface, terms in chunks(text):
        wanted = terms if not is_cjk(surface) else [term for term in terms if len(term) > 1] or terms
        everything.update(dict.fromkeys(wanted))
        telling.update(dict.fromkeys(term for term in wanted if not _is_function(surface, term)))
    return list(telling or everything)


def chunks(text: str) -> Iterator[Chunk]:
    """The words of a text with their terms; `surface` is the word after NFKC, without accents."""
    for found in _CHUNK.finditer(fold(text)):
        surface = found[0]
        yield Chunk(surface, _pairs(surface) if found["cjk"] else _terms(surface))


def is_cjk(surface: str) -> bool:
    """Whether a chunk is a run of CJK, which nobody wrote as one word."""
    return bool(_IS_CJK.match(surface))


def is_compound(term: str) -> bool:
    """Whether the parts of a term are terms of their own, as in `test_coder.py` or `--no-verify`."""
    return not term.isalnum() and len(_SEGMENT.findall(term)) > 1 and not _CONTRACTION.fullmatch(term)


def fold(text: str) -> str:
    """NFKC without accents on letters, so that what looks alike is alike."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text)))


def _pairs(run: str) -> tuple[str, ...]:
    return (*run, *(run[i : i + 2] for i in range(len(run) - 1)))


@lru_cache(maxsize=65536)
def _terms(word: str) -> tuple[str, ...]:
    """The whole, the compound names in a path, the words in it, and the humps of camel case.

    A lone letter is no part worth finding. What case alone separates is a term as well, for who writes it in
    lower case.
    """
    word = word.translate(_APOSTROPHE)
    whole = word.casefold()
    if _CONTRACTION.fullmatch(word):
        return (_stem(whole),)
    segments = _SEGMENT.findall(word)
    if not segments:
        return ()
    parts = [part for segment in segments for part in (segment, *_humps(segment)) if len(part) > 1 or part.isdecimal()]
    if [whole] == [segment.casefold() for segment in segments]:
        return tuple(_stem(part.casefold()) for part in parts) or (whole,)
    names = [name for name in whole.split("/") if is_compound(name)] if "/" in whole else []
    return (whole, *names, *(_stem(part.casefold()) for part in parts))


def _humps(segment: str) -> list[str]:
    humps = _HUMP.findall(segment) if segment.isascii() else []
    return humps if len(humps) > 1 else []


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    stem: str = _STEMMER.stemWord(word)
    return stem


def _is_function(surface: str, term: str) -> bool:
    if is_cjk(surface):
        return term in CJK_FUNCTION_WORDS or not CJK_PARTICLES.isdisjoint(term)
    return surface.translate(_APOSTROPHE).casefold() in FUNCTION_WORDS
