"""The one way in which memory changes: read the view, judge, build the commits, move the ref, write it down.

A batch is a chain of commits, one operation each, that becomes visible by one compare-and-swap (FORMAT "Commits").
A proposal that a person must decide is the same chain on a ref of its own (ARCHITECTURE, decision 8).
"""

import hashlib
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import msgspec

from invincat.errors import StoreError, UserError
from invincat.foreign import ForeignMoves
from invincat.governance import secrets
from invincat.governance.gate import Decision, find_secrets, judge
from invincat.governance.grounding import Grounds, NoGrounds
from invincat.governance.policy import OPEN, Policy
from invincat.memory import frontmatter
from invincat.memory.entry import InvalidMemory, Source, format_time
from invincat.memory.proposal import Proposal
from invincat.memory.refusal import Reason
from invincat.memory.register import SCORE_KEYS, TEXT_KEYS
from invincat.memory.scope import Scope
from invincat.memory.step import Context, Step
from invincat.memory.view import View
from invincat.outcome import Outcome, known_before, outcome_of, write_audit
from invincat.resources import template
from invincat.store.base import MEMORY_REF, PATIENCE, PROPOSALS, REJECTED, Commit, Draft, Store, StoreBusy
from invincat.store.format import require_writable
from invincat.store.journal import Journal, NoNotes, NoteCache
from invincat.store.message import Hold, Message, compose, compose_scores, read
from invincat.store.replay import replay, told_again, told_kept
from invincat.store.revision import resolve
from invincat.store.tree import ViewReader

_README: Final = "README.md"


class Ledger:
    """The write path of one store. Front ends use this and nothing else."""

    def __init__(
        self,
        store: Store,
        reader: ViewReader,
        scope: Scope,
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
        id_from: Callable[[bytes], str],
        policy: Callable[[], Policy] = lambda: OPEN,
        notes: NoteCache | None = None,
    ) -> None:
        self._store = store
        self._reader = reader
        self._scope = scope
        self._clock = clock
        self._new_id = new_id
        self._id_from = id_from
        self._policy = policy
        self._journal = Journal(store, notes or NoNotes())
        self._foreign = ForeignMoves(store, reader, self._journal, scope, clock, id_from)

    @property
    def store(self) -> Store:
        """The store it writes, for reading."""
        return self._store

    @property
    def scope(self) -> Scope:
        """Whose memories it keeps."""
        return self._scope

    def tip(self) -> str | None:
        """The commit of the memory ref; None where there is no store yet."""
        return self._store.tip()

    def view(self, commit: str | None = None) -> View:
        """What is believed at a commit, by default now; an empty view where there is no store yet."""
        at = commit or self._store.tip()
        return self._reader.view(at) if at else View()

    def resolve(self, text: str) -> str:
        """The memory commit that a person means (`store.revision.resolve`); UserError."""
        tip = self._store.tip()
        if tip is None:
            raise UserError("there is no memory store yet", where=self._store.location, next_step="run `invincat init`")
        return resolve(self._store, text, tip)

    @property
    def foreign(self) -> ForeignMoves:
        """Moves of the memory ref that were not ours (RULES 10)."""
        return self._foreign

    @property
    def reader(self) -> ViewReader:
        """The reader of views, which recall shares."""
        return self._reader

    def start(self) -> bool:
        """Make the store if there is none: the ref at the fixed root commit. True when it was made now."""
        with self._store.exclusive():
            return self._tip() is None and self._store.swap(MEMORY_REF, None, self._store.write_root())

    def _tip(self) -> str | None:
        """The tip to write on; StoreError where the ref was lost, because a store begun anew would hide the old one."""
        tip = self._store.tip()
        if tip is None and (lost := self._journal.lost_tip()):
            what = f"the memory ref is gone; it was at {lost[:7]}"
            raise StoreError(what, where=self._store.location, next_step="run `invincat doctor --repair`")
        return tip

    def _take_up(self) -> str | None:
        """Put what another tool's move left out of our line on top of it, where nothing stands against that.

        What is to be told of it, empty where there was nothing; None when somebody moved the ref meanwhile: what is
        written now would let it be forgotten.
        """
        lost, tip = self._store.left_behind(), self._store.tip()
        if lost is None or tip is None:
            return ""
        with suppress(StoreError):  # it stays where it is backed up
            if drafts := replay(self._store, lost, tip):
                require_writable(self._store, tip)
                *_, last = self._store.write(tip, drafts, self._store.author(), self._clock())
                return told_again(drafts) if self._store.swap(MEMORY_REF, tip, last) else None
        return told_kept(self._store, lost, tip)

    def submit(self, proposal: Proposal, grounds: Grounds | None = None, *, dry_run: bool = False) -> Outcome:
        """Decide a proposal and carry the decision out; all or nothing (RULES 3.3, 3.4).

        StoreBusy when others kept moving the ref for 10 s; then nothing of it was written, and the proposal is kept.
        """
        deadline, told = time.monotonic() + PATIENCE, ""
        try:
            while True:
                with self._store.exclusive(max(0.0, deadline - time.monotonic())):
                    taken_up = "" if dry_run else self._take_up()
                    told = told or taken_up or ""
                    outcome = None
                    if taken_up is not None:
                        outcome = self._attempt(proposal, grounds or NoGrounds(), told, dry_run=dry_run)
                if outcome is not None:
                    return outcome
                _pause(deadline)
        except StoreBusy as fault:
            if not dry_run and not find_secrets(proposal):
                self._keep(proposal, [Reason(rule="RULES 3.4", message=fault.what)], self._clock())
            raise

    def _attempt(self, proposal: Proposal, grounds: Grounds, told: str, *, dry_run: bool) -> Outcome | None:
        """One try on the tip as it is now; None when somebody moved the ref meanwhile."""
        tip = self._tip()
        base = tip or (None if dry_run else self._store.write_root())
        view = self._reader.view(base) if base else View()
        if base:
            require_writable(self._store, base)
        now = self._clock()
        context = Context(now, self._new_id, self._scope, proposal.source, proposal.buried)
        judgement = judge(view, proposal, context, grounds, self._policy())
        chains = [chain for chain in _chains(judgement.steps) if chain[0].op != "noop"]
        ids: list[str] = []
        held = known = None
        if judgement.decision is not Decision.REJECT and chains and base and not dry_run:
            held = f"{PROPOSALS}{self._id_from(_digest(chains))}" if judgement.decision is Decision.HOLD else None
            known = self._known_proposal(held) if held else None
            if known is None:
                if held and tip is None and self._store.swap(MEMORY_REF, None, base):
                    tip = base  # a proposal waits in a store that can be read
                drafts = self._drafts(base, view, chains, proposal, judgement.reasons if held else ())
                ids = self._store.write(base, drafts, self._store.author(), now)
                if not self._store.swap(held or MEMORY_REF, None if held else tip, ids[-1]):
                    return None
        outcome = outcome_of(self._store, self._scope, view, judgement, chains, tip, ids, held)
        outcome = msgspec.structs.replace(known_before(outcome, known) if known else outcome, dry_run=dry_run)
        outcome = _hinting(outcome, told)
        return outcome if dry_run else self._audit(proposal, outcome, now)

    def accept(self, proposal: str) -> Outcome:
        """A person's yes: what was held passes the gate again on what is believed now (ARCHITECTURE, decision 8).

        UserError for an unknown proposal. The verdict is `rejected` where a memory it changes has changed since.
        """
        ref = f"{PROPOSALS}{proposal}"
        held = self._store.tip(ref)
        if held is None:
            raise UserError(f"no proposal {proposal} waits", next_step="see `invincat review list`")
        chain = list(held_chain(self._store, held))
        if chain and chain[0][1].op is None:
            with self._store.exclusive():
                if (told := self._take_up()) is None:
                    raise StoreBusy("the memory ref moved meanwhile; nothing was accepted", next_step="run it again")
                return _hinting(self._foreign.take(ref, chain[0][0]), told)
        base = self._reader.view(chain[-1][0].parents[0]) if chain and chain[-1][0].parents else View()
        outcome = self.submit(_kept(chain[0][1].proposal if chain else None, self._scope, base))
        if outcome.verdict in {"committed", "noop"}:
            with self._store.exclusive():
                self._store.swap(ref, held, None)
        return outcome

    def reject(self, proposal: str, reason: str) -> None:
        """A person's no: the proposal is kept apart, and not made again. UserError for an unknown one, or a secret."""
        if secrets.scan(reason):
            raise UserError("the reason looks like a secret; it is not kept", next_step="give another reason")
        ref = f"{PROPOSALS}{proposal}"
        with self._store.exclusive():
            held = self._store.tip(ref)
            if held is None:
                raise UserError(f"no proposal {proposal} waits", next_step="see `invincat review list`")
            kept = f"{REJECTED}{proposal}"
            self._store.swap(kept, self._store.tip(kept), held)
            self._store.swap(ref, held, None)
            line = {"time": format_time(self._clock()), "proposal": proposal, "commit": held, "reason": reason}
            self._store.append("rejected.jsonl", line)

    def withdraw(self, ref: str) -> None:
        """Take a proposal back, waiting or rejected, because its reason is gone."""
        with self._store.exclusive():
            self._store.swap(ref, self._store.tip(ref), None)

    def _known_proposal(self, ref: str) -> str | None:
        """What became of the same proposal before."""
        if self._store.tip(ref):
            return "it was proposed before and still waits"
        if self._store.tip(ref.replace(PROPOSALS, REJECTED)):
            return "it was proposed before, and a person rejected it"
        return None

    def _drafts(
        self,
        base: str,
        view: View,
        chains: Sequence[Sequence[Step]],
        proposal: Proposal,
        held: Sequence[Reason],
    ) -> list[Draft]:
        """The commits of a batch; the first memory of a store brings the README with it."""
        hold = Hold("; ".join(reason.message for reason in held)) if held else None
        texts: dict[str, str] = {}
        drafts = []
        root = {entry.name for entry in self._store.list_tree(self._store.commit(base).tree)}
        extra = {} if _README in root else {_README: template("store-readme.md").encode()}
        for chain in chains:
            puts: dict[str, bytes] = dict(extra)
            extra = {}
            removes: set[str] = set()
            for step in chain:
                removes.update(step.removed)
                for record in step.written:
                    text = self._text(view, record.id, texts)
                    new = frontmatter.rewrite(text, record.memory) if text else frontmatter.render(record.memory)
                    texts[record.id] = new
                    puts[record.path] = new.encode()
                if step.marker:
                    puts[step.marker.path] = frontmatter.render_marker(step.marker).encode()
            write = compose_scores if chain[0].op == "score" else _compose_one
            if hold and chain is chains[-1]:
                kept = _Kept(proposal.items, proposal.source)
                hold = replace(hold, proposal=msgspec.json.encode(kept).decode())
            message = write(chain, proposal.source, hold)
            drafts.append(Draft(message=message, puts=puts, removes=frozenset(removes - puts.keys())))
        return drafts

    def _text(self, view: View, id: str, texts: dict[str, str]) -> str | None:
        """The file of a memory as it stands before the step: written earlier in this batch, or in the tree."""
        if id in texts:
            return texts[id]
        old = view.records.get(id)
        return self._store.read_blob(old.blob).decode() if old else None

    def _audit(self, proposal: Proposal, outcome: Outcome, now: datetime) -> Outcome:
        """Every verdict lands in the audit log; what was rejected is kept, unless it may hold a secret (RULES 4).

        What is committed is committed, also where a log cannot be written: then the outcome says so.
        """
        try:
            write_audit(self._store, now, proposal.source.actor, outcome)
            if outcome.verdict == "rejected" and not any("secret" in reason.rule for reason in outcome.reasons):
                self._keep(proposal, outcome.reasons, now)
        except StoreError as fault:
            return _hinting(outcome, f"not written to the audit log: {fault}")
        return outcome

    def _keep(self, proposal: Proposal, reasons: Sequence[Reason], now: datetime) -> None:
        """A proposal that was not carried out, for a person to look at."""
        line = {"time": format_time(now), "operations": list(proposal.items), "reasons": msgspec.to_builtins(reasons)}
        self._store.append("rejected.jsonl", line)


def _hinting(outcome: Outcome, *more: str) -> Outcome:
    """The outcome with more to tell, as far as there is any."""
    return msgspec.structs.replace(outcome, hint="; ".join(part for part in (outcome.hint, *more) if part) or None)


def _pause(deadline: float) -> None:
    """Wait a little, with jitter; StoreBusy when the time is up."""
    if time.monotonic() > deadline:
        raise StoreBusy("the memory ref kept moving; nothing was written", next_step="run it again")
    time.sleep(random.uniform(0.005, 0.05))  # noqa: S311 - jitter, no secret


def held_chain(store: Store, tip: str) -> Iterator[tuple[Commit, Message]]:
    """The commits of a proposal, the newest first: those that say why they are held."""
    for commit in store.history(tip):
        message = read(commit.message)
        if message.held is None:
            return
        yield commit, message


class _Kept(msgspec.Struct, frozen=True):
    """A proposal as the last commit of its chain keeps it."""

    operations: tuple[Any, ...]
    source: Source


def _kept(text: str | None, scope: Scope, base: View) -> Proposal:
    """The proposal that a commit keeps; `base` is what was believed when it was made."""
    try:
        kept = msgspec.json.decode(text or "", type=_Kept)
    except (msgspec.DecodeError, InvalidMemory):
        raise UserError("the proposal does not say what it would do", next_step="reject it") from None
    references = (item.get("id") for item in kept.operations if isinstance(item, dict))
    seen = {name: record for name in references if isinstance(name, str) and (record := base.find(name))}
    return Proposal(kept.operations, scope, kept.source, decided=True, seen=seen)


def _chains(steps: Sequence[Step]) -> list[list[Step]]:
    """Steps by commit: one each, but the score-only ones of a batch share the last (ARCHITECTURE, decision 3)."""
    scores = [step for step in steps if step.op == "score"]
    return [[step] for step in steps if step.op != "score"] + ([scores] if scores else [])


def _compose_one(chain: Sequence[Step], source: Source, held: Hold | None) -> str:
    return compose(chain[0], source, held)


def _digest(chains: Sequence[Sequence[Step]]) -> bytes:
    """16 bytes that derive from what is proposed, so that the same proposal is made once (RULES 6.7)."""
    parts = [
        (step.op, step.before.id if step.before else "", step.reason, _proposed(step))
        for chain in chains
        for step in chain
    ]
    return hashlib.blake2b(msgspec.json.encode(parts), digest_size=16).digest()


def _proposed(step: Step) -> dict[str, Any]:
    """What a step sets, without what differs each time that it is proposed: ids, times, the session."""
    said = step.successor or step.subject
    if said is None or step.op in {"archive", "delete", "restore"}:
        return {}
    old = step.before.memory if step.before and step.before.id == said.memory.id else None
    keys = (*(key for key in TEXT_KEYS if key != "source"), *SCORE_KEYS)
    values = {key: getattr(said.memory, key) for key in keys}
    changed = {key: value for key, value in values.items() if old is None or getattr(old, key) != value}
    return changed | ({"path": said.path} if step.op == "move" else {})
