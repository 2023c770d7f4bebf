"""Take objects of ours that nothing names any more out of a repository, and no others.

`git prune` would take people's lost work with them. So an object goes only if it is known to be of a memory store:
a lost commit with a store's tree, what only such a commit holds, and lost files and folders of memories.
"""

import re
import shutil
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

from invincat.store.base import ObjectMissing
from invincat.store.locate import Repository, run
from invincat.store.objects import Objects, ask, ask_lines, entries_of, reachable

# What keeps an object: every ref and HEAD, also of other work trees, what their logs name, and what is staged there.
_ALIVE: Final = ("--all", "--reflog", "--indexed-objects")
_MEMORY: Final = re.compile(rb'---\n(?:#.*\n)*id: "?[0-9A-HJKMNP-TV-Z]{26}"?\n')
# Files beside a pack that say how git is to treat it.
_MARKS: Final = {".keep", ".promisor"}
# What the index of a pack is called while that is deleted; git knows no such file.
_GOING: Final = ".going"
_STORE: Final = re.compile(rb"100644 invincat\.yaml\0")


def alive(repository: Repository) -> set[str]:
    """Every object that something names."""
    return reachable(repository, *_ALIVE)


def lost_of_ours(repository: Repository, rewritten: Iterable[str]) -> dict[str, str]:
    """Objects of memory stores that nothing names: id -> kind. `rewritten` are commits known to be such."""
    kept = alive(repository)
    form = "--batch-check=%(objectname) %(objecttype)"
    listed = ask_lines(repository, ["cat-file", "--batch-all-objects", "--unordered", form])
    lost = dict(words for line in listed if len(words := line.split()) == 2 and words[0] not in kept)
    known = set(rewritten)
    with Objects(repository) as objects:
        commits = [id for id, kind in lost.items() if kind == "commit" and (id in known or _is_store(objects, id))]
        held = reachable(repository, *commits) if commits else set()
        ours = {id for id in lost if id in held}
        ours |= {id for id, kind in lost.items() if kind == "blob" and _MEMORY.match(objects.read(id).data)}
        ours |= _folders(objects, lost, ours | reachable(repository, "--glob=refs/invincat/*"))
        ours |= {id for id, kind in lost.items() if kind == "tag" and _target(objects.read(id).data) in ours}
    return {id: lost[id] for id in ours}


def _is_store(objects: Objects, commit: str) -> bool:
    data = objects.read(commit).data
    try:
        return bool(_STORE.search(objects.read(_target(data)).data))
    except ObjectMissing:
        return False


def _target(data: bytes) -> str:
    """What the first line of a commit or tag names."""
    return data.split(None, 2)[1].decode()


def _folders(objects: Objects, lost: Mapping[str, str], ours: Collection[str]) -> set[str]:
    """Lost trees in which all is ours, as a writer leaves them that was killed."""
    known, found = set(ours), set[str]()
    waiting = {id: _held(objects, id) for id, kind in lost.items() if kind == "tree" and id not in known}
    while fresh := {id for id, entries in waiting.items() if entries and entries <= known}:
        known |= fresh
        found |= fresh
        waiting = {id: entries for id, entries in waiting.items() if id not in fresh}
    return found


def _held(objects: Objects, tree: str) -> set[str]:
    """What a tree names; nothing for one that no git would write, which is none of ours."""
    try:
        return {id for _, _, id in entries_of(objects.read(tree))}
    except ObjectMissing:
        return set()


def remove(repository: Repository, doomed: Mapping[str, str]) -> None:
    """Remove these objects, loose and packed; under the writers' lock. Commits go last, so that they can be found again
    by whoever repeats it.
    """
    folder = repository.common_dir / "objects"
    packs = folder / "pack"
    for half_written in folder.glob("[0-9a-f][0-9a-f]/*.lock"):
        half_written.unlink(missing_ok=True)  # of a killed writer of ours: git writes under other names
    for index in packs.glob(f"pack-*{_GOING}"):
        _take_away(index)
    if not doomed:
        return
    for kind in ("blob", "tree", "commit", "tag"):
        for id in (id for id, its in doomed.items() if its == kind):
            (folder / id[:2] / id[2:]).unlink(missing_ok=True)
    has_graph = _drop(folder / "info", "commit-graph*")
    has_index = any(packs.glob("multi-pack-index*"))
    for index in list(packs.glob("pack-*.idx")):
        ids = _listed(repository, index)
        if not doomed.keys().isdisjoint(ids):
            _pack_again(repository, index, ids - doomed.keys())
    if has_index and not any(packs.glob("multi-pack-index*")):
        ask(repository, ["multi-pack-index", "write"])
    if has_graph:
        ask(repository, ["commit-graph", "write", "--reachable"])


def own_objects(repository: Repository) -> set[str]:
    """The objects that stand in the repository itself, not in one that it borrows from."""
    folder = repository.common_dir / "objects"
    loose = {path.parent.name + path.name for path in folder.glob("[0-9a-f][0-9a-f]/*") if "." not in path.name}
    return loose.union(*(_listed(repository, path) for path in (folder / "pack").glob("pack-*.idx")))


def _listed(repository: Repository, index: Path) -> set[str]:
    """The objects of one pack, by its index."""
    asked = run(["show-index", f"--object-format={repository.object_format}"], input=index.read_bytes())
    return {line.split()[1].decode() for line in asked.stdout.splitlines()}


def _pack_again(repository: Repository, index: Path, ids: Collection[str]) -> None:
    """Put a pack without some of its objects in its place. Readers that have the old one open keep it."""
    if ids:
        # Deltas are taken over as they are; only those of objects that go are made whole.
        pack = ["-c", "pack.packSizeLimit=0", "pack-objects", "--quiet", "--window=0", "--delta-base-offset"]
        fresh = ask(repository, [*pack, str(index.parent / "pack")], sorted(ids)).strip()
        for path in index.parent.glob(f"{index.stem}.*"):
            if path.suffix in _MARKS:
                shutil.copy2(path, index.parent / f"pack-{fresh}{path.suffix}")
    _drop(index.parent, "multi-pack-index*")
    # Its index first, so that nobody looks for what is gone.
    _take_away(index.replace(index.with_suffix(_GOING)))


def _take_away(index: Path) -> None:
    """Delete a pack whose index was put aside; who is killed here leaves that, which tells what else must go."""
    for path in index.parent.glob(f"{index.stem}.*"):
        if path != index:
            path.unlink(missing_ok=True)
    index.unlink(missing_ok=True)


def _drop(folder: Path, pattern: str) -> bool:
    """Delete what derives from objects and names some that go; whether there was any."""
    found = list(folder.glob(pattern))
    for path in found:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    return bool(found)
