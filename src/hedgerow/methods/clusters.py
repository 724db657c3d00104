"""Publishing for clustering: labels from centroids that are public, or found privately and booked.

The DiffMulti paper clusters the raw records and takes each one's cluster as its class. One record
can then move every label, so nothing is protected. Here the centroids come first: they are public,
or they are found by a private k-means that has its own share of epsilon. A record's label is the
nearest released centroid. That rule looks at one record at a time, so it keeps neighbors
neighbors, and the table with its labels is published like any other.

Private k-means: the first round finds the mean of all records, for half of epsilon. In each of the
others every record goes to its nearest centroid, and for each cluster the number of records and the
sums of their features get discrete Laplace noise. Features lie between 0 and `SCALE`, and a record
has at most that much in all features of one attribute, and in the number of records; so with A
attributes one record moves the sums by at most (A + 1) SCALE in total. The rounds see all records,
so their charges add up. How many share the other half follows from the noisy number of records that
the first has released: so many that clusters of equal size stand out from noise.

Centroids and the release of the labeled table are two releases about the same people. Each tells
its own epsilon, and what one person loses is the sum: give both the same budget ledger.
`publish_clusters` (on the command line `hedgerow clusters`) makes both from one epsilon.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Floats, Ints
from hedgerow.counting.engine import Histograms, feature_sizes, label_codes, nearest
from hedgerow.counting.memory import MemoryEngine
from hedgerow.data import Database, Table, encode_rows, read, refuse_mixing
from hedgerow.data.open_input import open_source
from hedgerow.data.table import known_columns
from hedgerow.errors import DataWarning, UsageError
from hedgerow.methods.api import drawing, payment, publish
from hedgerow.methods.diffmulti import DiffMulti
from hedgerow.methods.plan import Plan, divide_budget
from hedgerow.methods.publisher import Publisher, check_count, refuse_unready, root_histograms
from hedgerow.privacy.budget import Budget, Number
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.ledger import Allowance, Ledger
from hedgerow.privacy.sampler import Sampler, SecureSampler
from hedgerow.release import Release
from hedgerow.release.files import check_target
from hedgerow.schema import Numeric, Schema
from hedgerow.store.frames import Frame
from hedgerow.suggestions import answer_mistakes, check_arguments, check_fields

CLUSTER = "cluster"
SCALE = 64
UNITS = 100_000
CLEAR = 15  # how many times the noise of its number of records a cluster should have
MOST_CLUSTERS, MOST_ROUNDS = 100, 1000
FAINT = (
    "There are too few people for so many clusters at this epsilon: noise may hide them, and"
    " labels be arbitrary. Look for fewer, or spend more epsilon or a larger share on centroids."
)
_ROOT = np.zeros(1, dtype=np.int64)


@dataclass(frozen=True, eq=False, kw_only=True)
class Centroids:
    """Points that records are assigned to.

    Args:
        schema: The public schema that the features follow.
        points: [clusters, features]: numeric attributes as shares of their domain, categorical
            ones as one share for each value.
        epsilon: What finding them cost one person, in a fraction; "0" if they are public.
        ledger: What was booked, if anything was.
        private: Whether they may leave: not if they were found with a seed.
        remark: What a reader should know of them.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 10}}})
        >>> Centroids(schema=schema, points=np.array([[0.2], [0.8]])).epsilon
        '0'
    """

    schema: Schema
    points: Floats
    epsilon: str = "0"
    ledger: dict[str, Any] = field(default_factory=dict)
    private: bool = True
    remark: str = ""

    def describe(self) -> list[dict[str, str]]:
        """For each centroid the mean of each number, and the most common of other values.

        Example:
            >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
            ...     "age": {"type": "numeric", "low": 0, "high": 10}}})
            >>> Centroids(schema=schema, points=np.array([[0.2], [0.8]])).describe()
            [{'age': '2'}, {'age': '8'}]
        """
        ends = np.cumsum(feature_sizes(self.schema))
        described = []
        for point in self.points:
            parts = np.split(point, ends[:-1])
            described.append({
                attribute.name: attribute.label(code, code + 1)
                for attribute, part in zip(self.schema.attributes, parts, strict=True)
                for code in [
                    round(float(part[0]) * (attribute.size - 1))
                    if isinstance(attribute, Numeric)
                    else int(part.argmax())
                ]
            })  # fmt: skip
        return described

    def __post_init__(self) -> None:
        """Refuses points that do not fit the schema."""
        check_fields(self)
        width = sum(feature_sizes(self.schema))
        if self.points.ndim != 2 or self.points.shape[1] != width or not len(self.points):
            raise UsageError(
                "the centroids do not fit the schema.",
                hint=f"Give at least one, each with {width} numbers: one for a numeric attribute, "
                "and one for each value of a categorical one.",
            )


@answer_mistakes
def find_centroids(
    data: Any,
    schema: Schema | Mapping[str, Any] | str | os.PathLike[str],
    clusters: int = 2,
    epsilon: Number = 1,
    *,
    rounds: int = 5,
    seed: int | None = None,
    ledger: str | Path | None = None,
    dataset: str | None = None,
    allow_empty: bool = False,
) -> Centroids:
    """Finds centroids by private k-means. The result may be published; it costs epsilon.

    What is published with the labels costs its own epsilon on top of that: book both in the same
    ledger, under the same data set.

    Args:
        data: What `hedgerow.publish` takes.
        schema: The public schema; its class plays no part.
        clusters: How many.
        epsilon: What finding them may cost one person.
        rounds: How often sums are asked for at most: once for all records, then by cluster, less
            often where noise would drown them.
        seed: For tests alone: makes the run repeatable and the result NOT private.
        ledger: The file that adds up what all releases of a data set cost (see `BudgetLedger`).
        dataset: The data set's name in the ledger; without it, the schema's.
        allow_empty: Whether an input without any record is in order.

    Raises:
        BudgetError: If the ledger has less left for the data set than this would cost.
        SchemaError: If the schema is still a draft, or does not state its unit.

    Example:
        >>> from hedgerow import sample
        >>> len(find_centroids(sample.people(2000), sample.schema(), clusters=3, epsilon=1).points)
        3
    """
    check_arguments(find_centroids, locals())
    schema = Schema.of(schema)
    check_count("rounds", rounds, MOST_ROUNDS, by_rule=False)
    refuse_unready(schema)
    refuse_mixing(data)
    cap = schema.person.max_rows if schema.person else 1
    budget = Budget.of(epsilon, 0, cap)
    cluster_schema(schema, clusters)  # refused before anything is booked
    _plan(schema, budget, rounds).check_rates()
    pay = payment(ledger, dataset, schema, "centroids", budget, seed)
    table = read(data, schema, allow_empty=allow_empty)
    with drawing(pay, seed) as (stream, _):
        found = run(table, clusters, rounds, budget, SecureSampler(stream))
    if found.remark:  # by a noisy number of records
        warnings.warn(found.remark, DataWarning, stacklevel=2)
    return replace(found, private=stream.secure)


@answer_mistakes
def publish_clusters(
    data: str | os.PathLike[str] | Database | Frame,
    schema: Schema | Mapping[str, Any] | str | os.PathLike[str],
    clusters: int = 2,
    epsilon: Number = 1,
    *,
    share: int = 10,
    method: Publisher | None = None,
    seed: int | None = None,
    ledger: str | Path | None = None,
    dataset: str | None = None,
    progress: Callable[[float], None] | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    allow_empty: bool = False,
) -> tuple[Centroids, Release]:
    """Finds centroids, and publishes the table with each record's nearest one as its class.

    Args:
        data: What `hedgerow.publish` takes; it is held in memory.
        schema: The public schema, its file or a dictionary; its class is replaced by the clusters.
        clusters: How many.
        epsilon: What both may cost one person together; the release states its own part alone.
        share: How many percent of it the centroids get.
        method: What publishes the table: DiffMulti by default. Settings and budgets that it would
            refuse are refused before centroids are found.
        seed: For tests alone: makes the run repeatable and the result NOT private.
        ledger: The file that adds up what all releases of a data set cost: it gets two entries.
        dataset: The data set's name in the ledger; without it, the schema's.
        progress: Called now and then with the share of the publishing that is done.
        out: The folder to save the release to.
        overwrite: Whether a release that is there may be replaced.
        allow_empty: Whether an input without any record is in order.

    Raises:
        BudgetError: If the ledger has less left than both cost, before anything is booked.

    Example:
        >>> from hedgerow import sample
        >>> centroids, release = publish_clusters(sample.people(2000), sample.schema(), epsilon=4)
        >>> centroids.epsilon, release.guarantee["epsilon"]
        ('2/5', '18/5')
    """
    check_arguments(publish_clusters, locals())
    schema = Schema.of(schema)
    check_count("share", share, 99, by_rule=False)
    if out is not None:
        check_target(Path(out), overwrite)
    refuse_unready(schema)
    cap = schema.person.max_rows if schema.person else 1
    whole = Budget.of(epsilon, 0, cap)
    payment(ledger, dataset, schema, "centroids", whole, seed)  # refused before anything is booked
    first = Budget.of(whole.epsilon * share / 100, 0, cap).epsilon
    method = method or DiffMulti()
    method.plan(cluster_schema(schema, clusters), whole.epsilon - first)
    rows = _in_memory(data, schema)
    looked = data if isinstance(data, (str, os.PathLike, Database)) else rows
    centroids = find_centroids(
        looked, schema, clusters, first, seed=seed, ledger=ledger, dataset=dataset,
        allow_empty=allow_empty,
    )  # fmt: skip
    rows, labeled_schema = label_rows(rows, centroids, for_tests=seed is not None)
    release = publish(
        rows, labeled_schema, method, whole.epsilon - first, seed=seed,
        ledger=ledger, dataset=dataset, progress=progress, out=out,
        overwrite=overwrite, allow_empty=allow_empty,
    )  # fmt: skip
    return centroids, release


def _in_memory(source: Any, schema: Schema) -> pa.Table:
    """The raw rows of whatever `publish` takes."""
    opened = open_source(source, known=known_columns(schema), written=schema.file)
    columns = range(len(opened.names))
    batches = [pa.table(dict(zip(opened.names, batch.columns, strict=True)))
               for batch in opened.batches(columns)]  # fmt: skip
    if not batches:
        return pa.table({name: pa.array([], pa.string()) for name in opened.names})
    return pa.concat_tables(batches, promote_options="permissive")


def run(table: Table, clusters: int, rounds: int, budget: Budget, sampler: Sampler) -> Centroids:
    """The same on a table in memory; audits call this with a sampler of their own."""
    schema = table.schema
    plan = _plan(schema, budget, rounds)
    ledger = Ledger(plan.budgets.parts)
    ledger.allow(plan.allowances)
    curator = Curator(ledger, sampler)
    with_label = cluster_schema(schema, clusters)
    max_contribution = plan.allowances[0].reach
    points = np.zeros((1, sum(feature_sizes(schema))))  # the first round finds the mean of all
    shares, remark = [UNITS] if rounds == 1 else [UNITS // 2], ""
    for step, share in enumerate(shares):  # which the first round adds to
        if step == 1:
            points = _first(schema, clusters, points[0])
        engine = MemoryEngine(label_codes(table, with_label, points))
        exact = root_histograms(engine).map(_sums(schema, len(points), clusters))
        noisy, units = curator.laplace(
            "centroid", step, _ROOT, exact, np.array([share]), max_contribution=max_contribution
        )
        sums = noisy.reshape(len(points), -1).astype(np.float64)
        rate = float(curator.noise_rate("centroid", int(units[0]), max_contribution))
        # a cluster that noise alone could have filled stays where it was
        held = sums[:, 0] >= 5 / rate
        means = np.clip(sums[:, 1:] / np.maximum(sums[:, :1], 1), 0, 1)
        points = np.where(held[:, None], means, points)
        if step == 0 and rounds > 1:
            stand_out = sums[0, 0] * rate / clusters  # the others have as much together
            more = min(max(1, int(stand_out / CLEAR)), rounds - 1)
            shares += [int(part) for part in np.diff(np.arange(more + 1) * share // more)]
            if stand_out < CLEAR:
                remark = FAINT
    return Centroids(
        schema=schema,
        points=points,
        epsilon=str(Fraction(budget.epsilon)),
        ledger=ledger.book(_ROOT, 1),
        remark=remark,
    )


def _plan(schema: Schema, budget: Budget, rounds: int) -> Plan:
    """What each round may spend, and how far one record moves its sums."""
    charge = Allowance(
        "centroid", "epsilon", units=None, uses=rounds, least=UNITS // 2 // max(1, rounds - 1),
        reach=(len(schema.attributes) + 1) * SCALE,
    )  # fmt: skip
    return Plan(
        method="centroids", schedule="tuned", budget=budget, grows=False, allowances=(charge,),
        budgets=divide_budget(budget, UNITS, 0),
    )  # fmt: skip


def cluster_schema(schema: Schema, clusters: int) -> Schema:
    """The schema with the cluster as its class, in place of whatever class it had.

    Nobody has signed this schema off, whoever signed the other one.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 10}}})
        >>> cluster_schema(schema, 2).classes
        ('1', '2')
    """
    if any(attribute.name == CLUSTER for attribute in schema.attributes):
        raise UsageError(
            f"the schema has an attribute {CLUSTER!r} already.", hint="Call it something else."
        )
    check_count("clusters", clusters, MOST_CLUSTERS, by_rule=False)
    labels = [str(number + 1) for number in range(clusters)]
    described = {"type": "categorical", "values": labels, "role": "class"}
    only = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        "x": {"type": "boolean"}, CLUSTER: described}})  # fmt: skip
    return replace(schema, target=only.target, metadata=schema.metadata.unsigned)


def label_rows(
    rows: pa.Table, centroids: Centroids, *, for_tests: bool = False
) -> tuple[pa.Table, Schema]:
    """Rows with the number of their nearest centroid as the class, and the schema for them.

    What becomes of a row depends on that row and on the centroids alone. Rows that the schema
    refuses or drops are left for `hedgerow.publish` to refuse or drop.

    Args:
        rows: The raw rows.
        centroids: Public or private ones.
        for_tests: Takes centroids of a seeded run too. A release of rows that were labeled by
            them is NOT private, though it cannot know.

    Raises:
        UsageError: If the centroids were found with a seed, and this is not for tests.

    Example:
        >>> from hedgerow import sample
        >>> people = sample.people(2000)
        >>> rows, schema = label_rows(people, find_centroids(people, sample.schema(), epsilon=1))
        >>> rows.num_rows, schema.classes
        (2000, ('1', '2'))
    """
    if not (centroids.private or for_tests):
        raise UsageError(
            "the centroids were found with a seed, so no private release can be made with them.",
            hint="Find them without a seed. In a test, say for_tests=True.",
        )
    schema = centroids.schema
    codes, _ = encode_rows(rows, schema, lenient=True)
    labels = nearest(codes, schema, centroids.points) + 1
    if schema.target is not None:
        rows = rows.drop_columns([schema.target.column or schema.target.name])
    column = pa.array(labels).cast(pa.string())
    return rows.append_column(CLUSTER, column), cluster_schema(schema, len(centroids.points))


def _first(schema: Schema, clusters: int, mean: Floats) -> Floats:
    """Points to begin with, from the noisy mean of all records.

    The first is the mean; each of the others is the mean with one categorical value given, those
    first that tell the most records apart. Where there are too few values, they lie along the
    diagonal of the domain.
    """
    sizes = feature_sizes(schema)
    ends = np.cumsum(sizes)
    spread = mean * (1 - mean)
    diagonal = (2 * np.arange(clusters) + 1) / (2 * clusters)
    points = np.tile(mean, (clusters, 1))
    numeric = [isinstance(attribute, Numeric) for attribute in schema.attributes]
    spread[np.repeat(numeric, sizes)] = -1
    best = np.argsort(-spread, kind="stable")
    for number in range(1, clusters):
        if number - 1 < len(best) and spread[best[number - 1]] >= 0:
            value = int(best[number - 1])
            a = int(np.searchsorted(ends, value, side="right"))
            points[number, ends[a] - sizes[a] : ends[a]] = 0
            points[number, value] = 1
        else:
            points[number] = diagonal[number]
    return points


def _sums(schema: Schema, points: int, clusters: int) -> Callable[[Histograms], Ints]:
    """For each point its records and the sums of their features, all times `SCALE`."""

    def compute(histograms: Histograms) -> Ints:
        columns = []
        for a, attribute in enumerate(schema.attributes):
            part = slice(histograms.start[a], histograms.start[a + 1])
            code = histograms.code[part].astype(np.int64)
            counts = histograms.counts[part].astype(np.int64)
            if a == 0:
                columns.append(counts.sum(axis=0)[:, None] * SCALE)
            if isinstance(attribute, Numeric):
                last = max(1, attribute.size - 1)
                level = (2 * code * SCALE + last) // (2 * last)  # to the nearest of SCALE + 1
                columns.append((level[:, None] * counts).sum(axis=0)[:, None])
            else:
                dense = np.zeros((attribute.size, clusters), dtype=np.int64)
                dense[code] = counts * SCALE
                columns.append(dense.T)
        return np.concatenate(columns, axis=1)[:points].reshape(1, -1)

    return compute
