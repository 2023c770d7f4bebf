"""Moves of the memory ref that were not made through the gate: told, accepted by a person, or put back (RULES 10)."""

import hashlib
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import datetime

from invincat.errors import StoreError, UserError
from invincat.governance import secrets
from invincat.memory.entry import format_time
from invincat.memory.refusal import Reason
from invincat.memory.scope import Scope
from invincat.outcome import Outcome, write_audit
from invincat.store.base import BACKUPS, MEMORY_REF, PROPOSALS, Commit, ObjectMissing, Store
from invincat.store.format import require_writable
from invincat.store.journal import Foreign, Journal, brought_by, difference, put_back_draft
from invincat.store.tree import ViewReader


class ForeignMoves:
    """The foreign moves of one store that no person has settled yet."""

    def __init__(
        self,
        store: Store,
        reader: ViewReader,
        journal: Journal,
        scope: Scope,
        clock: Callable[[], datetime],
        id_from: Callable[[bytes], str],
    ) -> None:
        self._store = store
        self._reader = reader
        self._journal = journal
        self._scope = scope
        self._clock = clock
        self._id_from = id_from

    def moves(self) -> tuple[Foreign, ...]:
        """All of them, the oldest first."""
        return self._journal.foreign()

    def untold(self) -> tuple[Foreign, ...]:
        """Those that nobody was told of yet; none where the store cannot be read, which is told by whoever reads it."""
        try:
            return self._journal.untold()
        except StoreError:
            return ()

    def memories(self) -> frozenset[str]:
        """Ids of the memories that they brought: these are shown marked, and not injected."""
        moves = self.moves()
        return brought_by(self._store, self._reader, moves) if moves else frozenset()

    def accept(self, move: Foreign) -> Outcome:
        """A person's yes to what something else wrote."""
        now = self._clock()
        with self._store.exclusive():
            tip = self._store.tip()
            # When nothing of ours stands on top of it yet, the move is one of the journal's from here on.
            place = {"ref": MEMORY_REF, "old": move.old, "new": move.new} if tip == move.new else {}
            self._store.append("journal", {"at": format_time(now), "accepted": move.new, **place})
        return self._decided(now, tip, tip, hint=f"what {str(move.new)[:7]} brought is believed from now on")

    def put_back(self, known: Collection[Foreign] = ()) -> str | None:
        """Undo a move that is where the ref is now, unless it is `known`; the proposal that keeps what it brought.

        None where there is nothing to undo, or nothing to keep: it deleted the ref, or moved it to an older commit.
        What no proposal can hold is kept as a backup.
        """
        with self._store.exclusive():
            moves, tip, now = self.moves(), self._store.tip(), self._clock()
            if not moves or moves[-1] in known or moves[-1].new != tip or moves[-1].old is None:
                return None
            require_writable(self._store, moves[-1].old)
            kept = self._keep(moves[-1], moves[-1].old, now)
            self._store.swap(MEMORY_REF, tip, moves[-1].old)
            self._store.append("journal", {"at": format_time(now), "put_back": tip})
            return kept

    def take(self, ref: str, held: Commit) -> Outcome:
        """A person's yes to files that were put back: written as they are, where nobody changed them meanwhile.

        UserError where the proposal was not made against a memory commit.
        """
        base, subject = base_of(held), held.message.partition("\n")[0]
        with self._store.exclusive():
            tip, now = self._store.tip() or base, self._clock()
            require_writable(self._store, tip)
            draft = difference(self._store, base, held.id, f"accept {subject}\n")
            since = difference(self._store, base, tip, "")
            changed = (draft.puts.keys() | draft.removes) & (since.puts.keys() | since.removes)
            reasons = [Reason(rule="RULES 3.4", message=f"{path} has changed since") for path in sorted(changed)]
            for path, data in draft.puts.items():
                found = secrets.scan(data.decode("utf-8", "replace"))
                reasons += [Reason(rule=one.rule, message=f"{path}:{one.line} looks like a secret") for one in found]
            after = tip
            if not reasons:
                [after] = self._store.write(tip, [draft], self._store.author(), now)
                self._store.swap(MEMORY_REF, tip, after)
                self._store.swap(ref, held.id, None)
        return self._decided(now, tip, after, tuple(reasons))

    def _keep(self, move: Foreign, base: str, now: datetime) -> str | None:
        try:
            draft = put_back_draft(self._store, move)
            if draft is None:
                return None
            [held] = self._store.write(base, [draft], self._store.author(), now)
        except StoreError:  # whatever it is, it must not stay where it is
            ref = f"{BACKUPS}{now:%Y%m%dT%H%M%SZ}"
            with suppress(ObjectMissing):  # what is not there cannot be kept
                self._store.swap(ref, self._store.tip(ref), move.new)
            return None
        id = self._id_from(hashlib.blake2b(held.encode(), digest_size=16).digest())
        self._store.swap(f"{PROPOSALS}{id}", None, held)
        return id

    def _decided(
        self,
        now: datetime,
        before: str | None,
        after: str | None,
        reasons: tuple[Reason, ...] = (),
        hint: str | None = None,
    ) -> Outcome:
        outcome = Outcome(
            verdict="rejected" if reasons else "committed",
            repository=self._store.location,
            scope=self._scope,
            before=before,
            after=after,
            reasons=reasons,
            hint=hint,
        )
        write_audit(self._store, now, "user", outcome)
        return outcome


def base_of(held: Commit) -> str:
    """The memory commit that a proposal was made against, whose first commit this is; UserError for somebody's root."""
    if not held.parents:
        step = "it was not made by invincat; `invincat review reject` puts it aside"
        raise UserError("the proposal stands on no memory commit", where=held.id[:12], next_step=step)
    return held.parents[0]
