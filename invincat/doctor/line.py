"""What the doctor says of one thing."""

from collections.abc import Callable, Iterable
from typing import Literal

import msgspec

from invincat.errors import InvincatError


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One finding: `about` names the thing, `next_step` is safe, and there for all that is not `ok`."""

    status: Literal["ok", "warn", "fail"]
    about: str
    message: str
    next_step: str | None = None


def ok(about: str, message: str) -> Line:
    """A thing that is as it should be."""
    return Line(status="ok", about=about, message=message)


def warn(about: str, message: str, next_step: str) -> Line:
    """A thing that works, and could be better."""
    return Line(status="warn", about=about, message=message, next_step=next_step)


def fail(about: str, message: str, next_step: str) -> Line:
    """A thing that does not work."""
    return Line(status="fail", about=about, message=message, next_step=next_step)


def guarded(about: str, probe: Callable[[], Iterable[Line]]) -> list[Line]:
    """The lines of a probe; whatever breaks it is a line, too, because a doctor sees all that can be broken."""
    found: list[Line] = []
    try:
        found.extend(probe())
    except InvincatError as fault:
        what = f"{fault.where}: {fault.what}" if fault.where else fault.what
        found.append(fail(about, what, fault.next_step or "put that right, then run it again"))
    except OSError as fault:
        where = f"{fault.filename}: " if fault.filename else ""
        found.append(fail(about, f"{where}{fault.strerror or fault}", "check permissions and free space"))
    except Exception as fault:  # noqa: BLE001 - a boundary: the other probes must go on
        message = f"cannot be examined: {type(fault).__name__}: {fault}"
        found.append(fail(about, message, "report it, with the output of `invincat --debug check`"))
    return found
