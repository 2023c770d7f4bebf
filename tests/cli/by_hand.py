"""A commit on the memory ref that somebody made with plain git."""

from pathlib import Path


def commit_by_hand(git, repo: Path, path: str, text: str, message: str) -> str:
    """Put one file into the tree of the memory ref; the commit's id."""
    blob = git("hash-object", "-w", "--stdin", input=text).strip()
    return _commit(git, repo, message, "--add", "--cacheinfo", f"100644,{blob},{path}")


def remove_by_hand(git, repo: Path, path: str) -> str:
    """Take one file out of it; the commit's id."""
    return _commit(git, repo, f"without {path}", "--force-remove", path)


def _commit(git, repo: Path, message: str, *change: str) -> str:
    index = {"GIT_INDEX_FILE": str(repo / ".git/by-hand")}
    git("read-tree", "refs/invincat/memory", env=index)
    git("update-index", *change, env=index)
    tree = git("write-tree", env=index).strip()
    commit = git("commit-tree", tree, "-p", "refs/invincat/memory", "-m", message).strip()
    git("update-ref", "refs/invincat/memory", commit)
    return commit
