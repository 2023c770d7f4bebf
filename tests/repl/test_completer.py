"""What is completed, and how fast."""

import asyncio
import time

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from invincat.repl.completer import ReplCompleter, candidate, match
from tests.repl.fake_desk import FakeDesk, Spec


def completions(text: str, **spec) -> list[tuple[str, str]]:
    async def collect():
        completer = ReplCompleter(FakeDesk(Spec(**spec)))
        return [found async for found in completer.get_completions_async(Document(text), CompleteEvent())]

    found = asyncio.run(collect())
    return [(text[: len(text) + one.start_position] + one.text, one.display_meta_text) for one in found]


def texts(text: str, **spec) -> list[str]:
    return [found for found, _ in completions(text, **spec)]


def test_a_slash_lists_the_commands_with_their_help():
    found = dict(completions("/"))
    assert found["/remember"].startswith("write down one memory")
    assert "/help" in found


@pytest.mark.parametrize(("typed", "first"), [("/he", "/help"), ("/rem", "/remember"), ("/rvw", "/review")])
def test_commands_are_found_by_some_of_their_letters(typed, first):
    assert texts(typed)[0] == first


@pytest.mark.parametrize("text", ["hello /he", "/help x", "a/b"])
def test_a_slash_elsewhere_is_no_command(text):
    assert texts(text) == []


def test_files_are_completed_anywhere_in_the_message():
    assert texts("look at @app") == ["look at @src/app.py"]
    assert texts("look at (@漢") == ["look at (@src/漢字.py"]


def test_a_mail_address_is_no_file():
    assert texts("ada@app") == []


def test_a_path_with_spaces_is_quoted():
    assert texts("@docs", files=("my docs.md",)) == ['@"my docs.md"']


def test_memories_are_found_by_name_and_title():
    assert texts("see #tabs") == ["see #use-tabs"]
    assert completions("#rtf") == [("#run-tests-first", "Run the tests first")]


def test_the_argument_of_memory_completes_names():
    assert texts("/memory use") == ["/memory use-tabs"]


def test_hidden_characters_of_names_are_shown():
    (found,) = completions("#x", titles=(("x", "evil"),))
    assert found == ("#x", "evil")


def test_the_begin_of_a_name_is_closer_than_the_middle_and_scattered_letters():
    found = match("app", [candidate(path) for path in ("a/p/p.py", "src/wrapper.py", "src/app.py", "app/x.py")])
    assert [item.text for item in found] == ["app/x.py", "src/app.py", "src/wrapper.py", "a/p/p.py"]


@pytest.mark.parametrize("typed", ["a", "mod99", "py", "src/pkg7mod", "zzz"])
def test_ten_thousand_entries_are_searched_between_two_keys(typed):
    candidates = [candidate(f"src/package{n % 97}/module_{n}.py") for n in range(10_000)]
    spent = []
    for _ in range(4):  # the best counts: a collection of garbage may fall into any of them
        begin = time.process_time()
        match(typed, candidates)
        spent.append(time.process_time() - begin)
    assert min(spent) < 0.1
