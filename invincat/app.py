"""The composition root: picks the stores for a directory and wires readers, ledgers, recall and briefing.

Here the clock is read and the place of the user's data decided; below it both are arguments.
"""

import os
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from invincat.errors import UserError
from invincat.governance.grounding import Heard
from invincat.ledger import Ledger
from invincat.memory.entry import Source as Origin
from invincat.memory.scope import Scope
from invincat.store.git import GitStore
from invincat.store.grounds import RepositoryGrounds
from invincat.store.locate import NotARepository, Repository, create_bare, locate, locate_bare
from invincat.store.parsed import ParsedCache
from invincat.store.source import Source
from invincat.store.tree import ViewReader

# Whoosh, stemmers and globs cost 0.15 s: only what searches or briefs pays for them (lazy imports below).
if TYPE_CHECKING:
    from invincat.context.briefing import Briefing
    from invincat.recall.hit import Results
    from invincat.recall.index import Index
    from invincat.recall.query import Query


class NoStore(UserError):
    """The repository has no memory store yet."""


def utc_now() -> datetime:
    """The time, in UTC with whole seconds."""
    return datetime.now(UTC).replace(microsecond=0)


def new_id() -> str:
    """A fresh ULID."""
    from ulid import ULID  # noqa: PLC0415 - it costs 20 ms, and reading needs none

    return str(ULID())


def id_from(digest: bytes) -> str:
    """The ULID that these 16 bytes are."""
    from ulid import ULID  # noqa: PLC0415 - as above

    return str(ULID.from_bytes(digest))


@dataclass
class App:
    """Everything a front end needs, for one directory. Stores are opened when first asked for."""

    directory: Path
    data_dir: Path
    _indexes: "dict[Scope, Index]" = field(default_factory=dict)
    _state_dirs: dict[Scope, Path] = field(default_factory=dict)

    @staticmethod
    def at(directory: Path | None = None, environment: Mapping[str, str] = os.environ) -> "App":
        """The app for a directory, by default the current one."""
        data_dir = environment.get("INVINCAT_DATA_DIR") or platformdirs.user_data_dir("invincat", appauthor=False)
        return App(directory or Path.cwd(), Path(data_dir))

    @cached_property
    def repository(self) -> Repository:
        """The git repository of the directory; NotARepository outside of one."""
        return locate(self.directory)

    @cached_property
    def source(self) -> Source | None:
        """The code repository, None outside of one."""
        try:
            return Source(self.repository)
        except NotARepository:
            return None

    @cached_property
    def project(self) -> Ledger:
        """The project's ledger; NotARepository outside of a repository."""
        return self._ledger(self.repository, Scope.PROJECT)

    @cached_property
    def user(self) -> Ledger:
        """The person's own ledger, made when first written to."""
        place = self._user_store
        return self._ledger(locate_bare(place) if place.is_dir() else create_bare(place), Scope.USER)

    def ledger(self, scope: Scope) -> Ledger:
        """The ledger of a scope."""
        return self.user if scope is Scope.USER else self.project

    def readable(self, scope: Scope | None = None) -> list[Ledger]:
        """The ledgers that have memories to read: project first, then the person's own.

        NoStore when there is none, or none of the project and that one was asked for.
        """
        found = [ledger for ledger in self.existing() if scope in (None, ledger.scope)]
        if found:
            return found
        if scope is Scope.USER or self.source is None:
            next_step = "`invincat remember --scope user TEXT`"
            raise NoStore("there are no memories of yours yet", next_step=next_step)
        raise NoStore(self.no_store_message(), where=self.project.store.location, next_step="run `invincat init`")

    def is_without_store(self) -> bool:
        """Whether this is a repository that has no memory store yet."""
        return self.source is not None and self.project.tip() is None

    def existing(self) -> list[Ledger]:
        """The ledgers that have a store already, project first; none is no error."""
        found = [self.project] if self.source is not None and self.project.tip() else []
        return [*found, self.user] if self._user_store.is_dir() else found

    @property
    def state_dir(self) -> Path:
        """Where conversations and their queue are kept: beside the project's store, else with the person's data."""
        return self.repository.state_dir if self.source is not None else self.data_dir / "outside"

    def published(self) -> dict[str, str]:
        """Stores that remotes have published, as of the last fetch: tracking ref -> commit."""
        refs = self.project.store.refs("refs/remotes/")
        return {ref: id for ref, id in refs.items() if ref.endswith("/invincat/memory")}

    def origin(self, actor: str, session: str | None = None) -> Origin:
        """Where a memory that is written now comes from."""
        head = self.source.head() if self.source else None
        branch = self.source.branch() if self.source else None
        return Origin(actor=actor, session=session, commit=head[:7] if head else None, branch=branch and branch[:120])

    def grounds(self, turns: Mapping[int, Heard] | None = None) -> RepositoryGrounds:
        """What evidence is checked against."""
        return RepositoryGrounds(self.source, turns or {})

    def scope_of(self, items: Sequence[Any]) -> Scope:
        """The store of the memories that a batch names by id or name; the project's where none has them."""
        for item in items:
            reference = item.get("id") if isinstance(item, dict) else None
            for ledger in self.existing():
                if isinstance(reference, str) and ledger.view().find(reference):
                    return ledger.scope
        return Scope.PROJECT

    def repository_path(self, path: str) -> str:
        """A path as a person types it, from the app's directory, as it stands in the repository.

        A location such as `src/a.py#L3` keeps its lines; what is no file below the root stays as it was typed.
        """
        if self.source is None or self.repository.root is None or path.startswith(("commit:", "turn:", "url:")):
            return path
        file, hash, lines = path.partition("#L")
        place = Path(os.path.normpath(self.directory / file))
        if place.exists() and place.is_relative_to(self.repository.root):
            return f"{place.relative_to(self.repository.root).as_posix()}{hash}{lines}"
        return path

    def briefing(self, paths: list[str]) -> "Briefing":
        """What would be injected now, with these files in play."""
        from invincat.context.briefing import brief  # noqa: PLC0415 - see above

        return brief([(ledger.scope, ledger.view()) for ledger in self.readable()], [*paths, *self.working_folder()])

    def working_folder(self) -> list[str]:
        """The app's directory as a path in the repository; nothing at its top. It is in play, too (RULES 11)."""
        root = self.repository.root if self.source is not None else None
        place = self.directory.resolve()
        return [place.relative_to(root).as_posix()] if root and place != root and place.is_relative_to(root) else []

    def recall(self, query: "Query", progress: Callable[[int, int], None] | None = None) -> "Results":
        """Search what may be read; of two stores the better hits first."""
        from invincat.lookup import StoreCorpus  # noqa: PLC0415 - see above
        from invincat.recall.hit import merge  # noqa: PLC0415 - see above

        answers = [
            self._index(ledger).search(StoreCorpus(ledger), query, progress) for ledger in self.readable(query.scope)
        ]
        return merge(answers, query.limit)

    def _index(self, ledger: Ledger) -> "Index":
        from invincat.recall.index import Index  # noqa: PLC0415 - see above

        if ledger.scope not in self._indexes:
            folder = self._state_dirs[ledger.scope] / "index"
            self._indexes[ledger.scope] = Index(folder, f"{self.installation}:{folder}")
        return self._indexes[ledger.scope]

    @cached_property
    def installation(self) -> str:
        """A secret of this installation: caches that do not carry it are from elsewhere and never opened.

        Where it cannot be kept it is made anew each time, and so are the caches.
        """
        path = self.data_dir / "installation"
        fresh = secrets.token_hex(16)
        try:
            if not _is_secret(path):
                self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
                draft = path.with_name(f"installation.{os.getpid()}")
                draft.write_text(fresh)
                draft.chmod(0o600)
                draft.replace(path)
            return path.read_text().strip()
        except OSError:
            return fresh

    @property
    def _user_store(self) -> Path:
        return self.data_dir / "user.git"

    def _ledger(self, repository: Repository, scope: Scope) -> Ledger:
        store = GitStore(repository)
        self._state_dirs[scope] = repository.state_dir
        cache = ParsedCache(repository.state_dir / "parsed", self.installation)
        return Ledger(store, ViewReader(store, cache), scope, utc_now, new_id, id_from)

    def no_store_message(self) -> str:
        """Why there is nothing of the project to read; tells of a published store that was fetched."""
        published = self.published()
        if not published:
            return "this repository has no memory store yet"
        remotes = ", ".join(ref.removeprefix("refs/remotes/") for ref in published)
        return f"this repository has no memory store of its own yet, but a published one was fetched ({remotes})"


def _is_secret(path: Path) -> bool:
    """Whether the file holds what we write there; a regular file only."""
    return path.is_file() and bool(re.fullmatch(r"[0-9a-f]{32}", path.read_text(errors="replace").strip()))
