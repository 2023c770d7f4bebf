"""What it costs to write one memory: the ledger, its parts, and the command around it."""

import sys
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from invincat.app import App, id_from, new_id, utc_now
from invincat.governance.gate import judge
from invincat.governance.grounding import NoGrounds
from invincat.ledger import Ledger
from invincat.memory.entry import Source
from invincat.memory.proposal import Proposal
from invincat.memory.scope import Scope
from invincat.memory.step import Context
from invincat.memory.view import View
from invincat.outcome import Outcome
from invincat.store.base import Draft, Signature
from invincat.store.git import GitStore
from invincat.store.parsed import ParsedCache
from invincat.store.tree import ViewReader
from tests.bench.bench import Bench
from tests.bench.place import Place
from tests.bench.report import Row
from tests.bench.timing import Sample, measure, timed
from tests.bench.yardsticks import git_write

_PERSON: Final = Source(actor="user")
_VIEW: Final = "import pathlib; from invincat.app import App; App.at(pathlib.Path.cwd()).project.view()"


class TimedStore(GitStore):
    """A store that says how long its writing took."""

    parts: defaultdict[str, Sample]

    def write(self, parent: str, drafts: Sequence[Draft], author: Signature, now: datetime) -> list[str]:
        """`Store.write`, timed."""
        with timed(self.parts["store.write"]):
            return super().write(parent, drafts, author, now)

    def swap(self, ref: str, old: str | None, new: str | None) -> bool:
        """`Store.swap`, timed."""
        with timed(self.parts["store.swap, journal"]):
            return super().swap(ref, old, new)


class TimedReader(ViewReader):
    """A reader that says how long a view took."""

    parts: defaultdict[str, Sample]

    def view(self, commit: str) -> View:
        """`ViewReader.view`, timed."""
        with timed(self.parts["view after the write before"]):
            return super().view(commit)


def write_rows(bench: Bench, place: Place) -> list[Row]:
    """`Ledger.submit` of one create on a warm ledger, and its parts."""
    ledger = place.app().project
    _submit(bench, ledger)
    whole = measure(bench.runs, lambda: _submit(bench, ledger))
    yardstick = git_write(bench, place)
    rows = [Row("write", place.label, "ledger write", whole, yardstick, target=20)]
    parts = [*_parts(bench, place).items(), ("judge", _judge(bench, ledger))]
    return rows + [Row("write", place.label, f"  {name}", sample) for name, sample in parts]


def remember_rows(bench: Bench, place: Place) -> list[Row]:
    """What `remember` does in its process, the whole process, and the view that both must read first."""
    _remember(bench, place.app())
    kept = place.app()
    _remember(bench, kept)
    opened = measure(bench.runs, lambda: _remember(bench, place.app()))
    warm = measure(bench.runs, lambda: _remember(bench, kept))
    view = measure(bench.some, lambda: _view(place))
    unparsed = measure(bench.few, lambda: _view(place), lambda: place.forget("parsed"))
    process = bench.processes.measure(bench.some, lambda: _command(bench), place.root)
    cold = bench.processes.measure(bench.some, [sys.executable, "-c", _VIEW], place.root)
    return [
        Row("remember", place.label, "remember in process, app opened each time", opened, bench.git, target=60),
        Row("remember", place.label, "remember in process, app kept open", warm, bench.git, target=60),
        Row("remember", place.label, "`remember`, cold process", process, bench.python),
        Row("remember", place.label, "cold view in process", view),
        Row("remember", place.label, "cold view in process, nothing parsed yet", unparsed),
        Row("remember", place.label, "cold view, cold process", cold, bench.python),
    ]


def _view(place: Place) -> View:
    return place.app().project.view()


def _submit(bench: Bench, ledger: Ledger) -> None:
    _require_committed(ledger.submit(Proposal((bench.new_memory(),), Scope.PROJECT, _PERSON)))


def _remember(bench: Bench, app: App) -> None:
    ledger = app.ledger(Scope.PROJECT)
    proposal = Proposal((bench.new_memory(),), Scope.PROJECT, app.origin("user"))
    _require_committed(ledger.submit(proposal, app.grounds()))


def _require_committed(outcome: Outcome) -> None:
    if outcome.verdict != "committed":
        raise AssertionError(outcome)


def _command(bench: Bench) -> list[str]:
    return bench.invincat("remember", bench.new_memory()["content"], "--section", "Testing")


def _parts(bench: Bench, place: Place) -> dict[str, Sample]:
    app = place.app()
    store = TimedStore(app.repository)
    reader = TimedReader(store, ParsedCache(app.repository.state_dir / "parsed", app.installation))
    store.parts = reader.parts = defaultdict(Sample)
    ledger = Ledger(store, reader, Scope.PROJECT, utc_now, new_id, id_from)
    _submit(bench, ledger)
    _submit(bench, ledger)
    store.parts.clear()
    for _ in range(bench.runs):
        _submit(bench, ledger)
    return store.parts


def _judge(bench: Bench, ledger: Ledger) -> Sample:
    view = ledger.view()

    def decide() -> None:
        context = Context(now=utc_now(), new_id=new_id, scope=Scope.PROJECT, source=_PERSON)
        judge(view, Proposal((bench.new_memory(),), Scope.PROJECT, _PERSON), context, NoGrounds())

    return measure(bench.runs, decide)
