"""All objects of a repository, its own and those that nothing names: read through git, written as loose ones."""

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import TracebackType
from typing import IO, Any, Final, NamedTuple, Self

from dulwich.errors import ObjectFormatException
from dulwich.objects import Blob, Commit, ShaFile, Tree, parse_tree
from dulwich.repo import Repo

from invincat.errors import StoreError
from invincat.store.base import ObjectMissing
from invincat.store.locate import Repository, child_environment, command, first_line, run_in
from invincat.store.odb import write_object

_NUMBERS: Final = {kind.type_name.decode(): kind.type_num for kind in (Blob, Commit, Tree)}
# A repair keeps what it sets aside in a backup.
_SET_ASIDE: Final = "run `invincat doctor --repair`, then `invincat doctor --prune-backups`"


class Object(NamedTuple):
    """One object. `kind` is git's word for it."""

    id: str
    kind: str
    data: bytes


class Objects:
    """Objects of any kind by id, as they are; use it as a context manager. In a dry run nothing is written."""

    def __init__(self, repository: Repository, *, dry_run: bool = False) -> None:
        self._repository = repository
        self._dry_run = dry_run
        self._git: subprocess.Popen[bytes] | None = None
        self._repo = Repo(str(repository.common_dir), bare=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        if self._git is not None:
            self._git.communicate()
        self._repo.close()

    def read(self, id: str) -> Object:
        """One object; ObjectMissing."""
        if self._git is None:
            self._git = _start(self._repository, ["cat-file", "--batch"])
        assert self._git.stdin is not None
        assert self._git.stdout is not None
        self._git.stdin.write(f"{id}\n".encode())
        self._git.stdin.flush()
        found = _next(self._git.stdout)
        if found is None:
            raise ObjectMissing("the object is missing", where=id, next_step="run `invincat doctor --repair`")
        return found

    def write(self, kind: str, data: bytes) -> str:
        """Write one; the id. Under the writers' lock."""
        item = ShaFile.from_raw_string(_NUMBERS[kind], data, object_format=self._repo.object_format)
        return item.get_id(self._repo.object_format).decode() if self._dry_run else write_object(self._repo, item)


def entries_of(tree: Object) -> list[tuple[bytes, int, str]]:
    """Names, modes and ids in a tree; ObjectMissing for one that no git would write."""
    try:
        return [(name, mode, sha.decode()) for name, mode, sha in parse_tree(tree.data, len(tree.id) // 2)]
    except (ObjectFormatException, ValueError) as fault:
        raise ObjectMissing(f"cannot be read: {fault}", where=tree.id, next_step=_SET_ASIDE) from None


def every_object(repository: Repository) -> Iterator[Object]:
    """Every object, loose and packed, also what nothing names and what is borrowed; each once, in no order."""
    git = _start(repository, ["cat-file", "--batch", "--batch-all-objects", "--unordered"])
    assert git.stdin is not None
    assert git.stdout is not None
    git.stdin.close()
    try:
        while (found := _next(git.stdout)) is not None:
            yield found
    finally:
        git.stdout.close()
        if git.wait():
            raise StoreError(
                "git could not read every object", where=str(repository.common_dir), next_step="`git fsck`"
            )


def reachable(repository: Repository, *starts: str) -> set[str]:
    """All objects that can be reached from these revisions or options of `git rev-list`; what is missing is skipped."""
    options = ["--objects", "--no-object-names", "--missing=allow-any", "--stdin"]
    names = [start for start in starts if not start.startswith("--")]
    switches = [start for start in starts if start.startswith("--")]
    return set(ask(repository, ["rev-list", *options, *switches], names).split())


def leads_to(repository: Repository, tip: str, id: str) -> bool:
    """Whether one commit is another, given second, or came after it; StoreError where one cannot be read."""
    asked = run_in(repository, ["--no-replace-objects", "merge-base", "--is-ancestor", id, tip])
    if asked.returncode not in {0, 1}:
        raise StoreError(first_line(asked.stderr), where=str(repository.common_dir))
    return not asked.returncode


def ask(repository: Repository, arguments: Sequence[str], lines: Sequence[str] = ()) -> str:
    """What a git command prints when it is given lines; StoreError in its own words when it fails."""
    # From the main repository, whose HEAD and logs are meant, whatever work tree we are in.
    main = replace(repository, git_dir=repository.common_dir, root=None)
    asked = run_in(main, ["--no-replace-objects", *arguments], input="".join(f"{line}\n" for line in lines).encode())
    if asked.returncode:
        raise StoreError(f"git {arguments[0]}: {first_line(asked.stderr)}", where=str(repository.common_dir))
    return asked.stdout.decode("utf-8", "surrogateescape")


def ask_lines(repository: Repository, arguments: Sequence[str]) -> list[str]:
    """The lines of the same. Names of refs may hold what Python takes for line ends, as U+2028."""
    return [line for line in ask(repository, arguments).split("\n") if line]


def _start(repository: Repository, arguments: Sequence[str]) -> "subprocess.Popen[bytes]":
    words = command(["--no-replace-objects", f"--git-dir={repository.common_dir}", *arguments])
    pipe: Any = subprocess.PIPE
    return subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=child_environment())


def _next(stream: IO[bytes]) -> Object | None:
    words = stream.readline().split()
    if len(words) != 3:
        return None
    id, kind, size = words
    data = stream.read(int(size))
    stream.read(1)
    return Object(id.decode(), kind.decode(), data)
