"""A read-only look at a person's code repository, through their own git. Revisions and paths may come from anybody."""

import hashlib
import os
import re
import stat
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from invincat.errors import StoreError
from invincat.store.ancestry import moment
from invincat.store.base import Signature
from invincat.store.locate import Repository, TookTooLong, first_line, run_in

# A revision as people write it: no option, no range or exclusion, no path or search (`:`), no second line.
_REVISION: Final = re.compile(r"(?!.*\.\.)[^\s:\x00-\x1f\x7f^-]([^:\x00-\x1f\x7f]*[^\s:\x00-\x1f\x7f])?")

# What stands in a work tree's git directory meanwhile.
_IN_PROGRESS: Final = {
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "sequencer": "a cherry-pick or revert",
}

_TRAILERS: Final = "%(trailers:only=true,unfold=true,separator=%x1e,key_value_separator=%x1f)"
_COMMIT_FORMAT: Final = f"%H%x00%an%x00%ae%x00%at%x00{_TRAILERS}%x00%B"


# Seconds for a look at every tracked file, and how many changes are still a task, rather than a migration.
_PATIENCE: Final = 0.3
_MANY: Final = 100
_BRANCHES: Final = "refs/heads/"
_ID: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True)
class CodeCommit:
    """A commit of the code. `id` is the full one, `time` the author's in UTC, `trailers` in the message's order."""

    id: str
    author: Signature
    time: datetime
    message: str
    trailers: tuple[tuple[str, str], ...] = ()


class Source:
    """Questions to the code repository, each at most one small git process; none writes. None is what is not there."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self._private = (repository.git_dir, repository.common_dir)

    def head(self) -> str | None:
        """The full id of the commit at HEAD; None when there is none yet."""
        return self.position()[0]

    def branch(self) -> str | None:
        """The name of the branch that is checked out, without `refs/heads/`; None when HEAD is detached."""
        return self._ask("symbolic-ref", "--quiet", "--short", "HEAD")

    def position(self) -> tuple[str | None, str | None]:
        """`head` and `branch`, from the files where these say it all, else asked of git at once."""
        if found := self._loose_head():
            return found
        asked = self._ask("rev-parse", "--quiet", "HEAD^{commit}", "--symbolic-full-name", "HEAD")
        if asked is None:
            return None, self.branch()
        head, _, ref = asked.partition("\n")
        return head, ref.removeprefix(_BRANCHES) if ref.startswith(_BRANCHES) else None

    def _loose_head(self) -> tuple[str, str | None] | None:
        """HEAD as loose refs have it; None where a packed one, a reftable or no commit is behind it."""
        try:
            text = (self.repository.git_dir / "HEAD").read_text("ascii").removesuffix("\n")
            ref = text.removeprefix("ref: ")
            if not ref.startswith(_BRANCHES):
                return (text, None) if _ID.fullmatch(text) else None
            id = (self.repository.common_dir / ref).read_text("ascii").removesuffix("\n")
        except (OSError, ValueError):
            return None
        return (id, ref.removeprefix(_BRANCHES)) if _ID.fullmatch(id) and ".." not in ref else None

    def first_commit(self) -> str | None:
        """The full id of the commit with which the history of HEAD began; None where it is not known."""
        if (self.repository.common_dir / "shallow").exists():
            return None
        # What one clone grafts onto its history is not the project's.
        words = ["--no-replace-objects", "rev-list", "--max-parents=0", "--first-parent", "HEAD", "--"]
        asked = run_in(self.repository, words, more={"GIT_GRAFT_FILE": os.devnull})
        return asked.stdout.decode().split()[-1] if asked.stdout and not asked.returncode else None

    def in_progress(self) -> str | None:
        """What git is in the middle of, after which commits have other ids, or are not there at all; None: nothing."""
        return next((what for name, what in _IN_PROGRESS.items() if (self.repository.git_dir / name).exists()), None)

    def read(self, path: str) -> bytes | None:
        """The bytes of a file of the work tree, or at HEAD in a bare repository.

        `path` is relative to the root, with slashes. None for what is no file, is reached through a link that
        leads out of the root, or is inside a git directory.
        """
        root = self.repository.root
        if root is None:
            return self.read_at("HEAD", path)
        names = _names(path)
        if names is None:
            return None
        try:
            place = root.joinpath(*names).resolve(strict=True)
            top = root.resolve(strict=True)
            if not place.is_relative_to(top) or any(_is_git(name) for name in place.relative_to(top).parts):
                return None
            if any(place.is_relative_to(private.resolve()) for private in self._private):
                return None
            # Not blocking, because it may be a pipe; not following, because it was resolved.
            descriptor = os.open(place, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
            with os.fdopen(descriptor, "rb") as file:
                return file.read() if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
        except (OSError, RuntimeError, ValueError):
            return None

    def read_at(self, rev: str, path: str) -> bytes | None:
        """The bytes of a file at a revision; None when either is not there."""
        names = _names(path)
        if names is None or "\n" in path or not _REVISION.fullmatch(rev):
            return None
        # The question goes through the standard input, where nothing is an option.
        question = f"{rev}:{'/'.join(names)}\n".encode("utf-8", "surrogateescape")
        asked = run_in(self.repository, ["cat-file", "--batch"], input=question)
        header, _, data = asked.stdout.partition(b"\n")
        words = header.split(b" ")
        if asked.returncode or len(words) != 3 or words[1] != b"blob":
            return None
        return data[: int(words[2])]

    def blob_id(self, data: bytes) -> str:
        """The id that git gives these bytes as a blob, in the repository's object format; no process."""
        return blob_id(data, self.repository.object_format)

    def commit(self, rev: str) -> CodeCommit | None:
        """The commit that a revision names."""
        if not _REVISION.fullmatch(rev):
            return None
        options = ["--no-walk", f"--format={_COMMIT_FORMAT}"]
        asked = run_in(self.repository, ["log", *options, "--end-of-options", f"{rev}^{{commit}}", "--"])
        fields = asked.stdout.decode("utf-8", "replace").split("\0", 5)
        if asked.returncode or len(fields) != 6:
            return None
        id, name, email, seconds, trailers, message = fields
        return CodeCommit(
            id=id,
            author=Signature(name, email),
            time=moment(int(seconds) if seconds else None),
            message=message.rstrip("\n") + "\n",
            trailers=tuple(_pair(line) for line in trailers.split("\x1e") if line),
        )

    def files(self) -> list[str]:
        """Paths of all files, sorted: tracked, and new ones that are not ignored; those at HEAD when bare."""
        if self.repository.root is not None:
            question = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        elif self.head() is None:
            return []
        else:
            question = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD"]
        asked = run_in(self.repository, question)
        if asked.returncode:
            raise StoreError(first_line(asked.stderr), where=str(self.repository.git_dir))
        # A path in conflict is listed once for each side.
        return sorted({path.decode("utf-8", "surrogateescape") for path in asked.stdout.split(b"\0") if path})

    def changed(self) -> list[str]:
        """Paths of files that differ from HEAD; new ones when they were added.

        Empty when bare, when git takes too long, and when they are so many that they say nothing about anyone's task.
        """
        if self.repository.root is None:
            return []
        # Not `status`: that looks for new files in the whole tree, and has a person's filters convert what changed.
        question = ["diff-index", "--name-only", "-z", "--no-renames", "--ignore-submodules=all", "HEAD", "--"]
        try:
            asked = run_in(self.repository, question, timeout=_PATIENCE)
        except TookTooLong:
            return []
        paths = asked.stdout.split(b"\0") if not asked.returncode else []
        found = sorted(path.decode("utf-8", "surrogateescape") for path in paths if path)
        return found if len(found) <= _MANY else []

    def _resolve(self, rev: str) -> str | None:
        if not _REVISION.fullmatch(rev):
            return None
        return self._ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}")

    def _ask(self, *arguments: str) -> str | None:
        asked = run_in(self.repository, arguments)
        # A branch may end in what Python takes for a space, as U+00A0.
        answer = asked.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")
        return answer or None if not asked.returncode else None


def blob_id(data: bytes, object_format: str) -> str:
    """The id that git gives these bytes as a blob."""
    digest = hashlib.new(object_format, b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()


def _names(path: str) -> list[str] | None:
    """The names along a relative path; None when it leaves the root or enters a git directory."""
    names = path.split("/")
    if "\0" in path or any(name in {"", ".", ".."} or _is_git(name) for name in names):
        return None
    return names


def _is_git(name: str) -> bool:
    return name.lower() == ".git"


def _pair(line: str) -> tuple[str, str]:
    key, _, value = line.partition("\x1f")
    return key, value
