"""RULES 1 and 6 hold after every step of any history, with clocks that go backwards and ids in any order."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from invincat.memory.change import apply
from invincat.memory.entry import Memory, Status
from invincat.memory.frontmatter import parse, render, rewrite
from invincat.memory.naming import memory_path, settle, wanted_name
from invincat.memory.operation import decode
from invincat.memory.refusal import Refused
from invincat.memory.register import END_KEYS, FIXED_KEYS, SCORE_KEYS, TEXT_KEYS
from invincat.memory.scope import Scope
from invincat.memory.step import Context, Step
from invincat.memory.view import Record, View, build
from tests.memory.factories import MODEL, NOW, USER, ulid

# Few titles and names, so that they collide.
CLAIMS = ["Use nox", "Use nox!", "Use  nox. Why: speed", "Use tox", "Memory", "日本語", "con", "Use nox: 2"]
NAMES = ["use-nox", "use-tox", "other", "memory"]
SECTIONS = ["Testing", "testing", "Build"]
PICKS = st.integers(0, 999)


class Lifecycle(RuleBasedStateMachine):
    """A view, the files that its steps wrote, and a clock of no good."""

    @initialize()
    def begin(self) -> None:
        """An empty store."""
        self.view = View()
        self.files: dict[str, str] = {}
        self.now = NOW
        self.numbers = iter(range(1, 10_000))

    # --- operations ---

    @rule(seconds=st.integers(-100_000, 100_000))
    def set_clock(self, seconds: int) -> None:
        """Time goes on, or back."""
        self.now += timedelta(seconds=seconds)

    @rule(
        claim=st.sampled_from(CLAIMS),
        section=st.sampled_from(SECTIONS),
        name=st.none() | st.sampled_from(NAMES),
        back=st.integers(0, 50),
    )
    def create(self, claim: str, section: str, name: str | None, back: int) -> None:
        """A new memory, sometimes one that has held for long."""
        since = self.now - timedelta(days=back)
        item = {"op": "create", "scope": "project", "section": section, "content": claim}
        item["valid_from"] = f"{since:%Y-%m-%dT%H:%M:%SZ}"
        self.run(item if name is None else item | {"name": name})

    @rule(
        pick=PICKS,
        title=st.sampled_from([None, *CLAIMS]),
        tags=st.sampled_from([None, [], ["a"]]),
        score=st.none() | st.integers(0, 100),
        verdict=st.sampled_from([None, "valid", "outdated"]),
    )
    def update(self, pick: int, **fields: Any) -> None:
        """Reword or rate."""
        given = {name: value for name, value in fields.items() if value is not None}
        self.run({"op": "update", "id": self.target(pick), "reason": "r", **(given or {"confidence": "low"})})

    @rule(pick=PICKS, score=st.integers(0, 100))
    def rescore(self, pick: int, score: int) -> None:
        """Score."""
        self.run({"op": "rescore", "id": self.target(pick), "score": score, "reason": "r"})

    @rule(pick=PICKS, tier=st.sampled_from(["hot", "warm", "cold"]))
    def retier(self, pick: int, tier: str) -> None:
        """Tier."""
        self.run({"op": "retier", "id": self.target(pick), "tier": tier, "reason": "r"})

    @rule(pick=PICKS, other=PICKS)
    def supersede_by(self, pick: int, other: int) -> None:
        """By one that exists, perhaps."""
        self.run({"op": "supersede", "id": self.target(pick), "by": self.target(other), "reason": "r"})

    @rule(pick=PICKS, claim=st.sampled_from(CLAIMS), name=st.none() | st.sampled_from(NAMES))
    def supersede_with(self, pick: int, claim: str, name: str | None) -> None:
        """By one that is made for it."""
        item = {"op": "supersede", "id": self.target(pick), "content": claim, "reason": "r"}
        self.run(item if name is None else item | {"name": name})

    @rule(pick=PICKS)
    def archive(self, pick: int) -> None:
        """Archive."""
        self.run({"op": "archive", "id": self.target(pick), "reason": "r"})

    @rule(pick=PICKS, model=st.booleans())
    def delete(self, pick: int, model: bool) -> None:
        """Delete; a model may not delete what is retired."""
        target = self.view.find(self.target(pick))
        before = self.view
        self.run({"op": "delete", "id": self.target(pick), "reason": "r"}, model=model)
        if model and target and not target.memory.is_active:
            assert self.view is before

    @rule(pick=PICKS)
    def restore(self, pick: int) -> None:
        """Bring back."""
        self.run({"op": "restore", "id": self.target(pick), "reason": "r"})

    @rule(
        pick=PICKS,
        name=st.none() | st.sampled_from([*NAMES, "memory", "use-nox-2"]),
        section=st.none() | st.sampled_from(SECTIONS),
    )
    def move(self, pick: int, name: str | None, section: str | None) -> None:
        """To another name, another section, or both."""
        given = {key: value for key, value in (("name", name), ("section", section)) if value is not None}
        self.run({"op": "move", "id": self.target(pick), "reason": "r", **(given or {"section": "Build"})})

    @rule(
        pick=PICKS,
        kind=st.sampled_from(["constraint", "convention"]),
        check=st.none() | st.sampled_from(["", "make"]),
        name=st.none() | st.sampled_from(NAMES),
        title=st.none() | st.sampled_from(CLAIMS),
        score=st.none() | st.integers(0, 100),
    )
    def set(self, pick: int, **fields: Any) -> None:
        """All that a person may, at once."""
        given = {name: value for name, value in fields.items() if value is not None}
        self.run({"op": "set", "id": self.target(pick), "reason": "r", **given})

    def target(self, pick: int) -> str:
        """A name or an id, mostly of a memory that exists."""
        records = sorted(self.view, key=lambda record: record.memory.id)
        if not records or pick % 17 == 0:
            return "nowhere"
        record = records[pick % len(records)]
        return record.name if pick % 2 else record.memory.id

    def fresh_id(self) -> str:
        """New, and in no order."""
        return ulid(next(self.numbers) * 3**79 % (2**127 - 1))

    def run(self, item: dict[str, Any], *, model: bool = False) -> None:
        """Apply, and hold the step against the rules."""
        operations, reasons = decode([item], "user")
        assert not reasons
        source = MODEL if model else USER
        context = Context(now=self.now, new_id=self.fresh_id, scope=Scope.PROJECT, source=source)
        try:
            step = apply(self.view, operations[0], context)
        except Refused:
            return
        before, self.view = self.view, step.view
        for path in step.removed:
            del self.files[path]
        for record in step.written:
            self.files[record.path] = record.memory.id
        assert (step.op == "noop") is (step.view is before)
        for id in before.records.keys() & step.view.records.keys():
            old, new = before.records[id].memory, step.view.records[id].memory
            check_pair(old, new, step, item)
            check_place(before.records[id], step.view.records[id], step)
            check_rewrite(old, new)
        for id in before.records.keys() - step.view.records.keys():
            check_deletion(before.records[id].memory, id, step)
        check_successor(before, step)

    # --- what always holds ---

    @invariant()
    def files_are_those_of_the_view(self) -> None:
        """A commit writes and removes what makes the tree that the view says."""
        assert self.files == {record.path: id for id, record in self.view.records.items()}

    @invariant()
    def names_are_unique_and_derived(self) -> None:
        """RULES 6.4: the least id that wants a name has it; FORMAT: unique, whatever the section."""
        names = [record.name for record in self.view]
        assert len(set(names)) == len(names)
        wanting: dict[str, list[str]] = {}
        for record in self.view:
            wanted = wanted_name(record.name)
            assert wanted is not None
            wanting.setdefault(wanted, []).append(record.memory.id)
        for wanted, ids in wanting.items():
            assert settle(wanted, ids) == {id: self.view.records[id].name for id in ids}
        for record in self.view:
            assert record.path == memory_path(record.memory.section, record.name)

    @invariant()
    def the_view_is_what_a_fresh_reading_gives(self) -> None:
        """Put and drop keep every index as `build` makes it."""
        fresh = build(None, sorted(self.view, key=lambda record: record.path), self.view.markers.values())
        for index in ("records", "names", "wanted", "content", "markers"):
            assert getattr(fresh, index) == getattr(self.view, index), index

    @invariant()
    def edges_make_no_cycle(self) -> None:
        """RULES 1.8: following successors always comes to an end; RULES 6.3: a deleted one still counts."""
        edges = {id: record.memory.superseded_by for id, record in self.view.records.items()}
        edges |= {id: marker.superseded_by for id, marker in self.view.markers.items()}
        for start in edges:
            seen, at = set(), start
            while (following := edges[at]) is not None:
                assert following in edges, "a successor that never was"
                assert following not in seen
                seen.add(following)
                at = following

    @invariant()
    def states_are_sound(self) -> None:
        """RULES 1.1 to 1.3."""
        for record in self.view:
            memory = record.memory
            assert memory.is_active is (memory.invalid_at is None) is (memory.status is Status.ACTIVE)
            assert memory.superseded_by is None or memory.invalid_at is not None
            assert memory.invalid_at is None or memory.invalid_at >= memory.valid_from
            assert (memory.tombstone is None) is memory.is_active
            assert parse(render(memory)) == memory
        assert not self.view.records.keys() & self.view.markers.keys()

    @invariant()
    def taken_names_are_refused(self) -> None:
        """RULES 1.6: a retired name stays occupied; a free one can be had."""
        for name in NAMES:
            item = {
                "op": "create",
                "scope": "project",
                "section": "New",
                "content": f"Something new {name}",
                "name": name,
            }
            operations, _ = decode([item], "user")
            context = Context(now=self.now, new_id=lambda: ulid((1 << 128) - 1), scope=Scope.PROJECT, source=USER)
            if self.view.wanted.get(name):
                with pytest.raises(Refused, match=r"has this name|is taken") as caught:
                    apply(self.view, operations[0], context)
                assert caught.value.rule == "RULES 1.6"
            else:
                assert apply(self.view, operations[0], context).op == "create"


def check_pair(old: Memory, new: Memory, step: Step, item: dict[str, Any]) -> None:
    """RULES 1.2, 1.3, 2, 6.2: what an operation may change of a memory that stays."""
    persons = {"move": {"section"}, "set": {"kind", "section", "check"}}.get(item["op"], set())
    for key in {*FIXED_KEYS, "kind", "section", "check"} - persons:
        assert getattr(old, key) == getattr(new, key)
    is_named = step.op == "move" and step.subject is not None and step.subject.id == new.id and renamed(step)
    for clock, keys in (("updated_at", TEXT_KEYS), ("last_scored_at", SCORE_KEYS)):
        changed = any(getattr(old, key) != getattr(new, key) for key in keys) or (is_named and keys is TEXT_KEYS)
        assert (getattr(new, clock) > getattr(old, clock)) if changed else (getattr(new, clock) == getattr(old, clock))
    if any(getattr(old, key) != getattr(new, key) for key in END_KEYS):
        assert step.op in {"supersede", "archive", "restore"}
        assert all(getattr(old, key) == getattr(new, key) for key in (*TEXT_KEYS, *SCORE_KEYS))
        assert new.is_active is (step.op == "restore")
        assert new.restores == old.restores + (step.op == "restore")


def renamed(step: Step) -> bool:
    """Whether the memory that a step is about wants another name now."""
    assert step.before is not None
    assert step.subject is not None
    return wanted_name(step.before.name) != wanted_name(step.subject.name)


def check_place(old: Record, new: Record, step: Step) -> None:
    """RULES 6.4: only a move changes what a name is wanted; others are at most settled among those that want it."""
    if not (step.op == "move" and step.subject is not None and step.subject.id == new.id):
        assert wanted_name(old.name) == wanted_name(new.name)
        assert (old.path == new.path) or new.id in {record.id for _, record in step.renamed}


def check_rewrite(old: Memory, new: Memory) -> None:
    """FORMAT: a file that is rewritten says the new memory, and is canonical if it was."""
    assert rewrite(render(old), new) == render(new)


def check_deletion(old: Memory, id: str, step: Step) -> None:
    """RULES 6.3: a marker in its place, with the stamp of the deletion."""
    assert step.op == "delete"
    assert step.marker is not None
    assert step.view.markers[id] == step.marker
    assert step.marker.updated_at > old.updated_at
    assert (step.marker.invalid_at, step.marker.superseded_by) == (old.invalid_at, old.superseded_by)


def check_successor(before: View, step: Step) -> None:
    """RULES 1.4: the successor existed, and was active, when it took the place."""
    if step.op != "supersede":
        return
    assert step.subject is not None
    assert step.successor is not None
    assert step.before is not None
    successor = step.successor.memory
    assert step.view.records[successor.id] == step.successor
    assert successor.is_active
    assert successor.id != step.subject.memory.id
    assert step.before.memory.is_active
    held = before.records.get(successor.id)
    assert held is None or held.memory.is_active
    assert step.subject.memory.superseded_by == successor.id
    assert step.subject.memory.invalid_at is not None
    assert step.subject.memory.invalid_at >= successor.valid_from


TestLifecycle = Lifecycle.TestCase
TestLifecycle.settings = settings(max_examples=15, stateful_step_count=40, deadline=None, derandomize=True)
