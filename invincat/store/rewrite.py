"""Write a history again without what a purge takes out of it; commits that nothing of it touches keep their ids."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from invincat.store.base import FOLDER_MODE, GITLINK_MODE, ObjectMissing
from invincat.store.locate import Repository
from invincat.store.objects import Objects, ask, entries_of

_ID: Final = re.compile(rb'(?m)^id: "?([0-9A-HJKMNP-TV-Z]{26})"?$')
_SIGNATURE: Final = re.compile(rb"(?m)^(?:gpgsig(?:-sha256)?|mergetag) .*\n(?: .*\n)*")


class Edit(Protocol):
    """What is taken out."""

    def file(self, data: bytes) -> bytes | None:
        """A file's new bytes, None where it must go; the same bytes where nothing is sought."""

    def name(self, name: str) -> str:
        """What a file or folder is called."""

    def person(self, line: str) -> str:
        """Name and e-mail of who committed."""

    def message(self, text: str, *, is_touched: bool) -> str:
        """A commit's message; `is_touched` says whether the commit changed files that the edit changes."""


class _Folder(NamedTuple):
    """A tree after the edit, and the blobs in it that the edit changed."""

    id: str
    hits: frozenset[str]


class Rewriter:
    """Rewrites histories of one repository. Nothing is written until `commits`; under the writers' lock."""

    def __init__(self, repository: Repository, objects: Objects) -> None:
        self._repository = repository
        self._objects = objects

    def order(self, tips: Iterable[str]) -> list[str]:
        """The commits of these histories, parents first."""
        tips = sorted(set(tips))
        return ask(self._repository, ["rev-list", "--topo-order", "--reverse", "--stdin"], tips).split() if tips else []

    def files(self, commits: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Every file that ever stood in these commits, once for each content, name, and name of its folder."""
        seen: set[tuple[str, str]] = set()
        for commit in commits:
            folders = [("", self._tree_of(self.read(commit)[0]))]
            while folders:
                base, tree = folders.pop()
                # Not by the whole path: a few folders that hold each other many times would have billions of them.
                folder = ("/".join(base.split("/")[-2:]), tree)
                if folder in seen:
                    continue
                seen.add(folder)
                for name, mode, id in self._entries(tree):
                    path = base + name.decode("utf-8", "surrogateescape")
                    if mode == FOLDER_MODE:
                        folders.append((f"{path}/", id))
                    elif mode != GITLINK_MODE and (path, id) not in seen:
                        seen.add((path, id))
                        yield path, self._objects.read(id).data

    def read(self, commit: str) -> tuple[bytes, str]:
        """The headers and the message of a commit."""
        head, _, message = self._objects.read(commit).data.partition(b"\n\n")
        return head + b"\n", message.decode("utf-8", "surrogateescape")

    def parents(self, commit: str) -> list[str]:
        """The parents of a commit."""
        return _parents(self.read(commit)[0])

    def commits(self, commits: Sequence[str], edit: Edit) -> dict[str, str]:
        """Write these again, given parents first; old id -> new id of those that differ."""
        trees: dict[str, _Folder] = {}
        hits: dict[str, frozenset[str]] = {}
        moved: dict[str, str] = {}
        for commit in commits:
            head, message = self.read(commit)
            tree = self._tree_of(head)
            folder = self._edit_tree(tree, edit, trees)
            hits[commit] = folder.hits
            parents = _parents(head)
            before = [hits.get(parent, frozenset()) for parent in parents] or [frozenset()]
            text = edit.message(message, is_touched=any(folder.hits != other for other in before))
            who = _people(head, edit)
            if (folder.id, text, who) == (tree, message, head) and not moved.keys() & set(parents):
                continue
            who = _SIGNATURE.sub(b"", who).replace(b"tree " + tree.encode(), b"tree " + folder.id.encode(), 1)
            for parent in parents:
                who = who.replace(b"parent " + parent.encode(), b"parent " + moved.get(parent, parent).encode())
            moved[commit] = self._objects.write("commit", who + b"\n" + text.encode("utf-8", "surrogateescape"))
        return moved

    def _edit_tree(self, top: str, edit: Edit, known: dict[str, _Folder]) -> _Folder:
        # A foreign tree may be thousands deep, more than calls can be.
        waiting = [top]
        while waiting:
            tree = waiting[-1]
            entries = self._entries(tree) if tree not in known else []
            below = [id for _, mode, id in entries if mode == FOLDER_MODE and id not in known]
            waiting += below
            if not below:
                waiting.pop()
                known[tree] = known.get(tree) or self._edited(tree, entries, edit, known)
        return known[top]

    def _edited(
        self, tree: str, before: Sequence[tuple[bytes, int, str]], edit: Edit, known: Mapping[str, _Folder]
    ) -> _Folder:
        """A tree after the edit, given those below it."""
        entries: dict[bytes, tuple[int, str]] = {}
        hits: set[str] = set()
        is_changed = False
        for name, mode, id in before:
            kept, ident = id, id
            if mode == FOLDER_MODE:
                folder = known[id]
                hits |= folder.hits
                kept = folder.id
            elif mode != GITLINK_MODE:
                data = self._objects.read(id).data
                new = edit.file(data)
                if new != data:
                    hits.add(id)
                    kept = self._objects.write("blob", new) if new is not None else ""
                ident = found[1].decode() if (found := _ID.search(data)) else id
            called = edit.name(name.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
            is_changed = is_changed or (kept, called) != (id, name)
            if called != name:
                hits.add(id)
            if kept:
                entries[called if called not in entries else _beside(called, ident)] = (mode, kept)
        after = (self._write_tree(entries) if entries else "") if is_changed else tree
        return _Folder(after, frozenset(hits))

    def _entries(self, tree: str) -> list[tuple[bytes, int, str]]:
        found = self._objects.read(tree)
        if found.kind != "tree":
            raise ObjectMissing("is no tree", where=tree)
        return entries_of(found)

    def _write_tree(self, entries: Mapping[bytes, tuple[int, str]]) -> str:
        # Git sorts a folder as if its name ended with a slash.
        order = sorted(entries.items(), key=lambda item: item[0] + (b"/" if item[1][0] == FOLDER_MODE else b""))
        return self._objects.write(
            "tree", b"".join(b"%o %s\0" % (mode, name) + bytes.fromhex(id) for name, (mode, id) in order)
        )

    @staticmethod
    def _tree_of(head: bytes) -> str:
        return head.split(None, 2)[1].decode()


def _parents(head: bytes) -> list[str]:
    return [line[7:].decode() for line in head.split(b"\n") if line.startswith(b"parent ")]


def _beside(name: bytes, id: str) -> bytes:
    """Another name, where two have become one, as the naming rule gives it (RULES 6.4)."""
    stem, dot, suffix = name.partition(b".")
    return stem + b"--" + id[-6:].lower().encode() + dot + suffix


def _people(head: bytes, edit: Edit) -> bytes:
    def clean(match: re.Match[bytes]) -> bytes:
        return (
            match[1]
            + edit.person(match[2].decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
            + b">"
        )

    return re.sub(rb"(?m)^((?:author|committer) )([^>\n]*)>", clean, head)
