"""The command that measures recall, on a few lines made for it."""

import json

from tests.bench.recall_quality import main

LINES = [
    "Run the tests through nox",
    "Pin every dependency in pyproject.toml",
    "Never commit to main",
    "用 pytest 运行测试",
    "-",
]


def test_it_measures_any_file_of_that_form_beside_full_text_search(tmp_path, capsys):
    rows = [{"repo": "a/b", "op": "add", "new": line} for line in LINES]
    rows += [{"repo": "a/b", "op": "replace", "old": LINES[0], "new": "Run the tests through tox"}]
    rows += [
        {"repo": "a/b", "query": "how to run tests with nox", "relevant": [LINES[0]]},
        {"repo": "c/d", "query": "*:* OR (", "relevant": ["Something else"]},
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    main([str(file)])
    said = capsys.readouterr().out
    questions, edits = (part.splitlines() for part in said.split("\n\n")[1:3])
    assert questions[0] == "questions: 2"
    assert [float(value) for value in questions[2].split()[1:]] == [50.0] * 4
    assert edits[0] == "new line -> the line it replaces: 1"
    assert [float(value) for value in edits[2].split()[1:]] == [100.0] * 4
    assert any(line.startswith("invincat - FTS5 porter: r@1") for line in edits)
