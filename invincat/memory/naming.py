"""Names of memories and folders of sections: ASCII slugs, and who has a name that several want (RULES 6.4)."""

import re
from collections.abc import Container, Iterable

from slugify import slugify

MAX_NAME = 80
MAX_DERIVED = 48

_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_FILE_NAME = re.compile(r"(?P<wanted>[a-z0-9]+(?:-[a-z0-9]+)*)(?:--(?P<suffix>[0-9a-z]{6}|[0-9a-z]{26}))?")
# Names that some file system keeps for itself.
RESERVED = frozenset({"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))})


def is_name(text: str) -> bool:
    """Whether a person may ask for this name, or a section may have this folder."""
    return len(text) <= MAX_NAME and bool(_SLUG.fullmatch(text)) and text not in RESERVED


def derive_name(title: str) -> str:
    """The name that a title asks for; never empty, never reserved."""
    return _avoid_reserved(slugify(title, max_length=MAX_DERIVED, word_boundary=True, save_order=True) or "memory")


def section_slug(section: str) -> str:
    """The folder of a section; empty when nothing of it can be written in ASCII."""
    slug: str = slugify(section, max_length=MAX_NAME)
    return _avoid_reserved(slug) if slug else ""


def _avoid_reserved(slug: str) -> str:
    return f"{slug}-memory" if slug in RESERVED else slug


def wanted_name(name: str) -> str | None:
    """The name that a file name shows was wanted; None when it is no name of ours."""
    found = _FILE_NAME.fullmatch(name)
    wanted = found["wanted"] if found else ""
    return wanted if 0 < len(wanted) <= MAX_NAME and wanted not in RESERVED else None


def wanted_of(name: str) -> str:
    """The name that was wanted, of a name that is known to be one of ours, as every record's is."""
    return name.partition("--")[0]


def settle(wanted: str, ids: Iterable[str], blocked: Container[str] = ()) -> dict[str, str]:
    """Who is called what, of the ids (not deleted) that want one name: the least has it, others a suffix.

    `blocked` are names that files hold which are no memories; nobody gets those.
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for id in sorted(ids):
        name = f"{wanted}--{id[-6:].lower()}" if names or wanted in blocked else wanted
        if name in taken or name in blocked:
            name = f"{wanted}--{id.lower()}"
        taken.add(name)
        names[id] = name
    return names


def memory_path(section: str, name: str) -> str:
    """Where the file of a memory stands in the tree."""
    return f"memory/{section_slug(section)}/{name}.md"
