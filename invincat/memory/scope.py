"""Whose memory it is, and which project is meant (RULES 7)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Final

from slugify import slugify

from invincat.errors import UserError
from invincat.memory.naming import MAX_NAME, RESERVED, is_name

# How alike two slugs are that a person may have mixed up, and how many are named.
_ALIKE: Final = 0.6
_MOST_NAMED: Final = 3


NEVER: Final = "the home directory, or the top of the disk, is no project"


class Scope(StrEnum):
    """`project`: shared with everybody who works on the repository. `user`: one person's own."""

    PROJECT = "project"
    USER = "user"


class NoProject(UserError):
    """No project can be told, or the one that was named cannot be one."""


class AmbiguousProject(UserError):
    """Several projects could be meant; which one is never guessed."""


@dataclass(frozen=True)
class Project:
    """A project that memory may belong to. `root` is its folder; None: it has a name only, and a store of ours."""

    slug: str
    root: str | None = None

    def __str__(self) -> str:
        return f"{self.slug} ({self.root})" if self.root else self.slug


@dataclass(frozen=True)
class Rungs:
    """What can say which project is meant, the strongest first.

    `explicit` is an argument: a slug as somebody wrote it, or the project that a front end stands for. `bound` is the
    session's. `roots` are the git roots among the client's roots, `ambient` the projects around the process; the same
    one may be there twice.
    """

    explicit: str | Project | None = None
    bound: Project | None = None
    roots: Sequence[Project] = ()
    ambient: Sequence[Project] = ()


@dataclass(frozen=True)
class Resolved:
    """The scope, in project scope its project, and what to tell the caller about it."""

    scope: Scope
    project: Project | None = None
    hint: str | None = None


def resolve(
    rungs: Rungs, known: Mapping[str, Project], *, home: Sequence[str] = (), to_write: bool = False
) -> Resolved:
    """The project that is meant: the first rung that says anything decides.

    `known` are the projects that have a name, by slug; `home` are the folders that are never a project. Nothing said:
    a reader gets the user scope, a writer NoProject, since what a team shares is not guessed. AmbiguousProject when a
    rung names more than one; NoProject for a slug that cannot be one, or for the home directory.
    """
    if isinstance(rungs.explicit, str):
        return _named(rungs.explicit, rungs, known)
    for candidates in (
        [rungs.explicit] if rungs.explicit else [],
        [rungs.bound] if rungs.bound else [],
        rungs.roots,
        rungs.ambient,
    ):
        found = list(dict.fromkeys(candidates))
        if len(found) > 1:
            step = "name one with `project`"
            raise AmbiguousProject(f"it could be {', '.join(map(str, found))}", next_step=step)
        if found and found[0].root not in home:
            return Resolved(Scope.PROJECT, found[0])
        if found and to_write:
            step = "go to a folder of the project, or use --scope user"
            raise NoProject(NEVER, where=found[0].root, next_step=step)
        if found:
            return Resolved(Scope.USER)
    if to_write:
        raise NoProject("there is no project here", next_step="name one with `project`, or use the user scope")
    return Resolved(Scope.USER)


def _named(text: str, rungs: Rungs, known: Mapping[str, Project]) -> Resolved:
    """The project of a slug that somebody wrote: one at hand, a known one, or a new one."""
    slug = require_slug(text)
    at_hand = [rungs.bound] if rungs.bound else []
    found = [project for project in (*at_hand, *rungs.roots, *rungs.ambient) if project.slug == slug]
    if len(set(found)) > 1:
        raise AmbiguousProject(f"{slug} could be {', '.join(map(str, dict.fromkeys(found)))}")
    if found or slug in known:
        return Resolved(Scope.PROJECT, found[0] if found else known[slug])
    near = get_close_matches(slug, known, n=_MOST_NAMED, cutoff=_ALIKE)
    hint = f"{slug} is a new project; {' and '.join(near)} {'is' if len(near) == 1 else 'are'} known" if near else None
    return Resolved(Scope.PROJECT, Project(slug), hint)


def require_slug(text: str) -> str:
    """The one validator of a project's slug: no separators, no `..`, no reserved name; NoProject."""
    if not is_name(text):
        step = f"a slug has a-z, 0-9 and single hyphens, at most {MAX_NAME}, and no name that a system keeps"
        raise NoProject(f"{text[:MAX_NAME]!r} is no project's slug", next_step=step)
    return text


def slug_of(folder: str) -> str:
    """The slug that a folder's name gives; never empty, never reserved."""
    slug: str = slugify(folder, max_length=MAX_NAME, word_boundary=True, save_order=True) or "project"
    return f"{slug}-project" if slug in RESERVED else slug
