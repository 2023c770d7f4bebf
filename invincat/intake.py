"""From evidence to proposals, without a model: convention files, transcripts and commits (RULES 5.5).

Each fact is a batch of its own, so that one that is refused does not take the others with it; an import is one batch,
from which what the gate refuses is left out and named.
"""

import os
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from invincat.errors import UserError
from invincat.extraction.conventions import Rule, convention_files, rules_in
from invincat.extraction.extractor import Extraction, Message, from_commit, from_transcript
from invincat.extraction.reimport import KeptOut, imported_paths, not_said_elsewhere, plan_import
from invincat.governance.grounding import Grounds, Heard
from invincat.governance.redaction import redact
from invincat.ledger import Ledger, held_chain
from invincat.memory.entry import Source as Origin
from invincat.memory.evidence import FileLines
from invincat.memory.proposal import Proposal
from invincat.memory.refusal import Reason
from invincat.memory.scope import Scope
from invincat.memory.view import Record, View
from invincat.outcome import Outcome
from invincat.store.base import PROPOSALS, REJECTED
from invincat.store.source import CodeCommit, Source

MAX_FILE = 1024 * 1024


@dataclass(frozen=True)
class Imported:
    """What an import did: rules found by file, the outcome (None: nothing to do), what was refused, what is held.

    `skipped` says of each file that could not be read why; its memories stay as they are. `kept_out` are rules that a
    memory said which has ended, or was deleted.
    """

    rules: Mapping[str, int]
    outcome: Outcome | None = None
    refused: tuple[Reason, ...] = ()
    archive: tuple[Outcome, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    kept_out: tuple[KeptOut, ...] = ()


def import_conventions(
    ledger: Ledger,
    source: Source,
    origin: Origin,
    grounds: Grounds,
    paths: Sequence[str] = (),
    *,
    dry_run: bool = False,
) -> Imported:
    """Take over the rules that these files, by default all convention files, write down (CLI `import`).

    By default also files that are gone, as far as active imported memories rest on them: these are proposed for
    archiving. A file that is there and cannot be read changes nothing. UserError for a given path that is no file.
    """
    rules: dict[str, int] = {}
    skipped: dict[str, str] = {}
    operations: list[Any] = []
    gone: list[Any] = []
    kept_out: list[KeptOut] = []
    said: list[Rule] = []
    read: set[str] = set()
    view = ledger.view()
    listed = frozenset() if paths else frozenset(source.files())
    for path in paths or convention_files(listed | imported_paths(view)):
        data = source.read(path)
        if data is None and paths:
            raise UserError("there is no such file in the repository", where=path)
        if data is None and _is_in_place(source, path, listed):
            skipped[path] = "is no regular file inside the repository, or cannot be read"
            continue
        try:
            text = (data or b"").decode("utf-8")
        except UnicodeDecodeError:
            skipped[path] = "is not UTF-8"
            continue
        if len(text) > MAX_FILE:
            skipped[path] = f"is larger than {MAX_FILE} characters"
            continue
        found = rules_in(text, path)
        if data is not None:
            rules[path] = len(found)
        said += found
        read.add(path)
        plan = plan_import(view, path, text, found, source.blob_id(data or b"")[:10])
        operations += plan.operations
        gone += plan.archive_proposals
        kept_out += plan.kept_out
    outcome, refused = _submit_without_refused(ledger, operations, origin, grounds, dry_run=dry_run)
    retired = not_said_elsewhere(view, gone, said)
    if not dry_run:
        _withdraw(ledger, view, read, {item["id"] for item in retired})
    held = [
        ledger.submit(Proposal((item,), Scope.PROJECT, origin, hold=item["reason"]), grounds, dry_run=dry_run)
        for item in retired
    ]
    return Imported(rules, outcome, refused, tuple(held), skipped, tuple(kept_out))


def _withdraw(ledger: Ledger, view: View, read: Container[str], gone: Container[str]) -> None:
    """Take back proposals to archive, and forget refusals of them, where the file says the rule again."""
    for prefix in (PROPOSALS, REJECTED):
        for ref, tip in ledger.store.refs(prefix).items():
            for _, message in held_chain(ledger.store, tip):
                record = view.records.get(message.memories[0]) if message.memories else None
                is_import = message.actor == "import" and message.op == "archive"
                if is_import and record and record.id not in gone and _came_from(record, read):
                    ledger.withdraw(ref)


def _came_from(record: Record, paths: Container[str]) -> bool:
    places = (item.location for item in record.memory.source.evidence)
    return any(isinstance(place, FileLines) and place.path in paths for place in places)


def _is_in_place(source: Source, path: str, listed: frozenset[str]) -> bool:
    """Whether anything stands at a path, readable or not: in the work tree, or in what a bare repository lists."""
    root = source.repository.root
    return path in listed if root is None else os.path.lexists(root / path)


def _submit_without_refused(
    ledger: Ledger, operations: list[Any], origin: Origin, grounds: Grounds, *, dry_run: bool
) -> tuple[Outcome | None, tuple[Reason, ...]]:
    """Submit a batch; what a rule refuses is taken out and the rest submitted again, until it goes through.

    The reasons name the place of each rule in its file: nobody knows the numbers of the operations.
    """
    refused: dict[Reason, None] = {}
    while operations:
        outcome = ledger.submit(Proposal(tuple(operations), Scope.PROJECT, origin), grounds, dry_run=dry_run)
        if outcome.verdict != "rejected":
            return outcome, tuple(refused)
        bad = [(reason.operation, reason) for reason in outcome.reasons if reason.operation is not None]
        # A check of whole files names no operation, so each is asked about by itself.
        bad = bad or _refused_alone(ledger, operations, origin, grounds)
        if not bad:
            return outcome, (*refused, *outcome.reasons)
        refused |= {_placed(reason, operations[number]): None for number, reason in bad}
        gone = {number for number, _ in bad}
        operations = [item for number, item in enumerate(operations) if number not in gone]
    return None, tuple(refused)


def _refused_alone(
    ledger: Ledger, operations: Sequence[Any], origin: Origin, grounds: Grounds
) -> list[tuple[int, Reason]]:
    tried = (
        (number, ledger.submit(Proposal((item,), Scope.PROJECT, origin), grounds, dry_run=True))
        for number, item in enumerate(operations)
    )
    return [(number, reason) for number, one in tried if one.verdict == "rejected" for reason in one.reasons]


def _placed(reason: Reason, operation: Any) -> Reason:
    """The reason with `AGENTS.md#L12` for the operation's number; a path may be what was refused, so it is redacted."""
    return replace(reason, operation=None, field=redact(operation["evidence"][0]["at"]))


def extract_transcript(
    messages: Sequence[Message],
    ledger_of: Callable[[Scope], Ledger],
    origin: Origin,
    grounds_of: Callable[[Mapping[int, Heard]], Grounds],
    project: str | None,
    *,
    dry_run: bool = False,
) -> list[Outcome]:
    """Run the rules extractor over a conversation: explicit requests are committed, the rest waits for a person.

    `project` is the key of the project that it was held in, None outside of one.
    """
    turns = {message.number: Heard(message.role, message.text, message.tool) for message in messages}
    return _submit(from_transcript(messages, project), ledger_of, origin, grounds_of(turns), dry_run=dry_run)


def extract_commit(
    commit: CodeCommit,
    ledger_of: Callable[[Scope], Ledger],
    origin: Origin,
    grounds: Grounds,
    *,
    dry_run: bool = False,
) -> list[Outcome]:
    """Run the rules extractor over a commit: its `Memory:` trailers."""
    return _submit(from_commit(commit.id, commit.message, commit.trailers), ledger_of, origin, grounds, dry_run=dry_run)


def _submit(
    found: Extraction, ledger_of: Callable[[Scope], Ledger], origin: Origin, grounds: Grounds, *, dry_run: bool
) -> list[Outcome]:
    asked = [
        *((item, None) for item in found.commits),
        *((item, "said in passing, not asked to be remembered; a person decides") for item in found.holds),
    ]
    outcomes = []
    for item, hold in asked:
        scope = Scope(item["scope"])
        outcomes.append(ledger_of(scope).submit(Proposal((item,), scope, origin, hold), grounds, dry_run=dry_run))
    return outcomes
