"""Data simulated from a schema alone, for trying settings where no private data may be used.

One simple model for tables and transactions. People are of a few hidden kinds. Every kind has
habits of its own: a narrow part of each numeric scale, an order of preference among values or
items, a class. With probability `dependence` a value follows the habit of the person's kind, else
what is common to all: a hump somewhere on a numeric scale, values of which the k-th in some order
is as frequent as 1/k^2, items of which it is as frequent as 1/k. Real data differs: only what is in
the schema is taken from it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Floats
from hedgerow.data import Table, Transactions
from hedgerow.errors import UsageError
from hedgerow.estimate.synthesize import values_of
from hedgerow.schema import Attribute, Items, Numeric, Schema

KINDS = 6
_OTHER = 0.02  # how often a number is missing, where the schema has a place for that
_LENGTH = 5  # how many items a record has on average, before repeated ones are dropped


@dataclass(frozen=True)
class HiddenKinds:
    """A simulated population for a table.

    Args:
        schema: The public schema, of a table.
        shares: How frequent each kind of people is.
        columns: For each predictor, then the class, the chances of its codes in each kind.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99},
        ...     "ill": {"type": "boolean", "role": "class"}}})
        >>> people = HiddenKinds.of(schema, dependence=0.5, seed=1)
        >>> people.draw(4, seed=2).codes.shape
        (4, 2)
        >>> 50 < people.best_accuracy(people.draw(2000, seed=3)) < 100
        True
    """

    schema: Schema
    shares: Floats
    columns: tuple[Floats, ...]

    @staticmethod
    def of(schema: Schema, dependence: float, seed: int) -> HiddenKinds:
        """Makes up a population.

        Args:
            schema: The public schema.
            dependence: From 0 (all columns independent) to 1.
            seed: For the same population again.
        """
        check_dependence(dependence)
        random = np.random.default_rng(seed)
        columns = [
            (1 - dependence) * _common(attribute, random)[None, :]
            + dependence * np.stack([_habit(attribute, random) for _ in range(KINDS)])
            for attribute in schema.attributes
        ]
        if schema.target is not None:
            size = schema.target.size
            own = np.eye(size)[np.arange(KINDS) % size]  # kinds take turns, so that classes differ
            columns.append((1 - dependence) * _falling(size, 1)[None, :] + dependence * own)
        return HiddenKinds(schema, _falling(KINDS, 1), tuple(columns))

    def draw(self, rows: int, seed: int) -> Table:
        """Draws people.

        Args:
            rows: How many.
            seed: For the same people again.
        """
        random = np.random.default_rng(seed)
        kind = random.choice(len(self.shares), rows, p=self.shares)
        sizes = [column.shape[1] for column in self.columns]
        wide = max(sizes) > 1 << 16
        # the class comes last, and is 0 where there is none
        codes = np.zeros((rows, len(self.schema.attributes) + 1), np.uint32 if wide else np.uint16)
        for place, column in enumerate(self.columns):
            for one in range(len(self.shares)):
                mine = np.flatnonzero(kind == one)
                edges = np.cumsum(column[one])
                found = np.searchsorted(edges, random.random(len(mine)) * edges[-1], side="right")
                codes[mine, place] = np.minimum(found, sizes[place] - 1)
        return Table(self.schema, codes)

    def best_accuracy(self, table: Table) -> float:
        """How often, in percent, somebody who knows this whole model guesses the class right."""
        known = np.log(self.shares)[:, None] + np.zeros(table.codes.shape[0])
        with np.errstate(divide="ignore"):
            for place, column in enumerate(self.columns[:-1]):
                known += np.log(column)[:, table.codes[:, place]]
        weight = np.exp(known - known.max(axis=0))
        guess = (weight.T @ self.columns[-1]).argmax(axis=1)
        return float(100 * np.mean(guess == table.codes[:, -1]))


def simulated_transactions(
    schema: Schema, records: int, dependence: float, seed: int
) -> Transactions:
    """Makes up transactions, by the same model.

    A record has one item or more, five on average before repeated ones are dropped.

    Args:
        schema: The public schema, of transactions.
        records: How many.
        dependence: From 0 (items are independent) to 1.
        seed: For the same ones again.

    Example:
        >>> schema = Schema.from_dict({
        ...     "name": "shop", "unit": "row", "items": {"universe": ["milk", "tea"]}})
        >>> transactions = simulated_transactions(schema, 3, 0.5, seed=1)
        >>> len(transactions.start)
        4
    """
    check_dependence(dependence)
    items: Items = schema.transaction_items
    random = np.random.default_rng(seed)
    size = len(items.given)
    common = _falling(size, 1)[random.permutation(size)]
    habits = [_falling(size, 1.5)[random.permutation(size)] for _ in range(KINDS)]
    kind = random.choice(KINDS, records, p=_falling(KINDS, 1))
    length = random.geometric(1 / _LENGTH, records)
    length = np.minimum(length, min(size, items.max_items or size))
    owner = np.repeat(np.arange(records), length)
    code = random.choice(size, len(owner), p=common)
    follows = random.random(len(owner)) < dependence
    for one, habit in enumerate(habits):
        mine = np.flatnonzero(follows & (kind[owner] == one))
        code[mine] = random.choice(size, len(mine), p=habit)
    pairs = np.unique(owner * size + code)  # a set holds an item once
    owner, code = np.divmod(pairs, size)
    start = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=records))])
    return Transactions(schema, start.astype(np.int64), code.astype(np.int32))


def as_frame(table: Table) -> pa.Table:
    """Rows of a simulated or public table in the words of its schema."""
    schema, random = table.schema, np.random.default_rng(0)
    return pa.table(
        {
            attribute.name: values_of(attribute, table.codes[:, place].astype(np.int64), random)
            for place, attribute in enumerate(schema.columns)
        }
    )


def check_dependence(dependence: float) -> None:
    """Refuses what is no number from 0 to 1."""
    if not 0 <= dependence <= 1:
        raise UsageError(
            "dependence must be a number from 0 to 1.",
            hint="0 makes all columns independent; 0.5 is the usual.",
        )


def _falling(size: int, power: float) -> Floats:
    """Chances in the proportions 1, 1/2, 1/3 and so on, to a power."""
    weights = np.arange(1, size + 1, dtype=np.float64) ** -power
    found: Floats = weights / weights.sum()
    return found


def _common(attribute: Attribute, random: np.random.Generator) -> Floats:
    if isinstance(attribute, Numeric):
        return _hump(attribute, random.uniform(0.1, 0.9), 0.12)
    return _falling(attribute.size, 2)[random.permutation(attribute.size)]


def _habit(attribute: Attribute, random: np.random.Generator) -> Floats:
    if isinstance(attribute, Numeric):
        return _hump(attribute, random.uniform(0, 1), 0.05)
    return _falling(attribute.size, 3)[random.permutation(attribute.size)]


def _hump(attribute: Numeric, middle: float, width: float) -> Floats:
    place = (np.arange(attribute.grid) + 0.5) / attribute.grid
    weights = np.exp(-(((place - middle) / width) ** 2) / 2)
    weights /= weights.sum()
    if not attribute.has_other:
        return weights
    return np.append(weights * (1 - _OTHER), _OTHER)
