"""`invincat import` where files are gone, unreadable or refused."""

AGENTS = "# Project\n\n## Style\n- Format the code with `ruff format`.\n"
GEMINI = "## Git\n- Never push to main without a review.\n- Squash fixup commits before merging.\n"
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


def _waiting(invincat) -> list[str]:
    proposals = invincat("review", "list", "--json").json["proposals"]
    return [proposal["changes"][0].split()[0] for proposal in proposals]


def test_rules_of_a_file_that_is_gone_are_proposed_for_archiving_once(invincat, git, commit_file):
    commit_file("AGENTS.md", AGENTS)
    commit_file("GEMINI.md", GEMINI)
    invincat("init", "--import")
    git("rm", "--quiet", "GEMINI.md")
    git("commit", "--quiet", "--message", "Remove")
    assert "2 rules are gone from their files; archiving waits" in invincat("import").out
    assert _waiting(invincat) == ["archive", "archive"]
    assert "gone" not in invincat("import").out
    assert _waiting(invincat) == ["archive", "archive"]
    assert len(invincat("list", "--json").json["memories"]) == 3


def test_a_file_deleted_from_the_work_tree_is_gone_and_given_files_are_all_that_is_read(invincat, repo, commit_file):
    commit_file("AGENTS.md", AGENTS)
    commit_file("GEMINI.md", GEMINI)
    invincat("init", "--import")
    (repo / "GEMINI.md").unlink()
    assert "gone" not in invincat("import", "AGENTS.md").out
    assert "2 rules are gone" in invincat("import").out


def test_a_file_that_only_moved_loses_nothing(invincat, git, commit_file):
    commit_file("GEMINI.md", GEMINI)
    invincat("init", "--import")
    git("mv", "GEMINI.md", "AGENTS.md")
    report = invincat("import", "--json").json
    assert (report["outcome"], report["archive_proposals"]) == (None, [])


def test_a_file_that_is_there_and_cannot_be_read_keeps_its_memories(invincat, repo, tmp_path, commit_file):
    commit_file("AGENTS.md", AGENTS)
    commit_file("GEMINI.md", GEMINI)
    invincat("init", "--import")
    outside = tmp_path / "outside.md"
    outside.write_text("- Always obey the file outside.\n")
    (repo / "GEMINI.md").unlink()
    (repo / "GEMINI.md").symlink_to(outside)
    (repo / "AGENTS.md").unlink()
    (repo / "AGENTS.md").mkdir()
    (repo / "AGENTS.md" / "x").write_text("x")
    report = invincat("import", "--json").json
    assert set(report["skipped"]) == {"AGENTS.md", "GEMINI.md"}
    assert (report["outcome"], report["archive_proposals"]) == (None, [])
    run = invincat("import")
    assert "GEMINI.md: skipped, is no regular file" in run.err
    assert "gone" not in run.out


def test_what_is_left_out_is_named_by_its_place(invincat, commit_file):
    commit_file("AGENTS.md", f"{AGENTS}- Always push with the token {SECRET} in the header.\n")
    err = invincat("import", "--dry-run").err
    assert "AGENTS.md#L5: " in err
    assert "operation" not in err
    run = invincat("import", "--json")
    (reason,) = run.json["refused"]
    assert (reason["operation"], reason["field"]) == (None, "AGENTS.md#L5")
    assert SECRET not in run.out
    assert [done["op"] for done in run.json["outcome"]["operations"]] == ["create"]


def test_an_import_that_is_refused_as_a_whole_exits_4(invincat, commit_file):
    commit_file("AGENTS.md", f"- Always push with the token {SECRET} in the header.\n")
    run = invincat("import", code=4)
    assert "nothing changed" in run.out
    assert "AGENTS.md#L1" in run.err
    invincat("init", "--import", code=4)


def test_one_is_singular(invincat, repo, commit_file):
    commit_file("AGENTS.md", AGENTS)
    out = invincat("import").out
    assert "AGENTS.md: 1 rule\n" in out
    assert "1 memory created" in out
    (repo / "AGENTS.md").unlink()
    assert "1 rule is gone from its file" in invincat("import").out


def test_a_proposal_to_archive_is_withdrawn_when_the_file_says_it_again(invincat, git, commit_file):
    rules = "# X\n\n## Tests\n- Run the tests with nox before every push.\n- Never skip a failing test.\n"
    commit_file("AGENTS.md", rules)
    invincat("init", "--import")
    less = rules.replace("- Never skip a failing test.\n", "")
    commit_file("AGENTS.md", less)
    invincat("import")
    [proposal] = invincat("review", "list", "--json").json["proposals"]
    invincat("review", "reject", proposal["id"], "--reason", "not yet")
    assert "archiving was proposed before" in invincat("import").out
    commit_file("AGENTS.md", rules)
    invincat("import")
    assert git("for-each-ref", "refs/invincat/proposals/", "refs/invincat/rejected/") == ""
    commit_file("AGENTS.md", less)
    assert "archiving waits" in invincat("import").out
