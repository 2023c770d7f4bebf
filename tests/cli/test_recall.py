"""`recall` as a person uses it: where one is, what held then, what came before and after."""

import shutil

import pytest

from tests.cli.by_hand import commit_by_hand, remove_by_hand


def names(run):
    return [hit["name"] for hit in run.json["hits"]]


@pytest.fixture
def succession(invincat):
    """Three rules about how tests are run, each in place of the one before; the commit after the first."""
    invincat("remember", "Run the tests with make.", "--name", "use-make", "--valid-from", "2020-01-01T00:00:00Z")
    first = invincat("recall", "tests", "--json").json["at"]
    words = ("--reason", "better", "--content")
    invincat("supersede", "use-make", *words, "Run the tests through tox.")
    invincat("supersede", "run-the-tests-through-tox", *words, "Run the tests through nox.")
    return first


def test_each_hit_names_what_came_before_and_after(invincat, succession):
    (now,) = invincat("recall", "tests", "--json").json["hits"]
    assert (now["name"], now["predecessor"], now["successor"]) == (
        "run-the-tests-through-nox",
        "run-the-tests-through-tox",
        None,
    )
    assert "replaces run-the-tests-through-tox" in invincat("recall", "tests").out
    everything = {hit["name"]: hit for hit in invincat("recall", "tests", "--all", "--json").json["hits"]}
    between, oldest = everything["run-the-tests-through-tox"], everything["use-make"]
    assert (between["predecessor"], between["successor"]) == ("use-make", "run-the-tests-through-nox")
    assert (oldest["predecessor"], oldest["successor"]) == (None, "run-the-tests-through-tox")
    assert "replaces use-make, replaced by run-the-tests-through-nox" in invincat("recall", "tests", "--all").out


def test_at_a_commit_it_answers_as_the_store_stood_then(invincat, succession):
    for _ in range(2):
        then = invincat("recall", "tests", "--at", succession, "--json")
        assert names(then) == ["use-make"]
        (hit,) = then.json["hits"]
        assert (hit["status"], hit["successor"], then.json["at"]) == ("active", None, succession)
        assert names(invincat("recall", "tests", "--json")) == ["run-the-tests-through-nox"]
    assert names(invincat("recall", "tests", "--at", "invincat/memory~1", "--json")) == ["run-the-tests-through-tox"]
    assert "no memory commit" in invincat("recall", "tests", "--at", "nowhere", code=1).err


def test_as_of_a_time_it_answers_what_held_then_as_known_today(invincat, succession):
    then = invincat("recall", "tests", "--as-of", "2021-06-01", "--json")
    assert names(then) == ["use-make"]
    assert then.json["hits"][0]["status"] == "superseded"
    assert names(invincat("recall", "tests", "--as-of", "2019-12-31", "--json")) == []
    assert names(invincat("recall", "tests", "--as-of", "2020-01-01T00:00:00Z", "--json")) == ["use-make"]
    assert names(invincat("recall", "tests", "--as-of", "2100-01-01", "--json")) == ["run-the-tests-through-nox"]
    assert "is no time like 2026-11-29" in invincat("recall", "tests", "--as-of", "yesterday", code=2).err


def test_what_is_about_the_files_in_play_comes_first_among_what_answers(invincat, repo):
    (repo / "web").mkdir()
    (repo / "web/app.ts").write_text("let x = 1\n")
    invincat("remember", "Name fixtures after what they build.", "--applies-to", "tests/**", "--name", "tests")
    invincat("remember", "Name fixtures after the page.", "--applies-to", "web/**", "--name", "web")
    invincat("remember", "Pages are server rendered.", "--evidence", "web/app.ts#L1", "--name", "pages")
    assert names(invincat("recall", "name fixtures", "--json", "--path", "web/app.ts")) == ["web", "tests"]
    assert names(invincat("recall", "name fixtures", "--json", "--path", "tests/test_a.py")) == ["tests", "web"]
    assert names(invincat("recall", "name fixtures", "--json", cwd=repo / "web")) == ["web", "tests"]
    assert names(invincat("recall", "nothing of the sort", "--json", "--path", "web/app.ts")) == []


def test_what_the_code_contradicts_is_marked_and_comes_last(invincat, repo, git):
    file = repo / "noxfile.py"
    file.write_text("nox.options.sessions = ['lint', 'tests']\n")
    git("add", ".")
    git("commit", "-m", "nox")
    invincat("remember", "Lint sessions of nox run first.", "--evidence", "noxfile.py#L1", "--name", "sessions")
    invincat("remember", "Lint before you push.", "--name", "push")
    assert names(invincat("recall", "lint sessions of nox", "--json")) == ["sessions", "push"]
    file.write_text("import this\n")
    git("commit", "-am", "no more")
    answer = invincat("recall", "lint sessions of nox", "--json")
    assert [(hit["name"], hit["holds"]) for hit in answer.json["hits"]] == [("push", "here"), ("sessions", "stale")]
    assert "[stale: stood at" in invincat("recall", "lint sessions of nox").out


def test_of_two_files_with_one_id_only_the_one_that_counts_is_found(invincat, repo, git):
    """Whether the index is built on them or led to them, and until the other one is gone."""
    invincat("remember", "Deploy with the blue script.", "--name", "deploy")
    text = git("show", "refs/invincat/memory:memory/general/deploy.md")
    for order in ("led", "built"):
        if order == "led":
            invincat("recall", "script")
        commit_by_hand(git, repo, "memory/later/deploy.md", text.replace("blue", "green"), "a copy")
        if order == "built":
            shutil.rmtree(repo / ".git/invincat/index")
        assert names(invincat("recall", "green", "script", "--json")) == ["deploy"]
        [hit] = invincat("recall", "script", "--json").json["hits"]
        assert (hit["path"], hit["title"]) == ("memory/general/deploy.md", "Deploy with the blue script")
        assert invincat("recall", "green", "--json").json["hits"] == []
        remove_by_hand(git, repo, "memory/general/deploy.md")
        assert [hit["title"] for hit in invincat("recall", "green", "--json").json["hits"]] == [
            "Deploy with the green script"
        ]
        git("update-ref", "refs/invincat/memory", "refs/invincat/memory~2")


def test_a_flag_may_be_what_is_looked_for(invincat):
    invincat("remember", "Never commit with --no-verify.")
    assert "`invincat recall -- ...`" in invincat("recall", "--no-verify", code=2).err
    assert "--no-verify" in invincat("recall", "--", "--no-verify").out
