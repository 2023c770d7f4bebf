"""A rule said no: which, of which operation and field, and what to do instead."""

import re
from typing import Final

import msgspec

from invincat.errors import UserError

# How a message begins whose subject is the field.
_OF_FIELD: Final = re.compile(r"(?:is|has|must|looks|cannot|line|at most)\b")


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """One reason of a verdict, as `apply --json` gives it (CLI)."""

    rule: str
    message: str
    operation: int | None = None
    field: str | None = None

    def __str__(self) -> str:
        number = None if self.operation is None else f"operation {self.operation}"
        place = " ".join(part for part in (number, self.field) if part)
        return f"{place}: {self.message} ({self.rule})" if place else f"{self.message} ({self.rule})"

    @property
    def plain(self) -> str:
        """The same for a person who asked for one thing: no numbers of rules and operations."""
        return f"{self.field}: {self.message}" if self.field and _OF_FIELD.match(self.message) else self.message


class Refused(UserError):
    """Raised inside the domain where an operation is illegal; the gate turns it into a Reason."""

    exit_code = 4

    def __init__(self, rule: str, message: str, *, field: str | None = None) -> None:
        super().__init__(message, where=field)
        self.rule = rule
        self.message = message
        self.field = field

    def reason(self, operation: int | None = None) -> Reason:
        """The same as a value, with the operation's number."""
        return Reason(rule=self.rule, message=self.message, operation=operation, field=self.field)
