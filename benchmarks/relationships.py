"""What synthetic rows and answers keep of a table: counts, tables by class, pairs. NOT PRIVATE.

    judge(train, rows, answers, schema, seed) -> {"error": ..., "class": ..., "pairs": ..., ...}

All methods are judged alike, by their rows and by the answers that they give to queries. Numbers
are cut into 32 equal cells with the lowest code apart: a public cut that is nobody's own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

import hedgerow as hr
from hedgerow.arrays import Floats, Ints
from hedgerow.data import Table, read
from hedgerow.evaluation import exact_counts, random_conjunctions
from hedgerow.schema import Categorical
from hedgerow.schema.query import Query
from papers.baselines.apart import equal_cells

__all__ = ["Answers", "cell_codes", "class_queries", "judge", "relative_errors"]

Answers = Callable[[Sequence[Query]], Any]

QUERIES, SANITY = 1000, 0.001
FEW = 12  # values of attributes whose pairs are looked at one by one


def judge(
    train: pa.Table | Table,
    rows: pa.Table | Table,
    answers: Answers | None,
    schema: hr.Schema,
    seed: int,
    counted: Collection[tuple[int, int]] = (),
) -> dict[str, float]:
    """What a release keeps of the table it was made from. NOT PRIVATE.

    Args:
        train: The raw rows that were published.
        rows: Synthetic rows.
        answers: Answers queries; None if they are to be counted in the rows.
        schema: The public schema.
        seed: Of the queries.
        counted: The pairs of attributes that the release counted, the earlier one first.

    Returns:
        - error: the median of |answer - truth| / max(truth, 0.1% of the rows) over 1,000 random
          conjunctions of 2 to 4 attributes;
        - class_error: the same over 1,000 queries with one class and a condition on one other
          attribute (500 of them: class_error_one) or on two;
        - class: the mean total variation distance between raw and synthetic rows over all tables
          of an attribute by the class;
        - pairs: the same over all pairs of attributes, the class among them;
        - never: the share of synthetic rows with two values, of attributes of at most 12 values,
          that no raw row has together;
        - correlation, correlation_most: how far correlations of two numbers are off, the mean and
          the largest; counted_correlation, counted_correlation_most: the same of pairs that the
          release counted.
    """
    train = train if isinstance(train, Table) else read(train, schema)
    rows = rows if isinstance(rows, Table) else read(rows, schema)
    queries = random_conjunctions(schema, QUERIES, (2, min(4, len(schema.attributes))), seed)
    worth = {"error": np.median(relative_errors(train, rows, answers, queries))}
    if schema.target is not None:
        one, two = (class_queries(schema, QUERIES // 2, n, seed) for n in (1, 2))
        off = relative_errors(train, rows, answers, one + two)
        worth |= {"class_error": np.median(off), "class_error_one": np.median(off[: len(one)])}
    if len(rows.codes):
        worth |= _of_rows(train, rows, schema, counted)
    return {name: float(value) for name, value in worth.items()}


def class_queries(schema: hr.Schema, number: int, others: int, seed: int) -> list[Query]:
    """Random conjunctions of one class with conditions on so many other attributes."""
    queries = random_conjunctions(schema, number, (others, others), seed + 500_000 * others)
    classes = np.random.default_rng([seed, others]).integers(len(schema.classes), size=number)
    return [replace(q, classes=(int(k),)) for q, k in zip(queries, classes, strict=True)]


def relative_errors(
    train: Table, rows: Table, answers: Answers | None, queries: Sequence[Query]
) -> Floats:
    """How far each answer is off, as a share of the truth or of 0.1% of the rows."""
    truth = exact_counts(train, queries)
    if answers is not None:
        told = np.asarray(answers(queries), np.float64)
    else:
        told = exact_counts(rows, queries) * (len(train.codes) / max(1, len(rows.codes)))
    return np.abs(told - truth) / np.maximum(truth, SANITY * len(train.codes))


def cell_codes(table: Table) -> list[tuple[Ints, int]]:
    """The cell of each record in each column, and how many cells there are; the class last."""
    columns = []
    for place, attribute in enumerate(table.schema.columns):
        cell = equal_cells(attribute)
        columns.append((cell[table.codes[:, place]], int(cell[-1]) + 1))
    return columns


def _of_rows(
    train: Table, rows: Table, schema: hr.Schema, counted: Collection[tuple[int, int]]
) -> dict[str, float]:
    """Distances between raw and synthetic rows."""
    raw, made = cell_codes(train), cell_codes(rows)
    few = {place for place, column in enumerate(schema.columns) if column.size <= FEW}
    last = len(raw) - 1 if schema.target is not None else -1
    distances, beside_class = [], []
    never = np.zeros(len(rows.codes), np.bool_)
    for i, j in combinations(range(len(raw)), 2):
        width, cells = raw[j][1], raw[i][1] * raw[j][1]
        both = [c[i][0] * width + c[j][0] for c in (raw, made)]
        truth, drawn = (np.bincount(cell, minlength=cells) for cell in both)
        distance = np.abs(truth / len(both[0]) - drawn / len(both[1])).sum() / 2
        distances.append(distance)
        if j == last:
            beside_class.append(distance)
        if {i, j} <= few:
            never |= truth[both[1]] == 0
    worth = {"pairs": np.mean(distances), "never": never.mean()}
    if beside_class:
        worth["class"] = np.mean(beside_class)
    off = _correlations_off(train, rows)
    for name, several in (
        ("correlation", list(off.values())),
        ("counted_correlation", [off[pair] for pair in off.keys() & {*counted}]),
    ):
        if several:
            worth |= {name: np.mean(several), f"{name}_most": np.max(several)}
    return {name: float(value) for name, value in worth.items()}


def _correlations_off(train: Table, rows: Table) -> dict[tuple[int, int], float]:
    """How far the correlation of each two numbers is off, of records that have both."""
    numbers = [
        (place, attribute.grid)
        for place, attribute in enumerate(train.schema.attributes)
        if not isinstance(attribute, Categorical)
    ]
    off = {}
    for (i, most_i), (j, most_j) in combinations(numbers, 2):
        each = []
        for table in (train, rows):
            first, second = (table.codes[:, place].astype(np.float64) for place in (i, j))
            known = (first < most_i) & (second < most_j)
            first, second = first[known], second[known]
            spread = first.std() * second.std() if known.any() else 0.0
            covariance = np.mean((first - first.mean()) * (second - second.mean())) if spread else 0
            each.append(covariance / spread if spread else 0.0)
        off[i, j] = abs(float(each[0] - each[1]))
    return off
