"""The immutable set of memories at one commit of a store."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import msgspec

from invincat.memory.content import fingerprint
from invincat.memory.entry import Memory
from invincat.memory.marker import Marker
from invincat.memory.naming import memory_path, settle, wanted_of


class Record(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A memory with the file it stands in: `path` in the tree, `blob` its object id (empty before it is written).

    What every view needs of it is at hand; the memory itself may be read when somebody first asks (`held`).
    """

    id: str
    path: str
    blob: str
    fingerprint: str
    is_active: bool
    held: Memory | Callable[[str], Memory]

    @property
    def memory(self) -> Memory:
        """The memory, read now if it was not."""
        return self.held if isinstance(self.held, Memory) else self.held(self.blob)

    def __eq__(self, other: object) -> bool:
        """The blob says what the memory is; before there is one, the memory itself does."""
        if not isinstance(other, Record) or (self.path, self.blob, self.id) != (other.path, other.blob, other.id):
            return False
        return bool(self.blob) or self.memory == other.memory

    def __ne__(self, other: object) -> bool:
        # The base class has one of its own, which would go by identity.
        return not self == other

    def __hash__(self) -> int:
        return hash((self.path, self.blob, self.id))

    @property
    def name(self) -> str:
        """The file's name without `.md`."""
        return file_name(self.path)

    @property
    def label(self) -> str:
        """`section/name`, as subjects of commits show it."""
        return self.path.removeprefix("memory/").removesuffix(".md")


def file_name(path: str) -> str:
    """The name in a path: its last part without `.md`."""
    return path[path.rfind("/") + 1 :].removesuffix(".md")


def record_of(memory: Memory, path: str, blob: str = "") -> Record:
    """A record with the fingerprint of the memory's content."""
    mark = fingerprint(memory.title, memory.body)
    return Record(id=memory.id, path=path, blob=blob, fingerprint=mark, is_active=memory.is_active, held=memory)


@dataclass(frozen=True)
class Problem:
    """A file that was skipped: where, on which line (0: the whole file), and why."""

    path: str
    message: str
    line: int = 0
    rule: str = "FORMAT"


@dataclass(frozen=True)
class View:
    """All memories at `commit`. Made by `build` from a tree, by `put` and `drop` from another view.

    `wanted` maps each wanted name to the ids that want it (RULES 6.4); `content` the fingerprint of active
    memories to their ids. `blocked` are the names of files that were skipped: nobody may take them. `twins` maps the
    id of a memory that stands in several files to one of them that does not count; its name cannot be taken, either.
    """

    commit: str | None = None
    records: Mapping[str, Record] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    wanted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    content: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    markers: Mapping[str, Marker] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    blocked: frozenset[str] = frozenset()
    twins: Mapping[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records.values())

    def __len__(self) -> int:
        return len(self.records)

    def find(self, reference: str) -> Record | None:
        """The memory with this name or id, exactly."""
        return self.records.get(reference.upper()) or self.records.get(self.names.get(reference, ""))

    def matching(self, start: str) -> list[Record]:
        """The memory with this name or id, else all whose name or id begins with it."""
        if exact := self.find(start):
            return [exact]
        ids = [record for id, record in self.records.items() if id.startswith(start.upper())]
        return ids or [self.records[id] for name, id in sorted(self.names.items()) if name.startswith(start)]

    def active(self) -> list[Record]:
        """Those that hold now (RULES 1.1)."""
        return [record for record in self if record.is_active]

    def within(self, projects: frozenset[str]) -> "View":
        """The view without memories that are limited to a project which is called otherwise (FORMAT `scope`)."""
        kept = [record for record in self if record.memory.project is None or record.memory.project in projects]
        return self if len(kept) == len(self) else build(self.commit, kept, self.markers.values(), self.problems)

    def without(self, ids: frozenset[str]) -> "View":
        """The view without some memories."""
        if not ids:
            return self
        kept = [record for record in self if record.id not in ids]
        return build(self.commit, kept, self.markers.values(), self.problems)

    def equal_to(self, content: str, project: str | None = None) -> Record | None:
        """The active memory with this fingerprint that holds in a project (None: everywhere), of several the oldest."""
        found = (self.records[id] for id in self.content.get(content, ()))
        return next((record for record in found if record.memory.project in {None, project}), None)

    def retired_saying(self, content: str, project: str | None = None) -> Record | None:
        """The retired memory with this fingerprint that held in a project, of several the one that ended last."""
        found = [record for record in self if record.fingerprint == content and not record.is_active]
        held_here = [record for record in found if record.memory.project == project]
        return max(held_here, key=lambda record: (record.memory.invalid_at, record.id), default=None)

    def deleted_saying(self, content: str) -> Marker | None:
        """The marker of the memory with this fingerprint that was deleted last, and is not back."""
        found = [one for one in self.markers.values() if one.content == content and one.id not in self.records]
        return max(found, key=lambda marker: (marker.updated_at, marker.id), default=None)

    def put(self, *records: Record) -> "View":
        """A view in which these records stand, each in place of the one with its id."""
        stored, names, wanted, content = dict(self.records), dict(self.names), dict(self.wanted), dict(self.content)
        for record in records:
            id = record.id
            old = stored.get(id)
            if old:
                _forget(old, names, wanted, content)
            if old is None or old.name != record.name:
                names[record.name] = id  # whoever had it is named anew next (RULES 6.4)
            stored[id] = record
            _learn(record, record.name, names, wanted, content)
        return replace(self, commit=None, records=stored, names=names, wanted=wanted, content=content)

    def drop(self, id: str, marker: Marker) -> "View":
        """A view in which a marker stands in place of a memory."""
        stored, names, wanted, content = dict(self.records), dict(self.names), dict(self.wanted), dict(self.content)
        _forget(stored.pop(id), names, wanted, content)
        markers = {**self.markers, id: marker}
        return replace(self, commit=None, records=stored, names=names, wanted=wanted, content=content, markers=markers)

    def moved(
        self, commit: str, gone: Iterable[Record], came: Iterable[Record], markers: Iterable[Marker]
    ) -> "View | None":
        """The view at another commit, told by what differs; None where two files share an id or a name, or are bad."""
        if self.problems:
            return None
        stored, names, wanted, content = dict(self.records), dict(self.names), dict(self.wanted), dict(self.content)
        for record in gone:
            del stored[record.id]
            _forget(record, names, wanted, content)
        for record in came:
            if record.id in stored or record.name in names:
                return None
            stored[record.id] = record
            _learn(record, record.name, names, wanted, content)
        return View(commit, stored, names, wanted, content, {marker.id: marker for marker in markers})

    def misnamed(self, wanted: Iterable[str]) -> list[Record]:
        """Records, with the path they should have, of those that want these names and stand elsewhere (RULES 6.4)."""
        moved = []
        foreign = {problem.path for problem in self.problems}
        for name in wanted:
            for id, proper in settle(name, self.wanted.get(name, ()), self.blocked).items():
                record = self.records[id]
                path = memory_path(record.memory.section, proper)
                if id not in self.twins and record.path != path and path not in foreign:
                    moved.append(msgspec.structs.replace(record, path=path))
        return moved


def build(
    commit: str | None, records: Iterable[Record], markers: Iterable[Marker] = (), problems: Iterable[Problem] = ()
) -> View:
    """The view of these records; of two files with one id the first by path counts, the other is a problem."""
    found = list(problems)
    stored: dict[str, Record] = {}
    names: dict[str, str] = {}
    wanted: dict[str, tuple[str, ...]] = {}
    content: dict[str, tuple[str, ...]] = {}
    twins: dict[str, str] = {}
    for record in records:
        if twin := stored.get(record.id):
            twins[record.id] = record.path
            found.append(Problem(record.path, f"has the id of {twin.path}", rule="FORMAT id"))
            continue
        stored[record.id] = record
        name = file_name(record.path)
        if other := names.get(name):
            found.append(Problem(record.path, f"has the name of {stored[other].path}", rule="FORMAT name"))
        _learn(record, name, names, wanted, content)
    return View(
        commit=commit,
        records=stored,
        names=names,
        wanted=wanted,
        content=content,
        markers={marker.id: marker for marker in markers},
        problems=tuple(found),
        blocked=(frozenset(file_name(problem.path).lower() for problem in found) - names.keys())
        | {stored[id].name for id in twins},
        twins=twins,
    )


_Ids = dict[str, tuple[str, ...]]


def _learn(record: Record, name: str, names: dict[str, str], wanted: _Ids, content: _Ids) -> None:
    id = record.id
    names.setdefault(name, id)
    _enter(wanted, wanted_of(name), id)
    if record.is_active:
        _enter(content, record.fingerprint, id)


def _forget(record: Record, names: dict[str, str], wanted: _Ids, content: _Ids) -> None:
    id = record.id
    if names.get(record.name) == id:
        del names[record.name]
    _strike(wanted, wanted_of(record.name), id)
    if record.is_active:
        _strike(content, record.fingerprint, id)


def _enter(index: _Ids, key: str, id: str) -> None:
    if key in index:
        index[key] = tuple(sorted((*index[key], id)))
    else:
        index[key] = (id,)


def _strike(index: _Ids, key: str, id: str) -> None:
    rest = tuple(other for other in index[key] if other != id)
    if rest:
        index[key] = rest
    else:
        del index[key]
