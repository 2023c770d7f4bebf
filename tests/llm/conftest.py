"""The strict endpoint, for every test of talking to models."""

from tests.fakes.openai_server import openai_server

__all__ = ["openai_server"]
