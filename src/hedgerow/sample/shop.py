"""The embedded sample of transactions: transactions of a village shop that does not exist."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hedgerow.schema import Schema

__all__ = ["transactions", "shop_schema"]

# What people come for, how often, and what they then take.
_ERRANDS = (
    (0.30, {"bread": 0.9, "butter": 0.6, "jam": 0.4, "milk": 0.5, "eggs": 0.3, "honey": 0.1}),
    (0.20, {"tea": 0.7, "biscuits": 0.6, "sugar": 0.4, "milk": 0.4, "coffee": 0.2, "cream": 0.2}),
    (0.20, {"potatoes": 0.7, "carrots": 0.5, "leeks": 0.4, "onions": 0.5, "fish": 0.3}),
    (0.12, {"apples": 0.7, "pears": 0.4, "plums": 0.3, "cheese": 0.3, "bread": 0.3}),
    (0.10, {"soap": 0.5, "candles": 0.5, "matches": 0.5, "stamps": 0.2}),
    (0.08, {"stamps": 0.9, "coffee": 0.3, "biscuits": 0.2}),
)


def shop_schema() -> Schema:
    """The schema of the transactions.

    Example:
        >>> shop_schema().items.size
        24
    """
    from hedgerow.schema import Schema

    with resources.as_file(resources.files("hedgerow.sample") / "data") as folder:
        return Schema.load(folder / "baskets.yaml")


def transactions(records: int = 20_000, seed: int = 1) -> list[list[str]]:
    """Makes up what people bought; some came for two things at once.

    Args:
        records: How many people.
        seed: The same seed gives the same transactions.

    Example:
        >>> transactions(2)[0]
        ['bread', 'butter', 'eggs', 'potatoes', 'leeks', 'onions']
    """
    import numpy as np

    draw = np.random.default_rng(seed)
    items = shop_schema().transaction_items
    wanted = np.zeros((len(_ERRANDS), items.size))
    for errand, (_, goods) in enumerate(_ERRANDS):
        wanted[errand, items.codes_of(goods)] = list(goods.values())
    often = np.array([share for share, _ in _ERRANDS])
    first, second = (draw.choice(len(often), records, p=often / often.sum()) for _ in range(2))
    taken = draw.random((records, items.size)) < wanted[first]
    again = draw.random(records) < 0.25
    taken |= again[:, None] & (draw.random((records, items.size)) < wanted[second])
    labels = np.array(items.labels)
    return [labels[row].tolist() for row in taken]
