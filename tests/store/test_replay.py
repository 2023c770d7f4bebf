"""What another tool's move left out of our line is there again with our next write (RULES 3.4)."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from invincat.app import App
from invincat.ledger import Ledger
from invincat.memory.entry import Source
from invincat.memory.proposal import Proposal
from invincat.memory.scope import Scope
from invincat.store.base import BACKUPS, MEMORY_REF
from invincat.store.git import GitStore

Git = Callable[..., str]


@pytest.fixture
def ledger(repo: Path, tmp_path: Path) -> Iterator[Ledger]:
    ledger = App.at(repo, {"INVINCAT_DATA_DIR": str(tmp_path / "data")}).project
    ledger.start()
    submit(ledger, content="Tests run through nox.", name="nox")
    yield ledger
    assert isinstance(ledger.store, GitStore)
    ledger.store.close()


def submit(ledger: Ledger, **fields: Any) -> None:
    item = {"op": "create", "scope": "project", "section": "General", **fields}
    item = item if item["op"] == "create" else {key: item[key] for key in ("op", *fields)}
    assert ledger.submit(Proposal((item,), Scope.PROJECT, Source(actor="user"))).verdict == "committed"


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
    submit(ledger, content="Releases are tagged by hand.", name="tags")
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
    lost = ledger.tip()
    other = foreign(git, repo, base, theirs)
    submit(ledger, content="Releases are tagged by hand.", name="tags")
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
