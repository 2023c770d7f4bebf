"""Moves of the memory ref that are not ours: seen, marked, accepted, put back (RULES 10)."""

import json
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from invincat.agent.news import MemoryNews
from invincat.app import App
from invincat.errors import StoreError, UserError
from invincat.ledger import Ledger
from invincat.memory.entry import Source
from invincat.memory.proposal import Proposal
from invincat.memory.scope import Scope
from invincat.review import base_of, waiting
from invincat.store.base import BACKUPS, MEMORY_REF, PROPOSALS, Draft, ObjectMissing, Signature
from invincat.store.git import GitStore
from invincat.store.journal import Foreign, Trail
from invincat.store.state import Move, StateDir

Git = Callable[..., str]

ADA = Signature("Ada Lovelace", "ada@example.org")
NOW = datetime(2026, 11, 29, 10, 0, 0, tzinfo=UTC)


@pytest.fixture
def app(repo: Path, tmp_path: Path) -> App:
    return App.at(repo, {"INVINCAT_DATA_DIR": str(tmp_path / "data")})


@pytest.fixture
def ledger(app: App) -> Iterator[Ledger]:
    ledger = app.project
    learn(ledger, "Tests run through nox.")
    learn(ledger, "Releases are tagged by hand.")
    yield ledger
    assert isinstance(ledger.store, GitStore)
    ledger.store.close()


def learn(ledger: Ledger, content: str, **fields: Any) -> str:
    operation = {"op": "create", "scope": "project", "section": "General", "content": content, **fields}
    outcome = ledger.submit(Proposal((operation,), Scope.PROJECT, origin()))
    assert outcome.verdict == "committed", outcome
    return str(outcome.operations[0].id)


def origin() -> Source:
    return Source(actor="user")


def by_hand(git: Git, repo: Path, change: Callable[[Path], None]) -> str:
    """A commit on the memory ref that somebody makes with plain git; its id."""
    tree = repo.parent / "by-hand"
    git("worktree", "add", "--quiet", "--detach", str(tree), MEMORY_REF)
    change(tree)
    git("add", "--all", cwd=tree)
    git("commit", "--quiet", "--message", "By hand", cwd=tree)
    commit = git("rev-parse", "HEAD", cwd=tree).strip()
    git("update-ref", MEMORY_REF, commit)
    git("worktree", "remove", "--force", str(tree))
    return commit


def reword(tree: Path) -> None:
    [path] = tree.glob("memory/general/tests-run*.md")
    path.write_text(path.read_text().replace("nox", "make"))


def titles(app: App) -> str:
    return app.briefing([]).text


def test_our_own_moves_are_never_foreign(ledger: Ledger) -> None:
    assert ledger.foreign.moves() == ()
    assert ledger.foreign.memories() == frozenset()


def test_a_hand_commit_stays_is_told_and_not_injected(app: App, ledger: Ledger, repo: Path, git: Git) -> None:
    before = ledger.tip()
    assert "nox" in titles(app)
    commit = by_hand(git, repo, reword)
    assert ledger.foreign.moves() == (Foreign(before, commit),)
    assert ledger.tip() == commit
    assert "make" not in titles(app)
    assert "tagged" in titles(app), "what it did not touch is told as before"


def test_our_write_on_top_does_not_launder(app: App, ledger: Ledger, repo: Path, git: Git) -> None:
    by_hand(git, repo, reword)
    [bad] = ledger.foreign.memories()
    learn(ledger, "Docs live beside the code.")
    ledger.submit(Proposal(({"op": "rescore", "id": bad, "score": 90, "reason": "r"},), Scope.PROJECT, origin()))
    assert ledger.foreign.memories() == {bad}
    assert "make" not in titles(app)
    assert "Docs live" in titles(app)


def test_accepted_it_is_like_any_other(app: App, ledger: Ledger, repo: Path, git: Git) -> None:
    by_hand(git, repo, reword)
    learn(ledger, "Docs live beside the code.")
    [move] = ledger.foreign.moves()
    ledger.foreign.accept(move)
    assert ledger.foreign.moves() == ()
    assert "make" in titles(app)


def test_accepting_one_move_accepts_no_other(ledger: Ledger, repo: Path, git: Git) -> None:
    by_hand(git, repo, reword)
    first = ledger.foreign.moves()
    learn(ledger, "Docs live beside the code.")
    second = by_hand(git, repo, lambda tree: (tree / "README.md").write_text("mine\n") and None)
    assert [move.new for move in ledger.foreign.moves()] == [first[0].new, second]
    ledger.foreign.accept(first[0])
    assert [move.new for move in ledger.foreign.moves()] == [second]


def test_a_ref_set_back_is_foreign_too(ledger: Ledger, git: Git) -> None:
    tip = ledger.tip()
    parent = git("rev-parse", f"{MEMORY_REF}^").strip()
    git("update-ref", MEMORY_REF, parent)
    assert ledger.foreign.moves() == (Foreign(tip, parent),)


def test_a_killed_writers_move_is_ours(ledger: Ledger, repo: Path, git: Git) -> None:
    """Killed between the move and its line in the journal."""
    tip, parent = ledger.tip(), git("rev-parse", f"{MEMORY_REF}^").strip()
    StateDir(repo / ".git/invincat").announce(Move(MEMORY_REF, tip, parent))
    git("update-ref", MEMORY_REF, parent)
    assert ledger.foreign.moves() == ()


def test_without_a_journal_the_tip_is_where_it_begins(ledger: Ledger, repo: Path, git: Git) -> None:
    (repo / ".git/invincat/journal").unlink()
    assert ledger.foreign.moves() == ()
    learn(ledger, "Docs live beside the code.")
    assert ledger.foreign.moves() == ()
    by_hand(git, repo, reword)
    assert len(ledger.foreign.moves()) == 1


def test_a_torn_line_hides_nothing(ledger: Ledger, repo: Path, git: Git) -> None:
    with (repo / ".git/invincat/journal").open("a") as file:
        file.write('{"at":"2026')
    commit = by_hand(git, repo, reword)
    learn(ledger, "Docs live beside the code.")
    assert [move.new for move in ledger.foreign.moves()] == [commit]


def test_a_lost_ref_is_no_reason_to_begin_anew(ledger: Ledger, git: Git) -> None:
    tip = ledger.tip()
    git("update-ref", "-d", MEMORY_REF)
    assert ledger.foreign.moves() == (Foreign(tip, None),)
    for write in (ledger.start, lambda: learn(ledger, "Docs live beside the code.")):
        with pytest.raises(StoreError, match="doctor --repair"):
            write()


def test_old_lines_are_read_once(ledger: Ledger, repo: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    """RULES 11: a briefing must not pay for years of writing."""
    commit = by_hand(git, repo, reword)
    learn(ledger, "Docs live beside the code.")
    tip = ledger.tip()
    with (repo / ".git/invincat/journal").open("a") as file:
        for _ in range(1000):
            file.write(json.dumps({"at": "x", "ref": MEMORY_REF, "old": tip, "new": tip}) + "\n")
    assert [move.new for move in ledger.foreign.moves()] == [commit]
    asked: list[int] = []
    original = GitStore.read_log

    def spy(store: GitStore, log: Any, after: int = 0) -> Any:
        asked.append(after)
        return original(store, log, after)

    monkeypatch.setattr(GitStore, "read_log", spy)
    assert [move.new for move in ledger.foreign.moves()] == [commit]
    assert min(asked) == (repo / ".git/invincat/journal").stat().st_size
    (repo / ".git/invincat/journal").write_text("")
    assert ledger.foreign.moves() == ()


def test_a_conversation_is_told_of_it_once_it_is_accepted(app: App, ledger: Ledger, repo: Path, git: Git) -> None:
    news = MemoryNews(app.injectable())
    by_hand(git, repo, reword)
    assert "make" not in str(news.since_last(app.injectable()))
    [move] = ledger.foreign.moves()
    ledger.foreign.accept(move)
    assert "holds now: Tests run through make" in str(news.since_last(app.injectable()))


# put back


def test_what_an_agents_command_moved_is_put_back_and_kept(app: App, ledger: Ledger, repo: Path, git: Git) -> None:
    before = ledger.tip()
    by_hand(git, repo, reword)
    kept = ledger.foreign.put_back()
    assert ledger.tip() == before
    assert ledger.foreign.moves() == ()
    assert list(ledger.store.refs(PROPOSALS)) == [f"{PROPOSALS}{kept}"]
    assert "nox" in titles(app)
    learn(ledger, "Docs live beside the code.")
    assert kept is not None
    assert ledger.accept(kept).verdict == "committed"
    assert "make" in titles(app)
    assert "Docs live" in titles(app)
    assert ledger.store.refs(PROPOSALS) == {}


def test_what_was_foreign_before_the_command_is_not_put_back(ledger: Ledger, repo: Path, git: Git) -> None:
    commit = by_hand(git, repo, reword)
    assert ledger.foreign.put_back(ledger.foreign.moves()) is None
    assert ledger.tip() == commit


def test_a_store_of_a_newer_format_is_left_as_it_is(ledger: Ledger, repo: Path, git: Git) -> None:
    store = ledger.store
    with store.exclusive():
        [newer] = store.write(str(store.tip()), [Draft("up\n", {"invincat.yaml": b"format: 2\n"})], ADA, NOW)
        store.swap(MEMORY_REF, store.tip(), newer)
    commit = by_hand(git, repo, reword)
    with pytest.raises(StoreError, match="is of format 2"):
        ledger.foreign.put_back()
    assert ledger.tip() == commit


def test_a_deletion_and_a_step_back_are_undone(ledger: Ledger, git: Git) -> None:
    tip = ledger.tip()
    for spoil in (["-d", MEMORY_REF], [MEMORY_REF, f"{MEMORY_REF}^"]):
        git("update-ref", *spoil)
        assert ledger.foreign.put_back() is None
        assert (ledger.tip(), ledger.foreign.moves()) == (tip, ())
    assert ledger.store.refs(PROPOSALS) == {}


def test_what_was_put_back_is_not_taken_over_what_changed_since(ledger: Ledger, repo: Path, git: Git) -> None:
    by_hand(git, repo, reword)
    kept = ledger.foreign.put_back()
    assert kept is not None
    [record] = [record for record in ledger.view() if "nox" in record.memory.title]
    ledger.submit(Proposal(({"op": "archive", "id": record.id, "reason": "r"},), Scope.PROJECT, origin()))
    outcome = ledger.accept(kept)
    assert outcome.verdict == "rejected"
    assert record.path in outcome.reasons[0].message


@pytest.mark.slow
def test_folders_that_hold_each_other_many_times_are_put_back_too(ledger: Ledger, git: Git) -> None:
    before = str(ledger.tip())
    tree = git("rev-parse", f"{before}:memory").strip()
    for _ in range(14):
        tree = git("mktree", input="".join(f"040000 tree {tree}\td{number}\n" for number in range(10))).strip()
    top = git("ls-tree", before)
    bomb = git("mktree", input=f"{top}040000 tree {tree}\tbomb\n").strip()
    git("update-ref", MEMORY_REF, commit := git("commit-tree", bomb, "-p", before, "-m", "a bomb").strip())
    assert ledger.foreign.put_back() is None
    assert (ledger.tip(), ledger.foreign.moves()) == (before, ())
    assert list(ledger.store.refs(BACKUPS).values()) == [commit]


@pytest.mark.parametrize(
    "kind", ["a file where a folder was", "a name that leaves the tree", "no tree", "no file", "no commit", "nothing"]
)
def test_what_cannot_be_a_proposal_is_put_back_too(ledger: Ledger, repo: Path, git: Git, kind: str) -> None:
    before = str(ledger.tip())
    moved = odd_move(git, repo, before, kind)
    (repo / ".git" / MEMORY_REF).write_text(f"{moved}\n")
    assert ledger.foreign.put_back() is None
    assert (ledger.tip(), ledger.foreign.moves()) == (before, ())
    kept = [] if kind in {"no commit", "nothing"} else [moved]
    assert list(ledger.store.refs(BACKUPS).values()) == kept


def odd_move(git: Git, repo: Path, parent: str, kind: str) -> str:
    """What a program that is not git may set the ref to."""
    write = ("hash-object", "-w", "--literally", "--stdin", "-t")
    blob = git("hash-object", "-w", "--stdin", input="x\n").strip()
    top = subprocess.run(["git", "cat-file", "tree", f"{parent}^{{tree}}"], cwd=repo, capture_output=True, check=True)
    at = top.stdout.index(b"40000 memory\0")
    trees = {
        "a file where a folder was": top.stdout[:at] + b"100644 memory\0" + bytes.fromhex(blob),
        "a name that leaves the tree": top.stdout + b"100644 ..\0" + bytes.fromhex(blob),
        "no file": top.stdout + b"100644 z\0" + bytes.fromhex("1" * 40),
    }
    if kind in {"no commit", "nothing"}:
        return blob if kind == "no commit" else "1" * 40
    tree = git(*write, "tree", input=trees[kind]).strip() if kind in trees else "1" * 40
    who = "A <b@c.d> 1700000000 +0000"
    lines = [f"tree {tree}", f"parent {parent}", f"author {who}", f"committer {who}", "", "odd", ""]
    return git(*write, "commit", input="\n".join(lines)).strip()


def test_a_step_back_that_a_gc_made_final_is_not_undone_into_nothing(ledger: Ledger, git: Git) -> None:
    """A long-lived process still knows the commit, which is on no disk any more."""
    assert len(list(ledger.store.history(str(ledger.tip())))) == 3
    git("update-ref", MEMORY_REF, f"{MEMORY_REF}^")
    git("gc", "--quiet", "--prune=now")
    with pytest.raises(ObjectMissing):
        ledger.foreign.put_back()
    git("log", MEMORY_REF)


def orphan(git: Git, message: str = "From elsewhere") -> str:
    """Somebody's root with the files of the store."""
    return git("commit-tree", f"{MEMORY_REF}^{{tree}}", "-m", message).strip()


def test_somebodys_root_on_the_ref_is_put_back_and_can_be_taken(ledger: Ledger, repo: Path, git: Git) -> None:
    before, changed = ledger.tip(), by_hand(git, repo, reword)
    git("update-ref", MEMORY_REF, orphan(git))
    kept = ledger.foreign.put_back()
    assert kept is not None
    assert ledger.tip() == before
    assert ledger.accept(kept).verdict == "committed"
    assert git("diff", "--stat", str(changed), MEMORY_REF) == ""


def test_a_proposal_that_is_somebodys_root_is_told_of_and_can_be_rejected(ledger: Ledger, git: Git) -> None:
    before = ledger.tip()
    id = "01JDXQ6T3M9V0K8Y2W5R7N4B1C"
    git("update-ref", f"{PROPOSALS}{id}", orphan(git, "From elsewhere\n\nInvincat-Held: because"))
    [one] = waiting(ledger)
    for decide in (lambda: ledger.accept(id), lambda: base_of(ledger, one)):
        with pytest.raises(UserError, match=r"stands on no memory commit; .*`invincat review reject`"):
            decide()
    ledger.reject(id, "not ours")
    assert (ledger.tip(), waiting(ledger)) == (before, [])


def test_a_secret_that_was_put_back_is_never_taken(ledger: Ledger, repo: Path, git: Git) -> None:
    token = "ghp_" + "Zk3Qv8Lr2Tn5Wb7Xc9Yd4Mf6Hs1Jg0Pa3Ue8"
    by_hand(git, repo, lambda tree: (tree / "README.md").write_text(token) and None)
    kept = ledger.foreign.put_back()
    assert kept is not None
    outcome = ledger.accept(kept)
    assert outcome.verdict == "rejected"
    assert "secret" in outcome.reasons[0].rule


def test_the_trail_tells_gaps_from_moves_of_ours() -> None:
    trail = Trail().follow([{"ref": MEMORY_REF, "old": None, "new": "a"}, {"ref": "refs/x", "old": "q", "new": "r"}], 2)
    assert (trail.tip, trail.foreign) == ("a", ())
    trail = trail.follow([{"ref": MEMORY_REF, "old": "b", "new": "c"}], 3)
    assert trail.foreign == (Foreign("a", "b"),)
    assert trail.follow([{"accepted": "b"}], 4).foreign == ()


@pytest.mark.parametrize("odd", [7, ["x"], {"a": 1}, True])
def test_a_line_that_names_no_commit_says_nothing_of_a_move(odd: Any) -> None:
    """The journal is a file that anything may have written to: no odd value stops a command."""
    lines = [
        {"ref": MEMORY_REF, "old": None, "new": "a"},
        {"ref": MEMORY_REF, "old": "a", "new": odd},
        {"ref": MEMORY_REF, "old": odd, "new": "z"},
        {"ref": MEMORY_REF, "old": "a", "new": "b"},
    ]
    assert Trail().follow(lines, 1) == Trail(1, True, "b", ())
