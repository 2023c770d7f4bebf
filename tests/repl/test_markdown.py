"""Markdown that streams: any split gives the same, nothing drives the terminal, everything fits."""

import re
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from invincat.repl.markdown import Blocks, Renderer
from invincat.repl.render import MarkdownAnswer, PlainAnswer

WHOLE = """\
# A title

Some *text* with `code` and a [link](http://example.org/a).
It goes on, 漢字も, and ends 👍🏽.

1. one
2. two
   - nested

   more of two

| name | 値 |
|------|----|
| a    | 1  |
| 漢字 | 2  |

```python
def f(x: int) -> int:

    # a blank line above
    return x
```
> a quote
> goes on
Setext
======
***
<b>HTML</b> and &lt;entities&gt;
\tindented

- [ ] a task
* another list

~~~
an open fence
"""
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b]")

pieces = st.lists(
    st.one_of(
        st.sampled_from(
            ["# ", "- ", "1. ", "> ", "```", "```\n", "\n", "\n\n", "    ", "|", "a|b\n-|-\n", "---\n", "***"]
        ),
        st.sampled_from(
            ["[x]: /u\n", "[x]", "<div>\n", "&#x202E;", "&#27;", "\x1b[2J", "\r\n", "\r", "\t", "漢字", "👍🏽"]
        ),
        st.text(max_size=8),
    ),
    max_size=40,
)


def blocks(*parts: str) -> list[str]:
    found = Blocks()
    taken = []
    for part in parts:
        found.add(part)
        taken += found.take()
    return taken + found.finish()


def lines(width: int, *parts: str) -> list[str]:
    answer = MarkdownAnswer(lambda: width)
    said = []
    for part in parts:
        answer.add(part)
        said += answer.take()
    return [str(line) for line in said + answer.finish()]


def seen(width: int, text: str) -> str:
    return COLOUR.sub("", "\n".join(lines(width, text)))


def test_every_split_of_a_text_gives_the_same_blocks():
    whole = blocks(WHOLE)
    assert len(whole) > 10
    for at in range(len(WHOLE)):
        assert blocks(WHOLE[:at], WHOLE[at:]) == whole
    assert blocks(*WHOLE) == whole


def test_streaming_renders_what_the_whole_renders():
    assert lines(60, *WHOLE) == lines(60, WHOLE)


@given(pieces, st.lists(st.integers(0, 200)))
@settings(max_examples=80, deadline=None, derandomize=True)
@example(["para\n\n", "[a]: /url\n", "'unfinished\n", "end'\n"], [])
@example(["a\r", "\nb"], [2])
def test_any_split_of_anything_gives_the_same(parts, cuts):
    text = "".join(parts)
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    split = [text[begin:end] for begin, end in pairwise(places)]
    assert blocks(*split) == blocks(text)
    assert blocks(*parts) == blocks(text)


@given(pieces)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_nothing_that_is_said_drives_the_terminal(parts):
    for line in lines(40, "".join(parts)):
        assert not CONTROL.search(COLOUR.sub("", line))
    plain = PlainAnswer()
    plain.add("".join(parts))
    assert not any(CONTROL.search(line) for line in plain.finish())


@given(pieces, st.sampled_from([20, 40, 79]))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_lines_fit_the_terminal(parts, width):
    assert all(cell_len(COLOUR.sub("", line)) <= width for line in lines(width, "".join(parts)))


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_a_whole_document_fits(width):
    assert max(cell_len(row) for row in seen(width, WHOLE).split("\n")) <= width


def test_html_and_link_targets_are_shown_not_hidden():
    shown = seen(
        80, "<details>secret</details> <!-- note -->\n\n[text](http://evil.example/x)\n\n[r]: http://x.example"
    )
    for text in ("<details>secret</details>", "<!-- note -->", "http://evil.example/x", "http://x.example"):
        assert text in shown


@pytest.mark.parametrize("width", [20, 40, 80])
@pytest.mark.parametrize(
    "source",
    [
        "> " * 30 + "deep words",
        "".join(f"{'  ' * depth}- deep{depth}\n" for depth in range(30)),
        f"|{'a|' * 30}\n|{'-|' * 30}\n|{''.join(f'v{number}|' for number in range(30))}\n",
        "| name | count |\n|---|---|\n| a | 12345678901234567890123456789012345678901234567890 |\n",
        "![alt](http://image.example/x)",
        '[a](http://b.example "title words")',
        "```python title=words\nx\n```",
        "1. a\n1. b\n1. c",
        "&lt;b&gt; &copy; &#65;",
    ],
)
def test_nothing_that_is_said_is_left_out(source, width):
    shown = re.sub(r"[^\w]", "", seen(width, source))
    for word in re.findall(r"[^\W\d_]{2,}\d*|\d{5,}", source):
        assert word in shown or word in {"lt", "gt", "copy"}


def test_numbers_of_lists_are_counted_anew_and_that_hides_nothing():
    assert seen(40, "1. a\n1. b") == " 1 a\n 2 b"


def test_no_line_links_out_of_sight():
    assert "\x1b]" not in "\n".join(lines(80, "[a](http://b.example) <http://c.example> ![i](http://d.example)"))


def test_code_is_copied_without_a_margin():
    assert "\nx = 1\n" in seen(80, "```python\nx = 1\n```\n")


def test_a_table_is_a_table_when_it_is_complete():
    assert "|" not in seen(40, "| a | 漢字 |\n|---|---|\n| 1 | 2 |\n")


def test_a_long_open_block_is_not_read_again_for_each_word():
    found = Blocks()
    found.add("```\n")
    for _ in range(3000):
        found.add("a line of code that goes on\n")
        assert found.take() == []
    assert len(found.finish()) == 1


def test_the_tail_is_what_was_not_taken():
    found = Blocks()
    found.add("# Done\n\nhalf a para")
    assert found.take() == []
    found.add("graph\n")
    assert found.take() == ["# Done\n\n"]
    assert found.tail == "half a paragraph\n"


def test_the_renderer_has_no_blank_lines_around_a_block():
    for block in blocks(WHOLE):
        rendered = Renderer().render(block, 40)
        assert rendered[0]
        assert rendered[-1]
