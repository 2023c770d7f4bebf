"""What it costs to read: recall, its index, the briefing, and the commands that look at everything."""

import sys
from pathlib import Path

from invincat.app import App
from invincat.lookup import StoreCorpus
from invincat.memory.proposal import Proposal
from invincat.memory.scope import Scope
from invincat.recall.index import Index
from invincat.recall.query import Query
from tests.bench.bench import Bench
from tests.bench.memories import CODE_FILES, make_queries
from tests.bench.place import Place
from tests.bench.report import Row
from tests.bench.timing import Sample, measure
from tests.bench.yardsticks import Fts, git_read_all

_IN_PLAY = [CODE_FILES[3]]


def recall_rows(bench: Bench, place: Place) -> list[Row]:
    """Questions of four words: warm, as a process, and right after a change."""
    app, fts = place.app(), Fts(bench, place)
    queries = make_queries(10**9)
    app.search.recall(Query(next(queries)))
    warm = measure(bench.runs, lambda: app.search.find(Query(next(queries))))
    judged = measure(bench.runs, lambda: app.search.recall(Query(next(queries))))
    changed = _after_change(bench, place, app)
    cold = bench.processes.measure(bench.some, lambda: _command(bench, next(queries)), place.root)
    writer = place.app()
    stale = bench.processes.measure(
        bench.some, lambda: _command(bench, next(queries)), place.root, lambda: _learn(bench, writer)
    )
    label = place.label
    return [
        Row("recall", label, "search, warm", warm, fts.query(), target=10),
        Row("recall", label, "recall, warm: search, and whether the hits hold here", judged),
        Row("recall", label, "search, warm, right after a change", changed, fts.update(), target=60),
        Row("recall", label, "`recall`, cold process", cold, bench.python, target=300),
        Row("recall", label, "`recall`, cold process, right after a change", stale, bench.python),
    ]


def index_rows(bench: Bench, place: Place) -> list[Row]:
    """The whole index, and the first question in a repository that has none, or not even parsed memories."""
    corpus = StoreCorpus(place.app().project)
    corpus.records()
    folders = iter(range(10**9))

    def build() -> None:
        if reason := Index(_folder(bench, place, next(folders)), "bench").refresh(corpus):
            raise AssertionError(reason)

    whole = measure(bench.few, build)
    first = _first(bench, place, "index")
    fresh = _first(bench, place, "index", "parsed")
    yardstick = Fts(bench, place).build()
    return [
        Row("index", place.label, "index build, view warm", whole, yardstick, target=7000),
        Row("index", place.label, "`recall`, cold process, no index", first, yardstick),
        Row("index", place.label, "`recall`, cold process, fresh clone", fresh, git_read_all(bench, place)),
    ]


def briefing_rows(bench: Bench, place: Place) -> list[Row]:
    """What is injected into a model's context, with one file in play."""
    app, writer = place.app(), place.app()
    app.briefing(_IN_PLAY)
    warm = measure(bench.runs, lambda: app.briefing(_IN_PLAY))
    changed = measure(bench.some, lambda: app.briefing(_IN_PLAY), lambda: _learn(bench, writer))
    cold = bench.process(place, "brief", "--path", _IN_PLAY[0])
    return [
        Row("briefing", place.label, "briefing, warm", warm),
        Row("briefing", place.label, "briefing, warm, right after a change", changed),
        Row("briefing", place.label, "`brief`, cold process", cold, bench.python),
    ]


def list_rows(bench: Bench, place: Place) -> list[Row]:
    """All memories for people and for programs."""
    yardstick = git_read_all(bench, place)
    return [
        Row("list", place.label, "`list`, cold process", bench.process(place, "list"), yardstick),
        Row("list", place.label, "`list --json`, cold process", bench.process(place, "list", "--json"), yardstick),
    ]


def check_rows(bench: Bench, place: Place) -> list[Row]:
    """Every rule on every memory."""
    sample = bench.process(place, "check", runs=bench.few)
    return [Row("check", place.label, "`check`, cold process", sample, git_read_all(bench, place))]


def start_rows(bench: Bench) -> list[Row]:
    """Processes that do next to nothing."""
    version = bench.processes.measure(bench.runs, bench.invincat("--version"), bench.scratch)
    command_help = bench.processes.measure(bench.some, bench.invincat("recall", "--help"), bench.scratch)
    imports = bench.processes.measure(bench.some, [sys.executable, "-c", "import invincat.app"], bench.scratch)
    return [
        Row("start", "", "python -c pass", bench.python.sample),
        Row("start", "", "git --version", bench.git.sample),
        Row("start", "", "`--version`, cold process", version, bench.python),
        Row("start", "", "`recall --help`, cold process", command_help, bench.python),
        Row("start", "", "import invincat.app, cold process", imports, bench.python),
    ]


def _after_change(bench: Bench, place: Place, reader: App) -> Sample:
    """What somebody else just wrote is what the question is about, and must be found."""
    writer = place.app()
    learned = ("", "")

    def learn() -> None:
        nonlocal learned
        learned = _learn(bench, writer)

    def ask() -> None:
        id, question = learned
        if id not in [hit.id for hit in reader.search.find(Query(question)).hits]:
            raise AssertionError(f"{question!r} does not find {id}")

    return measure(bench.runs, ask, learn)


def _learn(bench: Bench, writer: App) -> tuple[str, str]:
    """Write a memory; its id and a question that finds it."""
    operation = bench.new_memory()
    outcome = writer.project.submit(Proposal((operation,), Scope.PROJECT, writer.origin("user")))
    [done] = outcome.operations
    return str(done.id), str(operation["content"]).partition(".")[0]


def _first(bench: Bench, place: Place, *gone: str) -> Sample:
    command = _command(bench, next(make_queries(1)))
    return bench.processes.measure(bench.few, command, place.root, lambda: place.forget(*gone), warm_up=0)


def _command(bench: Bench, query: str) -> list[str]:
    return bench.invincat("recall", *query.split())


def _folder(bench: Bench, place: Place, number: int) -> Path:
    return bench.scratch / f"index-{place.root.name}-{number}"
