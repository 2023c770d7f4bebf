"""Whose memory it is."""

from enum import StrEnum


class Scope(StrEnum):
    """`project`: shared with everybody who works on the repository. `user`: one person's own."""

    PROJECT = "project"
    USER = "user"
