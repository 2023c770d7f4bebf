"""Commands, pastes, history and offers, each by itself."""

from typing import NamedTuple

import pytest

from invincat.repl.commands import COMMANDS, nearest, parse
from invincat.repl.history import MAX_ENTRIES, InputHistory
from invincat.repl.layout import toolbar
from invincat.repl.paste import Pastes
from invincat.repl.review import ARMED_AFTER, Offer, Offers, hint
from tests.repl.fake_desk import FakeDesk, Spec, held

SECRET = "export GITHUB_TOKEN=ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cD1fG3hJ5"


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/help", ("help", "")),
        ("  /Recall  two words ", ("recall", "two words")),
        ("/remember a\nb", ("remember", "a\nb")),
        ("/remember\na b", ("remember", "a b")),
        ("/nonsense", ("nonsense", "")),
        ("/", ("", "")),
        ("/etc/hosts is odd", None),
        ("//", None),
        ("help", None),
        ("what is /help", None),
    ],
)
def test_what_is_a_command(text, command):
    assert parse(text) == command


@pytest.mark.parametrize(("typed", "named"), [("memroy", "memory"), ("rev", "review"), ("stats", "status")])
def test_an_unknown_command_names_the_nearest(typed, named):
    assert f"did you mean /{named}?" in nearest(typed)


def test_a_command_like_none_names_help():
    assert "/help" in nearest("zzz")


def test_every_command_has_one_line_of_help():
    assert all(command.help and "\n" not in command.help for command in COMMANDS.values())


def test_small_pastes_stay_and_large_ones_fold():
    pastes = Pastes()
    assert pastes.fold("a\r\nb\rc") == "a\nb\nc"
    assert pastes.fold("x\n" * 10) == "x\n" * 10
    text = "\n".join(str(number) for number in range(11))
    assert pastes.fold(text) == "[paste 1: 11 lines]"
    assert pastes.fold("x" * 1001) == "[paste 2: 1 line]"
    assert pastes.expand("see [paste 1: 11 lines]!") == f"see {text}!"


def test_a_typed_token_is_no_paste():
    pastes = Pastes()
    assert pastes.expand("[paste 7: 11 lines]") == "[paste 7: 11 lines]"
    assert pastes.token_before("[paste 7: 11 lines]") == 0


def test_what_was_pasted_is_not_expanded_again():
    pastes = Pastes()
    pastes.fold("[paste 2: 1 line]" + "x" * 1000)
    pastes.fold("y" * 1001)
    assert pastes.expand("[paste 1: 1 line]").startswith("[paste 2: 1 line]x")


def test_history_is_the_persons_own_and_survives(tmp_path):
    path = tmp_path / "state" / "history"
    InputHistory(path, str).append_string("one\ntwo")
    InputHistory(path, str).append_string("漢字")
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(InputHistory(path, str).load_history_strings()) == ["漢字", "one\ntwo"]


def test_history_never_holds_a_secret(tmp_path):
    path = tmp_path / "history"
    history = InputHistory(path, str)
    history.append_string(SECRET)
    history.append_string("harmless")
    assert "ghp_" not in path.read_text()
    assert history.get_strings() == [SECRET, "harmless"]


def test_a_secret_in_a_folded_paste_is_found(tmp_path):
    path = tmp_path / "history"
    InputHistory(path, lambda text: f"{text} {SECRET}").append_string("[paste 1: 1 line]")
    assert not path.exists()


def test_history_does_not_grow_for_ever(tmp_path):
    path = tmp_path / "history"
    path.write_text("".join(f'"{number}"\n' for number in range(2 * MAX_ENTRIES + 1)))
    assert len(list(InputHistory(path, str).load_history_strings())) == MAX_ENTRIES
    assert len(path.read_text().splitlines()) == MAX_ENTRIES


def test_a_history_that_cannot_be_kept_is_no_fault(tmp_path):
    (tmp_path / "file").touch()
    history = InputHistory(tmp_path / "file" / "history", str)
    history.append_string("x")
    assert history.get_strings() == ["x"], "what was typed can be recalled while this lasts"
    assert (tmp_path / "file").read_bytes() == b""


def test_a_broken_history_line_is_skipped(tmp_path):
    path = tmp_path / "history"
    path.write_bytes(b'"good"\n{"x\n\xff\n"torn')
    assert list(InputHistory(path, str).load_history_strings()) == ["good"]


def test_an_offer_is_not_armed_in_the_moment_in_which_it_appears():
    offers = Offers()
    offers.add(Offer("1", "create a"), 10.0)
    assert not offers.is_armed(10.1)
    assert offers.is_armed(10.0 + ARMED_AFTER)


def test_offers_come_one_after_the_other_and_once():
    offers = Offers()
    for id in ("1", "2", "1"):
        offers.add(Offer(id, f"create {id}"), 0.0)
    assert hint(offers).startswith("1 of 2: ")
    assert offers.settle() == Offer("1", "create 1")
    assert hint(offers).startswith("2 of 2: ")
    offers.put_off()
    assert hint(offers) == ""
    assert offers.settle() is None


def test_a_review_is_armed_at_once():
    offers = Offers()
    offers.review([held("1"), held("2")], 5.0)
    assert offers.is_armed(5.0)
    assert offers.is_review
    offers.settle()
    offers.settle()
    assert not offers.is_review


class Bar(NamedTuple):
    desk: FakeDesk
    counts: tuple[int, int]


@pytest.mark.parametrize(
    ("width", "text"),
    [
        (80, "a-model | a-long-branch | 12 memories, 2 held | remembering..."),
        (50, "a-model | 12 memories, 2 held | remembering..."),
        (40, "a-model | 12 memories, 2 held"),
        (25, "12 memories, 2 held"),
        (8, "12 memo…"),
    ],
)
def test_the_status_bar_keeps_what_matters_most(width, text):
    desk = FakeDesk(Spec(model="a-model", branch="a-long-branch"), is_remembering=True)
    assert toolbar(Bar(desk, (12, 2)), width) == text
