"""What only the store in git must do: agree with git itself, in every kind of repository."""

import os
import random
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from invincat.errors import ConfigurationError, StoreError
from invincat.store.ancestry import newest_first
from invincat.store.base import (
    MEMORY_REF,
    PROPOSALS,
    Commit,
    Draft,
    IdentityMissing,
    ObjectMissing,
    Signature,
    StoreBusy,
)
from invincat.store.git import GitStore
from invincat.store.inmemory import InMemoryStore
from invincat.store.locate import NotARepository, create_bare, locate, locate_bare
from invincat.store.source import Source
from tests.memory.factories import ADA, NOW
from tests.store.writing import learn

Git = Callable[..., str]

ROOT_SHA256 = "77c018e07c86447d016aa67d64b31cd3bf71de1bd9fe44d79e5ca2e807e7ef19"


@pytest.fixture
def store(repo: Path) -> Iterator[GitStore]:
    with GitStore(locate(repo)) as opened:
        yield opened


def test_git_reads_what_we_write_and_finds_no_fault(store: GitStore, git: Git) -> None:
    for name in ("testing/use-nox", "testing/markers", "style/black"):
        learn(store, name)
    assert git("fsck", "--strict", "--full") == ""
    assert git("log", "--format=%s", "invincat/memory", "--").split("\n")[:3] == [
        "create style/black",
        "create testing/markers",
        "create testing/use-nox",
    ]
    assert git("show", "invincat/memory:memory/style/black.md") == "text\n"
    assert git("log", "-1", "--format=%an <%ae> %cn %ad", "--date=raw", "invincat/memory").strip() == (
        f"Ada Lovelace <ada@example.org> Ada Lovelace {NOW.timestamp():.0f} +0000"
    )
    assert git("branch", "--all") == "* main\n"


def test_random_batches_are_the_same_in_memory(store: GitStore) -> None:
    """Two independent writers of trees agree on every commit."""
    chance = random.Random(7)
    memory = InMemoryStore(ADA)
    names = [f"memory/{folder}/{name}" for folder in ("a", "a-b", "a.b", "a/deep", "z") for name in ("x.md", "y.md")]
    drafts, there = [], set[str]()
    for number in range(60):
        removes = frozenset(chance.sample(sorted(there), min(len(there), chance.randrange(4))))
        puts = {name: b"%d" % chance.randrange(9) for name in chance.sample(names, chance.randrange(3))}
        there = there - removes | set(puts)
        drafts.append(Draft(f"{number}\n", puts, removes))
    with store.exclusive(), memory.exclusive():
        ours = store.write(store.write_root(), drafts, ADA, NOW)
        assert ours == memory.write(memory.write_root(), drafts, ADA, NOW)
        # One commit at a time gives the same as a batch, which keeps its trees.
        parent = store.write_root()
        for draft, expected in zip(drafts, ours, strict=True):
            [parent] = store.write(parent, [draft], ADA, NOW)
            assert parent == expected


def test_a_sha256_repository(tmp_path: Path, git: Git) -> None:
    made = subprocess.run(
        ["git", "init", "--quiet", "--object-format=sha256", tmp_path / "long"], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("this git makes no SHA-256 repositories")
    with GitStore(locate(tmp_path / "long")) as store:
        with store.exclusive():
            assert store.write_root() == ROOT_SHA256
        tip = learn(store, "a/one")
        learn(store, "b/two")
        assert [commit.id for commit in store.history(tip)] == [tip, ROOT_SHA256]
        tree = store.list_tree(store.commit(tip).tree)
        assert store.read_blob(tree[0].id) == b"format: 1\n"
    assert git("fsck", "--strict", cwd=tmp_path / "long") == ""
    assert git("ls-tree", "-r", "--name-only", "invincat/memory", cwd=tmp_path / "long") == (
        "invincat.yaml\nmemory/a/one.md\nmemory/b/two.md\n"
    )


def test_linked_work_trees_share_one_store(store: GitStore, repo: Path, git: Git, tmp_path: Path) -> None:
    git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    with GitStore(locate(tmp_path / "linked")) as other:
        assert other.state_dir == store.state_dir == repo / ".git" / "invincat"
        tip = learn(other, "a/one")
        assert store.tip() == tip
        assert learn(store, "a/two") == other.tip()
        with store.exclusive(), pytest.raises(StoreBusy), other.exclusive(timeout=0.02):
            pass
    assert other.location == str(tmp_path / "linked")


def test_the_work_tree_is_not_touched(store: GitStore, repo: Path, git: Git) -> None:
    (repo / "README.md").write_text("changed\n")
    (repo / "staged").write_text("staged\n")
    git("add", "staged")
    (repo / "new").write_text("new\n")
    index = repo / ".git" / "index"
    before = git("status", "--porcelain=v2", "--branch", "--show-stash"), index.read_bytes(), git("rev-parse", "HEAD")
    learn(store, "a/one")
    status = git("status", "--porcelain=v2", "--branch", "--show-stash")
    assert (status, index.read_bytes(), git("rev-parse", "HEAD")) == before
    assert sorted(path.name for path in repo.iterdir()) == [".git", "README.md", "new", "staged"]


def test_packing_in_between(store: GitStore, git: Git) -> None:
    first = learn(store, "a/one")
    git("pack-refs", "--all")
    git("gc", "--quiet", "--prune=now")
    assert store.tip() == first
    second = learn(store, "a/two")
    git("repack", "-a", "-d", "-f", "--quiet")
    git("multi-pack-index", "write")
    git("commit-graph", "write", "--reachable")
    assert [commit.id for commit in store.history(second)][:2] == [second, first]
    git("pack-refs", "--all")
    git("gc", "--quiet", "--prune=now")
    third = learn(store, "a/three")
    assert git("rev-list", MEMORY_REF).split()[:3] == [third, second, first]
    assert git("fsck", "--strict") == ""
    with store.exclusive():
        assert store.swap(PROPOSALS + "x", None, third)
        git("pack-refs", "--all")
        assert not store.swap(PROPOSALS + "x", None, second)
        assert store.refs(PROPOSALS) == {PROPOSALS + "x": third}
        assert store.swap(PROPOSALS + "x", third, None)
    assert git("for-each-ref", "--format=%(refname)", "refs/invincat/") == f"{MEMORY_REF}\n"


def test_a_long_lived_store_sees_what_others_write(store: GitStore, repo: Path, git: Git) -> None:
    learn(store, "a/one")
    with GitStore(locate(repo)) as other:
        tip = learn(other, "a/two")
    git("gc", "--quiet", "--prune=now")
    assert store.tip() == tip
    assert len(list(store.history(tip))) == 3


def test_what_a_partial_clone_left_out_is_fetched(store: GitStore, repo: Path, git: Git, tmp_path: Path) -> None:
    tip = learn(store, "a/one", "far away\n")
    git("config", "uploadpack.allowFilter", "true")
    git("config", "uploadpack.allowAnySHA1InWant", "true")
    git("update-ref", "refs/heads/invincat/memory", tip)
    git("clone", "--quiet", "--filter=blob:none", repo.as_uri(), str(tmp_path / "partial"), cwd=tmp_path)
    with GitStore(locate(tmp_path / "partial")) as clone:
        [blob] = [line.split()[2] for line in git("ls-tree", "-r", tip, "memory").splitlines()]
        missing = git("rev-list", "--objects", "--missing=print", tip, cwd=tmp_path / "partial")
        assert f"?{blob}" in missing
        assert clone.read_blob(blob) == b"far away\n"
        with pytest.raises(ObjectMissing):
            clone.read_blob("1" * 40)


def test_state_is_private(store: GitStore) -> None:
    learn(store, "a/one")
    store.append("audit.jsonl", {"verdict": "commit"})
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in store.state_dir.iterdir()}
    assert stat.S_IMODE(store.state_dir.stat().st_mode) == 0o700
    assert {"journal", "audit.jsonl"} <= modes.keys()
    assert set(modes.values()) == {0o600}
    assert "memory" not in modes


def test_a_torn_line_does_not_swallow_the_next(store: GitStore) -> None:
    store.append("audit.jsonl", {"n": 1})
    log = store.state_dir / "audit.jsonl"
    log.write_bytes(log.read_bytes() + b'{"n": 2, "torn')
    store.append("audit.jsonl", {"n": 3})
    assert log.read_text().splitlines() == ['{"n":1}', '{"n": 2, "torn', '{"n":3}']


def test_an_identity_is_never_invented(store: GitStore, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.delenv(name)
    git("config", "user.useConfigOnly", "true")
    with pytest.raises(IdentityMissing, match=r"git config --global user\.name"):
        store.author()
    git("config", "user.name", "Grace")
    git("config", "user.email", "grace@example.org")
    assert store.author() == Signature("Grace", "grace@example.org")
    git("config", "user.name", "Somebody else")
    assert store.author() == Signature("Grace", "grace@example.org"), "asked once"


def test_a_broken_ref_is_not_an_empty_store(store: GitStore, repo: Path) -> None:
    tip = learn(store, "a/one")
    for content in ("", "rubbish\n"):
        (repo / ".git" / MEMORY_REF).write_text(content)
        with pytest.raises(StoreError):
            store.tip()
    (repo / ".git" / MEMORY_REF).write_text(f"{tip}\n")
    assert store.tip() == tip


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_what_we_may_not_read_or_write_is_told_before_anything_moves(store: GitStore, repo: Path) -> None:
    tip = learn(store, "a/one")
    journal, ref = store.state_dir / "journal", repo / ".git" / MEMORY_REF
    journal.chmod(0o400)
    with pytest.raises(StoreError, match="journal"):
        learn(store, "a/two")
    assert store.tip() == tip
    journal.chmod(0o600)
    ref.chmod(0)
    with pytest.raises(StoreError, match="Permission denied"):
        store.tip()


def test_a_line_of_a_log_that_is_too_deep_is_left_out(store: GitStore) -> None:
    store.append("audit.jsonl", {"n": 1})
    log = store.state_dir / "audit.jsonl"
    log.write_text("[" * 100_000 + "\n" + log.read_text())
    assert store.read_log("audit.jsonl")[0] == [{"n": 1}]


def test_a_broken_proposal_does_not_hide_the_others(store: GitStore, repo: Path) -> None:
    tip = learn(store, "a/one")
    with store.exclusive():
        store.swap(PROPOSALS + "good", None, tip)
    (repo / ".git" / PROPOSALS / "bad").write_text("rubbish\n")
    assert store.refs(PROPOSALS) == {PROPOSALS + "good": tip}


def test_a_damaged_object_is_told(store: GitStore, repo: Path, git: Git) -> None:
    tip = learn(store, "a/one")
    [blob] = [line.split()[2] for line in git("ls-tree", "-r", tip, "memory").splitlines()]
    path = repo / ".git" / "objects" / blob[:2] / blob[2:]
    path.chmod(0o600)
    path.write_bytes(b"rubbish")
    with pytest.raises(ObjectMissing):
        store.read_blob(blob)


def test_unknown_extensions_are_refused(repo: Path, git: Git) -> None:
    git("config", "core.repositoryFormatVersion", "1")
    git("config", "extensions.preciousObjects", "true")
    with pytest.raises(ConfigurationError, match="preciousObjects"):
        GitStore(locate(repo))


def test_nothing_is_printed_at_exit(store: GitStore, repo: Path, git: Git) -> None:
    learn(store, "a/one")
    git("gc", "--quiet")
    program = (
        "import sys; from pathlib import Path; from invincat.store.git import GitStore\n"
        "from invincat.store.locate import locate\n"
        "kept = GitStore(locate(Path(sys.argv[1]))); print(kept.commit(kept.tip()).message)"
    )
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", program, repo],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "create a/one\n\n", "")


def test_merges_are_told_newest_first_and_parents_last(store: GitStore, git: Git) -> None:
    """On a random history with wrong clocks; git says what is in it."""
    chance = random.Random(3)
    ids = [learn(store, "a/one")]
    tree = store.commit(ids[0]).tree
    for number in range(40):
        parents = chance.sample(ids[-5:], min(len(ids[-5:]), chance.choice((1, 1, 2, 3))))
        date = f"{1_700_000_000 + chance.randrange(10_000)} +0000"
        links = [word for parent in parents for word in ("-p", parent)]
        env = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        ids.append(git("commit-tree", tree, *links, "-m", str(number), env=env).strip())
    told = list(store.history(ids[-1]))
    place = {commit.id: index for index, commit in enumerate(told)}
    assert sorted(place) == sorted(git("rev-list", ids[-1]).split())
    assert len(place) == len(told)
    assert told[0].id == ids[-1]
    assert all(place[commit.id] < place[parent] for commit in told for parent in commit.parents)


def _history(parents: Mapping[str, tuple[str, ...]], clock: Mapping[str, int]) -> Callable[[str], Commit]:
    def read(id: str) -> Commit:
        return Commit(id, parents[id], "", ADA, datetime.fromtimestamp(clock[id], UTC), "")

    return read


@pytest.mark.parametrize("who", [b"Eve <eve@example.org>", b"Eve 12 +0000"])
def test_a_commit_without_a_time_is_the_earliest(store: GitStore, git: Git, who: bytes) -> None:
    """Other tools make such; git reads them."""
    tip = learn(store, "a/one")
    tree = git("rev-parse", f"{tip}^{{tree}}").strip()
    data = b"tree %s\nparent %s\nauthor %s\ncommitter %s\n\nby hand\n" % (tree.encode(), tip.encode(), who, who)
    odd = git("hash-object", "-t", "commit", "-w", "--literally", "--stdin", input=data).strip()
    git("update-ref", MEMORY_REF, odd)
    assert [commit.id for commit in store.history(odd)][:2] == [odd, tip]
    assert store.commit(odd).time == datetime(1970, 1, 1, tzinfo=UTC)
    found = Source(store.repository).commit(odd)
    assert found is not None
    assert found.time == datetime(1970, 1, 1, tzinfo=UTC)
    assert learn(store, "a/two")


def test_history_reads_no_more_than_it_must() -> None:
    count = 1000
    parents = {str(n): (str(n - 1),) if n else () for n in range(count)}
    reads: list[str] = []
    read = _history(parents, {id: int(id) for id in parents})

    def counted(id: str) -> Commit:
        reads.append(id)
        return read(id)

    told = newest_first("999", counted)
    assert [next(told).id for _ in range(3)] == ["999", "998", "997"]
    assert len(reads) <= 5


def test_history_with_a_second_root_and_a_wrong_clock() -> None:
    """`old` is an ancestor of `left` although its clock is ahead, and is read long before `left` is."""
    parents = {"merge": ("left", "old"), "left": ("middle",), "middle": ("old",), "old": (), "other": ()}
    clock = {"merge": 50, "old": 40, "left": 30, "middle": 20, "other": 0}
    told = [commit.id for commit in newest_first("merge", _history(parents, clock))]
    assert told == ["merge", "left", "middle", "old"]


def test_the_repository_is_found_as_git_finds_it(repo: Path, git: Git, tmp_path: Path) -> None:
    (repo / "src" / "deep").mkdir(parents=True)
    found = locate(repo / "src" / "deep")
    assert (found.root, found.git_dir, found.common_dir) == (repo, repo / ".git", repo / ".git")
    assert locate(repo / ".git").root is None
    git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    linked = locate(tmp_path / "linked")
    assert (linked.root, linked.common_dir) == (tmp_path / "linked", repo / ".git")
    assert linked.git_dir == repo / ".git" / "worktrees" / "linked"
    git("init", "--quiet", f"--separate-git-dir={tmp_path / 'apart'}", str(tmp_path / "split"))
    assert locate(tmp_path / "split").common_dir == tmp_path / "apart"
    git("submodule", "--quiet", "add", str(repo), "part")
    inner = locate(repo / "part")
    assert (inner.root, inner.common_dir) == (repo / "part", repo / ".git" / "modules" / "part")
    with GitStore(inner) as store:
        learn(store, "a/one")
    assert git("rev-parse", "invincat/memory", cwd=repo / "part")
    bare = create_bare(tmp_path / "user" / "user.git")
    assert (bare.root, bare.common_dir) == (None, tmp_path / "user" / "user.git")
    assert stat.S_IMODE(bare.common_dir.stat().st_mode) == 0o700
    assert locate(bare.common_dir) == bare


def test_a_hook_does_not_lead_to_another_repository(
    repo: Path, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git("init", "--quiet", str(tmp_path / "other"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "other" / "index"))
    found = locate(repo)
    assert found.root == repo
    assert GitStore(found).author() == ADA, "who commits is still said by the environment"


def test_outside_of_a_repository(tmp_path: Path) -> None:
    with pytest.raises(NotARepository, match="not inside a git repository"):
        locate(tmp_path)
    with pytest.raises(NotARepository):
        locate_bare(tmp_path / "none.git")


def test_what_stands_before_two_dots_is_not_above(repo: Path) -> None:
    with pytest.raises(NotARepository):
        locate(repo / "..")


@pytest.mark.parametrize("shape", ["work tree", "bare"])
def test_a_repository_that_git_does_not_take_for_one_is_no_empty_place(
    repo: Path, git: Git, tmp_path: Path, shape: str
) -> None:
    """Git says so of objects that it may not enter, too, which root cannot try; nobody is to begin a store there."""
    if shape == "bare":
        place = refused = create_bare(tmp_path / "user.git").common_dir
    else:
        place, refused = repo / "src", repo / ".git"
        place.mkdir()
    (refused / "objects").rename(tmp_path / "apart")
    with pytest.raises(ConfigurationError, match=f"^{refused}: git says: not a git repository.*; see that you may"):
        locate_bare(place) if shape == "bare" else locate(place)
    (tmp_path / "apart").rename(refused / "objects")
    assert locate(place).common_dir == refused


def test_a_folder_with_a_file_called_head_is_no_repository(tmp_path: Path) -> None:
    (tmp_path / "HEAD").write_text("of a table\n")
    with pytest.raises(NotARepository):
        locate(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may enter everything")
@pytest.mark.parametrize("part", [".git", ".git/objects", ".git/refs"])
def test_a_repository_that_we_may_not_enter_is_no_empty_place(repo: Path, part: str) -> None:
    (repo / part).chmod(0)
    try:
        with pytest.raises(ConfigurationError, match="git says: "):
            locate(repo)
    finally:
        (repo / part).chmod(0o700)


@pytest.mark.parametrize("name", ["a\u2028b", "a\x85", "a b\xa0"])
def test_names_that_python_takes_for_more_than_a_line(repo: Path, git: Git, tmp_path: Path, name: str) -> None:
    git("clone", "--quiet", str(repo), str(tmp_path / name))
    git("checkout", "--quiet", "-b", f"x/{name.replace(' ', '')}", cwd=tmp_path / name)
    found = locate(tmp_path / name)
    assert found.root == tmp_path / name
    assert Source(found).branch() == f"x/{name.replace(' ', '')}"


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give a file away")
def test_dubious_ownership_is_refused_in_the_words_of_git(repo: Path) -> None:
    os.chown(repo, 65534, 65534)
    os.chown(repo / ".git", 65534, 65534)
    with pytest.raises(ConfigurationError, match="dubious ownership"):
        locate(repo)


def test_without_git(repo: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigurationError, match="git was not found"):
        locate(repo)


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot change to"):
        locate(tmp_path / "none")


@pytest.mark.parametrize("plant", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("elsewhere")])
def test_a_log_that_is_no_plain_file_is_refused_at_once(store: GitStore, plant: Callable[[Path], None]) -> None:
    path = store.state_dir / "audit.jsonl"
    plant(path)
    with pytest.raises(StoreError):
        store.append("audit.jsonl", {"n": 1})
    assert not (store.state_dir / "elsewhere").exists()


def test_an_object_that_a_crash_left_empty_is_told_like_a_missing_one(store: GitStore, repo: Path, git: Git) -> None:
    """A power loss leaves files without bytes: one line with the id, no internal error."""
    blob = git("hash-object", "-w", "--stdin", input="words").strip()
    file = repo / ".git/objects" / blob[:2] / blob[2:]
    file.chmod(0o644)
    file.write_bytes(b"")
    with pytest.raises(ObjectMissing, match=blob):
        store.read_blob(blob)
