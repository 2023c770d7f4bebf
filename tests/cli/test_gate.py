"""What the gate refuses, as `apply` answers it: rule, operation, field, and what to do instead."""

import pytest

CREATE = {"op": "create", "scope": "project", "section": "Testing", "content": "Run the tests through nox."}
SECRET = "AKIA" + "Q3RST7UVWX4YZ2AB"

REFUSED = {
    "unknown operation": ({"op": "replace"}, "RULES 2", "op"),
    "unknown field": ({**CREATE, "colour": "red"}, "RULES 2", "colour"),
    "system field": ({**CREATE, "id": "x"}, "RULES 2", "id"),
    "missing field": ({"op": "create", "scope": "project", "content": "x"}, "RULES 2", "section"),
    "score beyond 100": ({**CREATE, "score": 101}, "RULES 2", "score"),
    "score below 0": ({**CREATE, "score": -1}, "RULES 2", "score"),
    "unknown tier": ({**CREATE, "tier": "boiling"}, "RULES 2", "tier"),
    "section too long": ({**CREATE, "section": "x" * 81}, "RULES 2", "section"),
    "name with a way out": ({**CREATE, "name": "../../etc"}, "RULES 2", "name"),
    "cold constraint": ({**CREATE, "kind": "constraint", "tier": "cold"}, "FORMAT", "tier"),
    "future": ({**CREATE, "valid_from": "2999-01-01T00:00:00Z"}, "FORMAT", "valid_from"),
    "no such memory": ({"op": "archive", "id": "nobody", "reason": "x"}, "RULES 2", "id"),
    "evidence outside": ({**CREATE, "evidence": [{"at": "../x#L1"}]}, "RULES 2", "evidence"),
    "evidence not there": ({**CREATE, "evidence": [{"at": "nothing.py#L1"}]}, "RULES 4 evidence", "evidence"),
    "false quote": (
        {**CREATE, "evidence": [{"at": "README.md#L1", "quote": "never said"}]},
        "RULES 4 evidence",
        "evidence",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_name_rule_operation_and_field(invincat, git, case):
    operation, rule, field = REFUSED[case]
    done = invincat.apply(CREATE | {"content": "Something else."}, operation, code=4)
    assert done["verdict"] == "rejected"
    assert [(r["rule"], r["operation"], r["field"]) for r in done["reasons"]] == [(rule, 1, field)]
    assert git("for-each-ref", "refs/invincat/") == "", "all or nothing"


@pytest.mark.parametrize("field", ["content", "section", "reason", "tags", "unknown-key", "evidence"])
def test_a_secret_gets_in_nowhere(invincat, repo, git, field):
    """RULES 4.3, case 29: the rule and the place are named, the value is nowhere."""
    operations = {
        "content": {**CREATE, "content": f"Use the key\n{SECRET} for uploads."},
        "section": {**CREATE, "section": SECRET},
        "reason": {"op": "archive", "id": "x", "reason": f"because {SECRET}"},
        "tags": {**CREATE, "tags": [SECRET]},
        "unknown-key": {**CREATE, SECRET: 1},
        "evidence": {**CREATE, "evidence": [{"at": "README.md#L1", "quote": SECRET}]},
    }
    run = invincat("apply", "-", "--json", code=4, input=__import__("json").dumps({"operations": [operations[field]]}))
    assert all("secret" in reason["rule"] for reason in run.json["reasons"])
    assert SECRET not in run.out + run.err
    for file in (repo / ".git").rglob("*"):
        assert not file.is_file() or SECRET.encode() not in file.read_bytes(), file


def test_a_model_cannot_restore_nor_exceed_the_batch(invincat):
    batch = [CREATE | {"content": f"Fact number {n} about the tests."} for n in range(9)]
    done = invincat.apply(*batch, actor="memory-agent", code=4)
    assert [reason["rule"] for reason in done["reasons"]] == ["RULES 3.2"]
    done = invincat.apply({"op": "restore", "id": "x", "reason": "y"}, actor="mcp:other", code=4)
    assert done["reasons"][0]["message"].startswith("restore is for a person")


def test_a_models_claim_needs_evidence_that_can_be_checked(invincat, commit_file):
    commit_file("noxfile.py", "import nox\nnox.options.sessions = ['tests']\n")
    invincat.apply(CREATE, actor="memory-agent", code=4)
    web = CREATE | {"evidence": [{"at": "url:https://example.org/nox", "quote": "use nox"}]}
    assert invincat.apply(web, actor="memory-agent", code=3)["verdict"] == "held"
    file = CREATE | {"evidence": [{"at": "noxfile.py#L1-L2", "quote": "nox.options.sessions = ['tests']"}]}
    assert invincat.apply(file, actor="memory-agent")["verdict"] == "committed"


def test_the_same_memory_twice_rejects_the_batch(invincat):
    """RULES 3.1, also when it is named once by name and once by id."""
    invincat("remember", "Use make.", "--name", "build")
    id = invincat("show", "build", "--json").json["id"]
    first = {"op": "update", "id": "build", "title": "Use make always"}
    done = invincat.apply(first, {"op": "archive", "id": id, "reason": "x"}, code=4)
    assert {reason["rule"] for reason in done["reasons"]} == {"RULES 3.1"}


def test_hidden_characters_are_refused_and_shown_escaped(invincat):
    """RULES 4.4"""
    text = "Run the tests\u202e through nox."
    done = invincat.apply(CREATE | {"content": text}, actor="memory-agent", code=4)
    assert done["reasons"][0]["rule"] == "RULES 4 hidden"
    run = invincat("remember", text, code=4)
    assert "<U+202E>" in run.err
    assert "\u202e" not in run.err
