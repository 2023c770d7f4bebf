"""Whether a store is sound: every finding with file, line and rule (HOOKS_AND_REVIEW "Review", `check`)."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from invincat.governance import hidden, secrets
from invincat.governance.grounding import Standing
from invincat.memory.entry import Memory, Verdict
from invincat.memory.naming import RESERVED, section_slug, settle
from invincat.memory.register import FIXED_KEYS, SCORE_KEYS, TEXT_KEYS
from invincat.memory.scope import Scope
from invincat.memory.view import Record, View

_CONFLICT: Final = re.compile(r"^(?:<{7} |\|{7} |={7}$|>{7} )", re.MULTILINE)
# What leaves the tree, means git's own folder on some system, or is no name there.
_UNSAFE: Final = re.compile(
    r"\.{1,2}|\.git(?:\W.*)?|git~\d+|.*[\x00-\x1f\x7f\\:*?\"<>|].*|.*[. ]"
    rf"|(?:{'|'.join(sorted(RESERVED))})(?:\..*)?",
    re.IGNORECASE | re.DOTALL,
)


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One fault: the rule, the file, its line (0: the whole file), what is wrong."""

    rule: str
    path: str
    line: int
    message: str


class _Fault(NamedTuple):
    """A fault of a memory, and the key whose line it is about."""

    rule: str
    key: str | None
    message: str


def check(
    view: View,
    scope: Scope,
    now: datetime,
    files: Iterable[tuple[str, bytes | None]],
    before: Sequence[Mapping[str, Memory]] = (),
) -> list[Finding]:
    """All faults of a view, by path. `now` tells which times lie in the future.

    `files` are all files of the tree with their bytes (None: unreadable): what no parser keeps is looked at too.
    `before` has for each parent of the commit the memories, by path, that the commit changed or removed.
    """
    found = [
        Finding(rule=problem.rule, path=problem.path, line=problem.line, message=problem.message)
        for problem in view.problems
    ]
    faults: dict[str, list[_Fault]] = {}
    for record in view:
        if some := [*_record_faults(record, scope, now), *_edge_faults(view, record), *_marker_faults(view, record)]:
            faults[record.path] = some
    for path, fault in _moved_faults(view, before):
        faults.setdefault(path, []).append(fault)
    paths, skipped = [], {problem.path for problem in view.problems}
    for path, data in files:
        paths.append(path)
        if data is None:
            if path not in skipped:
                found.append(Finding(rule="FORMAT tree", path=path, line=0, message="cannot be read"))
            continue
        text = data.decode("utf-8", "replace")
        found += _text_faults(path, text)
        for rule, key, message in faults.pop(path, ()):
            found.append(Finding(rule=rule, path=path, line=_line_of(key, text), message=message))
    for path, some in faults.items():
        found += [Finding(rule=rule, path=path, line=0, message=message) for rule, _, message in some]
    found += [*_name_faults(view), *_path_faults(paths)]
    return sorted(found, key=lambda finding: (finding.path, finding.line, finding.rule))


def ungrounded(records: Iterable[Record], standings: Mapping[str, Standing]) -> list[Finding]:
    """The active memories whose evidence does not stand at HEAD (RULES 12), by path."""
    found = [
        Finding(rule="RULES 12", path=record.path, line=0, message=f"does not hold here ({mark})")
        for record in records
        if record.is_active and (mark := standings[record.id].mark)
    ]
    return sorted(found, key=lambda finding: finding.path)


def _line_of(key: str | None, text: str) -> int:
    """The line on which a key of the front matter stands; 0 when it does not."""
    place = text.find(f"\n{key}:") if key else -1
    return text.count("\n", 0, place) + 2 if place >= 0 else 0


def _record_faults(record: Record, scope: Scope, now: datetime) -> Iterator[_Fault]:
    memory = record.memory
    if memory.scope is not scope:
        yield _Fault("RULES 7", "scope", f"is of the {memory.scope} scope in the {scope} store")
    folder = record.path.split("/")[1]
    if section_slug(memory.section) != folder:
        yield _Fault("FORMAT section", "section", f"stands in {folder}, its section is {memory.section!r}")
    for field in ("created_at", "updated_at", "last_scored_at", "valid_from"):
        if getattr(memory, field) > now:
            yield _Fault("RULES 6.2", field, f"{field} is in the future")
    if memory.is_active and memory.verdict is not Verdict.VALID:
        yield _Fault("RULES 4 cleanup", "verdict", f"is active although its verdict is {memory.verdict}")


def _marker_faults(view: View, record: Record) -> Iterator[_Fault]:
    marker = view.markers.get(record.id)
    if marker and (marker.purged or record.memory.updated_at <= marker.updated_at):
        yield _Fault("RULES 6.3", "id", f"is there although {marker.path} says that it was deleted")


def _moved_faults(view: View, before: Sequence[Mapping[str, Memory]]) -> Iterator[tuple[str, _Fault]]:
    """What a commit did to its parents' memories that no operation and no merge of ours does (RULES 6)."""
    bad = {problem.path for problem in view.problems}
    for changed in before:
        for path, old in changed.items():
            record = view.records.get(old.id)
            if record:
                faults = _changed_faults(old, record.memory, is_merge=len(before) > 1)
                yield from ((record.path, fault) for fault in faults)
            elif old.id not in view.markers and path not in bad:
                yield path, _Fault("RULES 6.3", None, f"is gone, and deleted/{old.id}.md does not say why")


def _changed_faults(old: Memory, new: Memory, *, is_merge: bool) -> Iterator[_Fault]:
    for key in FIXED_KEYS:
        if getattr(old, key) != getattr(new, key):
            yield _Fault("RULES 6.1", key, f"{key} differs from the parent commit's; it never changes")
    for clock, keys in (("updated_at", TEXT_KEYS), ("last_scored_at", SCORE_KEYS)):
        then, now = getattr(old, clock), getattr(new, clock)
        if now < then:
            yield _Fault("RULES 6.2", clock, f"{clock} is earlier than in the parent commit")
        # Of two sides of a merge with one stamp, one wins.
        elif now == then and not is_merge and any(getattr(old, key) != getattr(new, key) for key in keys):
            yield _Fault("RULES 6.6", clock, f"what it dates was changed, {clock} was not")
    if not old.is_active and new.is_active and new.restores <= old.restores:
        yield _Fault("RULES 6.6", "invalid_at", "was retired and is active again, but nobody restored it")


def _edge_faults(view: View, record: Record) -> Iterator[_Fault]:
    """Dangling and cyclic supersession (RULES 1.8)."""
    seen = {record.id}
    following = record.memory.superseded_by
    if following and following not in view.records and following not in view.markers:
        yield _Fault("RULES 1.4", "superseded_by", f"is superseded by {following}, which does not exist")
    while following and (successor := view.records.get(following)):
        if successor.id == record.id:
            yield _Fault("RULES 1.8", "superseded_by", "is superseded, in the end, by itself")
        if successor.id in seen:
            return
        seen.add(successor.id)
        following = successor.memory.superseded_by


def _text_faults(path: str, text: str) -> Iterator[Finding]:
    for secret in secrets.scan(text):
        message = "looks like a secret; it is in the history too"
        yield Finding(rule=secret.rule, path=path, line=secret.line, message=message)
    for mark in hidden.find_hidden(text):
        message = f"has a hidden character ({mark.kind})"
        yield Finding(rule="RULES 4 hidden", path=path, line=mark.line, message=message)
    for conflict in _CONFLICT.finditer(text):
        line = text.count("\n", 0, conflict.start()) + 1
        yield Finding(rule="RULES 6.8", path=path, line=line, message="has a conflict marker of git")


def _name_faults(view: View) -> Iterator[Finding]:
    for wanted, ids in view.wanted.items():
        for id, name in settle(wanted, ids, view.blocked).items():
            record = view.records[id]
            if record.name != name and id not in view.twins:
                message = f"should be called {name} (the least id has the name that several want)"
                yield Finding(rule="RULES 6.4", path=record.path, line=0, message=message)


def _path_faults(paths: Iterable[str]) -> Iterator[Finding]:
    """Paths that cannot be checked out everywhere, or would lead out of the tree (FORMAT "Tree")."""
    first: dict[str, str] = {}
    for path in paths:
        if any(_UNSAFE.fullmatch(name) for name in path.split("/")):
            yield Finding(rule="FORMAT tree", path=path, line=0, message="is a path that is not safe on every system")
        twin = first.setdefault(unicodedata.normalize("NFC", path).casefold(), path)
        if twin != path:
            message = f"differs from {twin} only in ways that some file systems do not see"
            yield Finding(rule="FORMAT tree", path=path, line=0, message=message)
