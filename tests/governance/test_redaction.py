"""What a model or a team need not see is taken out of a text, and nothing else."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invincat.governance.redaction import clip_quote, redact
from invincat.governance.secrets import scan

GITHUB = "gh" + "p_" + "a1B2" * 9


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        (f"use {GITHUB} for it", "use [secret] for it"),
        ("pass" + "word = 'hunter22'", "password = '[secret]'"),
        ("postgres://app:" + "s3cur3Pw@db.local/app", "postgres://app:[secret]@db.local/app"),
        (f'"{GITHUB[:9]}" +\n "{GITHUB[9:]}" end', '"[secret]" end'),
        ("open /home/ada/src/x.py:12", "open ~/src/x.py:12"),
        ("it is in /home/ada.", "it is in ~."),
        ("/Users/ada/x and '/Users/bob'", "~/x and '~'"),
        ("/mnt/c/Users/ada/x", "~/x"),
        ("file:///home/ada/x", "file://~/x"),
        (r"C:\Users\Ada Lovelace\x\y.txt", r"~\x\y.txt"),
        (r"C:\\Users\\ada\\x", r"~\\x"),
        ("C:/Users/ada/x", "~/x"),
        ("/root/.ssh/config", "~/.ssh/config"),
        ("-I/home/ada/include", "-I~/include"),
        ("cat >/home/ada/log", "cat >~/log"),
        ("/opt/tools/bin/run.sh fails", "…/bin/run.sh fails"),
        ("at /workspace/acme/src/x.py:3", "at …/src/x.py:3"),
        ("(/srv/a/b/c).", "(…/b/c)."),
        ("PATH=/usr/bin:/opt/a/b/c:/home/ada/bin", "PATH=/usr/bin:…/b/c:~/bin"),
        (r"D:\work\acme\src\a.c", "…/src/a.c"),
        (r"\\server\share\dir\f.txt", "…/dir/f.txt"),
        ("write to ada@example.org, please", "write to [e-mail], please"),
        ("Ada <ada.l+x@mail.example.org>", "Ada <[e-mail]>"),
    ],
)
def test_it_is_taken_out(text, redacted):
    assert redact(text) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "GET /api/v1/users and POST /login",
        "/data/items is a route",
        "type /compact",
        "https://example.com/home/ada/x and https://example.org/opt/a/b/c",
        "src/home/ada/x and ./opt/a/b/c and tests/usr/lib/x/y",
        'import "@/app/actions/run"',
        "**/src/**/*.ts",
        "/etc/hosts, /dev/null and /tmp",
        "/home/<name>/x",
        "git@github.com:acme/tools.git",
        "@app.route, pkg@1.2.3, actions/checkout@v4",
        r"match \\d+\\w+ and \\s",
        "~/src stays",
        "and/or, 1/2, a / b",
    ],
)
def test_it_stays(text):
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "home", "redacted"),
    [
        ("/data/ada/x and /data/adam/y", "/data/ada", "~/x and …/adam/y"),
        ("/data/ada", "/data/ada/", "~"),
        (r"E:\ada\x and E:\\ada\\y", r"E:\ada", r"~\x and ~\\y"),
        ("/x/y", "/", "/x/y"),
    ],
)
def test_the_given_home_is_a_home(text, home, redacted):
    assert redact(text, home) == redacted


PARTS = [
    "/home/ada",
    "/",
    "x",
    ".",
    "~",
    "…",
    " ",
    "\n",
    ":",
    "@",
    "b.org",
    "C:\\Users\\",
    "\\",
    "/opt/a/b",
    "'",
    '"',
    "+",
]
PARTS += [
    GITHUB,
    "pass" + "word: ",
    "hunter22",
    "[secret]",
    "token=",
    "https://a:",
    "s3cretPw9@h",
    "file://",
    "-I",
    "\u200b",
]
TEXTS = st.text() | st.lists(st.sampled_from(PARTS), max_size=25).map("".join)


@given(TEXTS, st.none() | st.just("/data/ada"))
def test_nothing_that_scan_finds_is_left_and_twice_is_once(text, home):
    once = redact(text, home)
    assert scan(once) == []
    assert redact(once, home) == once


@pytest.mark.parametrize(
    "unit", ["/home/", "/home/a ", "a@", "a.", "/opt/a", "C:\\Users\\a ", "\\\\a", "/", "token=a1b2c3d4 "]
)
def test_time_is_linear(unit):
    begin = time.process_time()
    redact(unit * (100_000 // len(unit)))
    assert time.process_time() - begin < 2


@pytest.mark.parametrize(
    ("text", "most", "clipped"),
    [
        ("  a\n\n b\tc ", 200, "a b c"),
        ("one two three", 8, "one two"),
        ("one two three", 7, "one two"),
        ("one two three", 6, "one"),
        ("abcdefghij klm", 5, "abcde"),
        ("永远使用标记选择测试", 4, "永远使用"),
        ("abcde\u0301fgh", 5, "abcd"),
        ("", 5, ""),
    ],
)
def test_a_quote_is_one_line_cut_at_a_word(text, most, clipped):
    assert clip_quote(text, most) == clipped


@given(st.text(), st.integers(1, 50))
def test_a_clipped_quote_stands_in_its_source(text, most):
    clipped = clip_quote(text, most)
    assert len(clipped) <= most
    assert clipped in " ".join(text.split())
    assert clipped == clipped.strip()
