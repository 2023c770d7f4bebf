"""A store's tree to a view.

Reading is tolerant: what is no memory is skipped, reported and left as it is (FORMAT "Tree"); unchanged sections are
not read again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from invincat.memory.content import fingerprint
from invincat.memory.entry import Memory, is_ulid
from invincat.memory.frontmatter import parse, parse_marker
from invincat.memory.marker import Marker
from invincat.memory.naming import is_name, wanted_name
from invincat.memory.view import Problem, Record, View, build
from invincat.memory.yaml_scan import MalformedFile
from invincat.store.base import FILE_MODE, FOLDER_MODE, GITLINK_MODE, LINK_MODE, ObjectMissing, Store, TreeEntry
from invincat.store.files import DELETED_FOLDER, MEMORY_FOLDER, find_blobs, shown
from invincat.store.format import FORMAT, FORMAT_FILE, newer_format

# A section of which more than so many files had to be parsed is worth a row for each in the cache.
MANY: Final = 16

# What else may stand at the root of the tree.
KNOWN_FILES: Final = {"invincat.yaml", "README.md", "purged"}
KNOWN_FOLDERS: Final = {MEMORY_FOLDER, DELETED_FOLDER, "unreadable"}

_KNOWN: Final = {FILE_MODE: KNOWN_FILES, FOLDER_MODE: KNOWN_FOLDERS}
_ODD_MODES: Final = {LINK_MODE: "is a symbolic link", GITLINK_MODE: "is a submodule", 0o100755: "is executable"}


class Decoded(NamedTuple):
    """A parsed memory with its fingerprint, as it is cached by blob."""

    memory: Memory
    fingerprint: str


class Row(NamedTuple):
    """What a view needs of a memory before anybody reads it."""

    path: str
    blob: str
    fingerprint: str
    id: str
    is_active: bool


class EntryCache(Protocol):
    """Parsed memories by blob id, and the rows of whole sections. Losing it costs time only."""

    def section(self, folder: str) -> tuple[str, list[Row]] | None:
        """The tree id that a section's folder had when its rows were saved, and these."""

    def save_section(self, folder: str, tree: str, rows: Sequence[Row]) -> None:
        """Remember the rows of a section."""

    def load(self, blobs: Sequence[str]) -> dict[str, Decoded]:
        """What is known of these blobs."""

    def save(self, entries: dict[str, Decoded]) -> None:
        """Remember these."""

    def is_sound(self, tree: str) -> bool:
        """Whether this is the tree that was last said to have every file of it in its view."""

    def save_sound(self, tree: str) -> None:
        """Remember it."""


class NoCache:
    """Keeps nothing."""

    def section(self, folder: str) -> tuple[str, list[Row]] | None:
        """Nothing."""
        return None

    def save_section(self, folder: str, tree: str, rows: Sequence[Row]) -> None:
        """Forgets."""

    def load(self, blobs: Sequence[str]) -> dict[str, Decoded]:
        """Nothing."""
        return {}

    def save(self, entries: dict[str, Decoded]) -> None:
        """Forgets."""

    def is_sound(self, tree: str) -> bool:
        """Nothing is known to be."""
        return False

    def save_sound(self, tree: str) -> None:
        """Forgets."""


@dataclass(frozen=True)
class _Section:
    records: tuple[Record, ...]
    problems: tuple[Problem, ...]


class ViewReader:
    """Reads views of one store and keeps the last one, so that only changed sections are read again."""

    def __init__(self, store: Store, cache: EntryCache) -> None:
        self._store = store
        self._cache = cache
        self._sections: dict[tuple[str, str], _Section] = {}
        self._markers: tuple[str, tuple[Marker, ...], tuple[Problem, ...]] = ("", (), ())
        self._last: View | None = None

    def view(self, commit: str) -> View:
        """The view at a commit; ObjectMissing when its trees cannot be read."""
        if self._last is None or self._last.commit != commit:
            self._last = self._read(commit)
        return self._last

    def problems(self, commit: str) -> tuple[Problem, ...]:
        """The files left out of the view that was read last, or where none was, of the one at a commit."""
        if self._last:
            return self._last.problems
        return () if self.is_sound(commit) else self.view(commit).problems

    def is_sound(self, commit: str) -> bool:
        """Whether every file at a commit is in its view.

        That is remembered by tree: whoever only searched need not build a view to know it.
        """
        if self._last is None or self._last.commit != commit:
            tree = self._store.commit(commit).tree
            if self._cache.is_sound(tree):
                return True
            if not self.view(commit).problems:
                self._cache.save_sound(tree)
        return not self.view(commit).problems

    def record(self, commit: str, path: str) -> Record | None:
        """The memory in one file at a commit, None where there is none that can be read."""
        return self.files(commit, [path]).get(path)

    def files(self, commit: str, paths: Iterable[str]) -> dict[str, Record]:
        """The memories in these files at a commit, by path, as far as there are any that can be read."""
        blobs = find_blobs(self._store, commit, paths)
        decoded = self._decode([TreeEntry(path, FILE_MODE, blob) for path, blob in blobs.items()])
        return {
            path: _record(found, path, blobs[path]) for path, found in decoded.items() if not isinstance(found, Problem)
        }

    def _read(self, commit: str) -> View:
        tree = self._store.commit(commit).tree
        self._store.complete(tree)
        root = self._store.list_tree(tree)
        problems: list[Problem] = []
        if newer := newer_format(self._store, root):
            problems.append(Problem(FORMAT_FILE, f"is of format {newer}: read as format {FORMAT}, and not written"))
        sections: dict[tuple[str, str], _Section] = {}
        markers: tuple[Marker, ...] = ()
        for entry in root:
            if entry.mode == FOLDER_MODE and entry.name == MEMORY_FOLDER:
                for folder in self._store.list_tree(entry.id):
                    key = (folder.name, folder.id)
                    sections[key] = self._sections.get(key) or self._read_section(folder)
            elif entry.mode == FOLDER_MODE and entry.name == DELETED_FOLDER:
                markers, faults = self._read_markers(entry)
                problems += faults
            elif entry.name not in _KNOWN.get(entry.mode, ()):
                problems.append(Problem(shown(entry.name), "is not a file of ours; it is left alone"))
        before, self._sections = self._sections, sections
        problems += [problem for section in sections.values() for problem in section.problems]
        if self._last is not None and not problems and (view := _moved(self._last, commit, before, sections, markers)):
            return view
        records = (record for section in sections.values() for record in section.records)
        return build(commit, records, markers, problems)

    def _read_section(self, folder: TreeEntry) -> _Section:
        base = f"{MEMORY_FOLDER}/{shown(folder.name)}"
        if folder.mode != FOLDER_MODE:
            return _Section((), (Problem(base, f"{_ODD_MODES.get(folder.mode, 'is a file')}; sections are folders"),))
        if not is_name(folder.name):
            return _Section((), (Problem(base, "is not a section's folder name (a-z, 0-9, hyphens)"),))
        known = self._known_records(folder, base)
        if isinstance(known, _Section):
            return known
        try:
            listed = self._store.list_tree(folder.id)
        except ObjectMissing as fault:
            return _Section((), (Problem(base, f"cannot be read: {fault}"),))
        good, problems = _sift(base, listed, known)
        decoded = self._decode(entry for entry in good if (entry.name, entry.id) not in known)
        records = []
        for entry in good:
            found = known.get((entry.name, entry.id)) or decoded[entry.name]
            if isinstance(found, Problem):
                problems.append(found)
            else:
                records.append(found if isinstance(found, Record) else _record(found, entry.name, entry.id))
        if len(decoded) > MANY and not problems:
            self._cache.save_section(base, folder.id, [_row(record) for record in records])
        return _Section(tuple(records), tuple(problems))

    def _known_records(self, folder: TreeEntry, base: str) -> "dict[tuple[str, str], Record] | _Section":
        """Records of an earlier state of a section by path and blob, or all of it when nothing changed since."""
        for (name, _), section in self._sections.items():
            if name == folder.name:
                return {(record.path, record.blob): record for record in section.records}
        saved = self._cache.section(base)
        if saved is None:
            return {}
        tree, rows = saved
        held = _Shelf(self, [row.blob for row in rows])
        records = [
            Record(path=path, blob=blob, fingerprint=mark, id=id, is_active=is_active, held=held)
            for path, blob, mark, id, is_active in rows
        ]
        if tree == folder.id:
            return _Section(tuple(records), ())
        return {(record.path, record.blob): record for record in records}

    def memories(self, blobs: Sequence[str]) -> dict[str, Memory]:
        """Memories by blob, as far as the blobs hold any that can be read."""
        found = self._decode([TreeEntry(blob, FILE_MODE, blob) for blob in blobs])
        return {blob: entry.memory for blob, entry in found.items() if isinstance(entry, Decoded)}

    def _decode(self, entries: Iterable[TreeEntry]) -> dict[str, Decoded | Problem]:
        """Memories, or what is wrong, by path; parsed at most once for each blob."""
        entries = list(entries)
        known = self._cache.load([entry.id for entry in entries])
        fresh: dict[str, Decoded] = {}
        results: dict[str, Decoded | Problem] = {}
        for entry in entries:
            found = known.get(entry.id) or fresh.get(entry.id)
            if found is None:
                try:
                    memory = parse(self._store.read_blob(entry.id))
                except MalformedFile as fault:
                    results[entry.name] = Problem(entry.name, str(fault), fault.line)
                    continue
                except ObjectMissing as fault:
                    results[entry.name] = Problem(entry.name, f"cannot be read: {fault}")
                    continue
                found = fresh[entry.id] = Decoded(memory, fingerprint(memory.title, memory.body))
            results[entry.name] = found
        if fresh:
            self._cache.save(fresh)
        return results

    def _read_markers(self, folder: TreeEntry) -> tuple[tuple[Marker, ...], tuple[Problem, ...]]:
        if self._markers[0] != folder.id:
            markers, problems = [], []
            for entry in self._store.list_tree(folder.id):
                path = f"{DELETED_FOLDER}/{shown(entry.name)}"
                id = entry.name.removesuffix(".md")
                if entry.mode != FILE_MODE or not is_ulid(id) or id == entry.name:
                    problems.append(Problem(path, "is not a marker of a deleted memory"))
                    continue
                try:
                    marker = parse_marker(self._store.read_blob(entry.id))
                except MalformedFile as fault:
                    problems.append(Problem(path, str(fault), fault.line))
                    continue
                except ObjectMissing as fault:
                    problems.append(Problem(path, f"cannot be read: {fault}"))
                    continue
                if marker.id == id:
                    markers.append(marker)
                else:
                    problems.append(Problem(path, f"is the marker of {marker.id}", rule="FORMAT id"))
            self._markers = (folder.id, tuple(markers), tuple(problems))
        return self._markers[1], self._markers[2]


class _Shelf:
    """The memories of a section, read together when somebody first asks for one."""

    def __init__(self, reader: ViewReader, blobs: Sequence[str]) -> None:
        self._reader = reader
        self._blobs = blobs
        self._memories: dict[str, Memory] | None = None

    def __call__(self, blob: str) -> Memory:
        if self._memories is None:
            self._memories = self._reader.memories(self._blobs)
        return self._memories[blob]


def _record(decoded: Decoded, path: str, blob: str) -> Record:
    memory, mark = decoded
    return Record(id=memory.id, path=path, blob=blob, fingerprint=mark, is_active=memory.is_active, held=memory)


def _row(record: Record) -> Row:
    return Row(record.path, record.blob, record.fingerprint, record.id, record.is_active)


def _moved(
    last: View,
    commit: str,
    before: Mapping[tuple[str, str], _Section],
    after: Mapping[tuple[str, str], _Section],
    markers: Iterable[Marker],
) -> View | None:
    """The view told from the last one by the sections that differ; None when it must be built anew."""
    if len(before.keys() ^ after.keys()) > len(after):
        return None
    gone = {record for key in before.keys() - after.keys() for record in before[key].records}
    came = {record for key in after.keys() - before.keys() for record in after[key].records}
    return last.moved(commit, gone - came, came - gone, markers)


def _sift(
    base: str, entries: Sequence[TreeEntry], known: Mapping[tuple[str, str], Record]
) -> tuple[list[TreeEntry], list[Problem]]:
    """Entries that may be memories, with their whole path as name, and why the others are not."""
    good: list[TreeEntry] = []
    problems: list[Problem] = []
    for entry in entries:
        path = f"{base}/{shown(entry.name)}"
        if entry.mode == FILE_MODE and (path, entry.id) in known:
            good.append(TreeEntry(path, entry.mode, entry.id))
        elif entry.mode != FILE_MODE:
            problems.append(Problem(path, f"{_ODD_MODES.get(entry.mode, 'is no plain file')}; it is not followed"))
        elif not entry.name.endswith(".md") or wanted_name(entry.name[:-3]) is None:
            problems.append(Problem(path, "is not a memory's file name (a-z, 0-9, hyphens, then .md)"))
        else:
            good.append(TreeEntry(path, entry.mode, entry.id))
    return good, problems
