"""Whether a bare repository that stands among a folder's files may be used as a store.

A clone or an unpacked archive can bring one along, with settings and hooks that git would obey: what a repository or
folder contains must not run a program. So only what we make ourselves is used.
"""

import re
from pathlib import Path
from typing import Final

from invincat.errors import ConfigurationError
from invincat.store.locate import Repository, run, run_in

# What `git init` writes, and who somebody is; no other setting is taken from a folder.
_HARMLESS: Final = re.compile(
    r"core\.(repositoryformatversion|filemode|bare|ignorecase|precomposeunicode|symlinks|logallrefupdates)"
    r"|extensions\.(objectformat|refstorage)|user\.(name|email)"
)
# Programs, other places for settings, and somebody else's objects.
_FOREIGN: Final = ("hooks", "commondir", "config.worktree", "objects/info/alternates")


def require_own(git_dir: Path) -> None:
    """ConfigurationError for a store that has what we never make. It starts no program but `git config`."""
    link = next((place for place in (git_dir.parent, git_dir) if place.is_symlink()), None)
    if link is not None:
        raise _unsafe("is a link; a store in a folder stands there itself", link)
    odd = next((git_dir / name for name in _FOREIGN if (git_dir / name).exists()), None)
    if odd is not None:
        raise _unsafe(f"a store in a folder has no {odd.name}", odd)
    config = git_dir / "config"
    if not config.exists():
        return
    listed = run(["config", "--file", str(config), "--no-includes", "--null", "--name-only", "--list"])
    keys = listed.stdout.decode("utf-8", "replace").split("\0")[:-1]
    key = next((key for key in keys if not _HARMLESS.fullmatch(key)), None)
    if listed.returncode or key:
        raise _unsafe(f"a store in a folder has no setting {key}" if key else "its settings cannot be read", config)


def is_content(repository: Repository, place: Path) -> bool:
    """Whether a folder of the work tree, or the one that it stands in, is of the files that git keeps there.

    In any case of letters, since a file system may know none.
    """
    root = repository.root
    if root is None or not place.is_relative_to(root):
        return False
    own = place.relative_to(root).as_posix().casefold()
    above = own.rpartition("/")[0]
    asked = run_in(
        repository, ["ls-files", "-z", "--", f":(top,icase,literal){place.parent.relative_to(root).as_posix()}"]
    )
    paths = asked.stdout.decode("utf-8", "surrogateescape").casefold().split("\0")
    return bool(asked.returncode) or any(path in {own, above} or path.startswith(f"{own}/") for path in paths)


def _unsafe(what: str, where: Path) -> ConfigurationError:
    step = "if you put it there, take it away; if it came with the folder, remove the store"
    return ConfigurationError(what, where=str(where), next_step=step)
