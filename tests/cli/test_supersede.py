"""A supersession is one visible step (RULES 1), and what fails keeps what is valid (RULES 1.7)."""


def test_one_commit_changes_both_files(invincat, git):
    invincat("remember", "Run the tests with make.", "--section", "Testing")
    before = invincat("show", "run-the-tests-with-make", "--json").json
    words = ("--content", "Run the tests through nox.", "--reason", "nox drives the matrix")
    done = invincat("supersede", "run-the-tests-with-make", *words, "--json").json
    assert done["verdict"] == "committed"
    files = git("show", "--name-status", "--format=", "refs/invincat/memory", "--").split("\n")
    assert sorted(filter(None, files)) == [
        "A\tmemory/testing/run-the-tests-through-nox.md",
        "M\tmemory/testing/run-the-tests-with-make.md",
    ]
    old = invincat("show", "run-the-tests-with-make", "--json").json
    new = invincat("show", "run-the-tests-through-nox", "--json").json
    assert (old["status"], old["superseded_by"]) == ("superseded", new["id"])
    assert old["invalid_at"] is not None
    assert (old["valid_from"], old["updated_at"]) == (before["valid_from"], before["updated_at"])
    text = git("show", "refs/invincat/memory:memory/testing/run-the-tests-with-make.md")
    assert (
        text.rstrip()
        .split("\n")[-1]
        .startswith("> Superseded by [run-the-tests-through-nox](../testing/run-the-tests-through-nox.md)")
    )


def test_recall_and_briefing_stop_showing_it(invincat):
    invincat("remember", "Run the tests with make.", "--tier", "hot")
    assert "with make" in invincat("brief").out
    invincat("supersede", "run-the", "--content", "Checks go through nox.", "--reason", "matrix")
    assert "with make" not in invincat("brief").out
    assert [hit["name"] for hit in invincat("recall", "--json", "run the tests with make").json["hits"]] == []
    retired = invincat("recall", "--all", "--json", "run the tests with make").json["hits"]
    assert [(hit["name"], hit["status"]) for hit in retired] == [("run-the-tests-with-make", "superseded")]


def test_a_retired_name_stays_occupied_until_it_is_deleted(invincat):
    """RULES 1.6"""
    invincat("remember", "Use make.", "--name", "build")
    invincat("supersede", "build", "--content", "Use nox.", "--name", "build-nox", "--reason", "matrix")
    run = invincat("remember", "Use bazel.", "--name", "build", code=4)
    assert "memory/general/build.md" in run.err
    assert "superseded by build-nox" in run.err
    assert "invincat delete build" in run.err
    invincat("delete", "build", "--reason", "the name is wanted")
    invincat("remember", "Use bazel.", "--name", "build")
    assert invincat("show", "build", "--json").json["status"] == "active"
    assert "sound" in invincat("check").out


def test_a_failed_supersede_keeps_the_new_memory_and_is_safe_to_repeat(invincat, git):
    """RULES 1.7"""
    invincat("remember", "Use make.", "--name", "build")
    invincat("archive", "build", "--reason", "unsure")
    batch = {"op": "supersede", "id": "build", "content": "Use nox.", "reason": "matrix"}
    done = invincat.apply(batch, code=1)
    assert (done["verdict"], done["kept"]) == ("failed", "use-nox")
    assert "archived" in done["still_active"]
    assert git("log", "-1", "--format=%s", "refs/invincat/memory", "--").startswith("create general/use-nox")
    again = invincat.apply(batch, code=1)
    assert (again["verdict"], again["kept"], again["after"]) == ("failed", "use-nox", done["after"])
    missing = invincat.apply({**batch, "id": "no-such-memory", "content": "Use tox."}, code=1)
    assert (missing["verdict"], missing["kept"]) == ("failed", "use-tox")


def test_restore_is_an_undo(invincat):
    invincat("remember", "Use make.", "--name", "build")
    invincat("archive", "build", "--reason", "unsure")
    invincat("restore", "build", "--reason", "it was right")
    memory = invincat("show", "build", "--json").json
    assert (memory["status"], memory["restores"], memory["tombstone"]) == ("active", 1, None)


def test_log_of_one_memory_tells_its_story(invincat):
    invincat("remember", "Use make.", "--name", "build")
    invincat("remember", "Use spaces.", "--name", "indent")
    invincat("rescore", "build", "--score", "80", "--reason", "asked for often")
    invincat("supersede", "build", "--content", "Use nox.", "--name", "build-nox", "--reason", "matrix")
    story = [commit["op"] for commit in invincat("log", "build", "--json").json["commits"]]
    assert story == ["supersede", "score", "create"]
    assert [commit["op"] for commit in invincat("log", "build-nox", "--json").json["commits"]] == ["supersede"]


def test_a_successor_is_about_the_same_paths(invincat):
    words = ("--applies-to", "src/**", "--tag", "build", "--section", "Build", "--kind", "runbook")
    invincat("remember", "Use make.", "--name", "build", *words)
    invincat("supersede", "build", "--content", "Use nox.", "--reason", "matrix")
    memory = invincat("show", "memory/build/use-nox.md", "--json").json
    assert (memory["applies_to"], memory["tags"]) == (["src/**"], ["build"])
    assert (memory["section"], memory["kind"]) == ("Build", "runbook")


def test_a_supersession_of_nobody_keeps_the_new_memory(invincat):
    """RULES 1.7, from the command line."""
    done = invincat("supersede", "nobody", "--content", "Use nox.", "--reason", "matrix", "--json", code=1).json
    assert (done["verdict"], done["kept"]) == ("failed", "use-nox")


def test_update_rewords_and_rates(invincat):
    invincat("remember", "Use make. It is old.", "--name", "build")
    invincat("update", "build", "--content", "Use make for everything. It is old.")
    assert invincat("show", "build", "--json").json["title"] == "Use make for everything"
    done = invincat("update", "build", "--tier", "hot", "--json").json
    assert done["operations"][0]["op"] == "score", "what is believed did not change"
    assert "did you mean 'update'" in invincat("updat", "build", code=2).err
