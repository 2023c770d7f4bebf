"""Text that ships with the program: prompts and templates, read from the wheel or from the checkout."""

from functools import cache
from importlib.resources import files
from pathlib import Path


@cache
def template(name: str) -> str:
    """The text of `templates/<name>`."""
    packaged = files("invincat") / "_data" / "templates" / name
    if packaged.is_file():
        return packaged.read_text(encoding="utf-8")
    return (Path(__file__).parent.parent / "templates" / name).read_text(encoding="utf-8")
