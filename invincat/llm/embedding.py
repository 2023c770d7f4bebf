"""Vectors as all embedders give them (`recall.embedder`)."""

import math
from array import array
from collections.abc import Sequence

from invincat.llm.client import BadAnswer


def unit(values: Sequence[float]) -> "array[float]":
    """The vector of length 1 in the direction of these values; BadAnswer when they have none."""
    length = math.hypot(*values)
    if not values or not length or not math.isfinite(length):
        raise BadAnswer("the endpoint answered with a vector that has no direction")
    return array("f", [value / length for value in values])
