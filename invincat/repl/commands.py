"""The commands that begin with `/`: one table from which help, completion and dispatch come."""

import difflib
import textwrap
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from invincat.agent.talk import NO_MODEL
from invincat.llm.usage import Usage
from invincat.memory.scope import Scope
from invincat.memory.view import Record
from invincat.repl.backend import Backend
from invincat.repl.style import BLANK, Line, Paint
from invincat.review import Waiting

MAX_LISTED: Final = 100
MIN_COLUMN: Final = 24
GOODBYES: Final = frozenset({"exit", "quit", ":q"})


class Host(Protocol):
    """What a command may reach of the front end."""

    desk: Backend
    paint: Paint
    keys_help: Sequence[tuple[str, str]]

    @property
    def width(self) -> int:
        """The columns that lines have."""

    @property
    def usage(self) -> Usage:
        """The tokens that were spent since the REPL began."""

    def say(self, *lines: Line) -> None:
        """Print lines."""

    def review(self, waiting: list[Waiting]) -> None:
        """Put proposals to the person, one after the other."""

    def quit(self) -> None:
        """End the REPL."""


@dataclass(frozen=True)
class Command:
    """`usage` are its arguments, `help` its one line; `completes` memories, or nothing.

    `at_once` commands run while the model answers; others wait for the end of the turn.
    """

    help: str
    run: Callable[[Host, str], Awaitable[None]]
    usage: str = ""
    completes: str = ""
    at_once: bool = True


def parse(text: str) -> tuple[str, str] | None:
    """The command that a message is, without its slash and in lower case, and its arguments; None for other text.

    A word with a second slash, such as `/etc/hosts`, is a path: such a message goes to the model.
    """
    word, _, rest = text.strip().partition(" ") if "\n" not in text.strip() else _first_word(text.strip())
    if not word.startswith("/") or "/" in word[1:]:
        return None
    return word[1:].casefold(), rest.strip()


def _first_word(text: str) -> tuple[str, str, str]:
    word = text.split(maxsplit=1)[0]
    return word, " ", text[len(word) :]


def nearest(name: str) -> str:
    """What to tell a person who typed an unknown command."""
    close = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.4)
    starts = [known for known in COMMANDS if name and known.startswith(name)]
    guess = f"; did you mean /{(starts or close)[0]}?" if starts or close else ""
    return f"there is no command /{name}{guess} (/help lists them; it was not sent to the model)"


async def _help(host: Host, _: str) -> None:
    commands = [(_usage(name), command.help) for name, command in COMMANDS.items()]
    host.say(host.paint.line("Commands", "bold"), *_columns(commands, host.width))
    if host.keys_help:
        host.say(BLANK, host.paint.line("Keys", "bold"), *_columns(host.keys_help, host.width))


def _columns(rows: Sequence[tuple[str, str]], width: int) -> list[Line]:
    """Names and what they mean, side by side if there is room, else below each other; broken between words."""
    left = max(len(name) for name, _ in rows) + 4
    beside = width - left >= MIN_COLUMN
    indent = " " * (left if beside else 6)
    lines: list[Line] = []
    for name, text in rows:
        meaning = textwrap.wrap(text, max(width - len(indent) - 1, MIN_COLUMN))
        head = f"  {name}".ljust(left) + meaning.pop(0) if beside else f"  {name}"
        lines += [Line(head), *(Line(indent + row) for row in meaning)]
    return lines


def _usage(name: str) -> str:
    return f"/{name} {COMMANDS[name].usage}".strip()


async def _memory(host: Host, words: str) -> None:
    records = await host.desk.memories()
    if words and any(words in {record.name, record.label, record.memory.id} for record in records):
        await _show(host, words)
        return
    found = [record for record in records if _matches(record, words)]
    if words and len(found) == 1:
        await _show(host, found[0].name)
        return
    host.say(*_listed(host.paint, found, words))


async def _show(host: Host, name: str) -> None:
    host.say(*host.paint.lines(await host.desk.show(name.rpartition("/")[2])))


def _matches(record: Record, words: str) -> bool:
    memory = record.memory
    text = f"{record.label} {memory.title} {memory.section} {memory.kind} {memory.tier}".casefold()
    return all(word in text for word in words.casefold().split())


def _listed(paint: Paint, records: list[Record], words: str) -> list[Line]:
    """The memories by section; the first ones of very many."""
    if not records:
        return [paint.line(f"no memory matches {words!r}" if words else "nothing is remembered yet", "dim")]
    ordered = sorted(records, key=lambda record: (record.memory.section.casefold(), -record.memory.score, record.name))
    lines: list[Line] = []
    heading = None
    for record in ordered[:MAX_LISTED]:
        memory = record.memory
        if heading != (heading := (memory.section, memory.scope)):
            lines.append(paint.line(memory.section + (" (yours)" if memory.scope is Scope.USER else ""), "bold"))
        lines.append(paint.indented(f"{memory.title}  ({record.name}, {memory.kind}, {memory.tier})"))
    if len(records) > MAX_LISTED:
        lines.append(paint.line(f"{len(records) - MAX_LISTED} more; narrow them with /memory WORDS", "dim"))
    return lines


async def _remember(host: Host, words: str) -> None:
    user = words.endswith(" --user") or words.startswith("--user ")
    text = words.removesuffix(" --user").removeprefix("--user ").strip() if user else words
    if not text or text == "--user":
        host.say(host.paint.line("what shall be remembered? /remember TEXT [--user]", "warning"))
        return
    host.say(*host.paint.lines(await host.desk.remember(text, user=user)))


async def _recall(host: Host, words: str) -> None:
    if not words:
        host.say(host.paint.line("what for? /recall WORDS", "warning"))
        return
    results = await host.desk.recall(words)
    for hit in results.hits:
        host.say(host.paint.line(hit.title, "bold"))
        host.say(host.paint.indented(f"{hit.path}  {hit.kind}, {hit.tier}; {'; '.join(hit.why)}", "dim"))
        if hit.snippet:
            host.say(host.paint.indented(hit.snippet))
    if not results.hits:
        host.say(host.paint.line("nothing found", "dim"))
    elif results.total > len(results.hits):
        host.say(host.paint.line(f"{len(results.hits)} of {results.total}", "dim"))
    if results.degraded:
        host.say(host.paint.line(results.degraded, "warning"))


async def _review(host: Host, _: str) -> None:
    waiting = await host.desk.waiting()
    if waiting:
        host.review(waiting)
    else:
        host.say(host.paint.line("nothing waits for review", "dim"))


async def _model(host: Host, words: str) -> None:
    if words:
        host.say(*host.paint.lines(await host.desk.set_model(words)))
    elif host.desk.model:
        host.say(host.paint.line(host.desk.model))
    else:
        host.say(host.paint.line(NO_MODEL))


async def _status(host: Host, _: str) -> None:
    active, held = await host.desk.counts()
    usage = host.usage
    about = "about " if usage.estimated else ""
    rows = (
        ("model", host.desk.model or "no model"),
        ("branch", host.desk.branch or "none"),
        ("session", host.desk.session_id),
        ("memory", f"{active} active, {held} held" + (", remembering..." if host.desk.remembering() else "")),
        ("tokens", f"{about}{usage.total:,} since the start"),
    )
    host.say(*(host.paint.line(f"{name}: {value}") for name, value in rows))


async def _clear(host: Host, _: str) -> None:
    host.say(host.paint.line(f"a new conversation: {await host.desk.clear()}", "dim"))


async def _exit(host: Host, _: str) -> None:
    host.quit()


COMMANDS: Final[Mapping[str, Command]] = {
    "help": Command("what there is to type", _help),
    "memory": Command("list memories, or show one", _memory, "[NAME or WORDS]", completes="memory"),
    "remember": Command("write down one memory; --user: in your own store", _remember, "TEXT [--user]"),
    "recall": Command("search the memories", _recall, "WORDS"),
    "review": Command("decide what was held, one by one", _review),
    "model": Command("show the model, or go on with another", _model, "[NAME]", at_once=False),
    "status": Command("model, branch, session, memory, tokens", _status),
    "clear": Command("begin a new conversation", _clear, at_once=False),
    "exit": Command("end it; so do /quit, exit, quit, :q and Ctrl-D", _exit),
}
