"""How often a prompt is told something, and what: `python -m tests.bench.prompt_recall PROMPTS RULES...`.

PROMPTS are JSON lines with `text` or `query`. RULES are JSON lines with `repo` and either `path` and `text`, a file to
import, or the lines that `recall_quality` reads. A prompt with a `repo` is asked of the store of that repository,
which should have something for it; what it says under `relevant` is right to tell. Any other is asked of some stores
that know nothing of it: what is told then is mostly noise, so the rate should be low. A sample is printed for somebody
to judge.
"""

import argparse
import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from invincat.extraction.conventions import rules_in
from invincat.recall.hit import Hit
from invincat.recall.index import Index
from invincat.recall.prompt import CANDIDATES, MAX_PROMPT, to_tell
from invincat.recall.query import Query
from tests.bench.recall_quality import Lines, lines_by_repo

LEAST_RULES: Final = 5


@dataclass(frozen=True)
class Asked:
    """A prompt, the store it was asked of, whether that is its own, the lines that are right to tell, what was told."""

    prompt: str
    store: str
    is_own: bool
    relevant: frozenset[str]
    told: tuple[tuple[Hit, str], ...]


def main(arguments: Sequence[str] | None = None) -> None:
    """Ask, count, print a sample."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.prompt_recall", description=__doc__)
    parser.add_argument("prompts", type=Path)
    parser.add_argument("rules", type=Path, nargs="+")
    parser.add_argument("--repo", help="whose prompts these are, where they do not say it")
    parser.add_argument("--stores", type=int, default=12, help="so many stores for a prompt that is nobody's")
    parser.add_argument("--show", type=int, default=50, help="so many of what was told")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    chance = random.Random(given.seed)
    prompts = [{"repo": given.repo, **row} for row in _rows([given.prompts])]
    asked = list(ask(prompts, stores(_rows(given.rules)), given.stores, chance))
    for is_own in (True, False):
        if some := [one for one in asked if one.is_own is is_own]:
            print(f"{'their own store' if is_own else 'stores of others'}: {_summary(some)}")
    told = [(one, hit, line) for one in asked for hit, line in one.told]
    for one, hit, line in chance.sample(told, min(given.show, len(told))):
        print(f"\n> {' '.join(one.prompt.split())[:MAX_PROMPT]}\n  [{one.store}] {hit.title}")
        if line != hit.title:
            print(f"  {line.splitlines()[0]}")


def stores(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """The rules of each repository that has some, each once."""
    files, lines = [], []
    for row in rows:
        (files if "text" in row else lines).append(row)
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for row in files:
        found[row["repo"]].update(dict.fromkeys(rule.text for rule in rules_in(row["text"], row["path"])))
    for repo, its in lines_by_repo(lines):
        found[repo].update(dict.fromkeys(its))
    return {repo: list(its) for repo, its in found.items() if len(its) >= LEAST_RULES}


def ask(
    prompts: Iterable[Mapping[str, Any]], rules: Mapping[str, list[str]], others: int, chance: random.Random
) -> Iterator[Asked]:
    """Each prompt of its own store, or of some others where it has none."""
    with tempfile.TemporaryDirectory(prefix="invincat-prompts-") as scratch:
        corpora = {repo: Lines(its) for repo, its in rules.items()}
        indexes = {repo: Index(Path(scratch, str(at)), "bench") for at, repo in enumerate(rules)}
        for row in prompts:
            prompt, own = row.get("text") or row["query"], row["repo"]
            relevant = frozenset(row.get("relevant", ()))
            if own is not None and own not in rules:
                continue
            for repo in [own] if own else chance.sample(sorted(rules), min(others, len(rules))):
                hits = indexes[repo].search(corpora[repo], Query(prompt[:MAX_PROMPT], limit=CANDIDATES)).hits
                told = tuple((hit, rules[repo][int(hit.path.split("/")[1])]) for hit in to_tell(prompt, hits))
                yield Asked(prompt, repo, repo == own, relevant, told)


def _summary(asked: Sequence[Asked]) -> str:
    injected = sum(bool(one.told) for one in asked)
    hits = sum(len(one.told) for one in asked)
    told = f"told something {injected} of {len(asked)} times ({100 * injected / len(asked):.1f} %), {hits} hits"
    known = [one.relevant.intersection(line for _, line in one.told) for one in asked if one.relevant]
    return f"{told}; something relevant {sum(map(bool, known))} of {len(known)} times" if known else told


def _rows(files: Iterable[Path]) -> list[dict[str, Any]]:
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines() if line]


if __name__ == "__main__":
    main()
