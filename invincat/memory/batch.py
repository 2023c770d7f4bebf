"""A batch as JSON, `{"operations": [...]}`, as people and models write it; nothing in it is guessed."""

import json
import re
from collections import Counter
from typing import Any

import msgspec


def read_batch(text: bytes | str) -> list[Any]:
    """The operations of a batch, still unchecked; ValueError says in words that follow a subject why it is none."""
    try:
        batch = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as fault:
        raise ValueError(f"is not JSON: {fault}") from None
    try:
        json.loads(text, object_pairs_hook=_refuse_twice, parse_int=str, parse_float=str)
    except RecursionError as fault:
        raise ValueError(f"is not JSON: {fault}") from None
    if not isinstance(batch, dict) or set(batch) != {"operations"} or not isinstance(batch["operations"], list):
        raise ValueError('is not one object {"operations": [...]}')
    return list(batch["operations"])


def _refuse_twice(pairs: list[tuple[str, Any]]) -> None:
    """Of two values under one key none is taken: decoders keep the last, and nobody meant that."""
    counts = Counter(key for key, _ in pairs)
    if twice := [key for key, count in counts.items() if count > 1]:
        key = repr(twice[0]) if re.fullmatch(r"[a-z_]{1,20}", twice[0]) else "a key"
        raise ValueError(f"has {key} twice in one object; give it once")
