"""What was believed before and is said again, by a person, a file or a model (RULES 1.4, 1.6, 4 "Duplicates")."""

import pytest

RULES = "# Rules\n\n## Git\n\n- Never push to main without a review.\n- Squash fixup commits before merging.\n"
PUSH = "never-push-to-main-without-a-review"
QUOTE = {"at": "README.md#L1-L1", "quote": "# A project"}


def status(invincat, name):
    return invincat("show", name, "--json").json["status"]


def test_what_was_archived_can_be_said_again_and_that_is_told(invincat):
    invincat("remember", "Deploy on Tuesdays only.", "--name", "deploy")
    invincat("archive", "deploy", "--reason", "the rota is gone")
    run = invincat("remember", "deploy on tuesdays only")
    assert "note: deploy said this and is archived since 20" in run.out
    assert "(the rota is gone); if that was a mistake, `invincat restore deploy` undoes it" in run.out


def test_what_is_superseded_names_what_holds(invincat):
    invincat("remember", "Use tabs.")
    invincat("supersede", "use-tabs", "--content", "Use spaces.", "--reason", "PEP 8")
    assert "use-tabs said this and is superseded by use-spaces since " in invincat("remember", "Use tabs.").out
    run = invincat("supersede", "use-tabs", "--content", "Use four spaces.", "--reason", "r", code=1)
    told = "failed: use-tabs is already superseded by use-spaces since "
    assert run.err.startswith(told) and run.err.endswith("; change use-spaces instead; use-four-spaces is kept\n")
    assert run.err.count("\n") == 1
    invincat("supersede", "use-spaces", "--by", "use-four-spaces", "--reason", "r")
    for words in (("update", "use-tabs", "--tag", "x"), ("rescore", "use-tabs", "--score", "20", "--reason", "r")):
        run = invincat(*words)
        assert "note: use-tabs stays superseded by use-spaces since " in run.out
        assert "; change use-four-spaces instead" in run.out
    assert "change use-four-spaces instead" in invincat("archive", "use-tabs", "--reason", "r", code=4).err
    invincat("archive", "use-four-spaces", "--reason", "r")
    assert "`invincat restore use-tabs` brings it back" in invincat("archive", "use-tabs", "--reason", "r", code=4).err


def test_what_was_deleted_can_be_said_again_and_that_is_told(invincat):
    invincat("remember", "Use tabs.")
    invincat("delete", "use-tabs", "--reason", "it was wrong")
    run = invincat("remember", "Use tabs.")
    assert "note: this was deleted on 20" in run.out and "(it was wrong)" in run.out
    assert "note" not in invincat("remember", "Use spaces.").out


@pytest.mark.parametrize("end", ["delete", "archive"])
def test_a_model_that_says_again_what_people_ended_waits_for_a_person(invincat, end):
    claim = {"op": "create", "scope": "project", "section": "Git", "content": "Branches are short."}
    made = invincat.apply({**claim, "evidence": [QUOTE]}, actor="memory-agent")
    assert made["verdict"] == "committed"
    invincat(end, "branches-are-short", "--reason", "they are not")
    held = invincat.apply({**claim, "evidence": [QUOTE]}, actor="memory-agent", code=3)
    assert "(they are not)" in held["reasons"][0]["message"]
    invincat("review", "accept", held["proposal"])
    active = invincat("list", "--json").json["memories"]
    assert [memory["title"] for memory in active] == ["Branches are short"]


@pytest.mark.parametrize("retired_first", [False, True])
def test_a_deleted_memory_comes_back_with_its_id_and_history(invincat, git, retired_first):
    invincat("remember", "Use tabs. They are wide.", "--section", "Style", "--tag", "x")
    if retired_first:
        invincat("archive", "use-tabs", "--reason", "unsure")
    before = invincat("show", "use-tabs", "--json").json
    invincat("delete", "use-tabs", "--reason", "it was wrong")
    invincat("restore", "use-tabs", "--reason", "it was right")
    after = invincat("show", "use-tabs", "--json").json
    assert (after["status"], after["restores"]) == ("active", 1)
    for key in ("id", "title", "body", "path", "tags", "created_at", "valid_from", "score"):
        assert after[key] == before[key]
    assert git("log", "-1", "--format=%s", "refs/invincat/memory", "--") == "restore style/use-tabs: it was right\n"
    versions = invincat("show", "use-tabs", "--history", "--json").json["versions"]
    assert versions[0]["event"].startswith("back after its deletion")
    assert "sound" in invincat("check").out
    assert "use-tabs" in invincat("recall", "tabs").out
    invincat("delete", "use-tabs", "--reason", "no")
    assert "sound" in invincat("check").out
    invincat("restore", before["id"], "--reason", "yes")
    assert invincat("show", "use-tabs", "--json").json["restores"] == 2


def test_every_command_says_of_a_deleted_memory_that_it_was_and_the_way_back(invincat):
    invincat("remember", "Use tabs.")
    invincat("delete", "use-tabs", "--reason", "it was wrong")
    for words in (("archive", "--reason", "r"), ("update", "--tag", "x"), ("move", "--name", "y", "--reason", "r")):
        err = invincat(words[0], "use-tabs", *words[1:], code=1).err
        assert err.startswith("invincat: use-tabs was deleted on 20")
        assert err.endswith(' (it was wrong); `invincat restore use-tabs --reason "..."` brings it back\n')
    assert "it was wrong" in invincat("show", "use-tabs").out


def test_a_deleted_memory_finds_its_name_taken_or_its_claim_said(invincat):
    invincat("remember", "Use tabs.")
    invincat("delete", "use-tabs", "--reason", "r")
    invincat("remember", "Use tabs! They are wide.")
    run = invincat("restore", "use-tabs", "--reason", "r", code=4)
    assert "there is nothing to restore" in run.err
    (grave,) = invincat("list", "--status", "deleted", "--json").json["memories"]
    invincat("restore", grave["id"], "--reason", "r")
    names = {m["title"]: m["name"] for m in invincat("list", "--json").json["memories"]}
    assert names["Use tabs"] == "use-tabs" and names["Use tabs!"].startswith("use-tabs--")
    invincat("delete", grave["id"], "--reason", "r")
    invincat("remember", "use tabs")
    assert "already says this" in invincat("restore", grave["id"], "--reason", "r", code=4).err


def test_what_was_purged_cannot_come_back(invincat):
    invincat("remember", "Use tabs.")
    id = invincat("show", "use-tabs", "--json").json["id"]
    invincat("delete", id, "--reason", "r")
    invincat("restore", id, "--reason", "r")
    invincat("purge", id, "--yes")
    assert "sound" in invincat("check").out
    assert "was purged; its words are gone" in invincat("restore", id, "--reason", "r", code=1).err


def test_an_import_keeps_out_what_was_deleted_or_archived_and_says_so(invincat, commit_file):
    commit_file("AGENTS.md", RULES)
    invincat("init", "--import")
    squash = "squash-fixup-commits-before-merging"
    invincat("delete", PUSH, "--reason", "we do")
    invincat("archive", squash, "--reason", "unsure")
    for words in (("import",), ("init", "--import")):
        run = invincat(*words)
        assert "2 rules kept out" in run.out and "nothing changed" in run.out
        first, second = run.err.splitlines()
        assert first.startswith('kept out: AGENTS.md#L5 "Never push to main without a review.": deleted on 20')
        assert f"by Ada Lovelace: we do; `invincat restore {PUSH} --reason" in first
        assert "archived since 20" in second and "by Ada Lovelace: unsure" in second
    listed = invincat("import", "--json").json["kept_out"]
    assert [(one["at"], one["name"], one["by"]) for one in listed] == [
        ("AGENTS.md#L5", PUSH, "Ada Lovelace"),
        ("AGENTS.md#L6", squash, "Ada Lovelace"),
    ]
    invincat("restore", PUSH, "--reason", "we do not")
    assert "1 rule kept out" in invincat("import").out
    assert status(invincat, PUSH) == "active"
