"""From evidence to proposals, without a model: convention files, transcripts and commits (RULES 5.5).

Each fact is a batch of its own, so that one that is refused does not take the others with it; an import is one batch,
from which what the gate refuses is left out and named.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from invincat.errors import UserError
from invincat.extraction.conventions import convention_files, rules_in
from invincat.extraction.extractor import Extraction, Message, from_commit, from_transcript
from invincat.extraction.reimport import plan_import
from invincat.governance.grounding import Grounds, Heard
from invincat.ledger import Ledger, Outcome
from invincat.memory.entry import Source as Origin
from invincat.memory.proposal import Proposal
from invincat.memory.refusal import Reason
from invincat.memory.scope import Scope
from invincat.store.source import CodeCommit, Source

MAX_FILE = 1024 * 1024


@dataclass(frozen=True)
class Imported:
    """What an import did: rules found by file, the outcome (None: nothing to do), what was refused, what is held."""

    rules: Mapping[str, int]
    outcome: Outcome | None = None
    refused: tuple[Reason, ...] = ()
    archive: tuple[Outcome, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)


def import_conventions(
    ledger: Ledger,
    source: Source,
    origin: Origin,
    grounds: Grounds,
    paths: Sequence[str] = (),
    *,
    dry_run: bool = False,
) -> Imported:
    """Take over the rules that these files, by default all convention files, write down (CLI `import`)."""
    rules: dict[str, int] = {}
    skipped: dict[str, str] = {}
    operations: list[Any] = []
    gone: list[Any] = []
    view = ledger.view()
    for path in paths or convention_files(source.files()):
        data = source.read(path)
        if data is None and paths:
            raise UserError("there is no such file in the repository", where=path)
        try:
            text = (data or b"").decode("utf-8")
        except UnicodeDecodeError:
            skipped[path] = "is not UTF-8"
            continue
        if len(text) > MAX_FILE:
            skipped[path] = f"is larger than {MAX_FILE} characters"
            continue
        found = rules_in(text, path)
        rules[path] = len(found)
        plan = plan_import(view, path, found, source.blob_id(data or b"")[:10])
        operations += plan.operations
        gone += plan.archive_proposals
    outcome, refused = _submit_without_refused(ledger, operations, origin, grounds, dry_run=dry_run)
    held = [
        ledger.submit(Proposal((item,), Scope.PROJECT, origin, hold=item["reason"]), grounds, dry_run=dry_run)
        for item in gone
    ]
    return Imported(rules, outcome, refused, tuple(held), skipped)


def _submit_without_refused(
    ledger: Ledger, operations: list[Any], origin: Origin, grounds: Grounds, *, dry_run: bool
) -> tuple[Outcome | None, tuple[Reason, ...]]:
    """Submit a batch; what a rule refuses is taken out and the rest submitted again, until it goes through."""
    refused: list[Reason] = []
    while operations:
        outcome = ledger.submit(Proposal(tuple(operations), Scope.PROJECT, origin), grounds, dry_run=dry_run)
        bad = {reason.operation for reason in outcome.reasons if reason.operation is not None}
        if outcome.verdict != "rejected" or not bad:
            return outcome, tuple(refused)
        refused += outcome.reasons
        operations = [item for number, item in enumerate(operations) if number not in bad]
    return None, tuple(refused)


def extract_transcript(
    messages: Sequence[Message],
    ledger_of: Callable[[Scope], Ledger],
    origin: Origin,
    grounds_of: Callable[[Mapping[int, Heard]], Grounds],
    *,
    dry_run: bool = False,
) -> list[Outcome]:
    """Run the rules extractor over a conversation: explicit requests are committed, the rest waits for a person."""
    turns = {message.number: Heard(message.role, message.text, message.tool) for message in messages}
    return _submit(from_transcript(messages), ledger_of, origin, grounds_of(turns), dry_run=dry_run)


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
        *((item, "one person's rule for this project alone; a person decides whose it is") for item in found.only_here),
    ]
    outcomes = []
    for item, hold in asked:
        scope = Scope(item["scope"])
        outcomes.append(ledger_of(scope).submit(Proposal((item,), scope, origin, hold), grounds, dry_run=dry_run))
    return outcomes
