"""The gate: a proposal and a view give a verdict with reasons. Every write of every front end passes it (RULES 4).

The checks stand in order; the first family that finds a fault ends the judgement, with all the faults it found:
secrets first, since every later message may quote what was given.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from msgspec.structs import replace

from invincat.governance import hidden, secrets
from invincat.governance.claim import claims_otherwise
from invincat.governance.grounding import RULE as EVIDENCE_RULE
from invincat.governance.grounding import Grounded, Grounds, ground, missing_ground
from invincat.governance.policy import OPEN, Policy
from invincat.memory.change import apply
from invincat.memory.entry import MAX_PROPOSED, Memory, Source, Verdict, is_model, is_person
from invincat.memory.frontmatter import render
from invincat.memory.lifecycle import describe_end
from invincat.memory.operation import (
    Create,
    Delete,
    Noop,
    Operation,
    Supersede,
    Update,
    decode,
    name_given,
    operation_name,
    target_of,
)
from invincat.memory.proposal import Proposal
from invincat.memory.refusal import Reason, Refused
from invincat.memory.remark import said_before
from invincat.memory.step import Context, Step
from invincat.memory.view import View

MAX_OPERATIONS: Final = 8
MAX_RETIRED_SHARE: Final = 0.2


class Decision(StrEnum):
    """What governance says of a proposal."""

    COMMIT = "commit"
    HOLD = "hold"
    REJECT = "reject"


@dataclass(frozen=True)
class Judgement:
    """The decision, the steps that would carry the proposal out (none when rejected), and why not."""

    decision: Decision
    steps: tuple[Step, ...] = ()
    reasons: tuple[Reason, ...] = ()


def judge(view: View, proposal: Proposal, context: Context, grounds: Grounds, policy: Policy = OPEN) -> Judgement:
    """Hold a proposal against the rules. Nothing is changed; the same input gives the same judgement."""
    decoded, reasons = decode(proposal.items, proposal.source.actor)
    others = [*reasons, *_check_batch(view, decoded, proposal), *_find_hidden(proposal)]
    if reasons := find_secrets(proposal) or others:
        return _rejected(reasons)
    operations, reasons, doubts = _check_evidence(list(decoded.values()), proposal, grounds)
    if reasons:
        return _rejected(reasons)
    steps, after, reasons = _apply_all(view, operations, context)
    reasons += [*_find_secrets_in_files(steps), *_find_other_claims(steps)]
    if reasons:
        return _rejected(reasons)
    reasons, worries = _check_retired(view, after, steps, proposal)
    if reasons:
        return _rejected(reasons)
    worries += _find_ended(view, steps, proposal)
    if proposal.hold:
        worries.append(Reason(rule="RULES 4 policy", message=proposal.hold))
    held = [*doubts, *worries, *policy.worries(steps, proposal.source.actor)]
    if not held or proposal.decided or all(step.op == "noop" for step in steps):
        return Judgement(Decision.COMMIT, tuple(steps))
    return Judgement(Decision.HOLD, tuple(steps), tuple(held))


def _rejected(reasons: list[Reason]) -> Judgement:
    return Judgement(Decision.REJECT, reasons=tuple(reasons))


# --- secrets and hidden characters: on everything that was given, known field or not ---


def _strings(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [*reversed(value.values()), *reversed(value)]
        elif isinstance(value, list | tuple):
            waiting += reversed(value)
        elif isinstance(value, str):
            yield value


def _given(proposal: Proposal) -> Iterator[tuple[int | None, str, str]]:
    """Operation number, field and text of every string in a proposal, its source included."""
    for number, item in enumerate(proposal.items):
        fields = item.items() if isinstance(item, dict) else [("operation", item)]
        for name, value in fields:
            shown = name if isinstance(name, str) and re.fullmatch(r"[a-z_]{1,20}", name) else "a field's name"
            yield from ((number, shown, text) for text in _strings(value))
            if shown != name:
                yield number, shown, str(name)
    for field in Source.__struct_fields__:
        for text in _strings(getattr(proposal.source, field)):
            yield None, f"source.{field}", text


def find_secrets(proposal: Proposal) -> list[Reason]:
    """RULES 4.3: the rule and the place are named, never the value."""
    reasons = []
    for number, field, text in _given(proposal):
        for finding in secrets.scan(text):
            message = f"line {finding.line} looks like a secret; say where it is kept instead (a vault, a variable)"
            reasons.append(Reason(rule=finding.rule, message=message, operation=number, field=field))
    return list(dict.fromkeys(reasons))


def _find_secrets_in_files(steps: list[Step]) -> list[Reason]:
    """The last look, at the files as they would be written: a secret may have been split over fields."""
    found = [
        Reason(rule=finding.rule, message="looks like a secret; say where it is kept instead", field="file")
        for step in steps
        for record in step.written
        if step.before is None or record.id != step.before.id or step.op in {"update", "move"}
        for finding in secrets.scan("\n\n".join(_readings(record.memory)))
    ]
    return list(dict.fromkeys(found))


def _readings(memory: Memory) -> Iterator[str]:
    """The file, and what somebody would read who puts its pieces together."""
    yield render(memory)
    yield memory.title + memory.body
    yield "".join(memory.tags)
    yield "".join(item.quote or "" for item in memory.source.evidence)
    yield (memory.source.branch or "").replace("/", "")


def _find_hidden(proposal: Proposal) -> list[Reason]:
    """RULES 4.4: refused from everybody; a person is shown where they are, escaped."""
    reasons = []
    for number, field, text in _given(proposal):
        for found in hidden.find_hidden(text)[:1]:
            shown = hidden.escape_hidden(text.split("\n")[found.line - 1])
            at = max(0, found.column - 20)
            message = f"line {found.line} has a hidden character ({found.kind}): {shown[at : at + 60]!r}"
            message = f"{message}; write the text without it"
            reasons.append(Reason(rule="RULES 4 hidden", message=message, operation=number, field=field))
    return reasons


# --- the batch ---


def _check_batch(view: View, operations: Mapping[int, Operation], proposal: Proposal) -> list[Reason]:
    """RULES 3.1 and 3.2: no memory twice; a model's batch is small, and so is what it says (FORMAT `body`)."""
    reasons = _find_changed(view, operations, proposal)
    named: dict[str, list[int]] = {}
    for number, operation in operations.items():
        for key in _named(view, operation):
            named.setdefault(key, []).append(number)
    for number, operation in operations.items():
        target = _key(view, target_of(operation))
        if target is not None and len(users := named[target]) > 1:
            which = " and ".join(f"{other} ({operation_name(operations[other])})" for other in users)
            message = f"{target_of(operation)} is named by operations {which}; a batch changes a memory once"
            reasons.append(Reason(rule="RULES 3.1", message=message, operation=number, field="id"))
        content = _content_of(operation)
        if is_model(proposal.source.actor) and len(content) > MAX_PROPOSED:
            message = f"has {len(content)} characters, a model may propose {MAX_PROPOSED}; say the claim and why"
            reasons.append(Reason(rule="FORMAT body", message=message, operation=number, field="content"))
    count = len(proposal.items)
    if not is_person(proposal.source.actor) and count > MAX_OPERATIONS:
        message = f"{count} operations in one batch from {proposal.source.actor}; at most {MAX_OPERATIONS}, split it"
        reasons.append(Reason(rule="RULES 3.2", message=message))
    return reasons


def _find_changed(view: View, operations: Mapping[int, Operation], proposal: Proposal) -> list[Reason]:
    """RULES 3.4: what somebody else changed after the proposal was worded is not overwritten."""
    reasons = []
    for number, operation in operations.items():
        seen = proposal.seen.get(target_of(operation) or "")
        now = view.records.get(seen.id) if seen else None
        if seen and (now is None or now.blob != seen.blob):
            state = describe_end(view, now) if now else "deleted"
            message = f"{seen.name} ({state}) has changed since this was worded; look at it as it is now"
            reasons.append(Reason(rule="RULES 3.4", message=message, operation=number, field="id"))
    return reasons


def _content_of(operation: Operation) -> str:
    if isinstance(operation, Create | Supersede):
        return operation.claim.content if operation.claim else ""
    return (operation.content or "") if isinstance(operation, Update) else ""


def _named(view: View, operation: Operation) -> set[str]:
    """The memories an operation names, by id where they exist; a name that it gives means the same memory, too."""
    references = (target_of(operation), operation.by if isinstance(operation, Supersede) else None)
    given = name_given(operation)
    fresh = {given} if given is not None and view.find(given) is None else set()
    return fresh | {key for reference in references if (key := _key(view, reference)) is not None}


def _key(view: View, reference: str | None) -> str | None:
    record = view.find(reference) if reference else None
    return record.id if record else reference


def _check_retired(view: View, after: View, steps: list[Step], proposal: Proposal) -> tuple[list[Reason], list[Reason]]:
    """RULES 3.2: what rejects a batch that retires too much, and what makes a person decide."""
    if is_person(proposal.source.actor):
        return [], []
    before = len(view.active())
    retired = sum(1 for step in steps if _retires(step))
    if before >= 2 and not after.active():
        message = f"the batch would leave none of {before} active memories; archive them one by one if that is meant"
        return [Reason(rule="RULES 3.2", message=message)], []
    most = max(1, int(before * MAX_RETIRED_SHARE))
    if retired > most:
        message = f"retires {retired} of {before} active memories, more than {most} at once"
        return [], [Reason(rule="RULES 3.2", message=message)]
    return [], []


def _find_ended(view: View, steps: list[Step], proposal: Proposal) -> list[Reason]:
    """What people have ended does not come back by a model's word alone."""
    if not is_model(proposal.source.actor):
        return []
    created = [step.subject for step in steps if step.op == "create" and step.subject]
    notes = [said_before(view, record) for record in created]
    return [Reason(rule="RULES 4", message=note) for note in notes if note]


def _find_other_claims(steps: list[Step]) -> list[Reason]:
    """RULES 1.9: an edit that changes what is claimed is a supersession."""
    reasons = []
    for number, step in enumerate(steps):
        if step.before and step.subject and step.op in {"update", "move"} and step.subject.id == step.before.id:
            old, new = step.before.memory, step.subject.memory
            if fault := claims_otherwise(old.title, new.title):
                step_out = f'`invincat supersede {step.before.name} --content "..."`'
                message = f"this claims another thing than {old.title!r} ({fault}); {step_out} replaces it"
                reasons.append(Reason(rule="RULES 1.9", message=message, operation=number, field="title"))
    return reasons


def _retires(step: Step) -> bool:
    marked = step.subject is not None and step.op == "update" and step.subject.memory.verdict is not Verdict.VALID
    return step.op in {"supersede", "archive", "delete"} or marked


# --- evidence ---


def _check_evidence(
    operations: list[Operation], proposal: Proposal, grounds: Grounds
) -> tuple[list[Operation], list[Reason], list[Reason]]:
    """Operations with their evidence completed; reasons to reject; reasons to hold (RULES 4 "Evidence")."""
    done: list[Operation] = []
    reasons: list[Reason] = []
    doubts: list[Reason] = []
    for number, operation in enumerate(operations):
        evidence = _evidence_of(operation)
        if evidence is None:
            done.append(operation)
            continue
        try:
            grounded = ground(evidence, grounds, strict=not proposal.decided)
        except Refused as fault:
            reasons.append(fault.reason(number))
            continue
        done.append(_with_evidence(operation, grounded))
        if not proposal.decided and (missing := missing_ground(grounded, proposal.source.actor, proposal.scope)):
            reason = Reason(rule=EVIDENCE_RULE, message=missing, operation=number, field="evidence")
            (doubts if evidence else reasons).append(reason)
    return done, reasons, doubts


def _evidence_of(operation: Operation) -> tuple[Any, ...] | None:
    """The evidence of an operation that needs some; None for one that needs none."""
    if isinstance(operation, Create):
        return operation.claim.evidence
    if isinstance(operation, Supersede):
        return operation.claim.evidence if operation.claim else None
    if isinstance(operation, Delete):
        return operation.evidence
    if isinstance(operation, Update):
        rewords = operation.title is not None or operation.content is not None
        doubts = operation.verdict is not None and operation.verdict is not Verdict.VALID
        return operation.evidence or () if rewords or doubts or operation.evidence is not None else None
    return None


def _with_evidence(operation: Operation, grounded: Grounded) -> Operation:
    if isinstance(operation, Create | Supersede) and operation.claim:
        return replace(operation, claim=replace(operation.claim, evidence=grounded.evidence))
    if isinstance(operation, Update | Delete) and grounded.evidence:
        return replace(operation, evidence=grounded.evidence)
    return operation


# --- the steps ---


def _apply_all(view: View, operations: list[Operation], context: Context) -> tuple[list[Step], View, list[Reason]]:
    """The steps, by operation, and the view after them; or all reasons why they cannot be.

    Those that turn out to score only come last, as their commit does: an operation before them may move their file.
    """
    pinned = [_pinned(view, operation) for operation in operations]
    order = list(range(len(pinned)))
    steps, after, reasons = _apply_in(order, view, pinned, context)
    last = sorted(order, key=lambda number: number in steps and steps[number].op == "score")
    if last != order:
        steps, after, reasons = _apply_in(last, view, pinned, context)
    return [steps[number] for number in sorted(steps)], after, reasons


def _apply_in(
    order: Sequence[int], view: View, operations: Sequence[Operation], context: Context
) -> tuple[dict[int, Step], View, list[Reason]]:
    """Each operation is tried on what stood before it, in this order."""
    steps: dict[int, Step] = {}
    reasons: list[Reason] = []
    for number in order:
        try:
            steps[number] = apply(view, operations[number], context)
        except Refused as fault:
            reasons.append(fault.reason(number))
            continue
        view = steps[number].view
    return steps, view, reasons


def _pinned(view: View, operation: Operation) -> Operation:
    """An operation means what has the name when the batch begins, whatever those before it rename."""
    if isinstance(operation, Create | Noop):
        return operation
    record = view.find(operation.id)
    return replace(operation, id=record.id) if record else operation
