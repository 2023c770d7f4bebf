"""Whether memories hold here (RULES 12): asked of git for many at once, and remembered by memory blob and HEAD."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Final

from invincat.governance.grounding import Code, Holds, NoCode, Standing, decisive, holds
from invincat.governance.quoting import Quotable
from invincat.memory.evidence import Evidence, FileLines
from invincat.memory.view import Record
from invincat.store.batch import Batch
from invincat.store.grounds import MAX_FILE
from invincat.store.locate import is_partial
from invincat.store.past import CodeWithPast, Past
from invincat.store.source import Source
from invincat.store.verdicts import Verdict, VerdictCache, World

# Seconds for what stands at HEAD, and for what ever stood; a history that takes longer cannot tell.
PATIENCE_NOW: Final = 30.0
PATIENCE_THEN: Final = 2.0

_HERE: Final = Standing(Holds.HERE)
_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}")
_FULL: Final = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")


class Standings:
    """How memories stand at the HEAD of a code repository (None: there is none).

    What HEAD lacks and a file of the work tree has holds here as well: it is on its way to be committed. That is
    asked each time and never remembered.
    """

    def __init__(self, source: Source | None, cache: VerdictCache, patience: float = PATIENCE_THEN) -> None:
        self._source = source
        self._cache = cache
        self._patience = patience

    def of(self, records: Iterable[Record]) -> dict[str, Standing]:
        """The standing of each of these by id; those that nobody asked about yet take a few git processes in all."""
        return self.now()(records)

    def now(self) -> Callable[[Iterable[Record]], dict[str, Standing]]:
        """`of` for who asks several times at one moment: HEAD and the work tree are looked at once."""
        if self._source is None:
            return lambda records: {record.id: _decide(record, NoCode()).standing for record in records}
        return partial(self._at, _Moment(self._source))

    def _at(self, moment: "_Moment", records: Iterable[Record]) -> dict[str, Standing]:
        if not (asked := list(records)):
            return {}
        verdicts = self._verdicts(moment.place, asked)
        return {id: _HERE if moment.work.has(one.claims) else one.standing for id, one in verdicts.items()}

    def _verdicts(self, place: "_Place", records: Sequence[Record]) -> dict[str, Verdict]:
        known = self._cache.load(place.world.key, [record.blob for record in records])
        told = {record.id: known[record.blob] for record in records if record.blob in known}
        new = [record for record in records if record.id not in told]
        if new:
            fresh = self._judge(place, new)
            self._cache.save(place.world, {record.blob: fresh[record.id] for record in new if record.blob})
            told |= fresh
        return told

    def _judge(self, place: "_Place", records: Sequence[Record]) -> dict[str, Verdict]:
        """Verdicts from what other HEADs told, and from git for all else."""
        before = self._before(place.world, records)
        now = Batch(place.repository, PATIENCE_NOW)
        code = CodeWithPast(place.world.head, now, place.rewrites, is_whole=place.is_whole)
        code.find(verdict.place[0] for _, verdict in before.values() if verdict.place)
        told = {id: verdict for id, (_, verdict) in before.items() if _stays(verdict, code)}
        items = {one.id: decisive(one.memory.source, one.memory.scope) for one in records if one.id not in told}
        left = [record for record in records if record.id in items]
        code.look(item for each in items.values() for item in each)
        gone = [record for record in left if not any(code.has(item) for item in items[record.id])]
        if gone and not place.is_partial:
            past = [one for record in gone for one in _past(record, items[record.id], before.get(record.id))]
            code.look_back(past, Batch(place.repository, self._patience))
        return told | {record.id: _decide(record, code) for record in left}

    def _before(self, world: World, records: Sequence[Record]) -> dict[str, tuple[str | None, Verdict]]:
        """The latest verdict on each record at another HEAD that could tell, with that HEAD, by id."""
        found: dict[str, tuple[str | None, Verdict]] = {}
        for other in self._cache.worlds():
            left = [record for record in records if record.blob and record.id not in found]
            if left and other.key != world.key:
                verdicts = self._cache.load(other.key, [record.blob for record in left])
                told = [(one.id, verdicts[one.blob]) for one in left if one.blob in verdicts]
                found |= {id: (other.head, one) for id, one in told if one.standing.holds is not Holds.UNKNOWN}
        return found


class _Place:
    """What verdicts depend on: HEAD, and two files, of git's and of ours, that may be missing."""

    def __init__(self, source: Source) -> None:
        self.repository = source.repository
        self._shallow = source.repository.common_dir / "shallow"
        self._rewrites = source.repository.state_dir / "rewrites"
        head = source.head()
        mark = f"{head} {_stamp(self._shallow)} {_stamp(self._rewrites)}"
        self.world = World(hashlib.blake2b(mark.encode(), digest_size=16).hexdigest(), head)

    @cached_property
    def is_partial(self) -> bool:
        """Whether objects are left out that git would fetch when it needs them."""
        return is_partial(self.repository)

    @property
    def is_whole(self) -> bool:
        """Whether all history is here."""
        return not self._shallow.exists() and not self.is_partial

    @property
    def rewrites(self) -> dict[str, str]:
        """Old code commits and what they became (FORMAT `rewrites`); a line that names no two commits says nothing."""
        try:
            lines = self._rewrites.read_text(encoding="utf-8", errors="replace").split("\n")
        except OSError:
            return {}
        pairs = (_FULL.findall(line) for line in lines)
        return {ids[0]: ids[1] for ids in pairs if len(ids) >= 2}


class _Moment:
    """The place and its work tree, as they are when somebody first asks for one of them."""

    def __init__(self, source: Source) -> None:
        self._source = source

    @cached_property
    def place(self) -> _Place:
        """What verdicts depend on."""
        return _Place(self._source)

    @cached_property
    def work(self) -> "_WorkTree":
        """What is not committed yet."""
        return _WorkTree(self._source)


class _WorkTree:
    """The files as they are on the disk, each read once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._files: dict[str, Quotable | None] = {}

    def has(self, claims: Iterable[tuple[str, str]]) -> bool:
        """Whether one of these quotes stands in its file."""
        return any((text := self._read(path)) is not None and text.has(quote) for path, quote in claims)

    def _read(self, path: str) -> Quotable | None:
        if path not in self._files:
            data = self._source.read(path) if self._source.repository.root is not None else None
            is_text = data is not None and len(data) <= MAX_FILE
            self._files[path] = Quotable(data.decode("utf-8", "replace")) if data is not None and is_text else None
        return self._files[path]


def _stamp(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:
        return "-"
    return f"{found.st_size}:{found.st_mtime_ns}"


def _stays(verdict: Verdict, code: CodeWithPast) -> bool:
    """Whether the file that had the words is the same at this HEAD."""
    return verdict.place is not None and code.blob(verdict.place[0]) == verdict.place[1]


def _past(record: Record, items: Sequence[Evidence], before: tuple[str | None, Verdict] | None) -> Iterator[Past]:
    """The items of a memory with what is known of them."""
    commit = record.memory.source.commit or ""
    origin = commit if _COMMIT.fullmatch(commit) else None
    head, verdict = before or (None, None)
    for item in items:
        path = item.location.path if isinstance(item.location, FileLines) else ""
        moved = witness = searched = None
        if verdict and verdict.place and (len(items) == 1 or verdict.place[0] == path):
            moved, witness, searched = verdict.place[0], head, head
        elif verdict and verdict.is_unmoved:
            searched = head
        elif verdict and len(items) == 1:
            witness = verdict.witness
        yield Past(item, path, origin, witness, searched, moved)


def _decide(record: Record, code: Code) -> Verdict:
    """The verdict, with what a later HEAD or the work tree may ask about."""
    source = record.memory.source
    items = decisive(source, record.memory.scope)
    found = holds(source, record.memory.scope, code)
    if found is Holds.HERE:
        places = (code.place(item) for item in items) if isinstance(code, CodeWithPast) else ()
        return Verdict(_HERE, next((place for place in places if place), None))
    claims = tuple(
        (item.location.path, item.quote) for item in items if isinstance(item.location, FileLines) and item.quote
    )
    if found is Holds.STALE and isinstance(code, CodeWithPast):
        witness = next((commit for item in items if (commit := code.witness(item))), None)
        return Verdict(Standing(found, witness and witness[:7]), witness=witness, claims=claims)
    if found is Holds.PROVISIONAL and isinstance(code, CodeWithPast):
        is_unmoved = not any(code.was_deleted(item) for item in items)
        return Verdict(Standing(found, source.branch or source.commit), claims=claims, is_unmoved=is_unmoved)
    return Verdict(Standing(found), claims=claims)
