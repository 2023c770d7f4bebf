"""The words of which the bench makes its memories."""

from typing import Final


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


SECTIONS: Final = (
    "Testing",
    "Code style",
    "Releases",
    "Continuous integration",
    "Database",
    "Public API",
    "Security",
    "Logging",
    "Documentation",
    "Dependencies",
    "Build",
    "Deployment",
    "Error handling",
    "Performance",
    "Front end",
    "Command line",
    "Configuration",
    "Reviews",
    "Migrations",
    "Observability",
)

VERBS: Final = _words(
    """
    run keep pin avoid prefer check regenerate document split rename cache retry validate mock freeze rebase squash
    bump lint format type profile seed migrate escape quote log trace wrap register deprecate
    """
)

ADJECTIVES: Final = _words(
    """
    generated public internal nightly slow flaky shared legacy vendored signed typed async nested optional default
    stable local remote cached temporary parallel frozen minimal strict idempotent versioned
    """
)

NOUNS: Final = _words(
    """
    fixtures snapshots schemas migrations endpoints handlers wheels lockfile changelog docstrings imports settings
    tokens sessions queries indexes workers retries timeouts headers payloads serializers templates hooks branches
    releases tags coverage markers logs metrics traces dashboards containers images secrets permissions routes models
    views forms widgets themes plugins adapters clients servers sockets buffers threads locks transactions rollbacks
    backups archives reports exports imports validators parsers lexers tokens grammars compilers linters formatters
    benchmarks profiles budgets quotas limits caches queues topics partitions consumers producers streams batches
    """
)

PLACES: Final = tuple(
    """
    before release; in CI; on every branch; behind the proxy; for each tenant; per worktree; with nox; through make;
    under load; on Windows; in the sandbox; after review; at startup; outside transactions; without network
    """.replace("\n", " ").split(";")
)

IDENTIFIERS: Final = _words(
    """
    pytest_plugins conftest.py pyproject.toml test_client.py make_session --no-verify RetryPolicy load_config
    src/app/models.py HTTPServer ruff.toml alembic.ini Dockerfile get_or_create BaseSerializer tox.ini noxfile.py
    """
)

SENTENCES: Final = (
    "The {noun} depend on the {adjective} {noun2} that {identifier} sets up, so the order matters.",
    "We tried to {verb} them {place} and lost half a day to {adjective} {noun2}.",
    "Use `{identifier}` for this; anything else bypasses the {noun2}.",
    "A pull request that touches the {noun} needs a second look at the {noun2}.",
    "When it fails, {verb} the {noun2} first and read the {noun} afterwards.",
    "This holds {place}, and nobody found an exception among the {adjective} {noun}.",
    "The maintainers agreed on it when the {adjective} {noun2} broke the {noun}.",
    "See {identifier} for the way the {noun2} are wired to the {noun}.",
    "It costs about {number} seconds, which is less than the {adjective} {noun2} cost.",
)

TAGS: Final = ("pytest", "ci", "git", "docker", "sql", "http", "typing", "docs", "release", "windows", "perf", "auth")

GLOBS: Final = (
    "tests/**",
    "src/app/*.py",
    "pyproject.toml",
    "docs/**/*.md",
    "src/**",
    "migrations/*.sql",
    ".github/**",
)
