"""What every store must do: one suite over git (bare, with a work tree, refs moved by git itself) and memory."""

import hashlib
import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from invincat.errors import InternalError, StoreError
from invincat.store.base import (
    FILE_MODE,
    FOLDER_MODE,
    MEMORY_REF,
    PROPOSALS,
    Draft,
    LogName,
    ObjectMissing,
    Signature,
    Store,
    StoreBusy,
    TreeEntry,
)
from invincat.store.git import GitStore
from invincat.store.inmemory import InMemoryStore
from invincat.store.locate import create_bare, locate
from invincat.store.refs import GitRefs

ROOT = "6c06298fdee92682ab343b6102e0bb4b3a82adfe"
NOW = datetime(2026, 11, 29, 10, 0, 0, tzinfo=UTC)
ADA = Signature("Ada Lovelace", "ada@example.org")

Files = Mapping[str, tuple[int, bytes]]


@dataclass
class Case:
    """A store, a way to plant a foreign tree in it (a commit's id comes back), and its journal."""

    store: Store
    plant: Callable[[Files], str]
    log: Callable[[LogName], list[dict[str, Any]]]

    def begin(self) -> str:
        with self.store.exclusive():
            root = self.store.write_root()
            assert self.store.swap(MEMORY_REF, None, root)
        return root

    def write(self, parent: str, *drafts: Draft) -> list[str]:
        with self.store.exclusive():
            return self.store.write(parent, drafts, ADA, NOW)

    def files(self, commit: str) -> dict[str, tuple[int, bytes]]:
        """All files of a commit, with mode and bytes (of a gitlink none)."""
        return dict(self._walk(self.store.commit(commit).tree, ""))

    def _walk(self, tree: str, above: str) -> list[tuple[str, tuple[int, bytes]]]:
        found: list[tuple[str, tuple[int, bytes]]] = []
        for name, mode, id in self.store.list_tree(tree):
            if mode == FOLDER_MODE:
                found += self._walk(id, f"{above}{name}/")
            else:
                found.append((above + name, (mode, b"" if mode == 0o160000 else self.store.read_blob(id))))
        return found


@pytest.fixture(params=["bare", "worktree", "refs by git", "in memory"])
def case(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Case]:
    if request.param == "in memory":
        memory = InMemoryStore(ADA)
        yield Case(memory, memory.plant, lambda log: [dict(line) for line in memory.logs[log]])
        return
    if request.param == "bare":
        repository = create_bare(tmp_path / "store.git")
    else:
        subprocess.run(["git", "init", "--quiet", tmp_path / "repo"], check=True)
        repository = locate(tmp_path / "repo")
    if request.param == "refs by git":  # as in a reftable repository, which not every git can make
        monkeypatch.setattr("invincat.store.git.refs_of", lambda _, *rest: GitRefs(*rest))

    def plant(files: Files) -> str:
        return _plant(repository.git_dir, files)

    def log(name: LogName) -> list[dict[str, Any]]:
        path = repository.state_dir / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    with GitStore(repository) as store:
        yield Case(store, plant, log)


def _plant(git_dir: Path, files: Files) -> str:
    """A commit of these files, made by git itself."""
    env = {**os.environ, "GIT_DIR": str(git_dir), "GIT_INDEX_FILE": str(git_dir / "planting")}

    def git(*arguments: str, input: bytes = b"") -> bytes:
        return subprocess.run(["git", *arguments], input=input, env=env, check=True, capture_output=True).stdout.strip()

    lines = b""
    for path, (mode, data) in files.items():
        id = git("hash-object", "-w", "--stdin", input=data)
        lines += b"%o %s\t%s\0" % (mode, id, os.fsencode(path))
    git("update-index", "-z", "--index-info", input=lines)
    return git("commit-tree", "-m", "planted", git("write-tree").decode()).decode()


def test_the_root_is_the_same_for_everybody(case: Case) -> None:
    with case.store.exclusive():
        assert case.store.write_root() == ROOT
        assert case.store.write_root() == ROOT
    root = case.store.commit(ROOT)
    assert case.files(ROOT) == {"invincat.yaml": (FILE_MODE, b"format: 1\n")}
    assert (root.parents, root.message) == ((), "memory: root\n")
    assert root.author == Signature("Invincat", "invincat@localhost")
    assert root.time == datetime(2020, 1, 1, tzinfo=UTC)


def test_a_ref_moves_only_from_where_it_is(case: Case) -> None:
    assert case.store.tip() is None
    root = case.begin()
    [one] = case.write(root, Draft("one\n", {"memory/a/one.md": b"1\n"}))
    [two] = case.write(root, Draft("two\n", {"memory/a/two.md": b"2\n"}))
    with case.store.exclusive():
        swap = case.store.swap
        assert not swap(MEMORY_REF, None, one), "it exists"
        assert swap(MEMORY_REF, root, one)
        assert not swap(MEMORY_REF, root, two), "it is not at the root any more"
        assert case.store.tip() == one
        assert not swap(MEMORY_REF, two, None)
        assert not swap(MEMORY_REF, two, two)
        assert swap(MEMORY_REF, one, one)
        assert swap(MEMORY_REF, one, None)
        assert case.store.tip() is None
        assert not swap(MEMORY_REF, one, two), "it is absent"
        assert not swap(MEMORY_REF, one, None)
        assert swap(MEMORY_REF, None, two), "it can be made anew"
    moves = [(line["ref"], line["old"], line["new"]) for line in case.log("journal")]
    assert moves == [
        (MEMORY_REF, None, root),
        (MEMORY_REF, root, one),
        (MEMORY_REF, one, None),
        (MEMORY_REF, None, two),
    ]
    assert all(datetime.fromisoformat(line["at"]).utcoffset() == timedelta(0) for line in case.log("journal"))


def test_a_ref_never_names_what_is_missing(case: Case) -> None:
    root = case.begin()
    with case.store.exclusive(), pytest.raises(ObjectMissing):
        case.store.swap(MEMORY_REF, root, "1" * 40)
    tree = case.store.commit(root).tree
    with case.store.exclusive(), pytest.raises(ObjectMissing):
        case.store.swap(MEMORY_REF, root, tree)
    assert case.store.tip() == root


@pytest.mark.parametrize("ref", ["refs/heads/main", "HEAD", "../evil", "refs/invincatty/x"])
def test_refs_that_are_not_ours_are_not_touched(case: Case, ref: str) -> None:
    root = case.begin()
    with case.store.exclusive(), pytest.raises(InternalError):
        case.store.swap(ref, None, root)


def test_proposals_are_found_by_prefix(case: Case) -> None:
    root = case.begin()
    names = [PROPOSALS + "01JF0W3E7Q8R9S0T1V2W3X4Y5Z", PROPOSALS + "01JDXQ6T3M9V0K8Y2W5R7N4B1C"]
    with case.store.exclusive():
        for name in [*names, "refs/invincat/proposals-old/x"]:
            assert case.store.swap(name, None, root)
    assert list(case.store.refs(PROPOSALS).items()) == [(name, root) for name in sorted(names)]
    with case.store.exclusive():
        for name in names:
            assert case.store.swap(name, root, None)
    assert case.store.refs(PROPOSALS) == {}
    assert case.store.refs("refs/invincat/nothing/") == {}


def test_nothing_is_written_without_the_lock(case: Case) -> None:
    root = case.begin()
    for attempt in (
        case.store.write_root,
        lambda: case.store.write(root, [Draft("x\n")], ADA, NOW),
        lambda: case.store.swap(MEMORY_REF, root, None),
    ):
        with pytest.raises(InternalError):
            attempt()


def test_a_batch_is_a_chain_of_commits(case: Case) -> None:
    root = case.begin()
    drafts = (
        Draft("create testing/a: é\n\nbody\n", {"memory/testing/a.md": b"a\n", "README.md": b"read\n"}),
        Draft("update testing/a\n", {"memory/testing/a.md": b"A\n"}),
        Draft("move\n", {"memory/style/a.md": b"A\n"}, frozenset({"memory/testing/a.md"})),
    )
    ids = case.write(root, *drafts)
    assert case.store.tip() == root, "nobody sees it before the swap"
    commits = [case.store.commit(id) for id in ids]
    assert [commit.parents for commit in commits] == [(root,), (ids[0],), (ids[1],)]
    assert [commit.message for commit in commits] == [draft.message for draft in drafts]
    assert {(commit.author, commit.time) for commit in commits} == {(ADA, NOW)}
    base = {"README.md": (FILE_MODE, b"read\n"), "invincat.yaml": (FILE_MODE, b"format: 1\n")}
    assert [case.files(id) for id in ids] == [
        base | {"memory/testing/a.md": (FILE_MODE, b"a\n")},
        base | {"memory/testing/a.md": (FILE_MODE, b"A\n")},
        base | {"memory/style/a.md": (FILE_MODE, b"A\n")},
    ]
    assert [commit.id for commit in case.store.history(ids[-1])] == [*reversed(ids), root]


def test_ids_are_those_that_git_would_give(case: Case) -> None:
    """Pinned from `git commit-tree`, so that clones that do the same agree."""
    root = case.begin()
    [id] = case.write(root, Draft("create a/b\n", {"memory/a/b.md": b"text\n", "memory/a.md": b"x\n", "a": b""}))
    blob = b"text\n"
    tree = b"100644 b.md\0" + hashlib.sha1(b"blob 5\0" + blob).digest()
    names = {entry.name: entry.id for entry in case.store.list_tree(case.store.commit(id).tree)}
    inner = {entry.name: entry.id for entry in case.store.list_tree(names["memory"])}
    assert inner["a"] == hashlib.sha1(b"tree %d\0" % len(tree) + tree).hexdigest()
    assert list(inner) == ["a.md", "a"], "git sorts a folder as if it ended with a slash"
    assert id == "f44f01a1634c116750f63bd88542be61b747c23c"


def test_what_a_draft_does_not_touch_stays(case: Case) -> None:
    foreign = {
        "bin/run": (0o100755, b"#!/bin/sh\n"),
        "memory/link": (0o120000, b"../../outside"),
        "memory/vendor": (0o160000, b"gitlink"),
        "memory/a/UPPER Case\n.md": (0o100644, b"odd\n"),
        "memory/a/caf\udce9": (0o100644, b"latin1\n"),
        "memory/a/run.md": (0o100755, b"x\n"),
        "memory/a/b/c/d": (0o100644, b"deep\n"),
    }
    planted = case.plant(foreign)
    before = {name: (mode, id) for name, mode, id in case.store.list_tree(case.store.commit(planted).tree)}
    [id] = case.write(planted, Draft("x\n", {"memory/a/new.md": b"new\n", "memory/b/new.md": b"new\n"}))
    expected = {path: (mode, b"" if mode == 0o160000 else data) for path, (mode, data) in foreign.items()}
    new = {"memory/a/new.md": (FILE_MODE, b"new\n"), "memory/b/new.md": (FILE_MODE, b"new\n")}
    assert case.files(id) == expected | new
    after = {name: (mode, id) for name, mode, id in case.store.list_tree(case.store.commit(id).tree)}
    assert after["bin"] == before["bin"]
    [back] = case.write(id, Draft("y\n", removes=frozenset(new)))
    assert case.store.commit(back).tree == case.store.commit(planted).tree


def test_commits_that_touched_a_path(case: Case) -> None:
    root = case.begin()
    made, other, changed, removed = case.write(
        root,
        Draft("made\n", {"memory/a/x.md": b"1"}),
        Draft("other\n", {"memory/b/y.md": b"1"}),
        Draft("changed\n", {"memory/a/x.md": b"2"}),
        Draft("removed\n", {}, frozenset({"memory/a/x.md"})),
    )
    assert list(case.store.touching(removed, ["memory/a/x.md"])) == [removed, changed, made]
    assert list(case.store.touching(changed, ["memory/a/x.md", "memory/b"])) == [changed, other, made]
    assert list(case.store.touching(removed, ["memory"])) == [removed, changed, other, made]
    assert list(case.store.touching(removed, ["memory/*", "--all", ":/memory", "no\nline"])) == []
    assert list(case.store.touching(root, ["invincat.yaml"])) == [root]


def test_an_empty_folder_disappears(case: Case) -> None:
    root = case.begin()
    one, two = case.write(
        root,
        Draft("put\n", {"memory/a/b/one.md": b"1\n"}),
        Draft("remove\n", removes=frozenset({"memory/a/b/one.md"})),
    )
    assert case.store.commit(two).tree == case.store.commit(root).tree
    assert case.store.list_tree(case.store.commit(one).tree)[1].name == "memory"


def test_a_folder_emptied_and_filled_in_one_batch(case: Case) -> None:
    root = case.begin()
    ids = case.write(
        root,
        Draft("put\n", {"memory/a/one.md": b"1\n"}),
        Draft("remove\n", removes=frozenset({"memory/a/one.md"})),
        Draft("put again\n", {"memory/a/two.md": b"2\n"}),
        Draft("replace\n", {"memory/a/three.md": b"3\n"}, frozenset({"memory/a/two.md"})),
    )
    assert [sorted(case.files(id)) for id in ids] == [
        ["invincat.yaml", "memory/a/one.md"],
        ["invincat.yaml"],
        ["invincat.yaml", "memory/a/two.md"],
        ["invincat.yaml", "memory/a/three.md"],
    ]


@pytest.mark.parametrize(
    "draft",
    [
        Draft("x\n", removes=frozenset({"memory/none.md"})),
        Draft("x\n", removes=frozenset({"nowhere/none.md"})),
        Draft("x\n", removes=frozenset({"memory/a"})),
        Draft("x\n", removes=frozenset({"memory/a/one.md/x"})),
        Draft("x\n", {"memory/a": b"a folder is there\n"}),
        Draft("x\n", {"memory/a/one.md/x": b"a file is in the way\n"}),
    ],
)
def test_a_draft_that_does_not_fit_is_refused(case: Case, draft: Draft) -> None:
    root = case.begin()
    [one] = case.write(root, Draft("put\n", {"memory/a/one.md": b"1\n"}))
    with case.store.exclusive(), pytest.raises(StoreError):
        case.store.write(one, [draft], ADA, NOW)


@pytest.mark.parametrize("path", ["", "/a", "a/", "a//b", "../a", "a/../b", "./a", ".git/config", "a/.GIT/x", "a\0b"])
def test_a_path_that_no_tree_may_have_is_refused(case: Case, path: str) -> None:
    root = case.begin()
    with case.store.exclusive():
        with pytest.raises(InternalError):
            case.store.write(root, [Draft("x\n", {path: b""})], ADA, NOW)
        with pytest.raises(InternalError):
            case.store.write(root, [Draft("x\n", removes=frozenset({path}))], ADA, NOW)


@pytest.mark.parametrize("id", ["1" * 40, "", "short", "HEAD", "../../../etc/passwd", "g" * 40])
def test_a_missing_object_is_told(case: Case, id: str) -> None:
    for read in (case.store.commit, case.store.list_tree, case.store.read_blob):
        with pytest.raises(ObjectMissing):
            read(id)


def test_an_object_of_another_kind_is_missing(case: Case) -> None:
    root = case.begin()
    tree = case.store.commit(root).tree
    blob = case.store.list_tree(tree)[0].id
    for read, id in (
        (case.store.commit, tree),
        (case.store.commit, blob),
        (case.store.list_tree, blob),
        (case.store.read_blob, tree),
        (case.store.read_blob, root),
    ):
        with pytest.raises(ObjectMissing):
            read(id)


def test_the_lock_may_be_nested_and_keeps_others_out(case: Case) -> None:
    outcome: list[object] = []

    def other() -> None:
        try:
            with case.store.exclusive(timeout=0.05):
                outcome.append("entered")
        except StoreBusy as fault:
            outcome.append(fault)

    with case.store.exclusive(), case.store.exclusive():
        pass
    with case.store.exclusive():
        with case.store.exclusive():
            pass
        contender = threading.Thread(target=other)
        contender.start()
        contender.join()
    assert [type(result) for result in outcome] == [StoreBusy]
    contender = threading.Thread(target=other)
    contender.start()
    contender.join()
    assert outcome[1:] == ["entered"]


def test_the_lock_is_let_go_after_an_error(case: Case) -> None:
    with pytest.raises(ZeroDivisionError), case.store.exclusive():
        raise ZeroDivisionError
    with pytest.raises(InternalError):
        case.store.write_root()
    with case.store.exclusive(timeout=0.05):
        assert case.store.write_root() == ROOT


def test_times_are_told_in_utc(case: Case) -> None:
    root = case.begin()
    tokyo = datetime(2026, 11, 29, 19, 0, 0, tzinfo=timezone(timedelta(hours=9)))
    with case.store.exclusive():
        [id] = case.store.write(root, [Draft("x\n")], Signature("Zoë", "zoe@example.org"), tokyo)
    commit = case.store.commit(id)
    assert (commit.time, commit.time.utcoffset()) == (NOW, timedelta(0))
    assert commit.author.name == "Zoë"
    assert commit.tree == case.store.commit(root).tree, "a draft without files is a commit of the same tree"


def test_logs_take_any_text(case: Case) -> None:
    records: list[dict[str, Any]] = [{"reason": "línea\nnueva \u2028 \udce9", "n": 1}, {"ids": ["a"], "none": None}]
    for record in records:
        case.store.append("audit.jsonl", record)
    assert case.log("audit.jsonl") == records
    assert case.log("rejected.jsonl") == []


def test_the_author_is_the_one_configured(case: Case) -> None:
    assert case.store.author() == ADA


def test_entries_are_in_the_order_of_git(case: Case) -> None:
    planted = case.plant({"b": (0o100644, b""), "a/x": (0o100644, b""), "a.x": (0o100644, b""), "a0": (0o100644, b"")})
    entries = case.store.list_tree(case.store.commit(planted).tree)
    assert [entry.name for entry in entries] == ["a.x", "a", "a0", "b"]
    assert all(isinstance(entry, TreeEntry) for entry in entries)


def test_a_log_is_read_back_from_any_place(case: Case) -> None:
    assert case.store.read_log("audit.jsonl") == ([], 0)
    case.store.append("audit.jsonl", {"n": 1})
    records, place = case.store.read_log("audit.jsonl")
    assert records == [{"n": 1}]
    assert case.store.read_log("audit.jsonl", place) == ([], place)
    case.store.append("audit.jsonl", {"n": 2})
    assert case.store.read_log("audit.jsonl", place)[0] == [{"n": 2}]
    assert case.store.read_log("audit.jsonl")[0] == [{"n": 1}, {"n": 2}]
    assert case.store.read_log("audit.jsonl", 10_000)[1] < 10_000, "it is shorter than that"


def test_the_journal_names_every_move(case: Case) -> None:
    root = case.begin()
    records, _ = case.store.read_log("journal")
    assert [(record["ref"], record["old"], record["new"]) for record in records] == [(MEMORY_REF, None, root)]
