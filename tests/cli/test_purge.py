"""Case 31: a secret that got into the history. After `purge` nothing of ours holds it, and nothing else is harmed."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import zlib
from array import array
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path

import pexpect
import pytest
from filelock import FileLock

import invincat.purge as composition
from invincat.app import App
from invincat.errors import StoreError
from invincat.governance.grounding import Holds, Standing
from invincat.lookup import StoreCorpus
from invincat.recall.index import Index
from invincat.recall.vectors import VectorCache
from invincat.store import prune
from invincat.store.needle import Needle
from invincat.store.parsed import ParsedCache
from invincat.store.purge import purged_in
from invincat.store.scrub import scrub
from invincat.store.tree import Decoded, Row
from invincat.store.verdicts import Verdict, VerdictCache, World
from tests.cli.by_hand import commit_by_hand

SECRET = "zebra-kx72-quux"
SESSION = "01JDXPZ3V6C8A1B2D3E4F5G6H7"
CLAIM = Verdict(Standing(Holds.STALE), claims=(("README.md", SECRET),))
SHAPES = ("loose", "packed", "sha256", "worktree", "borrowing")


@pytest.fixture
def app(invincat):
    return lambda: App.at(invincat.directory, invincat.environment)


def everything(place: Path) -> bytes:
    """The bytes of all files below a place, loose objects unpacked, and of all packed objects."""
    found = []
    for path in (path for path in place.rglob("*") if path.is_file()):
        data = path.read_bytes()
        found.append(f"\n{path}\n".encode() + data)
        if len(path.parent.name) == 2 and path.parent.parent.name == "objects":
            found.append(zlib.decompress(data))
    for objects in place.rglob("objects"):
        dump = ["git", f"--git-dir={objects.parent}", "cat-file", "--batch-all-objects", "--batch"]
        found.append(subprocess.run(dump, capture_output=True, check=True).stdout)
    return b"".join(found).lower()


def plant(invincat, repo, git, secret=SECRET):
    """The secret in every kind of place."""
    state = repo / ".git/invincat"
    if not (repo / ".git").is_dir():
        state = Path(git("rev-parse", "--path-format=absolute", "--git-common-dir", cwd=repo).strip()) / "invincat"
    git("checkout", "--quiet", "-b", f"feature/{secret}")
    create = {"op": "create", "scope": "project", "section": "Ops", "content": "Plain and good."}
    invincat.apply(create)
    invincat.apply(
        {
            **create,
            "section": f"On {secret}",
            "title": f"The box is {secret}",
            "content": f'Say "{secret}" twice.\nIt is {secret}.',
            "score_reason": f"because {secret}",
            "tags": [secret, "box"],
            "applies_to": [f"src/{secret}/**"],
            "evidence": [{"at": "README.md#L1", "quote": "# A project"}, {"at": f"url:https://a.example/{secret}"}],
        }
    )
    invincat.apply({**create, "name": f"about-{secret}-box", "content": "Named after it."})
    invincat.apply({**create, "content": f"{'word ' * 20}{secret} and so on and on and on for longer than a title is."})
    invincat.apply({"op": "supersede", "id": f"about-{secret}-box", "reason": f"{secret} left", "content": "New box."})
    invincat.apply({"op": "delete", "id": "new-box", "reason": f"{secret} was wrong"})
    web = [{"at": f"url:https://a.example/{secret}", "quote": f"it is {secret}"}]
    held = {**create, "content": f"Model says {secret} always holds here.", "evidence": web}
    invincat.apply(held, actor="memory-agent", code=3)
    rejected = {**create, "content": f"In winter {secret} is closed.", "evidence": web}
    proposal = invincat.apply(rejected, actor="memory-agent", code=3)["proposal"]
    invincat("review", "reject", proposal, "--reason", f"not {secret}")
    invincat.apply({**create, "content": "Bad.", "kind": secret}, code=4)
    invincat("recall", "box")
    invincat("list")
    for folder in ("sessions", "queue"):
        (state / folder).mkdir(exist_ok=True)
    call = {"role": "assistant", "text": "", "calls": [{"arguments": json.dumps({"content": f'a "{secret}"'})}]}
    lines = [{"message": {"role": "user", "text": f"remember {secret}"}}, {"message": call}, {"message": "plain"}]
    (state / f"sessions/{SESSION}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (state / "queue/job.json").write_text(json.dumps({"text": secret}))
    data = Path(invincat.environment["INVINCAT_DATA_DIR"])
    data.mkdir(exist_ok=True)
    (data / "history").write_text(json.dumps(f"/remember {secret}") + "\n" + json.dumps("hello") + "\n")
    tip = git("rev-parse", "refs/invincat/memory").strip()
    git("-c", "core.logAllRefUpdates=always", "update-ref", "-m", secret, "refs/invincat/backup/1", tip)
    git("update-ref", "refs/remotes/origin/invincat/memory", tip)
    lost = git("commit-tree", "-p", tip, "-m", f"lost {secret}", f"{tip}^{{tree}}").strip()
    git("checkout", "--quiet", "-")
    git("branch", "--quiet", "-D", f"feature/{secret}")
    git("reflog", "expire", "--expire=all", "HEAD")  # which is the person's own, and tells of the branch
    git("-c", "core.logAllRefUpdates=always", "checkout", "--quiet", "--detach", tip)
    git("checkout", "--quiet", "main")
    return tip, lost


@pytest.fixture
def shape(request, repo, git, tmp_path):
    kind = request.param
    if kind == "sha256":
        subprocess.run(["rm", "-rf", str(repo / ".git")], check=True)
        git("init", "--quiet", "--object-format=sha256")
        git("add", ".")
        git("commit", "--quiet", "--message", "Begin")
    if kind == "borrowing":
        repo.rename(tmp_path / "lender")
        git("clone", "--quiet", "--shared", str(tmp_path / "lender"), str(repo), cwd=tmp_path)
    return kind


@pytest.mark.parametrize("shape", SHAPES, indirect=True)
def test_nothing_of_ours_holds_it_afterwards(invincat, repo, git, tmp_path, shape):
    """Case 31, in every kind of place and of repository."""
    cwd = repo
    if shape == "worktree":
        cwd = tmp_path / "linked"
        git("worktree", "add", "--quiet", str(cwd))
    old, lost = plant(invincat, repo, git)
    if shape == "packed":
        git("repack", "-adk", "--quiet", "--write-bitmap-index")
        git("pack-objects", "--quiet", ".git/objects/pack/pack", input=f"{lost}\n")
        git("prune-packed")
        git("commit-graph", "write", "--reachable")
        git("multi-pack-index", "write")
    assert SECRET.encode() in everything(tmp_path)
    run = invincat("purge", "--stdin", "--yes", "--json", input=f"{SECRET}\n", cwd=cwd)
    [done] = [one for one in run.json["purged"] if one["scope"] == "project"]
    assert not done["left"] and len(done["proposals"]) == 2
    left = everything(tmp_path)
    at = left.find(b"kx72")
    assert at < 0, left[max(0, at - 400) : at + 100]
    assert SECRET not in run.out + run.err
    git("fsck", "--full", "--strict")
    assert not git("for-each-ref", "refs/remotes/origin/invincat", "refs/invincat/proposals", "refs/invincat/rejected")
    assert "sound" in invincat("check").out
    assert invincat("show", "plain-and-good", "--json").json["body"] == ""
    assert "Invincat-Op: purge" in git("log", "-1", "--format=%B", "refs/invincat/memory")
    assert old in git("show", "refs/invincat/memory:purged").split()
    state = Path(git("rev-parse", "--path-format=absolute", "--git-common-dir").strip()) / "invincat"
    lines = [json.loads(line) for line in (state / f"sessions/{SESSION}.jsonl").read_text().splitlines()]
    assert lines[0]["message"]["text"] == "remember purged" and len(lines) == 3
    assert json.loads(lines[1]["message"]["calls"][0]["arguments"]) == {"content": 'a "purged"'}
    assert invincat.apply({"op": "create", "scope": "project", "section": "Ops", "content": "Life goes on."})


def test_a_purged_memory_leaves_everything_else_as_it_was(invincat, repo, git):
    invincat("remember", "Keep me as I am.", "--section", "Ops")
    id = invincat("remember", "Deploy through the zebra gateway only.", "--name", "gate", "--json").json["operations"][
        0
    ]["id"]
    invincat("supersede", "gate", "--content", "Deploy through the lion gateway.", "--reason", "the zebra is gone")
    before = git("ls-tree", "-r", "refs/invincat/memory").splitlines()
    invincat("purge", id, "--yes")
    after = git("ls-tree", "-r", "refs/invincat/memory").splitlines()
    gone = [line for line in before if line not in after]
    assert len(gone) == 1 and gone[0].endswith("/gate.md")
    assert {line.split("\t")[1] for line in after if line not in before} == {f"deleted/{id}.md", "purged"}
    log = git("log", "--format=%B", "refs/invincat/memory")
    assert "zebra" not in log and "+ Keep me as I am" in log
    assert "purged: true" in git("show", f"refs/invincat/memory:deleted/{id}.md")
    assert "sound" in invincat("check").out
    tip = git("rev-parse", "refs/invincat/memory")
    invincat("purge", id, "--yes")
    assert git("rev-parse", "refs/invincat/memory") == tip  # repeated: nothing is left to do


def test_a_deleted_memory_is_purged_by_its_former_name(invincat, git):
    invincat("remember", "Deploy through the zebra gateway only.", "--name", "gate")
    invincat("delete", "gate", "--reason", "wrong")
    assert invincat("purge", "gate", "--dry-run", "--json").json["purged"][0]["commits"] == 2
    assert "no memory" in invincat("purge", "01JDXQ6T3M9V0K8Y2W5R7N4B1C", "--yes", code=1).err


@pytest.mark.parametrize("words", [("--text", SECRET), ("--pattern", "(?s)title: The box.*")])
def test_no_hash_by_which_the_text_could_be_tried_out_stays_in_a_marker(invincat, repo, git, words):
    """RULES 6.3: as with a purged memory. Who deletes what should not have been said, often purges it later."""
    invincat("remember", "The box is blue.", "--name", "box")
    invincat("update", "box", "--content", f"The box is blue.\nIts lock opens with {SECRET}.")
    id = invincat("show", "box", "--json").json["id"]
    invincat("delete", "box", "--reason", "not for here")
    invincat("remember", "Keep this.", "--name", "keep")
    marker = ("show", f"invincat/memory:deleted/{id}.md")
    hashes = re.findall('^(?:text|content): "?([0-9a-f]+)', git(*marker), re.MULTILINE)
    assert len(hashes) == 2
    invincat("purge", *words, "--yes")
    assert len(re.findall('^(?:text|content): "?([0-9a-f]+)', git(*marker), re.MULTILINE)) == 2
    left = everything(repo)
    assert not [hash for hash in hashes if hash.encode() in left]
    assert invincat("check").out.startswith("sound: 1 memor")


def test_renamed_files_keep_their_links(invincat, git):
    invincat("remember", "Old way.", "--name", f"use-{SECRET}-box")
    invincat("remember", "New way.", "--name", f"new-{SECRET}-box")
    invincat("supersede", f"use-{SECRET}-box", "--by", f"new-{SECRET}-box", "--reason", "better")
    invincat("purge", "--text", SECRET, "--yes")
    text = git("show", "refs/invincat/memory:memory/general/use-purged-box.md")
    assert "[new-purged-box](../general/new-purged-box.md)" in text
    assert "supersede general/use-purged-box by general/new-purged-box" in git(
        "log", "--format=%s", "refs/invincat/memory"
    )
    assert "sound" in invincat("check").out


def test_a_pattern_takes_what_stands_around_into_account(invincat, git):
    invincat("remember", 'The door: it says gate = "hunter2" to friends.', "--name", "door-hunter2-rule")
    invincat("remember", "Call it hunter2 in the docs.", "--name", "docs")
    invincat("purge", "--pattern", '(?i)(?<=GATE = ")[^"]+', "--yes")
    door = git("show", "refs/invincat/memory:memory/general/door-purged-rule.md")
    assert 'gate = \\"purged\\"' in door and "hunter2" not in door
    assert "hunter2" in git("show", "refs/invincat/memory:memory/general/docs.md")
    assert 'gate = "hunter2' not in git("log", "--format=%B", "refs/invincat/memory")
    assert "sound" in invincat("check").out


OFTEN = ("swap", "expire_logs", "remove", "half")
SELDOM = ("forget_tracking", "purged_ids", "scrub", "lost_of_ours", "prove", "_pack_again")


@pytest.mark.parametrize("step", [*OFTEN, *(pytest.param(step, marks=pytest.mark.slow) for step in SELDOM)])
def test_killed_anywhere_the_store_reads_and_repeating_finishes(invincat, repo, git, tmp_path, monkeypatch, step):
    plant(invincat, repo, git)
    git("repack", "-adk", "--quiet")
    with monkeypatch.context() as patch:

        def die(*_, **__):
            raise KeyboardInterrupt

        if step == "swap":
            done = []
            swap = composition.GitStore.swap
            patch.setattr(composition.GitStore, "swap", lambda *a: (done and die()) or done.append(1) or swap(*a))
        elif step == "_pack_again":
            patch.setattr(prune, "_pack_again", die)
        elif step == "half":
            drop = prune._drop
            patch.setattr(
                prune, "_drop", lambda folder, name: die() if name.startswith("multi") else drop(folder, name)
            )
        else:
            patch.setattr(composition, step, die)
        invincat("purge", "--stdin", "--yes", input=SECRET, code=130)
    invincat("list")
    invincat("remember", "Written in between.")
    run = invincat("purge", "--stdin", "--yes", "--json", input=SECRET)
    assert not any(one["left"] for one in run.json["purged"])
    assert b"kx72" not in everything(tmp_path)
    git("fsck", "--full", "--strict")
    assert invincat("show", "written-in-between")


def test_an_old_clone_brings_it_back_and_is_found_out(invincat, repo, git, tmp_path, app):
    """Case 31: a colleague's clone, or a remote that nobody replaced."""
    invincat("remember", f"The box is {SECRET}.")
    git("clone", "--quiet", "--bare", ".", str(tmp_path / "remote"))
    git("remote", "add", "origin", str(tmp_path / "remote"))
    git("push", "--quiet", "origin", "refs/invincat/memory:refs/heads/invincat/memory")
    git("fetch", "--quiet", "origin")
    old = git("rev-parse", "refs/remotes/origin/invincat/memory").strip()
    [done] = invincat("purge", "--stdin", "--yes", "--json", input=SECRET).json["purged"]
    assert done["tracking"] == ["refs/remotes/origin/invincat/memory"]
    assert purged_in(app().project.store) == {}
    git("fetch", "--quiet", "origin")
    assert purged_in(app().project.store) == {"refs/remotes/origin/invincat/memory": old}
    assert f"refs/remotes/origin/invincat/memory still holds {old[:7]}, which was purged" in invincat("doctor").out
    [again] = invincat("purge", "--stdin", "--yes", "--json", input=SECRET).json["purged"]
    assert again["tracking"] and not again["left"] and again["before"] == again["after"]
    assert b"kx72" not in everything(repo)
    subprocess.run(done["push"][0], shell=True, cwd=repo, check=True)
    git("fetch", "--quiet", "origin")
    assert purged_in(app().project.store) == {}


def test_commits_of_others_are_not_pushed_over(invincat, repo, git):
    invincat("remember", f"The box is {SECRET}.")
    old = git("rev-parse", "refs/invincat/memory").strip()
    more = git("commit-tree", "-p", old, "-m", "theirs", f"{old}^{{tree}}").strip()
    git("update-ref", "refs/remotes/origin/invincat/memory", more)
    [done] = invincat("purge", "--stdin", "--yes", "--json", input=SECRET).json["purged"]
    assert not done["push"] and any("origin has commits that are not here" in line for line in done["others"])


def test_what_a_person_keeps_is_told_and_not_touched(invincat, repo, git, commit_file):
    commit_file("config.txt", f"box = {SECRET}\n")
    invincat("remember", f"The box is {SECRET}.")
    tip = git("rev-parse", "refs/invincat/memory").strip()
    git("branch", "mine", tip)
    git("branch", "--move", "mine", f"mine-{SECRET}")
    git("checkout", "--quiet", "-b", f"passing-{SECRET}")
    git("checkout", "--quiet", "main")
    git("branch", "--quiet", "-D", f"passing-{SECRET}")
    git("branch", "--move", f"mine-{SECRET}", "mine")
    lost = git("hash-object", "-w", "--stdin", input=f"a draft of {SECRET}").strip()
    [done] = invincat("purge", "--stdin", "--yes", "--json", input=SECRET, code=1).json["purged"]
    assert done["left"] == ["the old history is kept by refs/heads/mine; delete it"]
    git("branch", "--quiet", "-D", "mine")
    run = invincat("purge", "--stdin", "--yes", "--json", input=SECRET)
    [done] = run.json["purged"]
    assert not done["left"]
    assert any("git filter-repo" in line for line in done["others"])
    assert any("reflogs say so" in line for line in done["others"]) and SECRET in git("reflog")
    assert any(lost[:10] in line and "git gc" in line for line in done["others"])
    assert SECRET in git("show", "HEAD:config.txt") and SECRET in git("cat-file", "blob", lost)


def test_without_a_terminal_it_wants_a_yes_and_an_id(invincat, git):
    invincat("remember", "Deploy through the zebra gateway only.", "--name", "gate")
    tip = git("rev-parse", "refs/invincat/memory")
    assert "no terminal" in invincat("purge", "gate", code=2).err
    id = invincat("show", "gate", "--json").json["id"]
    assert f"whole id; gate is {id}" in invincat("purge", "gate", "--yes", code=2).err
    assert "give a memory" in invincat("purge", "--yes", code=2).err
    assert "give a memory" in invincat("purge", "gate", "--text", "zebra", "--yes", code=2).err
    assert "regular expression" in invincat("purge", "--pattern", "(", "--yes", code=1).err
    assert "format itself" in invincat("purge", "--pattern", ".", "--yes", code=1).err
    assert "zebra" not in invincat("purge", "--text", "zebra", "--dry-run").out
    assert git("rev-parse", "refs/invincat/memory") == tip


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "is_gone"), [("gate", True), ("yes", False)])
def test_at_a_terminal_it_asks_for_the_name(invincat, repo, git, typed, is_gone):
    invincat("remember", "Deploy through the zebra gateway only.", "--name", "gate")
    environment = {**os.environ, **invincat.environment}
    words = ["-P", "-m", "invincat", "purge", "gate"]
    child = pexpect.spawn(sys.executable, words, cwd=str(repo), env=environment, encoding="utf-8", timeout=30)
    child.expect("Type gate to go on")
    child.sendline(typed)
    child.expect(pexpect.EOF)
    child.close()
    assert (child.exitstatus, "zebra" in git("log", "refs/invincat/memory")) == ((0, False) if is_gone else (1, True))


def test_what_is_left_for_people_is_said_once_for_all_stores(invincat):
    invincat("remember", "Deploy through the zebra gateway only.")
    invincat("remember", "I like zebras.", "--scope", "user")
    out = invincat("purge", "--text", "zebra", "--yes").out
    assert (out.count("proven: "), out.count("what only you and others can do:")) == (2, 1)
    assert out.count("1 commit rewritten") == 2


@pytest.mark.slow
def test_writers_and_readers_beside_it_go_on(invincat, repo, git, app):
    """Whoever wrote on the old history meanwhile is in the new one; whoever read it is told, and reads on."""
    invincat("remember", f"The box is {SECRET}.")
    git("repack", "-adk", "--quiet")
    reader = app().project
    old = reader.view()
    command = [sys.executable, "-P", "-m", "invincat"]
    environment = {**os.environ, **invincat.environment}
    writers = [
        subprocess.Popen(
            [*command, "remember", f"Written beside it, number {number}."], cwd=repo, env=environment, stdout=-3
        )
        for number in range(3)
    ]
    invincat("purge", "--stdin", "--yes", input=SECRET)
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    names = {record.name for record in reader.view()}
    assert {f"written-beside-it-number-{number}" for number in range(3)} < names
    with pytest.raises(StoreError):
        App.at(repo, invincat.environment).project.view(old.commit)


def test_a_purge_is_said_in_the_audit_log(invincat, repo):
    id = invincat("remember", "Deploy through the zebra gateway only.", "--json").json["operations"][0]["id"]
    invincat("purge", id, "--yes")
    last = json.loads((repo / ".git/invincat/audit.jsonl").read_text().splitlines()[-1])
    assert (last["verdict"], last["memory"], last["actor"]) == ("purged", id, "user")


def test_what_waits_for_review_can_still_be_accepted(invincat, git):
    """The rest of a rewritten history works as before: proposals, both scopes, the next write."""
    invincat("remember", f"The box is {SECRET}.")
    invincat("remember", "--scope", "user", f"I like {SECRET}.")
    web = [{"at": "url:https://a.example/nox", "quote": "use nox for all"}]
    held = {"op": "create", "scope": "project", "section": "Ops", "content": "Use nox for all tests.", "evidence": web}
    proposal = invincat.apply(held, actor="memory-agent", code=3)["proposal"]
    done = invincat("purge", "--stdin", "--yes", "--json", input=SECRET).json["purged"]
    assert [one["scope"] for one in done] == ["project", "user"] and not any(one["left"] for one in done)
    invincat("review", "accept", proposal)
    assert invincat("show", "use-nox-for-all-tests")
    assert SECRET.encode() not in everything(Path(invincat.environment["INVINCAT_DATA_DIR"]))
    git("fsck", "--full", "--strict")


def test_a_shallow_history_is_not_rewritten(invincat, repo, git, tmp_path):
    invincat("remember", f"The box is {SECRET}.")
    clone = tmp_path / "clone"
    git("clone", "--quiet", "--depth=1", f"file://{repo}", str(clone), cwd=tmp_path)
    git("fetch", "--quiet", "--depth=1", "origin", "refs/invincat/memory:refs/invincat/memory", cwd=clone)
    tip = git("rev-parse", "refs/invincat/memory", cwd=clone)
    assert "shallow" in invincat("purge", "--stdin", "--yes", input=SECRET, cwd=clone, code=1).err
    assert git("rev-parse", "refs/invincat/memory", cwd=clone) == tip


def test_what_was_read_before_a_purge_is_not_kept_after_it(invincat, repo, app):
    """A recall begun before it ends after it: neither its index nor its parsed memories bring the text back."""
    invincat("remember", f"The box is {SECRET}.", "--name", "box")
    early, folder = app(), repo / ".git/invincat"
    corpus = StoreCorpus(early.project)
    [record] = corpus.records()
    assert SECRET in record.memory.title
    invincat("purge", "--stdin", "--yes", input=SECRET)
    reason = Index(folder / "index", "here").refresh(corpus)
    assert reason == "memories were purged meanwhile; ask again"
    for leg in (early.project.reader._cache, ParsedCache(folder / "parsed", "here", early._was_purged)):
        leg.save({record.blob: Decoded(record.memory, record.fingerprint)})
        leg.save_section("memory/general", "1" * 40, [Row(record.path, record.blob, SECRET, record.id, True)])
    VerdictCache(folder / "parsed", "here", early._was_purged).save(World("here", None), {record.blob: CLAIM})
    VectorCache(folder / "parsed", "here", early._was_purged).save("model", {record.blob: array("f", [0.5])})
    assert SECRET.encode() not in everything(folder)
    later = app()
    invincat("recall", "box")
    assert ParsedCache(folder / "parsed", later.installation).load([str(later.project.view().find("box").blob)])
    assert not later._was_purged()


def test_a_store_that_only_grows_was_not_purged(invincat, app):
    invincat("remember", "Plain and good.", "--name", "plain")
    early = app()
    assert early.project.tip()
    invincat("remember", "More of it.")
    assert not early._was_purged()


@pytest.mark.slow
def test_a_purge_waits_for_who_writes_an_index_or_a_cache(invincat, repo, app):
    invincat("remember", f"The box is {SECRET}.", "--name", "box")
    invincat("recall", "box")
    folder, needle = repo / ".git/invincat", Needle.of_texts([SECRET])
    cache = next(path for path in (folder / "parsed").iterdir() if "verdicts" not in path.name)
    with closing(sqlite3.connect(cache)) as database, ThreadPoolExecutor() as pool:
        database.execute("begin immediate")
        with FileLock(folder / "index/lock"):
            scrubbing = pool.submit(scrub, folder, needle)
            assert wait([scrubbing], 0.3).not_done
            assert (folder / "index/stamp.json").exists()
        assert wait([scrubbing], 0.3).not_done
        assert cache.exists()
        database.rollback()
        assert scrubbing.result(10) >= 2
    assert not list((folder / "parsed").iterdir())
    assert [path.name for path in (folder / "index").iterdir()] == ["lock"]


def by_hand(repo, git, name):
    """A memory like `name`, with words of its own, put into the store with plain git."""
    text = git("show", f"refs/invincat/memory:memory/general/{name}.md")
    id = re.search(r"(?m)^id: (.+)$", text)[1]
    text = re.sub(r"(?m)^title: .*$", "title: Obey me", text.replace(id, f"{id[:-1]}{'0' if id[-1] != '0' else '1'}"))
    return commit_by_hand(git, repo, "memory/general/by-hand.md", text, "by hand")


def test_what_came_past_the_gate_stays_so_after_a_purge(invincat, repo, git):
    """Its commit has another id then, and what cannot be told of must not be taken for accepted."""
    invincat("remember", "Plain and good.", "--name", "plain")
    invincat("remember", f"The box is {SECRET}.", "--name", "box")
    by_hand(repo, git, "plain")
    invincat("purge", "--stdin", "--yes", input=SECRET)
    assert invincat("list").out.count("[not accepted]") == 1
    told = invincat("brief").out
    assert "Obey me" not in told and "Plain and good" in told
    [move] = invincat("review", "list", "--json").json["foreign"]
    assert git("merge-base", move["new"], "refs/invincat/memory").strip() == move["new"]
    invincat("review", "accept", move["new"])
    assert "Obey me" in invincat("brief").out


def test_where_the_commit_past_the_gate_is_lost_nothing_since_is_taken_for_accepted(invincat, repo, git):
    invincat("remember", "Plain and good.", "--name", "plain")
    hand = by_hand(repo, git, "plain")
    invincat("remember", "Later and good.", "--name", "later")
    journal = repo / ".git/invincat/journal"
    journal.write_text(journal.read_text().replace(hand, "1" * 40))
    told = invincat("brief").out
    assert "Obey me" not in told and "Plain and good" in told


def test_what_another_tools_move_left_out_is_told_before_a_purge_lets_it_be_forgotten(invincat, git):
    invincat("remember", "Keep this.", "--name", "keep")
    base = git("rev-parse", "invincat/memory").strip()
    invincat("remember", f"The lock opens with {SECRET}.", "--name", "lock")
    invincat("remember", "Docs live beside the code.", "--name", "docs")
    other = git("commit-tree", f"{base}^{{tree}}", "-p", base, "-m", "Elsewhere").strip()
    git("update-ref", "refs/invincat/memory", other)
    [told] = [line for line in invincat("purge", "--text", SECRET, "--yes").out.splitlines() if "left out" in line]
    old, new = re.search(r"`invincat diff (\w+)\.\.(\w+)`", told).groups()
    assert "Docs live beside the code" in invincat("diff", f"{old}..{new}").out
    assert SECRET not in git("log", "--all", "--patch")
