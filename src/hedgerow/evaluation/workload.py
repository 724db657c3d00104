"""Workloads of random range counts, and how far a release is off on them. NOT PRIVATE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hedgerow.arrays import Floats
from hedgerow.data import Table
from hedgerow.errors import UsageError
from hedgerow.release import Release
from hedgerow.schema import Categorical, Schema
from hedgerow.schema.query import Intervals, Query
from hedgerow.suggestions import answer_mistakes

NOT_PRIVATE = "NOT PRIVATE: compared with the raw table; for the holder of the data alone."


@answer_mistakes
def random_queries(
    schema: Schema,
    number: int,
    attributes: int = 2,
    selectivity: float = 0.1,
    seed: int | None = None,
    *,
    with_class: bool = False,
) -> list[Query]:
    """Random conjunctions, as the field measures range counts with.

    Each query constrains as many predictors, chosen at random. A numeric one gets an interval at
    a random place, a categorical one a random node of its taxonomy below the root; intervals are
    as long as it takes for all conditions together to cover about `selectivity` of the domain.

    Args:
        schema: The public schema.
        number: How many queries.
        attributes: How many predictors each of them constrains.
        selectivity: The share of the domain that a query covers, about.
        seed: For the same queries again.
        with_class: Whether each query also asks for one class.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99, "step": 1}}})
        >>> random_queries(schema, 1, attributes=1, selectivity=0.2, seed=4)[0].where
        ((0, ((58.0, 78.0),)),)
    """
    schema = Schema.of(schema)
    if not 1 <= attributes <= len(schema.attributes):
        raise UsageError(
            f"a query cannot constrain {attributes} predictors of this schema",
            hint=f"Ask for 1 to {len(schema.attributes)}.",
        )
    if not 0 < selectivity <= 1:
        raise UsageError("selectivity must be above 0 and at most 1")
    source = np.random.default_rng(seed)
    share = selectivity ** (1 / attributes)
    queries = []
    for _ in range(number):
        chosen = np.sort(source.choice(len(schema.attributes), attributes, replace=False))
        where = tuple((int(a), _condition(schema, int(a), share, source)) for a in chosen)
        classes = None
        if with_class and schema.classes:
            classes = (int(source.integers(len(schema.classes))),)
        queries.append(Query(where, classes))
    return queries


def random_conjunctions(
    schema: Schema, number: int, attributes: tuple[int, int] = (2, 4), seed: int | None = None
) -> list[Query]:
    """Random conjunctions that do not follow taxonomies.

    Each query constrains a random number of predictors. A numeric one gets an interval between two
    random edges, a categorical one a random set of values, each in it with probability 1/2.

    Args:
        schema: The public schema.
        number: How many queries.
        attributes: The least and the most predictors that a query constrains.
        seed: For the same queries again.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99, "step": 1},
        ...     "home": {"type": "categorical", "values": ["flat", "house", "boat"]}}})
        >>> random_conjunctions(schema, 1, (2, 2), seed=1)[0].where
        ((0, ((75.0, 95.0),)), (1, ((1.0, 3.0),)))
    """
    least, most = attributes
    if not 1 <= least <= most <= len(schema.attributes):
        raise UsageError(
            f"a query cannot constrain {least} to {most} predictors of this schema",
            hint=f"Ask for 1 to {len(schema.attributes)}.",
        )
    source = np.random.default_rng(seed)
    queries = []
    for _ in range(number):
        many = int(source.integers(least, most + 1))
        chosen = np.sort(source.choice(len(schema.attributes), many, replace=False))
        where = []
        for a in chosen.tolist():
            attribute = schema.attributes[a]
            if isinstance(attribute, Categorical):
                inside = source.random(attribute.size) < 0.5
                inside[source.integers(attribute.size)] |= not inside.any()
                ends = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]])))
                intervals = tuple((float(x), float(y)) for x, y in ends.reshape(-1, 2))
            else:
                low, high = np.sort(source.choice(attribute.size + 1, 2, replace=False))
                intervals = ((float(low), float(high)),)
            where.append((a, intervals))
        queries.append(Query(tuple(where)))
    return queries


def _condition(schema: Schema, a: int, share: float, source: np.random.Generator) -> Intervals:
    attribute = schema.attributes[a]
    if isinstance(attribute, Categorical) and len(attribute.taxonomy.labels) > 1:
        low, high = attribute.taxonomy.spans[
            1 + source.integers(len(attribute.taxonomy.labels) - 1)
        ]
        return ((float(low), float(high)),)
    length = min(attribute.size, max(1, round(share * attribute.size)))
    low = int(source.integers(attribute.size - length + 1))
    return ((float(low), float(low + length)),)


def exact_counts(table: Table, queries: Sequence[Query]) -> Floats:
    """The true counts. NOT PRIVATE.

    Example:
        >>> from hedgerow import data, sample
        >>> people, schema = sample.people(50), sample.schema()
        >>> exact_counts(data.read(people, schema), [Query.parse("everybody", schema)]).tolist()
        [50.0]
    """
    sizes = [attribute.size for attribute in table.schema.attributes]
    asked = {a for query in queries for a, _ in query.where}
    columns = {a: np.ascontiguousarray(table.codes[:, a]) for a in asked}
    every = {a: np.bincount(columns[a].astype(np.intp), minlength=sizes[a]) for a in asked}
    counts = np.empty(len(queries))
    for number, query in enumerate(queries):
        chosen = None
        for a, intervals in query.where:
            code = np.arange(sizes[a])
            allowed = np.zeros(sizes[a], dtype=np.bool_)
            for low, high in intervals:
                allowed |= (code >= low) & (code + 1 <= high)
            if len(query.where) == 1 and query.classes is None:
                counts[number] = every[a][allowed].sum()
                break
            inside = allowed[columns[a]]
            chosen = inside if chosen is None else chosen & inside
        else:
            if query.classes is not None:
                inside = np.isin(table.codes[:, -1], query.classes)
                chosen = inside if chosen is None else chosen & inside
            records = table.codes.shape[0]
            counts[number] = records if chosen is None else np.count_nonzero(chosen)
    return counts


@dataclass(frozen=True, kw_only=True)
class ErrorTable:
    """Errors by the number of constrained predictors. NOT PRIVATE.

    Args:
        attributes: The number of constrained predictors of each line.
        queries: How many queries each line is about.
        absolute: The mean absolute error.
        relative: The mean of `|estimate - truth| / max(truth, sanity bound)`.
        median: The median of the same.
        covered: The share of queries whose interval holds the truth.
        sanity: The sanity bound, in records.

    Example:
        >>> print(ErrorTable(attributes=(2,), queries=(200,), absolute=(15.1,), relative=(0.184,),
        ...     median=(0.016,), covered=(0.99,), sanity=2.0).text())
        NOT PRIVATE...
        attributes  queries  mean error  relative   median  covered
                 2      200        15.1     0.184    0.016    99.0%
    """

    attributes: tuple[int, ...]
    queries: tuple[int, ...]
    absolute: tuple[float, ...]
    relative: tuple[float, ...]
    median: tuple[float, ...]
    covered: tuple[float, ...]
    sanity: float

    def text(self) -> str:
        """The table in plain text, marked."""
        head = f"{'attributes':>10} {'queries':>8} {'mean error':>11} {'relative':>9} {'median':>8}"
        lines = [NOT_PRIVATE, head + f" {'covered':>8}"]
        columns = (
            self.attributes, self.queries, self.absolute, self.relative, self.median, self.covered,
        )  # fmt: skip
        for a, q, absolute, relative, median, covered in zip(*columns, strict=True):
            lines.append(
                f"{a:>10} {q:>8} {absolute:>11.1f} {relative:>9.3f} {median:>8.3f} {covered:>8.1%}"
            )
        return "\n".join(lines)


@answer_mistakes
def error_table(
    table: Table, release: Release, queries: Sequence[Query], *, sanity: float = 0.001
) -> ErrorTable:
    """Compares a release's answers with the raw table. NOT PRIVATE.

    Args:
        table: The raw table.
        release: The release.
        queries: What to ask both.
        sanity: The sanity bound of relative errors, as a share of the records.

    Example:
        >>> from hedgerow import data, publish, sample
        >>> people, schema = sample.people(200), sample.schema()
        >>> release = publish(people, schema, "diffgen", epsilon=1)
        >>> queries = random_queries(schema, 10, attributes=2, seed=1)
        >>> error_table(data.read(people, schema), release, queries).queries
        (10,)
    """
    if not isinstance(table, Table):
        raise UsageError(
            f"table cannot be of type {type(table).__name__}.",
            hint="Write hedgerow.data.read(data, schema), after `from hedgerow import data`.",
        )
    truth = exact_counts(table, queries)
    answers = release.count(list(queries))
    bound = max(1.0, sanity * table.codes.shape[0])
    off = np.abs(answers.estimate - truth)
    relative = off / np.maximum(truth, bound)
    held = (answers.low <= truth) & (truth <= answers.high)
    number = np.asarray([len(query.where) for query in queries])
    groups = [number == k for k in np.unique(number)]
    return ErrorTable(
        attributes=tuple(int(k) for k in np.unique(number)),
        queries=tuple(int(group.sum()) for group in groups),
        absolute=tuple(float(off[group].mean()) for group in groups),
        relative=tuple(float(relative[group].mean()) for group in groups),
        median=tuple(float(np.median(relative[group])) for group in groups),
        covered=tuple(float(held[group].mean()) for group in groups),
        sanity=bound,
    )
