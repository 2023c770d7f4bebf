"""Folders of ours, which hold what a person said: for nobody else to read."""

from pathlib import Path


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, with mode 0700; one that is there stays as it is. OSError."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
