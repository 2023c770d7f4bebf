"""The journal read back: which moves of the memory ref were not ours (RULES 10).

Every move that the ledger makes is a line with where the ref came from, so a gap between two lines, or between the
last one and the ref, is a move that somebody else made. What we write on top of one does not hide it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Protocol

import msgspec

from invincat.errors import StoreError
from invincat.store.base import FILE_MODE, FOLDER_MODE, MEMORY_REF, Draft, ObjectMissing, Store
from invincat.store.files import changed_files
from invincat.store.folders import is_path
from invincat.store.message import Hold
from invincat.store.tree import ViewReader

# Lines by which a foreign move is dealt with; their value is the commit that it led to, null for a deletion.
SETTLING: Final = ("accepted", "put_back", "repaired")
# Bytes of the journal after which it is worth remembering what they say.
_WORTH_KEEPING: Final = 64 * 1024
_NOTE: Final = "journal"
_TOLD: Final = "told"
# So many files and folders make a proposal that a person can look through, or an operation.
MOST_FILES: Final = 10_000
_WHY: Final = "the memory ref was moved past the gate while an agent was at work, and put back; a person decides"


class NoDraft(StoreError):
    """Two commits differ in what no draft can hold: too many files or folders, a name that no tree may have."""


class Foreign(msgspec.Struct, frozen=True):
    """A move of the memory ref that is not in the journal; `new` is None where the ref was deleted."""

    old: str | None
    new: str | None


class Trail(msgspec.Struct, frozen=True):
    """What the journal says up to a position: where the ref was then, and foreign moves that nobody has settled.

    Before its first line nothing is known, and whatever the ref names is where it begins (`is_begun`).
    """

    position: int = 0
    is_begun: bool = False
    tip: str | None = None
    foreign: tuple[Foreign, ...] = ()

    def follow(self, records: Iterable[Mapping[str, Any]], position: int) -> "Trail":
        """The trail after more lines."""
        is_begun, tip, foreign = self.is_begun, self.tip, list(self.foreign)
        for record in records:
            for word in SETTLING:
                if word in record:
                    foreign = [move for move in foreign if move.new != record[word]]
            old, new = record.get("old"), record.get("new")
            # What is no line of ours says nothing of a move.
            if record.get("ref") == MEMORY_REF and isinstance(old, str | None) and isinstance(new, str | None):
                if is_begun and old != tip:
                    foreign.append(Foreign(tip, old))
                is_begun, tip = True, new
        return Trail(position, is_begun, tip, tuple(foreign))


class NoteCache(Protocol):
    """Small things derived from the state directory. Losing them costs time only."""

    def note(self, name: str) -> bytes | None:
        """What was remembered under a name."""

    def save_note(self, name: str, data: bytes) -> None:
        """Remember it."""


class NoNotes:
    """Keeps nothing."""

    def note(self, name: str) -> bytes | None:
        """Nothing."""
        return None

    def save_note(self, name: str, data: bytes) -> None:
        """Forgets."""


class Journal:
    """The journal of one store, for reading. Cheap enough for every briefing: old lines are read once."""

    def __init__(self, store: Store, notes: NoteCache) -> None:
        self._store = store
        self._notes = notes

    def trail(self) -> Trail:
        """What all its lines say."""
        kept = self._kept()
        records, position = self._store.read_log("journal", kept.position)
        if position < kept.position:  # it is not the file that was read before
            kept = Trail()
            records, position = self._store.read_log("journal")
        trail = kept.follow(records, position)
        if position - kept.position > _WORTH_KEEPING:
            self._notes.save_note(_NOTE, msgspec.msgpack.encode(trail))
        return trail

    def foreign(self) -> tuple[Foreign, ...]:
        """Foreign moves that nobody has settled, the oldest first; the last may be where the ref is now."""
        moves = self._compare()
        if moves and moves[-1].new == self._store.tip():
            # It may be a move of ours whose writer was killed before the line: taking the lock heals that.
            try:
                with self._store.exclusive():
                    return self._compare()
            except StoreError:
                return moves
        return moves

    def untold(self) -> tuple[Foreign, ...]:
        """Those that nobody was told of; from now on they are told."""
        moves = self.foreign()
        told = (self._notes.note(_TOLD) or b"").decode().split()
        fresh = tuple(move for move in moves if str(move.new) not in told)
        if fresh:
            self._notes.save_note(_TOLD, " ".join(str(move.new) for move in moves).encode())
        return fresh

    def lost_tip(self) -> str | None:
        """Where the ref was, when it is gone and nobody of us deleted it; None otherwise, and if that is lost too."""
        trail = self.trail()
        if self._store.tip() is not None or trail.tip is None:
            return None
        try:
            return self._store.commit(trail.tip).id
        except ObjectMissing:
            return None

    def _compare(self) -> tuple[Foreign, ...]:
        tip, trail = self._store.tip(), self.trail()
        while tip != (now := self._store.tip()):  # somebody wrote meanwhile
            tip, trail = now, self.trail()
        is_off = trail.is_begun and tip != trail.tip
        return (*trail.foreign, Foreign(trail.tip, tip)) if is_off else trail.foreign

    def _kept(self) -> Trail:
        try:
            return msgspec.msgpack.decode(self._notes.note(_NOTE) or b"", type=Trail)
        except msgspec.DecodeError:
            return Trail()


def brought_by(store: Store, reader: ViewReader, moves: Iterable[Foreign]) -> frozenset[str]:
    """Ids of the memories that foreign moves made or changed; whatever they are now, somebody else wrote in them.

    Where a move led to what is lost, all that came since may be of it.
    """
    ids: set[str] = set()
    for move in moves:
        if move.new is None:
            continue
        old, new = _readable(store, move.old), _readable(store, move.new) or store.tip()
        try:
            blobs = [change.new for change in changed_files(store, old, new) if change.new] if new else []
        except ObjectMissing:
            continue  # what cannot be read cannot be injected either
        ids.update(memory.id for memory in reader.memories(blobs).values())
    return frozenset(ids)


def _readable(store: Store, commit: str | None) -> str | None:
    try:
        return store.commit(commit).id if commit else None
    except ObjectMissing:
        return None


def difference(store: Store, old: str, new: str, message: str) -> Draft:
    """The plain files of a commit that another one has differently, as a draft on top of the latter.

    ObjectMissing, NoDraft.
    """
    puts: dict[str, bytes] = {}
    removes: set[str] = set()
    for path, blob in _changed(store, store.commit(old).tree, store.commit(new).tree):
        if not is_path(path):
            raise NoDraft("has a file that no tree may have", where=repr(path))
        if blob is None:
            removes.add(path)
        else:
            puts[path] = store.read_blob(blob)
    return Draft(message, puts, frozenset(removes))


def put_back_draft(store: Store, move: Foreign) -> Draft | None:
    """What a foreign move brought, as a held proposal on top of where the ref was; None where it brought nothing."""
    if move.old is None or move.new is None or any(commit.id == move.new for commit in store.history(move.old)):
        return None
    trailers = [f"{key}: {value}" for key, value in Hold(_WHY).trailers() if value]
    message = "\n".join([f"files of {move.new[:7]}, which was not written through the gate", "", *trailers, ""])
    draft = difference(store, move.old, move.new, message)
    return draft if draft.puts or draft.removes else None


def _changed(store: Store, old: str, new: str) -> Iterator[tuple[str, str | None]]:
    """Paths of plain files that differ between two trees, with the new blob; equal folders are not opened."""
    folders: list[tuple[str, str | None, str | None]] = [("", old, new)]
    count = 0
    while folders:
        base, *trees = folders.pop()
        before, after = ({entry.name: entry for entry in store.list_tree(tree)} if tree else {} for tree in trees)
        for name in before.keys() | after.keys():
            sides = before.get(name), after.get(name)
            if sides[0] == sides[1]:
                continue
            count += 1
            if count > MOST_FILES:  # a few folders that hold each other many times have billions of them
                raise NoDraft(f"differs in more than {MOST_FILES} files and folders", where=new)
            was, now = (side.id if side and side.mode == FOLDER_MODE else None for side in sides)
            if was or now:
                folders.append((f"{base}{name}/", was, now))
            was, now = (side.id if side and side.mode == FILE_MODE else None for side in sides)
            if was or now:
                yield f"{base}{name}", now
