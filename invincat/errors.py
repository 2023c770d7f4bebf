"""The error families. Each error is one line for a person: what, where, the next safe step.

    InvincatError
    +-- UserError            the request cannot be carried out as asked       exit 1
    |   +-- UsageError       the words of the command are off                 exit 2
    +-- ProviderError        a model endpoint answered badly                  exit 75
    +-- ConfigurationError   a setting or the machine is not as needed        exit 1
    +-- StoreError           the memory store cannot be read or written       exit 1
    +-- InternalError        we broke a promise of our own                    exit 1

A rule's refusal is not an error but a verdict (`governance.gate`); it exits 4.
"""


class InvincatError(Exception):
    """Root of everything a person may see. `where` is a file, line or field; `next_step` is safe."""

    exit_code = 1

    def __init__(self, what: str, *, where: str | None = None, next_step: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.next_step = next_step

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text}; {self.next_step}" if self.next_step else text


class UserError(InvincatError):
    """The request cannot be carried out as asked."""


class UsageError(UserError):
    """The words of the command are off."""

    exit_code = 2


class ProviderError(InvincatError):
    """A model endpoint answered badly; trying later may help."""

    exit_code = 75


class ConfigurationError(InvincatError):
    """A setting or the machine is not as needed, and will not become so by itself."""


class StoreError(InvincatError):
    """The memory store cannot be read or written; nothing was lost."""


class InternalError(InvincatError):
    """A promise of our own code is broken."""
