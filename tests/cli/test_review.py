"""A person's yes and no to what was held (ARCHITECTURE, decision 8)."""

import json


def say(invincat, text: str) -> str:
    """Something said in passing, which is held; the proposal's id."""
    line = json.dumps({"role": "user", "text": text}) + "\n"
    outcomes = invincat("extract", "--transcript", "-", "--json", input=line, code=3).json["outcomes"]
    return outcomes[0]["proposal"]


def test_a_yes_makes_it_true_in_a_commit_like_any_other(invincat, git):
    proposal = say(invincat, "We always squash fixup commits.")
    assert "We always squash" in invincat("review", "show", proposal).out
    done = invincat("review", "accept", proposal[:6], "--json").json["outcomes"][0]
    assert done["verdict"] == "committed"
    memory = invincat("show", done["operations"][0]["name"], "--json").json
    assert memory["source"]["actor"] == "rules"
    assert memory["source"]["evidence"][0]["quote"] == "We always squash fixup commits."
    message = git("log", "-1", "--format=%B", "invincat/memory", "--")
    assert "Invincat-Held" not in message
    assert "README.md" in git("ls-tree", "--name-only", "invincat/memory"), "the first memory brings it"
    assert git("for-each-ref", "refs/invincat/proposals/") == ""
    assert "sound" in invincat("check").out


def test_a_no_is_kept_and_the_same_is_not_made_again(invincat, git):
    proposal = say(invincat, "We never push on Fridays.")
    rejected = invincat("review", "reject", proposal, "--reason", "we do", "--json").json["rejected"]
    assert rejected["id"] == proposal
    assert rejected["changes"] == ["create general/we-never-push-on-fridays: We never push on Fridays"]
    assert git("for-each-ref", "--format=%(refname)", "refs/invincat/rejected/").strip().endswith(proposal)
    again = json.dumps({"role": "user", "text": "We never push on Fridays."}) + "\n"
    outcome = invincat("extract", "--transcript", "-", "--json", input=again, code=3).json["outcomes"][0]
    assert outcome["known"] is True
    assert "rejected it" in outcome["hint"]
    assert git("for-each-ref", "refs/invincat/proposals/") == ""


def test_what_has_changed_since_is_not_accepted(invincat, git):
    """A held batch speaks of memories as they were: the guards of RULES 1.4 are not gone around."""
    for number in range(5):
        invincat("remember", f"Fact number {number} about the build.", "--name", f"fact-{number}")
    gone = [{"op": "archive", "id": f"fact-{number}", "reason": "unsure"} for number in range(3)]
    proposal = invincat.apply(*gone, actor="memory-agent", code=3)["proposal"]
    invincat("archive", "fact-1", "--reason", "by hand")
    tip = git("rev-parse", "refs/invincat/memory")
    done = invincat("review", "accept", proposal, "--json", code=4).json["outcomes"][0]
    assert "fact-1 (archived" in done["reasons"][0]["message"]
    assert git("rev-parse", "refs/invincat/memory") == tip
    assert len(invincat("review", "list", "--json").json["proposals"]) == 1


def test_a_held_deletion_gives_the_freed_name_to_the_next(invincat, git):
    """RULES 6.4: what acceptance writes is as sound as any other write."""
    for section in ("A", "B"):
        invincat("remember", "The same title. " + section, "--section", section)
    for number in range(3):
        invincat("remember", f"Fact number {number}.")
    gone = [{"op": "delete", "id": name, "reason": "wrong"} for name in ("the-same-title", "fact-number-0")]
    evidence = [{"at": "README.md#L1"}]
    batch = [{**operation, "evidence": evidence} for operation in gone]
    proposal = invincat.apply(*batch, actor="memory-agent", code=3)["proposal"]
    invincat("review", "accept", proposal)
    assert "sound" in invincat("check").out
    assert invincat("show", "the-same-title", "--json").json["section"] == "B"


def test_the_list_says_how_to_decide(invincat):
    say(invincat, "We never push on Fridays.")
    run = invincat("review", "list")
    assert "decide: `invincat review accept ID`" in run.err and run.out.count("waits:") == 1
    invincat("review", "accept", run.out[:6])
    assert invincat("review", "list").err == "nothing waits for review\n"


def test_an_unknown_proposal_is_one_line(invincat):
    invincat("init")
    assert "no waiting proposal" in invincat("review", "accept", "01ARZ3", code=1).err
