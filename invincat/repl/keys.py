"""The keys: one table, from which bindings and help come. Everything else is Emacs, as prompt-toolkit has it."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple, Protocol

from prompt_toolkit.filters import Condition, is_searching
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from invincat.repl.review import KEYS as LETTERS
from invincat.repl.review import Decision


class Actions(Protocol):
    """What keys do."""

    def send(self) -> None:
        """Send the message; behind a backslash, a newline."""

    def newline(self) -> None:
        """A newline in the message."""

    def cancel(self) -> None:
        """Clear the input; else interrupt; else, twice, quit."""

    def leave(self) -> None:
        """Quit."""

    def interrupt(self) -> None:
        """Close the menu, interrupt the turn, or put an offer off."""

    def unqueue(self) -> None:
        """Take back the message that was queued last."""

    def edit(self) -> None:
        """Edit the message in an editor."""

    def suspend(self) -> None:
        """Stop the process, as Ctrl-Z does."""

    def complete(self) -> None:
        """Take the first completion, then the next ones."""

    def paste(self, text: str) -> None:
        """Insert what was pasted."""

    def erase_token(self) -> None:
        """Delete the folded paste before the cursor."""

    def press(self, key: str) -> None:
        """A key of an offer, alone at an empty prompt."""

    def decide(self, decision: Decision) -> None:
        """Decide the current offer."""

    def is_empty(self) -> bool:
        """Whether nothing is typed."""

    def is_queueing(self) -> bool:
        """Whether messages are queued."""

    def is_offering(self) -> bool:
        """Whether an offer is shown."""

    def is_armed(self) -> bool:
        """Whether a plain key may decide it."""

    def is_after_token(self) -> bool:
        """Whether the cursor stands right behind a folded paste."""


class Key(NamedTuple):
    """Key sequences that do the same, what, when (None: always), and how help calls them and it."""

    sequences: tuple[tuple[str, ...], ...]
    act: Callable[[Actions], None]
    when: Callable[[Actions], bool] | None = None
    shown: str = ""
    help: str = ""


TABLE: Final = (
    Key((("enter",),), lambda do: do.send(), shown="Enter", help="send; a trailing \\ makes it a newline"),
    Key((("c-j",), ("escape", "enter")), lambda do: do.newline(), shown="Ctrl-J, Alt-Enter", help="newline"),
    Key(
        (("c-c",), ("<sigint>",)),
        lambda do: do.cancel(),
        shown="Ctrl-C",
        help="clear the input, or interrupt the turn; twice: quit",
    ),
    Key((("escape",),), lambda do: do.interrupt(), shown="Esc", help="interrupt the turn"),
    Key((("c-d",),), lambda do: do.leave(), lambda do: do.is_empty(), shown="Ctrl-D", help="quit, at an empty prompt"),
    Key(
        (("up",), ("c-p",)),
        lambda do: do.unqueue(),
        lambda do: do.is_queueing(),
        shown="Up",
        help="the message queued last comes back; else history",
    ),
    Key(
        (("c-g",), ("c-x", "c-e")),
        lambda do: do.edit(),
        shown="Ctrl-G, Ctrl-X Ctrl-E",
        help="edit the message in $VISUAL or $EDITOR",
    ),
    Key((("c-z",),), lambda do: do.suspend(), shown="Ctrl-Z", help="suspend"),
    Key((("c-i",),), lambda do: do.complete(), shown="Tab", help="complete: /command, @file, #memory"),
    Key((("backspace",),), lambda do: do.erase_token(), lambda do: do.is_after_token()),
)

# What prompt-toolkit brings, or no key of its own does.
_MORE_HELP: Final = (
    ("Ctrl-R", "search the history"),
    ("Ctrl-L", "paint the screen anew"),
    ("!command", "run a shell command of your own"),
    ("a, r, l", "while an offer is shown, alone at an empty prompt: accept, reject, later"),
    ("Alt-A, Alt-R, Alt-L", "the same at any time"),
)

HELP: Final[Sequence[tuple[str, str]]] = (*((key.shown, key.help) for key in TABLE if key.shown), *_MORE_HELP)


def bindings(actions: Actions) -> KeyBindings:
    """The table as bindings."""
    found = KeyBindings()
    at_prompt = ~is_searching
    for key in TABLE:
        when = at_prompt if key.when is None else at_prompt & Condition(partial(key.when, actions))
        for sequence in key.sequences:
            found.add(*sequence, filter=when)(_handler(partial(key.act, actions)))
    offering = at_prompt & Condition(actions.is_offering)
    alone = at_prompt & Condition(actions.is_armed) & Condition(actions.is_empty)
    for letter, decision in LETTERS.items():
        found.add("escape", letter, filter=offering)(_handler(partial(actions.decide, decision)))
        found.add(letter, filter=alone)(_handler(partial(actions.press, letter)))
    found.add(Keys.BracketedPaste, filter=at_prompt)(lambda event: actions.paste(event.data))
    return found


def _handler(act: Callable[[], None]) -> Callable[[KeyPressEvent], None]:
    return lambda _: act()
