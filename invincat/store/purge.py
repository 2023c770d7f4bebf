"""Purge: a history without a memory or a text, its refs and their logs (HOOKS_AND_REVIEW "Sync and purge").

Old commits are listed in the file `purged` of the new tip: a clone that still has them does not bring them back. Every
step may be killed after; repeating the command finishes the job, since each looks at what is there.
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from invincat.errors import StoreError, UserError
from invincat.memory.content import clip, fingerprint
from invincat.memory.entry import Memory
from invincat.memory.frontmatter import parse, parse_marker, render_marker
from invincat.memory.marker import Marker, purged_marker
from invincat.memory.naming import wanted_name
from invincat.memory.register import text_hash
from invincat.memory.scope import Scope
from invincat.memory.yaml_scan import MalformedFile
from invincat.store.base import MEMORY_REF, OURS, PROPOSALS, REJECTED, TRACKING, Draft, Store
from invincat.store.edits import MemoryEdit, TextEdit, is_of, texts_of
from invincat.store.files import find_blob
from invincat.store.format import require_writable
from invincat.store.git import GitStore
from invincat.store.locate import Repository
from invincat.store.needle import PUT, Needle, rename
from invincat.store.objects import Objects, ask, ask_lines, every_object
from invincat.store.prune import alive
from invincat.store.purged import PURGED, purged_ids
from invincat.store.rewrite import Edit, Rewriter

_TRACKING: Final = re.compile(
    r"refs/(?:remotes|prefetch/remotes)/(?P<remote>.+?)/invincat/(?P<branch>memory|review/.+)"
)
# The hashes of a text of which no memory is left.
_NOTHING_LEFT: Final = (hashlib.sha256(PUT.encode()).hexdigest(), fingerprint(PUT, ""))


@dataclass(frozen=True)
class Sought:
    """What is to go. `memory` is its id where it is one memory, `last` its last version as far as it can be read."""

    edit: Edit
    needle: Needle
    memory: str | None = None
    last: Memory | Marker | None = None


@dataclass(frozen=True)
class Rewritten:
    """What a rewrite did, or would do: refs before and after (None: gone), and commits old -> new."""

    refs: Mapping[str, tuple[str, str | None]]
    moved: Mapping[str, str]

    @property
    def dropped(self) -> list[str]:
        """The proposals that spoke of it."""
        return [ref.rpartition("/")[2] for ref, (_, new) in self.refs.items() if new is None]


@dataclass(frozen=True)
class Tracking:
    """What was last seen of a branch of a remote; `has_more`: commits that our history never had."""

    ref: str
    remote: str
    branch: str
    id: str
    has_more: bool = False


def seek_memory(store: GitStore, id: str) -> Sought:
    """The memory with an id, in any history of ours or among lost objects; UserError where there never was one."""
    found = is_of(id)
    with Objects(store.repository) as objects:
        rewriter = Rewriter(store.repository, objects)
        versions = [data for _, data in rewriter.files(rewriter.order(_tips(store))) if found(data)]
    if not versions:  # a purge that was interrupted, or only what somebody fetched
        versions = [one.data for one in every_object(store.repository) if one.kind == "blob" and found(one.data)]
    if not versions and not _has_marker(store, id):
        raise UserError("no memory has this id", where=id, next_step="see `invincat list --status all`")
    needle = Needle.of_texts(text for data in versions for text in texts_of(data))
    read = [one for data in versions if (one := _read(data))]
    last = max(read, key=lambda one: one.updated_at, default=None)
    return Sought(MemoryEdit(id, needle), needle, id, last)


def seek_text(store: GitStore, needle: Needle) -> Sought:
    """A text or pattern; UserError for one that the format itself would match."""
    needle.require_narrow()
    found: set[str] = set(needle.texts)
    names: set[str] = set()
    files: list[tuple[str, bytes]] = []
    with Objects(store.repository) as objects:
        rewriter = Rewriter(store.repository, objects)
        commits = rewriter.order(_tips(store))
        for path, data in rewriter.files(commits):
            matches = set(needle.matches(data.decode("utf-8", "surrogateescape")))
            found |= matches
            parts = path.split("/")
            called = parts[-2:] if matches else [part for part in parts if needle.search(part)]
            names.update(called)
            if called:
                files.append((path, data))
        for commit in commits:
            found.update(needle.matches(rewriter.read(commit)[1]))
    renamed = {name: new for name in names if (new := rename(name, needle, found)) != name}
    needle = needle.with_names({name.removesuffix(".md"): new.removesuffix(".md") for name, new in renamed.items()})
    return Sought(TextEdit(needle, renamed, _hashes(files, TextEdit(needle, renamed))), needle)


def _hashes(files: Iterable[tuple[str, bytes]], edit: TextEdit) -> dict[str, str]:
    """The hashes that markers may have of these files, and those of what is left of them."""
    found: dict[str, str] = {}
    for path, data in files:
        if isinstance(old := _read(data), Memory):
            left, name = _read(edit.file(data) or b""), Path(path).name
            after = _hashes_of(left, edit.name(name)) if isinstance(left, Memory) else _NOTHING_LEFT
            found |= zip(_hashes_of(old, name), after, strict=True)
    return found


def _hashes_of(memory: Memory, name: str) -> tuple[str, str]:
    """As `marker_of` makes them."""
    return text_hash(memory, wanted_name(Path(name).stem)), fingerprint(memory.title, memory.body)


def id_of_name(store: GitStore, name: str) -> str:
    """The id of the memory that once had a name; UserError for none, or several."""
    with Objects(store.repository) as objects:
        rewriter = Rewriter(store.repository, objects)
        files = rewriter.files(rewriter.order(_tips(store)))
        ids = {one.id for path, data in files if Path(path).stem == name and (one := _read(data))}
    if len(ids) != 1:
        what = (
            f"several memories were called {name!r}: {', '.join(sorted(ids))}" if ids else f"none was called {name!r}"
        )
        raise UserError(what, next_step="give the id; `invincat log` shows it")
    return ids.pop()


def rewrite(store: GitStore, sought: Sought, scope: Scope, now: datetime, *, dry_run: bool = False) -> Rewritten:
    """Write every history of ours without it and move the refs; under the writers' lock."""
    refs = store.refs(OURS)
    tip = refs.get(MEMORY_REF)
    if tip:
        require_writable(store, tip)
    with Objects(store.repository, dry_run=dry_run) as objects:
        rewriter = Rewriter(store.repository, objects)
        gone = {
            ref for ref in refs if ref.startswith((PROPOSALS, REJECTED)) and _speaks(rewriter, refs[ref], tip, sought)
        }
        own = rewriter.order(refs.values())
        fetched = rewriter.order(one.id for one in tracking(store))
        moved = rewriter.commits(list(dict.fromkeys([*own, *fetched])), sought.edit)
        after: dict[str, str | None] = {ref: None if ref in gone else moved.get(id, id) for ref, id in refs.items()}
        listed = purged_ids(store, tip)
        old = (moved.keys() & set(own)) | listed
        old |= _first_of(rewriter, [id for id in fetched if id in moved], old)
        wants_marker = sought.memory is not None and not _has_marker(store, sought.memory)
        _require_whole(store, moved)
        alive(store.repository)  # what git cannot walk is found out before anything moves
    if tip and not dry_run and (old != listed or wants_marker):
        files = {PURGED: "".join(f"{id}\n" for id in sorted(old)).encode()} if old else {}
        if sought.memory:
            marker = purged_marker(sought.memory, scope, sought.last, now)
            files[marker.path] = render_marker(marker).encode()
        draft = Draft(_message(sought, len(moved)), files)
        [after[MEMORY_REF]] = store.write(moved.get(tip, tip), [draft], store.author(), now)
    result = Rewritten({ref: (id, after[ref]) for ref, id in refs.items() if after[ref] != id}, moved)
    if not dry_run:
        # The memory ref first: from then on its list tells whoever comes after a kill what is old.
        for ref, (was, new) in sorted(result.refs.items(), key=lambda item: item[0] != MEMORY_REF):
            if not store.swap(ref, was, new):
                raise StoreError("the ref was moved by another program", where=ref, next_step="run the purge again")
    return result


def _first_of(rewriter: Rewriter, fetched: Sequence[str], old: Collection[str]) -> set[str]:
    """Of commits that only a remote has, those to be listed: what follows an old one is found out without."""
    first, after = set[str](), set(old)
    for id in fetched:
        if id not in after and after.isdisjoint(rewriter.parents(id)):
            first.add(id)
        after.add(id)
    return first


def _speaks(rewriter: Rewriter, tip: str, base: str | None, sought: Sought) -> bool:
    """Whether a proposal is about what is to go."""
    messages = (rewriter.read(commit)[1] for commit in rewriter.order([tip, *([f"^{base}"] if base else [])]))
    return any(sought.needle.search(text) or (sought.memory or "\0") in text for text in messages)


def _message(sought: Sought, count: int) -> str:
    about = sought.memory or f"a text from {count} commits"
    trailer = f"Invincat-Memory: {sought.memory}\n" if sought.memory else ""
    return f"{clip(f'purge {about}', 120)}\n\nInvincat-Op: purge\n{trailer}Invincat-Actor: user\n"


def _require_whole(store: GitStore, moved: Mapping[str, str]) -> None:
    """StoreError where a commit to be written again is one at which a shallow clone ends."""
    ends = store.repository.common_dir / "shallow"
    if ends.exists() and not moved.keys().isdisjoint(ends.read_text().split()):
        step = "run `git fetch --unshallow` first"
        raise StoreError("the memory history is not whole in this shallow clone", where=store.location, next_step=step)


def _tips(store: GitStore) -> list[str]:
    return [*store.refs(OURS).values(), *(one.id for one in tracking(store))]


def _has_marker(store: GitStore, id: str) -> bool:
    tip = store.tip()
    blob = find_blob(store, tip, f"deleted/{id}.md") if tip else None
    marker = _read(store.read_blob(blob)) if blob else None
    return isinstance(marker, Marker) and marker.purged


def _read(data: bytes) -> Memory | Marker | None:
    for reader in (parse, parse_marker):
        try:
            return reader(data)
        except MalformedFile:
            continue
    return None


# what was purged, and who still has it


def purged_in(store: Store) -> dict[str, str]:
    """Refs of ours and of remotes whose history holds a purged commit: ref -> such a commit (RULES 6.8).

    A clone that did not hear of the purge brings it back; `invincat purge` with the same words removes it again.
    """
    listed = purged_ids(store, store.tip())
    if not listed:
        return {}
    refs = {
        **store.refs(OURS),
        **{ref: id for ref, id in store.refs(TRACKING).items() if _TRACKING.fullmatch(ref)},
    }
    found = {ref: next((one.id for one in store.history(id) if one.id in listed), None) for ref, id in refs.items()}
    return {ref: id for ref, id in found.items() if id}


def tracking(store: GitStore) -> list[Tracking]:
    """What was last seen of the memory branches of remotes."""
    question = ["for-each-ref", "--format=%(objectname) %(refname)", "refs/remotes", "refs/prefetch"]
    found = (
        (line.partition(" ")[0], match)
        for line in ask_lines(store.repository, question)
        if (match := _TRACKING.fullmatch(line.partition(" ")[2]))
    )
    return [Tracking(match[0], match["remote"], match["branch"], id) for id, match in found]


def forget_tracking(store: GitStore, before: str | None) -> list[Tracking]:
    """Delete tracking refs that lead to purged commits; `before` is where the memory ref was."""
    purged = purged_ids(store, store.tip())
    known = _history(store, before) | purged_ids(store, before) if before else purged
    gone = []
    for one in tracking(store):
        commits = _history(store, one.id)
        if commits & purged:
            ask(store.repository, ["update-ref", "--no-deref", "-d", one.ref, one.id])
            gone.append(Tracking(one.ref, one.remote, one.branch, one.id, has_more=not commits <= known))
    return gone


def _history(store: GitStore, tip: str) -> set[str]:
    return set(ask(store.repository, ["rev-list", "--stdin"], [tip]).split())


def expire_logs(repository: Repository, purged: frozenset[str]) -> None:
    """Delete the logs of refs of ours, and of others the entries that name purged commits."""
    old = {id.encode() for id in purged}
    for path, ref in logs(repository):
        if ref.startswith(OURS) or _TRACKING.fullmatch(ref):
            path.unlink(missing_ok=True)
            continue
        newest_first = reversed(path.read_bytes().removesuffix(b"\n").split(b"\n"))
        bad = [number for number, line in enumerate(newest_first) if not old.isdisjoint(line.split(b" ", 2)[1:2])]
        for number in reversed(bad):
            ask(repository, ["reflog", "delete", "--rewrite", f"{ref}@{{{number}}}"])


def logs(repository: Repository) -> Iterator[tuple[Path, str]]:
    """The files of all reflogs, of linked work trees too, and the refs that they are of."""
    common = repository.common_dir
    for base in (common, *sorted((common / "worktrees").glob("*"))):
        logs = base / "logs"
        prefix = "" if base == common else f"worktrees/{base.name}/"
        for path in sorted(logs.rglob("*")):
            if path.is_file() and not path.name.endswith(".lock"):
                yield path, prefix + path.relative_to(logs).as_posix()
