"""The program, the machine and the repository."""

import platform
import re
import shutil
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from invincat import __version__
from invincat.app import App
from invincat.config import LOCAL
from invincat.doctor.line import Line, fail, ok, warn
from invincat.llm.embedding_local import INSTALL, is_installed
from invincat.store.base import OURS
from invincat.store.git import GitStore
from invincat.store.locate import Repository, is_partial, run, run_in

_OLDEST_GIT: Final = (2, 31)
_MANY_LOOSE: Final = 2000
_LITTLE_SPACE: Final = 200 * 1024 * 1024
_NO_SPACE: Final = 5 * 1024 * 1024


def program(app: App) -> Iterator[Line]:
    """Versions, and whether git is new enough."""
    git = run(["version"]).stdout.decode("utf-8", "replace").strip().removeprefix("git version ")
    yield ok("program", f"invincat {__version__}, Python {platform.python_version()}, git {git}")
    number = re.match(r"(\d+)\.(\d+)", git)
    if number and (int(number[1]), int(number[2])) < _OLDEST_GIT:
        yield fail("program", f"git {git} is too old", "install git 2.31 or later")
    yield ok("libraries", ", ".join(f"{name} {_version(name)}" for name in ("dulwich", "whoosh-reloaded")))


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(not installed as a package)"


def repository(app: App) -> Iterator[Line]:
    """What kind of repository it is."""
    found = app.place.code
    if found is None:
        yield ok("repository", f"none here; project memories stand in {app.place.location}")
        return
    trees = _ask(found, "worktree", "list", "--porcelain").count("worktree ")
    storage = _ask(found, "config", "extensions.refstorage").strip() or "files"
    yield ok(
        "repository",
        f"{app.place.location}: {_kind(found)}, {found.object_format}, refs as {storage}, work trees: {trees}",
    )
    if (found.common_dir / "shallow").exists():
        message = "is shallow: what is older than it cannot be told of"
        yield warn("repository", message, "run `git fetch --unshallow` if you want all of the history")
    if is_partial(found):
        yield ok("repository", "is a partial clone: git fetches files when they are needed")
    yield from _mirrors(found)


def _kind(found: Repository) -> str:
    if found.root is None:
        return "bare"
    if found.git_dir != found.common_dir:
        return "a linked work tree"
    return "a submodule" if "modules" in found.git_dir.parts else "a work tree"


def _mirrors(found: Repository) -> Iterator[Line]:
    """Remotes whose fetch would write over our refs, or with --prune delete them (case 11)."""
    for key, value in _config(found, r"^remote\..*\.fetch$"):
        target = value.partition(":")[2]
        folder = target.partition("*")[0]
        if target.startswith(OURS) or ("*" in target and OURS.startswith(folder)):
            remote = key.removeprefix("remote.").removesuffix(".fetch")
            message = f"`git fetch --prune {remote}` would delete the memory refs ({value})"
            spec = f"+refs/heads/*:refs/remotes/{remote}/*"
            yield warn("remotes", message, f"run `git config --replace-all {key} '{spec}'`, or keep a copy elsewhere")
    for key, value in _config(found, r"^remote\..*\.mirror$"):
        remote = key.removeprefix("remote.").removesuffix(".mirror")
        if value == "true" and not [1 for key, _ in _config(found, rf"^remote\.{re.escape(remote)}\.fetch$")]:
            message = f"`git push {remote}` publishes every ref, proposals and backups among them"
            yield warn("remotes", message, f"run `git config --unset {key}` unless that is what you want")


def person(app: App) -> Iterator[Line]:
    """Who commits."""
    for store in stores(app)[:1]:
        name, email = store.author()
        yield ok("identity", f"{name} <{email}>")


def objects(app: App) -> Iterator[Line]:
    """Loose objects, and room for more."""
    for ledger in stores(app):
        found = ledger.repository
        counted = dict(line.split(": ") for line in _ask(found, "count-objects", "-v").splitlines() if ": " in line)
        loose = int(counted.get("count", 0))
        about = f"objects of {ledger.location}"
        if loose > _MANY_LOOSE:
            yield warn(about, f"{loose} loose objects", "run `git gc` there when you like")
        else:
            yield ok(about, f"{loose} loose objects")
        free = shutil.disk_usage(found.common_dir).free
        if free < _NO_SPACE:
            yield fail("disk", f"{free // 1024} KB are free at {found.common_dir}", "make room; nothing can be written")
        elif free < _LITTLE_SPACE:
            yield warn("disk", f"{free // 1024 // 1024} MB are free at {found.common_dir}", "make room")


def settings(app: App) -> Iterator[Line]:
    """What is set, and where."""
    found = [(key, value) for key, value in app.settings.values.items() if value.origin != "default"]
    said = ", ".join(f"{key} ({value.origin})" for key, value in found)
    yield ok("settings", said or "all as they come; see `invincat config list`")
    if app.settings.values["embedding"].value == LOCAL and not is_installed():
        yield warn("settings", "embedding is local, and its model is not installed", INSTALL)


def stores(app: App) -> list[GitStore]:
    """The stores that exist, whatever state they are in: the project's, then the person's own."""
    return [ledger.store for ledger in app.made() if isinstance(ledger.store, GitStore)]


def _config(found: Repository, pattern: str) -> list[tuple[str, str]]:
    pairs = _ask(found, "config", "--null", "--get-regexp", pattern).split("\0")
    return [(key, value) for key, _, value in (pair.partition("\n") for pair in pairs) if key]


def _ask(found: Repository, *question: str) -> str:
    return run_in(found, question).stdout.decode("utf-8", "replace")
