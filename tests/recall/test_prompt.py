"""What of the hits for a message is told beside it, and the benchmark that counts it."""

import json
from pathlib import Path

import pytest

from invincat.recall.index import Index
from invincat.recall.prompt import CANDIDATES, to_tell
from invincat.recall.query import Query
from tests.bench.prompt_recall import main

TITLES = [
    "Commit the branch and open a PR",
    "Run the tests through nox",
    "Variables of the environment (e.g. API keys) are kept in the vault",
    "Format C++ with clang-format",
    "数据库迁移用 alembic",
]


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("commit this branch, then open the PR", [0]),
        ("commit this\nbranch, then\nopen the PR", [0]),
        ("The last commit is wrong. Its branch is gone. Should we open an issue? The PR is closed.", []),
        ("# Commit\n\nThe branch is gone\n\nopen the door", []),
        ("I like nox. Please run all tests, e.g. those of the parser", [1]),
        ("undefined names (e.g. in the parser) should be shown", []),
        ("i.e. the keys of a dict", []),
        ("the C++ part looks odd", [3]),
        ("数据库怎么迁移", [4]),
        ("数据库很慢。我们要迁移办公室吗？", []),
    ],
)
def test_it_is_told_what_one_sentence_is_about(prompt: str, told: list[int], index: Index, corpus, record) -> None:
    store = corpus(*(record(title, number=at) for at, title in enumerate(TITLES)))
    hits = index.search(store, Query(prompt, limit=CANDIDATES)).hits
    assert [TITLES.index(hit.title) for hit in to_tell(prompt, hits)] == told


def test_prompts_are_asked_of_their_own_store_or_of_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = [*(f"Topic {word} is settled in the {word} handbook" for word in "abcdef"), "Run the tests through nox"]
    stores = _written(
        tmp_path / "stores.jsonl",
        {"repo": "one", "path": "AGENTS.md", "text": "\n".join(f"- {rule}" for rule in rules)},
        *({"repo": "two", "relevant": [f"Deploy {word} on Tuesdays only"]} for word in "abcdef"),
    )
    own = _written(
        tmp_path / "own.jsonl",
        {"repo": "one", "query": "run tests with nox", "relevant": ["Run the tests through nox"]},
        {"repo": "one", "query": "release it", "relevant": ["Topic a is settled in the a handbook"]},
        {"repo": "three", "query": "nobody has this store"},
    )
    main([own, stores, "--seed", "3"])
    assert capsys.readouterr().out.splitlines() == [
        "their own store: told something 1 of 2 times (50.0 %), 1 hits; something relevant 1 of 2 times",
        "",
        "> run tests with nox",
        "  [one] Run the tests through nox",
    ]
    main([_written(tmp_path / "any.jsonl", {"text": "run tests with nox"}), stores, "--show", "0"])
    assert capsys.readouterr().out == "stores of others: told something 1 of 2 times (50.0 %), 1 hits\n"


def _written(file: Path, *rows: dict[str, object]) -> str:
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return str(file)
