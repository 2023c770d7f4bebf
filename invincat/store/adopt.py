"""A folder that became a git repository: its own store moves into it (FORMAT "Refs")."""

import os
import shutil
from pathlib import Path
from typing import Final

from invincat.errors import StoreError, UserError
from invincat.store.base import MEMORY_REF, OURS
from invincat.store.git import GitStore
from invincat.store.locate import Repository, first_line, run_in
from invincat.store.own import require_own

# Of its state only what is neither rebuilt at will nor belongs to the store that goes.
_LOGS: Final = ("journal", "audit.jsonl", "rejected.jsonl", "rewrites")
_FOLDERS: Final = ("queue", "sessions")
# The git at the other end is told by itself, since it takes no settings from ours.
_SHOW_ALL: Final = "git -c 'transfer.hideRefs=!refs/invincat' -c 'uploadpack.hideRefs=!refs/invincat' upload-pack"


def move_store(old: Repository, new: Repository) -> None:
    """Move the refs below refs/invincat/ and the state of a bare store of ours into a repository, then drop it.

    Killed in between, it is done again from the start: the memory ref is the last that moves, and the old store goes
    when all of it stands in the repository. UserError when the repository has memories that are not the old ones.
    """
    require_own(old.git_dir)
    source, target = GitStore(old), GitStore(new)
    with source.exclusive(), target.exclusive():
        refs = source.refs(OURS)
        tip = refs.pop(MEMORY_REF, None)
        _refuse_other(source, target, tip)
        wanted = {**refs, MEMORY_REF: tip} if tip else refs
        _fetch(old, new, list(wanted))
        for ref, id in wanted.items():
            if ref == MEMORY_REF and target.tip():
                continue
            if not target.swap(ref, target.tip(ref), id):
                raise StoreError("the ref was moved meanwhile", where=ref, next_step="run `invincat init` again")
        if tip:
            # So that both journals, put together, tell every move.
            source.swap(MEMORY_REF, tip, None)
        _move_state(old.state_dir, target.state_dir)
    source.close()
    target.close()
    _drop(old.git_dir)


def _refuse_other(source: GitStore, target: GitStore, tip: str | None) -> None:
    """Only a repository without memories, or one that has the old ones already, takes them."""
    there = target.tip()
    if there is None or tip is None or any(commit.id == tip for commit in target.history(there)):
        return
    message = "the repository and this folder have memories of their own; nothing was moved"
    look = f"git --git-dir={source.location} log {MEMORY_REF}"
    step = f"see `{look}`, and move that folder elsewhere to go on with the repository's"
    raise UserError(message, where=source.location, next_step=step)


def _fetch(old: Repository, target: Repository, refs: list[str]) -> None:
    """Bring the objects over; no ref is written, so that the journal knows of every move."""
    if not refs:
        return
    # Whatever a person's settings say of fetching: it is one's own folder.
    options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--recurse-submodules=no"]
    words = ["-c", "protocol.file.allow=always", "fetch", *options, f"--upload-pack={_SHOW_ALL}"]
    fetched = run_in(target, [*words, "--", str(old.git_dir), *refs])
    if fetched.returncode:
        raise StoreError(f"the memories cannot be moved: {first_line(fetched.stderr)}", where=str(old.git_dir))


def _move_state(old: Path, new: Path) -> None:
    """Logs are put together, what waits in folders is put beside what waits there."""
    for place in (old / name for name in _FOLDERS):
        (new / place.name).mkdir(mode=0o700, exist_ok=True)
        for file in place.iterdir() if place.is_dir() and not place.is_symlink() else ():
            if _is_plain(file) and not (new / place.name / file.name).exists():
                shutil.move(file, new / place.name / file.name)
    for place in (old / name for name in _LOGS):
        if _is_plain(place):
            _append(place, new / place.name)


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _append(old: Path, new: Path) -> None:
    """Put the old log's lines before the new one's; a kill between the two steps repeats lines, and loses none."""
    draft = new.with_name(f"{new.name}.{os.getpid()}")
    draft.write_bytes(old.read_bytes() + (new.read_bytes() if new.is_file() else b""))
    draft.chmod(0o600)
    draft.replace(new)
    old.unlink()


def _drop(git_dir: Path) -> None:
    """Take the old store out of sight in one step, then delete it."""
    gone = git_dir.with_name(f"{git_dir.name}.moved")
    shutil.rmtree(gone, ignore_errors=True)
    git_dir.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)
