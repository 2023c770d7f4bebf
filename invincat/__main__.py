"""`python -m invincat` is `invincat`."""

from invincat.cli.main import run

run()
