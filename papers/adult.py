"""How the papers on tables use UCI Adult: splits, folds, and what one run of a method gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.methods.api import publish
from hedgerow.release import TableRelease
from hedgerow.schema import Schema
from papers.classify import Model, baseline, lower_bound, on_output
from papers.clusters import cpu_seconds
from papers.figure import Inputs

__all__ = [
    "accuracy",
    "baseline_run",
    "blown_up",
    "fold",
    "lower_bound_run",
    "of_attributes",
    "original_split",
    "seconds",
    "split",
]

Pair = tuple[pa.Table, pa.Table]
Splitter = Callable[[pa.Table, int], Pair]


def split(share: float = 2 / 3) -> Splitter:
    """A random part to publish and the rest to test; the same number gives the same split."""

    def cut(rows: pa.Table, number: int) -> Pair:
        order = np.random.default_rng(number).permutation(len(rows))
        first = int(len(rows) * share + 1e-9)
        return rows.take(order[:first]), rows.take(order[first:])

    return cut


def fold(folds: int) -> Splitter:
    """One fold of cross-validation: numbers 0 to folds - 1 are the folds of the first shuffle."""

    def cut(rows: pa.Table, number: int) -> Pair:
        order = np.random.default_rng(number // folds).permutation(len(rows))
        part = np.array_split(order, folds)
        which = number % folds
        train = np.concatenate([p for place, p in enumerate(part) if place != which])
        return rows.take(train), rows.take(part[which])

    return cut


def original_split(rows: pa.Table, number: int) -> Pair:
    """The complete rows of adult.data to publish, those of adult.test to test."""
    return rows.slice(0, 30_162), rows.slice(30_162)


def of_attributes(
    rows: pa.Table, schema: Schema, names: tuple[str, ...]
) -> tuple[pa.Table, Schema]:
    """Some attributes alone, beside the class."""
    kept = tuple(a for a in schema.attributes if a.name in names)
    assert schema.target is not None
    columns = [*(a.name for a in kept), schema.target.name]
    return rows.select(columns), replace(schema, attributes=kept)


def accuracy(
    method: Any,
    epsilon: str,
    model: Model = "c45",
    splitter: Splitter | None = None,
    attributes: tuple[str, ...] = (),
    rows: int | None = None,
) -> Callable[[Inputs, int], float]:
    """A run that publishes a part and tests a model, trained on the output, on the rest.

    Args:
        method: A method, or a function from rows and schema to a release.
        epsilon: The budget.
        model: What is trained.
        splitter: How rows are split; two thirds and one third by default.
        attributes: These attributes alone, if any are named.
        rows: The first so many rows alone.
    """

    def run(inputs: Inputs, number: int) -> float:
        table, schema = _rows(inputs, attributes, rows)
        train, test = (splitter or split())(table, number)
        if callable(method):
            release = method(train, schema)
        else:
            release = publish(train, schema, method, epsilon, seed=number)
        return on_output(release.expect(TableRelease), test, model)

    return run


def baseline_run(
    model: Model = "c45",
    splitter: Splitter | None = None,
    attributes: tuple[str, ...] = (),
    rows: int | None = None,
) -> Callable[[Inputs, int], float]:
    """A run of the baseline accuracy BA; see `accuracy`."""

    def run(inputs: Inputs, number: int) -> float:
        table, schema = _rows(inputs, attributes, rows)
        return baseline(*(splitter or split())(table, number), schema, model)

    return run


def lower_bound_run(splitter: Splitter | None = None) -> Callable[[Inputs, int], float]:
    """A run of the lower-bound accuracy LA; see `accuracy`."""

    def run(inputs: Inputs, number: int) -> float:
        return lower_bound(*(splitter or split())(inputs.adult, number), inputs.schema)

    return run


def seconds(
    method: Any, epsilon: str, records: int | None = None, repeats: int = 1
) -> Callable[[Inputs, int], float]:
    """A run that measures the CPU seconds of publishing, from rows in memory to a table.

    Args:
        method: The method.
        epsilon: The budget.
        records: How many records; see `blown_up`.
        repeats: How often; the shortest run counts.
    """

    def run(inputs: Inputs, number: int) -> float:
        rows = inputs.adult
        if records is not None:
            rows = inputs.once(("blown up", records), lambda: blown_up(inputs.adult, records, 0))
        # once before it counts: what is compiled for tables of this size is compiled now
        inputs.once("warm", lambda: publish(rows, inputs.schema, method, epsilon, seed=0))

        def whole() -> Any:
            made = publish(rows, inputs.schema, method, epsilon, seed=number)
            return made.expect(TableRelease).generalized("arrow")

        return cpu_seconds(whole, repeats)[1]

    return run


def blown_up(rows: pa.Table, records: int, seed: int) -> pa.Table:
    """A larger table in the papers' way: for each record variations with some values redrawn.

    Every value of an added record is replaced, with probability 1/2, by that of another record.

    Args:
        rows: The original rows, which all stay.
        records: How many rows are wanted.
        seed: For the same rows again.
    """
    source = np.random.default_rng(seed)
    more = records - len(rows)
    if more <= 0:
        return rows.slice(0, records)
    start = source.integers(0, len(rows), more)
    columns = {}
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        other = source.integers(0, len(rows), more)
        place = np.where(source.random(more) < 0.5, other, start)
        columns[name] = pa.chunked_array([*column.chunks, *column.take(pa.array(place)).chunks])
    return pa.table(columns)


def _rows(inputs: Inputs, attributes: tuple[str, ...], rows: int | None) -> tuple[pa.Table, Schema]:
    table = inputs.adult if rows is None else inputs.adult.slice(0, rows)
    if not attributes:
        return table, inputs.schema
    return of_attributes(table, inputs.schema, attributes)
