"""What a person does on the first day, command by command."""

AGENTS = """\
# Project

## Testing
- Run the tests with `pytest -m "not slow"` before every push.
- Every bug fix must come with a test that failed before.

## Style
- Format the code with `ruff format`; line length is 100.
"""


def test_init_makes_the_store_and_nothing_else(invincat, git):
    first = invincat("init", "--json").json
    again = invincat("init", "--json").json
    assert first["made"] and not again["made"]
    assert first["at"] == again["at"] == git("rev-parse", "refs/invincat/memory").strip()
    assert first["at"] == "6c06298fdee92682ab343b6102e0bb4b3a82adfe"
    assert git("status", "--porcelain") == ""
    assert "invincat" not in git("branch", "--all")


def test_reading_without_a_store_says_what_to_do(invincat):
    run = invincat("list", code=1)
    assert run.err.count("\n") == 1
    assert "invincat init" in run.err


def test_import_takes_over_rules_with_evidence(invincat, git, commit_file):
    commit_file("AGENTS.md", AGENTS)
    invincat("init", "--import")
    memories = {memory["title"]: memory for memory in invincat("list", "--json").json["memories"]}
    assert len(memories) == 3
    must = next(memory for title, memory in memories.items() if "bug fix" in title)
    assert (must["kind"], must["score"], must["section"]) == ("constraint", 70, "Testing")
    evidence = must["source"]["evidence"][0]
    assert evidence["at"] == "AGENTS.md#L5"
    assert evidence["quote"] == "Every bug fix must come with a test that failed before."
    assert git("rev-parse", "HEAD:AGENTS.md").startswith(evidence["blob"])
    assert must["source"]["actor"] == "import"
    assert must["holds"] == "here"
    assert git("status", "--porcelain") == ""


def test_a_second_import_changes_nothing_and_an_edit_only_what_changed(invincat, git, commit_file):
    commit_file("AGENTS.md", AGENTS)
    invincat("init", "--import")
    tip = git("rev-parse", "refs/invincat/memory")
    assert "nothing changed" in invincat("import").out
    assert git("rev-parse", "refs/invincat/memory") == tip

    commit_file("AGENTS.md", "New first line.\n\n" + AGENTS.replace("length is 100", "length is 120"))
    old = "format-the-code-with-ruff-format-line-length-is"
    assert f"  {old} is replaced by " in invincat("import", "--dry-run").out
    report = invincat("import", "--json").json
    assert [done["op"] for done in report["outcome"]["operations"]] == ["supersede"]
    titles = [memory["title"] for memory in invincat("list", "--json").json["memories"]]
    assert [title for title in titles if "ruff format" in title] == [
        "Format the code with `ruff format`; line length is 120"
    ]


def test_a_rule_gone_from_its_file_is_proposed_for_archiving_once(invincat, commit_file):
    commit_file("AGENTS.md", AGENTS)
    invincat("init", "--import")
    commit_file("AGENTS.md", AGENTS.replace("- Every bug fix must come with a test that failed before.\n", ""))
    assert "archiving them would wait" in invincat("import", "--dry-run").out
    assert invincat("review", "list", "--json").json["proposals"] == []
    assert "archiving waits" in invincat("import").out
    assert "nothing changed" in invincat("import").out
    waiting = invincat("review", "list", "--json").json["proposals"]
    assert [proposal["changes"][0].split()[0] for proposal in waiting] == ["archive"]
    assert len(invincat("list", "--json").json["memories"]) == 3


def test_a_retired_rule_stays_retired_when_its_file_is_imported_again(invincat, commit_file):
    commit_file("AGENTS.md", AGENTS)
    invincat("init", "--import")
    name = next(m["name"] for m in invincat("list", "--json").json["memories"] if "bug fix" in m["title"])
    invincat("archive", name, "--reason", "we do not do this any more")
    assert "nothing changed" in invincat("import").out
    assert name not in [memory["name"] for memory in invincat("list", "--json").json["memories"]]


def test_an_imported_secret_is_left_out_and_named_without_its_value(invincat, git, commit_file):
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    commit_file("AGENTS.md", f"{AGENTS}- Always push with the token {secret} in the header.\n")
    run = invincat("init", "--import")
    assert "secret" in run.err
    assert secret not in run.out + run.err
    assert len(invincat("list", "--json").json["memories"]) == 3
    assert _objects_with(git, secret, below="refs/invincat/") == []


def _objects_with(git, text: str, below: str) -> list[str]:
    refs = git("for-each-ref", "--format=%(refname)", below).split()
    ids = git("rev-list", "--objects", *refs).split("\n")
    return [line for line in ids if line and text in git("cat-file", "-p", line.split()[0])]


def test_remember_recall_show_and_log(invincat, git):
    out = invincat("remember", "Deploy on Tuesdays only. The on-call rota depends on it.", "--section", "Releases").out
    assert out.startswith("create deploy-on-tuesdays-only  ")
    commit = out.split()[2]
    assert git("rev-parse", "refs/invincat/memory").startswith(commit)
    hit = invincat("recall", "--json", "when do we deploy?").json["hits"][0]
    assert hit["name"] == "deploy-on-tuesdays-only"
    assert "The on-call rota depends on it." in invincat("show", "deploy-on").out
    assert "create releases/deploy-on-tuesdays-only: Deploy on Tuesdays only" in invincat("log").out


def test_remember_from_stdin_and_a_dry_run(invincat, git):
    invincat("init")
    tip = git("rev-parse", "refs/invincat/memory")
    dry = invincat("remember", "-", "--dry-run", "--json", input="用 pnpm 安装依赖。不要用 npm。").json
    assert (dry["verdict"], dry["dry_run"]) == ("committed", True)
    assert git("rev-parse", "refs/invincat/memory") == tip
    done = invincat("remember", "-", "--json", input="用 pnpm 安装依赖。不要用 npm。").json
    assert done["operations"][0]["name"] == "yong-pnpm-an-zhuang-yi-lai"
    assert invincat("recall", "--json", "怎么安装依赖").json["total"] == 1


def test_equal_content_is_a_noop_that_says_so(invincat, git):
    invincat("remember", "Deploy on Tuesdays only.")
    tip = git("rev-parse", "refs/invincat/memory")
    run = invincat("remember", "deploy  on tuesdays ONLY")
    assert "deploy-on-tuesdays-only already says this" in run.out
    assert git("rev-parse", "refs/invincat/memory") == tip


def test_the_same_claim_with_other_details_is_told_of(invincat):
    invincat("remember", "Deploy on Tuesdays only.")
    run = invincat("remember", "Deploy on Tuesdays only. The on-call rota depends on it.", "--section", "Releases")
    name = run.out.split()[1]
    assert f"invincat supersede deploy-on-tuesdays-only --by {name} --reason" in run.out
    invincat("archive", "deploy-on-tuesdays-only", "--reason", "doubled")
    assert "note:" not in invincat("remember", "Deploy on Tuesdays only. It is quiet then.", "--section", "Ops").out


def test_evidence_is_completed_from_the_file(invincat, repo, git, commit_file):
    commit_file("src/app.py", "import os\nTIMEOUT = 30  # seconds\n")
    words = ("remember", "Time-outs are in seconds.", "--evidence", "app.py#L2")
    invincat(*words, cwd=repo / "src")
    memory = invincat("show", "time-outs", "--json").json
    assert memory["source"]["evidence"] == [
        {"at": "src/app.py#L2", "blob": git("rev-parse", "HEAD:src/app.py")[:10], "quote": "TIMEOUT = 30 # seconds"}
    ]
    assert (memory["source"]["branch"], memory["source"]["commit"]) == ("main", git("rev-parse", "HEAD")[:7])


def test_the_users_own_store_is_apart(invincat, git):
    invincat("init")
    out = invincat("remember", "I like short answers.", "--scope", "user").out
    assert "user memory of" in out
    assert git("log", "--format=%s", "refs/invincat/memory", "--") == "memory: root\n"
    assert invincat("list", "--scope", "user", "--json").json["memories"][0]["kind"] == "preference"
    assert "short answers" in invincat("brief").out
