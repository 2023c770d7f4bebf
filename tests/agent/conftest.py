"""Conversations in a folder of the test, with the scripted model or the strict endpoint."""

from collections.abc import Callable
from pathlib import Path

import pytest

from invincat.agent.session import Sessions
from invincat.app import App, new_id, utc_now
from tests.agent.learning import Learning
from tests.fakes.openai_server import openai_server

__all__ = ["openai_server"]


@pytest.fixture
def sessions(tmp_path: Path) -> Sessions:
    return Sessions(tmp_path / "sessions", utc_now, new_id)


@pytest.fixture
def app(repo: Path, tmp_path: Path) -> App:
    """The stores of a real repository, with a memory store."""
    app = App(repo, tmp_path / "data")
    app.project.start()
    return app


@pytest.fixture
def learning(app: App) -> Callable[..., Learning]:
    """`learning(client)`: a worker that learns by a model, or by rules without one."""
    return lambda client=None, **options: Learning.of(app, client, **options)
