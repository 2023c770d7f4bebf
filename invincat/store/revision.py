"""Which memory commit a person means: an id, a ref of ours, or a time; nothing that git would evaluate."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from invincat.errors import UserError
from invincat.memory.entry import format_time, parse_time
from invincat.store.ancestry import reachable
from invincat.store.base import MEMORY_REF, OURS, PROPOSALS, ROOT_TIME, TRACKING, Store

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_COMMIT = re.compile(r"[0-9a-f]{4,64}")
# A ref, and how many first parents to go back: `~3`, `^`, `^^`, `~2^`.
_FROM_REF = re.compile(r"(?P<ref>[A-Za-z0-9][A-Za-z0-9._/-]*)(?P<up>(?:~[0-9]{0,6}|\^)*)")
_PUBLISHED: Final = "/invincat/memory"
_SEE: Final = "see `invincat log`"
TIMES: Final = "2026-11-29 or 2026-11-29T10:00:00Z"


def resolve(store: Store, text: str, tip: str) -> str:
    """The memory commit that a person means; UserError with the next step.

    `text` is a commit id or the start of one (only of commits that the store's refs lead to), a ref of ours such as
    `invincat/memory`, `origin/invincat/memory` or the id of a proposal, each also with `~3` or `^` behind it, or a
    time (`2026-11-29T10:00:00Z`; a date means its end, UTC): then what the store said at that time.
    """
    if (time := moment_of(text)) is not None:
        return _at(store, text, time, tip)
    if (named := _FROM_REF.fullmatch(text)) is None:
        raise _unknown(text)
    commits = _named(store, named["ref"], tip)
    if len(commits) > 1:
        raise UserError(f"{named['ref']!r} could be several memory commits", next_step="give more of it")
    if not commits:
        raise _unknown(text)
    return _back(store, commits.pop(), named["up"], text)


def published(store: Store) -> dict[str, str]:
    """What remotes have published, as of the last fetch: tracking ref -> commit."""
    return {ref: id for ref, id in store.refs(TRACKING).items() if ref.endswith(_PUBLISHED)}


def moment_of(text: str) -> datetime | None:
    """The time that a person means, of a date its last second; None for what is no time. UTC."""
    try:
        if _DATE.fullmatch(text):
            return datetime.fromisoformat(text).replace(tzinfo=UTC) + timedelta(days=1, seconds=-1)
        return parse_time(text)
    except (ValueError, OverflowError):
        return None


def _at(store: Store, text: str, time: datetime, tip: str) -> str:
    began = ""
    for commit in store.history(tip):
        # The root has a time of its own, long before any store began (FORMAT "Root commit").
        is_root = not commit.parents and commit.time == ROOT_TIME
        if commit.time <= time and (not is_root or commit.id == tip):
            return commit.id
        began = began if is_root else f"; it begins at {format_time(commit.time)}"
    raise UserError(f"the store did not exist yet at {text}{began}", next_step="give a later time")


def _named(store: Store, ref: str, tip: str) -> set[str]:
    """The commits that a ref or an id can mean."""
    refs = {MEMORY_REF: tip, **store.refs(OURS), **published(store)}
    short = (name.removeprefix(TRACKING).removeprefix("refs/") for name in refs)
    known = dict(zip(short, refs.values(), strict=True)) | refs
    if ref in known:
        return {known[ref]}
    found = {id for name, id in refs.items() if name.startswith(f"{PROPOSALS}{ref.upper()}")}
    if _COMMIT.fullmatch(ref):
        found |= {id for id in reachable(refs.values(), store.commit) if id.startswith(ref)}
    return found


def _back(store: Store, commit: str, up: str, text: str) -> str:
    """The commit so many first parents before."""
    for step in re.findall(r"~[0-9]*|\^", up):
        for _ in range(int(step[1:] or 1) if step != "^" else 1):
            parents = store.commit(commit).parents
            if not parents:
                raise UserError(f"the history does not reach back to {text}", next_step=_SEE)
            commit = parents[0]
    return commit


def _unknown(text: str) -> UserError:
    step = f"a time is like {TIMES}; for commits {_SEE}"
    return UserError(f"{text[:80]!r} is no memory commit, ref or time", next_step=step)
