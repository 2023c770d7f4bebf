"""Writers that are killed: nothing reported is lost, and whoever comes next can write.

`INVINCAT_TEST_KILLS` is the number of kills of the random loop (20).
"""

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from invincat.store.base import MEMORY_REF, Draft, StoreBusy
from invincat.store.git import GitStore
from invincat.store.locate import locate
from invincat.store.state import Move, StateDir
from tests.memory.factories import ADA, NOW
from tests.store.writing import learn

Git = Callable[..., str]

KILLS = int(os.environ.get("INVINCAT_TEST_KILLS", "20"))

# Commits without end and reports each id only after the swap.
WRITER = """
import itertools, sys
from datetime import UTC, datetime
from pathlib import Path
from invincat.store.base import MEMORY_REF, Draft, Signature
from invincat.store.git import GitStore
from invincat.store.locate import locate

store = GitStore(locate(Path(sys.argv[1])))
for number in itertools.count():
    with store.exclusive():
        old = store.tip()
        parent = old or store.write_root()
        path = f"memory/section-{number % 3}/{sys.argv[2]}-{number}.md"
        draft = Draft(f"create {path}\\n", {path: b"text\\n"})
        [new] = store.write(parent, [draft], Signature("Ada", "ada@example.org"), datetime.now(UTC))
        moved = store.swap("refs/invincat/memory", old, new)
    assert moved, "a swap under the lock was lost"
    print(new, flush=True)
"""


class Writer:
    """A process that commits without end; `reported` are the commits that it says it made."""

    def __init__(self, repo: Path, name: str) -> None:
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-c", WRITER, str(repo), name]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        self.reported: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.endswith("\n"):
                self.reported.append(line.strip())

    def kill(self) -> str:
        """SIGKILL; what it had written to standard error."""
        assert self.process.poll() is None, self.process.communicate()[1]
        self.process.kill()
        self._reader.join()
        assert self.process.stderr is not None
        complaint = self.process.stderr.read()
        self.process.communicate()
        return complaint


def moves(repo: Path) -> list[tuple[str | None, str | None]]:
    lines = (repo / ".git" / "invincat" / "journal").read_text().splitlines()
    return [(line["old"], line["new"]) for line in map(json.loads, lines)]


@pytest.mark.slow
def test_writers_killed_at_any_moment(repo: Path, git: Git) -> None:
    """Always one more writer than are killed, so that a living one must heal what the dead one left."""
    chance = random.Random(11)
    git("gc", "--quiet")
    writers = [Writer(repo, "w0"), Writer(repo, "w1")]
    reported: list[str] = []
    for number in range(KILLS):
        victim = writers.pop(0)
        if number < KILLS - 1:
            writers.append(Writer(repo, f"w{number + 2}"))
        _await_commit(victim)
        time.sleep(chance.random() * 0.02)
        assert victim.kill() == ""
        reported += victim.reported
    for survivor in writers:
        _await_commit(survivor)
        assert survivor.kill() == ""
        reported += survivor.reported
    store = GitStore(locate(repo))
    last = learn(store, "last")
    history = [commit.id for commit in store.history(last)]
    store.close()
    assert len(reported) >= KILLS
    assert set(reported) <= set(history)
    assert moves(repo) == list(zip([None, *reversed(history[1:-1])], [*reversed(history[:-1])], strict=True)), (
        "the journal has every move once, in order"
    )
    assert git("fsck", "--strict", "--no-dangling") == ""
    left = sorted(path.name for path in (repo / ".git" / "refs" / "invincat").iterdir())
    assert left == ["memory"]
    assert not (repo / ".git" / "invincat" / "pending").exists()


def _await_commit(writer: Writer) -> None:
    """Wait until this writer is at work."""
    deadline = time.monotonic() + 20
    while not writer.reported:
        assert writer.process.poll() is None, writer.process.communicate()[1]
        assert time.monotonic() < deadline, "no commit in 20 s"
        time.sleep(0.002)


@pytest.fixture
def store(repo: Path) -> Iterator[GitStore]:
    with GitStore(locate(repo), ref_patience=0.3) as opened:
        yield opened


def killed_before_the_move(store: GitStore, repo: Path, content: Callable[[str], bytes]) -> tuple[str, Path]:
    """As if a writer was killed with the ref's lock in hand; the commit it was about to show, and the lock."""
    learn(store, "one")
    with store.exclusive():
        old = store.tip()
        assert old is not None
        [new] = store.write(old, [Draft("lost\n", {"memory/a/lost.md": b"x\n"})], ADA, NOW)
    StateDir(repo / ".git" / "invincat").announce(Move(MEMORY_REF, old, new))
    lock = repo / ".git" / f"{MEMORY_REF}.lock"
    lock.write_bytes(content(new))
    return new, lock


@pytest.mark.parametrize("length", [0, 1, 17, 40, 41])
def test_our_stale_ref_lock_is_removed(store: GitStore, repo: Path, length: int) -> None:
    lost, lock = killed_before_the_move(store, repo, lambda new: f"{new}\n".encode()[:length])
    tip = learn(store, "two")
    assert not lock.exists()
    assert lost not in [commit.id for commit in store.history(tip)]
    assert lost not in [new for _, new in moves(repo)]


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"1" * 40 + b"\n", b"x", b"ref: refs/heads/main\n"])
def test_a_foreign_ref_lock_is_never_removed(store: GitStore, repo: Path, content: bytes) -> None:
    _, lock = killed_before_the_move(store, repo, lambda _: content)
    tip = store.tip()
    with pytest.raises(StoreBusy, match=r"memory\.lock"):
        learn(store, "two")
    assert lock.read_bytes() == content
    assert store.tip() == tip
    assert not (repo / ".git" / "invincat" / "pending").exists()
    lock.unlink()
    learn(store, "three")


@pytest.mark.parametrize("content", [b"", b"1" * 40 + b"\n"])
def test_a_ref_lock_without_our_word_is_never_removed(store: GitStore, repo: Path, content: bytes) -> None:
    learn(store, "one")
    lock = repo / ".git" / f"{MEMORY_REF}.lock"
    lock.write_bytes(content)
    with pytest.raises(StoreBusy):
        learn(store, "two")
    with pytest.raises(StoreBusy):
        learn(store, "two, and our own failed attempt must not make the lock ours")
    assert lock.read_bytes() == content


def test_an_empty_lock_that_another_git_is_about_to_fill_stays(store: GitStore, repo: Path) -> None:
    _, lock = killed_before_the_move(store, repo, lambda _: b"")
    threading.Timer(0.05, lambda: lock.write_bytes(b"1" * 40 + b"\n")).start()
    with pytest.raises(StoreBusy):
        learn(store, "two")
    assert lock.exists()


def test_a_ref_lock_of_a_busy_git_is_waited_for(store: GitStore, repo: Path) -> None:
    learn(store, "one")
    lock = repo / ".git" / f"{MEMORY_REF}.lock"
    lock.write_bytes(b"")
    threading.Timer(0.1, lock.unlink).start()
    assert learn(store, "two") == store.tip()


def test_killed_between_the_move_and_the_journal(store: GitStore, repo: Path, git: Git) -> None:
    one = learn(store, "one")
    with store.exclusive():
        [two] = store.write(one, [Draft("two\n", {"memory/a/two.md": b"x\n"})], ADA, NOW)
    state = StateDir(repo / ".git" / "invincat")
    state.announce(Move(MEMORY_REF, one, two))
    git("update-ref", MEMORY_REF, two, one)
    with store.exclusive():
        pass
    assert moves(repo) == [(None, one), (one, two)]
    state.announce(Move(MEMORY_REF, one, two))
    with store.exclusive():
        pass
    assert moves(repo) == [(None, one), (one, two)], "killed after the journal: nothing is written twice"
    assert state.announced() is None


def test_killed_while_a_ref_was_deleted(store: GitStore, repo: Path, git: Git) -> None:
    one = learn(store, "one")
    name = "refs/invincat/proposals/x"
    with store.exclusive():
        store.swap(name, None, one)
    StateDir(repo / ".git" / "invincat").announce(Move(name, one, None))
    git("update-ref", "-d", name, one)
    with store.exclusive():
        pass
    assert moves(repo)[-1] == (one, None)


def foreign(git: Git, parent: str, said: str = "from elsewhere") -> str:
    tree = git("rev-parse", f"{parent}^{{tree}}").strip()
    return git("commit-tree", "-p", parent, "-m", said, tree).strip()


def test_a_commit_that_another_tool_leaves_out_is_kept_in_a_backup(store: GitStore, git: Git) -> None:
    """Git's own update may succeed on an old value beside a `git pack-refs`; two of ours are lost here."""
    one = learn(store, "one")
    lost = []
    for name in ("two", "three"):
        lost.append(learn(store, name))
        git("update-ref", MEMORY_REF, foreign(git, one, f"beside {name}"))
        with store.exclusive():
            pass
    git("gc", "--quiet", "--prune=now")
    assert sorted(store.refs("refs/invincat/backup/").values()) == sorted(lost)
    with store.exclusive():
        pass
    assert len(store.refs("refs/invincat/backup/")) == 2, "each once"


def test_who_sets_the_ref_back_or_goes_on_from_it_makes_no_backup(store: GitStore, git: Git) -> None:
    one = learn(store, "one")
    two = learn(store, "two")
    for tip in (one, foreign(git, foreign(git, two))):
        git("update-ref", MEMORY_REF, tip)
        with store.exclusive():
            pass
    assert store.refs("refs/invincat/backup/") == {}


def test_a_half_written_announcement_blocks_nobody(store: GitStore, repo: Path) -> None:
    learn(store, "one")
    for content in ("", "refs/invincat/memory", "\0\0\0"):
        (repo / ".git" / "invincat" / "pending").write_text(content)
        learn(store, f"after-{len(content)}")


def test_stale_object_locks_block_nobody(store: GitStore, repo: Path, git: Git, tmp_path: Path) -> None:
    """A killed `init` leaves locks of objects that are the same each time: root, its tree, its file."""
    git("init", "--quiet", str(tmp_path / "other"))
    with GitStore(locate(tmp_path / "other")) as other:
        learn(other, "one")
    for path in (tmp_path / "other" / ".git" / "objects").glob("??/*"):
        lock = repo / ".git" / "objects" / path.parent.name / f"{path.name}.lock"
        lock.parent.mkdir(exist_ok=True)
        lock.write_bytes(path.read_bytes()[:10])
    learn(store, "one")
    assert not list((repo / ".git" / "objects").glob("??/*.lock"))
    assert git("fsck", "--strict") == ""
