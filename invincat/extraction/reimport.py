"""What an import of a convention file changes in a store that may know the file already (CLI `import`)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from rapidfuzz import fuzz

from invincat.extraction.conventions import Rule
from invincat.governance.quoting import Quotable
from invincat.memory.content import fingerprint, normalise, split_content
from invincat.memory.evidence import FileLines, file_location
from invincat.memory.lifecycle import heir
from invincat.memory.scope import Scope
from invincat.memory.view import Record, View

Operation: TypeAlias = dict[str, Any]
# What a rule rests on: its quotes, normalised. The first is the rule's own words.
_Key: TypeAlias = tuple[str, ...]

BINDING_SCORE: Final = 70
PLAIN_SCORE: Final = 50
# Two wordings at least this alike (rapidfuzz `ratio`, 0 to 100) are one rule that was reworded. Over the edits of
# convention files in 328 commits, 60 found 361 of 409 rewordings with 44 other pairs, most of which read as rewordings
# too; 50 found 384 with 78, 70 found 308 with 30. A miss costs a create beside a proposal to archive, no more.
REWORDED: Final = 60.0
SAME_SECTION: Final = 5.0
BLOB_LENGTH: Final = 12


@dataclass(frozen=True)
class KeptOut:
    """A rule of a file that is not taken over: the memory (by id) that said it has ended, or was deleted."""

    at: str
    words: str
    id: str


@dataclass(frozen=True)
class ImportPlan:
    """Operations to apply, and archive operations that only a person may decide on; both as in CLI "operations"."""

    operations: tuple[Operation, ...] = ()
    archive_proposals: tuple[Operation, ...] = ()
    kept_out: tuple[KeptOut, ...] = ()


def plan_import(view: View, path: str, text: str, rules: Sequence[Rule], blob: str) -> ImportPlan:
    """How the store follows the file at `path` (object id `blob`), in whose `text` stand these rules.

    Unchanged rules, also when only their lines moved or a person has edited the memory since: nothing. Changed
    wording: a supersede. New: a create. Gone from the text: a proposal to archive. Equal to a memory that was retired
    or deleted: nothing but a word of it, unless what retired it was this file, which now says again what it said
    before. Planning again after the plan was applied gives nothing.
    """
    file = _File(view, path)
    fresh: list[Rule] = []
    kept: set[str] = set()
    for rule in _distinct(rules):
        if (known := file.holding(rule)) is not None:
            kept.add(known.memory.id)
        else:
            fresh.append(rule)
    gone = {record.id: record for record in file.active if record.id not in kept}
    reverted: dict[str, Rule] = {}
    wanted: list[Rule] = []
    kept_out: list[KeptOut] = []
    for rule in fresh:
        retired = file.retired_as(rule)
        ended = retired[-1].id if retired else file.deleted_as(rule)
        heirs = [heir for record in retired if (heir := file.heir(record)) in gone and heir not in reverted]
        if heirs and heirs[-1] is not None:
            reverted[heirs[-1]] = rule
        elif ended:
            at = file_location(path, rule.first_line, rule.last_line)
            kept_out.append(KeptOut(at, rule.text, ended))
        else:
            wanted.append(rule)
    pairs = reverted | _pair(wanted, [record for memory_id, record in gone.items() if memory_id not in reverted])
    old = {id(rule): memory_id for memory_id, rule in pairs.items()}
    new = {id(rule) for rule in wanted}
    operations = [
        _supersede(old[id(rule)], path, rule, blob) if id(rule) in old else _create(path, rule, blob)
        for rule in fresh
        if id(rule) in old or id(rule) in new
    ]
    whole = Quotable(text)
    # Words that stand there still, which an earlier version took for a rule, are nobody's change.
    unsaid = (record for memory_id, record in gone.items() if memory_id not in pairs)
    proposals = [_archive(record, path) for record in unsaid if not all(map(whole.has, _quotes(record, path)))]
    return ImportPlan(tuple(operations), tuple(proposals), tuple(kept_out))


def imported_paths(view: View) -> set[str]:
    """The files that active imported memories rest on, those that are gone meanwhile among them."""
    return {
        place.path
        for record in view.active()
        if record.memory.source.actor == "import"
        for item in record.memory.source.evidence
        if isinstance(place := item.location, FileLines)
    }


def not_said_elsewhere(view: View, proposals: Iterable[Operation], rules: Iterable[Rule]) -> list[Operation]:
    """The proposals to archive that are left when all files are read: a rule may have moved to another one."""
    said = {_fingerprint(rule) for rule in rules}
    return [item for item in proposals if view.records[item["id"]].fingerprint not in said]


class _File:
    """The memories that came from one file, and what else the view holds."""

    def __init__(self, view: View, path: str) -> None:
        self._view = view
        mine = [(record, key) for record in view if (key := _key_of(record, path))]
        self.active = [record for record, _ in mine if record.is_active]
        self._by_key = {key: record for record, key in mine if record.is_active}
        self._by_content = {record.fingerprint: record for record in self.active}
        self._keys = {record.id: key for record, key in mine}

    def holding(self, rule: Rule) -> Record | None:
        """The active memory that already says this."""
        content = _fingerprint(rule)
        quoted = self._by_key.get(_key(rule))
        # Where the quotes do not have all its words, only a memory that nobody has edited since shows a change.
        if quoted is not None and not rule.is_quoted_whole and quoted.memory.updated_at == quoted.memory.created_at:
            quoted = None
        return quoted or self._by_content.get(content) or self._view.equal_to(content)

    def retired_as(self, rule: Rule) -> list[Record]:
        """The retired memories that said this: by content, or imported from these very words."""
        content, key = _fingerprint(rule), _key(rule)
        return [
            record
            for record in self._view
            if not record.is_active and (record.fingerprint == content or self._keys.get(record.id) == key)
        ]

    def deleted_as(self, rule: Rule) -> str | None:
        """The id of the deleted memory that said this."""
        marker = self._view.deleted_saying(_fingerprint(rule))
        return marker.id if marker else None

    def heir(self, record: Record) -> str | None:
        """The id of the active memory at the end of what superseded it."""
        found = heir(self._view, record)
        return found.id if found else None


def _distinct(rules: Iterable[Rule]) -> list[Rule]:
    """Each rule once: of equal ones the first counts."""
    return list({_fingerprint(rule): rule for rule in reversed(list(rules))}.values())[::-1]


def _fingerprint(rule: Rule) -> str:
    return fingerprint(*split_content(rule.text))


def _key(rule: Rule) -> _Key:
    return tuple(normalise(quote.words) for quote in rule.quotes)


def _key_of(record: Record, path: str) -> _Key:
    """The quotes that an imported memory rests on in this file; empty when it did not come from it."""
    return tuple(map(normalise, _quotes(record, path))) if record.memory.source.actor == "import" else ()


def _quotes(record: Record, path: str) -> list[str]:
    places = ((item.location, item.quote) for item in record.memory.source.evidence)
    return [quote or "" for place, quote in places if isinstance(place, FileLines) and place.path == path]


def _pair(rules: Sequence[Rule], records: Sequence[Record]) -> dict[str, Rule]:
    """Which memory (by id) became which rule: one to one, the most alike first."""
    scored = sorted(
        (
            (-score, place, position)
            for place, record in enumerate(records)
            for position, rule in enumerate(rules)
            if (score := _likeness(record, rule)) >= REWORDED
        ),
    )
    paired: dict[int, int] = {}
    taken: set[int] = set()
    for _, place, position in scored:
        if place not in paired and position not in taken:
            paired[place] = position
            taken.add(position)
    return {records[place].memory.id: rules[position] for place, position in paired.items()}


def _likeness(record: Record, rule: Rule) -> float:
    memory = record.memory
    said = normalise(" ".join(item.quote or "" for item in memory.source.evidence[:1]))
    score = max(likeness(said, normalise(rule.quote)), likeness(normalise(memory.title), normalise(rule.text)))
    return score + (SAME_SECTION if score >= REWORDED and memory.section == rule.section else 0.0)


def likeness(old: str, new: str) -> float:
    """How alike two wordings are, 0 to 100."""
    return fuzz.ratio(old, new)


def _create(path: str, rule: Rule, blob: str) -> Operation:
    return {"op": "create", **_content(path, rule, blob)}


def _supersede(old: str, path: str, rule: Rule, blob: str) -> Operation:
    return {"op": "supersede", "id": old, "reason": f"{_name(path)} now says so", **_content(path, rule, blob)}


def _archive(record: Record, path: str) -> Operation:
    return {"op": "archive", "id": record.id, "reason": f"{_name(path)} no longer says so"}


def _content(path: str, rule: Rule, blob: str) -> Operation:
    return {
        "scope": Scope.PROJECT.value,
        "section": rule.section,
        "content": rule.text,
        "kind": rule.kind.value,
        "score": BINDING_SCORE if rule.binding else PLAIN_SCORE,
        "score_reason": f"{'binding' if rule.binding else 'written down'} in {_name(path)}",
        "applies_to": list(rule.globs),
        "evidence": [
            {
                "at": file_location(path, quote.first_line, quote.last_line),
                "blob": blob[:BLOB_LENGTH],
                "quote": quote.words,
            }
            for quote in rule.quotes
        ],
    }


def _name(path: str) -> str:
    """The path, short enough for a reason."""
    return path if len(path) <= 200 else f"…{path[-199:]}"
