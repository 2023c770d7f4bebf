"""Find a repository the way git does, and run git on it with a clean environment."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from invincat.errors import ConfigurationError, UserError
from invincat.paths import make_private

# What a child git may still see of GIT_*: who commits, configuration, and how remotes are reached. A hook's GIT_DIR
# or GIT_INDEX_FILE would send it to another repository (LIBRARIES 2 "Compatibility").
_KEPT: Final = ("GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_CONFIG", "GIT_SSH", "GIT_ASKPASS", "GIT_TERMINAL_PROMPT")

# What people set for their own eyes, or to run programs of theirs, and what would change the output that we read.
_PINNED: Final = {
    "core.commentChar": "#",
    "core.fsmonitor": "false",
    # Git would look whether an id is a ref's name, so read the packed refs before it holds a lock, and compare with
    # those: they are read anew only if their time in seconds, size or inode differ.
    "core.warnAmbiguousRefs": "false",
    "diff.orderFile": os.devnull,
    "diff.renameLimit": "1000",
    "i18n.commitEncoding": "UTF-8",
    "i18n.logOutputEncoding": "UTF-8",
    "log.diffMerges": "separate",
    "log.follow": "false",
    "log.showRoot": "true",
    "log.showSignature": "false",
    "trailer.separators": ":",
}

# Settings of a clone that left something out.
_PROMISED: Final = r"^(extensions\.partialclone|remote\..*\.promisor)$"

_QUESTIONS: Final = (
    "--path-format=absolute",
    "--git-common-dir",
    "--absolute-git-dir",
    "--is-bare-repository",
    "--show-object-format",
    "--show-toplevel",  # the last, because it fails where there is no work tree
)


class NotARepository(UserError):
    """The directory is in no git repository."""


class TookTooLong(Exception):
    """A git that was given a time did not end in it."""


@dataclass(frozen=True)
class Repository:
    """A repository as git found it. All paths are absolute.

    `common_dir` is what all its work trees share, `git_dir` is this work tree's own (equal in the main one),
    `root` the top of the work tree (None: bare, or found from inside the git directory), `object_format`
    `sha1` or `sha256`.
    """

    common_dir: Path
    git_dir: Path
    root: Path | None
    object_format: str = "sha1"

    @property
    def state_dir(self) -> Path:
        """Where our state lives, shared by all work trees (FORMAT "State directory"); it may not exist yet."""
        return self.common_dir / "invincat"


def child_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for a child git: ours without the GIT_* that name another repository, messages in English."""
    inherited = os.environ if environment is None else environment
    kept = {key: value for key, value in inherited.items() if not key.startswith("GIT_") or key.startswith(_KEPT)}
    return {**kept, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}


def command(arguments: Sequence[str]) -> list[str]:
    """A git command line that says the same whatever a person's settings are."""
    pinned = (word for key, value in _PINNED.items() for word in ("-c", f"{key}={value}"))
    return ["git", *pinned, *arguments]


def run(
    arguments: Sequence[str],
    *,
    input: bytes = b"",
    more: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run `git` with these arguments; ConfigurationError when there is no git. The exit code is the caller's.

    `more` is added to its environment. With a timeout (seconds) it has no terminal to ask at, and when the time is
    up it is ended with all that it started: TookTooLong.
    """
    words = command(arguments)
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**child_environment(), **(more or {})},
            start_new_session=timeout is not None,
        )
    except FileNotFoundError:
        raise ConfigurationError("git was not found", next_step="install git 2.31 or later") from None
    with process:
        try:
            output, complaint = process.communicate(input, timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise TookTooLong from None
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(words, process.returncode, output, complaint)


def run_in(
    repository: Repository,
    arguments: Sequence[str],
    *,
    input: bytes = b"",
    more: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run `git` on this very repository, at the top of its work tree when it has one; otherwise as `run`."""
    where = [f"--git-dir={repository.git_dir}"]
    if repository.root is not None:
        where = ["-C", str(repository.root), *where, f"--work-tree={repository.root}"]
    return run([*where, *arguments], input=input, more=more, timeout=timeout)


def is_partial(repository: Repository) -> bool:
    """Whether objects are left out that git would fetch when it needs them."""
    return not run_in(repository, ["config", "--get-regexp", _PROMISED]).returncode


def first_line(output: bytes) -> str:
    """Git's complaint in one line, without its `fatal:`; where the first only announces the second, both."""
    # A path in it may hold what Python takes for line ends, as U+2028; so in `_ask`.
    lines = [line.strip() for line in output.decode("utf-8", "replace").split("\n") if line.strip()]
    if not lines:
        return "git failed without a word"
    line = " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]
    return line.removeprefix("fatal: ").removeprefix("error: ")


def locate(directory: Path) -> Repository:
    """The repository that `directory` is in. One child process.

    NotARepository when there is none; ConfigurationError with git's own words when git is missing, too old,
    or refuses (dubious ownership).
    """
    return _ask(["-C", str(directory)], directory)


def locate_bare(git_dir: Path) -> Repository:
    """A bare repository of ours whose place is known, whatever `safe.bareRepository` says. Errors as `locate`."""
    return _ask([f"--git-dir={git_dir}"], git_dir)


def create_bare(git_dir: Path) -> Repository:
    """Make an empty bare repository, readable by its owner only, for a store that has no repository of a person."""
    make_private(git_dir)
    made = run(["init", "--quiet", "--bare", "--template=", "--", str(git_dir)])
    if made.returncode:
        raise ConfigurationError(first_line(made.stderr), where=str(git_dir))
    return locate_bare(git_dir)


def _ask(where: Sequence[str], directory: Path) -> Repository:
    asked = run([*where, "rev-parse", *_QUESTIONS])
    answers = asked.stdout.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n")
    if answers[0].startswith("--"):
        raise ConfigurationError("this git is too old", next_step="install git 2.31 or later")
    # Without a work tree the last question fails after the others were answered.
    if len(answers) != len(_QUESTIONS) - (2 if asked.returncode else 1):
        raise _refusal(asked.stderr, directory)
    common_dir, git_dir, _, object_format, *root = answers
    return Repository(Path(common_dir), Path(git_dir), Path(root[0]) if root else None, object_format)


def _refusal(complaint: bytes, directory: Path) -> UserError | ConfigurationError:
    line = first_line(complaint)
    # With a path instead of this it is one whose work tree or main repository has moved: git says which.
    elsewhere = line.partition(": ")[2].strip("'")
    if line.lower().startswith("not a git repository") and elsewhere in {"", ".git", str(directory)}:
        if (refused := _refused(directory, has_looked_above="(or any " in line)) is not None:
            step = "see that you may enter it, and that its folders `objects` and `refs` are there"
            return ConfigurationError(f"git says: {line}", where=str(refused), next_step=step)
        return NotARepository(
            "not inside a git repository", where=str(directory), next_step="go to one, or run `git init` first"
        )
    return ConfigurationError(line, where=str(directory))


def _refused(directory: Path, *, has_looked_above: bool) -> Path | None:
    """The git directory that git does not take for one, as it may not enter it, or a part is missing."""
    here = directory.resolve()  # as git does: what stands before `..` is not above it
    above = [place / ".git" for place in (here, *here.parents)] if has_looked_above else []
    return next((place for place in (directory, *above) if _was_git_dir(place)), None)


def _was_git_dir(place: Path) -> bool:
    if not place.is_dir():
        return False
    if not os.access(place, os.X_OK):
        return place.name.endswith(".git")
    return (place / "HEAD").is_file() and (place / "config").is_file()
