"""Whether memories hold here, on real repositories (RULES 12; case 2)."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from invincat.governance.grounding import Holds
from invincat.memory.entry import Source as Origin
from invincat.memory.evidence import Evidence
from invincat.memory.scope import Scope
from invincat.memory.view import Record, record_of
from invincat.store import standing as standing_module
from invincat.store.locate import locate, run_in
from invincat.store.source import Source
from invincat.store.standing import Standings
from invincat.store.verdicts import KEPT, VerdictCache
from tests.memory.factories import memory, ulid

NOX = "nox.options.sessions = ['tests']"


@dataclass
class Code:
    """A repository, and what a memory that is learned in it is worth there."""

    root: Path
    run: Callable[..., str]
    cache: VerdictCache
    made: int = field(default=0)

    def git(self, *arguments: str) -> str:
        return self.run(*arguments, cwd=self.root).strip()

    def write(self, path: str, text: str | bytes, commit: bool = True) -> str:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode() if isinstance(text, str) else text)
        return self.commit() if commit else ""

    def commit(self) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "Change")
        return self.git("rev-parse", "HEAD")

    def learn(self, *items: str | Evidence, actor: str = "memory-agent", scope: Scope = Scope.PROJECT) -> Record:
        """A memory that rests on `path: quote`, `commit:<id>` or whole items, learned here and now."""
        self.made += 1
        source = Source(locate(self.root))
        head = source.head()
        origin = Origin(
            actor=actor,
            commit=head[:7] if head else None,
            branch=source.branch(),
            evidence=tuple(item if isinstance(item, Evidence) else _evidence(item) for item in items),
        )
        made = memory(id=ulid(self.made), source=origin, scope=scope)
        return record_of(made, f"memory/testing/m{self.made}.md", hashlib.sha1(made.id.encode()).hexdigest())

    def standings(self, root: Path | None = None, **how: Any) -> Standings:
        return Standings(Source(locate(root or self.root)), self.cache, **how)

    def holds(self, record: Record, root: Path | None = None) -> str:
        return str(self.standings(root).of([record])[record.id].holds)

    def mark(self, record: Record) -> str:
        return self.standings().of([record])[record.id].mark


def _evidence(text: str) -> Evidence:
    if text.startswith(("commit:", "turn:", "url:")):
        return Evidence(at=text)
    path, _, quote = text.partition(": ")
    return Evidence(at=f"{path}#L1", quote=quote)


@pytest.fixture
def code(repo: Path, git: Callable[..., str], tmp_path: Path) -> Code:
    return Code(repo, git, VerdictCache(tmp_path / "cache", "origin"))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The git commands that batches ran."""
    commands: list[str] = []

    def spy(repository: Any, arguments: Any, **how: Any) -> Any:
        commands.append(next(word for word in arguments if not word.startswith("-")))
        return run_in(repository, arguments, **how)

    monkeypatch.setattr("invincat.store.batch.run_in", spy)
    return commands


def _learned_on_a_branch(code: Code) -> Record:
    """On `main`, with a memory of the branch `feature`."""
    code.write("noxfile.py", "import nox\n")
    code.git("switch", "--quiet", "--create", "feature")
    code.write("noxfile.py", f"import nox\n\n{NOX}\n")
    record = code.learn(f"noxfile.py: {NOX}")
    assert code.holds(record) == "here"
    code.git("switch", "--quiet", "main")
    return record


@pytest.mark.parametrize("way", ["merge", "squash", "rebase"])
def test_what_is_learned_on_a_branch_holds_when_the_branch_arrives(code: Code, way: str) -> None:
    """Case 2: marked with its branch on main, a fact after the merge, and stale when the code contradicts it."""
    record = _learned_on_a_branch(code)
    assert code.mark(record) == "provisional: learned on feature"
    code.write("other.txt", "main went on\n")
    assert code.holds(record) == "provisional"
    if way == "merge":
        code.git("merge", "--quiet", "--no-edit", "feature")
    elif way == "squash":
        code.git("merge", "--quiet", "--squash", "feature")
        code.commit()
    else:
        code.git("rebase", "--quiet", "main", "feature")
        code.git("switch", "--quiet", "main")
        code.git("merge", "--quiet", "--ff-only", "feature")
    code.git("branch", "--quiet", "-D", "feature")
    assert code.mark(record) == ""
    assert code.holds(record) == "here"
    code.write("noxfile.py", "import tox\n")
    assert code.mark(record).startswith("stale: stood at ")
    assert NOX in code.git("show", f"{code.mark(record).split()[-1]}:noxfile.py")
    code.write("other.txt", "and on\n")
    assert code.holds(record) == "stale"
    code.write("noxfile.py", NOX)
    assert code.holds(record) == "here"


def test_going_back_and_forth_between_branches(code: Code) -> None:
    record = _learned_on_a_branch(code)
    for _ in range(2):
        for branch, holds in (("feature", "here"), ("main", "provisional")):
            code.git("switch", "--quiet", branch)
            assert code.holds(record) == holds
    code.git("switch", "--quiet", "--detach", "feature")
    assert code.holds(record) == "here"


@pytest.mark.slow
def test_what_the_branch_had_before_it_forked_is_stale(code: Code) -> None:
    code.write("a.py", "the old words stand here\n")
    code.write("a.py", "new\n")
    assert code.holds(code.learn("a.py: the old words")) == "stale"
    assert code.holds(code.learn("a.py: words of nobody")) == "provisional"
    assert code.holds(code.learn("b.py: the old words")) == "provisional"


def test_words_that_a_merge_left_behind_are_stale(code: Code) -> None:
    record = _learned_on_a_branch(code)
    code.write("other.txt", "x\n")
    code.git("merge", "--quiet", "--no-edit", "--strategy", "ours", "feature")
    assert code.holds(record) == "stale"


def test_learned_before_it_was_committed(code: Code) -> None:
    """What HEAD lacks and a file of the work tree has is on its way: it holds here, and in no other work tree."""
    code.write("AGENTS.md", "- Never push to main.\n", commit=False)
    record = code.learn("AGENTS.md: Never push to main.", actor="import")
    code.git("worktree", "add", "--quiet", "--detach", "../linked")
    assert code.holds(record) == "here"
    assert code.holds(record, code.root.parent / "linked") == "provisional"
    (code.root / "AGENTS.md").unlink()
    assert code.holds(record) == "provisional"
    code.write("AGENTS.md", "- Never push to main.\n")
    assert code.holds(record) == "here"


def test_head_counts_and_not_what_is_deleted_in_the_work_tree(code: Code) -> None:
    code.write("a.py", "these words stand\n")
    record = code.learn("a.py: these words")
    (code.root / "a.py").unlink()
    assert code.holds(record) == "here"


def test_no_commit_yet(tmp_path: Path, git: Callable[..., str], code: Code) -> None:
    root = tmp_path / "fresh"
    git("init", "--quiet", str(root))
    (root / "AGENTS.md").write_text("- Never push to main.\n")
    record = code.learn("AGENTS.md: Never push", "gone.md: x")
    assert code.holds(record, root) == "here"
    assert code.holds(code.learn("gone.md: x"), root) == "provisional"
    assert code.holds(code.learn("commit:3f2a9c4"), root) == "provisional"


@pytest.mark.parametrize("new", ["noxfile.py", "tools/with space/né.py"])
def test_a_renamed_file_is_followed(code: Code, new: str) -> None:
    text = "".join(f"line {number}\n" for number in range(20))
    code.write("old.py", f"{text}{NOX}\n")
    record = code.learn(f"old.py: {NOX}")
    whole = Evidence(at="old.py#L1", quote=NOX, blob=code.git("rev-parse", "HEAD:old.py")[:10])
    hinted = code.learn(whole)
    assert code.holds(record) == "here"
    (code.root / new).parent.mkdir(parents=True, exist_ok=True)
    code.git("mv", "old.py", new)
    code.commit()
    assert (code.holds(record), code.holds(hinted)) == ("here", "here")
    code.git("mv", new, "third.py")
    code.write("third.py", f"{text}{NOX}\nmore\n")
    assert (code.holds(record), code.holds(hinted)) == ("here", "here")
    code.write("third.py", text)
    assert (code.holds(record), code.holds(hinted)) == ("stale", "stale")


def test_a_file_that_a_squash_brought_under_a_new_name(code: Code) -> None:
    """No commit of main ever had the old name: the commit at which it was learned tells."""
    text = "".join(f"line {number}\n" for number in range(20))
    code.git("switch", "--quiet", "--create", "feature")
    code.write("old.py", f"{text}{NOX}\n")
    record = code.learn(f"old.py: {NOX}")
    code.git("mv", "old.py", "new.py")
    code.write("new.py", f"{text}{NOX}\nmore\n")
    code.git("switch", "--quiet", "main")
    code.git("merge", "--quiet", "--squash", "feature")
    code.commit()
    assert code.holds(record) == "here"


@pytest.mark.slow
def test_what_is_remembered_of_other_heads_changes_no_answer(code: Code, tmp_path: Path) -> None:
    """At each step as a fresh cache says: words that come back in a file that was renamed when it lacked them."""
    text = "".join(f"line {number}\n" for number in range(20))
    code.write("a.py", text)
    records = [code.learn(f"a.py: {NOX}"), code.learn(f"never.py: {NOX}"), code.learn("a.py: line 3")]
    expected = ["here", "provisional", "here"]
    for number, (words, name, first) in enumerate(
        (
            ("", "a.py", "provisional"),
            ("", "b.py", "provisional"),
            (NOX, "b.py", "here"),
            ("", "b.py", "stale"),
            ("", "c.py", "stale"),
            (NOX, "c.py", "here"),
            (NOX, "d.py", "here"),
            ("", "d.py", "stale"),
        )
    ):
        [present] = code.root.glob("[abcd].py")
        present.rename(code.root / name)
        code.write(name, f"{text}{words}\n{number}\n")
        expected[0] = first
        assert [code.holds(one) for one in records] == expected, number
        fresh = Standings(Source(locate(code.root)), VerdictCache(tmp_path / f"fresh{number}", "origin"))
        assert [str(one.holds) for one in fresh.of(records).values()] == expected, number


def test_a_copy_is_no_rename(code: Code) -> None:
    code.write("conf.py", f"{NOX}\n")
    record = code.learn(Evidence(at="conf.py#L1", quote=NOX, blob=code.git("rev-parse", "HEAD:conf.py")[:10]))
    code.write("conf.py.bak", f"{NOX}\n", commit=False)
    code.write("conf.py", "pass\n")
    assert code.holds(record) == "stale"


def test_commits_count_when_no_file_is_cited(code: Code) -> None:
    first = code.git("rev-parse", "HEAD")
    code.git("switch", "--quiet", "--create", "feature")
    second = code.write("a.py", "words\n")
    on_feature, on_main = code.learn(f"commit:{second}"), code.learn(f"commit:{first[:9]}")
    both, nowhere = code.learn(f"commit:{first}", "b.py: words"), code.learn("commit:0123456")
    assert [code.holds(one) for one in (on_feature, on_main, both, nowhere)] == [
        "here",
        "here",
        "provisional",
        "provisional",
    ]
    code.git("switch", "--quiet", "main")
    assert (code.mark(on_feature), code.holds(on_main)) == ("provisional: learned on feature", "here")


def test_rewritten_commits_are_mapped(code: Code) -> None:
    """The file is written by hooks: `old new`, and whatever else a line may hold."""
    code.git("switch", "--quiet", "--create", "feature")
    old = code.write("a.py", "words\n")
    record = code.learn(f"commit:{old[:8]}")
    code.git("commit", "--quiet", "--amend", "--message", "Once")
    once = code.git("rev-parse", "HEAD")
    code.git("commit", "--quiet", "--amend", "--message", "Twice")
    twice = code.git("rev-parse", "HEAD")
    assert code.holds(record) == "provisional"
    rewrites = locate(code.root).state_dir / "rewrites"
    rewrites.parent.mkdir(exist_ok=True)
    rewrites.write_text(f"# torn\n{old} {once}\nnonsense\n{once} {twice} rebase\n{twice} {old}\n")
    assert code.holds(record) == "here"


@pytest.mark.parametrize(
    ("items", "actor", "scope", "holds"),
    [
        ((), "user", Scope.PROJECT, "here"),
        ((), "memory-agent", Scope.PROJECT, "unknown"),
        (("turn:3",), "memory-agent", Scope.PROJECT, "here"),
        (("url:https://example.org/",), "memory-agent", Scope.PROJECT, "unknown"),
        (("turn:3", "gone.py: words"), "memory-agent", Scope.PROJECT, "provisional"),
        (("gone.py: words", "README.md: A project"), "memory-agent", Scope.PROJECT, "here"),
        (("elsewhere.py: words",), "memory-agent", Scope.USER, "here"),
    ],
)
def test_words_of_people_hold(code: Code, items: tuple[str, ...], actor: str, scope: Scope, holds: str) -> None:
    assert code.holds(code.learn(*items, actor=actor, scope=scope)) == holds


@pytest.mark.parametrize(
    ("data", "quote", "holds"),
    [
        (b"\xef\xbb\xbfimport nox\r\nimport  os\r\n", "import nox import os", "here"),
        (b"\x00\x01binary import nox \xff", "import nox", "here"),
        (b"x" * (2 * 1024 * 1024) + b" import nox", "import nox", "unknown"),
        (b"key = 'ask ada@example.org at /home/ada/x'\n", "ask [e-mail] at ~/x", "here"),
        (b"filler\n" * 5000 + b"ask ada@example.org about it\n" + b"filler\n" * 5000, "ask [e-mail] about it", "here"),
        (b"filler\n" * 5000 + b"ask about it\n", "ask [e-mail] about it", "provisional"),
        (b"a word that is cut\n", "a word that…", "here"),
        (b"words\n", "…", "provisional"),
    ],
)
def test_how_words_stand_in_files(code: Code, data: bytes, quote: str, holds: str) -> None:
    """White space folds, redacted and clipped quotes are found; what is too large is not read."""
    code.write("dir/a b é.txt", data)
    (code.root / "dir/a b é.txt").unlink()  # HEAD's file, and not the work tree's
    assert code.holds(code.learn(Evidence(at="dir/a b é.txt#L1", quote=quote))) == holds


def test_links_are_followed_inside_the_repository(code: Code, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("words of elsewhere\n")
    code.write("AGENTS.md", "- Never push to main.\n", commit=False)
    for name, target in (("CLAUDE.md", "AGENTS.md"), ("out", str(tmp_path / "secret")), ("loop", "loop")):
        (code.root / name).symlink_to(target)
    code.commit()
    records = [code.learn("CLAUDE.md: Never push"), code.learn("out: words"), code.learn("loop: x")]
    assert [code.holds(one) for one in records] == ["here", "provisional", "provisional"]


def test_paths_are_no_patterns_and_no_options(code: Code) -> None:
    code.write("src/a.py", "old words\n")
    code.write("src/a.py", "new\n")
    records = [code.learn(f"{path}: old words") for path in ("src/*.py", ":/src/a.py", "--all", "src/a.py:x", "^HEAD")]
    assert {code.holds(one) for one in records} == {"provisional"}


def test_a_hostile_source_asks_git_nothing(code: Code, asked: list[str]) -> None:
    record = code.learn("gone.py: words")
    for commit in ("HEAD", ":/Begin", "--all", "HEAD:README.md"):
        bad = memory(id=ulid(99), source=Origin(actor="user", commit=commit, evidence=record.memory.source.evidence))
        assert code.standings().of([record_of(bad, "memory/x/y.md")])[bad.id].where == commit
    assert "diff-tree" not in asked


def test_a_shallow_clone_cannot_tell_what_was(code: Code, tmp_path: Path) -> None:
    code.write("a.py", "old words\n")
    old = code.git("rev-parse", "HEAD")
    code.write("a.py", "newer words\n")
    head = code.write("a.py", "the newest\n")
    clone = tmp_path / "shallow"
    code.git("clone", "--quiet", "--depth=2", f"file://{code.root}", str(clone))
    items = ("a.py: old words", "a.py: newer words", "a.py: the newest", f"commit:{old}", f"commit:{head}")
    records = [code.learn(item) for item in items]
    assert [code.holds(one, clone) for one in records] == ["unknown", "stale", "here", "unknown", "here"]
    code.git("-C", str(clone), "fetch", "--quiet", "--unshallow")
    assert [code.holds(one, clone) for one in records] == ["stale", "stale", "here", "here", "here"]


@pytest.mark.parametrize("how", ["blob:none", "tree:0"])
def test_a_partial_clone_cannot_tell_what_was_and_fetches_nothing(code: Code, tmp_path: Path, how: str) -> None:
    code.write("a.py", "old words\n")
    code.write("sub/b.py", "present words\n")
    code.write("a.py", "the newest\n")
    for name in ("allowFilter", "allowAnySHA1InWant"):
        code.git("config", f"uploadpack.{name}", "true")
    clone = tmp_path / "partial"
    code.git("clone", "--quiet", f"--filter={how}", "--sparse", f"file://{code.root}", str(clone))
    objects = sorted((clone / ".git/objects").rglob("*"))
    records = [code.learn(item) for item in ("sub/b.py: present words", "a.py: old words", "a.py: the newest")]
    assert [code.holds(one, clone) for one in records] == ["unknown", "unknown", "here"]
    found = code.standings(clone).of([*records, code.learn("a.py: the newest")])
    assert [str(one.holds) for one in found.values()] == ["unknown", "unknown", "here", "here"]
    assert sorted((clone / ".git/objects").rglob("*")) == objects


def test_a_bare_repository(code: Code, tmp_path: Path) -> None:
    code.write("a.py", "old words\n")
    code.write("a.py", "the newest\n")
    bare = tmp_path / "bare.git"
    code.git("clone", "--quiet", "--bare", str(code.root), str(bare))
    records = [code.learn(item) for item in ("a.py: old words", "a.py: the newest", "b.py: x")]
    assert [code.holds(one, bare) for one in records] == ["stale", "here", "provisional"]


def test_linked_work_trees_have_each_their_answer(code: Code) -> None:
    record = _learned_on_a_branch(code)
    linked = code.root.parent / "linked"
    code.git("worktree", "add", "--quiet", str(linked), "feature")
    for _ in range(2):
        assert (code.holds(record), code.holds(record, linked)) == ("provisional", "here")


def test_what_lies_in_a_submodule_is_another_repository(code: Code, git: Callable[..., str], tmp_path: Path) -> None:
    code.write("lib/a.py", "old words\n")
    record = code.learn("lib/a.py: old words")
    other = tmp_path / "other"
    git("clone", "--quiet", str(code.root), str(other))
    code.git("rm", "-r", "--quiet", "lib")
    code.git("submodule", "--quiet", "add", str(other), "lib")
    code.commit()
    assert code.holds(record) == "unknown"


def test_without_a_repository(code: Code) -> None:
    asked = Standings(None, code.cache)
    records = [code.learn("a.py: words"), code.learn(actor="user")]
    assert [str(one.holds) for one in asked.of(records).values()] == ["unknown", "here"]


def test_many_memories_take_as_many_processes_as_one(code: Code, asked: list[str]) -> None:
    for number in range(30):
        code.write(f"src/{number}.py", f"words of {number}\nold words of {number}\n", commit=False)
    code.commit()
    records = [code.learn(f"src/{number}.py: words of {number}") for number in range(30)]
    gone = [code.learn(f"src/{number}.py: old words of {number}") for number in range(30)]
    for number in range(30):
        code.write(f"src/{number}.py", f"words of {number}\n", commit=False)
    code.commit()
    code.standings().of([*records[:1], *gone[:1]])
    few = len(asked)
    asked.clear()
    found = code.standings().of([*records, *gone])
    assert [found[one.id].holds for one in records] == [Holds.HERE] * 30
    assert [found[one.id].holds for one in gone] == [Holds.STALE] * 30
    assert len(asked) <= few
    asked.clear()
    assert code.standings().of([*records, *gone]) == found
    assert asked == []


def test_who_asks_several_times_at_one_moment_asks_of_one_head(code: Code, monkeypatch: pytest.MonkeyPatch) -> None:
    code.write("a.py", "words of a\n")
    one, two = code.learn("a.py: words of a"), code.learn("a.py: words of b")
    standings = code.standings()
    ask = standings.now()
    assert ask([one])[one.id].holds is Holds.HERE
    code.write("a.py", "words of b\n")
    head = Source.head
    heads: list[str | None] = []
    monkeypatch.setattr(Source, "head", lambda source: heads.append(head(source)) or heads[-1])
    assert ask([one])[one.id].holds is Holds.HERE
    assert heads == []
    assert standings.of([one, two])[two.id].holds is Holds.HERE
    assert len(heads) == 1


def test_after_a_checkout_only_what_differs_is_read(code: Code, asked: list[str]) -> None:
    code.write("a.py", "words of a\n", commit=False)
    code.write("b.py", "words of b\n")
    records = [code.learn("a.py: words of a"), code.learn("b.py: words of b")]
    code.standings().of(records)
    code.write("c.py", "c\n")
    asked.clear()
    code.standings().of(records)
    assert asked == ["cat-file"]
    code.write("b.py", "others\n")
    assert [str(one.holds) for one in code.standings().of(records).values()] == ["here", "stale"]


def test_a_history_that_takes_too_long_cannot_tell(code: Code) -> None:
    code.write("a.py", "old words\n")
    code.write("a.py", "new\n")
    record = code.learn("a.py: older words")
    assert code.standings(patience=0.0).of([record])[record.id].holds == "unknown"
    assert code.holds(record) == "unknown", "and is not asked again at this HEAD"
    code.write("b.py", "x\n")
    assert code.holds(record) == "provisional"


def test_a_broken_cache_costs_time_only(code: Code, tmp_path: Path) -> None:
    record = code.learn("README.md: A project")
    assert code.holds(record) == "here"
    [file] = (tmp_path / "cache").glob("*.sqlite3")
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_bytes(b"no database" * 1000)
    assert code.holds(record) == "here"
    (tmp_path / "cache").rename(tmp_path / "old")
    (tmp_path / "cache").write_text("no folder")
    assert code.holds(record) == "here"


def test_few_heads_are_remembered(code: Code) -> None:
    record = code.learn("README.md: A project")
    for number in range(KEPT + 3):
        code.write("a.py", f"{number}\n")
        code.holds(record)
    assert len(code.cache.worlds()) == KEPT


def test_the_patience_is_short() -> None:
    assert standing_module.PATIENCE_THEN <= 2
