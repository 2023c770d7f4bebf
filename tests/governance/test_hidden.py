"""Hidden characters: what a reader cannot see or takes for another letter. All of them are written as escapes."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invincat.governance.hidden import HiddenCharacter, escape_hidden, find_hidden


@pytest.mark.parametrize(
    ("char", "kind"),
    [
        *((char, "bidi") for char in "\u061c\u200e\u200f\u202a\u202e\u2066\u2069"),
        *((char, "zero-width") for char in "\u200b\u200c\u200d\u2060\ufeff\u180e"),
        *((char, "variation-selector") for char in "\ufe00\ufe0e\ufe0f\U000e0100\u180b"),
        *((char, "tag") for char in "\U000e0001\U000e0041\U000e007f"),
        *((char, "format") for char in "\u00ad\u034f\u115f\u2061\u206a\u3164\uffa0\ufff9\u2028"),
        *((char, "private-use") for char in "\ue000\uf8ff\U000f0000\U00100000"),
        *((char, "control") for char in "\x00\x07\x1b\x7f\x85"),
    ],
)
def test_it_is_hidden(char, kind):
    assert find_hidden(f"one\nab{char}c") == [HiddenCharacter(kind, char, 2, 3)]
    assert escape_hidden(f"ab{char}c") == f"ab<U+{ord(char):04X}>c"


@pytest.mark.parametrize(
    ("word", "columns"),
    [
        ("p\u0430ssword", [2]),
        ("\u0430dmin", [1]),
        ("\u0440\u0430ypal", [1, 2]),
        ("\u0391dmin", [1]),
        ("payl\u03bfad_x", [5]),
        ("\u043fa\u0440\u043e\u043b\u044c", [2]),
        ("\U0001d429assword", [1]),
    ],
)
def test_a_letter_of_another_script_within_a_word_is_hidden(word, columns):
    assert [(found.kind, found.column) for found in find_hidden(word)] == [("mixed-script", at) for at in columns]


@pytest.mark.parametrize(
    "text",
    [
        "plain ASCII\twith\r\nlines",
        "na\u00efve caf\u00e9 e\u0301 \u00c6r\u00f8 stra\u00dfe",
        # Pictures: joined, with a skin, presentation, keycaps, flags of countries and regions.
        "\U0001f469\u200d\U0001f4bb \U0001f468\U0001f3fd\u200d\U0001f4bb \u2764\ufe0f\u200d\U0001f525",
        "\u26a0\ufe0f \u260e\ufe0e",
        "1\ufe0f\u20e3 #\ufe0f\u20e3 \U0001f1e9\U0001f1ea \U0001f3f3\ufe0f\u200d\U0001f308",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        # Spelling: Persian, Hindi, Sinhala.
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u0915\u094d\u200d\u0937 \u0dc1\u0dca\u200d\u0dbb\u0dd3",
        "\u0661 \u06dd",
        # CJK beside Latin, full-width punctuation.
        "\u4e2d\u6587API\u6df7\u5408\uff0c\u30c6\u30b9\u30c8test\u3002 \ud55c\uae00ABC",
        # Units and formulas.
        "5 \u00b5s, 5 \u03bcs, 3 k\u03a9, 3 \u2126, \u0394T, \u03b1x + \u03bby, \u03c1g, \U0001d465y, \U0001d465",
        # Whole words, and the ways in which Russian inflects foreign names.
        "\u0440\u0443\u0441\u0441\u043a\u0438\u0439 \u0395\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac",
        "git\u043e\u043c PHP\u0448\u043d\u0438\u043a OS\u043e\u0432\u044b\u0439 HTTP-\u043a\u043e\u0434",
    ],
)
def test_it_is_not_hidden(text):
    assert find_hidden(text) == []
    assert escape_hidden(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "\U0001f469\u200dx",
        "\u26a0\ufe0f\ufe0f",
        "1\ufe0f",
        "\u0645\u200c\u200c\u06cc",
        "\U0001f3f4\U000e0067",
        "\U0001f3f4" + "\U000e0061" * 9 + "\U000e007f",
        "\u0645\u200cx",
    ],
)
def test_what_only_pretends_to_belong_to_a_picture_or_a_script_is_hidden(text):
    assert find_hidden(text)


def test_places_count_lines_and_columns_from_one():
    found = find_hidden("a\u202eb\u200b\n\n\u200bc p\u0430ss")
    assert [(char.line, char.column) for char in found] == [(1, 2), (1, 4), (3, 1), (3, 5)]


ODD = "aA1 \n<>+U\u0430\u0431\u03bf\u03bb\u200b\u200c\u200d\u202e\ufe0f\u20e3"
ODD += "\U0001f469\U0001f3f4\U000e0067\U000e007f\u0645\ue000\u00ad\U0001d429"


@given(st.text() | st.text(alphabet=ODD))
def test_escaped_text_has_nothing_hidden_and_stays_so(text):
    escaped = escape_hidden(text)
    assert find_hidden(escaped) == []
    assert escape_hidden(escaped) == escaped


@pytest.mark.parametrize(
    "unit", ["\u200b", "a\u0430", "\U0001f469\u200d", "\u0645\u200c", "\ue000\n", "\u0430" * 50 + "a", "\u4e2d"]
)
def test_time_is_linear(unit):
    begin = time.process_time()
    find_hidden(unit * (50_000 // len(unit)))
    assert time.process_time() - begin < 2
