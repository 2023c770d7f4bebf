"""The memories that a person may have meant whose words are nobody's."""

import re
from collections.abc import Iterable
from typing import Final

from invincat.app import App

# How alike two words are that may be one, mistyped (rapidfuzz `ratio`, 0 to 100), and how many names are told.
_ALIKE: Final = 65
_MOST: Final = 3


def did_you_mean(app: App, text: str) -> str:
    """`; did you mean use-nox?`, or nothing. What has the very text in its title comes before what is spelt alike."""
    titles = {record.name: record.memory.title for ledger in app.existing() for record in app.view(ledger)}
    said = [name for name, title in titles.items() if text.strip() and text.casefold() in title.casefold()]
    near = sorted(said)[:_MOST] or nearest(text, titles)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def nearest(text: str, names: Iterable[str]) -> list[str]:
    """The names of which the most words are like words of a text, the best first."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - only who found nothing pays for it

    known: dict[str, list[str]] = {}
    for name in names:
        for word in name.split("-"):
            known.setdefault(word, []).append(name)
    scores: dict[str, float] = {}
    for word in re.findall(r"[^\W_]+", text.casefold()):
        best: dict[str, float] = {}
        for like, score, _ in process.extract(word, list(known), scorer=fuzz.ratio, score_cutoff=_ALIKE, limit=None):
            for name in known[like]:
                best[name] = max(score, best.get(name, 0))
        for name, score in best.items():
            scores[name] = scores.get(name, 0) + score
    return sorted(scores, key=lambda name: (-scores[name], name))[:_MOST]
