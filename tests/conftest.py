"""Every test runs sealed: its own home and git configuration, a known person, no editor, one time zone."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Protocol

import pytest

PERSON = {"NAME": "Ada Lovelace", "EMAIL": "ada@example.org"}

GIT_CONFIG = """\
[init]
	defaultBranch = main
[gc]
	auto = 0
[maintenance]
	auto = false
[protocol "file"]
	allow = always
"""


# Where repositories are made when nobody says otherwise: writing them is half of what the tests do.
RAM: Final = Path("/dev/shm")
ROOM: Final = 4 << 30


def pytest_configure() -> None:
    """Before pytest chooses its folder."""
    if "TMPDIR" not in os.environ and _has_room(RAM):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(RAM))


def _has_room(folder: Path) -> bool:
    """Whether there is room for all repositories, and programs may be run there, as editors and hooks of tests are."""
    if not os.access(folder, os.W_OK):
        return False
    is_barred = os.statvfs(folder).f_flag & getattr(os, "ST_NOEXEC", 0)
    return not is_barred and shutil.disk_usage(folder).free >= ROOM


class Git(Protocol):
    """Run git, assert that it succeeded, return what it printed."""

    def __call__(
        self, *arguments: str, cwd: Path | None = None, input: str | bytes = "", env: Mapping[str, str] | None = None
    ) -> str: ...


@pytest.fixture(scope="session", autouse=True)
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Nothing of the developer's machine is read or written; gives the home directory of the session."""
    home = tmp_path_factory.mktemp("home")
    config = home / ".gitconfig"
    config.write_text(GIT_CONFIG)
    failing = "sh -c 'echo a test opened an editor >&2; exit 70'"
    before = dict(os.environ)
    for key in list(os.environ):
        if key.startswith(("GIT_", "XDG_", "LC_", "INVINCAT_", "OPENAI_")) and key != "INVINCAT_TEST_KILLS":
            del os.environ[key]
    os.environ.update(
        {
            "HOME": str(home),
            "USERPROFILE": str(home),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_DATA_HOME": str(home / ".local/share"),
            "XDG_CACHE_HOME": str(home / ".cache"),
            "XDG_STATE_HOME": str(home / ".local/state"),
            "GIT_CONFIG_GLOBAL": str(config),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_EDITOR": failing,
            "EDITOR": failing,
            "VISUAL": failing,
            "GIT_PAGER": "cat",
            "TZ": "UTC",
            "LANG": "C.UTF-8",
            **{f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in PERSON.items()},
        }
    )
    yield home
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="session")
def first_repo(sealed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `repo` is a copy of: making it for each of a thousand tests would take half a minute."""
    root = tmp_path_factory.mktemp("first") / "repo"
    root.mkdir()
    (root / "README.md").write_text("# A project\n")
    for arguments in (("init", "--quiet"), ("add", "."), ("commit", "--quiet", "--message", "Begin")):
        _run(arguments, root, "", None)
    return root


@pytest.fixture
def repo(tmp_path: Path, first_repo: Path) -> Path:
    """A real repository with one commit: `README.md` on `main`."""
    root = Path(shutil.copytree(first_repo, tmp_path / "repo"))
    _run(("update-index", "--refresh"), root, "", None)  # so that nothing that looks at files later writes it
    return root


@pytest.fixture
def git(repo: Path) -> Git:
    """`git("log", "-1")` in `repo`, or elsewhere with `cwd`."""

    def run(
        *arguments: str, cwd: Path | None = None, input: str | bytes = "", env: Mapping[str, str] | None = None
    ) -> str:
        return _run(arguments, cwd or repo, input, env)

    return run


def _run(arguments: tuple[str, ...], cwd: Path, input: str | bytes, env: Mapping[str, str] | None) -> str:
    data = input.encode() if isinstance(input, str) else input
    done = subprocess.run(
        ["git", *arguments], check=False, cwd=cwd, input=data, capture_output=True, env={**os.environ, **(env or {})}
    )
    assert done.returncode == 0, f"git {' '.join(arguments)}: {done.stderr.decode('utf-8', 'replace')}"
    return done.stdout.decode("utf-8", "surrogateescape")
