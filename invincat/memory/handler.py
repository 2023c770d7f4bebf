"""The python-frontmatter handler of our format, for whoever loads and writes our files with that library.

We do not: it imports all of PyYAML, a twentieth of a cold start, also for what comes from the cache.
"""

import re
from collections.abc import Mapping

from frontmatter.default_handlers import BaseHandler

from invincat.memory import frontmatter
from invincat.memory.yaml_scan import Node, scan


class MemoryHandler(BaseHandler):
    """As the library's own handlers, with our strictness: `load` gives every scalar as text; MalformedFile."""

    FM_BOUNDARY = re.compile(r"^---$", re.MULTILINE)
    START_DELIMITER = END_DELIMITER = "---"

    def detect(self, text: str) -> bool:
        """Whether front matter is opened."""
        return frontmatter.is_fenced(text)

    def split(self, text: str) -> tuple[str, str]:
        """Front matter and body, byte for byte."""
        return frontmatter.split(text)

    def load(self, fm: str) -> dict[str, Node]:
        """The mapping in the front matter."""
        return scan(fm)[0]

    def export(self, metadata: Mapping[str, object], **_: object) -> str:
        """Canonical YAML of known keys in the form that `load` returns."""
        return frontmatter.export(metadata)
