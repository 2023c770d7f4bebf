"""Characters that a reader does not see or takes for others (RULES 4.4): found, and shown to people."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final, NamedTuple


class HiddenCharacter(NamedTuple):
    """One hidden character. `code` is the character itself; `line` and `column` count from 1.

    `kind` is `bidi`, `zero-width`, `tag`, `variation-selector`, `format`, `private-use`, `control` or `mixed-script`.
    """

    kind: str
    code: str
    line: int
    column: int


# Patterns of rare characters are text: plain texts are read without compiling them.

# Before the general categories: the characters that attacks are made of, by what they do.
_KINDS: Final = (
    ("bidi", "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"),
    ("zero-width", "\u180e\u200b-\u200d\u2060\ufeff"),
    ("variation-selector", "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"),
    ("tag", "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"),
    # Letters and marks that are blank, which their category does not tell.
    ("format", "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2028\u2029"),
)
_CATEGORIES: Final = {"Cf": "format", "Co": "private-use", "Cc": "control", "Cs": "control"}
# Format characters with a shape of their own: number and verse signs of Arabic, Syriac and Kaithi.
_VISIBLE_FORMAT: Final = "[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd]"
_CANDIDATE = re.compile(r"[^\n\r\t -~]")

_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u231a-\u23ff\u24c2\u25aa-\u25fe\u2600-\u27bf\u2934\u2935"
    "\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
# What makes one picture of several characters: presentation, keycaps, joined pictures, flags of regions.
_PICTURE: Final = (
    f"[0-9#*]\ufe0f\u20e3|[{_EMOJI}][\ufe0e\ufe0f]?\u20e3?"
    f"(?:\u200d[{_EMOJI}]\ufe0f?[\U0001f3fb-\U0001f3ff]?)*(?:(?<=\U0001f3f4)[\U000e0030-\U000e007a]{{3,6}}\U000e007f)?"
)
# Scripts whose spelling needs joiners: Arabic to N'Ko, the Indic scripts and their South-East Asian kin, Mongolian.
_JOINING = "\u0600-\u085f\u0870-\u0dff\u0e80-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc"
_SPELLING: Final = f"(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])"

_LATIN = "A-Za-z\u00aa\u00ba\u00c0-\u024f\u1e00-\u1eff"
_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f])*")
# Letters that pass for a Latin one, by script, and the Latin letters that pass for one of theirs.
_SCRIPTS: Final = (
    ("\u0400-\u052f\u1c80-\u1c8f\ua640-\ua69f", "асԁеёһіїјӏорԛгѕԝхуѵүАВЕЁҺІЇЈКМНОРԚЅТУҮХԜСӀ"),
    ("\u0370-\u03ff\u1f00-\u1fff", "αγηικνορυχϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϺ"),
    # A mathematical letter is no other letter's twin in a formula, but in a word of plain letters it is.
    ("\U0001d400-\U0001d7ff", "\U0001d400-\U0001d7ff"),
)
_SEGMENT: Final = (
    f"(?P<latin>[{_LATIN}\u0300-\u036f]+)|"
    + "|".join(f"(?P<other{at}>[{members}]+)" for at, (members, _) in enumerate(_SCRIPTS))
    + "|."
)
_TWINS: Final = tuple(f"[{twins}]+" for _, twins in _SCRIPTS)
_LATIN_TWINS = re.compile("[aceghijlnoprsuvwxyABCEGHIJKMNOPSTXYZ]+")
_MATH_LETTERS = 2


def find_hidden(text: str) -> list[HiddenCharacter]:
    """Every hidden character of the text, in order (RULES 4.4).

    Joiners and selectors that belong to a picture or to the spelling of a script are not hidden.
    """
    if not _CANDIDATE.search(text):
        return []
    found: list[HiddenCharacter] = []
    line, begin, at = 1, 0, 0
    for place, kind in sorted({**dict(_invisible(text)), **dict(_look_alikes(text))}.items()):
        line += text.count("\n", at, place)
        begin = text.rfind("\n", 0, place) + 1 if "\n" in text[at:place] else begin
        at = place
        found.append(HiddenCharacter(kind, text[place], line, place - begin + 1))
    return found


def escape_hidden(text: str) -> str:
    """The text with each hidden character as `<U+202E>`, so that people see it; the result has nothing hidden."""
    while places := {**dict(_invisible(text)), **dict(_look_alikes(text))}:
        # Splitting a word may leave another odd mixture behind, so look again.
        text = "".join(f"<U+{ord(char):04X}>" if at in places else char for at, char in enumerate(text))
    return text


def _invisible(text: str) -> Iterator[tuple[int, str]]:
    kinds = {char: kind for char in set(text) if (kind := _kind(char))}
    if not kinds:
        return
    spans = [found.span() for pattern in (_PICTURE, _SPELLING) for found in re.finditer(pattern, text)]
    fine = {at for span in spans for at in range(*span)}
    for at, char in enumerate(text):
        if char in kinds and at not in fine:
            yield at, kinds[char]


def _kind(char: str) -> str | None:
    if not _CANDIDATE.match(char):
        return None
    for kind, members in _KINDS:
        if re.match(f"[{members}]", char):
            return kind
    if re.match(_VISIBLE_FORMAT, char):
        return None
    return _CATEGORIES.get(unicodedata.category(char))


def _look_alikes(text: str) -> Iterator[tuple[int, str]]:
    """Letters of one script that pass for those of another within the same word."""
    if text.isascii():
        return
    for word in _WORD.finditer(text):
        if word[0].isascii():
            continue
        segments = [(found.lastgroup or "", found) for found in re.finditer(_SEGMENT, word[0])]
        scripts = {name for name, _ in segments}
        if "latin" not in scripts or not any(name.startswith("other") for name in scripts):
            continue
        latin = sum(len(found[0]) for name, found in segments if name == "latin")
        for name, found in segments:
            if _passes(name, found, latin, len(word[0])):
                yield from ((word.start() + at, "mixed-script") for at in range(*found.span()))


def _passes(name: str, found: re.Match[str], latin: int, length: int) -> bool:
    """Whether a whole run of one script passes for another: one telling letter shows a reader what it is."""
    if name == "latin":
        # `PHPшник` is how people write; a small or an enclosed Latin letter in a Cyrillic word is not.
        inside = found.start() > 0 and found.end() < length
        return bool(_LATIN_TWINS.fullmatch(found[0])) and (inside or found[0].islower()) and latin * 2 < length
    if not name:
        return False
    script = int(name.removeprefix("other"))
    # One Greek or mathematical letter beside one or two Latin ones is a formula or a unit.
    is_formula = script > 0 and len(found[0]) == 1 and latin <= _MATH_LETTERS
    return bool(re.fullmatch(_TWINS[script], found[0])) and not is_formula
