from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invincat.extraction.conventions import MAX_RULE, Rule, convention_files, rules_in
from invincat.memory.content import one_line
from invincat.memory.entry import Kind
from invincat.memory.evidence import MAX_EVIDENCE, MAX_QUOTE


def rules(text: str, path: str = "AGENTS.md") -> list[Rule]:
    return rules_in(dedent(text), path)


def texts(text: str, path: str = "AGENTS.md") -> list[str]:
    return [rule.text for rule in rules(text, path)]


def test_files_are_picked_outer_folders_first_and_foreign_ones_left_out() -> None:
    paths = [
        "docs/AGENTS.md",
        "CONTRIBUTING.md",
        "node_modules/x/AGENTS.md",
        "tests/fixtures/CLAUDE.md",
        "src/agents.md",
        ".github/copilot-instructions.md",
        "copilot-instructions.md",
        "CLAUDE.md",
        "AGENTS.md",
        ".cursor/rules/style.mdc",
        ".cursor/rules/team/db.md",
        "notes/style.mdc",
        ".cursorrules",
        "CONTRIBUTING_zh.md",
        "README.md",
        "CONTRIBUTING.py",
    ]
    expected = [
        "AGENTS.md",
        "CLAUDE.md",
        "CONTRIBUTING.md",
        "CONTRIBUTING_zh.md",
        ".cursorrules",
        ".github/copilot-instructions.md",
        "docs/AGENTS.md",
        ".cursor/rules/style.mdc",
        ".cursor/rules/team/db.md",
    ]
    assert convention_files(paths) == expected
    assert convention_files(reversed(paths)) == expected


def test_a_rule_knows_its_lines_section_words_and_weight() -> None:
    found = rules("""\
        # Widgets

        ## 2. Testing 🧪

        - Run the **whole** suite with `nox`
          before you [push](https://example.org).
        - You must never skip a failing test.
        """)
    assert found == [
        Rule(
            text="Run the whole suite with `nox` before you push.",
            section="Testing",
            first_line=5,
            last_line=6,
            quote="Run the **whole** suite with `nox` before you [push](https://example.org).",
            binding=False,
        ),
        Rule(
            text="You must never skip a failing test.",
            section="Testing",
            first_line=7,
            last_line=7,
            quote="You must never skip a failing test.",
            binding=True,
            kind=Kind.CONSTRAINT,
        ),
    ]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("When writing tests:\n- Use factories\n", "When writing tests: use factories"),
        ("Do not:\n\n- use default exports\n", "Do not: use default exports"),
        ("## Don'ts\n- Use global state\n", "Don'ts: use global state"),
        ("## Things to avoid\n- Bare excepts in handlers\n", "Things to avoid: Bare excepts in handlers"),
        ("## 禁止事项\n- 直接修改生产数据库\n", "禁止事项: 直接修改生产数据库"),
        ("- ⚠️ Never use icons such as 🔥 in output\n", "Never use icons such as 🔥 in output"),
        ("- ❌ Log the request body\n", "Don't: Log the request body"),
        ("- Name things well:\n  - booleans begin with `is`\n", "Name things well: booleans begin with `is`"),
        ("## When you add a model\n- Add a migration\n", "When you add a model: add a migration"),
        ("## Before a release\nNothing here.\n\n### Checks\n- `make dist`\n", "Checks: `make dist`"),
        ("We aim high:\n- Follow these rules:\n  - Keep handlers small\n", "We aim high: keep handlers small"),
    ],
)
def test_an_item_stands_alone_and_keeps_its_polarity(written: str, expected: str) -> None:
    assert expected in [rule.text for rule in rules_in(written, "AGENTS.md")]


def test_what_says_no_by_itself_is_not_told_no_twice() -> None:
    assert texts("## Don'ts\n- Never log secrets\n- ✅ Log the request id\n") == [
        "Never log secrets",
        "Log the request id",
    ]


def test_a_nearer_do_ends_the_reach_of_a_dont() -> None:
    found = texts("""\
        ## Avoid
        - Mocks of our own code

        ### Instead
        - Use the in-memory store
        """)
    assert found == ["Avoid: Mocks of our own code", "Use the in-memory store"]


def test_a_dont_binds() -> None:
    assert [rule.binding for rule in rules("Do not:\n- use default exports\n")] == [True]


@pytest.mark.parametrize(
    "line",
    [
        "Always run the linter.",
        "Secrets must not be logged.",
        "Do not edit generated files.",
        "提交前必须运行测试",
        "禁止提交密钥文件",
        "Type hints are required for public functions.",
    ],
)
def test_binding_lines_become_constraints(line: str) -> None:
    (rule,) = rules_in(f"- {line}\n", "AGENTS.md")
    assert (rule.binding, rule.kind) == (True, Kind.CONSTRAINT)


@pytest.mark.parametrize(
    "line",
    [
        "Prefer composition over inheritance.",
        "You don't need to add a changelog entry for docs.",
        "The `must` helper wraps errors from `Open`.",
        "优先使用组合而不是继承",
        "Requests offer allow-once, allow-always and reject to `Client`.",
        "❌ Failure: the bot comments on your PR if there are conflicts.",
    ],
)
def test_other_lines_do_not_bind(line: str) -> None:
    (rule,) = rules_in(f"- {line}\n", "AGENTS.md")
    assert not rule.binding


@pytest.mark.parametrize(
    "nothing",
    [
        "```sh\nnever push to main\n```\n",
        "    always indent code\n",
        "<!-- - Never do this -->\n",
        "<!-- invincat:begin -->\n- Use `nox` for tests\n<!-- invincat:end -->\n",
        "- [Style guide](https://example.org/style)\n- [Testing](#testing)\n",
        "## License\n- You must license your work under MIT.\n",
        "## Table of Contents\n- Always test\n",
        "Thank you for taking the time to contribute!\n",
        "- Fork the repository and clone it\n- Open an issue first\n",
        "See below.\n",
        "- Should we always use tabs?\n",
        "- `src/app/`\n- `src/lib.rs`\n",
        "![build](https://example.org/badge.svg)\n",
        "You are an expert in Rust and WebAssembly.\n",
        "- Questions? Email us at team@example.org\n",
        "| Rule | Why |\n|---|---|\n| Always test | yes |\n",
        "感谢您的贡献！\n",
        "## Key features\n- Blazing fast indexing of your code\n",
        "Example tasks:\n- Reverse-engineer a program\n",
        "- This eliminates most of it.\n",
        "- Example: use `x` for it\n- 示例：使用 `x` 表示\n",
        "示例：运行 `make lint` 检查代码。\n",
        "## 改动类型\n- [ ] Bug 修复\n- [ ] 新功能\n",
        "Type of change:\n- Bug fix\n- New feature\n",
        "If you don't know where to start, here are some tasks:\n- Fix bugs found by Coverity\n",
        "We value your input, whether it's:\n- Submitting a fix\n- Discussing the code in `src/`\n",
        "## 我可以贡献什么？\n- 提 PR 修复这个 issue\n",
        "如果你对已经存在的 PR 感兴趣，你可以：\n- 参与代码 review，并给出合适意见\n",
        "## Report bugs using GitHub's issues\n- Great bug reports must have steps to reproduce\n",
        "- [Search existing issues][list] first\n\n[list]: https://example.org/issues\n",
        "- NOTE: read the above link before sending improvements\n",
        "Hash checking is always skipped in this case.\n",
        "You should pick reviewers from this file.\n",
        "",
    ],
)
def test_what_is_no_rule(nothing: str) -> None:
    assert rules_in(nothing, "CONTRIBUTING.md") == []


def test_rules_around_the_exported_block_keep_their_lines() -> None:
    found = rules(
        "- Use tabs in Makefiles\n<!-- invincat:begin -->\n- Use nox\n<!-- invincat:end -->\n- Sort the imports\n"
    )
    assert [(rule.text, rule.first_line) for rule in found] == [("Use tabs in Makefiles", 1), ("Sort the imports", 5)]


def test_steps_of_a_procedure_stay_together_and_rules_with_numbers_do_not() -> None:
    (procedure,) = rules("""\
        ## Adding a command

        1. Add a module under `commands/`.
        2. Register it in `table.py`.
           ```sh
           make table
           ```
        """)
    assert procedure.text == (
        "Adding a command: 1. Add a module under `commands/`; 2. Register it in `table.py`: `make table`"
    )
    assert procedure.kind is Kind.RUNBOOK
    assert texts("## Style\n1. Sort the imports.\n2. Wrap at 100 columns.\n") == [
        "Sort the imports.",
        "Wrap at 100 columns.",
    ]


def test_orders_below_a_task_are_one_procedure_though_nobody_numbered_them() -> None:
    (procedure,) = rules("""\
        <h3>Backporting upstream patches</h3>

        * Check out the tag of the release and create a branch
        * Cherry-pick the upstream commit that fixes it
        * Commit and `git format-patch`
        """)
    assert procedure.text == (
        "Backporting upstream patches: 1. Check out the tag of the release and create a branch; "
        "2. Cherry-pick the upstream commit that fixes it; 3. Commit and `git format-patch`"
    )
    assert procedure.kind is Kind.RUNBOOK
    assert procedure.section == "Backporting upstream patches"


@pytest.mark.parametrize(
    "listed",
    [
        "## Testing\n- Run the suite with nox\n- Mock the network\n- Mark slow tests\n",
        "## Adding a model\n- Run the suite with nox\n- Tests must pass\n- Mark slow tests\n",
        "## Adding a model\n- Use snake case for it\n- Run the suite with nox\n- Mark slow tests\n",
        "## Adding a model\n- Run the suite with nox\n- Mark slow tests\n",
        "## When making changes\n- Update the documentation\n- Check the type hints\n- Review the examples\n",
    ],
)
def test_a_list_of_rules_stays_a_list_of_rules(listed: str) -> None:
    assert len(texts(listed)) == listed.count("\n- ")


def test_a_lead_in_that_only_points_back_is_told_by_the_heading() -> None:
    assert texts("""\
        ## Version-specific fixes

        As such, any such fixes:

        * Must not break the build
        """) == ["Version-specific fixes: Must not break the build"]
    assert texts("These must never:\n- Log the request body\n") == ["These must never: log the request body"]


def test_a_choice_among_what_the_sentence_before_names_comes_with_it() -> None:
    assert texts("`install_*` functions are defined in `build`. Pick one that is the most appropriate.\n") == [
        "`install_*` functions are defined in `build`. Pick one that is the most appropriate."
    ]


def test_the_command_that_a_line_introduces_belongs_to_it() -> None:
    (rule,) = rules("""\
        Run the type checker before you push:

        ```bash
        # strict
        mypy src
        ```
        """)
    assert rule.text == "Run the type checker before you push: `mypy src`"
    assert rule.kind is Kind.RUNBOOK
    assert [(quote.first_line, quote.words) for quote in rule.support] == [(4, "# strict mypy src")]


def test_prose_gives_the_sentences_that_rule_with_what_leans_on_them() -> None:
    assert texts("""\
        The project began as a weekend hack. Keep modules under 400 lines. This makes them easy to review.
        We had fun.
        """) == ["Keep modules under 400 lines. This makes them easy to review."]


def test_sentences_of_a_block_quote_are_quoted_as_far_as_they_are_found() -> None:
    (rule,) = rules("> Remove the plugin from the list first.\n> Otherwise it loads twice.\n")
    assert rule.text == "Remove the plugin from the list first. Otherwise it loads twice."
    assert (rule.quote, rule.last_line) == ("Remove the plugin from the list first.", 2)


def test_links_by_reference_are_reduced_to_their_words() -> None:
    text = "- Use a [feature branch][branch], never [master]\n\n[branch]: https://example.org\n[master]: https://example.org\n"
    assert texts(text) == ["Use a feature branch, never master"]


def test_what_only_permits_is_a_remark_on_its_item() -> None:
    assert texts("- Mark the PR as a draft while you work\n  - You can go back at any time.\n") == [
        "Mark the PR as a draft while you work"
    ]


def test_chinese_sentences_that_lean_on_each_other_are_joined_and_quoted_as_they_stand() -> None:
    (rule,) = rules("提交前必须运行 `make lint`。这样可以尽早发现问题。\n")
    assert rule.text == "提交前必须运行 `make lint`。这样可以尽早发现问题。"
    assert (rule.quote, rule.is_quoted_whole) == ("提交前必须运行 `make lint`。", False)


def test_a_sentence_that_adds_to_the_one_before_comes_with_it() -> None:
    assert texts("Use `git log -p` to read a branch. To show whole functions, use the `-W` argument as well.\n") == [
        "Use `git log -p` to read a branch. To show whole functions, use the `-W` argument as well."
    ]


def test_a_blank_to_fill_in_is_no_markup() -> None:
    assert texts("- Label backports `x` as backport-to-<branch-name>, in <b>lower</b> case\n") == [
        "Label backports `x` as backport-to-<branch-name>, in lower case"
    ]


def test_an_outcome_is_told_with_its_heading() -> None:
    assert texts("## Backporting\n- ❌ **Failure**: the bot names the files in conflict\n") == [
        "Backporting: Failure: the bot names the files in conflict"
    ]


def test_a_case_that_the_sentence_itself_names_needs_nothing_before_it() -> None:
    assert texts("If the index is stale, run `make index` in this case.\n") == [
        "If the index is stale, run `make index` in this case."
    ]


def test_a_lead_in_may_end_with_a_comma() -> None:
    assert texts("When a PR is ready to merge,\n\n- prefer a squash\n- NOTE: never force-push\n") == [
        "When a PR is ready to merge: prefer a squash",
        "When a PR is ready to merge: NOTE: never force-push",
    ]


def test_lines_that_work_as_headings_are_sections() -> None:
    found = rules("Naming Conventions\n- Use kebab-case for files\n\n**Errors**\n\n- Wrap errors with context\n")
    assert [rule.section for rule in found] == ["Naming Conventions", "Errors"]


def test_front_matter_gives_globs_and_no_rules() -> None:
    head = 'description: Never a rule\nglobs: src/**/*.ts, "lib/{a,b}/*.js"\nalwaysApply: false'
    text = f"---\n{head}\n---\n- Use strict mode\n"
    (rule,) = rules_in(text, ".cursor/rules/ts.mdc")
    assert (rule.globs, rule.first_line) == (("src/**/*.ts", "lib/{a,b}/*.js"), 6)
    (rule,) = rules_in("---\nglobs: **/*\n---\n- Use strict mode\n", ".cursor/rules/all.mdc")
    assert rule.globs == ()
    (rule,) = rules_in("---\nglobs:\n  - 'docs/*.md'\n---\n- Use title case\n", ".cursor/rules/docs.mdc")
    assert rule.globs == ("docs/*.md",)


def test_a_nested_file_speaks_for_its_folder() -> None:
    assert rules_in("- Use strict mode\n", "web/[id]/AGENTS.md")[0].globs == ("web/[[]id]/**",)
    assert rules_in("- Use strict mode\n", "docs/CONTRIBUTING.md")[0].globs == ()


def test_equal_rules_are_one() -> None:
    assert texts("- Use `nox`.\n\n## Again\n- use  `nox`\n") == ["Use `nox`."]


def test_a_long_rule_is_cut_and_quoted_in_pieces() -> None:
    line = "Use " + " ".join(f"word{number}" for number in range(150)) + "."
    (rule,) = rules_in(f"- {line}\n", "AGENTS.md")
    assert len(rule.text) <= MAX_RULE
    assert len(rule.quotes) == MAX_EVIDENCE
    assert line.startswith(" ".join(quote.words for quote in rule.quotes))


def test_restructured_text_is_read_too() -> None:
    found = rules(
        """\
        Guide
        =====

        Tests
        ~~~~~

        Run ``pytest`` through the `runner <https://example.org>`_ before you commit::

            pytest -q

        .. warning::

           Never push to ``main``.
        """,
        "CONTRIBUTING.rst",
    )
    assert [(rule.text, rule.section) for rule in found] == [("Never push to `main`.", "Tests")]


def test_chinese_documents_are_read_too() -> None:
    found = rules("""\
        # 贡献指南

        欢迎贡献代码！

        ## 一、提交规范

        提交前请运行 `make lint`。谢谢大家。

        - 分支名统一使用 `feat/<功能名>`
        - 测试原则：只测外部行为
        """)
    assert [(rule.text, rule.section) for rule in found] == [
        ("提交前请运行 `make lint`。", "提交规范"),
        ("分支名统一使用 `feat/<功能名>`", "提交规范"),
        ("测试原则：只测外部行为", "提交规范"),
    ]


MARKDOWN = st.lists(
    st.sampled_from(
        [
            "# Title",
            "## Don't",
            "### When testing",
            "**Bold**",
            "Never:",
            "When you deploy:",
            "- Use `x`",
            "  - nested rule here",
            "1. Run it",
            "2. Ship it now",
            "> quoted must",
            "> [!NOTE]",
            "```sh",
            "```",
            "    code",
            "",
            "",
            "text. Use this. It helps",
            "| a | b |",
            "|---|---|",
            "<div>",
            "</div>",
            "<!-- x",
            "-->",
            "---",
            "===",
            "- [ ] tick the box",
            "必须运行测试。",
            "\ufeff",
            "a\rb must",
            "\x00must",
            "must\x0cdo",
            "* *",
            "- ",
            "[l](u)",
            "`",
            "**",
            "globs: *",
            "//Title",
            "\\",
            "\u2028always",
            "::",
        ]
    ),
    max_size=25,
).map("\n".join)


@settings(deadline=None, max_examples=150)
@given(
    st.one_of(st.text(max_size=300), MARKDOWN),
    st.sampled_from(["AGENTS.md", "x/CONTRIBUTING.rst", ".cursor/rules/a.mdc"]),
)
def test_any_text_gives_valid_rules_whose_quotes_are_there(text: str, path: str) -> None:
    lines = text.replace("\r\n", "\n").split("\n")
    for rule in rules_in(text, path):
        assert 0 < len(rule.text) <= MAX_RULE
        assert 0 < len(rule.section) <= 80
        assert 1 <= len(rule.quotes) <= MAX_EVIDENCE
        for quote in rule.quotes:
            assert 1 <= quote.first_line <= quote.last_line <= len(lines)
            assert 0 < len(quote.words) <= MAX_QUOTE
            assert quote.words in one_line("\n".join(lines[quote.first_line - 1 : quote.last_line]))


@pytest.mark.parametrize(
    "heading", ["Browser support", "Exit status", "Git history", "Internal references", "What can go wrong"]
)
def test_a_section_that_only_sounds_like_boilerplate_is_read(heading: str) -> None:
    assert texts(f"## {heading}\n- Use the table in `docs/` for it\n") == ["Use the table in `docs/` for it"]


def test_inline_code_is_kept_to_the_letter() -> None:
    """Marks of emphasis inside code are code: globs, dunder names."""
    text = "# X\n\n## Tests\n- Tests in `components/**/__tests__/` must use **relative** paths, never `__init__.py`.\n"
    assert [rule.text for rule in rules_in(text, "AGENTS.md")] == [
        "Tests in `components/**/__tests__/` must use relative paths, never `__init__.py`."
    ]
