"""The composition root: picks the stores for a directory and wires readers, ledgers, recall and briefing.

Here the clock is read and the place of the user's data decided; below it both are arguments.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from invincat.config import DEFAULT_URL, LOCAL, OFF, TEAM_FILE, VARIABLES, Settings, load
from invincat.errors import ConfigurationError, UserError
from invincat.governance.grounding import Heard
from invincat.governance.policy import Policy
from invincat.identity import key_of
from invincat.installation import secret_of
from invincat.ledger import Ledger
from invincat.memory.entry import Source as Origin
from invincat.memory.scope import Scope
from invincat.memory.view import View
from invincat.notices import notices_of
from invincat.place import Place
from invincat.store.adopt import move_store
from invincat.store.base import TRACKING
from invincat.store.git import GitStore
from invincat.store.grounds import RepositoryGrounds
from invincat.store.locate import Repository, create_bare, locate_bare
from invincat.store.parsed import ParsedCache
from invincat.store.purged import Watch
from invincat.store.revision import published
from invincat.store.source import Source
from invincat.store.standing import Standings
from invincat.store.tree import ViewReader
from invincat.store.verdicts import VerdictCache

# Whoosh, stemmers and globs cost 0.15 s: only what searches or briefs pays for them (lazy imports below).
if TYPE_CHECKING:
    from invincat.context.briefing import Briefing
    from invincat.search import Search
    from invincat.semantic import Semantic


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
    """Everything a front end needs, for one directory. Stores are opened when first asked for.

    `named` is the slug of a project that somebody named in place of the directory's, `user_settings` the person's
    file of settings, `environment` what settings look at.
    """

    directory: Path
    data_dir: Path
    named: str | None = None
    user_settings: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    _state_dirs: dict[Scope, Path] = field(default_factory=dict)
    _watches: list[Watch] = field(default_factory=list)

    @staticmethod
    def at(
        directory: Path | None = None, environment: Mapping[str, str] = os.environ, *, project: str | None = None
    ) -> "App":
        """The app for a directory, by default the current one, or for a project that is named by its slug."""
        data_dir = environment.get("INVINCAT_DATA_DIR") or platformdirs.user_data_dir("invincat", appauthor=False)
        config_dir = platformdirs.user_config_dir("invincat", appauthor=False)
        return App(
            directory or Path.cwd(),
            Path(data_dir),
            named=project,
            user_settings=Path(config_dir) / "config.yaml",
            environment=environment,
        )

    @cached_property
    def place(self) -> Place:
        """Which project this is."""
        return Place(self.directory, self.data_dir, self.named)

    @property
    def repository(self) -> Repository:
        """The git repository of the directory; NotARepository outside of one."""
        return self.place.repository

    @cached_property
    def source(self) -> Source | None:
        """The project's code repository, None where it has none."""
        return Source(self.place.code) if self.place.code else None

    @cached_property
    def project_key(self) -> str | None:
        """What limits a personal memory to this project (FORMAT `scope`); None where there is no project.

        It is the commit with which its history began: clones, work trees and renamed folders share it, two projects
        that are called the same do not. Where that is not known it is the slug.
        """
        if self.source is None:
            return self.project_slug
        notes = ParsedCache(self.source.repository.state_dir / "parsed", self.installation, self._was_purged)
        return key_of(self.source, notes) or self.project_slug

    @property
    def project_keys(self) -> frozenset[str]:
        """All that this project is called by, also when it had no commit yet.

        Who keeps nothing of their own is not asked for it.
        """
        if not self._user_store.is_dir():
            return frozenset()
        return frozenset(filter(None, (self.project_key, self.project_slug)))

    @property
    def project_slug(self) -> str | None:
        """The project's slug; None where there is no project.

        It is the name of the main repository's folder; nothing that came with the repository has a part in it.
        """
        project = self.place.target.project
        return project.slug if project else None

    def notices(self) -> list[str]:
        """What whoever read here must know: how many files of the stores were no memories, and settings left aside."""
        found: list[str] = []
        for ledger in (self.__dict__.get("project"), self.__dict__.get("user")):
            if ledger is not None:
                found += notices_of(ledger)
        try:
            _ = self.settings
        except ConfigurationError as fault:
            found.append(f"note: defaults hold: {fault}")
        return found

    def untrusted(self) -> frozenset[str]:
        """Ids of memories that came into the stores past the gate and that no person has accepted (RULES 10)."""
        return frozenset().union(*(ledger.foreign.memories() for ledger in self.existing()))

    # settings

    @cached_property
    def settings(self) -> Settings:
        """What files and environment set; ConfigurationError when a file of settings is broken."""
        team = self.source.read(TEAM_FILE) if self.source else None
        return load(self.user_settings, team, self.environment)

    @property
    def team_settings(self) -> Path | None:
        """Where the team's file of settings stands, or would; None without a work tree."""
        root = self.source.repository.root if self.source else None
        return root / TEAM_FILE if root else None

    def policy(self, scope: Scope) -> Policy:
        """Who needs a person's yes: the team's rules hold for what is the project's alone; ConfigurationError."""
        return self.settings.policy(is_shared=scope is Scope.PROJECT)

    # stores

    @cached_property
    def project(self) -> Ledger:
        """The project's ledger; a bare store of ours is made when first asked for. NoProject where there is none."""
        return self._ledger(self.place.open(), Scope.PROJECT)

    @cached_property
    def user(self) -> Ledger:
        """The person's own ledger, made when first written to."""
        place = self._user_store
        return self._ledger(locate_bare(place) if place.is_dir() else create_bare(place), Scope.USER)

    def ledger(self, scope: Scope) -> Ledger:
        """The ledger of a scope, to write to.

        NoProject where there is no project, and in a folder that is neither a repository nor was begun with `init`;
        UserError where a folder that became a repository still has its store beside it: it is moved first.
        """
        if scope is Scope.USER:
            return self.user
        self.place.require_begun()
        if (old := self.place.left_behind()) and self.project.tip() is None:
            message = "the memories of this folder stand in a store of their own, from before it was a repository"
            raise UserError(message, where=str(old), next_step="run `invincat init`, which moves them")
        return self.project

    def start(self) -> bool:
        """Make the project's store if there is none, and move in what the folder had before; True when it is new.

        UserError where both have memories of their own.
        """
        if self.place.code and (old := self.place.left_behind()):
            move_store(locate_bare(old), self.place.code)
            return True
        return self.project.start()

    def readable(self, scope: Scope | None = None) -> list[Ledger]:
        """The ledgers that have memories to read: project first, then the person's own.

        NoStore when there is none, or none of the project and that one was asked for; NoProject for an unknown slug.
        """
        self.place.require_known()
        found = [ledger for ledger in self.existing() if scope in (None, ledger.scope)]
        if found:
            return found
        if scope is Scope.USER or self.place.home is None:
            next_step = "`invincat remember --scope user TEXT`"
            raise NoStore("there are no memories of yours yet", next_step=next_step)
        raise NoStore(self.no_store_message(), where=self.place.location, next_step="run `invincat init`")

    def is_without_store(self) -> bool:
        """Whether this is a project that has no memory store yet."""
        return self.place.home is not None and not self._has_project()

    def existing(self) -> list[Ledger]:
        """The ledgers that have a store already, project first; none is no error."""
        return [ledger for ledger in self.made() if ledger.scope is Scope.USER or ledger.tip() is not None]

    def made(self) -> list[Ledger]:
        """The ledgers whose repositories are there, in whatever state their refs are."""
        found = [self.project] if self.place.is_made() else []
        return [*found, self.user] if self._user_store.is_dir() else found

    def _has_project(self) -> bool:
        return self.place.is_made() and self.project.tip() is not None

    def view(self, ledger: Ledger, commit: str | None = None) -> View:
        """What is believed here, now or at a commit: without what is one's own in another project (FORMAT `scope`)."""
        view = ledger.view(commit)
        return view.within(self.project_keys) if ledger.scope is Scope.USER else view

    def injectable(self) -> dict[Scope, View]:
        """What a model may be told unasked: what is believed here, without what nobody has accepted (RULES 10)."""
        return {ledger.scope: self.view(ledger).without(ledger.foreign.memories()) for ledger in self.existing()}

    @property
    def stores(self) -> list[Path]:
        """Where the stores stand that are outside of any git directory of the person's."""
        return [self.data_dir, *([self.place.home] if isinstance(self.place.home, Path) else [])]

    @property
    def state_dir(self) -> Path:
        """Where conversations and their queue are kept: beside the project's store, else with the person's data."""
        return self.repository.state_dir if self.source is not None else self.data_dir / "outside"

    def state_of(self, ledger: Ledger) -> Path:
        """The state directory of one of the stores."""
        return self._state_dirs[ledger.scope]

    def beginning(self) -> str | None:
        """What to say before the first memory of a project is written: a published store, a slug close to this one."""
        if published := self.published():
            refs = ", ".join(ref.removeprefix(TRACKING) for ref in published)
            return f"a published store was fetched ({refs}); this begins one of your own"
        return self.place.target.hint

    def published(self) -> dict[str, str]:
        """Stores that remotes have published, as of the last fetch: tracking ref -> commit."""
        return published(self.project.store) if self.source else {}

    def origin(self, actor: str, session: str | None = None) -> Origin:
        """Where a memory that is written now comes from."""
        head, branch = self.source.position() if self.source else (None, None)
        return Origin(actor=actor, session=session, commit=head[:7] if head else None, branch=branch and branch[:120])

    def grounds(self, turns: Mapping[int, Heard] | None = None) -> RepositoryGrounds:
        """What evidence is checked against."""
        return RepositoryGrounds(self.source, turns or {})

    @cached_property
    def standings(self) -> Standings:
        """Whether memories hold here: `standings.of(records)` gives a Standing by id (RULES 12)."""
        return Standings(self.source, VerdictCache(self.state_dir / "parsed", self.installation, self._was_purged))

    def scope_of(self, items: Sequence[Any]) -> Scope:
        """The store of the memories that a batch names by id or name; the project's where none has them."""
        for item in items:
            reference = item.get("id") if isinstance(item, dict) else None
            for ledger in self.existing():
                if isinstance(reference, str) and ledger.view().find(reference):
                    return ledger.scope
        return Scope.PROJECT

    def briefing(self, paths: list[str]) -> "Briefing":
        """What would be injected now, with these files in play."""
        from invincat.context.briefing import brief  # noqa: PLC0415 - see above

        self.readable()  # NoStore, rather than a briefing on nothing
        return brief(list(self.injectable().items()), [*paths, *self.in_play()], ask=self.standings.now())

    def in_play(self) -> list[str]:
        """What is worked on here, relative to the root: the working folder, and what is changed (RULES 11)."""
        return [*self.place.working_folder(), *(self.source.changed() if self.source else ())]

    @cached_property
    def search(self) -> "Search":
        """Recall over what may be read here."""
        from invincat.search import Search  # noqa: PLC0415 - see above

        return Search(self, self._semantic())

    def _semantic(self) -> "Semantic | None":
        """Recall's second leg, None where no setting asks for it."""
        try:
            chosen, base_url = (self.settings.values[key] for key in ("embedding", "base_url"))
        except ConfigurationError:
            return None  # what is read must not hang on somebody's typing error; `notices` tells of it
        if chosen.value == OFF:
            return None
        from invincat.semantic import Embedding, Semantic  # noqa: PLC0415 - see above

        embedding = Embedding(
            model=None if chosen.value == LOCAL else chosen.value,
            key=self.environment.get("OPENAI_API_KEY"),
            base_url=base_url.value or DEFAULT_URL,
            setting=chosen.origin,
            url_setting=base_url.origin if base_url.value else VARIABLES["base_url"],
        )
        return Semantic(embedding, self.installation, self._was_purged)

    @cached_property
    def installation(self) -> str:
        """The secret of this installation, which our caches carry."""
        return secret_of(self.data_dir)

    @property
    def _user_store(self) -> Path:
        return self.data_dir / "user.git"

    def _ledger(self, repository: Repository, scope: Scope) -> Ledger:
        store = GitStore(repository)
        self._state_dirs[scope] = repository.state_dir
        self._watches.append(Watch(store))
        cache = ParsedCache(repository.state_dir / "parsed", self.installation, self._was_purged)
        reader = ViewReader(store, cache)
        return Ledger(store, reader, scope, utc_now, new_id, id_from, lambda: self.policy(scope), cache)

    def _was_purged(self) -> bool:
        """Whether a purge came since the stores were opened: then what was read is kept nowhere any more."""
        return any(watch.has_come() for watch in self._watches)

    def no_store_message(self) -> str:
        """Why there is nothing of the project to read; tells of a published store that was fetched."""
        if self.source is None:
            return "there are no project memories here yet"
        if old := self.place.left_behind():
            return f"this repository has no memory store yet, but the folder had one ({old})"
        published = self.published()
        if not published:
            return "this repository has no memory store yet"
        remotes = ", ".join(ref.removeprefix(TRACKING) for ref in published)
        return f"this repository has no memory store of its own yet, but a published one was fetched ({remotes})"
