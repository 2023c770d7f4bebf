"""The note beside the index that says what it is, read before anything of the index is opened."""

import os
import re
import tempfile
from pathlib import Path
from typing import Final

import msgspec

FILE: Final = "stamp.json"
_FOLDER: Final = re.compile(r"[0-9a-f]{16}")


class Stamp(msgspec.Struct, frozen=True, kw_only=True):
    """`folder` holds the index, as `schema` describes, made by `origin`; it reflects `commit`.

    While an update runs, and after it was killed, `maybe` holds the commit that it leads to (of several killed in a
    row, all): the index reflects `commit` or one of these.
    """

    schema: str
    origin: str
    folder: str
    commit: str
    maybe: tuple[str, ...] = ()

    def reflects(self, commit: str) -> bool:
        """Whether the index is known to be that of a commit."""
        return self.commit == commit and not self.maybe


def read(directory: Path, schema: str, origin: str) -> Stamp | None:
    """The stamp of an index that may be opened; None when there is none, or it is of another schema or origin."""
    try:
        stamp = msgspec.json.decode((directory / FILE).read_bytes(), type=Stamp)
    except (OSError, msgspec.MsgspecError, UnicodeError):
        return None
    ours = stamp.schema == schema and stamp.origin == origin and _FOLDER.fullmatch(stamp.folder)
    return stamp if ours else None


def write(directory: Path, stamp: Stamp) -> None:
    """Replace the stamp, whole or not at all; OSError."""
    handle, name = tempfile.mkstemp(prefix="stamp-", dir=directory)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(msgspec.json.encode(stamp))
        Path(name).replace(directory / FILE)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
