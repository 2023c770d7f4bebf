"""The REPL in this process: keys from a pipe, a screen emulator as terminal."""

import asyncio
from collections.abc import Awaitable, Callable
from io import StringIO
from typing import Any

import pyte
import pytest
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output.vt100 import Vt100_Output

from invincat.agent.events import Learned, Notice, Text
from invincat.repl.shell import Shell, run
from tests.repl.fake_desk import FakeDesk, Fault, Pause, Spec, ended

FOREVER = (Text("It goes on"), Pause(60.0), ended())
SIZE = Size(rows=30, columns=80)


class Tube(StringIO):
    """What is written goes to a screen emulator."""

    encoding = "utf-8"

    def __init__(self, feed: Callable[[str], Any]) -> None:
        super().__init__()
        self._feed = feed
        self.writes = 0

    def write(self, text: str) -> int:
        self.writes += 1
        self._feed(text)
        return len(text)


class Bench:
    """A running shell: keys go in with `send`, `until` waits for what the screen shows."""

    def __init__(self, keys: PipeInput, desk: FakeDesk) -> None:
        self.keys = keys
        self.desk = desk
        self.screen = pyte.Screen(SIZE.columns, SIZE.rows)
        self.tube = Tube(pyte.Stream(self.screen).feed)
        self.output = Vt100_Output(self.tube, lambda: SIZE, term="xterm-256color", enable_cpr=False)

    @property
    def text(self) -> str:
        return "\n".join(row.rstrip() for row in self.screen.display).rstrip()

    @property
    def prompt(self) -> str:
        return self.screen.display[self.screen.cursor.y].rstrip()

    def send(self, keys: str) -> None:
        self.keys.send_text(keys)

    async def until(self, *texts: str, without: str = "\0") -> None:
        for _ in range(400):
            if all(text in self.text for text in texts) and without not in self.text:
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"{texts} and not {without!r} in\n{self.text}")


def talk(steps: Callable[[Bench], Awaitable[None]], spec: Spec = Spec()) -> FakeDesk:  # noqa: B008 - a value
    """Run a shell, do these steps, leave."""

    async def main() -> FakeDesk:
        with create_pipe_input() as keys:
            desk = FakeDesk(spec)
            bench = Bench(keys, desk)
            shell = asyncio.create_task(Shell(desk, keys, bench.output, None, {}).talk())
            await bench.until("memor")
            await steps(bench)
            if not shell.done():
                bench.send("\x03\x04")
            assert await asyncio.wait_for(shell, 5) == 0
            return desk

    return asyncio.run(main())


def test_run_leaves_with_zero():
    with create_pipe_input() as keys:
        desk = FakeDesk()
        keys.send_text("hello\r")
        keys.send_text("/exit\r")
        assert run(desk, input=keys, output=Bench(keys, desk).output, environment={}) == 0
        assert desk.done == ["close"]


def test_the_end_of_the_input_is_the_end():
    with create_pipe_input() as keys:
        desk = FakeDesk()
        keys.close()
        assert run(desk, input=keys, output=Bench(keys, desk).output, environment={}) == 0
        assert desk.done == ["close"]


@pytest.mark.parametrize("word", ["exit\r", "quit\r", ":q\r", " EXIT \r", "/exit\r", "\x04"])
def test_the_ways_out(word):
    async def steps(bench):
        bench.send(word)
        await asyncio.sleep(0.05)

    assert talk(steps).sent == []


def test_ctrl_d_deletes_when_something_is_typed():
    async def steps(bench):
        bench.send("ab\x01\x04\r")
        await bench.until("You said: b")

    talk(steps)


def test_newlines_in_a_message():
    async def steps(bench):
        bench.send("one\ntwo\x1b\rthree\\\rfour\r")
        await bench.until("You said: one")

    assert talk(steps).sent == ["one\ntwo\nthree\nfour"]


def test_one_ctrl_c_at_an_empty_prompt_does_not_quit():
    async def steps(bench):
        bench.send("\x03")
        await bench.until("press Ctrl-C again")
        bench.send("x")
        await bench.until("> x", without="again")

    talk(steps)


def test_letters_are_letters_without_an_offer():
    async def steps(bench):
        bench.send("a\r")
        await bench.until("You said: a")
        bench.send("r\x1bll\r")
        await bench.until("You said: rl")

    assert talk(steps).done == ["close"]


def test_a_key_in_the_moment_in_which_an_offer_appears_is_a_letter():
    async def steps(bench):
        await bench.desk.news.put(Learned("held: x", proposal="01A"))
        await bench.until("a accept")
        bench.send("a")
        await asyncio.sleep(0.5)
        assert bench.prompt == "> a"

    assert talk(steps).done == ["close"]


def test_esc_puts_an_offer_off():
    async def steps(bench):
        await bench.desk.news.put(Learned("held: x", proposal="01A"))
        await bench.until("a accept")
        bench.send("\x1b")
        await bench.until("later: /review finds 01A", without="a accept")

    assert talk(steps).done == ["close"]


def test_an_offer_waits_for_the_end_of_the_turn():
    async def steps(bench):
        bench.send("go\r")
        await bench.until("It goes on")
        await bench.desk.news.put(Learned("held: x", proposal="01A"))
        await bench.until("held: x", without="a accept")
        bench.send("a")
        await asyncio.sleep(0.5)
        assert bench.prompt == "> a"
        bench.send("\x03\x03")
        await bench.until("a accept")

    talk(steps, Spec(turns=(FOREVER,)))


def test_an_unknown_command_is_not_sent_and_a_path_is():
    async def steps(bench):
        bench.send("/memroy\r")
        await bench.until("did you mean /memory?")
        bench.send("/etc/hosts is odd\r")
        await bench.until("You said: /etc/hosts is odd")

    assert talk(steps).sent == ["/etc/hosts is odd"]


def test_commands_work_while_a_turn_runs_and_some_wait():
    async def steps(bench):
        bench.send("go\r")
        await bench.until("It goes on")
        bench.send("/status\r")
        await bench.until("session: 01SESSION1")
        bench.send("/clear\r")
        await bench.until("queued: /clear", "It goes on")
        bench.send("\x1b[A")
        await bench.until("> /clear", without="queued")

    assert talk(steps, Spec(turns=(FOREVER,))).session_id == "01SESSION1"


def test_queued_messages_go_out_in_order():
    async def steps(bench):
        bench.send("one\r")
        await bench.until("first")
        bench.send("two\r/clear\rthree\r")
        await bench.until("You said: three")

    desk = talk(steps, Spec(turns=((Text("first"), Pause(0.2), ended()),)))
    assert (desk.sent, desk.session_id) == (["one", "two", "three"], "01SESSION2")


def test_a_fault_is_a_line_and_the_next_turn_works():
    async def steps(bench):
        bench.send("go\r")
        await bench.until("half\nerror: no model is configured")
        bench.send("again\r")
        await bench.until("You said: again")

    talk(steps, Spec(turns=((Text("half"), Fault("no model is configured")),)))


def test_the_background_may_fail_without_ending_it():
    async def steps(bench):
        await bench.until("error: the store is gone")
        bench.send("hi\r")
        await bench.until("You said: hi")

    talk(steps, Spec(background=(Notice("a notice"), Fault("the store is gone"))))


def test_the_prompt_is_usable_while_extraction_runs():
    async def steps(bench):
        bench.desk.is_remembering = True
        await bench.until("remembering...")
        bench.send("hi\r")
        await bench.until("You said: hi", "remembering...")
        bench.desk.is_remembering = False
        await bench.until("2 memories", without="remembering...")

    talk(steps)


def test_what_was_pasted_is_no_command():
    async def steps(bench):
        bench.send("\x1b[200~!exit 7\n" + "x\n" * 20 + "\x1b[201~\r")
        await bench.until("You said: !exit 7")
        bench.send("![a](b)\r")
        await bench.until("You said: ![a](b)")

    talk(steps)


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("/help", "Alt-A, Alt-R, Alt-L"),
        ("/memory", "Use tabs (use-tabs, convention, warm)"),
        ("/memory run first", "title: Run the tests first"),
        ("/memory zzz", "no memory matches 'zzz'"),
        ("/remember", "what shall be remembered?"),
        ("/remember x y --user", "remembered x y (abc1234)"),
        ("/recall tests", "memory/general/run-tests-first.md"),
        ("/recall zzz", "nothing found"),
        ("/review", "nothing waits"),
        ("/model", "fake-1"),
        ("/model other", "talking to other"),
        ("/status", "tokens: 0 since the start"),
        ("/clear", "a new conversation: 01SESSION2"),
        ("/", "/help lists them"),
        ("!", "which command?"),
    ],
)
def test_commands(typed, shown):
    async def steps(bench):
        bench.send(f"{typed}\r")
        await bench.until(shown)

    assert talk(steps).sent == []


def test_remember_can_be_for_oneself():
    async def steps(bench):
        bench.send("/remember x y --user\r/remember a --users\r")
        await bench.until("remembered a --users")

    assert talk(steps).done[:2] == ["remember x y True", "remember a --users False"]


def test_what_is_learned_while_leaving_is_shown():
    news = (Learned("learned a", commit="abcdef1234"), Learned("held: b", proposal="01A"))

    async def steps(bench):
        bench.desk.is_remembering = True
        bench.send("\x04")
        await bench.until("Ctrl-C skips it\nlearned a (abcdef1)\nheld: b")

    talk(steps, Spec(last_news=news, closing=0.1))


def test_a_fault_of_the_program_ends_it_and_is_not_swallowed():
    class Broken(FakeDesk):
        async def recall(self, query):
            raise RuntimeError("a bug")

    async def main():
        with create_pipe_input() as keys:
            desk = Broken()
            bench = Bench(keys, desk)
            shell = asyncio.create_task(Shell(desk, keys, bench.output, None, {}).talk())
            await bench.until("memor")
            bench.send("/recall x\r")
            with pytest.raises(RuntimeError, match="a bug"):
                await asyncio.wait_for(shell, 5)
            assert desk.done == ["close"]

    asyncio.run(main())


def test_many_small_pieces_make_few_frames():
    async def steps(bench):
        bench.send("go\r")
        await bench.until("word 1999")
        assert bench.tube.writes < 300

    pieces = tuple(Text(f"word {number} ") for number in range(2000))
    talk(steps, Spec(turns=((*pieces, ended()),)))


def test_another_model_and_how_to_go_on():
    async def steps(bench):
        bench.send("/model other-1\r")
        await bench.until("talking to other-1")
        bench.send("hello\r")
        await bench.until("You said: hello")
        bench.send("/status\r")
        await bench.until("model: other-1", "session: 01SESSION1")
        bench.send("\x04")
        await bench.until("session 01SESSION1, go on with: invincat -c")

    assert talk(steps).sent == ["hello"]


def test_nothing_said_is_nothing_to_go_on_with():
    async def steps(bench):
        bench.send("/status\r")
        await bench.until("session: 01SESSION1")
        bench.send("\x04")
        await asyncio.sleep(0.1)
        assert "go on with" not in bench.text

    talk(steps)
