"""`doctor` sees what is broken, breaks on nothing, and `--repair` sets it right."""

import os
import time
from pathlib import Path

import pytest

from invincat.store.base import MEMORY_REF

Rows = list[tuple[str, str, str]]


@pytest.fixture
def state(invincat, repo: Path) -> Path:
    """A repository with two memories and an index; its state directory."""
    invincat("init")
    invincat("remember", "Tests run through nox.")
    invincat("remember", "Releases are tagged by hand.")
    invincat("recall", "nox")
    return repo / ".git/invincat"


def rows(run) -> Rows:
    return [(line["status"], line["about"], line["message"]) for line in run.json["lines"]]


def bad(run) -> list[tuple[str, str]]:
    """Status and thing of what is not well."""
    assert all(line["next_step"] for line in run.json["lines"] if line["status"] != "ok")
    return [(status, about) for status, about, _ in rows(run) if status != "ok"]


def test_all_is_well(invincat, state: Path) -> None:
    run = invincat("doctor", "--json")
    assert run.json["ok"] is True
    assert bad(run) == []
    said = {about: message for _, about, message in rows(run)}
    assert "2 active, 0 retired, 0 proposals" in said["project memory"]
    assert "a work tree, sha1, refs as files" in said["repository"]
    assert "up to date" in said["index"]
    text = invincat("doctor").out
    assert text.startswith("ok    program: invincat")
    assert "there was nothing to do" in invincat("doctor", "--repair").out


def test_an_index_that_is_behind_is_not_said_to_be_written_by_the_next_recall(invincat, state: Path) -> None:
    invincat("remember", "Branches are short.")
    assert "Branches" in invincat("recall", "branches").out
    [index] = [message for _, about, message in rows(invincat("doctor", "--json")) if about == "index"]
    assert index.endswith("behind; a recall reads what came since beside it")


def test_before_there_is_a_store(invincat, tmp_path: Path) -> None:
    assert "invincat init" in invincat("doctor").out
    (tmp_path / "nowhere").mkdir()
    assert invincat("doctor", cwd=tmp_path / "nowhere").code == 0


def test_a_spoilt_ref_is_seen_and_repaired(invincat, state: Path, repo: Path) -> None:
    (repo / ".git" / MEMORY_REF).write_bytes(b"")
    run = invincat("doctor", "--json", code=1)
    assert bad(run) == [("fail", "project memory")]
    assert "doctor --repair" in invincat("list", code=1).err
    assert "set the memory ref to" in invincat("doctor", "--repair").out
    assert "nox" in invincat("list").out
    assert bad(invincat("doctor", "--json")) == []


def test_what_cannot_be_repaired_is_said(invincat, state: Path, repo: Path) -> None:
    for path in (repo / ".git/objects").glob("??/*"):
        path.unlink()
    run = invincat("doctor", "--repair", "--json", code=1)
    assert [line["status"] for line in run.json["done"]] == ["fail"]
    assert "git fetch" in run.json["done"][0]["next_step"]


@pytest.mark.parametrize("where", ["objects/ab/abc.lock", "refs/invincat/memory.lock", "invincat/pending.tmp"])
def test_what_killed_writers_left_is_swept(invincat, state: Path, repo: Path, where: str) -> None:
    lock = repo / ".git" / where
    lock.parent.mkdir(exist_ok=True)
    lock.write_text("")
    lock.chmod(0o600)
    os.utime(lock, (time.time() - 3600,) * 2)
    assert bad(invincat("doctor", "--json")) == [("warn", "locks")]
    assert f"removed {lock}" in invincat("doctor", "--repair").out
    assert not lock.exists()
    assert f"removed {lock}" in (state / "journal").read_text()
    assert bad(invincat("doctor", "--json")) == []


def test_broken_caches_are_dropped(invincat, state: Path) -> None:
    for parsed in (state / "parsed").glob("*.sqlite3"):
        parsed.write_bytes(b"rubbish" * 100)
    (state / "index/stamp.json").write_text("{")
    assert set(bad(invincat("doctor", "--json"))) == {("warn", "index")}
    invincat("doctor", "--repair")
    assert bad(invincat("doctor", "--json")) == []
    assert "nox" in invincat("recall", "nox").out


def test_a_broken_ref_is_told_of_once(invincat, repo: Path, state: Path) -> None:
    (repo / ".git" / MEMORY_REF).write_text("deadbeef\n")
    run = invincat("doctor", code=1)
    assert (run.out + run.err).count("cut short") == 1


def test_an_index_that_a_purge_took_away_is_not_broken(invincat, state: Path) -> None:
    invincat("purge", "--text", "nox", "--yes")
    assert bad(invincat("doctor", "--json")) == []


def test_state_that_others_may_read_is_closed(invincat, state: Path) -> None:
    state.chmod(0o755)
    (state / "journal").chmod(0o644)
    assert bad(invincat("doctor", "--json")) == [("warn", "state")]
    invincat("doctor", "--repair")
    assert (state.stat().st_mode & 0o777, (state / "journal").stat().st_mode & 0o777) == (0o700, 0o600)


def test_strangers_in_the_state_directory(invincat, state: Path, tmp_path: Path) -> None:
    (state / "mine.txt").touch(0o600)
    (state / "usage.json").symlink_to(tmp_path / "x")
    assert bad(invincat("doctor", "--json", code=1)) == [("warn", "state"), ("fail", "state")]
    invincat("doctor", "--repair", code=1)
    assert (state / "mine.txt").exists(), "what is not ours is never removed"


def test_a_mirror_remote_is_warned_of(invincat, state: Path, git) -> None:
    """Case 11: a pruning fetch into refs/* would delete the store."""
    git("config", "remote.up.fetch", "+refs/*:refs/*")
    git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
    [line] = [line for line in invincat("doctor", "--json").json["lines"] if line["status"] == "warn"]
    assert "git fetch --prune up" in line["message"]


def test_many_loose_objects(invincat, state: Path, repo: Path, git) -> None:
    names = "".join(f"blob\ndata 5\n{number:05}\n" for number in range(2100))
    git("-c", "fastimport.unpackLimit=5000", "fast-import", "--quiet", input=names)
    assert bad(invincat("doctor", "--json")) == [("warn", f"objects of {repo}")]
    assert len(list((repo / ".git/objects").glob("??/*"))) > 2000, "it suggests a gc and runs none"


def test_backups_are_listed_and_pruned(invincat, state: Path, git) -> None:
    git("update-ref", "refs/invincat/backup/20260101T000000Z", MEMORY_REF)
    assert "the newest 20260101T000000Z" in invincat("doctor").out
    assert "dropped refs/invincat/backup/20260101T000000Z" in invincat("doctor", "--prune-backups").out
    assert git("for-each-ref", "refs/invincat/backup") == ""


def test_a_local_model_that_is_not_installed_is_told(invincat, monkeypatch) -> None:
    monkeypatch.setenv("INVINCAT_EMBEDDING", "local")
    monkeypatch.setattr("invincat.llm.embedding_local.find_spec", lambda name: None)
    assert ("warn", "settings") in bad(invincat("doctor", "--json"))


def test_a_broken_file_of_settings(invincat, state: Path, repo: Path) -> None:
    (repo / ".invincat").mkdir()
    (repo / ".invincat/config.yaml").write_text("modle: x\n")
    assert ("fail", "settings") in bad(invincat("doctor", "--json", code=1))


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("HEAD", b""),
        ("config", b"[core\n"),
        ("config", b"[core]\n\trepositoryformatversion = 1\n[extensions]\n\tunheardOf = true\n"),
        ("packed-refs", b"\0\0\0"),
        ("invincat/journal", b"\xff\n{\n[]\n"),
        ("invincat/pending", b"\xff"),
        ("invincat/lock", None),
        ("invincat/journal", None),
        ("refs/invincat/memory", None),
        ("shallow", b"rubbish\n"),
    ],
)
def test_whatever_is_broken_there_is_no_traceback(
    invincat, state: Path, repo: Path, path: str, content: bytes | None
) -> None:
    """A folder stands where a file should, or rubbish in it."""
    place = repo / ".git" / path
    place.unlink(missing_ok=True)
    if content is None:
        place.mkdir()
    else:
        place.write_bytes(content)
    for words in (("doctor", "--json"), ("doctor", "--repair"), ("doctor",)):
        try:
            run = invincat(*words)
        except AssertionError:
            run = invincat(*words, code=1)
        assert "internal error" not in run.err
        assert "cannot be examined" not in run.out
