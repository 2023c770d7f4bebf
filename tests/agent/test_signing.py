"""Where commits are signed and nobody can be asked for the passphrase, what was learned waits (FORMAT "Commits")."""

import subprocess
import time
from pathlib import Path

import pytest

from invincat.llm.scripted import Say, ScriptedClient
from tests.agent.learning import NOX, answer, create

WORDS = "From now on we run the tests through nox, please."
GOOD = Say(answer(create(NOX, "run the tests through nox")))


@pytest.mark.slow
@pytest.mark.parametrize("does", ["exit 1", "sleep 30"])
def test_a_worker_that_cannot_sign_leaves_its_batch_and_says_so(learning, repo, git, tmp_path: Path, does: str):
    signer = tmp_path / "signer"
    signer.write_text(f"#!/bin/sh\n{does}\n")
    signer.chmod(0o755)
    git("config", "commit.gpgSign", "true")
    git("config", "gpg.program", str(signer))
    learned = learning(ScriptedClient([GOOD]))
    learned.said(learned.begin(), WORDS)
    begun = time.monotonic()
    assert learned.work() == 1
    assert time.monotonic() - begun < 8
    [line] = learned.lines
    assert line.startswith("learning waits: git ")
    assert "sign" in line
    assert learned.titles() == []
    # The key is unlocked: the next start learns it.
    signing_with_ssh(git, tmp_path)
    later = learning(ScriptedClient([GOOD]))
    assert later.work() == 0
    assert later.titles() == [NOX]
    assert "gpgsig" in git("cat-file", "commit", "refs/invincat/memory")


def signing_with_ssh(git, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    git("config", "gpg.format", "ssh")
    git("config", "user.signingKey", str(key))
