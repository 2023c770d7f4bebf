"""Without a terminal, and on a dumb one: lines in, lines out."""

import signal
import subprocess
import sys

import msgspec
import pytest

from invincat.agent.events import End, Learned, Text, ToolFinished, TurnEnded
from invincat.agent.talk import NO_MODEL
from invincat.llm.usage import Usage
from tests.repl.fake_desk import Fault, Pause, Spec, ended, said
from tests.repl.terminal import PROGRAM, ROOT, Terminal, sealed

NORMAL = Spec()


def talk(tmp_path, input, spec=NORMAL, **how):
    path = tmp_path / "spec.json"
    path.write_bytes(msgspec.json.encode(spec))
    done = subprocess.run(
        [sys.executable, *PROGRAM, str(path)],
        input=input.encode(),
        capture_output=True,
        env=sealed(TERM="xterm-256color", **how),
        cwd=ROOT,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    return done.stdout.decode(), msgspec.json.decode(path.with_suffix(".out").read_bytes())


def test_a_pipe_gets_the_answers_and_no_control_sequence(tmp_path):
    turn = (Text("# Title\nsome \x1b[31m"), ToolFinished("1", "grep", "grep x", "", False), Text("end"), ended())
    out, told = talk(tmp_path, "hello\n/etc/hosts is odd\n", Spec(turns=(turn,)))
    assert out == "# Title\nsome <U+001B>[31m\n* grep x\nend\n\nYou said: /etc/hosts is odd\n\n"
    assert told["sent"] == ["hello", "/etc/hosts is odd"]


def test_commands_work_on_a_pipe(tmp_path):
    out, told = talk(tmp_path, "/status\n/memory use-tabs\n/nonsense\n!echo hi\nexit\nnot read\n")
    assert "model: fake-1" in out
    assert "title: Use tabs" in out
    assert "no command /nonsense" in out
    assert "hi\n" in out
    assert told["sent"] == []


def test_a_backslash_joins_lines_and_the_last_needs_no_end(tmp_path):
    _, told = talk(tmp_path, "one\\\ntwo")
    assert told["sent"] == ["one\ntwo"]


def test_a_fault_does_not_end_it(tmp_path):
    out, _ = talk(tmp_path, "a\nb\n", Spec(turns=((Fault("boom"),),)))
    assert out == "error: boom\n\nYou said: b\n\n"


def test_a_line_is_no_decision_about_an_offer_that_nobody_saw(tmp_path):
    spec = Spec(background=(Learned("held: x", proposal="01A"),), turns=((Pause(0.1), ended()),))
    _, told = talk(tmp_path, "wait\na\n", spec)
    assert told["sent"] == ["wait", "a"]
    assert told["done"] == ["close"]


@pytest.mark.parametrize("word", ["/quit", "/exit", "quit", ":q"])
def test_what_stands_behind_a_goodbye_is_not_read(tmp_path, word):
    out, told = talk(tmp_path, f"hello\n{word}\nare you there?\n")
    assert told["sent"] == ["hello"]
    assert "no command" not in out


def test_no_model_is_told_on_a_pipe_too(tmp_path):
    out, _ = talk(tmp_path, "", Spec(model=None))
    assert out == f"{NO_MODEL}\n"
    silent = TurnEnded(End.NO_MODEL, "", Usage(), error=NO_MODEL)
    out, _ = talk(tmp_path, "hello\nare you there?\n", Spec(model=None, turns=((silent,), (silent,))))
    assert out.count(NO_MODEL) == 1
    assert out.count("no answer: there is no model") == 2


def test_an_encoding_that_lacks_characters(tmp_path):
    out, _ = talk(tmp_path, "hi\n", Spec(turns=(said("漢字"),)), PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert out.startswith("??")


@pytest.fixture
def dumb(tmp_path):
    opened = []

    def open_terminal(spec=NORMAL):
        made = Terminal(tmp_path, spec, TERM="dumb")
        opened.append(made)
        made.until(">")
        return made

    yield open_terminal
    for made in opened:
        made.kill()


def test_a_dumb_terminal(dumb):
    screen = dumb(Spec(turns=(said("An *answer*.\n"),), background=(Learned("held: x", proposal="01A"),)))
    screen.send("hello\n")
    screen.until("An *answer*.")
    screen.send("/review\n")
    screen.until("nothing waits")
    assert b"\x1b" not in screen.raw
    screen.send("quit\n")
    assert screen.end()["sent"] == ["hello"]


def test_a_signal_lets_the_desk_finish(dumb):
    screen = dumb(Spec(turns=((Text("It goes on\n"), Pause(60.0)),)))
    screen.send("go\n")
    screen.until("It goes on")
    screen.process.kill(signal.SIGTERM)
    while screen.pump(0.1):
        pass
    screen.process.close()
    assert screen.process.exitstatus == 128 + signal.SIGTERM
    assert b'"close"' in screen.spec.with_suffix(".out").read_bytes()


def test_ctrl_c_on_a_dumb_terminal(dumb):
    screen = dumb(Spec(turns=((Text("It goes on\n"), Pause(60.0)),)))
    screen.send("go\n")
    screen.until("It goes on")
    screen.send("\x03")
    screen.until("interrupted")
    screen.send("\x03")
    screen.until("again")
    screen.send("\x03")
    assert screen.end()["interrupted"] == 1
