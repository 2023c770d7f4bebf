"""Values that tests build on: memories, contexts, proposals, and a ledger on the shipped in-memory store."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from hypothesis import settings
from msgspec.structs import replace

from invincat.app import id_from
from invincat.governance.gate import Judgement, judge
from invincat.governance.grounding import Grounds, Heard, NoGrounds, SourceText
from invincat.ledger import Ledger
from invincat.memory.change import apply
from invincat.memory.entry import Confidence, Kind, Memory, Source, Tier, Verdict
from invincat.memory.naming import memory_path
from invincat.memory.operation import decode
from invincat.memory.proposal import Proposal
from invincat.memory.scope import Scope
from invincat.memory.step import Context, Step
from invincat.memory.view import Record, View, build, record_of
from invincat.outcome import Outcome
from invincat.store.base import Signature, Store
from invincat.store.inmemory import InMemoryStore
from invincat.store.tree import NoCache, ViewReader

NOW: Final = datetime(2026, 11, 29, 10, 0, 0, tzinfo=UTC)
ADA: Final = Signature("Ada Lovelace", "ada@example.org")
USER: Final = Source(actor="user")
MODEL: Final = Source(actor="memory-agent", session="01JDXPZ3V6C8A1B2D3E4F5G6H7")

quick = settings(max_examples=25, deadline=None, derandomize=True)


def ulid(number: int) -> str:
    """The ULID with this value; greater numbers sort later."""
    digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    text = ""
    for _ in range(26):
        number, digit = divmod(number, 32)
        text = digits[digit] + text
    return text


def ids(start: int = 1 << 80) -> Callable[[], str]:
    """Fresh ids, each greater than the one before."""
    counter = iter(range(start, start + 100_000))
    return lambda: ulid(next(counter))


def memory(**changes: Any) -> Memory:
    """A valid memory; `tier` follows from `score` unless given."""
    values: dict[str, Any] = {
        "id": ulid(1),
        "title": "Run the tests through nox",
        "kind": Kind.CONVENTION,
        "section": "Testing",
        "scope": Scope.PROJECT,
        "confidence": Confidence.HIGH,
        "tier": Tier.WARM,
        "score": 50,
        "verdict": Verdict.VALID,
        "created_at": NOW,
        "updated_at": NOW,
        "last_scored_at": NOW,
        "valid_from": NOW,
        "source": USER,
        "body": "It drives the version matrix.",
    }
    return Memory(**(values | changes))


def record(name: str, **changes: Any) -> Record:
    """A memory with the path that its section and this name give."""
    made = memory(**changes)
    return record_of(made, memory_path(made.section, name))


def view_of(*names: str, **changes: Any) -> View:
    """A view with an active memory for each name, ids in order from `ulid(1)`, each with a title of its own."""
    return build(None, [record(name, id=ulid(n), title=f"About {name}", **changes) for n, name in enumerate(names, 1)])


def context(now: datetime = NOW, source: Source = USER, scope: Scope = Scope.PROJECT, start: int = 1 << 80) -> Context:
    """What operations need beside the view."""
    return Context(now=now, new_id=ids(start), scope=scope, source=source)


def run(view: View, item: Mapping[str, Any], at: Context | None = None) -> Step:
    """Decode and apply one operation; an operation that cannot be decoded fails the test."""
    at = at or context()
    operations, reasons = decode([item], at.source.actor)
    assert not reasons, [str(reason) for reason in reasons]
    return apply(view, operations[0], at)


def proposal(*items: Any, source: Source = USER, scope: Scope = Scope.PROJECT, hold: str | None = None) -> Proposal:
    """A batch of these operations."""
    return Proposal(tuple(items), scope, source, hold)


def judged(
    view: View, *items: Any, source: Source = USER, scope: Scope = Scope.PROJECT, grounds: Grounds | None = None
) -> Judgement:
    """What the gate says of these operations."""
    given = proposal(*items, source=source, scope=scope)
    return judge(view, given, context(source=source, scope=scope), grounds or NoGrounds())


def create(content: str, **fields: Any) -> dict[str, Any]:
    """A create operation as JSON."""
    return {"op": "create", "scope": "project", "section": "Testing", "content": content, **fields}


@dataclass
class World:
    """Grounds in memory: files by path, messages of commits by id, turns by number."""

    files: dict[str, str] = field(default_factory=dict)
    commits: dict[str, str] = field(default_factory=dict)
    turns: dict[int, Heard] = field(default_factory=dict)

    def file(self, path: str) -> SourceText | None:
        """`Grounds.file`."""
        return SourceText(self.files[path], "9ab31c0") if path in self.files else None

    def commit(self, id: str) -> SourceText | None:
        """`Grounds.commit`."""
        return SourceText(self.commits[id]) if id in self.commits else None

    def turn(self, number: int) -> Heard | None:
        """`Grounds.turn`."""
        return self.turns.get(number)


WORLD: Final = World(
    files={"noxfile.py": "import nox\n\nnox.options.sessions = ['tests']\n"},
    commits={"3f2a9c4": "Drive the matrix by nox\n"},
    turns={
        1: Heard("user", "from now on we select tests by marker"),
        2: Heard("assistant", "I will always run the slow tests"),
        3: Heard("tool", "collected 14 items in tests", "bash"),
        4: Heard("tool", "the web page says to use tox", "web_fetch"),
    },
)
NOX: Final = {"at": "noxfile.py#L3", "quote": "nox.options.sessions"}
SAID: Final = {"at": "turn:1", "quote": "we select tests by marker"}


class Clock:
    """A clock that tests set."""

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def ahead(self, **by: float) -> None:
        """Move it."""
        self.now += timedelta(**by)


class Bench:
    """A ledger on a store, by default in memory, with a clock and ids that tests control."""

    def __init__(self, store: Store | None = None, scope: Scope = Scope.PROJECT) -> None:
        self.clock = Clock()
        self.store: Any = store or InMemoryStore(ADA)
        self.ledger = Ledger(self.store, ViewReader(self.store, NoCache()), scope, self.clock, ids(), id_from)

    def do(
        self,
        *items: Any,
        source: Source = USER,
        grounds: Grounds | None = None,
        hold: str | None = None,
        dry_run: bool = False,
    ) -> Outcome:
        """Submit a batch."""
        given = proposal(*items, source=source, scope=self.ledger.scope, hold=hold)
        return self.ledger.submit(given, grounds, dry_run=dry_run)

    def ok(self, *items: Any, **how: Any) -> Outcome:
        """Submit a batch that must be committed."""
        outcome = self.do(*items, **how)
        assert outcome.verdict == "committed", outcome
        return outcome

    def memory(self, name: str) -> Memory:
        """The memory with a name, as a fresh reading of the tip gives it."""
        found = self.fresh().find(name)
        assert found is not None, f"there is no {name}"
        return found.memory

    def fresh(self) -> View:
        """The view at the tip, read by a reader that knows nothing yet."""
        tip = self.ledger.tip()
        return ViewReader(self.store, NoCache()).view(tip) if tip else View()

    def files(self, commit: str | None = None) -> dict[str, tuple[int, bytes]]:
        """Every file at a commit, by default the tip: mode and bytes (none for a submodule)."""
        return dict(tree_files(self.store, self.store.commit(commit or self.store.tip()).tree))

    def log(self, tip: str | None = None) -> list[str]:
        """Messages from the oldest to the newest, without the root's."""
        chain = list(self.store.history(tip or self.store.tip()))
        return [commit.message for commit in reversed(chain)][1:]


def tree_files(store: Store, tree: str, above: str = "") -> Iterator[tuple[str, tuple[int, bytes]]]:
    """Every file below a tree."""
    for name, mode, id in store.list_tree(tree):
        if mode == 0o040000:
            yield from tree_files(store, id, f"{above}{name}/")
        else:
            yield f"{above}{name}", (mode, b"" if mode == 0o160000 else store.read_blob(id))


def rules(reasons: Iterable[Any]) -> list[str]:
    """The rules that reasons cite."""
    return [reason.rule for reason in reasons]


def places(reasons: Sequence[Any]) -> list[tuple[int | None, str | None]]:
    """Operation and field of each reason."""
    return [(reason.operation, reason.field) for reason in reasons]


def ended(made: Memory, **changes: Any) -> Memory:
    """The same memory, archived."""
    tombstone = f"> Archived on {NOW:%Y-%m-%d}: unsure"
    return replace(made, invalid_at=NOW, **({"tombstone": tombstone} | changes))
