"""Many writers at once, and writers that are killed: nothing that was reported is ever missing."""

import os
import random
import signal
import subprocess
import sys
import time

COMMAND = (sys.executable, "-P", "-m", "invincat")

PROCESSES, WRITES = 6, 4
KILLS = int(os.environ.get("INVINCAT_TEST_KILLS", "12"))
WRITER = """
import sys
from pathlib import Path
from invincat.app import App
from invincat.memory.proposal import Proposal
from invincat.memory.scope import Scope
app = App.at(Path.cwd())
for number in range(int(sys.argv[2])):
    content = f"Writer {sys.argv[1]}, fact {number}."
    item = {"op": "create", "scope": "project", "section": f"S{number}", "content": content}
    outcome = app.project.submit(Proposal((item,), Scope.PROJECT, app.origin("user")), app.grounds())
    assert outcome.verdict == "committed", outcome
"""


def environment(invincat) -> dict[str, str]:
    return {**os.environ, **invincat.environment}


def test_all_writers_of_three_worktrees_land(invincat, repo, git):
    """Case 12. The full storm of the issue is the same with 12 x 10 (`INVINCAT_TEST_STORM=12x10`)."""
    processes, writes = map(int, os.environ.get("INVINCAT_TEST_STORM", f"{PROCESSES}x{WRITES}").split("x"))
    places = [repo]
    for name in ("left", "right"):
        git("worktree", "add", "--quiet", f"../{name}", "-b", name)
        places.append(repo.parent / name)
    index = (repo / ".git/index").read_bytes()
    running = [
        subprocess.Popen(
            [COMMAND[0], "-P", "-c", WRITER, str(number), str(writes)],
            cwd=places[number % 3],
            env=environment(invincat),
            stderr=subprocess.PIPE,
        )
        for number in range(processes)
    ]
    for process in running:
        complaint = process.communicate(timeout=120)[1]
        assert process.returncode == 0, complaint
    memories = invincat("list", "--json").json["memories"]
    assert len(memories) == processes * writes
    assert len(git("rev-list", "refs/invincat/memory").splitlines()) == processes * writes + 1
    assert (repo / ".git/index").read_bytes() == index
    assert git("fsck", "--strict", "--no-dangling") == ""
    assert "sound" in invincat("check").out


def test_kill_9_at_any_moment_loses_nothing_that_was_reported(invincat, process, repo, git):
    chance = random.Random(7)
    reported: set[str] = set()
    started = time.monotonic()
    process("remember", "How long does one take on this machine?")
    whole = time.monotonic() - started
    for number in range(KILLS):
        process = subprocess.Popen(
            [*COMMAND, "remember", f"Fact number {number} of the storm."],
            cwd=repo,
            env=environment(invincat),
            stdout=subprocess.PIPE,
        )
        time.sleep(chance.uniform(0.4, 2.0) * whole)
        process.send_signal(signal.SIGKILL)
        output = process.communicate(timeout=30)[0].decode()
        if output.startswith("create "):
            reported.add(output.split()[1])
    done = invincat("remember", "The next write succeeds.", "--json").json
    assert done["verdict"] == "committed"
    names = {memory["name"] for memory in invincat("list", "--json").json["memories"]}
    assert reported <= names
    assert len(names) > 2, "every process was killed before it wrote: nothing was tried"
    assert "sound" in invincat("check").out
    assert git("fsck", "--strict", "--no-dangling", "--no-progress") == ""
