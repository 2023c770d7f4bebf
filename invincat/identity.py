"""By what a project is known that may be cloned, moved and called otherwise."""

import re
from typing import Final

from invincat.store.journal import NoteCache
from invincat.store.source import Source

_KEY: Final = re.compile(r"commit-[0-9a-f]{12}")
_NOTE: Final = "key"


def key_of(source: Source, notes: NoteCache) -> str | None:
    """The commit with which the project's history began, as a slug; None where that is not known.

    It is asked of git once, since a long history takes a while. What another installation noted is never read: a
    repository that came with another project's key would be told what is personal there.
    """
    if _KEY.fullmatch(kept := (notes.note(_NOTE) or b"").decode("ascii", "replace")):
        return kept
    first = source.first_commit()
    if first is None:
        return None
    key = f"commit-{first[:12]}"
    notes.save_note(_NOTE, key.encode())
    return key
