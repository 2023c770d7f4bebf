"""One suite for both ways to search: what `grep` answers does not depend on whether ripgrep is there."""

import asyncio
import os
import shutil
import time

import pytest

from invincat.tools.base import MAX_RESULT
from invincat.tools.files import GlobFiles
from invincat.tools.search import MAX_FILE, MAX_MATCHES, MAX_MATCHES_A_FILE, Grep


@pytest.fixture(params=["python", "ripgrep"])
def ripgrep(request):
    if request.param == "python":
        return None
    return shutil.which("rg") or pytest.skip("ripgrep is not installed")


@pytest.fixture
def grep(workspace, ripgrep, use):
    return lambda pattern, **arguments: use(Grep(workspace, ripgrep), pattern=pattern, **arguments)


def test_matches_with_numbers_by_file(grep, write):
    write("src/b.py", "import os\nx = 1\nimport re\n")
    write("src/a.py", "import os\n")
    result = grep("^import")
    assert result.text == (
        "3 matching lines in 2 files\n"
        "src/a.py\n     1: import os\n"
        "src/b.py\n     1: import os\n      --\n     3: import re\n"
    )
    assert result.summary == "grep ^import (3 in 2 files)"


def test_context(grep, write):
    write("a.txt", "".join(f"{number}\n" for number in range(1, 13)))
    result = grep("^(3|4|9)$", context=1)
    assert result.text.splitlines()[2:] == [
        "     2- 2",
        "     3: 3",
        "     4: 4",
        "     5- 5",
        "      --",
        "     8- 8",
        "     9: 9",
        "    10- 10",
    ]


def test_case(grep, write):
    write("a.txt", "Straße TODO\n")
    assert grep("todo").text == "No match in 2 files\n"
    assert "1: Straße TODO" in grep("todo", ignore_case=True).text
    assert "1: Straße" in grep("straße", ignore_case=True).text


def test_files_only_and_glob_and_path(grep, write):
    for name in ("src/a.py", "src/b.ts", "lib/a.py"):
        write(name, "needle\nneedle\n")
    assert grep("needle", files_only=True).text == "3 files match\nlib/a.py\nsrc/a.py\nsrc/b.ts\n"
    assert grep("needle", files_only=True, glob="*.py").text.splitlines()[1:] == ["lib/a.py", "src/a.py"]
    assert grep("needle", files_only=True, path="src").text.splitlines()[1:] == ["src/a.py", "src/b.ts"]
    assert grep("needle", files_only=True, path="src", glob="*.{js,ts}").text.splitlines()[1:] == ["src/b.ts"]
    assert grep("needle", files_only=True, path="src/a.py").text.splitlines()[1:] == ["src/a.py"]


def test_line_ends_bom_and_encodings(grep, write):
    write("dos.txt", b"\xef\xbb\xbfstart needle\r\nend needle\r\n")
    write("latin.txt", "caf\xe9 needle\n".encode("latin-1"))
    write("wide.txt", "wide needle\n".encode("utf-16"))
    write("no-end.txt", "needle")
    text = grep("needle$").text
    assert "     1: start needle\n     2: end needle\n" in text
    assert "     1: caf\\xe9 needle\n" in text
    assert "     1: wide needle\n" in text
    assert "     1: needle\n" in text
    assert "dos.txt" in grep("^start").text
    text.encode()


def test_control_characters_are_visible(grep, write):
    write("a.txt", "needle \x1b[31m\r\rneedle\n")
    assert "     1: needle \\x1b[31m\\x0d\\x0dneedle\n" in grep("needle").text


def test_binary_files_are_left_out(grep, write):
    write("b.dat", b"needle\n" + b"x" * 100 + b"\0needle\n")
    write("many.dat", b"\0\n" + b"needle\n" * 100_000)
    write("a.txt", "needle\n")
    assert grep("needle").text == "1 matching lines in 1 files\na.txt\n     1: needle\n"


def test_a_late_zero_byte_does_no_harm(grep, write):
    write("a.txt", b"x\n" * 5000 + b"needle\0\n")
    assert "  5001: needle\\x00\n" in grep("needle").text


def test_long_lines_are_cut_around_the_match(grep, write):
    write("min.js", "é" * 100_000 + "needle" + "y" * 100_000 + "\n")
    line = grep("needle").text.splitlines()[2]
    assert len(line) < 320
    assert "éneedley" in line
    assert line.count("…") == 2


def test_only_what_glob_shows_is_searched(grep, write, git, repo, tmp_path, use, workspace):
    write(".gitignore", "ignored.txt\nbuild/\n")
    (tmp_path / "secret").write_text("needle\n")
    for name in (
        "ignored.txt",
        "build/a.txt",
        "tracked.log",
        ".hidden",
        "a.txt",
        ".git/needle",
        ".ignore",
        ".rgignore",
    ):
        write(name, "needle\n")
    write(".ignore", "a.txt\nneedle\n")
    write("nested/a.txt", "needle\n")
    git("clone", "--quiet", "--bare", ".", "bare.git")
    (repo / "bare.git" / "needle").write_text("needle\n")
    (repo / "out").symlink_to(tmp_path / "secret")
    (repo / "in").symlink_to("a.txt")
    os.mkfifo(repo / "pipe")
    found = grep("needle", files_only=True).text.splitlines()[1:]
    assert found == [".hidden", ".ignore", ".rgignore", "a.txt", "nested/a.txt", "tracked.log"]
    assert set(found) <= set(use(GlobFiles(workspace), pattern="**").text.splitlines())
    assert "git ignores this file" in grep("needle", path="ignored.txt").text
    assert grep("needle", path="build").text == "No match in 0 files\n"
    for path in (".git", "out", "..", "bare.git", "/etc"):
        assert grep("needle", path=path).is_error


def test_a_pattern_is_never_an_option(grep, write, repo):
    for pattern in ("-rf", "--pre=touch owned", "--help", "-e", "--", "--files", "-f/etc/passwd", "--hostname-bin=x"):
        write("a.txt", f"before {pattern} after\n")
        assert f"     1: before {pattern} after\n" in grep(pattern).text, pattern
    assert not (repo / "owned").exists()


@pytest.mark.slow
def test_a_path_is_never_an_option(grep, write, repo):
    names = ("-rf", "--pre=touch owned", "--files", "-", "a b\tc", ":(top)x", "*", "é", "a\nb")
    for name in names:
        write(name, "needle\n")
        write(f"folder/{name}/x.txt", "needle\n")
        for path in (name, f"folder/{name}", f"./{name}"):
            assert grep("needle", path=path).text.startswith("1 matching lines in 1 files\n"), path
    assert grep("needle").text.startswith(f"{2 * len(names)} matching lines")
    assert not (repo / "owned").exists()


def test_settings_of_ripgrep_are_not_read(grep, write, tmp_path, repo, monkeypatch):
    (tmp_path / "rc").write_text(f"--pre={tmp_path}/pre\n--max-count=0\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "rc"))
    assert "1: # A project" in grep("project").text


def test_modules_in_the_workspace_are_not_imported(grep, write, repo, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ".")
    for name in ("re.py", "json.py", "stat.py", "sitecustomize.py"):
        write(name, f"open({str(repo / 'owned')!r}, 'w')\n")
    assert "1: # A project" in grep("project").text
    assert not (repo / "owned").exists()


def test_patterns_that_are_none(grep):
    for pattern in ("(", "a{2,1}", "[z-a]", "(" * 900):
        result = grep(pattern)
        assert result.is_error
        assert "no regular expression" in result.text
        assert "escape what is meant" in result.text


def test_look_around_works_either_way(grep, write):
    write("a.txt", "foobar\nfoobaz\n")
    assert "     2: foobaz\n" in grep("foo(?!bar)").text
    assert "1 matching lines" in grep(r"(ba)r|(?<=foo)\1r").text


def test_line_breaks_are_explained(grep):
    for pattern in ("a\nb", r"a\nb", r"a\\\nb"):
        assert "line by line" in grep(pattern).text, pattern


def test_an_escaped_backslash_is_no_line_break(grep, write):
    write("a.txt", r"C:\new" + "\n")
    assert r"1: C:\new" in grep(r"C:\\new").text


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*$", "(a|aa)+$"])
def test_a_catastrophic_pattern_ends_in_time(workspace, ripgrep, use, write, pattern):
    write("a.txt", "needle aa\n")
    write("b.txt", "a" * 5000 + "!\n")
    began = time.monotonic()
    result = use(Grep(workspace, ripgrep, seconds=0.5), pattern=pattern, glob="*.txt")
    assert time.monotonic() - began < 3
    assert "     1: needle aa\n" in result.text, "what was found in time is shown"
    assert ripgrep or "stopped after 0.5 s" in result.text


def test_nothing_found_in_time_is_an_error(workspace, use, write):
    write("b.txt", "a" * 5000 + "!\n")
    result = use(Grep(workspace, seconds=0.3), pattern="(a+)+$", glob="*.txt")
    assert result.is_error
    assert "simpler pattern" in result.text


def test_results_stay_bounded(grep, write):
    write("many.txt", "needle\n" * 1000)
    for number in range(100):
        write(f"d/{number:03}.txt", "needle and more\n" * 10)
    text = grep("needle").text
    assert len(text) <= MAX_RESULT
    assert f"stopped after {MAX_MATCHES} matches" in text
    assert "left out" not in text
    assert text.splitlines()[2] == "d/000.txt"
    assert f"{MAX_MATCHES_A_FILE} matching lines" in grep("needle", path="many.txt").text
    for number in range(100):
        write(f"d/{number:03}.txt", f"{'x' * 200}\n" * 5 + "needle\n")
    wide = grep("needle", context=10).text
    assert len(wide) <= MAX_RESULT
    assert "left out here; narrow" in wide


def test_many_files(grep, write, repo):
    (repo / "many").mkdir()
    for number in range(1600):  # more than one command line holds
        (repo / "many" / f"{'n' * 240}-{number:05}.txt").write_text("needle\n" if number % 600 == 0 else "hay\n")
    assert grep("needle").text.startswith("3 matching lines in 3 files\n")
    assert grep("nothing").text == "No match in 1601 files\n"


def test_large_files_are_left_out_and_said(grep, repo, write):
    with (repo / "large.txt").open("wb") as file:
        file.truncate(MAX_FILE + 1)
    write("a.txt", "needle\n")
    assert "1 files larger than 8 MiB were not searched" in grep("needle").text


def test_a_repository_of_one_line_files_cannot_forge_a_heading(grep, write):
    write("evil.txt", "x\nREADME.md\n     1: needle\n")
    lines = grep("needle", context=2).text.splitlines()
    assert lines[1:] == ["evil.txt", "     1- x", "     2- README.md", "     3:      1: needle"]


def test_cancelling_ends_the_search(workspace, write):
    write("b.txt", "a" * 5000 + "!\n")

    async def cancel():
        task = asyncio.create_task(Grep(workspace).run({"pattern": "(a+)+$"}))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    began = time.monotonic()
    asyncio.run(cancel())
    assert time.monotonic() - began < 2, "closing the loop waits for the thread, which waits for the process"
