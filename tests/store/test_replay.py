"""What another tool's move left out of our line is there again with our next write (RULES 3.4)."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from invincat.app import App, utc_now
from invincat.ledger import Ledger
from invincat.memory.entry import Source
from invincat.memory.proposal import Proposal
from invincat.memory.scope import Scope
from invincat.purge import purge
from invincat.store.base import BACKUPS, MEMORY_REF, REJECTED
from invincat.store.git import GitStore
from invincat.store.purge import seek_memory

Git = Callable[..., str]


@pytest.fixture
def ledger(repo: Path, tmp_path: Path) -> Iterator[Ledger]:
    ledger = App.at(repo, {"INVINCAT_DATA_DIR": str(tmp_path / "data")}).project
    ledger.start()
    submit(ledger, content="Tests run through nox.", name="nox")
    yield ledger
    assert isinstance(ledger.store, GitStore)
    ledger.store.close()


def submit(ledger: Ledger, **fields: Any) -> str:
    """Write one operation; what is told of it."""
    item = {"op": "create", "scope": "project", "section": "General", **fields}
    item = item if item["op"] == "create" else {key: item[key] for key in ("op", *fields)}
    outcome = ledger.submit(Proposal((item,), Scope.PROJECT, Source(actor="user")))
    assert outcome.verdict == "committed"
    return outcome.hint or ""


def foreign(git: Git, repo: Path, parent: str, files: dict[str, str | None]) -> str:
    """A commit that another tool made on `parent`, and to which its update of the ref leads."""
    index = {"GIT_INDEX_FILE": str(repo / ".git/other")}
    git("read-tree", parent, env=index)
    for path, text in files.items():
        if text is None:
            git("update-index", "--force-remove", path, env=index)
        else:
            blob = git("hash-object", "-w", "--stdin", input=text).strip()
            git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", env=index)
    commit = git("commit-tree", git("write-tree", env=index).strip(), "-p", parent, "-m", "from elsewhere").strip()
    git("update-ref", MEMORY_REF, commit)
    return commit


def names(ledger: Ledger) -> set[str]:
    return {record.name for record in ledger.view()}


def test_the_next_write_brings_it_back_as_it_was_said(ledger: Ledger, repo: Path, git: Git) -> None:
    base = str(ledger.tip())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_AUTHOR_NAME", "Grace")
        with_grace = App.at(repo, {"INVINCAT_DATA_DIR": str(repo.parent / "data")}).project
        submit(with_grace, op="supersede", id="nox", content="Tests run through tox.", reason="tox it is", name="tox")
    submit(ledger, content="Docs live beside the code.", name="docs")
    said = git("log", "--format=%an %at%n%B", f"{base}..{MEMORY_REF}")
    other = foreign(git, repo, base, {"notes.txt": "from elsewhere\n"})
    assert names(ledger) == {"nox"}
    told = submit(ledger, content="Releases are tagged by hand.", name="tags")
    assert "had left out supersede general/nox by general/tox, create general/docs: done again" in told
    assert names(ledger) == {"nox", "tox", "docs", "tags"}
    nox = ledger.view().find("nox")
    assert nox is not None
    assert not nox.memory.is_active
    assert git("log", "--format=%an %at%n%B", f"{other}..{MEMORY_REF}~1") == said
    assert git("show", f"{MEMORY_REF}:notes.txt") == "from elsewhere\n"
    assert [move.new for move in ledger.foreign.moves()] == [other], "and what came past the gate stays so"
    tip = ledger.tip()
    submit(ledger, content="Once is enough.", name="once")
    assert git("rev-parse", f"{MEMORY_REF}^").strip() == tip


@pytest.mark.parametrize(
    "theirs",
    [
        {"memory/general/docs.md": "other words\n"},
        {"memory/other/docs.md": "a name is its own in the whole store\n"},
        {"memory/general/nox.md": None},
    ],
)
def test_what_both_sides_touched_waits_in_the_backup(
    ledger: Ledger, repo: Path, git: Git, theirs: dict[str, str | None]
) -> None:
    base = str(ledger.tip())
    submit(ledger, content="Docs live beside the code.", name="docs")
    submit(ledger, op="update", id="nox", content="Tests run through nox. All of them.")
    lost = str(ledger.tip())
    other = foreign(git, repo, base, theirs)
    told = submit(ledger, content="Releases are tagged by hand.", name="tags")
    assert f"`invincat diff {other[:12]}..{lost[:12]}`" in told
    assert git("rev-parse", f"{MEMORY_REF}^").strip() == other
    assert list(ledger.store.refs(BACKUPS).values()) == [lost]


def test_where_the_ref_moves_again_meanwhile_it_is_not_forgotten(
    ledger: Ledger, repo: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = str(ledger.tip())
    submit(ledger, content="Docs live beside the code.", name="docs")
    other = foreign(git, repo, base, {"notes.txt": "from elsewhere\n"})
    swap, moves = ledger.store.swap, iter(["again.txt"])

    def late(ref: str, old: str | None, new: str | None) -> bool:
        for path in moves:
            foreign(git, repo, other, {path: "from elsewhere\n"})
        return swap(ref, old, new)

    monkeypatch.setattr(ledger.store, "swap", late)
    submit(ledger, content="Releases are tagged by hand.", name="tags")
    assert names(ledger) == {"nox", "docs", "tags"}
    assert git("show", f"{MEMORY_REF}:again.txt") == "from elsewhere\n"


def test_finding_out_reads_no_history(ledger: Ledger, repo: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who reads asks, too, as long as nobody writes: at 10,000 commits that took two seconds each time."""
    base = str(ledger.tip())
    submit(ledger, content="Docs live beside the code.", name="docs")
    lost = ledger.tip()
    monkeypatch.setattr(GitStore, "history", lambda *_: pytest.fail("read the history"))
    git("update-ref", MEMORY_REF, base)
    assert ledger.store.left_behind() is None
    foreign(git, repo, base, {"notes.txt": "from elsewhere\n"})
    assert ledger.store.left_behind() == lost


def test_a_dry_run_moves_nothing(ledger: Ledger, repo: Path, git: Git) -> None:
    base = str(ledger.tip())
    submit(ledger, content="Docs live beside the code.", name="docs")
    other = foreign(git, repo, base, {"notes.txt": "from elsewhere\n"})
    item = {"op": "create", "scope": "project", "section": "General", "content": "Nothing."}
    ledger.submit(Proposal((item,), Scope.PROJECT, Source(actor="user")), dry_run=True)
    assert ledger.tip() == other


def test_a_foreign_commit_that_was_left_out_too_is_not_ours_to_bring_back(ledger: Ledger, repo: Path, git: Git) -> None:
    base = str(ledger.tip())
    foreign(git, repo, base, {"one.txt": "1\n", "memory/general/nox.md": "their words\n"})
    submit(ledger, content="Docs live beside the code.", name="docs")
    other = foreign(git, repo, base, {"two.txt": "2\n"})
    submit(ledger, content="Releases are tagged by hand.", name="tags")
    assert git("rev-parse", f"{MEMORY_REF}~2").strip() == other
    assert names(ledger) == {"nox", "docs", "tags"}
    top = git("ls-tree", "--name-only", MEMORY_REF).split()
    assert ("one.txt" in top, "two.txt" in top) == (False, True)


@pytest.mark.slow
def test_folders_that_hold_each_other_many_times_stop_no_write(ledger: Ledger, repo: Path, git: Git) -> None:
    base = str(ledger.tip())
    submit(ledger, content="Docs live beside the code.", name="docs")
    tree = git("rev-parse", f"{base}:memory").strip()
    for _ in range(14):
        tree = git("mktree", input="".join(f"040000 tree {tree}\td{number}\n" for number in range(10))).strip()
    bomb = git("mktree", input=f"{git('ls-tree', base)}040000 tree {tree}\tbomb\n").strip()
    git("update-ref", MEMORY_REF, git("commit-tree", bomb, "-p", base, "-m", "a bomb").strip())
    submit(ledger, content="Releases are tagged by hand.", name="tags")
    assert names(ledger) == {"nox", "tags"}


def test_an_agents_move_beside_ours_is_still_put_back(ledger: Ledger, repo: Path, git: Git) -> None:
    base = str(ledger.tip())
    submit(ledger, content="Docs live beside the code.", name="docs")
    tip = ledger.tip()
    foreign(git, repo, base, {"notes.txt": "from elsewhere\n"})
    assert ledger.foreign.put_back() is not None
    assert ledger.tip() == tip


def test_what_a_person_undid_and_accepted_stays_undone(ledger: Ledger, repo: Path, git: Git) -> None:
    """RULES 10: a move of theirs stays; with a yes to it nothing is done again."""
    base = str(ledger.tip())
    submit(ledger, content="Docs live beside the code.", name="docs")
    git("update-ref", MEMORY_REF, base)
    assert submit(ledger, content="Releases are tagged by hand.", name="tags") == ""
    submit(ledger, content="Deploys wait for green.", name="deploys")
    foreign(git, repo, f"{MEMORY_REF}~", {"notes.txt": "instead of deploys\n"})
    ledger.foreign.accept(ledger.foreign.moves()[-1])
    assert submit(ledger, content="Once is enough.", name="once") == ""
    assert names(ledger) == {"nox", "tags", "once"}


def test_what_was_deleted_elsewhere_does_not_come_back(ledger: Ledger, repo: Path, git: Git) -> None:
    """There is nothing left of the memory but its marker, which stands at another path."""
    base = str(ledger.tip())
    submit(ledger, content="Docs live beside the code.", name="docs")
    made, marker = str(ledger.tip()), f"deleted/{_id(ledger, 'docs')}.md"
    submit(ledger, op="delete", id="docs", reason="they moved")
    words = git("show", f"{MEMORY_REF}:{marker}")
    git("update-ref", MEMORY_REF, made)
    submit(ledger, content="Releases are tagged by hand.", name="tags")
    foreign(git, repo, base, {marker: words})
    submit(ledger, content="Once is enough.", name="once")
    assert names(ledger) == {"nox", "once"}


def test_what_was_purged_elsewhere_does_not_come_back_and_the_rest_does(
    ledger: Ledger, repo: Path, git: Git, tmp_path: Path
) -> None:
    """HOOKS_AND_REVIEW "Sync and purge": operations since are done again on the clean history."""
    submit(ledger, content="The launch code is swordfish today.", name="code")
    clone = tmp_path / "clone"
    git("clone", "--quiet", str(repo), str(clone))
    git("fetch", "--quiet", "origin", f"{MEMORY_REF}:{MEMORY_REF}", cwd=clone)
    there = App.at(clone, {"INVINCAT_DATA_DIR": str(tmp_path / "theirs")}).project
    assert isinstance(there.store, GitStore)
    assert not purge(there.store, Scope.PROJECT, seek_memory(there.store, _id(there, "code")), [], utc_now()).left
    submit(ledger, content="Docs live beside the code.", name="docs")
    git("fetch", "--quiet", str(clone), f"+{MEMORY_REF}:{MEMORY_REF}")
    assert "create general/docs" in submit(ledger, content="Releases are tagged by hand.", name="tags")
    assert names(ledger) == {"nox", "docs", "tags"}
    assert "swordfish" not in git("log", "--patch", MEMORY_REF)


@pytest.mark.parametrize(
    "odd",
    [
        {"author": "A <b> <c@d.e>"},
        {"message": "create a/b\0"},
        {"name": ".."},
        {"name": ".git"},
    ],
)
def test_what_no_git_wrote_is_not_done_again_and_stops_no_write(
    ledger: Ledger, repo: Path, git: Git, odd: dict[str, str]
) -> None:
    base = str(ledger.tip())
    git("update-ref", MEMORY_REF, crafted(git, repo, base, **odd))
    submit(ledger, content="Docs live beside the code.", name="docs")
    foreign(git, repo, base, {"notes.txt": "from elsewhere\n"})
    assert "cannot simply be done again" in submit(ledger, content="Releases are tagged by hand.", name="tags")
    assert names(ledger) == {"nox", "tags"}


def crafted(
    git: Git,
    repo: Path,
    parent: str,
    author: str = "A <b@c.d>",
    message: str = "create a/b",
    name: str = "a.txt",
) -> str:
    """A commit on `parent` with one more file that says it is ours, as a program other than git may write it."""
    tree = subprocess.run(["git", "cat-file", "tree", f"{parent}^{{tree}}"], cwd=repo, capture_output=True, check=True)
    blob = git("hash-object", "-w", "--stdin", input="x\n").strip()
    data = tree.stdout + f"100644 {name}".encode() + b"\0" + bytes.fromhex(blob)
    write = ("hash-object", "-w", "--literally", "--stdin", "-t")
    lines = [f"tree {git(*write, 'tree', input=data).strip()}", f"parent {parent}"]
    lines += [f"{role} {author} 1700000000 +0000" for role in ("author", "committer")]
    text = "\n".join([*lines, "", message, "", "Invincat-Op: create", ""])
    return git(*write, "commit", input=text).strip()


def test_what_is_done_again_is_told_as_it_can_be_printed(ledger: Ledger, repo: Path, git: Git) -> None:
    base = str(ledger.tip())
    git("update-ref", MEMORY_REF, crafted(git, repo, base, message="create \x1b[2J"))
    submit(ledger, content="Docs live beside the code.", name="docs")
    foreign(git, repo, base, {"notes.txt": "from elsewhere\n"})
    told = submit(ledger, content="Releases are tagged by hand.", name="tags")
    assert r"left out create \x1b[2J, create general/docs: done again" in told


def test_folders_without_a_file_that_hold_each_other_stop_no_write(ledger: Ledger, repo: Path, git: Git) -> None:
    base = str(ledger.tip())
    submit(ledger, content="Docs live beside the code.", name="docs")
    blob = git("hash-object", "-w", "--stdin", input="README.md").strip()
    tree = git("mktree", input=f"120000 blob {blob}\tlink\n").strip()
    for _ in range(40):
        tree = git("mktree", input=f"040000 tree {tree}\ta\n040000 tree {tree}\tb\n").strip()
    bomb = git("mktree", input=f"{git('ls-tree', base)}040000 tree {tree}\tbomb\n").strip()
    git("update-ref", MEMORY_REF, git("commit-tree", bomb, "-p", base, "-m", "a bomb").strip())
    submit(ledger, content="Releases are tagged by hand.", name="tags")
    assert names(ledger) == {"nox", "tags"}


def test_many_moves_of_other_refs_do_not_hide_it(ledger: Ledger, repo: Path, git: Git) -> None:
    base = str(ledger.tip())
    submit(ledger, content="Docs live beside the code.", name="docs")
    with ledger.store.exclusive():
        for number in range(100):
            ledger.store.swap(f"{REJECTED}01JDXQ6T3M9V0K8Y2W5R7N4{number:03}", None, base)
    foreign(git, repo, base, {"notes.txt": "from elsewhere\n"})
    submit(ledger, content="Releases are tagged by hand.", name="tags")
    assert names(ledger) == {"nox", "docs", "tags"}


def test_accepting_what_was_put_back_does_not_let_it_be_forgotten(ledger: Ledger, repo: Path, git: Git) -> None:
    base = str(ledger.tip())
    foreign(git, repo, base, {"agents.txt": "from an agent\n"})
    kept = ledger.foreign.put_back()
    assert kept is not None
    submit(ledger, content="Docs live beside the code.", name="docs")
    foreign(git, repo, base, {"notes.txt": "from elsewhere\n"})
    assert "create general/docs: done again" in str(ledger.accept(kept).hint)
    assert names(ledger) == {"nox", "docs"}
    assert {"agents.txt", "notes.txt"} < set(git("ls-tree", "--name-only", MEMORY_REF).split())


@pytest.mark.parametrize("is_fresh", [False, True])
def test_what_a_gc_took_meanwhile_is_told_and_gets_no_backup_that_leads_nowhere(
    ledger: Ledger, repo: Path, git: Git, is_fresh: bool
) -> None:
    """Git refuses to work on a repository with such a ref; a long-lived process still knows the commit."""
    base = str(ledger.tip())
    submit(ledger, content="Docs live beside the code.", name="docs")
    lost = str(ledger.tip())
    assert len(list(ledger.store.history(lost))) == 3
    foreign(git, repo, base, {"notes.txt": "from elsewhere\n"})
    git("gc", "--quiet", "--prune=now")
    assert f"git has dropped it; a clone or a backup of the disk may still have {lost[:12]}" in submit(
        App.at(repo, {"INVINCAT_DATA_DIR": str(repo.parent / "data")}).project if is_fresh else ledger,
        content="Releases are tagged by hand.",
        name="tags",
    )
    assert ledger.store.refs(BACKUPS) == {}
    git("gc", "--quiet", "--prune=now")


def _id(ledger: Ledger, name: str) -> str:
    record = ledger.view().find(name)
    assert record is not None
    return record.id


@pytest.mark.parametrize("words", ["--octopus", "HEAD", "\x1b]0;title\x07", "5" * 39, ["5" * 40]])
def test_what_is_no_id_in_the_journal_is_not_looked_for(ledger: Ledger, words: object) -> None:
    """A repository that came as an archive brings its journal."""
    ledger.store.append("journal", {"ref": MEMORY_REF, "old": None, "new": words})
    assert ledger.store.left_behind() is None
    assert submit(ledger, content="Releases are tagged by hand.", name="tags") == ""
