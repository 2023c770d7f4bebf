"""A store from elsewhere: what is no memory is left out, told once, and kept byte for byte (FORMAT "Tree")."""

import pytest

FILE, EXECUTABLE, LINK, GITLINK, FOLDER = "100644", "100755", "120000", "160000", "40000"

GOOD = """\
---
id: 01JDXQ6T3M9V0K8Y2W5R7N4B1C
title: Run the tests through nox
kind: convention
section: Testing
scope: project
confidence: high
tier: warm
score: 50
verdict: valid
created_at: 2026-11-29T10:00:00Z
updated_at: 2026-11-29T10:00:00Z
last_scored_at: 2026-11-29T10:00:00Z
valid_from: 2026-11-29T10:00:00Z
invalid_at: null
superseded_by: null
source:
  actor: user
---
"""
BOMB = "".join(f"{name}: &{name} [*{before}, *{before}]\n" for before, name in zip("abcdefg", "bcdefgh", strict=True))


def changed(old: str, new: str) -> bytes:
    assert old in GOOD
    return GOOD.replace(old, new).replace("7N4B1C", "7N4B1D").encode()


# What is wrong -> the file's name, mode and bytes.
BAD: dict[str, tuple[bytes, str, bytes]] = {
    "conflict markers": (b"bad.md", FILE, changed("score: 50\n", "<<<<<<< a\nscore: 50\n=======\n>>>>>>> b\n")),
    "conflict in the body": (b"bad.md", FILE, changed("50", "50") + b"<<<<<<< a\nOne.\n=======\nTwo.\n>>>>>>> b\n"),
    "broken YAML": (b"bad.md", FILE, changed("kind: convention", "kind: [convention")),
    "alias bomb": (b"bad.md", FILE, changed("kind: convention\n", f"a: &a [x, x]\n{BOMB}")),
    "duplicate key": (b"bad.md", FILE, changed("score: 50\n", "score: 50\nscore: 60\n")),
    "byte order mark": (b"bad.md", FILE, b"\xef\xbb\xbf" + changed("50", "50")),
    "unknown tag": (b"bad.md", FILE, changed("score: 50", "score: !python/object:os.system 50")),
    "wrong type": (b"bad.md", FILE, changed("score: 50", "score: [50]")),
    "no front matter": (b"bad.md", FILE, b"# Notes\n"),
    "empty": (b"bad.md", FILE, b""),
    "ten megabytes": (b"bad.md", FILE, GOOD.encode() + b"x" * 10_000_000),
    "binary": (b"bad.md", FILE, bytes(range(256)) * 40),
    "not UTF-8": (b"bad.md", FILE, changed("nox", "n\u00f6x").decode().encode("latin-1")),
    "CRLF": (b"bad.md", FILE, changed("\n", "\r\n")),
    "symbolic link": (b"bad.md", LINK, b"../../../etc/passwd"),
    "submodule": (b"bad.md", GITLINK, b""),
    "executable": (b"bad.md", EXECUTABLE, changed("50", "50")),
    "folder": (b"bad.md", FOLDER, b""),
    "dots": (b"..", FILE, changed("50", "50")),
    "backslash": (b"a\\b.md", FILE, changed("50", "50")),
    "line break": (b"a\nb.md", FILE, changed("50", "50")),
    "escape sequence": (b"\x1b[2J.md", FILE, changed("50", "50")),
    "no UTF-8 name": (b"\xff\xfe.md", FILE, changed("50", "50")),
    "device name": (b"con.md", FILE, changed("50", "50")),
    "case twin": (b"Use-Nox.md", FILE, changed("50", "50")),
    "the id of another": (b"zz-twin.md", FILE, GOOD.encode()),
    "no .md": (b"notes.txt", FILE, b"hello\n"),
}  # fmt: skip


@pytest.fixture
def plant(git):
    """Put a file beside a good memory, by git alone; what is asked of it is what `git ls-tree` says."""

    def entry(name: bytes, mode: str, id: str) -> bytes:
        return f"{mode} ".encode() + name + b"\0" + bytes.fromhex(id)

    def tree(*entries: tuple[bytes, str, str]) -> str:
        in_order = sorted(entries, key=lambda one: one[0] + (b"/" if one[1] == FOLDER else b""))
        data = b"".join(entry(*one) for one in in_order)
        return git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", input=data).strip()

    def blob(data: bytes | str) -> str:
        return git("hash-object", "-w", "--stdin", input=data).strip()

    def put(name: bytes, mode: str, data: bytes, format: str | bytes = "format: 1\n", format_mode: str = FILE) -> str:
        ids = {GITLINK: "1" * 40, FOLDER: tree((b"inner.md", FILE, blob("inner\n")))}
        bad = ids.get(mode) or blob(data)
        section = tree((b"use-nox.md", FILE, blob(GOOD)), (name, mode, bad))
        root = tree(
            (b"invincat.yaml", format_mode, blob(format)), (b"memory", FOLDER, tree((b"testing", FOLDER, section)))
        )
        commit = git("commit-tree", root, "-m", "from elsewhere").strip()
        git("update-ref", "refs/invincat/memory", commit)
        return bad

    return put


# To the command line these are the same as others above, and the parser has tests of its own.
LIKE_OTHERS = {
    *("broken YAML", "duplicate key", "byte order mark", "unknown tag", "wrong type", "no front matter", "empty"),
    *("binary", "CRLF", "conflict in the body", "backslash", "line break"),
}


@pytest.mark.parametrize(
    "wrong", [pytest.param(wrong, marks=pytest.mark.slow if wrong in LIKE_OTHERS else ()) for wrong in BAD]
)
def test_a_bad_file_stops_nothing_is_told_and_stays_byte_for_byte(invincat, git, plant, wrong):
    name, mode, data = BAD[wrong]
    bad = plant(name, mode, data)
    for words in (("list",), ("brief",), ("list", "--json"), ("recall", "nox"), ("recall", "nox")):
        run = invincat(*words)
        assert "Run the tests through nox" in run.out, words
        assert run.err.count("1 file is left out") == 1, words
        assert run.err.count("\n") == 1, words
    found = invincat("check", "--json", code=1).json["findings"]
    assert any(finding["path"].startswith("memory/testing/") for finding in found)
    assert "\x1b" not in invincat("check", code=1).out

    invincat("remember", "Format with ruff.", "--section", "Testing")
    # Of two files with one id nobody can tell which one is meant: that memory alone is not written.
    code = 4 if wrong == "the id of another" else 0
    invincat("update", "use-nox", "--content", "Run the tests through nox, always.", code=code)
    listed = git("ls-tree", "-r", "-t", "-z", "refs/invincat/memory").split("\0")
    assert any(bad in line and line.startswith(mode.zfill(6)) for line in listed), wrong
    assert len(invincat("list", "--json").json["memories"]) == 2


def test_a_newer_format_is_read_and_never_written(invincat, git, plant):
    plant(b"new.md", FILE, b"---\nid: of another kind\n---\n", "format: 2\n")
    before = git("for-each-ref", "refs/invincat/")
    assert "Run the tests through nox" in invincat("list").out
    assert "invincat.yaml" in invincat("check", code=1).out
    id = invincat("list", "--json").json["memories"][0]["id"]
    writes = (
        ("remember", "Format with ruff."),
        ("archive", "use-nox", "--reason", "unsure"),
        ("purge", id, "--yes"),
        ("purge", "--pattern", "tests through", "--dry-run"),
    )
    for words in writes:
        run = invincat(*words, code=1)
        assert "is of format 2, which this version reads and does not write" in run.err
        assert "newer version" in run.err
    assert git("for-each-ref", "refs/invincat/") == before


@pytest.mark.parametrize(
    ("said", "mode"), [("format: 0\n", FILE), ("", FILE), ("\xff\0", FILE), ("formt 1\n", FILE), ("x", LINK)]
)
def test_an_older_or_garbled_format_is_one_clear_line(invincat, plant, said, mode):
    plant(b"other.md", FILE, b"", said, mode)
    for words in (("list",), ("remember", "Format with ruff."), ("check",), ("recall", "nox")):
        run = invincat(*words, code=1)
        assert run.err.startswith("invincat: invincat.yaml: "), words
        assert run.err.count("\n") == 1, words


def test_a_bad_file_that_comes_after_a_clean_search_is_told_of(invincat, git, plant):
    """That a tree had no bad file is remembered for this tree only."""
    plant(b"good.md", FILE, changed("nox", "noxfile"))
    for _ in range(2):
        assert not invincat("recall", "nox").err
    plant(b"bad.md", FILE, b"# Notes\n")
    assert "1 file is left out" in invincat("recall", "nox").err
    plant(b"good.md", FILE, changed("nox", "noxfile"))
    assert not invincat("recall", "nox").err
