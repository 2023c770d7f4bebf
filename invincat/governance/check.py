"""Whether a store is sound: every finding with file, line and rule (HOOKS_AND_REVIEW "Review", `check`)."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

import msgspec

from invincat.governance import hidden, secrets
from invincat.memory.entry import Verdict
from invincat.memory.naming import section_slug, settle
from invincat.memory.scope import Scope
from invincat.memory.view import Record, View

_CONFLICT: Final = re.compile(r"^(?:<{7} |={7}$|>{7} )", re.MULTILINE)


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One fault: the rule, the file, its line (0: the whole file), what is wrong."""

    rule: str
    path: str
    line: int
    message: str


def check(view: View, scope: Scope, now: datetime, files: Iterable[tuple[str, bytes]]) -> list[Finding]:
    """All faults of a view, by path. `now` tells which times lie in the future.

    `files` are all files of the tree with their bytes: what no parser keeps is looked at too.
    """
    found = [
        Finding(rule=problem.rule, path=problem.path, line=problem.line, message=problem.message)
        for problem in view.problems
    ]
    for record in view:
        for rule, message in (*_record_faults(record, scope, now), *_edge_faults(view, record)):
            found.append(Finding(rule=rule, path=record.path, line=0, message=message))
    for path, data in files:
        found += _text_faults(path, data.decode("utf-8", "replace"))
    found += _name_faults(view)
    return sorted(found, key=lambda finding: (finding.path, finding.line, finding.rule))


def _record_faults(record: Record, scope: Scope, now: datetime) -> Iterator[tuple[str, str]]:
    memory = record.memory
    if memory.scope is not scope:
        yield "RULES 7", f"is of the {memory.scope} scope in the {scope} store"
    folder = record.path.split("/")[1]
    if section_slug(memory.section) != folder:
        yield "FORMAT section", f"stands in {folder}, its section is {memory.section!r}"
    for field in ("created_at", "updated_at", "last_scored_at", "valid_from"):
        if getattr(memory, field) > now:
            yield "RULES 6.2", f"{field} is in the future"
    if memory.is_active and memory.verdict is not Verdict.VALID:
        yield "RULES 4 cleanup", f"is active although its verdict is {memory.verdict}"


def _edge_faults(view: View, record: Record) -> Iterator[tuple[str, str]]:
    """Dangling and cyclic supersession (RULES 1.8)."""
    seen = {record.id}
    following = record.memory.superseded_by
    if following and following not in view.records and following not in view.markers:
        yield "RULES 1.4", f"is superseded by {following}, which does not exist"
    while following and (successor := view.records.get(following)):
        if successor.id == record.id:
            yield "RULES 1.8", "is superseded, in the end, by itself"
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
            if record.name != name:
                message = f"should be called {name} (the least id has the name that several want)"
                yield Finding(rule="RULES 6.4", path=record.path, line=0, message=message)
