"""A secret of this installation: caches that do not carry it are from elsewhere and never opened."""

import os
import re
import secrets
from pathlib import Path
from typing import Final

from invincat.paths import make_private

_SECRET: Final = re.compile(r"[0-9a-f]{32}")


def secret_of(data_dir: Path) -> str:
    """The secret, made when first asked for. Where it cannot be kept it is new each time, and so are the caches."""
    path = data_dir / "installation"
    fresh = secrets.token_hex(16)
    try:
        if not _is_secret(path):
            make_private(data_dir)
            draft = path.with_name(f"installation.{os.getpid()}")
            draft.write_text(fresh)
            draft.chmod(0o600)
            draft.replace(path)
        return path.read_text().strip()
    except OSError:
        return fresh


def _is_secret(path: Path) -> bool:
    """Whether the file holds what we write there; a regular file only."""
    return path.is_file() and bool(_SECRET.fullmatch(path.read_text(errors="replace").strip()))
