"""The legal changes to a view, as one table: validation, the schema for models and the documentation come from it.

    op         needs                    may                                            who
    create     scope section content    title name kind confidence score ... evidence  all
    ...        (`MATRIX` below is the table; RULES 2 is its source)

`decode` takes what `apply` or a model gave and returns operations, or every reason why not.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import msgspec

from invincat.memory.entry import MAX_PROPOSED, Confidence, InvalidMemory, Kind, Tier, Verdict, is_person
from invincat.memory.evidence import Evidence
from invincat.memory.field import FIELDS, shown_type
from invincat.memory.refusal import Reason, Refused
from invincat.memory.scope import Scope


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """What a new memory says; None where the operation left it to the defaults of FORMAT."""

    content: str
    scope: Scope | None = None
    section: str | None = None
    title: str | None = None
    name: str | None = None
    project: str | None = None
    kind: Kind | None = None
    confidence: Confidence | None = None
    score: int | None = None
    tier: Tier | None = None
    score_reason: str | None = None
    applies_to: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    valid_from: datetime | None = None
    evidence: tuple[Evidence, ...] = ()


class Create(msgspec.Struct, frozen=True, kw_only=True, tag="create", tag_field="op"):
    """A new memory."""

    claim: Claim


class Update(msgspec.Struct, frozen=True, kw_only=True, tag="update", tag_field="op"):
    """The same belief, said or rated differently; None leaves a value as it is."""

    id: str
    title: str | None = None
    content: str | None = None
    confidence: Confidence | None = None
    score: int | None = None
    tier: Tier | None = None
    score_reason: str | None = None
    verdict: Verdict | None = None
    applies_to: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    evidence: tuple[Evidence, ...] | None = None
    reason: str | None = None


class Set(Update, frozen=True, kw_only=True, tag="set", tag_field="op"):
    """A person's update: also what no model may touch. An empty `check` takes the command away."""

    name: str | None = None
    section: str | None = None
    kind: Kind | None = None
    check: str | None = None


class Move(msgspec.Struct, frozen=True, kw_only=True, tag="move", tag_field="op"):
    """A person's: another name, another section, or both."""

    id: str
    reason: str
    name: str | None = None
    section: str | None = None


class Rescore(msgspec.Struct, frozen=True, kw_only=True, tag="rescore", tag_field="op"):
    """Another score; the tier follows."""

    id: str
    score: int
    reason: str


class Retier(msgspec.Struct, frozen=True, kw_only=True, tag="retier", tag_field="op"):
    """Another tier; the score is clamped into its band."""

    id: str
    tier: Tier
    reason: str


class Supersede(msgspec.Struct, frozen=True, kw_only=True, tag="supersede", tag_field="op"):
    """One belief in place of another, in one commit: `by` names an active memory, or `claim` makes one."""

    id: str
    reason: str
    by: str | None = None
    claim: Claim | None = None


class Archive(msgspec.Struct, frozen=True, kw_only=True, tag="archive", tag_field="op"):
    """It holds no more, or is not to be injected for now; nothing takes its place."""

    id: str
    reason: str


class Delete(msgspec.Struct, frozen=True, kw_only=True, tag="delete", tag_field="op"):
    """It was wrong: a marker takes its place, the history stays (RULES 6.3)."""

    id: str
    reason: str
    evidence: tuple[Evidence, ...] = ()


class Restore(msgspec.Struct, frozen=True, kw_only=True, tag="restore", tag_field="op"):
    """A person's undo of supersede or archive."""

    id: str
    reason: str


class Noop(msgspec.Struct, frozen=True, kw_only=True, tag="noop", tag_field="op"):
    """Nothing is to change."""


Operation = Create | Update | Rescore | Retier | Supersede | Archive | Delete | Restore | Move | Set | Noop


def operation_name(operation: Operation) -> str:
    """Its name in JSON: `create`, `update`, ..."""
    return str(operation.__struct_config__.tag)


def target_of(operation: Operation) -> str | None:
    """The reference to the memory that it changes; None where it changes none."""
    return None if isinstance(operation, Create | Noop) else operation.id


def name_given(operation: Operation) -> str | None:
    """The name that it gives to a memory that was there before."""
    return operation.name if isinstance(operation, Move | Set) else None


def evidence_of(operation: Operation) -> tuple[Evidence, ...]:
    """What it cites; empty where it cites nothing, or may not."""
    if isinstance(operation, Create | Supersede):
        return operation.claim.evidence if operation.claim else ()
    return (operation.evidence or ()) if isinstance(operation, Update | Delete) else ()


def scope_named(items: Sequence[Any]) -> Scope | None:
    """The scope that a batch names, where its operations name just one that exists."""
    named = {item.get("scope") for item in items if isinstance(item, dict) and "scope" in item}
    return next((scope for scope in Scope if named == {scope}), None)


# --- the matrix ---


@dataclass(frozen=True)
class Rule:
    """One row of RULES 2. `one_of` asks for at least one of these; `person` keeps it from models."""

    make: Callable[..., Operation]
    needs: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    person: bool = False


_DETAILS: Final = (
    "title",
    "name",
    "project",
    "kind",
    "confidence",
    "score",
    "tier",
    "score_reason",
    "applies_to",
    "tags",
    "valid_from",
    "evidence",
)
_REWORDS: Final = ("title", "content", "applies_to", "tags", "evidence")
_RATES: Final = ("confidence", "score", "tier", "score_reason", "verdict")
_PLACE: Final = ("name", "section")
_SETS: Final = (*_REWORDS, *_RATES, *_PLACE, "kind", "check")


def _create(**fields: Any) -> Create:
    return Create(claim=Claim(**fields))


def _supersede(id: str, reason: str, by: str | None = None, **claim: Any) -> Supersede:
    if by is not None and claim:
        raise Refused("RULES 2", "is given beside 'by'; give one of 'by' and 'content'", field=next(iter(claim)))
    if by is None and "content" not in claim:
        raise Refused("RULES 2", "is missing; give 'by' (a name) or 'content' (the new text)", field="content")
    return Supersede(id=id, reason=reason, by=by, claim=Claim(**claim) if claim else None)


def _update(**fields: Any) -> Update:
    if fields.get("verdict", Verdict.VALID) is not Verdict.VALID and "reason" not in fields:
        raise Refused("RULES 2", "is missing; a verdict other than valid needs one", field="reason")
    return Update(**fields)


MATRIX: Final[Mapping[str, Rule]] = {
    "create": Rule(_create, needs=("scope", "section", "content"), may=_DETAILS),
    "update": Rule(_update, needs=("id",), may=(*_REWORDS, *_RATES, "reason"), one_of=(*_REWORDS, *_RATES)),
    "rescore": Rule(Rescore, needs=("id", "score", "reason")),
    "retier": Rule(Retier, needs=("id", "tier", "reason")),
    "supersede": Rule(_supersede, needs=("id", "reason"), may=("by", "scope", "section", "content", *_DETAILS)),
    "archive": Rule(Archive, needs=("id", "reason")),
    "delete": Rule(Delete, needs=("id", "reason"), may=("evidence",)),
    "restore": Rule(Restore, needs=("id", "reason"), person=True),
    "move": Rule(Move, needs=("id", "reason"), may=_PLACE, one_of=_PLACE, person=True),
    "set": Rule(Set, needs=("id", "reason"), may=_SETS, one_of=_SETS, person=True),
    "noop": Rule(Noop),
}


def decode(items: Sequence[Any], actor: str) -> tuple[dict[int, Operation], list[Reason]]:
    """The operations of a batch by number, and every reason why one is none (RULES 2). All reasons, not the first."""
    operations: dict[int, Operation] = {}
    reasons: list[Reason] = []
    for number, item in enumerate(items):
        found = _decode_one(item, actor)
        if isinstance(found, list):
            reasons += [fault.reason(number) for fault in found]
        else:
            operations[number] = found
    return operations, reasons


def _decode_one(item: Any, actor: str) -> Operation | list[Refused]:
    if not isinstance(item, dict):
        return [Refused("RULES 2", f"an operation is an object, not {shown_type(item)}")]
    op = item.get("op")
    rule = MATRIX.get(op) if isinstance(op, str) else None
    if rule is None:
        return [Refused("RULES 2", f"{op!r} is none of {', '.join(MATRIX)}", field="op")]
    if rule.person and not is_person(actor):
        return [Refused("RULES 2", f"{op} is for a person, not for {actor}", field="op")]
    given = {name: value for name, value in item.items() if name != "op"}
    faults = _check_fields(str(op), rule, given)
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name not in FIELDS:
            continue
        try:
            values[name] = FIELDS[name].read(value)
        except InvalidMemory as fault:
            faults.append(Refused("RULES 2", fault.message, field=name))
        except (ValueError, msgspec.ValidationError) as fault:
            faults.append(Refused("RULES 2", str(fault), field=name))
    if faults:
        return faults
    try:
        return rule.make(**values)
    except Refused as fault:
        return [fault]


def _check_fields(op: str, rule: Rule, given: Mapping[str, Any]) -> list[Refused]:
    faults = [
        Refused("RULES 2", f"is not a field that {op} may set; it takes {_listed(rule)}", field=name)
        for name in given
        if name not in rule.needs and name not in rule.may
    ]
    faults += [Refused("RULES 2", f"is missing; {op} needs it", field=name) for name in rule.needs if name not in given]
    if rule.one_of and not any(name in given for name in rule.one_of):
        faults.append(Refused("RULES 2", f"{op} changes nothing; give one of {', '.join(rule.one_of)}"))
    return faults


def _listed(rule: Rule) -> str:
    return ", ".join((*rule.needs, *rule.may)) or "no field"


def schema(*, person: bool = False) -> dict[str, Any]:
    """The JSON schema of `{"operations": [...]}` as models get it, or with what is for a `person`, too."""
    content = {} if person else {"content": {**FIELDS["content"].schema, "maxLength": MAX_PROPOSED}}
    variants = []
    for op, rule in MATRIX.items():
        if rule.person and not person:
            continue
        names = (*rule.needs, *rule.may)
        properties = {name: content.get(name, FIELDS[name].schema) for name in names}
        variants.append(
            {
                "type": "object",
                "properties": {"op": {"const": op}, **properties},
                "required": ["op", *rule.needs],
                "additionalProperties": False,
            }
        )
    return {
        "type": "object",
        "properties": {"operations": {"type": "array", "items": {"anyOf": variants}}},
        "required": ["operations"],
        "additionalProperties": False,
    }
