"""Everything the loop tells a front end, as one closed union (ASSISTANT "Roles"); the loop itself never prints."""

from enum import StrEnum

import msgspec

from invincat.llm.usage import Usage


class End(StrEnum):
    """Why a turn ended; NO_MODEL: nobody was there to answer it."""

    FINAL = "final"
    INTERRUPTED = "interrupted"
    TURN_CAP = "turn_cap"
    REPEATING = "repeating"
    BUDGET = "budget"
    ERROR = "error"
    NO_MODEL = "no_model"


class Text(msgspec.Struct, frozen=True, tag="text", tag_field="event"):
    """More of the answer."""

    text: str


class Thinking(msgspec.Struct, frozen=True, tag="thinking", tag_field="event"):
    """More of the model's reasoning."""

    text: str


class Restarted(msgspec.Struct, frozen=True, tag="restarted", tag_field="event"):
    """The answer begins anew after `seconds`: what it said since the last tool or the turn's begin is void."""

    reason: str
    seconds: float


class ToolStarted(msgspec.Struct, frozen=True, tag="tool_started", tag_field="event"):
    """A tool is about to run; `arguments` is the JSON text of its arguments."""

    id: str
    name: str
    arguments: str


class ToolFinished(msgspec.Struct, frozen=True, tag="tool_finished", tag_field="event"):
    """A tool has run; `summary` is one line for people, `text` what the model gets."""

    id: str
    name: str
    summary: str
    text: str
    is_error: bool


class Notice(msgspec.Struct, frozen=True, tag="notice", tag_field="event", omit_defaults=True):
    """One line that a person should know. `is_refusal`: a rule refused what was to be remembered."""

    text: str
    is_refusal: bool = False


class Learned(msgspec.Struct, frozen=True, tag="learned", tag_field="event"):
    """Something was remembered, or waits for a decision: one line, with the commit or the proposal."""

    text: str
    commit: str | None = None
    proposal: str | None = None


class TurnEnded(msgspec.Struct, frozen=True, tag="turn_ended", tag_field="event"):
    """The last event of a turn: why, the answer's whole text, the tokens spent, what went wrong.

    `try_later` says that the same turn may succeed when it is asked again.
    """

    end: End
    text: str
    usage: Usage
    error: str | None = None
    try_later: bool = False


Event = Text | Thinking | Restarted | ToolStarted | ToolFinished | Notice | Learned | TurnEnded
