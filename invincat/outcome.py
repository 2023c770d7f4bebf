"""What became of a proposal, and its line in the audit log."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec

from invincat.governance.gate import Decision, Judgement
from invincat.memory.entry import Tier, format_time
from invincat.memory.lifecycle import describe_end
from invincat.memory.refusal import Reason
from invincat.memory.scope import Scope
from invincat.memory.step import Step
from invincat.memory.view import View
from invincat.store.base import PROPOSALS, Store

# CLI "Exit codes" by verdict. Of several outcomes the gravest counts, in this order.
EXIT_CODES: Final[Mapping[str, int]] = {"rejected": 4, "failed": 1, "held": 3, "committed": 0, "noop": 0}
# How `still_active` begins where nothing is.
_NONE: Final = "none: "


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """One operation of an outcome; `commit` is None for what wrote nothing.

    `renamed` maps the path that a memory had to the one it has now; `score` and `tier` are those after a rating.
    """

    op: str
    name: str | None
    id: str | None
    commit: str | None
    successor: str | None = None
    renamed: dict[str, str] | None = None
    score: int | None = None
    tier: Tier | None = None


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a proposal, as `apply --json` prints it (CLI).

    `verdict` is committed, held, failed (RULES 1.7), rejected or noop. `known`: the same was proposed before.
    """

    verdict: str
    repository: str
    scope: Scope
    before: str | None
    after: str | None
    operations: tuple[Done, ...] = ()
    reasons: tuple[Reason, ...] = ()
    proposal: str | None = None
    hint: str | None = None
    kept: str | None = None
    still_active: str | None = None
    dry_run: bool = False
    known: bool = False

    @property
    def is_old_active(self) -> bool:
        """Whether what a failed supersession was to retire stands beside its successor (RULES 1.7)."""
        return self.still_active is not None and not self.still_active.startswith(_NONE)


def outcome_of(
    store: Store,
    scope: Scope,
    view: View,
    judgement: Judgement,
    chains: Sequence[Sequence[Step]],
    tip: str | None,
    ids: Sequence[str],
    held: str | None,
) -> Outcome:
    """The outcome of a judgement on a view at `tip`, of which these commits were made; `held` is a proposal's ref."""
    failures = [step for step in judgement.steps if step.failure]
    commits = {id(step): commit for chain, commit in zip(chains, ids, strict=False) for step in chain}
    notes = [step.note for step in judgement.steps if step.note]
    return Outcome(
        verdict=_verdict(judgement, failures, chains),
        repository=store.location,
        scope=scope,
        before=tip,
        after=ids[-1] if ids and not held else tip,
        operations=tuple(_done(step, commits.get(id(step))) for step in judgement.steps),
        reasons=judgement.reasons + _failures(judgement.steps),
        proposal=held.removeprefix(PROPOSALS) if held else None,
        hint="; ".join(notes) or None,
        kept=failures[0].subject.name if failures and failures[0].subject else None,
        still_active=_still_active(view, failures),
    )


def known_before(outcome: Outcome, what: str) -> Outcome:
    """The outcome of a proposal that was made before; `what` became of it."""
    return msgspec.structs.replace(outcome, known=True, hint="; ".join(part for part in (outcome.hint, what) if part))


def write_audit(store: Store, now: datetime, actor: str, outcome: Outcome) -> None:
    """Write the verdict down; StoreError."""
    store.append("audit.jsonl", {"time": format_time(now), "actor": actor, **msgspec.to_builtins(outcome)})


def _verdict(judgement: Judgement, failures: Sequence[Step], chains: Sequence[Sequence[Step]]) -> str:
    if judgement.decision is Decision.REJECT:
        return "rejected"
    if judgement.decision is Decision.HOLD:
        return "held"
    if failures:
        return "failed"
    return "committed" if chains else "noop"


def _done(step: Step, commit: str | None) -> Done:
    subject = step.subject
    moved = [(step.before.path, subject)] if step.op == "move" and step.before and subject else []
    rated = subject.memory if step.op == "score" and subject else None
    return Done(
        op=step.op,
        name=subject.name if subject else None,
        id=subject.id if subject else None,
        commit=commit,
        successor=step.successor.name if step.successor else None,
        renamed={path: record.path for path, record in (*moved, *step.renamed)} or None,
        score=rated.score if rated else None,
        tier=rated.tier if rated else None,
    )


def _failures(steps: Sequence[Step]) -> tuple[Reason, ...]:
    return tuple(step.failure.reason(number) for number, step in enumerate(steps) if step.failure)


def _still_active(view: View, failures: Sequence[Step]) -> str | None:
    """The target that a failed supersession left as it was, or why there is none (RULES 1.7)."""
    if not failures:
        return None
    target = failures[0].before
    if target is None:
        return f"{_NONE}the memory to supersede does not exist"
    return target.name if target.memory.is_active else f"{_NONE}{target.name} is {describe_end(view, target)}"
