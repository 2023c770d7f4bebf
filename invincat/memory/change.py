"""An operation on a view gives a Step: the view after it, and what one commit has to write (RULES 1, 2)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import msgspec

from invincat.memory import lifecycle, remark
from invincat.memory.content import split_content
from invincat.memory.entry import (
    BANDS,
    Confidence,
    InvalidMemory,
    Kind,
    Memory,
    Tier,
    Verdict,
    clamp,
    is_person,
    tier_of,
)
from invincat.memory.marker import marker_of
from invincat.memory.naming import derive_name, memory_path, settle, wanted_name
from invincat.memory.operation import (
    Archive,
    Claim,
    Create,
    Delete,
    Move,
    Noop,
    Operation,
    Rescore,
    Restore,
    Retier,
    Set,
    Supersede,
    Update,
    evidence_of,
)
from invincat.memory.refusal import Refused
from invincat.memory.register import TEXT_KEYS, stamped, tick
from invincat.memory.scope import Scope
from invincat.memory.step import Context, Step
from invincat.memory.view import Record, View, file_name, record_of

DEFAULT_SCORE = 50
OCCUPIED = "RULES 1.6"


def apply(view: View, operation: Operation, context: Context) -> Step:
    """The step that an operation is on this view; Refused with the rule where it is illegal."""
    try:
        step = _HANDLERS[type(operation)](view, operation, context)
    except InvalidMemory as fault:
        raise Refused("FORMAT", fault.message, field=fault.field) from None
    note = "; ".join(part for part in (step.note, remark.clamped(operation)) if part) or None
    return _settle_names(view, replace(step, evidence=evidence_of(operation), note=note))


def _create(view: View, operation: Create, context: Context) -> Step:
    record = _new_record(view, operation.claim, context)
    if twin := _twin(view, record):
        return Step("noop", view, subject=twin, note=f"{twin.name} already says this")
    _refuse_occupied(view, operation.claim.name)
    note = remark.said_before(view, record)
    return Step("create", view.put(record), subject=record, written=(record,), note=note)


def _new_record(view: View, claim: Claim, context: Context) -> Record:
    person = is_person(context.source.actor)
    if claim.scope is not None and claim.scope is not context.scope:
        message = f"is {claim.scope}, but the batch is for the {context.scope} store; one batch, one scope"
        raise Refused("RULES 7", message, field="scope")
    kind = claim.kind or (Kind.PREFERENCE if context.scope is Scope.USER else Kind.CONVENTION)
    score, tier = rate(DEFAULT_SCORE, None, claim.score, claim.tier)
    title, body = split_content(claim.content, claim.title)
    valid_from = claim.valid_from or context.now
    if valid_from > context.now:
        raise Refused("FORMAT", "is in the future; create the memory when it begins to hold", field="valid_from")
    memory = Memory(
        id=context.new_id(),
        title=title,
        kind=kind,
        section=claim.section or "General",
        scope=context.scope,
        project=claim.project,
        confidence=claim.confidence or (Confidence.HIGH if person else Confidence.MEDIUM),
        tier=tier,
        score=score,
        score_reason=claim.score_reason,
        verdict=Verdict.VALID,
        created_at=context.now,
        updated_at=context.now,
        last_scored_at=context.now,
        valid_from=valid_from,
        source=msgspec.structs.replace(context.source, evidence=claim.evidence),
        applies_to=claim.applies_to,
        tags=claim.tags,
        body=body,
    )
    return record_of(memory, memory_path(memory.section, claim.name or _free_name(view, memory)))


def _twin(view: View, record: Record) -> Record | None:
    """The active memory that already says this wherever `record` would hold (RULES 4 "Duplicates")."""
    return view.equal_to(record.fingerprint, record.memory.project)


def _refuse_occupied(view: View, name: str | None) -> None:
    """An explicit name that is taken is an error, also when a retired memory has it (RULES 1.6)."""
    if name is None:
        return
    if holder := view.find(name):
        state = lifecycle.describe_end(view, holder)
        free_it = "" if holder.is_active else f", or `invincat delete {name} --reason ...` to free it"
        way_out = f"choose another name{free_it}"
        raise Refused(OCCUPIED, f"{holder.path} has this name and is {state}; {way_out}", field="name")
    if name in view.blocked or view.wanted.get(name):
        raise Refused(OCCUPIED, f"the name {name} is taken; choose another name", field="name")


def _free_name(view: View, memory: Memory) -> str:
    """The name that the title asks for, as it will be settled among all that want it (RULES 6.4)."""
    wanted = derive_name(memory.title)
    return settle(wanted, (*view.wanted.get(wanted, ()), memory.id), view.blocked)[memory.id]


def rate(old: int, old_tier: Tier | None, score: int | None, tier: Tier | None) -> tuple[int, Tier]:
    """Score and tier: score alone derives the tier, tier alone clamps the score, of both the tier wins (RULES 2)."""
    if tier is not None:
        return clamp(old if score is None else score, tier), tier
    if score is not None:
        return score, tier_of(score)
    return old, old_tier or tier_of(old)


def _update(view: View, operation: Update, context: Context) -> Step:
    old = _target(view, operation.id)
    return _rewrite(view, old, _updates(operation, old.memory), "update", operation.reason, context)


def _updates(operation: Update, memory: Memory) -> dict[str, Any]:
    changes: dict[str, Any] = {
        name: value
        for name in ("confidence", "score_reason", "verdict", "applies_to", "tags")
        if (value := getattr(operation, name)) is not None
    }
    changes["score"], changes["tier"] = rate(memory.score, memory.tier, operation.score, operation.tier)
    if operation.content is not None:
        changes["title"], changes["body"] = split_content(operation.content, operation.title)
    elif operation.title is not None:
        changes["title"] = operation.title
    if operation.evidence is not None:
        changes["source"] = msgspec.structs.replace(memory.source, evidence=operation.evidence)
    return changes


def _set(view: View, operation: Set, context: Context) -> Step:
    old = _target(view, operation.id)
    changes = _updates(operation, old.memory)
    changes |= {key: value for key in ("kind", "section") if (value := getattr(operation, key)) is not None}
    if operation.check is not None:
        changes["check"] = operation.check or None
    return _rewrite(view, old, changes, "update", operation.reason, context, operation.name)


def _move(view: View, operation: Move, context: Context) -> Step:
    old = _target(view, operation.id)
    changes = {} if operation.section is None else {"section": operation.section}
    return _rewrite(view, old, changes, "move", operation.reason, context, operation.name)


def _rescore(view: View, operation: Rescore, context: Context) -> Step:
    changes = {"score": operation.score, "tier": tier_of(operation.score), "score_reason": operation.reason}
    return _rewrite(view, _target(view, operation.id), changes, "score", operation.reason, context)


def _retier(view: View, operation: Retier, context: Context) -> Step:
    old = _target(view, operation.id)
    score = clamp(old.memory.score, operation.tier)
    changes = {"score": score, "tier": operation.tier, "score_reason": operation.reason}
    return _rewrite(view, old, changes, "score", operation.reason, context)


def _rewrite(
    view: View,
    old: Record,
    changes: dict[str, Any],
    op: str,
    reason: str | None,
    context: Context,
    name: str | None = None,
) -> Step:
    """A memory with other values, and where it stands then: at `name` if one is given, in the folder of its section.

    Links in the tombstones of its predecessors stay as they are: the id in them counts, and an end is written once.
    """
    _refuse_cold(old.memory, changes)
    memory = stamped(old.memory, msgspec.structs.replace(old.memory, **changes), context.now)
    path = old.path
    if name is not None or memory.section != old.memory.section:
        path = _free_path(view, old, memory.section, name)
    if wanted_name(file_name(path)) != wanted_name(old.name) and memory.updated_at == old.memory.updated_at:
        # The wanted name belongs to the text register (RULES 6.1), though the file does not spell it.
        memory = msgspec.structs.replace(memory, updated_at=tick(context.now, memory.updated_at))
    if memory == old.memory and path == old.path:
        return Step("noop", view, subject=old, note=f"{old.name} already has these values")
    record = record_of(memory, path)
    twin = _twin(view, record)
    if twin and twin.id != memory.id and record.fingerprint != old.fingerprint and memory.is_active:
        raise Refused("RULES 4", f"{twin.name} already says this; supersede by it or archive one", field="content")
    if path != old.path:
        op = "move"
    elif all(getattr(memory, key) == getattr(old.memory, key) for key in TEXT_KEYS):
        op = "score"  # only the score register moved: it is no change of what is believed
    elif op != "score":
        op = "update"  # such as a section that is spelled otherwise
    removed = () if path == old.path else (old.path,)
    return Step(
        op,
        view.put(record),
        subject=record,
        before=old,
        reason=reason,
        written=(record,),
        removed=removed,
        note=None if old.is_active or op == "move" else remark.still_ended(view, old),
    )


def _refuse_cold(memory: Memory, changes: Mapping[str, Any]) -> None:
    """A constraint is binding, so it is always injected (FORMAT `kind`); it is not made warm by itself (RULES 2)."""
    if changes.get("kind", memory.kind) is Kind.CONSTRAINT and changes.get("tier", memory.tier) is Tier.COLD:
        message = f"a constraint is never cold; give it a score of {BANDS[Tier.WARM][0]} or more, or another kind"
        raise Refused("RULES 2", message, field="tier")


def _free_path(view: View, old: Record, section: str, name: str | None) -> str:
    """Where a memory goes that is moved; Refused where its name or its file is another's."""
    if name != old.name:
        _refuse_occupied(view, name)
    path = memory_path(section, name or old.name)
    if path != old.path and any(problem.path == path for problem in view.problems):
        raise Refused(OCCUPIED, f"a file stands at {path} that is no memory; choose another place", field="section")
    return path


def _supersede(view: View, operation: Supersede, context: Context) -> Step:
    if operation.claim is None:
        old = _target(view, operation.id)
        successor = view.find(operation.by or "")
        memory = lifecycle.supersede(view, old, successor, operation.reason, context.now)
        return _retired(view, old, memory, successor, operation.reason, ())
    old_or_none = view.find(operation.id)
    claim = _inherit(operation.claim, old_or_none)
    fresh = _new_record(view, claim, context)
    twin = _twin(view, fresh)
    successor = twin or fresh
    if not twin:
        _refuse_occupied(view, claim.name)
    created = () if twin else (fresh,)
    grown = view if twin else view.put(fresh)
    try:
        old = _target(view, operation.id)
        memory = lifecycle.supersede(grown, old, successor, operation.reason, context.now)
    except Refused as fault:
        op = "noop" if twin else "create"
        return Step(op, grown, subject=successor, before=old_or_none, written=created, failure=fault)
    return _retired(grown, old, memory, successor, operation.reason, created)


def _inherit(claim: Claim, old: Record | None) -> Claim:
    """A successor stands where the old one stood and is about the same paths, unless it says otherwise."""
    if old is None:
        return claim
    defaults: dict[str, Any] = {
        "section": claim.section or old.memory.section,
        "project": claim.project or old.memory.project,
        "kind": claim.kind or old.memory.kind,
        "applies_to": claim.applies_to or old.memory.applies_to,
        "tags": claim.tags or old.memory.tags,
    }
    if claim.score is None and claim.tier is None:
        defaults["score"] = old.memory.score
    return msgspec.structs.replace(claim, **defaults)


def _retired(
    view: View, old: Record, memory: Memory, successor: Record | None, reason: str, created: tuple[Record, ...]
) -> Step:
    record = record_of(memory, old.path)
    op = "supersede" if successor else "archive"
    return Step(
        op,
        view.put(record),
        subject=record,
        before=old,
        successor=successor,
        reason=reason,
        written=(*created, record),
    )


def _archive(view: View, operation: Archive, context: Context) -> Step:
    old = _target(view, operation.id)
    memory = lifecycle.archive(view, old, operation.reason, context.now)
    return _retired(view, old, memory, None, operation.reason, ())


def _delete(view: View, operation: Delete, context: Context) -> Step:
    old = _target(view, operation.id)
    memory = old.memory
    if not memory.is_active and not is_person(context.source.actor):
        raise Refused("RULES 2", f"{old.name} is retired; only a person deletes it", field="id")
    marker = marker_of(memory, wanted_name(old.name), operation.reason, context.now)
    return Step(
        "delete",
        view.drop(memory.id, marker),
        subject=old,
        before=old,
        reason=operation.reason,
        marker=marker,
        removed=(old.path,),
    )


def _restore(view: View, operation: Restore, context: Context) -> Step:
    buried, marker = context.buried.get(operation.id), view.markers.get(operation.id)
    if buried and marker and view.find(operation.id) is None:
        before, old, memory = None, buried, lifecycle.revive(buried, marker, context.now)
    else:
        before = old = _target(view, operation.id)
        memory = lifecycle.restore(old)
    record = record_of(memory, old.path)
    twin = _twin(view, record)
    if twin and twin.id != record.id:
        raise Refused("RULES 4", f"{twin.name} already says this; archive it first", field="id")
    return Step(
        "restore",
        view.put(record),
        subject=record,
        before=before,
        reason=operation.reason,
        written=(record,),
        note=remark.both_hold(view, old),
    )


def _noop(view: View, operation: Noop, context: Context) -> Step:
    return Step("noop", view)


def _target(view: View, reference: str) -> Record:
    record = view.find(reference)
    if record is None:
        message = f"no memory has the name or id {reference!r}; `invincat list --status all`"
        raise Refused("RULES 2", message, field="id")
    if twin := view.twins.get(record.id):
        message = f"{record.name} stands in two files, {record.path} and {twin}; remove one of them with git"
        raise Refused("FORMAT id", message, field="id")
    return record


def _settle_names(before: View, step: Step) -> Step:
    """Give names that the step took or freed to whom they belong, in the same commit (RULES 6.4)."""
    touched = {record.name for record in step.written} | {file_name(path) for path in step.removed}
    moved = step.view.misnamed({wanted for name in touched if (wanted := wanted_name(name))})
    if not moved:
        return step
    renamed = tuple((step.view.records[record.id].path, record) for record in moved)
    written = {record.id: record for record in (*step.written, *moved)}
    old_paths = (old.path for record in moved if (old := before.records.get(record.id)))
    return replace(
        step,
        view=step.view.put(*moved),
        subject=written.get(step.subject.id, step.subject) if step.subject else None,
        successor=written.get(step.successor.id, step.successor) if step.successor else None,
        written=tuple(written.values()),
        removed=(*step.removed, *old_paths),
        renamed=renamed,
    )


_HANDLERS: Final[Mapping[type[Operation], Callable[[View, Any, Context], Step]]] = {
    Create: _create,
    Update: _update,
    Rescore: _rescore,
    Retier: _retier,
    Supersede: _supersede,
    Archive: _archive,
    Delete: _delete,
    Restore: _restore,
    Move: _move,
    Set: _set,
    Noop: _noop,
}
