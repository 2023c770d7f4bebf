"""A memory ref that was spoilt comes back on the newest commit that can be read."""

import errno
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from invincat.errors import StoreError
from invincat.store.base import BACKUPS, MEMORY_REF, PROPOSALS, Draft, Signature
from invincat.store.git import GitStore
from invincat.store.journal import Journal, NoNotes
from invincat.store.locate import locate
from invincat.store.repair import diagnose, repair
from invincat.store.state import Move, StateDir

Git = Callable[..., str]

NOW = datetime(2026, 11, 29, 10, 0, 0, tzinfo=UTC)
ADA = Signature("Ada Lovelace", "ada@example.org")


@pytest.fixture
def store(repo: Path) -> Iterator[GitStore]:
    with GitStore(locate(repo)) as opened:
        with opened.exclusive():
            opened.swap(MEMORY_REF, None, opened.write_root())
        yield opened


def learn(store: GitStore, name: str) -> str:
    with store.exclusive():
        old = store.tip()
        assert old is not None
        message = f"create {name}\n\nInvincat-Op: create\n"
        [new] = store.write(old, [Draft(message, {f"memory/a/{name}.md": f"{name}\n".encode()})], ADA, NOW)
        assert store.swap(MEMORY_REF, old, new)
    return new


def fresh(repo: Path) -> GitStore:
    """The store as the next process finds it."""
    return GitStore(locate(repo))


def lose(repo: Path, id: str) -> None:
    (repo / ".git/objects" / id[:2] / id[2:]).unlink()


def mended(repo: Path) -> tuple[str, GitStore]:
    """What a repair sets the ref to, and the store afterwards, which is sound and knows of no foreign move."""
    with fresh(repo) as store:
        assert diagnose(store) is not None
        done = repair(store, NOW)
        assert done is not None
        assert store.tip() == done.commit
        assert diagnose(store) is None
        assert Journal(store, NoNotes()).foreign() == ()
        return done.commit, store


def test_a_sound_ref_is_left_alone(store: GitStore, repo: Path) -> None:
    tip = learn(store, "one")
    assert diagnose(store) is None
    assert repair(store, NOW) is None
    assert store.tip() == tip


def test_a_store_of_a_newer_format_is_left_to_who_knows_it(store: GitStore, repo: Path, git: Git) -> None:
    with store.exclusive():
        old = str(store.tip())
        [newer] = store.write(old, [Draft("upgrade\n", {"invincat.yaml": b"format: 2\n"})], ADA, NOW)
        assert store.swap(MEMORY_REF, old, newer)
    git("update-ref", "-d", MEMORY_REF)
    with fresh(repo) as later:
        with pytest.raises(StoreError, match="is of format 2"):
            repair(later, NOW)
        assert later.tip() is None


@pytest.mark.parametrize(
    "spoilt", [b"", b"\n", b"6c06298fdee92682ab", b"\0" * 41, b"ref: refs/heads/main\n", b"rubbish\n"]
)
def test_a_spoilt_ref_file(store: GitStore, repo: Path, spoilt: bytes) -> None:
    """A power loss leaves it empty, cut short, or full of zeros."""
    learn(store, "one")
    two = learn(store, "two")
    (repo / ".git" / MEMORY_REF).write_bytes(spoilt)
    assert mended(repo)[0] == two
    last = json.loads((repo / ".git/invincat/journal").read_text().splitlines()[-1])
    assert last["was"] == spoilt.decode().strip()
    assert last["to"] == two


@pytest.mark.parametrize("packed", [False, True])
def test_a_ref_that_is_gone(store: GitStore, repo: Path, git: Git, packed: bool) -> None:
    one = learn(store, "one")
    if packed:
        git("pack-refs", "--all")
    git("update-ref", "-d", MEMORY_REF)
    assert mended(repo)[0] == one


def test_a_spoilt_file_over_an_older_packed_ref(store: GitStore, repo: Path, git: Git) -> None:
    learn(store, "one")
    git("pack-refs", "--all")
    two = learn(store, "two")
    (repo / ".git" / MEMORY_REF).write_bytes(b"")
    assert mended(repo)[0] == two


def test_refs_that_are_packed_only_are_sound(store: GitStore, repo: Path, git: Git) -> None:
    learn(store, "one")
    git("pack-refs", "--all")
    git("gc", "--quiet")
    assert diagnose(fresh(repo)) is None


def test_a_ref_to_a_lost_commit(store: GitStore, repo: Path) -> None:
    one = learn(store, "one")
    two = learn(store, "two")
    lose(repo, two)
    assert mended(repo)[0] == one
    last = json.loads((repo / ".git/invincat/journal").read_text().splitlines()[-1])
    assert last["was"] == two


@pytest.mark.parametrize("what", ["memory/a/two.md", "memory/a", "memory"])
def test_a_lost_object_below_the_tip(store: GitStore, repo: Path, git: Git, what: str) -> None:
    """What can still be read of the newer ones is kept under a backup ref."""
    one = learn(store, "one")
    two = learn(store, "two")
    three = learn(store, "three")
    lose(repo, git("rev-parse", f"{two}:{what}").strip())
    if what == "memory/a/two.md":
        assert "memory/a/two.md" in diagnose(fresh(repo)).fault  # type: ignore[union-attr]
    else:
        assert diagnose(fresh(repo)) is None, "the newest has folders of its own"
        lose(repo, git("rev-parse", f"{three}:{what}").strip())
    with fresh(repo) as again:
        done = repair(again, NOW)
        assert done is not None
        assert (done.commit, done.left_behind) == (one, 2)
        assert done.kept == f"{BACKUPS}20261129T100000Z"
        assert again.tip(done.kept) == three


@pytest.mark.parametrize("what", ["", ":memory", ":memory/a/two.md"])
def test_what_we_may_not_read_is_not_lost(
    store: GitStore, git: Git, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """The refusal is played, because root may read everything."""
    learn(store, "one")
    tip = learn(store, "two")
    denied = git("rev-parse", f"{tip}{what}").strip().encode()
    read = store._objects._store.get_raw

    def refuse(name: bytes) -> object:
        if name == denied:
            raise PermissionError(errno.EACCES, "Permission denied", "objects/ab/cd")
        return read(name)

    monkeypatch.setattr(store._objects._store, "get_raw", refuse)
    for act in (lambda: diagnose(store), lambda: repair(store, NOW)):
        with pytest.raises(StoreError, match="objects/ab/cd: Permission denied; check permissions"):
            act()
    assert (store.tip(), store.refs(BACKUPS)) == (tip, {})


def test_a_blob_with_other_bytes(store: GitStore, repo: Path, git: Git) -> None:
    """A bad disk, or a copy that went wrong: the object unpacks, but is another one."""
    one = learn(store, "one")
    two = learn(store, "two")
    good, bad = (git("rev-parse", f"{two}:memory/a/{name}.md").strip() for name in ("one", "two"))
    place = repo / ".git/objects" / bad[:2] / bad[2:]
    place.chmod(0o600)
    place.write_bytes((repo / ".git/objects" / good[:2] / good[2:]).read_bytes())
    assert mended(repo)[0] == one


def test_without_journal_what_a_remote_published_is_found(store: GitStore, repo: Path, git: Git) -> None:
    one = learn(store, "one")
    git("update-ref", "refs/remotes/origin/invincat/memory", one)
    (repo / ".git/invincat/journal").unlink()
    (repo / ".git" / MEMORY_REF).write_bytes(b"")
    assert mended(repo)[0] == one


def test_without_journal_the_base_of_a_proposal_is_found(store: GitStore, repo: Path) -> None:
    one = learn(store, "one")
    with store.exclusive():
        message = "create x\n\nInvincat-Op: create\nInvincat-Held: why\n"
        [held] = store.write(one, [Draft(message, {"memory/a/x.md": b"x\n"})], ADA, NOW)
        store.swap(f"{PROPOSALS}X", None, held)
    (repo / ".git/invincat/journal").unlink()
    (repo / ".git" / MEMORY_REF).write_bytes(b"")
    assert mended(repo)[0] == one


def test_without_anything_a_commit_that_nothing_names_is_found(store: GitStore, repo: Path) -> None:
    """Never an empty store in place of one that can be read: the root is there too."""
    one = learn(store, "one")
    (repo / ".git/invincat/journal").unlink()
    (repo / ".git" / MEMORY_REF).write_bytes(b"")
    assert mended(repo)[0] == one


def test_a_log_whose_words_look_like_lines_leads_nowhere_else(store: GitStore, repo: Path) -> None:
    one = learn(store, "one")
    two = learn(store, "two")
    (repo / ".git/invincat/journal").unlink()
    (repo / ".git" / MEMORY_REF).write_bytes(b"")
    log = repo / ".git/logs" / MEMORY_REF
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(f"{one} {two} Ada <ada@example.org> 1764489600 +0000\tsaid\u2028again {one} to all\n", "utf-8")
    assert mended(repo)[0] == two


def test_the_root_alone_does_not_beat_a_full_store(store: GitStore, repo: Path, git: Git) -> None:
    """The own line has nothing but the root left; a backup has memories."""
    root = store.tip()
    one = learn(store, "one")
    git("update-ref", f"{BACKUPS}20260101T000000Z", one)
    two = learn(store, "two")
    lose(repo, two)
    journal = [{"ref": MEMORY_REF, "old": None, "new": root}, {"ref": MEMORY_REF, "old": root, "new": two}]
    (repo / ".git/invincat/journal").write_text("".join(f"{json.dumps(line)}\n" for line in journal))
    assert mended(repo)[0] == one


def test_what_cannot_be_repaired_is_left_as_it_is(repo: Path) -> None:
    """No store is made where one was: somebody may still have its objects."""
    place = repo / ".git" / MEMORY_REF
    place.parent.mkdir(parents=True)
    place.write_bytes(b"")
    with fresh(repo) as store:
        assert diagnose(store) is not None
        assert repair(store, NOW) is None
        with pytest.raises(StoreError):
            store.tip()
    assert place.read_bytes() == b""


def test_a_writer_that_the_power_left_between_move_and_journal(store: GitStore, repo: Path) -> None:
    """The ref is empty, the journal does not know the commit, the announcement does."""
    one = learn(store, "one")
    with store.exclusive():
        [two] = store.write(one, [Draft("two\n", {"memory/a/two.md": b"x\n"})], ADA, NOW)
    StateDir(repo / ".git/invincat").announce(Move(MEMORY_REF, one, two))
    (repo / ".git" / MEMORY_REF).write_bytes(b"")
    assert mended(repo)[0] == two


def test_a_store_that_is_elsewhere_named_is_not_a_memory_commit(store: GitStore, repo: Path, git: Git) -> None:
    """The ref was set to a commit of the code: that is no store, however readable."""
    one = learn(store, "one")
    git("update-ref", MEMORY_REF, git("rev-parse", "HEAD").strip())
    assert mended(repo)[0] == one


def test_nobody_was_harmed(store: GitStore, repo: Path, git: Git) -> None:
    """Work tree, index and HEAD are as they were."""
    learn(store, "one")
    before = (git("status", "--porcelain"), git("rev-parse", "HEAD"), sorted(repo.iterdir()))
    (repo / ".git" / MEMORY_REF).write_bytes(b"")
    mended(repo)
    assert (git("status", "--porcelain"), git("rev-parse", "HEAD"), sorted(repo.iterdir())) == before
    assert git("fsck", "--strict", "--no-dangling") == ""
