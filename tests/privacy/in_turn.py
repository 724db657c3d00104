"""Grids of cases of which `make test` takes some and `make audit` takes all."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from random import Random
from typing import Any

import pytest

__all__ = ["in_turn"]


def in_turn(*lists: Iterable[Any], times: int = 1) -> list[Any]:
    """All combinations of values, for `parametrize`; all but a few of them are marked `long`.

    Among the few every value of each list has its turn at least `times` times; its company is
    drawn, the same each time.

    Example:
        >>> few = [case.values for case in in_turn("ab", "xyz") if not case.marks]
        >>> len(few), sorted({one for one, _ in few}), sorted(other for _, other in few)
        (3, ['a', 'b'], ['x', 'y', 'z'])
        >>> len(in_turn("ab", "xyz"))
        6
    """
    values = [list(each) for each in lists]
    places = [range(len(each)) for each in values]
    draw, turns = Random(1), max(map(len, places))
    taken: set[tuple[int, ...]] = set()
    for _ in range(times):
        orders = [draw.sample(each, len(each)) for each in places]
        taken |= {tuple(order[turn % len(order)] for order in orders) for turn in range(turns)}
    return [
        pytest.param(
            *(each[at] for each, at in zip(values, where, strict=True)),
            marks=[] if where in taken else [pytest.mark.long],
        )
        for where in itertools.product(*places)
    ]
