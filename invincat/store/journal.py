"""The journal read back: which moves of the memory ref were not ours (RULES 10).

Every move that the ledger makes is a line with where the ref came from, so a gap between two lines, or between the
last one and the ref, is a move that somebody else made. What we write on top of one does not hide it.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

import msgspec

from invincat.errors import StoreError
from invincat.store.base import FILE_MODE, FOLDER_MODE, MEMORY_REF, Draft, ObjectMissing, Store
from invincat.store.message import Hold
from invincat.store.tree import ViewReader, changed_files

# Lines by which a foreign move is dealt with; their value is the commit that it led to, null for a deletion.
SETTLING: Final = ("accepted", "put_back", "repaired")
# Bytes of the journal after which it is worth remembering what they say.
_WORTH_KEEPING: Final = 64 * 1024
_NOTE: Final = "journal"
_TOLD: Final = "told"
_WHY: Final = "the memory ref was moved past the gate while an agent was at work, and put back; a person decides"


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
    """Ids of the memories that foreign moves made or changed; whatever they are now, somebody else wrote in them."""
    ids: set[str] = set()
    for move in moves:
        if move.new is None:
            continue
        try:
            old = store.commit(move.old).id if move.old else None
        except ObjectMissing:
            old = None
        try:
            blobs = [change.new for change in changed_files(store, old, move.new) if change.new]
        except ObjectMissing:
            continue  # what cannot be read cannot be injected either
        ids.update(memory.id for memory in reader.memories(blobs).values())
    return frozenset(ids)


def difference(store: Store, old: str, new: str, message: str) -> Draft:
    """The plain files of a commit that another one has differently, as a draft on top of the latter; ObjectMissing."""
    before, after = (dict(_plain_files(store, store.commit(id).tree, "")) for id in (old, new))
    puts = {path: store.read_blob(blob) for path, blob in after.items() if before.get(path) != blob}
    return Draft(message, puts, frozenset(before.keys() - after.keys()))


def put_back_draft(store: Store, move: Foreign) -> Draft | None:
    """What a foreign move brought, as a held proposal on top of where the ref was; None where it brought nothing."""
    if move.old is None or move.new is None or any(commit.id == move.new for commit in store.history(move.old)):
        return None
    trailers = [f"{key}: {value}" for key, value in Hold(_WHY).trailers() if value]
    message = "\n".join([f"files of {move.new[:7]}, which was not written through the gate", "", *trailers, ""])
    draft = difference(store, move.old, move.new, message)
    return draft if draft.puts or draft.removes else None


def _plain_files(store: Store, tree: str, base: str) -> Iterable[tuple[str, str]]:
    for entry in store.list_tree(tree):
        path = f"{base}{entry.name}"
        if entry.mode == FOLDER_MODE:
            yield from _plain_files(store, entry.id, f"{path}/")
        elif entry.mode == FILE_MODE:
            yield path, entry.id
