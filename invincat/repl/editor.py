"""A message in the person's own editor."""

import asyncio
import os
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from invincat.errors import ConfigurationError

_FALLBACKS: Final = ("editor", "nano", "vi")


async def edit(text: str, environment: Mapping[str, str]) -> str | None:
    """The text as it was edited, None when the editor failed; ConfigurationError when there is none."""
    words = _editor(environment)
    # A folder of our own: editors leave copies beside the file.
    with tempfile.TemporaryDirectory(prefix="invincat-") as folder:
        path = Path(folder) / "message.md"
        path.write_text(text, "utf-8", errors="replace")
        try:
            process = await asyncio.create_subprocess_exec(*words, os.fspath(path))
        except OSError as fault:
            raise ConfigurationError(f"the editor {words[0]!r} did not start: {fault.strerror}") from None
        if await process.wait() or not path.is_file():
            return None
        return path.read_text("utf-8", errors="replace").removesuffix("\n")


def _editor(environment: Mapping[str, str]) -> list[str]:
    for chosen in (environment.get("VISUAL"), environment.get("EDITOR"), *_FALLBACKS):
        if chosen and (words := shlex.split(chosen)) and shutil.which(words[0]):
            return words
    raise ConfigurationError("there is no editor", next_step="set VISUAL or EDITOR")
