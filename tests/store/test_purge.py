"""What a purge looks for, how it spells it, and which objects it may remove."""

import json
import os
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invincat.errors import StoreError, UserError
from invincat.memory.frontmatter import MalformedFile, parse, parse_marker, render, render_marker
from invincat.memory.marker import purged_marker
from invincat.memory.scope import Scope
from invincat.store.base import MEMORY_REF, Draft
from invincat.store.edits import MemoryEdit, TextEdit, is_of
from invincat.store.git import GitStore
from invincat.store.journal import difference
from invincat.store.locate import locate
from invincat.store.needle import PUT, Needle, rename
from invincat.store.objects import Objects
from invincat.store.proof import prove
from invincat.store.prune import lost_of_ours, remove
from invincat.store.purge import expire_logs, rewrite, seek_text, tracking
from invincat.store.purged import purged_ids
from invincat.store.refs import GitRefs
from invincat.store.repair import diagnose
from invincat.store.rewrite import Rewriter
from tests.memory.factories import ADA, NOW, memory
from tests.store.writing import learn

SECRET = 'zebra "kx72"\n\\quux é'


@pytest.mark.parametrize(
    "spelled",
    [
        SECRET,
        SECRET.upper(),
        " ".join(SECRET.split()),
        json.dumps(SECRET),
        json.dumps(SECRET, ensure_ascii=False),
        json.dumps(json.dumps({"arguments": json.dumps({"content": SECRET})})),
    ],
)
def test_a_text_is_found_however_json_spells_it(spelled):
    needle = Needle.of_texts([SECRET])
    assert needle.search(f"before {spelled} after")
    clean = needle.sub(f"before {spelled} after")
    assert "kx72" not in clean.lower() and clean.startswith("before ") and clean.endswith(" after")


# What begins as `purged` does is taken for what stands in place of something purged; the command refuses it.
@given(st.text().filter(lambda text: not PUT.startswith(text.strip())), st.integers(0, 2), st.booleans())
def test_any_text_is_found_below_any_quoting(text, depth, ascii_only):
    text = text.strip()
    spelled = text
    for _ in range(depth):
        spelled = json.dumps({"content": spelled}, ensure_ascii=ascii_only)
    assert Needle.of_texts([text]).search(spelled)


def test_a_pattern_is_found_below_quoting():
    needle = Needle.of_pattern('password = "[^"]+"')
    line = json.dumps({"arguments": json.dumps({"content": 'password = "hunter2"'}), "keep": "this"})
    assert needle.search(line)
    clean = needle.sub_json(json.loads(line))
    assert json.loads(clean["arguments"]) == {"content": "purged"} and clean["keep"] == "this"


@pytest.mark.parametrize("pattern", [".*", "purged", "memory", "id", "a?"])
def test_what_the_format_says_cannot_be_purged(pattern):
    with pytest.raises(UserError):
        Needle.of_pattern(pattern).require_narrow()


def test_the_words_in_place_are_never_longer():
    assert Needle.of_texts(["k2"]).sub("a k2 b") == "a pu b"


def test_names_made_from_a_text_are_made_anew():
    needle = Needle.of_texts(["zebra_kx72+quux"])
    assert rename("the-zebra-kx72-quux-box.md", needle, needle.texts) == "the-purged-box.md"
    assert rename("the-box-is-zebra-kx72.md", needle, needle.texts) == "the-box-is-purged.md"  # cut at 48 characters
    assert rename("zebras.md", needle, needle.texts) == "zebras.md"


def test_every_key_of_a_memory_stays_valid():
    text = 'port "9"'
    old = memory(title=f"A {text} b", section=f"On {text}", body=f"Say {text}\nx", tags=(text,), score_reason=text)
    data = render(old).encode()
    new = TextEdit(Needle.of_texts([text]), {}).file(data)
    found = parse(new)
    assert (found.title, found.section, found.body) == ("A purged b", "On purged", "Say purged\nx")
    assert found.tags == ("purged",) and found.score_reason == "purged" and found.id == old.id


def test_a_pattern_that_takes_a_files_own_words_takes_the_version():
    data = render(memory()).encode()
    assert TextEdit(Needle.of_pattern(r"scope: \w+"), {}).file(data) is None


def test_a_title_that_was_cut_keeps_no_piece():
    secret = "zebra-" + "k" * 60
    old = memory(title=f"{'word ' * 16}{secret[:30]}…", body=f"{'word ' * 16}{secret}")
    new = TextEdit(Needle.of_pattern(r"zebra-k+"), {}).file(render(old).encode())
    assert b"zebra" not in new and b"kkk" not in new


def test_the_marker_of_a_purge_has_no_hash_and_no_words():
    marker = purged_marker(memory().id, memory().scope, memory(score_reason="because zebra"), NOW)
    text = render_marker(marker)
    assert parse_marker(text) == marker and "zebra" not in text and "text:" not in text and "purged: true\n" in text
    with pytest.raises(MalformedFile):
        parse_marker(text.replace("purged: true\n", ""))


def test_a_body_that_says_purged_is_no_marker():
    old = memory(body="purged: true\nkeep me")
    assert is_of(old.id)(render(old).encode())
    assert not is_of(old.id)(render_marker(purged_marker(old.id, old.scope, old, NOW)).encode())


def test_messages_of_others_stay():
    edit = MemoryEdit("01JDXQ6T3M9V0K8Y2W5R7N4B1C", Needle.of_texts(["Use the zebra box"]))
    other = "create a/b: c\n\n+ c\n\nInvincat-Op: create\nInvincat-Memory: 01JDXQ6T3M9V0K8Y2W5R7N4B1D\n"
    assert edit.message(other, is_touched=False) == other
    own = other.replace("B1D", "B1C").replace(": c\n", ": Use the zebra box\n") + "Invincat-Reason: zebra\n"
    bare = edit.message(own, is_touched=True)
    assert "zebra" not in bare and bare.startswith("create 01JDXQ6T3M9V0K8Y2W5R7N4B1C: purged\n\nInvincat-Op: create\n")


LOST = render(memory(body="lost zebra")).encode()


@pytest.mark.parametrize("packed", [False, True])
def test_only_our_own_lost_objects_go(repo, git, packed):
    """A person's dropped commit and unstaged blob stay, beside them in the same pack."""
    ours = git("hash-object", "-w", "--stdin", input=LOST).strip()
    tree = git("mktree", input=f"100644 blob {ours}\tlost.md\n").strip()
    (repo / "work.txt").write_text("zebra of a person\n")
    git("add", ".")
    git("commit", "--quiet", "--message", "Dropped")
    theirs = [git("rev-parse", "HEAD").strip(), git("rev-parse", "HEAD:work.txt").strip()]
    git("reset", "--quiet", "--hard", "HEAD~1")
    git("reflog", "expire", "--expire=now", "--all")
    theirs.append(git("hash-object", "-w", "--stdin", input="---\nid: mine\n---\n").strip())
    if packed:
        ids = "".join(f"{id}\n" for id in [ours, tree, *theirs])
        git("pack-objects", "--quiet", ".git/objects/pack/pack", input=ids)
        git("repack", "-adk", "--quiet", "--write-bitmap-index")
        git("multi-pack-index", "write")
        git("commit-graph", "write", "--reachable")
        git("prune-packed")
    doomed = lost_of_ours(locate(repo), [])
    assert doomed == {ours: "blob", tree: "tree"}
    remove(locate(repo), doomed)
    for id in theirs:
        git("cat-file", "-e", id)
    for id in (ours, tree):
        assert subprocess.run(["git", "cat-file", "-e", id], cwd=repo, check=False).returncode
    git("fsck", "--full", "--strict")
    if packed:
        git("multi-pack-index", "verify")
        git("commit-graph", "verify")


def test_a_pack_whose_removal_was_killed_goes_with_the_next(tmp_path, git, monkeypatch):
    git("init", "--quiet", "--bare", str(tmp_path / "r.git"), cwd=tmp_path)
    repository = locate(tmp_path / "r.git")
    packs = repository.common_dir / "objects/pack"
    id = git("hash-object", "-w", "--stdin", cwd=repository.common_dir, input="secret").strip()
    git("pack-objects", "--quiet", str(packs / "pack"), cwd=repository.common_dir, input=f"{id}\n")
    git("prune-packed", "--quiet", cwd=repository.common_dir)
    [pack] = packs.glob("*.pack")

    def killed(path, **_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("invincat.store.prune._take_away", killed)
        with pytest.raises(KeyboardInterrupt):
            remove(repository, {id: "blob"})
    assert pack.exists() and not list(packs.glob("*.idx"))
    remove(repository, {})
    assert list(packs.iterdir()) == []


def test_a_reflog_whose_words_look_like_line_ends_loses_no_entry(tmp_path, git):
    git("init", "--quiet", str(tmp_path / "r"), cwd=tmp_path)
    place = tmp_path / "r"
    first, old, last = (
        git("commit-tree", "-m", word, "4b825dc642cb6eb9a060e54bf8d69288fbee4904", cwd=place).strip()
        for word in ("first", "old", "last")
    )
    for id, said in ((first, "a"), (old, "b"), (first, "c\u2028d"), (last, "e\x85f"), (first, "g")):
        git("update-ref", "--create-reflog", "-m", said, "refs/heads/main", id, cwd=place)
    expire_logs(locate(place), frozenset([old]))
    left = git("log", "--walk-reflogs", "--format=%H %gs", "main", cwd=place).strip().split("\n")
    assert left == [f"{first} g", f"{last} e\x85f", f"{first} c\u2028d", f"{first} a"]


def test_branches_of_a_remote_may_be_called_anything(tmp_path, git):
    git("init", "--quiet", str(tmp_path / "r"), cwd=tmp_path)
    id = git("commit-tree", "-m", "x", "4b825dc642cb6eb9a060e54bf8d69288fbee4904", cwd=tmp_path / "r").strip()
    for name in ("origin/a\u2028b", "origin/a\x85b\u3000c", "o\u2028x/invincat/memory"):
        git("update-ref", f"refs/remotes/{name}", id, cwd=tmp_path / "r")
    with GitStore(locate(tmp_path / "r")) as store:
        assert [one.remote for one in tracking(store)] == ["o\u2028x"]
        assert len(GitRefs(store.repository, 1.0).below("refs/remotes/")) == 3


def test_a_carriage_return_in_a_name_ends_no_line_of_a_commit(tmp_path, git):
    place = tmp_path / "r"
    git("init", "--quiet", str(place), cwd=tmp_path)
    tree = git("mktree", cwd=place).strip()
    who = b"Eve\rparent 1111111111111111111111111111111111111111 <eve@example.org> 1764489600 +0000"
    data = b"tree %s\nauthor %s\ncommitter %s\n\nx\n" % (tree.encode(), who, who)
    commit = git("hash-object", "-t", "commit", "-w", "--stdin", cwd=place, input=data).strip()
    repository = locate(place)
    with Objects(repository) as objects:
        assert Rewriter(repository, objects).parents(commit) == []


@pytest.fixture
def deep(tmp_path, git):
    """A store with a file three thousand folders deep, which calls could not follow; its tip, as git holds it."""
    git("init", "--quiet", str(tmp_path / "r"), cwd=tmp_path)
    with GitStore(locate(tmp_path / "r")) as store, store.exclusive():
        root = store.write_root()
        [tip] = store.write(root, [Draft("deep\n", {f"{'d/' * 3000}box.md": b"zebra\n"})], ADA, NOW)
        assert store.swap(MEMORY_REF, None, tip)
        yield store, root, tip


@pytest.mark.slow
def test_a_tree_thousands_deep_is_read_repaired_and_purged(deep, git, tmp_path):
    store, root, tip = deep
    assert diagnose(store) is None
    assert [len(path) for path in difference(store, root, tip, "").puts] == [len("d/" * 3000 + "box.md")]
    assert store.commit(tip).tree
    rewrite(store, seek_text(store, Needle.of_texts(["zebra"])), Scope.PROJECT, NOW)
    assert "zebra" not in git("grep", "-h", "-e", "", MEMORY_REF, "--", f":/{'d/' * 3000}box.md", cwd=tmp_path / "r")
    assert tip in purged_ids(store, store.tip())


@pytest.mark.slow
def test_what_git_cannot_walk_is_told_before_anything_is_changed(deep, tmp_path, monkeypatch):
    """Git 2.43 refuses trees deeper than `core.maxTreeDepth`."""
    store, _, tip = deep
    place, git = tmp_path / "git", shutil.which("git")
    place.write_text(
        f'#!/bin/sh\ncase "$*" in *--objects*) echo "fatal: exceeded maximum allowed tree depth" >&2; exit 128;; esac\n'
        f'exec "{git}" "$@"\n'
    )
    place.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(StoreError, match="exceeded maximum allowed tree depth"):
        rewrite(store, seek_text(store, Needle.of_texts(["zebra"])), Scope.PROJECT, NOW)
    assert store.tip() == tip


@pytest.mark.parametrize("data", [b"100644 a\0abc", b"xyz a\0" + b"1" * 20])
def test_a_tree_that_no_git_would_write_is_told_before_anything_is_changed(repo, git, data):
    with GitStore(locate(repo)) as store:
        tip = learn(store, "one", "zebra\n")
        bad = git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", input=data).strip()
        git("update-ref", MEMORY_REF, broken := git("commit-tree", bad, "-p", tip, "-m", "x").strip())
        needle = Needle.of_texts(["zebra"])
        with pytest.raises(StoreError, match=r"cannot be read: .*; run `invincat doctor --repair`, then .*backups`"):
            rewrite(store, seek_text(store, needle), Scope.PROJECT, NOW)
        assert store.tip() == broken
        git("update-ref", MEMORY_REF, tip)
        with store.exclusive():
            sought = seek_text(store, needle)
            rewrite(store, sought, Scope.PROJECT, NOW)
        assert tip in lost_of_ours(store.repository, purged_ids(store, store.tip()))
        assert not [line for line in prove(store, sought).left if bad in line], "lost, and none of ours"


def test_folders_that_hold_each_other_many_times_are_read_once(tmp_path, git):
    place = tmp_path / "r"
    git("init", "--quiet", str(place), cwd=tmp_path)
    blob = git("hash-object", "-w", "--stdin", cwd=place, input="x").strip()
    tree = git("mktree", cwd=place, input=f"100644 blob {blob}\ta.md\n").strip()
    for _ in range(12):
        tree = git("mktree", cwd=place, input="".join(f"040000 tree {tree}\td{n}\n" for n in range(10))).strip()
    commit = git("commit-tree", "-m", "x", tree, cwd=place).strip()
    repository = locate(place)
    with Objects(repository) as objects:
        found = list(Rewriter(repository, objects).files([commit]))
    assert 10 <= len(found) <= 100 and {data for _, data in found} == {b"x"}


def test_a_lock_that_a_killed_purge_left_on_an_object_is_in_nobodys_way(tmp_path, git):
    git("init", "--quiet", "--bare", str(tmp_path / "r.git"), cwd=tmp_path)
    repository = locate(tmp_path / "r.git")
    id = git("hash-object", "--stdin", cwd=repository.common_dir, input="x").strip()
    lock = repository.common_dir / "objects" / id[:2] / f"{id[2:]}.lock"
    lock.parent.mkdir()
    lock.write_bytes(b"half")
    with Objects(repository) as objects:
        assert objects.write("blob", b"x") == id
        assert objects.read(id).data == b"x"
    assert not lock.exists()
