"""What only a person may do to a memory: move it, set its kind and its check, keep it for one project (RULES 2)."""

from pathlib import Path

import pytest


@pytest.fixture
def first(git):
    """What the project is known by."""
    return f"commit-{git('rev-parse', 'HEAD')[:12]}"


def test_moving_is_one_commit_and_the_history_goes_with_it(invincat, git):
    invincat("remember", "Use nox.", "--section", "Testing")
    invincat("remember", "Use nox! It is quick.", "--section", "Testing")
    done = invincat("move", "use-nox", "--name", "nox", "--section", "Build", "--reason", "found there", "--json").json
    (one,) = done["operations"]
    assert (one["op"], one["name"]) == ("move", "nox")
    assert one["renamed"]["memory/testing/use-nox.md"] == "memory/build/nox.md"
    assert git("log", "-1", "--format=%s", "refs/invincat/memory", "--") == (
        "move testing/use-nox to build/nox: found there\n"
    )
    files = git("ls-tree", "-r", "--name-only", "refs/invincat/memory", "memory").split()
    assert files == ["memory/build/nox.md", "memory/testing/use-nox.md"]
    assert [commit["op"] for commit in invincat("log", "nox", "--json").json["commits"]] == ["move", "create"]
    assert invincat("recall", "nox", "--json").json["total"] == 2


def test_moving_asks_for_a_place_that_is_free(invincat):
    invincat("remember", "Use nox.")
    invincat("remember", "Use tox.")
    assert "--name, --section" in invincat("move", "use-nox", "--reason", "r", code=2).err
    assert (
        "memory/general/use-tox.md has this name"
        in invincat(*("move", "use-nox", "--name", "use-tox", "--reason", "r"), code=4).err
    )
    assert "nothing to do" in invincat("move", "use-nox", "--name", "use-nox", "--reason", "r").out


def test_kind_and_check_are_set_by_update(invincat):
    invincat("remember", "Use nox.", "--score", "10")
    assert "--reason" in invincat("update", "use-nox", "--kind", "constraint", code=2).err
    words = ("update", "use-nox", "--kind", "constraint", "--check", "nox -l", "--reason", "binding")
    assert "30 or more" in invincat(*words, code=4).err
    invincat(*words, "--tier", "warm", "--title", "Use nox always")
    made = invincat("show", "use-nox", "--json").json
    assert (made["kind"], made["check"], made["score"], made["title"]) == (
        *("constraint", "nox -l", 30),
        "Use nox always",
    )
    invincat("update", "use-nox", "--check", "", "--reason", "slow")
    assert invincat("show", "use-nox", "--json").json["check"] is None


def test_a_models_batch_sets_nothing_of_it(invincat):
    invincat("remember", "Use nox.")
    for item in (
        {"op": "set", "id": "use-nox", "check": "rm -rf x", "reason": "r"},
        {"op": "move", "id": "use-nox", "name": "nox", "reason": "r"},
    ):
        assert invincat.apply(item, actor="memory-agent", code=4)["reasons"][0]["field"] == "op"


def test_mine_but_only_here_carries_the_commit_with_which_the_project_began(invincat, first):
    """RULES 4 "Whose rule is it?" """
    invincat("remember", "I use tabs.", "--scope", "user", "--only-here")
    assert invincat("show", "i-use-tabs", "--json").json["project"] == first
    assert "[only here]" in invincat("list").out
    assert "--scope user" in invincat("remember", "x", "--only-here", code=2).err
    words = ("remember", "I use spaces.", "--scope", "user", "--only-here")
    assert "no project" in invincat(*words, code=1, cwd=Path.home()).err


def test_a_repository_that_brings_another_projects_key_is_not_told_what_is_personal_there(
    invincat, first, repo, git, tmp_path
):
    invincat("remember", "I use tabs.", "--scope", "user", "--only-here")
    other, victim = tmp_path / "other", tmp_path / "victim"
    git("init", "--quiet", str(other))
    git("commit", "--quiet", "--allow-empty", "--message", "Other", cwd=other)
    state = other / ".git/invincat"
    state.mkdir()
    (state / "key").write_text(first)
    assert "tabs" not in invincat("list", cwd=other).out
    (state / "key").unlink()
    (state / "key").symlink_to(victim)
    victim.write_text("precious")
    assert "tabs" not in invincat("list", cwd=other).out
    assert victim.read_text() == "precious"


def test_only_here_is_learned_from_a_persons_words(invincat, first):
    said = '{"role": "user", "text": "remember that I prefer tabs, but only here"}'
    done = invincat("extract", "--transcript", "-", "--json", input=said).json["outcomes"]
    assert [one["verdict"] for one in done] == ["committed"]
    name = done[0]["operations"][0]["name"]
    made = invincat("show", name, "--json").json
    assert (made["scope"], made["project"]) == ("user", first)


def test_a_rating_shows_what_came_of_it(invincat):
    invincat("remember", "Use nox.")
    assert "score use-nox: hot, 70 " in invincat("retier", "use-nox", "--tier", "hot", "--reason", "r").out
    done = invincat("rescore", "use-nox", "--score", "20", "--reason", "r", "--json").json["operations"][0]
    assert (done["tier"], done["score"]) == ("cold", 20)


def test_restoring_says_that_the_successor_holds_as_well(invincat):
    invincat("remember", "Use make.", "--name", "build")
    invincat("supersede", "build", "--content", "Use nox.", "--name", "build-nox", "--reason", "matrix")
    done = invincat("restore", "build", "--reason", "back", "--json").json
    assert "build-nox, which had taken the place of build, holds as well" in done["hint"]


def test_a_key_given_twice_is_refused_by_its_name(invincat):
    """Decoders keep the last of two values; nobody meant that."""
    twice = '{"operations": [{"op": "archive", "id": "a", "reason": "r", "id": "b"}]}'
    assert "has 'id' twice in one object" in invincat("apply", "-", code=1, input=twice).err
    token = '"ghp_Zk3Qv8Lr2Tn5Wb7Xc9Yd4Mf6Hs1Jg0Pa3Ue8": 1'
    secret = f'{{"operations": [{{{token}, {token}}}]}}'
    assert "ghp_" not in invincat("apply", "-", code=1, input=secret).err


def test_a_refusal_says_why_first_and_the_rule_last(invincat):
    run = invincat("apply", "-", code=4, input='{"operations": [{"op": "archive", "id": "x"}]}')
    assert run.err == "refused: operation 0 reason: is missing; archive needs it (RULES 2)\n"


def test_who_asked_for_one_thing_is_told_without_numbers_of_rules_and_operations(invincat):
    invincat("remember", "Use nox.")
    for words, told in (
        (("update", "use-nox", "--score", "101"), "score: must be a whole number from 0 to 100, not 101"),
        (("remember", "x", "--name", "A B"), "'A B' is not a name: a-z, 0-9 and single hyphens, 1 to 80 characters"),
        (("remember", "x", "--section", "../x"), "section: is no path; give a heading, such as Testing, not '../x'"),
        (("remember", "x", "--applies-to", "/etc"), "'/etc' is not a pattern inside the repository"),
        (("remember", "x", "--applies-to", "#a"), "applies_to: has '#a', which git's patterns take for a comment"),
    ):
        run = invincat(*words, code=4)
        assert run.err.startswith(f"refused: {told}"), run.err
        assert "RULES" not in run.err and "operation" not in run.err and run.err.count("\n") == 1
    invincat("remember", "Use CI.", "--section", "CI/CD")


def test_a_memory_that_is_named_twice_is_changed_once(invincat):
    invincat("remember", "Use nox.")
    assert invincat("archive", "use-nox", "use-nox", "--reason", "r").out.count("archive use-nox") == 1


def test_a_score_outside_of_the_tier_is_told(invincat):
    """RULES 2: of both the tier wins."""
    run = invincat("remember", "Use nox.", "--score", "90", "--tier", "cold")
    assert "the tier wins: cold is 0 to 29, so the score is 29, not 90" in run.out
    assert "wins" in invincat("update", "use-nox", "--score", "90", "--tier", "warm").out
    assert "wins" not in invincat("update", "use-nox", "--score", "90", "--tier", "hot").out


def test_a_person_is_shown_the_whole_table_and_a_model_its_own(invincat):
    """RULES 2: the schema comes from the same table, whoever asks."""

    def shown(*words: str) -> set[str]:
        variants = invincat("apply", "--schema", *words).json["properties"]["operations"]["items"]["anyOf"]
        return {variant["properties"]["op"]["const"] for variant in variants}

    assert shown() - shown("--actor", "memory-agent") == {"restore", "move", "set"}
