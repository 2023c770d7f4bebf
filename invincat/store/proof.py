"""The proof that a purge has done its work: every object, ref and log that is left is looked at."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from invincat.store.base import ObjectMissing
from invincat.store.edits import is_of
from invincat.store.git import GitStore
from invincat.store.locate import Repository
from invincat.store.needle import Needle
from invincat.store.objects import Object, ask_lines, entries_of, every_object, reachable
from invincat.store.prune import alive, lost_of_ours, own_objects
from invincat.store.purge import Sought, logs
from invincat.store.purged import purged_ids


@dataclass
class Proof:
    """What a scan found: `left` is ours to remove, `elsewhere` a person's, told in words."""

    left: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    scanned: int = 0


def prove(store: GitStore, sought: Sought) -> Proof:
    """Look at every object, ref and reflog that is left."""
    repository, proof = store.repository, Proof()
    hits: dict[str, str] = {}
    ours = reachable(repository, "--glob=refs/invincat/*")
    for one in every_object(repository):
        proof.scanned += 1
        if _holds(one, sought, is_ours=one.id in ours):
            hits[one.id] = one.kind
    kept, own = alive(repository), own_objects(repository)
    lost = lost_of_ours(repository, purged_ids(store, store.tip()))
    proof.left += [f"{kind} {id} of the memory history" for id, kind in hits.items() if id in ours]
    proof.left += [f"{kind} {id}, which nothing names" for id, kind in lost.items() if id in own]
    proof.left += _refs_to(repository, purged_ids(store, store.tip()) & kept)
    proof.elsewhere += _said_by(repository, sought.needle)
    rest = hits.keys() - ours - lost.keys()
    groups = {
        "in the history of the code, which only `git filter-repo` or the like rewrites": rest & kept & own,
        "in lost objects of your own, which `git gc --prune=now` removes": (rest - kept) & own,
        "in a repository that this one borrows objects from; purge there": rest - own,
    }
    proof.elsewhere += [f"{len(ids)} objects {where}: {_some(ids)}" for where, ids in groups.items() if ids]
    return proof


def _holds(one: Object, sought: Sought, *, is_ours: bool) -> bool:
    if sought.memory:
        if one.kind == "blob":
            return is_of(sought.memory)(one.data)
        return one.kind == "commit" and is_ours and sought.needle.search(one.data.decode("utf-8", "surrogateescape"))
    text = one.data.decode("utf-8", "surrogateescape")
    if one.kind == "tree":
        try:
            names = [name.decode("utf-8", "surrogateescape") for name, _, _ in entries_of(one)]
        except ObjectMissing:
            names = [text]
        return any(map(sought.needle.search, names))
    # Code is not read as JSON: what is quoted there is no text of ours.
    return sought.needle.search(text) if is_ours else sought.needle.stands_in(text)


def _refs_to(repository: Repository, purged: Iterable[str]) -> list[str]:
    """Refs of a person's that still lead to the old history."""
    ids = sorted(purged)[:100]
    if not ids:
        return []
    contains = [f"--contains={id}" for id in ids]
    refs = ask_lines(repository, ["for-each-ref", "--format=%(refname)", *contains])
    names = [f"the old history is kept by {ref}; delete it" for ref in refs]
    return names or ["the old history is kept by a detached HEAD; check out another commit there"]


def _said_by(repository: Repository, needle: Needle) -> list[str]:
    """Refs of a person's that are called so, and their logs that say it."""
    refs = ask_lines(repository, ["for-each-ref", "--format=%(refname)"])
    said = [path for path, _ in logs(repository) if needle.search(path.read_text("utf-8", "surrogateescape"))]
    called = [ref for ref in refs if needle.search(ref)]
    found: dict[str, Sequence[object]] = {"refs are called so": called, "reflogs say so": said}
    return [f"{len(items)} {what}; see `git for-each-ref` and `git reflog`" for what, items in found.items() if items]


def _some(ids: Collection[str]) -> str:
    shown = ", ".join(id[:10] for id in sorted(ids)[:5])
    return f"{shown} and more" if len(ids) > 5 else shown
