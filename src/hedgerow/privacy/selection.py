"""What a selection chooses from: for each node, runs of neighbouring cuts with equal scores."""

from __future__ import annotations

from dataclasses import dataclass

from hedgerow.arrays import Ints

__all__ = ["Candidates", "Choices"]


@dataclass(frozen=True)
class Candidates:
    """Exact scores; travels sealed.

    The runs of node i are those from `start[i]` to `start[i + 1]`. A run stands for `count`
    candidates: the cuts `first`, `first + 1`, ... of an attribute's part (or one candidate,
    the children of a taxonomy node, with first = -1). Which runs there are depends on the data;
    which candidates there are, and their base weights, does not.

    Args:
        start: [nodes + 1].
        score: Integer scores, larger is better.
        weight: The public base weight of each candidate of the run.
        count: The number of candidates in the run.
        part: Which attribute (or, for DiffGen, which value of the cut) is specialised.
        first: The first cut of the run.
    """

    start: Ints
    score: Ints
    weight: Ints
    count: Ints
    part: Ints
    first: Ints


@dataclass(frozen=True)
class Choices:
    """What was chosen for each node: a part and a cut (-1: the children of a taxonomy node)."""

    part: Ints
    cut: Ints
