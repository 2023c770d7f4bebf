"""A commit on the memory ref that somebody made with plain git."""

from pathlib import Path


def commit_by_hand(git, repo: Path, path: str, text: str, message: str) -> str:
    """Put one file into the tree of the memory ref; the commit's id."""
    blob = git("hash-object", "-w", "--stdin", input=text).strip()
    index = {"GIT_INDEX_FILE": str(repo / ".git/by-hand")}
    git("read-tree", "refs/invincat/memory", env=index)
    git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", env=index)
    tree = git("write-tree", env=index).strip()
    commit = git("commit-tree", tree, "-p", "refs/invincat/memory", "-m", message).strip()
    git("update-ref", "refs/invincat/memory", commit)
    return commit
