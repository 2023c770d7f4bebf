"""What changed in memory during a conversation: a note to append, so that the prefix stays as it is (RULES 11)."""

from collections.abc import Iterable, Mapping

from invincat.context.briefing import Ask, brief, nobody
from invincat.governance.fence import fenced
from invincat.memory.scope import Scope
from invincat.memory.view import Record, View

MAX_CHANGES = 12


class MemoryNews:
    """Remembers what the model was told last, and tells the difference. `paths` and `ask` are the briefing's."""

    def __init__(self, views: Mapping[Scope, View], paths: Iterable[str] = (), ask: Ask = nobody) -> None:
        self._told = _active(views)
        self.briefing = brief(list(views.items()), paths, ask=ask)

    def since_last(self, views: Mapping[Scope, View]) -> str | None:
        """A note on what holds now and what no longer does; None when nothing changed."""
        now = _active(views)
        came = [record for id, record in now.items() if _mark(self._told.get(id)) != record.fingerprint]
        gone = [record for id, record in self._told.items() if id not in now]
        self._told = now
        if not came and not gone:
            return None
        lines = [f"- holds now: {record.memory.title} · {record.name}" for record in came[:MAX_CHANGES]]
        lines += [f"- no longer holds: {record.memory.title} · {record.name}" for record in gone[:MAX_CHANGES]]
        if (more := len(came) + len(gone) - len(lines)) > 0:
            lines.append(f"- and {more} more; `recall` finds them")
        return fenced("Memory changed; this is what counts now:\n" + "\n".join(lines) + "\n")


def _active(views: Mapping[Scope, View]) -> dict[str, Record]:
    return {record.id: record for view in views.values() for record in view.active()}


def _mark(record: Record | None) -> str | None:
    return record.fingerprint if record else None
