"""By what a project is known that may be cloned, moved and called otherwise."""

import re
from contextlib import suppress
from typing import Final

from invincat.paths import make_private
from invincat.store.source import Source

_KEY: Final = re.compile(r"commit-[0-9a-f]{12}")


def key_of(source: Source) -> str | None:
    """The commit with which the project's history began, as a slug; None where that is not known.

    It is asked of git once, since a long history takes a while, and then stands in the state directory.
    """
    kept = source.repository.state_dir / "key"
    with suppress(OSError, UnicodeDecodeError):
        if not kept.is_symlink() and _KEY.fullmatch(key := kept.read_text()):
            return key
    first = source.first_commit()
    if first is None:
        return None
    key = f"commit-{first[:12]}"
    with suppress(OSError):
        make_private(kept.parent)
        kept.write_text(key)
        kept.chmod(0o600)
    return key
