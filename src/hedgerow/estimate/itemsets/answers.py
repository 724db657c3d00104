"""Answers to questions about itemsets: how many records hold all of these items?"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.errors import UsageError
from hedgerow.estimate.answers import Answers
from hedgerow.estimate.basis import MEASURED, MODELLED
from hedgerow.estimate.itemsets.model import ItemsetModel
from hedgerow.schema import Items

__all__ = ["answer_sets", "read_sets"]


def read_sets(itemsets: Any, items: Items) -> list[Ints]:
    """One itemset or many, in labels, as increasing arrays of codes.

    Args:
        itemsets: An itemset such as [1, 4] or a list of itemsets; an item's label or number by
            itself is a set of one. The empty itemset is in every record. The label of a group of
            the taxonomy stands for anything of the group.
        items: The universe.

    Raises:
        UsageError: If something is no itemset of the universe.

    Example:
        >>> clicks = Items(range(1, 18))
        >>> [one.tolist() for one in read_sets([4, 1, 4], clicks)]
        [[0, 3]]
        >>> [one.tolist() for one in read_sets([[1, "4"], []], clicks)]
        [[0, 3], []]
        >>> from hedgerow.schema.taxonomy import Taxonomy
        >>> shop = Items(Taxonomy.from_nested("goods", {"dairy": ["milk", "butter"], "tea": None}))
        >>> [one.tolist() for one in read_sets(["dairy", "tea"], shop)]
        [[2, 4]]
    """
    if _is_label(itemsets):
        itemsets = [itemsets]
    if isinstance(itemsets, (bytes, bytearray)) or not isinstance(itemsets, Iterable):
        raise _unreadable(itemsets)
    given = list(itemsets)
    if all(_is_label(label) for label in given):
        given = [given]
    return [_codes(one, items) for one in given]


def _is_label(thing: object) -> bool:
    whole = isinstance(thing, numbers.Integral) and not isinstance(thing, (bool, np.bool_))
    return isinstance(thing, str) or whole


def _codes(one: Any, items: Items) -> Ints:
    if _is_label(one):
        one = [one]
    if isinstance(one, (bytes, bytearray)) or not isinstance(one, Iterable):
        raise _unreadable(one)
    labels = list(one)
    for label in labels:
        if not _is_label(label):
            raise _unreadable(label)
    codes = np.unique(np.array([_code(str(label), items) for label in labels], np.int64))
    # who holds an item holds its group, so the group says nothing more
    inside = codes[codes < items.size]

    def held(code: int) -> bool:
        low, high = items.taxonomy.spans[code - items.size]
        return bool(((inside >= low) & (inside < high)).any())

    said = [code >= items.size and held(code) for code in codes.tolist()]
    return codes[~np.array(said, np.bool_)]


def _code(label: str, items: Items) -> int:
    """The code of an item, or that of a group (see `ItemsetModel`)."""
    group = items.group_of(label)
    return items.code_of(label) if group is None else items.size + group


def _unreadable(thing: object) -> UsageError:
    return UsageError(
        f"an itemset cannot be read from type {type(thing).__name__}",
        hint="Give a list of items, such as [1, 4] or ['milk', 'tea'], or a list of such lists.",
    )


def answer_sets(model: ItemsetModel, sets: Sequence[Ints], level: float) -> Answers:
    """Answers with intervals, in the order of the sets; estimates lie in their intervals."""
    low, high = model.bounds(sets, level)
    low = np.maximum(np.ceil(low - 1e-9), 0.0)
    high = np.maximum(np.floor(high + 1e-9), low)
    counted = model.estimates(sets)
    basis = np.array([MEASURED if model.counted(one) else MODELLED for one in sets], np.str_)
    estimate = np.clip(counted, low, high)
    nothing, below, above = np.zeros(len(sets)), estimate - low, high - estimate
    return Answers(
        estimate=estimate,
        low=low,
        high=high,
        noise=nothing,
        uniformity_low=below,
        uniformity_high=above,
        level=level,
        basis=basis,
    )
