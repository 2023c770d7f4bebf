"""Text from memory as data: inside marks that it cannot forge (RULES 11)."""

import hashlib
import re
from typing import Final

# What stands for a mark in a text, whatever its case and its spaces.
_MARK: Final = re.compile(r"<(?=\s*/?\s*invincat-(?:memory|note))", re.IGNORECASE)


def fenced(text: str) -> str:
    """The text between marks that carry its hash; nothing inside looks like a mark. Same text, same bytes."""
    inner = _MARK.sub("&lt;", text)
    mark = hashlib.blake2b(inner.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return f'<invincat-memory mark="{mark}">\n{inner}</invincat-memory mark="{mark}">\n'
