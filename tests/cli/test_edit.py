"""`edit`: what is saved in the editor goes through the gate; nothing that was typed is lost."""

import os
import re
import signal
import stat
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import COMMAND


@pytest.fixture
def edit(invincat, tmp_path):
    """Edit a memory with an editor that runs this shell command on the file `$1`."""

    def run(name: str, script: str, *words: str, code: int = 0):
        editor = tmp_path / "my editor.sh"
        editor.write_text(f"#!/bin/sh\n{script}\n")
        editor.chmod(0o755)
        environment = {**invincat.environment, "GIT_EDITOR": f"'{editor}'"}
        return replace(invincat, environment=environment, as_process=True)("edit", name, *words, code=code)

    return run


@pytest.fixture
def nox(invincat):
    invincat("remember", "Use nox. It drives the matrix.", "--section", "Testing", "--tag", "a", "--score", "50")
    return lambda name="use-nox": invincat("show", name, "--json").json


def kept(run) -> Path:
    """The file that a failed edit names."""
    found = re.search(r"kept in (.+\.md)", run.err)
    assert found, run.err
    return Path(found[1])


def tip(git) -> str:
    return git("rev-parse", "refs/invincat/memory")


def test_everything_that_was_changed_is_one_commit(edit, nox, git):
    before = tip(git)
    script = "sed -i -e 's/^title:.*/title: Nox runs/' -e 's/^kind:.*/kind: constraint/' -e 's/^score:.*/score: 80/' "
    script += "-e 's/^section:.*/section: Build/' -e 's/^tags:.*/tags: [b, c]/' -e 's/^check:.*/check: nox -l/' "
    edit(
        "use-nox", script + "-e 's/drives/runs/' -e 's/^name:.*/name: nox/' -e 's/^reason:.*/reason: it is so/' \"$1\""
    )
    made = nox("nox")
    assert (made["title"], made["body"], made["kind"], made["score"], made["tier"]) == (
        *("Nox runs", "It runs the matrix.", "constraint"),
        *(80, "hot"),
    )
    assert (made["path"], made["tags"], made["check"]) == ("memory/build/nox.md", ["b", "c"], "nox -l")
    assert git("rev-parse", "refs/invincat/memory^").strip() == before.strip()
    assert "move testing/use-nox to build/nox: it is so" in git(
        "log", "-1", "--format=%s", "refs/invincat/memory", "--"
    )


@pytest.mark.parametrize("script", [":", ': > "$1"', "sed -i '/^# Save/d' \"$1\""])
def test_a_file_left_as_it_was_or_emptied_changes_nothing(edit, nox, git, repo, script):
    before = tip(git)
    assert "use-nox was left as it is" in edit("use-nox", script).out
    assert edit("use-nox", script, "--json").json["verdict"] == "noop"
    assert tip(git) == before
    assert list((repo / ".git/invincat/edits").iterdir()) == []


def test_a_failing_editor_changes_nothing_and_keeps_what_was_typed(edit, nox, git):
    before = tip(git)
    assert "failed with 7; nothing was changed" in edit("use-nox", "exit 7", code=1).err
    run = edit("use-nox", 'echo more >> "$1"; exit 7', code=1)
    assert kept(run).read_text().endswith("more\n")
    assert tip(git) == before


@pytest.mark.parametrize(
    ("script", "code", "told"),
    [
        ("s/^tier:.*/tier: tepid/", 4, ":8: tier: must be one of"),
        ("s/^score:.*/score: lots/", 4, ":9: score: must be a whole number"),
        ("/^title:/d", 4, "title: is empty"),
        ("s/^name:.*/name: other/", 4, ":4: memory/general/other.md has this name"),
        ("s/^applies_to:.*/applies_to: src/", 4, ":12: applies_to: must be a list"),
        ("s/^kind:/knd:/", 1, ":5: knd: is no key that can be set"),
        ("s/^kind:.*/kind: [a/", 1, ":5: is not YAML"),
        ("s/^kind:.*/kind: [a]/", 1, ":5: kind: is not text"),
        ("1d", 1, ":1: does not begin with"),
        (r"s/^title:.*/title: a\xe9/", 1, "is not UTF-8"),
        ("s/drives/ghp_Zk3Qv8Lr2Tn5Wb7Xc9Yd4Mf6Hs1Jg0Pa3Ue8/", 4, ":17: content: "),
    ],
)
def test_what_cannot_be_taken_is_told_by_line_and_kept(edit, nox, invincat, git, script, code, told):
    """RULES 2: refused, never repaired."""
    invincat("remember", "Something.", "--name", "other")
    before = tip(git)
    run = edit("use-nox", f"LC_ALL=C sed -i '{script}' \"$1\"", code=code)
    assert told in run.err
    assert kept(run).is_file()
    assert tip(git) == before


def test_a_memory_that_changed_meanwhile_is_not_overwritten(edit, nox, git):
    """RULES 3.4"""
    import sys  # noqa: PLC0415

    other = f"{sys.executable} -P -m invincat rescore use-nox --score 60 --reason x >/dev/null"
    run = edit("use-nox", f"{other}; sed -i 's/^title:.*/title: Mine/' \"$1\"", code=4)
    assert "has changed since" in run.err
    assert "title: Mine" in kept(run).read_text()
    assert (nox()["title"], nox()["score"]) == ("Use nox", 60)


def test_a_body_that_is_gone_leaves_the_title(edit, nox):
    edit("use-nox", "sed -i '/^It drives/d' \"$1\"")
    assert (nox()["title"], nox()["body"]) == ("Use nox", "")


def test_a_file_or_stdin_takes_the_editors_place(invincat, edit, nox, tmp_path):
    invincat("edit", "use-nox", "--from", "-", "--reason", "shorter", input="Use nox. It is quick.\n")
    assert (nox()["title"], nox()["body"]) == ("Use nox", "It is quick.")
    assert "shorter" in invincat("log", "-v").out
    sheet = tmp_path / "sheet.md"
    edit("use-nox", f'cp "$1" "{sheet}"')
    sheet.write_text(sheet.read_text().replace("tags: [a]", "tags: [b]"))
    invincat("edit", "use-nox", "--from", str(sheet))
    assert nox()["tags"] == ["b"]
    assert "was left as it was" not in invincat("edit", "use-nox", "--from", str(sheet)).out
    assert "nothing to do" in invincat("edit", "use-nox", "--from", str(sheet)).out
    for text, code, told in (
        ("", 1, "is empty; nothing was changed"),
        (b"\xff", 1, "is not UTF-8; nothing was changed"),
        ("---\nid: x\n---\n", 1, "<stdin>:2: id: is no key that can be set"),
        ("Do not use nox.", 4, "claims another thing than 'Use nox'"),
    ):
        assert told in invincat("edit", "use-nox", "--from", "-", input=text, code=code).err
    assert (nox()["title"], nox()["body"]) == ("Use nox", "It is quick.")


def test_a_retired_memory_stays_retired(edit, nox, invincat, git):
    """RULES 2: an update never revives; the tombstone is not on the sheet, and stays."""
    invincat("archive", "use-nox", "--reason", "unsure")
    stone = nox()["tombstone"]
    edit("use-nox", '! grep -q Archived "$1" && sed -i \'s/drives/drove/\' "$1"')
    made = nox()
    assert (made["status"], made["body"], made["tombstone"]) == ("archived", "It drove the matrix.", stone)


def test_what_a_killed_edit_leaves_is_purged_and_found_by_the_doctor(nox, invincat, repo, tmp_path):
    script = f'sed -i s/matrix/blue-matrix/ "$1"; echo >{tmp_path}/typed; sleep 60'
    environment = {**os.environ, **invincat.environment, "GIT_EDITOR": f"sh -c '{script}' sh"}
    editing = subprocess.Popen([*COMMAND, "edit", "use-nox"], cwd=repo, env=environment, start_new_session=True)
    while not (tmp_path / "typed").exists():
        time.sleep(0.01)
    os.killpg(editing.pid, signal.SIGKILL)
    assert editing.wait() == -signal.SIGKILL
    [left] = (repo / ".git/invincat/edits").glob("*/use-nox.md")
    assert "blue-matrix" in left.read_text()
    assert stat.S_IMODE(left.parent.stat().st_mode) == 0o700
    assert "edits" not in invincat("doctor").out, "somebody may still be at it"
    invincat("purge", "--text", "blue-matrix", "--yes")
    assert "blue-matrix" not in left.read_text()
    os.utime(left.parent, (1, 1))
    assert f"{left.parent} was left by a process that is gone" in invincat("doctor").out
    assert f"removed {left.parent}" in invincat("doctor", "--repair").out
    assert not left.parent.exists()
