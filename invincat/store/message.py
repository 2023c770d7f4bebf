"""Messages of memory commits: a subject for people, what changed, trailers for programs (FORMAT "Commits")."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from invincat.memory.content import clip, one_line
from invincat.memory.entry import Source
from invincat.memory.evidence import Evidence
from invincat.memory.step import Step
from invincat.memory.view import Record

MAX_SUBJECT: Final = 120
# However long the names are, so much of the reason is to be read.
LEAST_ABOUT: Final = 42
# Operations after which the same memory may have another title.
_REWORDING: Final = frozenset({"update", "move"})
_TRAILER = re.compile(r"(?P<key>Invincat-[A-Za-z-]+): (?P<value>.+)")


@dataclass(frozen=True)
class Message:
    """A memory commit's message, read back. Commits that we did not write have no operation."""

    subject: str
    op: str | None
    memories: tuple[str, ...]
    successor: str | None
    actor: str | None
    session: str | None
    sources: tuple[str, ...]
    reason: str | None
    held: str | None
    proposal: str | None


@dataclass(frozen=True)
class Hold:
    """Why a person must decide first, and, in the last commit of the chain, the proposal as one line of JSON."""

    why: str
    proposal: str | None = None

    def trailers(self) -> list[tuple[str, str | None]]:
        """What makes a commit a held one."""
        return [("Invincat-Held", one_line(self.why)), ("Invincat-Proposed", self.proposal)]


def compose(step: Step, source: Source, held: Hold | None = None) -> str:
    """The message of one operation's commit."""
    subject, before, successor = step.subject, step.before, step.successor
    if subject is None:
        raise ValueError(f"a commit of {step.op} has a subject")
    head = f"{step.op} {subject.label}" + (f" by {successor.label}" if successor else "")
    if step.op == "move" and before:
        head = f"move {before.label} to {subject.label}"
    said = successor or (subject if step.op in {"create", "restore", *_REWORDING} else None)
    about = one_line(step.reason or (said or subject).memory.title)
    lines = [clip(f"{head}: {about}", max(MAX_SUBJECT, len(head) + LEAST_ABOUT)), ""]
    lines += [f"- {title}" for title in _left(step, before)]
    lines += [f"+ {title}" for title in _came(step, before, said)]
    lines += [f"! {path} is now {record.label}" for path, record in step.renamed]
    trailers = [
        ("Invincat-Op", step.op),
        ("Invincat-Memory", subject.id),
        ("Invincat-Successor", successor.id if successor else None),
        *_origin(source),
        *(("Invincat-Source", item.at) for item in _cited(step)),
        ("Invincat-Reason", one_line(step.reason) if step.reason else None),
        *(held.trailers() if held else ()),
    ]
    return _joined(lines, trailers)


def compose_scores(steps: Sequence[Step], source: Source, held: Hold | None = None) -> str:
    """The message of the one commit that the score-only operations of a batch share."""
    subjects = [step.subject for step in steps if step.subject]
    if len(subjects) == 1:
        return compose(steps[0], source, held)
    lines = [f"score {len(subjects)} memories", ""]
    lines += [f"* {record.label}: {record.memory.score} {record.memory.tier}" for record in subjects]
    trailers = [
        ("Invincat-Op", "score"),
        *(("Invincat-Memory", record.id) for record in subjects),
        *_origin(source),
        *(("Invincat-Reason", one_line(reason)) for reason in dict.fromkeys(step.reason for step in steps) if reason),
        *(held.trailers() if held else ()),
    ]
    return _joined(lines, trailers)


def read(text: str) -> Message:
    """What a commit's message says; trailers count only in its last paragraph, as git has it."""
    last = text.rstrip().rpartition("\n\n")[2]
    found: dict[str, list[str]] = {}
    for line in last.split("\n"):
        if match := _TRAILER.fullmatch(line):
            found.setdefault(match["key"].removeprefix("Invincat-").lower(), []).append(match["value"])

    def first(key: str) -> str | None:
        return found.get(key, [None])[0]

    return Message(
        subject=text.partition("\n")[0],
        op=first("op"),
        memories=tuple(found.get("memory", ())),
        successor=first("successor"),
        actor=first("actor"),
        session=first("session"),
        sources=tuple(found.get("source", ())),
        reason=first("reason"),
        held=first("held"),
        proposal=first("proposed"),
    )


def said(text: str) -> list[str]:
    """The lines of a message between its subject and its trailers."""
    _, *paragraphs = text.strip().split("\n\n")
    if paragraphs and _TRAILER.search(paragraphs[-1]):
        paragraphs.pop()
    return "\n\n".join(paragraphs).splitlines()


def _cited(step: Step) -> tuple[Evidence, ...]:
    """What the operation rests on; of a supersession by a memory that was there, what that one rests on."""
    return step.evidence or (step.successor.memory.source.evidence if step.successor else ())


def _left(step: Step, before: Record | None) -> list[str]:
    """Titles that are believed no more."""
    if before is None or step.failure:
        return []
    if step.op in {"supersede", "archive", "delete"}:
        return [before.memory.title]
    changed = step.subject is not None and step.subject.memory.title != before.memory.title
    return [before.memory.title] if step.op in _REWORDING and changed else []


def _came(step: Step, before: Record | None, said: Record | None) -> list[str]:
    """Titles that are believed from now on."""
    if said is None:
        return []
    unchanged = step.op in _REWORDING and before is not None and before.memory.title == said.memory.title
    return [] if unchanged else [said.memory.title]


def _origin(source: Source) -> list[tuple[str, str | None]]:
    return [("Invincat-Actor", source.actor), ("Invincat-Session", source.session)]


def _joined(lines: Sequence[str], trailers: Sequence[tuple[str, str | None]]) -> str:
    body = "\n".join(lines).rstrip("\n")
    tail = "\n".join(f"{key}: {value}" for key, value in trailers if value)
    return f"{body}\n\n{tail}\n"
