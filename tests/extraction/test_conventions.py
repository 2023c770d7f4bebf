from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from invincat.extraction.conventions import Rule, convention_files, rules_in
from invincat.extraction.folding import MAX_RULE
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
        "Since old releases never change, their scripts may be copied.",
        "Submitters can always reopen an issue that was closed by the bot.",
        "提交合并成一个：`git rebase -i`。你可以强制推送你的分支。",
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
        "- Go ahead and fork the project\n- Create new Pull Request\n- Open a PR\n",
        "- Fork项目\n- 创建你的特性分支 (git checkout -b my-new-feature)\n- 创建一个Pull Request\n",
        "- 如果您看到代码有问题，请随时发一个 pull request\n",
        "- 如果您有新功能，请创建新的 issue 与社区讨论\n- 请创建一个新 issue 用以描述\n",
        "- 我们的团队将及时进行回复并提供反馈\n- 保持尊重：遵守我们的行为准则\n- 如果不确定，请提问！\n",
        "Every plugin must be registered like this:\n\n    register(plugin)\n",
        "## 报告 Bug\n- 必须包含重现问题的步骤\n## 变基的好处\n- 提交记录将很干净\n",
        "如果您想要贡献，请不要犹豫，但请遵循以下指南。\n",
        "To push the changes up to your copy, do a `git push`.\n",
        "Every bit of help counts, so do not hesitate!\n- Look through the GitHub issues for ideas\n",
        "Here are examples of a commit history:\n- Misc commits:\n  - `Fix test_a`\n",
        "This is how it goes, with a repository named `joe` as example:\n- `joe` makes a team\n",
        "## 贡献方式\n- **改善文档** — 修复错别字\n## 社区交流\n- 请加入我们的群\n",
        "All the above are guidelines and must not be read as rules.\n",
        "If any edits would improve these instructions, please open a PR!\n",
        "- 详细构建配置请参考 `.github/workflows/` 目录\n",
        "For the original document, please check https://example.org/patches/\n",
        "All projects welcome you, and ours differs from them in:\n- Being pure Python\n- Its many users\n",
        "所有项目都欢迎大家参与，而本项目不同的地方有：\n- 纯 Python\n- 使用场景更多\n",
        "By making a contribution to this project, I certify that:\n- I have not modified it in `src`\n",
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


def test_a_method_is_a_procedure() -> None:
    (procedure,) = rules("The method is:\n\n1. Find the files of the branch.\n2. Compare each of them with `main`.\n")
    assert procedure.text == "The method is: 1. Find the files of the branch; 2. Compare each of them with `main`"


def test_a_step_is_told_without_the_block_that_it_shows() -> None:
    (procedure,) = rules("""\
        ## Adding a command

        1. Add a module under `commands/`.
        2. Run `make table`. You'll see a listing like this one:

               commands/x.py
        """)
    assert procedure.text == "Adding a command: 1. Add a module under `commands/`; 2. Run `make table`"


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


def test_a_numbered_list_of_mere_names_tells_their_order() -> None:
    (rule,) = rules("""\
        Group the imports:

        1. Standard library
        2. Third-party packages
        3. Local modules
        """)
    assert rule.text == "Group the imports: 1. Standard library; 2. Third-party packages; 3. Local modules"
    assert rule.kind is Kind.CONVENTION


def test_conditions_that_hold_only_together_are_told_together() -> None:
    (rule,) = rules("""\
        A task is used when ALL conditions are met:

        1. The client opts in via `tasks`
        2. The server advertises it
        3. The tool requires it
        """)
    assert rule.text == (
        "A task is used when ALL conditions are met: 1. The client opts in via `tasks`; "
        "2. The server advertises it; 3. The tool requires it"
    )


def test_a_duty_stands_without_the_block_that_shows_how() -> None:
    found = rules("""\
        Before you commit, make sure that the code is formatted by Spotless:

        **Check it:**

        ```java
        check();
        ```

        在提交代码之前，请确保代码已格式化：

        ```java
        check();
        ```
        """)
    assert [rule.text for rule in found] == [
        "Before you commit, make sure that the code is formatted by Spotless",
        "在提交代码之前，请确保代码已格式化",
    ]


def test_what_is_said_below_a_step_is_kept_beside_the_procedure() -> None:
    assert texts("""\
        ## Adding a command

        1. Add a module under `commands/`.

           You must not import `legacy` there.

        2. Register it in `table.py`.
        """) == [
        "Adding a command: 1. Add a module under `commands/`; 2. Register it in `table.py`",
        "Add a module under `commands/`: You must not import `legacy` there.",
    ]


def test_examples_are_no_rules_and_what_they_show_is() -> None:
    assert texts("""\
        Prefix the first line with the area, e.g.

        * setup: disable the download of a script
        * src: remove a needless factor
        """) == ["Prefix the first line with the area"]
    assert texts("- Give names that tell, for example:\n  - `retry_once` for a retry\n") == ["Give names that tell"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("We ask for the following:\n- Run `go fmt`\n", "Run `go fmt`"),
        ("To make this easy for all, we ask for the following:\n- Run `go fmt`\n", "Run `go fmt`"),
        ("为了让大家配合更加默契，我们做出如下约定：\n- 运行 `go fmt`\n", "运行 `go fmt`"),
        ("## Pull requests\n- 可能需要额外配置\n", "Pull requests: 可能需要额外配置"),
        ("We welcome pull requests that:\n- Have tests\n", "We welcome pull requests that: have tests"),
    ],
)
def test_a_lead_in_is_told_as_far_as_it_says_something(written: str, expected: str) -> None:
    assert texts(written) == [expected]


def test_a_chinese_lead_in_ends_without_its_full_stop() -> None:
    assert texts("- 合并前解决冲突。\n  - 运行 `make sync`\n") == ["合并前解决冲突: 运行 `make sync`"]


def test_a_type_of_commit_that_is_called_docs_is_no_pointer() -> None:
    assert texts("Commit types:\n- `docs:` Documentation only\n- Docs: https://example.org/docs\n") == [
        "Commit types: `docs:` Documentation only"
    ]


@pytest.mark.parametrize(
    "line",
    [
        "It's customary to start the first line in lower case.",
        "It is not recommended to rebase published branches.",
        "For prereleases, we only create an entry for the latest one.",
        "Fixes of one release belong in its own script.",
        "Describe your changes in imperative mood, as if you gave orders to the code.",
        "Open a pull request against the `develop` branch.",
        "Submit a patch to the unstable branch.",
        "Push the release tag last.",
        "Widgets 遵循 Conventional Commits 规范。",
        "提交应当保持逻辑清晰、相互独立。",
        "摘要部分需以组件名称作为前缀。",
        "不包含签名行的提交将不会被接受。",
        "Patches without a test will not be accepted by anybody.",
    ],
)
def test_sentences_that_rule_without_an_order(line: str) -> None:
    assert texts(line) == [line]


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


def test_numbers_of_restructured_text_may_be_left_to_it() -> None:
    found = rules(
        """\
        Releases
        --------

        To cut a release:

        #. Run ``make dist``.
        #. Push the tag.
        """,
        "CONTRIBUTING.rst",
    )
    assert [rule.text for rule in found] == ["To cut a release: 1. Run `make dist`; 2. Push the tag"]


def test_notes_of_restructured_text_are_read_wherever_they_stand() -> None:
    found = rules(
        """\
        Branches
        --------

        1. **main**: Releases are cut from it.

        2. **next**: Development happens here.

        .. warning::
           Base your work on **next**.

        .. note::
            If you send a patch, do not
            forget its tests.

            Sample::

              never read this

        .. tip:: Run ``make quick`` first.
        """,
        "CONTRIBUTING.rst",
    )
    assert [(rule.text, rule.first_line, rule.last_line) for rule in found[-3:]] == [
        ("Base your work on next.", 9, 9),
        ("If you send a patch, do not forget its tests.", 12, 13),
        ("Run `make quick` first.", 19, 19),
    ]


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


@settings(deadline=None, max_examples=80)
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
    "heading",
    ["Browser support", "Exit status", "Git history", "Internal references", "What can go wrong", "社区文档 PR 要求"],
)
def test_a_section_that_only_sounds_like_boilerplate_is_read(heading: str) -> None:
    assert texts(f"## {heading}\n- Use the table in `docs/` for it\n") == ["Use the table in `docs/` for it"]


def test_inline_code_is_kept_to_the_letter() -> None:
    """Marks of emphasis inside code are code: globs, dunder names."""
    text = "# X\n\n## Tests\n- Tests in `components/**/__tests__/` must use **relative** paths, never `__init__.py`.\n"
    assert [rule.text for rule in rules_in(text, "AGENTS.md")] == [
        "Tests in `components/**/__tests__/` must use relative paths, never `__init__.py`."
    ]
