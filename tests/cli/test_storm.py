"""Many writers at once, beside git and other tools, and writers that are killed: nothing reported is ever missing.

`INVINCAT_TEST_STORM` is processes x writes of the storms (4x4; the issue's is 24x20), `INVINCAT_TEST_KILLS` the number
of kills of single commands (8).
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from invincat.store.base import BACKUPS, MEMORY_REF

COMMAND = (sys.executable, "-P", "-m", "invincat")

PROCESSES, WRITES = map(int, os.environ.get("INVINCAT_TEST_STORM", "4x4").split("x"))
KILLS = int(os.environ.get("INVINCAT_TEST_KILLS", "8"))

# Says the name of each memory only after it was committed, and at the end how long the slowest took (seconds).
WRITER = """
import sys, time
from pathlib import Path
from invincat.app import App
from invincat.memory.proposal import Proposal
from invincat.memory.scope import Scope
app = App.at(Path.cwd())
slowest = 0.0
for number in range(int(sys.argv[2])):
    content = f"Writer {sys.argv[1]}, fact {number}."
    item = {"op": "create", "scope": "project", "section": f"S{number}", "content": content}
    begun = time.monotonic()
    outcome = app.project.submit(Proposal((item,), Scope.PROJECT, app.origin("user")), app.grounds())
    slowest = max(slowest, time.monotonic() - begun)
    assert outcome.verdict == "committed", outcome
    print(outcome.operations[0].name, flush=True)
print(slowest)
"""

# Another tool: plain commits on our ref, made and moved by git; says the id of each that git took.
FOREIGN = f"""
while sleep 0.1; do
    old=$(git rev-parse --verify --quiet {MEMORY_REF}) || continue
    new=$(git commit-tree -p $old -m 'from elsewhere' "$old^{{tree}}") || continue
    git update-ref {MEMORY_REF} $new $old && echo $new
done
"""


def environment(invincat) -> dict[str, str]:
    return {**os.environ, **invincat.environment}


def start(invincat, cwd: Path, number: int, writes: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [COMMAND[0], "-P", "-c", WRITER, str(number), str(writes)],
        cwd=cwd,
        env=environment(invincat),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def places(repo: Path, git) -> list[Path]:
    """Three work trees of one repository."""
    for name in ("left", "right"):
        git("worktree", "add", "--quiet", f"../{name}", "-b", name)
    return [repo, repo.parent / "left", repo.parent / "right"]


@contextmanager
def beside(work: Callable[[], object]) -> Iterator[None]:
    """Do something again and again meanwhile."""
    over = threading.Event()

    def loop() -> None:
        while not over.is_set():
            work()

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def quietly(repo: Path, *words: str) -> None:
    """Git, whatever comes of it: two of its own may be in each other's way."""
    subprocess.run(["git", *words], cwd=repo, capture_output=True, check=False)


def is_sound(invincat, git) -> None:
    assert git("fsck", "--strict", "--no-dangling", "--no-progress") == ""
    assert "sound" in invincat("check").out


def names(invincat) -> set[str]:
    return {memory["name"] for memory in invincat("list", "--json").json["memories"]}


def test_all_writers_of_three_worktrees_land(invincat, places, repo, git):
    """Case 12, while git packs the refs without end."""
    index = (repo / ".git/index").read_bytes()
    begun = time.monotonic()
    with beside(lambda: quietly(repo, "pack-refs", "--all")):
        running = [start(invincat, places[number % 3], number, WRITES) for number in range(PROCESSES)]
        ended = [(*writer.communicate(timeout=300), writer.returncode) for writer in running]
    seconds = time.monotonic() - begun
    assert [(complaint, code) for _, complaint, code in ended] == [("", 0)] * PROCESSES
    count = PROCESSES * WRITES
    slowest = max(float(output.split()[-1]) for output, _, _ in ended)
    print(f"{count} writes by {PROCESSES} processes in {seconds:.1f} s, the slowest in {slowest:.2f} s")
    assert len(names(invincat)) == count
    assert len(git("rev-list", MEMORY_REF).splitlines()) == count + 1
    assert (repo / ".git/index").read_bytes() == index
    is_sound(invincat, git)


@pytest.mark.slow
def test_writers_that_are_killed_in_the_storm_lose_nothing_that_they_reported(invincat, places, repo, git):
    """Killed one after the other at any moment, the others go on; every second one is let live."""
    chance = random.Random(5)
    reported: set[str] = set()
    with beside(lambda: quietly(repo, "pack-refs", "--all")):
        running = [start(invincat, places[number % 3], number, WRITES) for number in range(PROCESSES)]
        for number, writer in enumerate(running):
            if number % 2:
                time.sleep(chance.uniform(0.0, 0.5))
                writer.send_signal(signal.SIGKILL)
        ended = [(*writer.communicate(timeout=300), writer.returncode) for writer in running]
    assert [(complaint, code) for _, complaint, code in ended[::2]] == [("", 0)] * len(ended[::2])
    for output, complaint, _ in ended:
        assert complaint == ""
        reported |= {line for line in output.splitlines() if line.startswith("writer-")}
    killed = sum(code == -signal.SIGKILL for *_, code in ended)
    print(f"{killed} of {PROCESSES} killed, {len(reported)} memories reported, {len(names(invincat))} there")
    assert reported <= names(invincat)
    assert invincat("remember", "The next write succeeds.", "--json").json["verdict"] == "committed"
    is_sound(invincat, git)


@pytest.mark.parametrize("repeats", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_nothing_is_lost_beside_git_and_another_tool(invincat, places, repo, git, repeats):
    """`git gc`, `git pack-refs --all`, `git fetch --prune` and foreign commits on our ref, all in loops."""
    invincat("init")
    git("clone", "--quiet", "--bare", str(repo), str(repo.parent / "remote.git"))
    git("remote", "add", "origin", str(repo.parent / "remote.git"))
    tool = subprocess.Popen(
        ["sh", "-c", FOREIGN], cwd=repo, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL
    )
    try:
        with (
            beside(lambda: quietly(repo, "gc", "--quiet")),
            beside(lambda: quietly(repo, "pack-refs", "--all")),
            beside(lambda: quietly(repo, "fetch", "--quiet", "--prune", "origin")),
        ):
            running = [start(invincat, places[number], number, WRITES * repeats) for number in range(3)]
            ended = [(*writer.communicate(timeout=300), writer.returncode) for writer in running]
    finally:
        tool.terminate()
        foreign = tool.communicate()[0].split()
    assert [(complaint, code) for _, complaint, code in ended] == [("", 0)] * 3
    slowest = max(float(output.split()[-1]) for output, _, _ in ended)
    invincat("remember", "The last word.")
    there = names(invincat) - {"the-last-word"}
    # Git's own update may succeed on an old value beside a pack-refs; what that leaves out of ours comes back.
    left_out = len(git("for-each-ref", BACKUPS).splitlines())
    print(f"the slowest write in {slowest:.2f} s; {len(foreign)} foreign commits, which left ours out {left_out} times")
    assert slowest < 10
    assert len(there) == 3 * WRITES * repeats
    assert set(foreign) <= set(git("rev-list", "--glob=refs/invincat/*").splitlines())
    is_sound(invincat, git)


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
    assert reported <= names(invincat)
    assert len(names(invincat)) > 2, "every process was killed before it wrote: nothing was tried"
    is_sound(invincat, git)
