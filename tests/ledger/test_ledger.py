"""The one write path: batches to commits, commits to views (RULES 1.7, 3, 4; FORMAT "Commits")."""

import json
from typing import Any

import pytest

from invincat.app import id_from
from invincat.ledger import Ledger
from invincat.memory.entry import Source
from invincat.memory.frontmatter import render_marker
from invincat.memory.marker import marker_of
from invincat.memory.scope import Scope
from invincat.memory.view import View
from invincat.review import waiting
from invincat.store.base import MEMORY_REF, PROPOSALS, Draft
from invincat.store.inmemory import InMemoryStore
from invincat.store.message import read
from invincat.store.tree import NoCache, ViewReader
from tests.memory.factories import ADA, MODEL, NOW, NOX, WORLD, Bench, World, create, ids, places, proposal, rules, ulid

ROOT = "6c06298fdee92682ab343b6102e0bb4b3a82adfe"
TOKEN = "ghp_" + "Zk3Qv8Lr2Tn5Wb7Xc9Yd4Mf6Hs1Jg0Pa3Ue8"
WEB = {"at": "url:https://example.org/x", "quote": "use nox"}


@pytest.fixture
def bench() -> Bench:
    """A ledger with two memories."""
    made = Bench()
    made.ok(create("Use nox. It drives the matrix.", name="use-nox"), create("Use markers.", name="markers"))
    return made


def rescore(name: str, score: int = 90, reason: str = "used daily") -> dict[str, Any]:
    """A rescore operation."""
    return {"op": "rescore", "id": name, "score": score, "reason": reason}


def everything(store: InMemoryStore) -> str:
    """All that the store keeps: objects, refs and logs."""
    return repr(sorted(vars(store).items(), key=lambda pair: pair[0]))


# --- commits ---


def test_the_first_batch_makes_the_store() -> None:
    """FORMAT "Refs": on the fixed root, with the README beside the first memory, and only then."""
    bench = Bench()
    assert (bench.ledger.tip(), len(bench.ledger.view())) == (None, 0)
    outcome = bench.ok(create("Use nox."), create("Use ruff."))
    assert outcome.before is None
    assert outcome.after == bench.ledger.tip()
    chain = list(bench.store.history(bench.store.tip()))
    assert [len(commit.parents) for commit in chain] == [1, 1, 0]
    assert chain[-1].id == ROOT
    assert set(bench.files(chain[1].id)) == {"README.md", "invincat.yaml", "memory/testing/use-nox.md"}
    assert set(bench.files()) - set(bench.files(chain[1].id)) == {"memory/testing/use-ruff.md"}
    assert b"git log invincat/memory" in bench.files()["README.md"][1]


def test_start_makes_the_root_once() -> None:
    """FORMAT: a fixed root commit."""
    bench = Bench()
    assert (bench.ledger.start(), bench.ledger.start(), bench.ledger.tip()) == (True, False, ROOT)


def test_one_operation_one_commit(bench: Bench) -> None:
    """ARCHITECTURE, decision 3: author and time are those of the write."""
    before = bench.store.tip()
    outcome = bench.ok(
        create("Use ruff."),
        {"op": "supersede", "id": "markers", "content": "Use keywords.", "reason": "simpler"},
        {"op": "update", "id": "use-nox", "title": "Run nox"},
    )
    chain = list(bench.store.history(bench.store.tip()))[:3]
    assert chain[-1].parents == (before,)
    assert [read(commit.message).op for commit in reversed(chain)] == ["create", "supersede", "update"]
    assert [operation.commit for operation in outcome.operations] == [commit.id for commit in reversed(chain)]
    assert {(commit.author, commit.time) for commit in chain} == {(ADA, NOW)}
    both = set(bench.files(chain[1].id).items()) - set(bench.files(chain[2].id).items())
    assert {path for path, _ in both} == {"memory/testing/markers.md", "memory/testing/use-keywords.md"}


def test_scores_of_a_batch_share_a_commit(bench: Bench) -> None:
    """ARCHITECTURE, decision 3: the log reads one line per belief changed."""
    outcome = bench.ok(
        rescore("use-nox"), create("Use ruff."), {"op": "retier", "id": "markers", "tier": "cold", "reason": "rare"}
    )
    messages = bench.log()[-2:]
    assert [message.split(" ")[0] for message in messages] == ["create", "score"]
    scored = read(messages[1])
    assert scored.memories == (bench.memory("use-nox").id, bench.memory("markers").id)
    first, made, last = outcome.operations
    assert first.commit == last.commit == outcome.after != made.commit
    assert (bench.memory("use-nox").score, bench.memory("markers").tier) == (90, "cold")


def test_a_scored_memory_may_be_renamed_in_the_same_batch() -> None:
    """RULES 6.4, FORMAT "Commits": whatever the order, no file is left under the old name or lost."""
    for turned in (False, True):
        bench = Bench()
        bench.ok(create("Use nox."))
        other = bench.ok(create("Use nox! It is quick.")).operations[0].name
        batch = [rescore(str(other)), {"op": "delete", "id": "use-nox", "reason": "wrong"}]
        bench.ok(*(batch[::-1] if turned else batch))
        view = bench.fresh()
        assert (view.problems, set(view.names)) == ((), {"use-nox"})
        assert bench.memory("use-nox").score == 90
        assert [read(message).op for message in bench.log()[-2:]] == ["delete", "score"]


def test_a_batch_lands_whole_or_not_at_all(bench: Bench) -> None:
    """RULES 3.3: every reason is listed, nothing is written."""
    before = dict(bench.store.refs("refs/invincat/"))
    outcome = bench.do(create("Use ruff."), rescore("nowhere"), {"op": "archive", "id": "markers"})
    assert outcome.verdict == "rejected"
    assert outcome.after == outcome.before
    assert places(outcome.reasons) == [(2, "reason")]
    outcome = bench.do(create("Use ruff."), rescore("nowhere"), rescore("nobody"))
    assert places(outcome.reasons) == [(1, "id"), (2, "id")]
    assert outcome.operations == ()
    assert bench.store.refs("refs/invincat/") == before


class Interrupted(ViewReader):
    """Somebody else writes right after the view was read, once."""

    def __init__(self, bench: Bench, *batch: dict[str, Any]) -> None:
        super().__init__(bench.store, NoCache())
        self.readings = 0
        self._meanwhile = lambda: bench.ok(*batch)

    def view(self, commit: str) -> View:
        """The view, then the other write."""
        view = super().view(commit)
        self.readings += 1
        if self.readings == 1:
            self._meanwhile()
        return view


@pytest.mark.parametrize(("theirs", "expected"), [("use-nox", "committed"), ("markers", "rejected")])
def test_a_lost_race_is_judged_again(bench: Bench, theirs: str, expected: str) -> None:
    """RULES 3.4: read the new view, validate the same operations again; nobody's commit is lost."""
    reader = Interrupted(bench, {"op": "archive", "id": theirs, "reason": "theirs"})
    ledger = Ledger(bench.store, reader, Scope.PROJECT, bench.clock, ids(), id_from)
    outcome = ledger.submit(proposal({"op": "archive", "id": "markers", "reason": "ours"}))
    assert (outcome.verdict, reader.readings) == (expected, 2)
    assert not bench.memory(theirs).is_active
    assert not bench.memory("markers").is_active
    assert len(bench.log()) == 3 + (expected == "committed")
    if expected == "rejected":
        assert "already archived" in outcome.reasons[0].message


def test_dry_run_moves_nothing(bench: Bench) -> None:
    """CLI: the verdict is what it would be."""
    before = everything(bench.store)
    outcome = bench.do(create("Use ruff."), dry_run=True)
    assert (outcome.verdict, outcome.dry_run, outcome.after) == ("committed", True, bench.store.tip())
    assert bench.do(rescore("nowhere"), dry_run=True).verdict == "rejected"
    assert bench.do(create("Use ruff."), dry_run=True, hold="ask").verdict == "held"
    assert everything(bench.store) == before
    empty = Bench()
    assert empty.do(create("Use ruff."), dry_run=True).verdict == "committed"
    assert empty.ledger.tip() is None


def test_an_equal_create_is_a_noop(bench: Bench) -> None:
    """RULES 4 "Duplicates": no commit, and the reply names it."""
    before = bench.store.tip()
    outcome = bench.do(create("use  NOX. it drives the matrix"))
    assert (outcome.verdict, outcome.after) == ("noop", before)
    assert outcome.hint
    assert "use-nox" in outcome.hint
    assert outcome.operations[0].name == "use-nox"
    assert outcome.operations[0].commit is None


# --- RULES 1.7 ---


def test_a_failed_supersede_keeps_the_new_memory(bench: Bench) -> None:
    """RULES 1.7: committed as a create, verdict failed, with what was kept and what is still active."""
    bench.ok({"op": "archive", "id": "markers", "reason": "r"})
    item = {"op": "supersede", "id": "markers", "content": "Use keywords.", "reason": "simpler"}
    outcome = bench.do({"op": "noop"}, item)
    assert (outcome.verdict, outcome.kept) == ("failed", "use-keywords")
    assert outcome.still_active == "none: markers is archived since 2026-11-29"
    assert (rules(outcome.reasons), places(outcome.reasons)) == (["RULES 1.4"], [(1, "id")])
    assert read(bench.log()[-1]).op == "create"
    assert bench.memory("use-keywords").is_active
    tip = bench.store.tip()
    again = bench.do(item)
    assert (again.verdict, again.kept, bench.store.tip()) == ("failed", "use-keywords", tip)


def test_a_supersede_of_nothing_says_so(bench: Bench) -> None:
    """RULES 1.7."""
    outcome = bench.do({"op": "supersede", "id": "nowhere", "content": "Use keywords.", "reason": "r"})
    assert (outcome.verdict, outcome.kept) == ("failed", "use-keywords")
    assert outcome.still_active is not None
    assert "does not exist" in outcome.still_active


def test_a_supersede_by_itself_leaves_it_active(bench: Bench) -> None:
    """RULES 1.7, 1.4."""
    item = {"op": "supersede", "id": "markers", "content": "use markers", "reason": "r"}
    outcome = bench.do(item)
    assert (outcome.verdict, outcome.kept, outcome.still_active) == ("failed", "markers", "markers")


# --- held proposals ---


def test_a_held_proposal_is_a_ref_on_top_of_the_tip(bench: Bench) -> None:
    """ARCHITECTURE, decision 8: nothing that a model proposed is lost, and the memory ref stays."""
    tip = bench.store.tip()
    batch = [create("Use tox.", evidence=[WEB]), create("Use pip.", evidence=[WEB])]
    outcome = bench.do(*batch, source=MODEL, grounds=WORLD)
    assert (outcome.verdict, outcome.after, bench.store.tip()) == ("held", tip, tip)
    ref = f"{PROPOSALS}{outcome.proposal}"
    chain = list(bench.store.history(bench.store.tip(ref)))
    assert chain[2].id == tip
    assert [read(commit.message).op for commit in chain[:2]] == ["create", "create"]
    assert all(read(commit.message).held for commit in chain[:2])
    [one] = waiting(bench.ledger)
    assert (one.id, one.actor, len(one.changes)) == (outcome.proposal, "memory-agent", 2)
    assert one.reason
    assert "could be checked" in one.reason


def test_the_same_proposal_is_made_once(bench: Bench) -> None:
    """RULES 6.7: its id derives from its content, not from when, or on what tip, it was made."""
    item = create("Use tox.", evidence=[WEB])
    first = bench.do(item, source=MODEL, grounds=WORLD)
    refs = bench.store.refs(PROPOSALS)
    bench.clock.ahead(days=3)
    bench.ok(create("Use ruff."))
    again = bench.do(item, source=Source(actor="memory-agent", session=ulid(7)), grounds=WORLD)
    assert (again.verdict, again.proposal) == ("held", first.proposal)
    assert bench.store.refs(PROPOSALS) == refs
    assert again.hint
    assert "still waits" in again.hint


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (create("Use tox."), create("Use pip.")),
        (create("Use tox."), create("Use tox.", section="Build")),
        (create("Use tox."), create("Use tox.", kind="constraint")),
        (create("Use tox."), create("Use tox.", applies_to=["tox.ini"])),
        (rescore("use-nox", 90), rescore("use-nox", 10)),
        (rescore("use-nox", 90), rescore("markers", 90)),
        ({"op": "archive", "id": "use-nox", "reason": "a"}, {"op": "archive", "id": "use-nox", "reason": "b"}),
        ({"op": "archive", "id": "use-nox", "reason": "a"}, {"op": "delete", "id": "use-nox", "reason": "a"}),
        ({"op": "update", "id": "use-nox", "tags": ["a"]}, {"op": "update", "id": "use-nox", "tags": ["b"]}),
    ],
)
def test_two_different_proposals_are_both_kept(bench: Bench, one: dict[str, Any], other: dict[str, Any]) -> None:
    """ARCHITECTURE, decision 8: nothing that was proposed is silently lost."""
    outcomes = [bench.do(item, hold="ask") for item in (one, other)]
    assert [outcome.verdict for outcome in outcomes] == ["held", "held"]
    assert len({outcome.proposal for outcome in outcomes}) == len(bench.store.refs(PROPOSALS)) == 2


def test_a_proposal_can_be_made_before_there_is_a_store() -> None:
    """ARCHITECTURE, decision 8: on the root, which the memory ref names from then on, so that it can be reviewed."""
    bench = Bench()
    outcome = bench.do(create("Use tox."), hold="ask")
    assert outcome.verdict == "held"
    assert bench.ledger.tip() == ROOT
    assert list(bench.store.history(bench.store.tip(f"{PROPOSALS}{outcome.proposal}")))[-1].id == ROOT


# --- logs ---


def test_every_verdict_lands_in_the_audit_log(bench: Bench) -> None:
    """RULES 4: with its reasons; what was rejected is kept beside it."""
    bench.store.logs["audit.jsonl"].clear()
    bench.ok(create("Use ruff."))
    bench.do(create("Use ruff."))
    bench.do(create("Use tox.", evidence=[WEB]), source=MODEL, grounds=WORLD)
    bench.do({"op": "supersede", "id": "nowhere", "content": "Use uv.", "reason": "r"})
    bad = rescore("nowhere")
    bench.do(bad)
    lines = bench.store.logs["audit.jsonl"]
    assert [line["verdict"] for line in lines] == ["committed", "noop", "held", "failed", "rejected"]
    assert [bool(line["reasons"]) for line in lines] == [False, False, True, True, True]
    assert [line["actor"] for line in lines] == ["user", "user", "memory-agent", "user", "user"]
    assert {line["time"] for line in lines} == {"2026-11-29T10:00:00Z"}
    [kept] = bench.store.logs["rejected.jsonl"]
    assert kept["operations"] == [bad]
    assert kept["reasons"] == lines[-1]["reasons"]
    json.dumps([lines, kept])


def test_every_ref_move_is_journaled(bench: Bench) -> None:
    """RULES 10."""
    tip = bench.store.tip()
    bench.ok(create("Use ruff."))
    last = bench.store.logs["journal"][-1]
    assert (last["ref"], last["old"], last["new"]) == (MEMORY_REF, tip, bench.store.tip())


@pytest.mark.parametrize(
    "item",
    [
        create(f"Log in with {TOKEN}."),
        create("Log in.", title=TOKEN),
        create("Log in.", evidence=[{"at": "turn:1", "quote": TOKEN}]),
        {"op": "archive", "id": "markers", "reason": f"it had {TOKEN}"},
        {"op": "update", "id": "markers", "tags": [TOKEN]},
        {"op": "create", TOKEN: TOKEN},
    ],
)
@pytest.mark.parametrize("hold", [None, "ask"])
def test_a_secret_is_in_no_log_ref_or_object(bench: Bench, item: dict[str, Any], hold: str | None) -> None:
    """RULES 4.3, case 29: "in no log, proposal or queue either"."""
    outcome = bench.do(create("Fine."), item, hold=hold)
    assert outcome.verdict == "rejected"
    assert all("secret" in reason.rule for reason in outcome.reasons)
    assert TOKEN not in repr(outcome)
    assert TOKEN not in everything(bench.store)
    assert bench.store.logs["rejected.jsonl"] == []
    assert bench.store.logs["audit.jsonl"][-1]["verdict"] == "rejected"


def test_a_secret_in_cited_lines_is_kept_out(bench: Bench) -> None:
    """RULES 4 "Evidence": quotes are redacted before they are kept."""
    world = World(files={"deploy.sh": f"curl -H 'Authorization: {TOKEN}'\n"})
    outcome = bench.ok(create("Deploy by curl.", evidence=[{"at": "deploy.sh#L1"}]), source=MODEL, grounds=world)
    assert outcome.operations[0].name == "deploy-by-curl"
    assert TOKEN not in everything(bench.store)
    assert "curl" in str(bench.memory("deploy-by-curl").source.evidence[0].quote)


# --- foreign trees ---

FOREIGN: dict[str, tuple[int, bytes]] = {
    "invincat.yaml": (0o100644, b"format: 1\n"),
    "notes.txt": (0o100644, b"\x00\xff\r\nbytes"),
    "tools/run.sh": (0o100755, b"#!/bin/sh\n"),
    "purged": (0o120000, b"/etc/passwd"),
    "deleted/readme.txt": (0o100644, b"x"),
    f"deleted/{ulid(5)}": (0o100644, b"no extension"),
    f"deleted/{ulid(6)}.md": (0o100644, b"---\nid: x\n---\n"),
    "memory/loose.md": (0o100644, b"loose\n"),
    "memory/Bad Folder/x.md": (0o100644, b"x\n"),
    "memory/link": (0o120000, b"../../etc"),
    "memory/sub": (0o160000, b""),
    "memory/testing/use-nox.md": (0o100644, b"---\ntitle: [broken\n---\n"),
    "memory/testing/USE-TOX.md": (0o100644, b"case twin\n"),
    "memory/testing/link.md": (0o120000, b"use-nox.md"),
    "memory/testing/run.md": (0o100755, b"executable\n"),
    "memory/testing/.hidden": (0o100644, b""),
    "memory/testing/inner/x.md": (0o100644, b"deeper\n"),
    "memory/testing/con.md": (0o100644, b"reserved\n"),
    "memory/testing/data.bin": (0o100644, bytes(range(256))),
    "memory/testing/latin-\udcff.md": (0o100644, b"odd name\n"),
    "unreadable/0123": (0o100644, b"<<<<<<<\n"),
}


@pytest.fixture
def foreign() -> Bench:
    """A store with a tree that nobody should have written."""
    bench = Bench()
    files = {path: entry for path, entry in FOREIGN.items() if entry[0] != 0o160000}
    commit = bench.store.plant(files)
    with bench.store.exclusive():
        assert bench.store.swap(MEMORY_REF, None, commit)
    return bench


def test_foreign_files_survive_our_commits_and_are_reported(foreign: Bench) -> None:
    """FORMAT "Tree": skipped and reported, never followed, and kept byte for byte by our commits."""
    planted = foreign.files()
    foreign.ok(create("Use nox."), create("Use tox."), create("Link."), create("Run."))
    foreign.ok({"op": "archive", "id": "link--" + foreign_suffix(foreign, "link"), "reason": "r"})
    assert {path: entry for path, entry in foreign.files().items() if path in planted} == planted
    view = foreign.fresh()
    reported = {problem.path.replace("\\xff", "\udcff") for problem in view.problems}
    silent = {"invincat.yaml", "unreadable/0123", "tools/run.sh", "memory/Bad Folder/x.md", "memory/testing/inner/x.md"}
    assert reported == (planted.keys() - silent) | {"tools", "memory/Bad Folder", "memory/testing/inner"}
    assert len(view) == 4


def foreign_suffix(bench: Bench, wanted: str) -> str:
    """The suffix that a name got."""
    return next(name.removeprefix(f"{wanted}--") for name in bench.fresh().names if name.startswith(f"{wanted}--"))


@pytest.mark.parametrize("name", ["use-nox", "use-tox", "link", "run"])
def test_a_skipped_file_keeps_its_name(foreign: Bench, name: str) -> None:
    """RULES 1.6, FORMAT "Tree": never clobbered, asked for by name or by title, also in another case."""
    outcome = foreign.do(create("Whatever.", name=name))
    assert (outcome.verdict, rules(outcome.reasons)) == ("rejected", ["RULES 1.6"])
    made = foreign.ok(create(f"{name.replace('-', ' ')}.")).operations[0]
    assert made.name is not None
    assert made.name.startswith(f"{name}--")


def test_a_bad_file_is_reported_with_its_line(foreign: Bench) -> None:
    """ARCHITECTURE, decision 10: reading is tolerant: skip, report file and line."""
    [problem] = [p for p in foreign.ledger.view().problems if p.path == "memory/testing/use-nox.md"]
    assert problem.line == 2
    assert "YAML" in problem.message


@pytest.mark.parametrize("name", [f"{ulid(9)}.md", "no extension", "notes.md"])
def test_a_marker_under_another_name_is_reported(name: str) -> None:
    """RULES 6.3: `deleted/<id>.md`, and nothing else counts."""
    bench = Bench()
    bench.ok(create("Use nox."))
    id = bench.memory("use-nox").id
    path = f"deleted/{id if name == 'no extension' else name}"
    marker = render_marker(marker_of(bench.memory("use-nox"), "use-nox", "wrong", NOW)).encode()
    with bench.store.exclusive():
        [new] = bench.store.write(bench.store.tip(), [Draft("by hand\n", {path: marker})], ADA, NOW)
        assert bench.store.swap(MEMORY_REF, bench.store.tip(), new)
    view = bench.fresh()
    assert view.markers == {}
    assert [problem.path for problem in view.problems] == [path]


def test_a_hand_made_edit_keeps_its_comments(bench: Bench) -> None:
    """FORMAT: unknown keys and comments stay byte for byte, whoever wrote them."""
    path = "memory/testing/use-nox.md"
    text = bench.files()[path][1].decode()
    edited = text.replace("tier:", "# ours\nowner: team  # who\ntier:").replace(
        "kind: convention", "kind: 'convention'  # yes"
    )
    with bench.store.exclusive():
        [new] = bench.store.write(bench.store.tip(), [Draft("by hand\n", {path: edited.encode()})], ADA, NOW)
        assert bench.store.swap(MEMORY_REF, bench.store.tip(), new)
    bench.ok(rescore("use-nox"), {"op": "archive", "id": "markers", "reason": "r"})
    bench.ok({"op": "archive", "id": "use-nox", "reason": "unsure"})
    done = bench.files()[path][1].decode()
    assert "# ours\nowner: team  # who\n" in done
    assert "kind: 'convention'  # yes\n" in done
    changed = [line for line in done.split("\n") if line not in edited.split("\n")]
    assert [line.split(":")[0] for line in changed] == [
        *("tier", "score", "score_reason", "last_scored_at", "invalid_at", "> Archived on 2026-11-29"),
    ]


# --- delete ---


def test_a_deleted_memory_leaves_a_marker_and_frees_its_name(bench: Bench) -> None:
    """RULES 1.6, 6.3, case 36: no text in the marker; a new memory of that name has a new id."""
    old = bench.memory("use-nox")
    bench.clock.ahead(days=1)
    bench.ok({"op": "delete", "id": "use-nox", "reason": "it was a joke"})
    marker = bench.files()[f"deleted/{old.id}.md"][1].decode()
    assert "memory/testing/use-nox.md" not in bench.files()
    assert "Use nox" not in marker
    assert "matrix" not in marker
    assert "it was a joke" in marker
    assert bench.fresh().markers[old.id].updated_at == bench.clock.now
    bench.ok(create("Use nox. It drives the matrix.", name="use-nox"))
    assert bench.memory("use-nox").id != old.id
    assert old.id in bench.fresh().markers


def test_the_user_scope_is_kept_apart() -> None:
    """RULES 7: an operation for the other scope is refused, never redirected."""
    bench = Bench(scope=Scope.USER)
    assert bench.ok(create("I like nox.", scope="user")).scope is Scope.USER
    assert places(bench.do(create("We use nox.")).reasons) == [(0, "scope")]


def test_a_model_commits_what_it_can_show(bench: Bench) -> None:
    """RULES 4: the evidence stands in the file and in the commit."""
    bench.ok(
        create("Sessions are listed in the noxfile.", name="sessions", evidence=[NOX]), source=MODEL, grounds=WORLD
    )
    assert read(bench.log()[-1]).sources == ("noxfile.py#L3",)
    assert bench.memory("sessions").source.evidence[0].quote == "nox.options.sessions"


def test_two_held_moves_are_two_proposals() -> None:
    """RULES 6.7: an id derives from what is proposed, and a move proposes a place."""
    bench = Bench()
    bench.ok(create("Use nox."))
    moves = [{"op": "move", "id": "use-nox", "name": name, "reason": "r"} for name in ("a", "b", "a")]
    held = [bench.do(item, hold="a person decides") for item in moves]
    assert held[0].proposal == held[2].proposal != held[1].proposal
