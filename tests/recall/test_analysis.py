"""What becomes a term, and what of a question is looked for."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invincat.recall.analysis import is_cjk, query_terms, tokens

LATIN = st.text(st.characters(max_codepoint=0x17F, exclude_characters="İıſŉ"), max_size=60)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The tests are running", ["the", "test", "are", "run"]),
        ("test_coder.py", ["test_coder.py", "test", "coder", "py"]),
        ("getUserName", ["getusernam", "get", "user", "name"]),
        ("parseHTTPResponse URLs", ["parsehttprespons", "pars", "http", "respons", "url"]),
        ("pre-commit", ["precommit", "pre", "commit"]),
        ("--no-verify", ["noverifi", "no", "verifi"]),
        ("src/my_app/nox.py", ["src/my_app/nox.py", "myapp", "nox.py", "src", "my", "app", "nox", "py"]),
        ("v3.11.2", ["v3.11.2", "3", "11", "2"]),
        ("E501", ["e501", "501"]),
        ("__init__", ["__init__", "init"]),
        ("C++ and c#", ["c++", "and", "c#"]),
        ("don\u2019t", ["don't"]),
        ("the user's", ["the", "user"]),
        ("tests/MyCase.py", ["tests/mycase.py", "mycase.py", "test", "mycas", "my", "case", "py"]),
        ("x", ["x"]),
        ("ＰＹＴＥＳＴ café", ["pytest", "cafe"]),
        ("... ::: *** ___ --", []),
    ],
)
def test_terms_of_latin_text(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("运行测试", ["运行", "行测", "测试"]),
        ("用pytest跑测试", ["用", "pytest", "跑测", "测试"]),
        ("テストを実行", ["テス", "スト", "実行"]),
        ("테스트를 실행", ["테스", "스트", "트를", "실행"]),
        ("锁", ["锁"]),
        ("的测试", ["测试"]),
        ("的", ["的"]),
    ],
)
def test_terms_of_cjk_questions(text: str, expected: list[str]) -> None:
    assert query_terms(text) == expected


@pytest.mark.parametrize(
    ("traditional", "simplified"),
    [
        ("數據庫遷移", "数据库迁移"),
        ("鎖", "锁"),
        ("後端用pytest測試", "后端用pytest测试"),
        ("什麼時候發佈", "什么时候发布"),
        ("可以跳過測試嗎", "可以跳过测试吗"),
    ],
)
def test_traditional_and_simplified_characters_are_the_same(traditional: str, simplified: str) -> None:
    assert tokens(traditional) == tokens(simplified)
    assert query_terms(traditional) == query_terms(simplified)


def test_a_single_character_is_found_in_a_longer_run() -> None:
    assert set(query_terms("锁")) <= set(tokens("文件锁定"))


def test_function_words_are_dropped_only_beside_others() -> None:
    assert query_terms("How do I run the tests?") == ["run", "test"]
    assert query_terms("what is it") == ["what", "is", "it"]
    assert query_terms("keys, e.g. of maps, i.e. dicts") == ["key", "map", "dict"]
    assert query_terms("never commit to main") == ["never", "commit", "main"]
    assert "the" in tokens("the tests")


def test_each_term_is_looked_for_once() -> None:
    assert query_terms("test tests Testing test") == ["test"]


@given(LATIN)
def test_lower_case_loses_only_the_parts_of_camel_case(text: str) -> None:
    assert set(tokens(text.lower())) <= set(tokens(text))


@given(st.lists(st.sampled_from(["nox", "runs", "the", "tests", "py3.11", "snake_case", "a/b.md"]), max_size=8))
def test_case_does_not_matter_where_it_does_not_separate_words(words: list[str]) -> None:
    text = " ".join(words)
    assert tokens(text.upper()) == tokens(text) == tokens(text.title().lower())


@given(st.text(max_size=80))
def test_what_is_asked_in_the_words_of_a_text_is_found_in_it(text: str) -> None:
    assert set(query_terms(text)) <= set(tokens(text))
    assert bool(query_terms(text)) == bool(tokens(text))
    assert all(any(character.isalnum() or is_cjk(character) for character in term) for term in tokens(text))


@pytest.mark.parametrize("module", ["analysis", "query", "ranking", "hit", "corpus", "stamp"])
def test_only_the_index_imports_whoosh(module: str) -> None:
    code = f"import sys, invincat.recall.{module}; sys.exit('whoosh' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
