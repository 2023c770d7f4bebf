"""Any history of a store holds the rules: operations, batches, proposals, restarts, hands past the gate, bad clocks."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from invincat.app import id_from
from invincat.cli.check import replaced_by
from invincat.context.briefing import brief
from invincat.governance.check import check
from invincat.ledger import Ledger
from invincat.lookup import StoreCorpus
from invincat.memory.entry import Memory, Status
from invincat.memory.frontmatter import parse, render, rewrite
from invincat.memory.naming import settle, wanted_name
from invincat.memory.register import END_KEYS, FIXED_KEYS, SCORE_KEYS, TEXT_KEYS
from invincat.memory.scope import Scope
from invincat.memory.view import Record, View
from invincat.outcome import Outcome
from invincat.recall.index import Index
from invincat.recall.query import Query
from invincat.store.base import FILE_MODE, PROPOSALS, REJECTED, Store
from invincat.store.files import all_files
from invincat.store.git import GitStore
from invincat.store.inmemory import InMemoryStore
from invincat.store.journal import Foreign
from invincat.store.locate import create_bare
from invincat.store.message import read
from invincat.store.parsed import ParsedCache
from invincat.store.tree import NoCache, ViewReader
from tests.ledger.hands import Changes, Hand, HandInMemory, HandOfGit
from tests.memory.factories import ADA, MODEL, NOX, USER, WORLD, Clock, memory, proposal, tree_files, ulid

# Few titles, names and sections, so that they collide.
CLAIMS = [
    *("Use nox.", "Use nox. It is quick.", "Use nox. It is known.", "Use tox.", "Memory. A.", "Memory. B."),
    *("日本語", "con", "Other.", "Other. B."),
]
NAMES = ["use-nox", "use-tox", "other", "memory"]
SECTIONS = ["Testing", "testing", "Build"]
PICKS = st.integers(0, 999)
# `check` is asked whether anything but the clock is wrong.
FAR = datetime(9000, 1, 1, tzinfo=UTC)
Item = dict[str, Any]


@pytest.fixture(autouse=True, scope="module")
def _small_stores_are_large() -> Iterator[None]:
    """What is done only where there is much of something is done here, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("invincat.store.tree.MANY", 1)
        patch.setattr("invincat.recall.index.FEW", 1)
        yield


def operations() -> st.SearchStrategy[Item]:
    """One operation on `pick`, which is not yet a memory."""
    claims, names = st.sampled_from(CLAIMS), st.sampled_from(NAMES)

    def op(word: str, optional: dict[str, st.SearchStrategy[Any]] | None = None, **fields: Any) -> Any:
        return st.fixed_dictionaries({"op": st.just(word), **fields}, optional=optional or {})

    target = {"id": PICKS, "reason": st.just("r")}
    tags = st.sampled_from([[], ["a"]])
    score = st.integers(0, 100)
    rewording = {"title": claims, "tags": tags, "score": score, "confidence": st.just("low")}
    created = {"content": claims, "section": st.sampled_from(SECTIONS)}
    return st.one_of(
        op("create", {"name": names, "valid_from": st.integers(0, 50)}, **created),
        op("update", {**rewording, "verdict": st.sampled_from(["valid", "outdated"])}, **target),
        op(
            "set",
            {**rewording, "kind": st.just("gotcha"), "check": st.sampled_from(["", "make"]), "name": names},
            **target,
        ),
        op("rescore", **target, score=score),
        op("retier", **target, tier=st.sampled_from(["hot", "warm", "cold"])),
        op("supersede", **target, by=PICKS),
        op("supersede", {"name": names}, **target, content=claims),
        op("archive", **target),
        op("delete", **target),
        op("restore", **target),
        op("move", {"name": names}, **target),
        op("noop"),
    )


class Storage(RuleBasedStateMachine):
    """One store, two processes that use it by turns, and somebody with plain git."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.store: Any
        self.hand: Hand
        self.store, self.hand = self.open()
        self.clock = Clock()
        self.numbers = iter(range(1, 100_000))
        self.ledgers = [self.start(), self.start()]
        self.index = Index(self.folder / "index", "machine")
        self.moves: list[Foreign] = []
        self.tip: str | None = None
        self.known_faults: set[tuple[str, str]] = set()
        self.has_hands = False

    def open(self) -> tuple[Store, Hand]:
        """The store, and who writes past its gate."""
        store = InMemoryStore(ADA)
        return store, HandInMemory(store)

    def teardown(self) -> None:
        """Nothing is left."""
        shutil.rmtree(self.folder)

    def start(self) -> Ledger:
        """A process begins: it knows nothing but what stands on disk."""
        cache = ParsedCache(self.folder / "parsed", "machine")
        return Ledger(self.store, ViewReader(self.store, cache), Scope.PROJECT, self.clock, self.new_id, id_from)

    def new_id(self) -> str:
        """New, and in no order."""
        return ulid(next(self.numbers) * 3**79 % (2**127 - 1))

    # --- what happens ---

    @initialize(count=st.integers(0, 6))
    def begin(self, count: int) -> None:
        """A store of some memories, so that there is something to change."""
        if count:
            batch = [
                {"op": "create", "content": f"{CLAIMS[n]} Since {n}", "section": SECTIONS[n % 3]} for n in range(count)
            ]
            self.submit(batch, 0, "user", None, dry_run=False)

    @rule(which=st.integers(0, 1), seconds=st.integers(-100_000, 100_000))
    def pause(self, which: int, seconds: int) -> None:
        """A process ends and another begins. Time goes on meanwhile, or back; otherwise it stands still."""
        self.ledgers[which] = self.start()
        self.clock.ahead(seconds=seconds)

    @rule(one=operations(), which=st.integers(0, 1), by_model=st.booleans())
    def operate(self, one: Item, which: int, by_model: bool) -> None:
        """A single operation."""
        self.submit([one], which, "model" if by_model else "user", None, dry_run=False)

    @rule(
        batch=st.lists(operations(), max_size=4),
        which=st.integers(0, 1),
        actor=st.sampled_from(["user", "user", "model", "doubtful model"]),
        hold=st.sampled_from([None, None, None, "ask"]),
        dry_run=st.sampled_from([False, False, False, True]),
    )
    def submit(self, batch: list[Item], which: int, actor: str, hold: str | None, dry_run: bool) -> None:
        """A batch, as a person or as a model, with evidence that can be checked or without."""
        items = [self.worded(item, actor, number) for number, item in enumerate(batch)]
        given = proposal(*items, source=USER if actor == "user" else MODEL, hold=hold)
        before, known = self.fresh(), dict(self.store.refs("refs/invincat/"))
        outcome = self.ledgers[which].submit(given, WORLD, dry_run=dry_run)
        if dry_run or outcome.verdict == "rejected":
            assert self.store.refs("refs/invincat/") == known
        if outcome.verdict == "held" and not dry_run:
            assert self.store.tip(f"{PROPOSALS}{outcome.proposal}") or self.store.tip(f"{REJECTED}{outcome.proposal}")
        self.check_names_taken(before, items, outcome)
        self.settle(before, outcome)

    @precondition(lambda self: self.store.refs(PROPOSALS))
    @rule(pick=PICKS, which=st.integers(0, 1), verdict=st.booleans())
    def decide(self, pick: int, which: int, verdict: bool) -> None:
        """A person's yes or no to what was held."""
        refs = list(self.store.refs(PROPOSALS))
        ref = refs[pick % len(refs)]
        held, id, before = self.store.tip(ref), ref.removeprefix(PROPOSALS), self.fresh()
        if not verdict:
            self.ledgers[which].reject(id, "no")
            assert self.store.tip(f"{REJECTED}{id}") == held
            assert self.store.tip(ref) is None
            return
        is_past_the_gate = read(self.store.commit(held).message).op is None
        outcome = self.ledgers[which].accept(id)
        assert (self.store.tip(ref) is None) is (outcome.verdict in {"committed", "noop"})
        if is_past_the_gate:
            self.tip = self.store.tip()
            self.known_faults = self.faults()
        else:
            self.settle(before, outcome)

    # --- what somebody does with plain git ---

    @precondition(lambda self: self.tip)
    @rule(
        pick=PICKS,
        kind=st.sampled_from(
            ["reword", "end", "revive", "style", "remove", "add", "bad", "break", "twin", "odd", "back"]
        ),
        name=st.sampled_from([*NAMES, "use-nox--000000"]),
        section=st.sampled_from(["testing", "build"]),
    )
    def edit_by_hand(self, pick: int, kind: str, name: str, section: str) -> None:
        """One file is changed, taken away or added."""
        changes = self.by_hand(pick, kind, f"memory/{section}/{name}.md")
        if not changes:
            return
        last = self.moves[-1].old if self.moves and self.moves[-1].new == self.tip else self.tip
        if self.moves and self.moves[-1].new == self.tip:
            self.moves.pop()
        before = self.tip
        self.tip = self.hand(changes)
        assert before != self.tip
        self.moves.append(Foreign(last, self.tip))
        self.has_hands = True
        self.known_faults = self.faults()

    @precondition(lambda self: self.moves)
    @rule(pick=PICKS, which=st.integers(0, 1))
    def accept_move(self, pick: int, which: int) -> None:
        """A person takes a move for good."""
        move = self.moves.pop(pick % len(self.moves))
        assert self.ledgers[which].foreign.accept(move).verdict == "committed"

    @precondition(lambda self: self.moves and self.moves[-1].new == self.tip)
    @rule(which=st.integers(0, 1))
    def put_back(self, which: int) -> None:
        """It happened during an agent's command: it is undone, and kept for review."""
        move = self.moves.pop()
        kept = self.ledgers[which].foreign.put_back()
        assert kept is None or self.store.tip(f"{PROPOSALS}{kept}")
        self.tip = self.store.tip()
        assert self.tip == move.old
        self.known_faults = self.faults()

    def by_hand(self, pick: int, kind: str, path: str) -> Changes | None:  # noqa: C901, PLR0911 - a case for each kind of hand
        """What becomes of which file; None where that cannot be done now."""
        files, view = self.files(), self.fresh()
        if kind == "add":
            if path in files:
                return None
            text = render(
                memory(id=self.new_id(), title=f"By hand {next(self.numbers)}", section=path.split("/")[1].title())
            )
            return {path: (FILE_MODE, text.encode())}
        if kind == "bad":
            return None if path in files else {path: (FILE_MODE, b"<<<<<<< ours\r\nno front matter\n")}
        if kind == "odd":
            odd = [("notes.txt", 0o100644), ("memory/testing/link.md", 0o120000), ("memory/run.sh", 0o100755)]
            where, mode = odd[pick % len(odd)]
            return {where: (mode, b"other%d" % pick)} if files.get(where) != (mode, b"other%d" % pick) else None
        if kind == "back":
            if not view.markers:
                return None
            marker = sorted(view.markers)[pick % len(view.markers)]
            text = render(memory(id=marker, title=f"Back {next(self.numbers)}", section=path.split("/")[1].title()))
            return None if path in files else {path: (FILE_MODE, text.encode())}
        record = self.pick(view, pick)
        if record is None:
            return None
        if kind == "remove":
            return {record.path: None}
        if kind == "break":
            return {record.path: (FILE_MODE, b"---\nid: broken\n")}
        text = files[record.path][1].decode()
        if kind == "twin":
            return None if path in files else {path: (FILE_MODE, text.encode())}
        new = self.edited(record.memory, kind)
        if new is None:
            return None
        changed = rewrite(text, new)
        if kind == "style":
            changed = changed.replace("\nid: ", "\n# by hand\nid: ", 1).replace(
                "\n---\n", "\nowner: me # who\n---\n", 1
            )
        return None if changed == text else {record.path: (FILE_MODE, changed.encode())}

    def edited(self, memory: Memory, kind: str) -> Memory | None:
        """As a person words it who knows nothing of clocks and counters."""
        if kind == "reword":
            return replace(memory, title=f"Reworded {next(self.numbers)}")
        if kind == "style":
            return memory if not memory.unknown else None
        if kind == "end" and memory.is_active:
            return replace(memory, invalid_at=memory.valid_from, set_aside=None)
        if kind == "revive" and not memory.is_active:
            return replace(memory, invalid_at=None, superseded_by=None, tombstone=None)
        return None

    # --- what must hold of a step ---

    def settle(self, before: View, outcome: Outcome) -> None:
        """A write of ours: on top of what was there, and it changed what it says and nothing else."""
        old, self.tip = self.tip, self.store.tip()
        if outcome.dry_run:
            assert self.tip == old
            return
        assert outcome.before == old or (old is None and outcome.verdict == "held")
        assert outcome.after == self.tip or outcome.verdict == "held"
        if self.tip == old:
            return
        assert outcome.verdict in {"committed", "failed", "held"}
        self.check_chain(old, outcome)
        view = self.fresh()
        check_pairs(before, view, outcome)
        check_said(view, outcome)
        self.check_files(old, before, view)
        found = self.faults()
        assert found <= self.known_faults, found - self.known_faults
        assert self.has_hands or not found
        self.known_faults = found

    def check_chain(self, old: str | None, outcome: Outcome) -> None:
        """One operation, one commit, in a line on top of the earlier tip (ARCHITECTURE, decision 3)."""
        assert self.tip is not None
        at, count = self.tip, 0
        while at != old and (parents := self.store.commit(at).parents):
            [at] = parents
            count += 1
        assert at == old or old is None
        made = {operation.commit for operation in outcome.operations if operation.commit}
        assert count == (0 if outcome.verdict == "held" else len(made) or count)

    def check_files(self, old: str | None, before: View, view: View) -> None:
        """Whatever is not a file of a memory that changed keeps its bytes and its mode."""
        was, now = self.files(old) if old else {}, self.files()
        changed = {path for path in was.keys() | now.keys() if was.get(path) != now.get(path)}
        ids = {
            id for id in before.records.keys() | view.records.keys() if before.records.get(id) != view.records.get(id)
        }
        for path in changed:
            # What is written over, too, was such a file.
            held = before if path in was else view
            files = {held.records[id].path for id in ids & held.records.keys()}
            files |= {marker.path for marker in held.markers.values()}
            assert path in files or (path not in was and path in {"README.md", "invincat.yaml"}), path
        for id in ids & before.records.keys() & view.records.keys():
            past, present = (
                files[records[id].path][1] for files, records in ((was, before.records), (now, view.records))
            )
            assert (b"# by hand" in past) is (b"# by hand" in present)
            assert (b"owner: me # who" in past) is (b"owner: me # who" in present)

    def check_names_taken(self, before: View, items: list[Item], outcome: Outcome) -> None:
        """RULES 1.6: whoever asks for a name that is taken, also by a retired memory, does not get it."""
        if len(items) != 1 or items[0]["op"] != "create":
            return
        holder = before.find(items[0].get("name", ""))
        if holder:
            assert outcome.verdict in {"rejected", "noop"}
            if outcome.verdict == "rejected":
                assert any(reason.rule in {"RULES 1.6", "RULES 4 evidence"} for reason in outcome.reasons), outcome

    # --- what always holds ---

    @invariant()
    def views_are_what_a_fresh_reading_gives(self) -> None:
        """However a process came to its view."""
        assert self.store.tip() == self.tip
        fresh = self.fresh()
        for ledger in self.ledgers:
            view = ledger.view()
            for index in ("records", "names", "wanted", "content", "markers", "problems", "blocked"):
                assert getattr(view, index) == getattr(fresh, index), index

    @invariant()
    def states_are_sound(self) -> None:
        """RULES 1.1 to 1.3, 1.8."""
        view = self.fresh()
        for record in view:
            memory = record.memory
            assert (
                memory.is_active is record.is_active is (memory.invalid_at is None) is (memory.status is Status.ACTIVE)
            )
            assert memory.superseded_by is None or memory.invalid_at is not None
            assert memory.invalid_at is None or memory.invalid_at >= memory.valid_from
            assert self.has_hands or (memory.tombstone is None) is memory.is_active
            following, seen = memory.superseded_by, {memory.id}
            while following and (successor := view.records.get(following)):
                assert following not in seen
                seen.add(following)
                following = successor.memory.superseded_by
            assert following is None or following in view.markers or self.has_hands
        if not self.has_hands:
            assert not view.records.keys() & view.markers.keys()
            for wanted, ids in view.wanted.items():
                assert settle(wanted, ids) == {id: view.records[id].name for id in ids}

    @invariant()
    def moves_past_the_gate_are_known(self) -> None:
        """RULES 10: each of them, until a person settles it, and none of ours."""
        for ledger in self.ledgers:
            assert list(ledger.foreign.moves()) == self.moves

    @invariant()
    def briefing_and_recall_show_what_holds(self) -> None:
        """RULES 1.1, 8, 10, 11: nothing that is retired or deleted; no briefing of what nobody accepted."""
        ledger, fresh = self.ledgers[0], self.fresh()
        foreign = ledger.foreign.memories()
        for record in brief([(Scope.PROJECT, ledger.view().without(foreign))]).shown:
            assert fresh.records[record.id].is_active
            assert record.id not in foreign

    @rule(text=st.sampled_from(["nox", "use tox", "日本語", "memory con", "reworded hand"]))
    def recall(self, text: str) -> None:
        """RULES 8: retired ones are no answer, however the index came about."""
        results, fresh = self.index.search(StoreCorpus(self.ledgers[1]), Query(text, limit=100)), self.fresh()
        assert results.degraded is None
        for hit in results.hits:
            assert fresh.records[hit.id].is_active
            assert fresh.records[hit.id].path == hit.path

    # --- helpers ---

    def worded(self, item: Item, actor: str, number: int) -> Item:
        """An operation as JSON: memories named, mostly by what exists, and evidence from a model."""
        view = self.fresh()
        made: Item = {**item}
        if made["op"] == "move" and "name" not in made:
            made["section"] = SECTIONS[made["id"] % 3]
        for key in ("id", "by"):
            if key in made:
                record = self.pick(view, made[key] + number, retired=made["op"] == "restore")
                made[key] = "nowhere" if record is None else record.name if made[key] % 2 else record.id
        if made["op"] in {"create", "supersede"} and "content" in made and actor != "user":
            made["evidence"] = [NOX if actor == "model" else {"at": "url:https://example.org/x", "quote": "use nox"}]
        if made["op"] in {"update", "delete"} and actor == "model":
            made["evidence"] = [NOX]
        if "valid_from" in made:
            made["valid_from"] = f"{self.clock() - timedelta(days=made['valid_from']):%Y-%m-%dT%H:%M:%SZ}"
        return {"scope": "project", **made} if made["op"] == "create" else made

    @staticmethod
    def pick(view: View, number: int, *, retired: bool = False) -> Record | None:
        """A memory, mostly."""
        records = sorted(view, key=lambda record: record.id)
        records = [record for record in records if not record.is_active] if retired else records
        return records[number % len(records)] if records and number % 17 else None

    def fresh(self) -> View:
        """The view at the tip, read by a reader that knows nothing yet."""
        tip = self.store.tip()
        return ViewReader(self.store, NoCache()).view(tip) if tip else View()

    def files(self, commit: str | None = None) -> dict[str, tuple[int, bytes]]:
        """All files at a commit, by default the tip."""
        return dict(tree_files(self.store, self.store.commit(commit or self.store.tip()).tree))

    def twins(self, view: View) -> set[str]:
        """Ids that two files have; only one of them counts."""
        files = self.files() if self.tip else {}
        paths = [problem.path for problem in view.problems if problem.rule == "FORMAT id"]
        return {parse(files[path][1]).id for path in paths if path.startswith("memory/")}

    def faults(self) -> set[tuple[str, str]]:
        """What `check` finds at the tip: the rule, and the memory or the file."""
        assert self.tip is not None
        ledger = self.ledgers[0]
        view = ledger.view()
        ids = {record.path: record.id for record in view}
        files = all_files(self.store, self.tip)
        found = check(view, Scope.PROJECT, FAR, files, replaced_by(ledger, self.tip))
        # An active memory that was found outdated waits for the cleanup.
        wrong = [finding for finding in found if finding.rule != "RULES 4 cleanup"]
        return {(finding.rule, ids.get(finding.path, finding.path)) for finding in wrong}


def check_pairs(before: View, after: View, outcome: Outcome) -> None:
    """RULES 1.2, 1.3, 2, 6.2, 6.3: what a batch may do to a memory that was there."""
    ops = {operation.id: operation.op for operation in outcome.operations}
    for id, record in before.records.items():
        if id not in after.records:
            assert ops[id] == "delete"
            marker = after.markers[id]
            assert marker.updated_at > record.memory.updated_at
            assert (marker.invalid_at, marker.superseded_by) == (record.memory.invalid_at, record.memory.superseded_by)
            continue
        old, new = record.memory, after.records[id].memory
        assert all(getattr(old, key) == getattr(new, key) for key in FIXED_KEYS)
        is_named = wanted_name(record.name) != wanted_name(after.records[id].name)
        for clock, keys in (("updated_at", TEXT_KEYS), ("last_scored_at", SCORE_KEYS)):
            changed = any(getattr(old, key) != getattr(new, key) for key in keys) or (is_named and keys is TEXT_KEYS)
            assert getattr(new, clock) > getattr(old, clock) if changed else getattr(new, clock) == getattr(old, clock)
        if any(getattr(old, key) != getattr(new, key) for key in END_KEYS):
            assert ops[id] in {"supersede", "archive", "restore"}
            assert new.is_active is (ops[id] == "restore")
            assert (new.tombstone is None) is new.is_active
            assert new.restores == old.restores + (ops[id] == "restore")
        assert parse(render(new)) == new


def check_said(after: View, outcome: Outcome) -> None:
    """What a reply says was done is there for whoever reads the store afresh."""
    for done in outcome.operations:
        if outcome.verdict != "committed" or done.commit is None:
            continue
        if done.op == "delete":
            assert done.id in after.markers
            assert done.id not in after.records
            continue
        record = after.records[str(done.id)]
        assert record.name == done.name or any(other.renamed for other in outcome.operations)
        if done.op in {"archive", "supersede"}:
            assert not record.is_active
            assert (
                done.successor is None or after.find(done.successor) == after.records[str(record.memory.superseded_by)]
            )
        if done.op in {"create", "restore"}:
            assert record.is_active


class StorageForLong(Storage):
    """The same, until rare collisions come about."""


class StorageInGit(Storage):
    """The same on a real repository."""

    def open(self) -> tuple[Store, Hand]:
        """A bare one."""
        store = GitStore(create_bare(self.folder / "store.git"))
        return store, HandOfGit(store)

    def teardown(self) -> None:
        """Git finds no fault in what we wrote."""
        if self.tip:
            git_dir = self.folder / "store.git"
            subprocess.run(["git", "fsck", "--strict", "--no-dangling"], cwd=git_dir, check=True, capture_output=True)
        self.store.close()
        super().teardown()


TestStorage = Storage.TestCase
TestStorage.settings = settings(max_examples=15, stateful_step_count=40, deadline=None, derandomize=True)

TestStorageForLong = pytest.mark.slow(StorageForLong.TestCase)
TestStorageForLong.settings = settings(max_examples=200, stateful_step_count=50, deadline=None)

TestStorageInGit = pytest.mark.slow(StorageInGit.TestCase)
TestStorageInGit.settings = settings(max_examples=15, stateful_step_count=40, deadline=None, derandomize=True)
