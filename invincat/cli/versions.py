"""The versions of one memory: what each commit changed in it, value by value."""

from collections.abc import Iterator
from typing import Any

import click

from invincat.cli.output import print_json, say
from invincat.cli.subject import Subject
from invincat.cli.telling import field_lines
from invincat.memory.difference import FieldChange, compare
from invincat.memory.entry import Memory, format_time
from invincat.memory.view import View
from invincat.store.history import Touch, history_of


def print_versions(subject: Subject, *, as_json: bool) -> None:
    """What each commit changed in a memory, newest first."""
    versions = list(_versions(subject))
    if as_json:
        print_json({"id": subject.id, "name": subject.name, "versions": versions})
        return
    view = subject.ledger.view()
    for number, version in enumerate(versions):
        if number:
            click.echo()
        who = version["author"] + (f" ({version['actor']})" if version["actor"] else "")
        say(f"{version['commit'][:7]}  {version['time'][:10]}  {who}  {version['event']}", indent=9)
        if version["reason"]:
            say(f"    why: {version['reason']}", indent=6)
        for line in field_lines(_named(field, view) for field in version["fields"]):
            say(f"    {line}", indent=6)


def _named(field: FieldChange, view: View) -> FieldChange:
    """A successor by its name, where it still has one."""
    if field.key != "superseded_by":
        return field
    old, new = ((found.name if (found := view.find(id or "")) else id) for id in (field.old, field.new))
    return FieldChange(field.key, old, new)


def _versions(subject: Subject) -> Iterator[dict[str, Any]]:
    """Each commit that touched the memory: when, who, why, and the values that it changed."""
    store = subject.ledger.store
    tip = subject.ledger.tip()
    path = subject.record.path if subject.record else None
    touches = list(history_of(store, tip, subject.id, path)) if tip else []
    blobs = {state.blob for touch in touches for state in (touch.before, touch.after) if state.blob}
    memories = subject.ledger.reader.memories(sorted(blobs))
    for touch in touches:
        before, after = (memories.get(state.blob or "") for state in (touch.before, touch.after))
        yield {
            "commit": touch.commit.id,
            "time": format_time(touch.commit.time),
            "author": touch.commit.author.name,
            "actor": touch.message.actor,
            "op": touch.message.op,
            "reason": touch.message.reason,
            "event": _event(touch, readable=after is not None),
            "path": touch.after.path,
            "blob": touch.after.blob,
            "fields": _fields(touch, before, after),
        }


def _event(touch: Touch, *, readable: bool) -> str:
    before, after = touch.before, touch.after
    if after.path is None:
        return "deleted" if after.marker else "removed without a marker"
    if not readable:
        return f"{after.path} cannot be read as a memory"
    if before.path is None:
        return f"{'back after its deletion' if before.marker else 'created'} as {after.path}"
    if before.path != after.path:
        return f"moved from {before.path} to {after.path}"
    return touch.message.op or "changed by hand"


def _fields(touch: Touch, before: Memory | None, after: Memory | None) -> tuple[FieldChange, ...]:
    if before and after:
        return compare(before, after)
    # The first version stands for itself: what a person wants to see of it is what it claims.
    if after and touch.before.path is None:
        return tuple(FieldChange(key, None, getattr(after, key)) for key in ("title", "body") if getattr(after, key))
    if before and touch.after.path is None:
        return tuple(FieldChange(key, getattr(before, key), None) for key in ("title", "body") if getattr(before, key))
    return ()
