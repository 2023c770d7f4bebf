"""The REPL in a real terminal, as a person sees it and types into it."""

import re
import signal

import pytest

from invincat.agent.events import End, Learned, Notice, Restarted, Text, Thinking, ToolFinished, ToolStarted
from invincat.agent.talk import NO_MODEL
from tests.repl.fake_desk import Pause, Spec, ended, held, said
from tests.repl.terminal import Terminal

ANSWER = "# Plan\n\nSome *text* here.\n\n```python\nx = 1\n```\n\n- one\n- two\n"
NORMAL = Spec()
FOREVER = (Text("It goes on"), Pause(60.0), ended())
PASTE = "\x1b[200~{}\x1b[201~"


@pytest.fixture
def terminal(tmp_path):
    opened = []

    def open_terminal(spec=NORMAL, **how):
        made = Terminal(tmp_path, spec, **how)
        opened.append(made)
        made.start()
        return made

    yield open_terminal
    for made in opened:
        made.kill()


def test_the_first_start_without_a_model_says_how_to_configure_one(terminal):
    screen = terminal(Spec(model=None))
    assert NO_MODEL in "".join(screen.screen.display)
    assert "no model | main | 2 memories" in screen.text
    screen.send("/remember Use tabs\r")
    screen.until("remembered Use tabs (abc1234)")
    assert screen.leave()["done"] == ["remember Use tabs False", "close"]
    assert screen.prompt is None


def test_a_streamed_answer_is_rendered_above_the_prompt(terminal):
    screen = terminal(Spec(turns=(said(ANSWER, 3),)))
    screen.send("go\r")
    screen.until(" • two")
    assert screen.text.split("\n")[1:11] == [
        "> go", "Plan", "", "Some text here.", "", "```python", "x = 1", "```", "", " • one"
    ]  # fmt: skip
    screen.until(lambda: screen.prompt == "")
    assert screen.leave()["sent"] == ["go"]


@pytest.mark.slow
def test_typing_goes_on_while_the_answer_streams(terminal):
    steps = [step for number in range(60) for step in (Text(f"line {number}\n\n"), Pause(0.01))]
    screen = terminal(Spec(turns=((*steps, ended()), said("second"))))
    screen.send("go\r")
    screen.until("line 3")
    for key in "typed meanwhile":
        screen.send(key)
        screen.pump(0.02)
    screen.until(lambda: screen.prompt == "typed meanwhile")
    screen.send("\r")
    screen.until("queued: typed meanwhile")
    screen.until("second")
    shown = screen.everything
    assert [line for line in shown.split("\n") if line.startswith("line ")] == [
        f"line {number}" for number in range(60)
    ]
    assert shown.count("> typed meanwhile") == 1
    assert screen.leave()["sent"] == ["go", "typed meanwhile"]


def test_ctrl_c_clears_then_interrupts_then_quits(terminal):
    screen = terminal(Spec(turns=(FOREVER,)))
    screen.send("go\r")
    screen.until("It goes on")
    screen.send("half a thought")
    screen.until(lambda: screen.prompt == "half a thought")
    screen.send("\x03")
    screen.until(lambda: screen.prompt == "")
    assert "interrupted" not in screen.text
    screen.send("\x03")
    screen.until("interrupted")
    assert "It goes on\ninterrupted" in screen.text
    screen.until(lambda: "Esc interrupts" not in screen.text)
    screen.send("\x03")
    screen.until("press Ctrl-C again to quit")
    screen.send("\x03")
    assert screen.end() == {"sent": ["go"], "done": ["close"], "interrupted": 1}


@pytest.mark.slow
def test_esc_interrupts_a_turn_and_gives_back_what_was_queued(terminal):
    screen = terminal(Spec(turns=((ToolStarted("1", "grep", '{"pattern":"x"}'), Pause(60.0)),)))
    screen.send("go\r")
    screen.until("* grep x")
    screen.send("next\r")
    screen.until("queued: next")
    screen.send("\x1b")
    screen.until("interrupted")
    assert "! grep x" in screen.text
    screen.until(lambda: screen.prompt == "next")
    assert screen.leave()["interrupted"] == 1


@pytest.mark.slow
def test_completion_of_commands_files_and_memories(terminal):
    screen = terminal()
    screen.send("/mem")
    screen.until("list memories, or show one")
    screen.send("\t use\t")
    screen.until(lambda: screen.prompt == "/memory use-tabs")
    screen.send("\x03look at @app")
    screen.until("src/app.py")
    screen.send("\t\r#tab")
    screen.until("Use tabs")
    screen.send("\t\r")
    screen.until(lambda: screen.prompt == "look at @src/app.py #use-tabs")
    screen.send("\r")
    screen.until("You said")
    assert screen.leave()["sent"] == ["look at @src/app.py #use-tabs"]


@pytest.mark.slow
def test_a_large_paste_folds_and_expands_when_sent(terminal, tmp_path):
    screen = terminal(FAKE_HISTORY=str(tmp_path / "history"))
    text = "\n".join(f"row {number}" for number in range(12))
    screen.send(f"see {PASTE.format(text)} and {PASTE.format('small')}")
    screen.until(lambda: screen.prompt == "see [paste 1: 12 lines] and small")
    screen.send("\r")
    screen.until("> see [paste 1: 12 lines] and small")
    screen.send(PASTE.format(text))
    screen.until(lambda: screen.prompt == "[paste 2: 12 lines]")
    screen.send("\x7f")
    screen.until(lambda: screen.prompt == "")
    assert screen.leave()["sent"] == [f"see {text} and small"]
    assert "row 11" in (tmp_path / "history").read_text()


@pytest.mark.slow
def test_an_offer_takes_one_key(terminal):
    news = (Pause(0.1), Learned("held: use tabs", proposal="01A"), Learned("held: no tabs", proposal="01B"))
    screen = terminal(Spec(background=news))
    screen.until("1 of 2: a accept, r reject, l later")
    screen.pump(0.7)
    screen.send("a")
    screen.until("accepted 01A")
    screen.until("2 of 2: ")
    screen.send("\x1br")
    screen.until("rejected (rejected at the prompt) 01B")
    screen.until(lambda: "a accept" not in screen.text)
    assert screen.leave()["done"] == ["accept 01A", "reject 01B", "close"]


@pytest.mark.slow
def test_a_word_that_begins_with_the_key_of_an_offer_is_a_word(terminal):
    screen = terminal(Spec(background=(Learned("held: use tabs", proposal="01A"),)))
    screen.until("a accept")
    screen.pump(0.7)
    screen.send("all is well")
    screen.pump(0.5)
    assert screen.prompt == "all is well"
    screen.send("\r")
    screen.until("You said: all is well")
    assert "a accept" not in screen.text
    assert screen.leave()["done"] == ["close"]


@pytest.mark.slow
def test_a_review_walks_through_what_is_held(terminal):
    screen = terminal(Spec(waiting=(held("01A", "create a"), held("01B", "create b"), held("01C", "create c"))))
    assert "2 memories, 3 held" in screen.text
    screen.send("/review\r")
    screen.until("1 of 3: ")
    screen.until("waits: a model proposed it")
    screen.send("a")
    screen.until("2 of 3: ")
    screen.send("r")
    screen.until("why?")
    screen.send("it is wrong\r")
    screen.until("rejected (it is wrong) 01B")
    screen.until("3 of 3: ")
    screen.send("l")
    screen.until("later: /review finds 01C")
    assert screen.leave()["done"] == ["accept 01A", "reject 01B", "close"]


@pytest.mark.slow
def test_forty_columns(terminal):
    screen = terminal(
        Spec(turns=(said(ANSWER + "\n| 名前 | value |\n|--|--|\n| 漢字 | " + "long " * 20 + "|\n"),)), rows=30
    )
    screen.send("a message that is longer than forty columns of text\r")
    screen.until("long")
    screen.resize(30, 40)
    screen.send("typed after the resize, longer than one row")
    screen.until("row")
    screen.send("\r")
    screen.until("You said: typed after the resize")
    assert all(len(row) <= 40 for row in screen.rows)
    assert "fake-1 | main | 2 memories" in screen.text


@pytest.mark.slow
def test_a_very_small_terminal(terminal):
    screen = terminal(Spec(turns=(said(ANSWER * 3),)), rows=4, columns=20)
    screen.send("go\r")
    screen.until(lambda: "two" in screen.everything and screen.prompt == "")
    screen.send("/\t")
    screen.pump(0.2)
    assert screen.leave()["sent"] == ["go"]


@pytest.mark.slow
def test_no_colour(terminal):
    screen = terminal(Spec(turns=(said(ANSWER),), model=None), NO_COLOR="1")
    screen.send("go\r")
    screen.until("- two")
    assert "# Plan" in screen.text
    screen.leave()
    assert not re.search(rb"\x1b\[[0-9;]*(?:2|3[0-7]|9[0-7])m", screen.raw)


@pytest.mark.slow
def test_nothing_that_a_model_tool_or_memory_says_drives_the_terminal(terminal):
    evil = "\x1b]0;pwned\x07\x1b[2J\x1b[1;1Hgone\x9b5m\r\x08"
    turn = (
        Thinking(evil),
        Text(f"before {evil}\n\n"),
        ToolStarted("1", f"x{evil}", f'{{"a": "{evil[1:5]}"}}'),
        Pause(0.2),
        ToolFinished("1", "x", evil, evil, True),
        Notice(evil),
        Learned(evil, proposal="01A"),
        Text(f"tail {evil}"),
        Pause(0.3),
        ended(end=End.ERROR, error=evil),
    )
    screen = terminal(Spec(turns=(turn,), model=f"m{evil}", files=(f"evil{evil}",)), columns=160)
    screen.send("go\r")
    screen.until("error: <U+001B>")
    screen.send("/memory use-tabs\r")
    screen.until("About use-tabs.<U+001B>[2J")
    screen.send("see @evi")
    screen.until(" evil<U+001B>")
    for bad in (b"\x1b]", b"\x9b", b"\x07", b"\x1b[2J", b"\x1b[1;1H"):
        assert bad not in screen.raw
    assert "Invincat" in screen.everything


@pytest.mark.slow
def test_a_restart_takes_back_what_was_printed(terminal):
    turn = (Text("void one\n\nvoid two\n\nvoid"), Pause(0.2), Restarted("connection lost", 0.0), Text("valid"), ended())
    screen = terminal(Spec(turns=(turn,)))
    screen.send("go\r")
    screen.until("void two")
    screen.until("valid")
    assert "void" not in screen.text
    assert "> go\nthe answer begins anew: connection lost\nvalid" in screen.text


@pytest.mark.slow
def test_a_restart_says_so_when_the_void_text_has_scrolled_away(terminal):
    void = "".join(f"void {number}\n\n" for number in range(30))
    screen = terminal(Spec(turns=((Text(void), Pause(0.2), Restarted("503", 0.0), Text("valid"), ended()),)))
    screen.send("go\r")
    screen.until("what was said above is void: 503")
    screen.until("valid")


@pytest.mark.slow
def test_a_shell_command_has_the_terminal(terminal):
    screen = terminal()
    screen.send("!read x; echo got $x; exit 3\r")
    screen.until("> !read")
    screen.pump(0.3)
    screen.send("an answer\r")
    screen.until("got an answer")
    screen.until("exit code 3")
    screen.until(lambda: screen.prompt == "")
    screen.send("!sleep 60\r")
    screen.pump(0.4)
    screen.send("\x03")
    screen.until(lambda: screen.prompt == "")
    screen.send("still here\r")
    screen.until("You said: still here")


@pytest.mark.slow
def test_the_editor_gets_the_message_and_gives_it_back(terminal, tmp_path):
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\necho edited >> $1\n")
    editor.chmod(0o755)
    screen = terminal(VISUAL=str(editor))
    screen.send("first line\n\x07")
    screen.until("edited")
    screen.send("\r")
    screen.until("You said: first line")
    assert screen.leave()["sent"] == ["first line\nedited"]


@pytest.mark.slow
def test_history_is_searched_and_walked(terminal, tmp_path):
    (tmp_path / "history").write_text('"an old thought"\n"another"\n')
    screen = terminal(FAKE_HISTORY=str(tmp_path / "history"))
    screen.send("\x1b[A")
    screen.until(lambda: screen.prompt == "another")
    screen.send("\x03")
    screen.until(lambda: screen.prompt == "")
    screen.send("\x12old")
    screen.until(lambda: "an old thought" in screen.text)
    screen.send("\r")
    screen.until(lambda: screen.prompt == "an old thought")
    screen.send("\r")
    screen.until("You said: an old thought")


@pytest.mark.slow
def test_suspend_resume_and_paint_anew(terminal):
    screen = terminal()
    screen.send("kept")
    screen.until(lambda: screen.prompt == "kept")
    screen.send("\x1a")
    screen.pump(0.5)
    screen.process.kill(signal.SIGCONT)
    screen.send(" on")
    screen.until(lambda: screen.prompt == "kept on")
    screen.send("\x0c")
    screen.until(lambda: screen.rows[0] == "> kept on")


@pytest.mark.slow
def test_leaving_while_the_desk_finishes_can_be_cut_short(terminal):
    screen = terminal(Spec(closing=30.0))
    screen.send("\x04")
    screen.pump(0.5)
    screen.send("\x03")
    assert screen.end()["done"] == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_lets_the_desk_finish(terminal, number):
    screen = terminal(Spec(turns=(FOREVER,)))
    screen.send("go\r")
    screen.until("It goes on")
    screen.process.kill(number)
    while screen.pump(0.1):
        pass
    screen.process.close()
    assert screen.process.exitstatus == 128 + number
    assert b'"close"' in screen.spec.with_suffix(".out").read_bytes()
