"""What changed in memory since the last turn: told by fingerprints, not by reading everything."""

from dataclasses import replace

import msgspec

from invincat.agent.news import MemoryNews
from invincat.memory.scope import Scope
from tests.agent.memories import view_of


def _unread(blob):
    raise AssertionError("nobody needs to read it")


def _closed(view, commit):
    """The same view at a commit, none of whose memories may be read."""
    records = {id: msgspec.structs.replace(record, held=_unread) for id, record in view.records.items()}
    return replace(view, commit=commit, records=records)


def test_what_stayed_is_told_by_its_fingerprint_and_not_read():
    view = view_of("Use tabs", "Run the tests through nox")
    news = MemoryNews({Scope.PROJECT: replace(view, commit="a" * 40)})
    assert news.since_last({Scope.PROJECT: _closed(view, "b" * 40)}) is None


def test_what_came_and_what_went_are_told_once():
    news = MemoryNews({Scope.PROJECT: replace(view_of("Use tabs"), commit="a" * 40)})
    now = {Scope.PROJECT: replace(view_of("Use spaces"), commit="b" * 40)}
    told = news.since_last(now)
    assert "holds now: Use spaces" in told
    assert "no longer holds: Use tabs" in told
    assert news.since_last(now) is None
