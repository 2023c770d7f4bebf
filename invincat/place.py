"""Which project a directory, or a slug that somebody named, stands for, and where its store is (RULES 7, FORMAT)."""

import os
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from invincat.memory.naming import is_name
from invincat.memory.scope import NoProject, Project, Resolved, Rungs, resolve, slug_of
from invincat.store.base import MEMORY_REF
from invincat.store.locate import NotARepository, Repository, create_bare, locate, locate_bare
from invincat.store.own import is_content, require_own

# The store of a folder that is in no git repository.
FOLDER_STORE: Final = Path(".invincat", "memory.git")


@dataclass
class Place:
    """A directory, the person's data, and the slug of a project that was named in place of the directory's."""

    directory: Path
    data_dir: Path
    named: str | None = None

    @cached_property
    def repository(self) -> Repository:
        """The git repository of the directory; NotARepository outside of one."""
        return locate(self.directory)

    @cached_property
    def target(self) -> Resolved:
        """What is read here: a project and what is one's own, or the latter alone."""
        return self.resolve(to_write=False)

    def resolve(self, *, to_write: bool) -> Resolved:
        """RULES 7 on a command line: the project that is named, else that of the directory; NoProject."""
        around = self._around
        root = (around.root or around.git_dir) if around else _begun_folder(self.directory.resolve())
        here = Project(_slug_of(around) if around else slug_of(root.name), str(root))
        rungs = Rungs(explicit=here if self.named is None else self.named, ambient=[here])
        known = {slug: Project(slug) for slug in self.named_projects()} if self.named else {}
        home = Path.home()
        return resolve(rungs, known, home=(str(home), str(home.resolve()), root.anchor), to_write=to_write)

    @cached_property
    def home(self) -> Repository | Path | None:
        """The repository that keeps the project's store, or where a bare one of ours stands or will stand."""
        project = self.target.project
        if project is None:
            return None
        if project.root is None:
            return self.data_dir / "projects" / f"{project.slug}.git"
        return self._around or Path(project.root) / FOLDER_STORE

    @property
    def location(self) -> str:
        """What to call it in messages."""
        home = self.home
        return str((home.root or home.git_dir) if isinstance(home, Repository) else home or self.directory)

    @property
    def code(self) -> Repository | None:
        """The project's code repository, None where it has none."""
        return self.home if isinstance(self.home, Repository) else None

    def is_made(self) -> bool:
        """Whether the project has somewhere to keep a store already."""
        return is_store(self.home) if isinstance(self.home, Path) else self.home is not None

    def _known_slugs(self) -> list[str]:
        """What `--project` can name here: the projects that have a name only, and that of the directory."""
        around = self._around
        return sorted({*self.named_projects(), *([_slug_of(around)] if around else [])})

    def require_known(self) -> None:
        """Refuse to read a project that was named and that nobody ever wrote to: NoProject."""
        project = self.target.project
        if self.named is None or project is None or project.root or project.slug in self.named_projects():
            return
        known = ", ".join(self._known_slugs())
        step = f"known ones: {known}" if known else f"`invincat --project {project.slug} remember TEXT` begins one"
        raise NoProject(f"there is no project {project.slug!r}", next_step=step)

    def require_begun(self) -> None:
        """Refuse a folder that nobody chose to keep memories: NoProject."""
        project = self.resolve(to_write=True).project
        if project and project.root and not self.is_made():
            step = "go to one, run `git init`, or run `invincat init` to keep the memories of this folder in it"
            raise NoProject("not inside a git repository", where=project.root, next_step=step)

    def open(self) -> Repository:
        """The repository of the project's store; one of our own is made if it is not there. NoProject."""
        home = self.home
        if home is None:
            self.resolve(to_write=True)
        assert home is not None, "what cannot be read cannot be written"
        if isinstance(home, Repository):
            return home
        if home.parts[-2:] == FOLDER_STORE.parts:
            require_own(home)
        if is_store(home):
            return locate_bare(home)
        made = create_bare(home)
        # A folder that becomes a repository must not take its store for files of its own.
        (home / ".gitignore").write_text("*\n")
        return made

    def left_behind(self) -> Path | None:
        """The store that a folder had before it was a git repository; one that came with a clone is none."""
        code, root = self.code, self._root
        places = [place / FOLDER_STORE for place in (root, self.directory.resolve()) if root and place]
        found = (place for place in places if is_store(place) and not place.parent.is_symlink())
        return next((place for place in found if code and not is_content(code, place)), None)

    def named_projects(self) -> list[str]:
        """The slugs of the projects that have a name only, and memories already."""
        stores = sorted((self.data_dir / "projects").glob("*.git"))
        return [store.stem for store in stores if is_name(store.stem) and is_store(store) and _has_memory(store)]

    def repository_path(self, path: str) -> str:
        """A path as a person types it, from the directory, as it stands in the repository.

        A location such as `src/a.py#L3` keeps its lines; what is no file below the root stays as it was typed.
        """
        root = self._root
        if root is None or path.startswith(("commit:", "turn:", "url:")):
            return path
        file, hash, lines = path.partition("#L")
        place = Path(os.path.normpath(self.directory / file))
        with suppress(OSError):  # such as a name that is too long for any file
            if place.exists() and place.is_relative_to(root):
                return f"{place.relative_to(root).as_posix()}{hash}{lines}"
        return path

    def working_folder(self) -> list[str]:
        """The directory as a path in the repository; nothing at its top. It is in play, too (RULES 11)."""
        root, place = self._root, self.directory.resolve()
        return [place.relative_to(root).as_posix()] if root and place != root and place.is_relative_to(root) else []

    @property
    def _root(self) -> Path | None:
        """The top of the work tree of the project's code."""
        return self.code.root if self.code else None

    @cached_property
    def _around(self) -> Repository | None:
        try:
            return self.repository
        except NotARepository:
            return None


def _begun_folder(directory: Path) -> Path:
    """The nearest folder around a directory that keeps memories, the directory itself where none does.

    There is no repository around it. The home directory is no project, and a store that somebody else put into a
    folder above, such as a shared one, is not ours to believe.
    """
    end = Path.home().resolve()
    for folder in (directory, *directory.parents):
        store = folder / FOLDER_STORE
        if folder == end:
            break
        if is_store(store) and (folder == directory or _is_mine(store)):
            return folder
    return directory


def _is_mine(store: Path) -> bool:
    return not hasattr(os, "geteuid") or store.stat().st_uid == os.geteuid()


def is_store(place: Path) -> bool:
    """Whether a bare repository stands there; a link is none of ours."""
    return not place.is_symlink() and (place / "HEAD").is_file()


def _has_memory(store: Path) -> bool:
    if (store / MEMORY_REF).is_file():
        return True
    packed = store / "packed-refs"
    return packed.is_file() and f" {MEMORY_REF}\n" in packed.read_text(errors="replace")


def _slug_of(repository: Repository) -> str:
    """The name of the main repository's folder, which linked work trees share."""
    place = repository.common_dir
    return slug_of(place.parent.name if place.name.startswith(".") else place.name.removesuffix(".git"))
