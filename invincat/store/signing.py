"""Signed commits, which git makes itself: it knows formats, programs and keys (FORMAT "Commits")."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Final

from invincat.errors import ConfigurationError, StoreError
from invincat.store.base import Signature
from invincat.store.locate import Repository, TookTooLong, first_line, run_in

# Seconds for a signature where nobody can be asked for a passphrase.
UNATTENDED: Final = 2.0
# What asks for passphrases must not find the terminal that a conversation is using, nor open a window.
_NO_TERMINAL: Final = {"GPG_TTY": os.devnull, "SSH_ASKPASS_REQUIRE": "never"}

_patience: ContextVar[float | None] = ContextVar("_patience", default=None)


class CannotSign(StoreError):
    """Git is to sign commits here and could not; no ref was moved."""


@contextmanager
def unattended(patience: float = UNATTENDED) -> Iterator[None]:
    """Nobody is at the command: signatures that take longer are given up, and no terminal is asked."""
    before = _patience.set(patience)
    try:
        yield
    finally:
        _patience.reset(before)


def is_on(repository: Repository) -> bool:
    """Whether commits are signed here (`commit.gpgSign`); ConfigurationError where it says neither. One process."""
    asked = run_in(repository, ["config", "--type=bool", "--get", "commit.gpgSign"])
    if asked.returncode not in {0, 1}:  # 1: it is not set
        raise ConfigurationError(first_line(asked.stderr), next_step="see `git config --show-origin commit.gpgSign`")
    return asked.stdout.strip() == b"true"


def signed_commit(repository: Repository, tree: str, parent: str, message: str, author: Signature, at: datetime) -> str:
    """Write a signed commit of a tree that is there, and return its id; CannotSign.

    Waits as long as a person needs for a passphrase, except in `unattended`.
    """
    date = f"@{int(at.timestamp())} {at:%z}"
    who = {
        f"GIT_{role}_{key}": value
        for role in ("AUTHOR", "COMMITTER")
        for key, value in (("NAME", author.name), ("EMAIL", author.email), ("DATE", date))
    }
    words = ["commit-tree", "-S", "-p", parent, "-F", "-", tree]
    patience = _patience.get()
    quiet = {} if patience is None else _NO_TERMINAL
    try:
        asked = run_in(repository, words, input=message.encode(), more=who | quiet, timeout=patience)
    except TookTooLong:
        raise CannotSign(
            f"git could not sign the commit within {patience:g} s", next_step="unlock the key and try again"
        ) from None
    id = asked.stdout.decode("ascii", "replace").strip()
    if asked.returncode or not id:
        why = first_line(asked.stderr)
        next_step = "see `git config user.signingKey`; nothing was written"
        raise CannotSign(f"git cannot sign the commit: {why}", next_step=next_step)
    return id
