"""How often a prompt is told something, and what: `python -m tests.bench.prompt_recall PROMPTS CONVENTIONS`.

PROMPTS are JSON lines with `text`, CONVENTIONS with `repo`, `path` and `text`. Each prompt is asked of the stores of
some repositories, which it says nothing of: what is told then is mostly noise, so the rate should be low. A sample
is printed for somebody to judge.
"""

import argparse
import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from invincat.extraction.conventions import rules_in
from invincat.recall.hit import Hit
from invincat.recall.index import Index
from invincat.recall.prompt import CANDIDATES, MAX_PROMPT, to_tell
from invincat.recall.query import Query
from tests.bench.recall_quality import _Lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Ask, count, print a sample."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.prompt_recall", description=__doc__)
    parser.add_argument("prompts", type=Path)
    parser.add_argument("conventions", type=Path)
    parser.add_argument("--stores", type=int, default=12, help="so many stores for each prompt")
    parser.add_argument("--sample", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    chance = random.Random(given.seed)
    prompts = [row["text"] for row in _rows(given.prompts)]
    rules: dict[str, dict[str, None]] = defaultdict(dict)
    for row in _rows(given.conventions):
        rules[row["repo"]].update(dict.fromkeys(rule.text for rule in rules_in(row["text"], row["path"])))
    stores = {repo: _Lines(list(found)) for repo, found in rules.items() if len(found) >= 5}
    told: list[tuple[str, str, Hit]] = []
    asked = injected = 0
    with tempfile.TemporaryDirectory(prefix="invincat-prompts-") as scratch:
        indexes = {repo: Index(Path(scratch, str(at)), "bench") for at, repo in enumerate(stores)}
        for prompt in prompts:
            for repo in chance.sample(sorted(stores), given.stores):
                text = prompt[:MAX_PROMPT]
                hits = indexes[repo].search(stores[repo], Query(text, limit=CANDIDATES)).hits
                found = to_tell(text, hits)
                asked += 1
                injected += bool(found)
                told += [(prompt, repo, hit) for hit in found]
    print(f"{len(prompts)} prompts, {len(stores)} stores: told something {injected} of {asked} times, {len(told)} hits")
    for prompt, repo, hit in chance.sample(told, min(given.sample, len(told))):
        print(f"\n> {' '.join(prompt.split())[:300]}\n  [{repo}] {hit.title}")


def _rows(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


if __name__ == "__main__":
    main()
