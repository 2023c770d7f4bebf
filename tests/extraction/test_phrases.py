import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invincat.extraction.phrases import Whose, find_requests, find_standing, is_trivial, section_for
from invincat.extraction.speech import own_words
from invincat.memory.content import one_line


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "ok",
        "OK, thanks!",
        "yes please",
        "Yes, exactly.",
        "👍",
        "...",
        "sounds good to me, go ahead",
        "lgtm",
        "no",
        "好的，谢谢！",
        "嗯，继续",
        "可以",
        "没问题",
        "ok 好的",
        "great job, thank you so much",
    ],
)
def test_acknowledgements_are_trivial(text: str) -> None:
    assert is_trivial(text)


@pytest.mark.parametrize(
    "text",
    [
        "push it",
        "commit this",
        "all four",
        "ok, now add a test",
        "yes, but use nox",
        "option 2",
        "okra",
        "notes",
        "好的，记住：用 nox",
        "ok, remember: we use nox",
        "1",
        "继续修复这个问题",
    ],
)
def test_what_asks_for_something_is_not(text: str) -> None:
    assert not is_trivial(text)


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Look:\n```py\nalways()\n```\nFix it.", ["Look:", "Fix it."]),
        ("> never push\nI disagree.", ["I disagree."]),
        ("<system-reminder>\nAlways obey.\n</system-reminder>\nGo on.", ["Go on."]),
        ("Go on.\n<system-reminder>\nAlways obey.", ["Go on."]),
        ("I got this feedback:\nNever use globals.\n\nAlways test.", ["I got this feedback:"]),
        ("Implement this:\n\n# Plan\n\nAlways use X.", ["Implement this:"]),
        (
            'It dies:\nTraceback (most recent call last):\n  File "x.py", line 1\nValueError: must always be set',
            ["It dies:"],
        ),
        ("2026-01-01 10:00:00 INFO always on\nwhy is that", ["why is that"]),
        ("diff --git a/x b/x\n+ never do it\nhm", ["hm"]),
        ("use nox。不要用 tox！", ["use nox。", "不要用 tox！"]),
        ("wrapped\nlines go on. Next.", ["wrapped\nlines go on.", "Next."]),
        ("src/app.py:12: always fails\nfix", ["fix"]),
    ],
)
def test_only_a_persons_own_words_are_left(text: str, own: list[str]) -> None:
    assert [sentence.text for sentence in own_words(text)] == own


def test_questions_are_marked_and_quoted_words_say_nothing() -> None:
    first, second = own_words('Why does it fail? He wrote "always use tabs" and `never`.')
    assert (first.is_question, second.is_question) == (True, False)
    assert "always" not in second.bare
    assert "never" not in second.bare
    assert len(second.bare) == len(second.text)


def test_of_a_large_paste_only_short_first_and_last_paragraphs_count() -> None:
    paste = "\n\n".join(
        ["Please fix this.", *["We always use tabs in this file and so on. " * 5] * 20, "And add a test."]
    )
    assert [sentence.text for sentence in own_words(paste)] == ["Please fix this.", "And add a test."]


REQUESTS = [
    ("Remember: the staging database is read only", "The staging database is read only", Whose.PROJECT),
    ("please remember that I prefer rebase over merge", "I prefer rebase over merge", Whose.USER),
    ("Can you please remember that we deploy on Fridays?", "We deploy on Fridays", Whose.PROJECT),
    ("note for the future: never edit the lock file by hand", "Never edit the lock file by hand", Whose.PROJECT),
    ("Don't forget that our API is versioned by header.", "Our API is versioned by header", Whose.PROJECT),
    ("keep in mind that migrations are squashed yearly", "Migrations are squashed yearly", Whose.PROJECT),
    ("We drive everything with nox. Please remember this.", "We drive everything with nox.", Whose.PROJECT),
    ("The lock file is generated, remember that.", "The lock file is generated", Whose.PROJECT),
    ("remember to always run `make lint` before pushing", "Always run `make lint` before pushing", Whose.PROJECT),
    ("remember, I like tabs, but only in this project", "I like tabs, but only in this project", Whose.ONLY_HERE),
    ("remember: I think we use pnpm here", "I think we use pnpm here", Whose.PROJECT),
    ("remember that I use tabs and we format with ruff", "I use tabs and we format with ruff", Whose.UNCLEAR),
    ("remember: answer me in German", "Answer me in German", Whose.USER),
    ("remember: be brief", "Be brief", Whose.UNCLEAR),
    ("记住：提交前先跑 make lint", "提交前先跑 make lint", Whose.PROJECT),
    ("请记住，我喜欢简短的回答", "我喜欢简短的回答", Whose.USER),
    ("以后请记得先运行测试", "先运行测试", Whose.PROJECT),
    ("我们用 pnpm。记住这一点。", "我们用 pnpm。", Whose.PROJECT),
    ('remember: the label is "needs review"', 'The label is "needs review"', Whose.PROJECT),
]


@pytest.mark.parametrize(("text", "content", "scope"), REQUESTS)
def test_explicit_requests(text: str, content: str, scope: Whose) -> None:
    (request,) = find_requests(text)
    assert (request.content.rstrip("."), request.scope) == (content.rstrip("."), scope)
    assert request.quote in one_line(text)


def test_a_list_after_remember_is_one_request_an_item() -> None:
    found = find_requests("remember:\n- use nox\n- never push to main\n\nNow fix the bug.")
    assert [request.content for request in found] == ["Use nox", "Never push to main"]


def test_what_leans_on_the_fact_comes_with_it_and_the_task_does_not() -> None:
    (request,) = find_requests("Remember: we test with nox. It drives the matrix. Now fix the bug.")
    assert request.content == "We test with nox. It drives the matrix."


@pytest.mark.parametrize(
    "text",
    [
        "do you remember the name?",
        "Do you remember that we use nox?",
        "I don't remember which one",
        "I remember we use nox",
        "remember when we talked about this?",
        "remember to push now",
        "please remember to update the changelog for this PR",
        "don't forget to push",
        "remember the bug from yesterday",
        "remember: buy milk lol",
        "haha remember: blame the intern",
        "remember that the build is red right now",
        '"remember: use tabs" is what he said',
        "> remember: use tabs",
        "```\nremember: use tabs\n```",
        "make the app remember the last tab",
        "Remember me?",
        "remember",
        "note that the test fails",
        "记得吗",
        "你还记得我说的吗？",
        "记住今天要提交",
        "我记得我们用 nox",
        "remember this",
    ],
)
def test_what_is_no_request(text: str) -> None:
    assert find_requests(text) == []


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("From now on, use pnpm instead of npm.", Whose.PROJECT),
        ("from now on we select tests by marker", Whose.PROJECT),
        ("we never push directly to main", Whose.PROJECT),
        ("Please always run `make lint` before committing.", Whose.PROJECT),
        ("don't ever edit generated files", Whose.PROJECT),
        ("In this repo we use conventional commits.", Whose.PROJECT),
        ("The convention is to name tests after the case", Whose.PROJECT),
        ("our rule is snake_case for file names", Whose.PROJECT),
        ("I prefer short answers", Whose.USER),
        ("I like my commits squashed", Whose.USER),
        ("I prefer tabs, but only here", Whose.ONLY_HERE),
        ("If you touch the schema, always run the migration test", Whose.PROJECT),
        ("whenever you touch the schema, run `make migrate`", Whose.PROJECT),
        ("Convention for this repo: always use pnpm, never npm.", Whose.PROJECT),
        ("No agent should ever invoke npm in this repo.", Whose.PROJECT),
        ("我们总是先写测试", Whose.PROJECT),
        ("从现在开始统一使用 ruff", Whose.PROJECT),
        ("不要再用 print 调试了", Whose.PROJECT),
        ("以后都用中文写提交信息", Whose.PROJECT),
        ("我喜欢用 tab 缩进", Whose.USER),
        ("We always run ruff before pushing.", Whose.PROJECT),
        ("we always work on a branch", Whose.PROJECT),
        ("we always get two approvals before merging", Whose.PROJECT),
        ("we always need a ticket number in the title", Whose.PROJECT),
        ("we always embed the licence first", Whose.PROJECT),
        ("Make sure to always run mypy before a commit.", Whose.PROJECT),
        ("We agreed to always squash.", Whose.PROJECT),
        ("As a rule, we squash fixups.", Whose.PROJECT),
        ("Stop using requests, use httpx from now on.", Whose.PROJECT),
        ("Never commit generated files.", Whose.PROJECT),
        ("我喜欢简短的回答。", Whose.USER),
        ("我们从来不直接推 main。", Whose.PROJECT),
        ("以后不要用 mock。", Whose.PROJECT),
        ("团队规定提交前必须跑 lint。", Whose.PROJECT),
        ("以后提交信息都要用英文写。", Whose.PROJECT),
        ("我们一直用 ruff 做格式化，从不用 black。", Whose.PROJECT),
    ],
)
def test_standing_rules(text: str, scope: Whose) -> None:
    (request,) = find_standing(text)
    assert request.scope is scope
    assert request.quote == text


@pytest.mark.parametrize(
    "text",
    [
        "it always fails on CI",
        "the build never works on my machine",
        "I always get a timeout here",
        "we always had this bug",
        "we never shipped that",
        "in this project we always hit the rate limit",
        "do we always squash?",
        "why does it always fail",
        "should we never commit to main?",
        'He said "we always use tabs"',
        "the docs say: always use X",
        "`always use nox` is wrong",
        "```\nalways use nox\n```",
        "> never push to main",
        "never mind, continue",
        "for now always use the mock",
        "I prefer option B",
        "I like Option C",
        "I'd prefer the second approach",
        "I prefer this",
        "if we never close it, it leaks",
        "from now on the server returns 500",
        "every time you run the tests, it fails",
        "let's always return early in this function",
        "this method never returns",
        "users always click the wrong button",
        "Error: must always be called with new",
        "always",
        "It should never happen that the list is empty",
        "never gonna give you up",
        "always use the mock, just kidding",
        "The rule is not triggered on save",
        "Maybe we always want that",
        "add a checkbox: always checked",
        "这个总是报错",
        "为什么以后都要这样？",
        "从现在开始报错了",
        "不要再报错了",
        "it never works on my machine",
        "I always get an error here",
        "we always get an error here",
        "we never get a response",
        "we always run into this bug",
        "we always run out of memory",
        "we always ran it by hand",
        "we always get it wrong",
        "we never find out why",
        "use it from now on",
        "we always need to restart it",
        "why do we always run this?",
        "the test always fails",
        "we always got timeouts last week",
        "never mind",
        "I never said that",
        "run it again from now",
        "We agreed to go with sqlite.",
        "As a rule of thumb it took a day.",
        "Make sure it never fails again.",
        "the server hangs from now on",
        "```\nwe always run ruff before pushing\n```",
        '"We always run ruff before pushing."',
        "我喜欢这个方案。",
        "我们从来不知道为什么。",
        "以后再说吧，都可以。",
        "我们一直用的那台机器很慢。",
    ],
)
def test_what_is_no_standing_rule(text: str) -> None:
    assert find_standing(text) == []


def test_an_explicit_request_is_no_standing_rule_as_well() -> None:
    assert find_standing("remember: we always squash before merging") == []


def test_sections() -> None:
    assert section_for("We run pytest in parallel") == "Testing"
    assert section_for("提交信息用中文") == "Git"
    assert section_for("Blue is our colour") == "General"


WORDS = st.lists(
    st.sampled_from(
        [
            "remember",
            ":",
            "that",
            "always",
            "we",
            "never",
            "I",
            "prefer",
            "from now on",
            "?",
            ".",
            "\n",
            "```",
            '"',
            "`",
            "use nox",
            "记住",
            "：",
            "以后都",
            "<a>",
            "</a>",
            "> ",
            "- ",
            "    ",
            "# h",
            "feedback:",
            "this",
            "to",
            "\r",
            "\x00",
        ]
    ),
    max_size=25,
).map(" ".join)


@settings(deadline=None, max_examples=100)
@given(st.one_of(st.text(max_size=200), WORDS))
def test_any_text_is_read_and_quotes_are_there(text: str) -> None:
    is_trivial(text)
    for request in (*find_requests(text), *find_standing(text)):
        assert request.content
        assert all(one_line(part) in one_line(text) for part in request.quote.split(". "))
