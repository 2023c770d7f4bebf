"""Commits are signed where the person's git signs them, by git, in every format that it knows."""

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from invincat.errors import ConfigurationError
from invincat.store.base import MEMORY_REF, Draft, Signature
from invincat.store.git import GitStore
from invincat.store.locate import locate
from invincat.store.signing import CannotSign, unattended

Git = Callable[..., str]

NOW = datetime(2026, 11, 29, 10, 0, 0, tzinfo=UTC)
ADA = Signature("Ada Lovelace", "ada@example.org")
MESSAGE = "create a/b: é\n\n+ Wir messen in Metern – immer\n\nInvincat-Op: create\n"


@pytest.fixture
def store(repo: Path) -> Iterator[GitStore]:
    with GitStore(locate(repo)) as opened:
        yield opened


@pytest.fixture
def ssh_key(git: Git, tmp_path: Path) -> Path:
    """`commit.gpgSign` with a key of ssh, and who may sign with it."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip("there is no ssh-keygen")
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "ada", "-f", key], check=True)
    signers = tmp_path / "signers"
    signers.write_text(f"{ADA.email} {key.with_suffix('.pub').read_text()}")
    for name, value in {
        "commit.gpgSign": "true",
        "gpg.format": "ssh",
        "user.signingKey": str(key),
        "gpg.ssh.allowedSignersFile": str(signers),
    }.items():
        git("config", name, value)
    return key


@pytest.fixture
def gpg_key(git: Git, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if shutil.which("gpg") is None:
        pytest.skip("there is no gpg")
    home = tmp_path_factory.mktemp("g")  # a short path: sockets have no long ones
    home.chmod(0o700)
    monkeypatch.setenv("GNUPGHOME", str(home))
    make = ["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-gen-key", f"{ADA.name} <{ADA.email}>", "ed25519"]
    subprocess.run([*make, "sign"], check=True, capture_output=True)
    git("config", "commit.gpgSign", "true")
    yield
    subprocess.run(["gpgconf", "--kill", "all"], check=False)


def signer_that(git: Git, tmp_path: Path, does: str) -> None:
    """Sign with a program of this shell text."""
    program = tmp_path / "signer"
    program.write_text(f"#!/bin/sh\n{does}\n")
    program.chmod(0o755)
    git("config", "commit.gpgSign", "true")
    git("config", "gpg.program", str(program))


def begin(store: GitStore) -> str:
    with store.exclusive():
        root = store.write_root()
        assert store.swap(MEMORY_REF, None, root)
    return root


def learn(store: GitStore, parent: str, *names: str) -> list[str]:
    with store.exclusive():
        drafts = [Draft(MESSAGE, {f"memory/a/{name}.md": b"text\n"}) for name in names]
        ids = store.write(parent, drafts, ADA, NOW)
        assert store.swap(MEMORY_REF, parent, ids[-1])
    return ids


@pytest.mark.parametrize("key", ["ssh_key", "gpg_key"])
def test_signed_commits_are_verified_by_git_and_are_otherwise_the_same(
    store: GitStore, git: Git, key: str, request: pytest.FixtureRequest
) -> None:
    plain = begin(store)
    with store.exclusive():
        [unsigned] = store.write(plain, [Draft(MESSAGE, {"memory/a/one.md": b"text\n"})], ADA, NOW)
    request.getfixturevalue(key)
    with GitStore(store.repository) as signing:
        one, two = learn(signing, plain, "one", "two")
        git("verify-commit", one, two)
        before, after = (git("cat-file", "commit", id) for id in (unsigned, one))
        assert [line for line in after.splitlines() if line in before.splitlines()] == before.splitlines()
        assert signing.commit(one).message == MESSAGE
        assert signing.commit(one).time == NOW
        with signing.exclusive():
            assert signing.write_root() == plain, "the root is the same for everybody, so nobody signs it"
    assert git("fsck", "--strict", "--no-dangling") == ""


def test_other_settings_of_git_do_not_change_the_commit(store: GitStore, git: Git, ssh_key: Path) -> None:
    root = begin(store)
    git("config", "i18n.commitEncoding", "ISO-8859-1")
    git("config", "user.name", "Somebody Else")
    [one] = learn(store, root, "one")
    assert "encoding" not in git("cat-file", "commit", one)
    assert store.commit(one).author == ADA
    assert store.commit(one).message == MESSAGE


def test_a_key_that_fails_is_one_line_and_nothing_moves(store: GitStore, git: Git, ssh_key: Path) -> None:
    root = begin(store)
    ssh_key.unlink()
    ssh_key.with_suffix(".pub").unlink()
    with pytest.raises(CannotSign, match="git cannot sign the commit") as caught:
        learn(store, root, "one")
    assert "\n" not in str(caught.value)
    assert store.tip() == root


def test_nobody_waits_for_a_passphrase_where_nobody_is_asked(store: GitStore, git: Git, tmp_path: Path) -> None:
    """The signer's own children are ended as well: they would keep our pipes open."""
    root = begin(store)
    signer_that(git, tmp_path, "sleep 30 & wait")
    begun = time.monotonic()
    with unattended(0.3), pytest.raises(CannotSign, match=r"within 0\.3 s"):
        learn(store, root, "one")
    assert time.monotonic() - begun < 5
    assert store.tip() == root
    with store.exclusive(timeout=0.1):
        pass


def test_a_background_signer_finds_no_terminal(store: GitStore, git: Git, tmp_path: Path) -> None:
    root = begin(store)
    signer_that(
        git, tmp_path, f'echo "$GPG_TTY" > {tmp_path}/tty; (: < /dev/tty) && echo open >> {tmp_path}/tty; exit 1'
    )
    with unattended(), pytest.raises(CannotSign):
        learn(store, root, "one")
    assert (tmp_path / "tty").read_text() == "/dev/null\n"


def test_a_signed_commit_survives_a_gc_before_it_is_named(store: GitStore, git: Git, ssh_key: Path) -> None:
    root = begin(store)
    with store.exclusive():
        ids = store.write(root, [Draft(MESSAGE, {"memory/a/one.md": b"text\n"})], ADA, NOW)
        moves = store._refs.move

        def beside_gc(move: object) -> bool:
            git("prune", "--expire=now")
            return moves(move)  # type: ignore[arg-type]

        store._refs.move = beside_gc  # type: ignore[method-assign,assignment]
        assert store.swap(MEMORY_REF, root, ids[0])
    git("verify-commit", ids[0])
    assert git("fsck", "--strict") == ""


def test_a_setting_that_says_neither_is_told(store: GitStore, git: Git) -> None:
    root = begin(store)
    git("config", "commit.gpgSign", "perhaps")
    with pytest.raises(ConfigurationError, match="perhaps"):
        learn(store, root, "one")
    assert store.tip() == root
