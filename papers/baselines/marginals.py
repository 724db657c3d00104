"""Noisy marginals: every attribute counted by itself, or beside the class, and nothing else.

A record is counted once for each attribute, so with A attributes every count has the noise that
epsilon / A buys, or with a delta rho / A. Cells and denoising are those of our own one-way tables.
What is published is a product of distributions: attributes are taken to be independent, or
independent given the class. It is the simplest release that has every single attribute right, and
what a table's release must beat to be worth more tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Floats, Ints
from hedgerow.counting.engine import Histograms
from hedgerow.counting.memory import MemoryEngine
from hedgerow.counting.parts import Engine
from hedgerow.estimate.cells import round_to_total, values_of
from hedgerow.estimate.graphical import denoise
from hedgerow.estimate.tables import edges_of, own_codes
from hedgerow.methods.plan import Plan
from hedgerow.methods.publisher import Progress, no_progress
from hedgerow.privacy.budget import Budget, Number
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.ledger import Allowance
from hedgerow.privacy.sampler import Sampler, SecureSampler
from hedgerow.schema import Categorical, Schema
from hedgerow.schema.query import Query
from papers.baselines.base import ledger_of, plan_of
from papers.classify import as_table

__all__ = ["Marginals", "ProductModel"]


_ROOT = np.zeros(1, dtype=np.int64)
_LEAST = 1e-6  # records, so that no total is 0


@dataclass(frozen=True)
class Marginals:
    """Settings of noisy marginals.

    Args:
        by_class: Whether each attribute is counted beside the class.

    Example:
        >>> Marginals(by_class=False).name
        'marginals'
    """

    by_class: bool = True

    name: ClassVar[str] = "marginals"

    def publish(
        self,
        source: Any,
        schema: Schema,
        epsilon: Number,
        delta: Number = 0,
        seed: int | None = None,
    ) -> ProductModel:
        """Publishes the marginals of a table."""
        engine = MemoryEngine(as_table(source, schema))
        plan = self.plan_for(schema, Budget.of(epsilon, delta))
        return self.run(engine, schema, plan, SecureSampler(Keystream(seed)))

    def plan_for(self, schema: Schema, budget: Budget, rows: int | None = None) -> Plan:
        """All of the budget for one draw; see `Publisher.plan_for`."""
        paid: Literal["epsilon", "rho"] = "rho" if budget.delta else "epsilon"
        return plan_of(self.name, budget, [Allowance("marginal", paid, units=None, uses=1)])

    def run(
        self,
        engine: Engine,
        schema: Schema,
        plan: Plan,
        sampler: Sampler,
        progress: Progress = no_progress,
    ) -> ProductModel:
        """Spends all of the budget on one draw; see `Publisher.run`."""
        curator = Curator(ledger_of(plan), sampler)
        edges = [edges_of(attribute) for attribute in schema.attributes]
        whole = engine.domain.sizes[None, :]
        ((_, found),) = engine.histograms(
            _ROOT, np.zeros_like(whole), whole, np.ones(whole.shape, dtype=np.bool_)
        )
        classes = engine.domain.classes
        beside = classes if self.by_class else 1
        shapes = [(len(edge) - 1, beside) for edge in edges]
        if beside < classes:
            shapes.append((classes, 1))  # the class is one attribute more

        def flat(histograms: Histograms) -> Ints:
            tables = [_counts(histograms, a, edge) for a, edge in enumerate(edges)]
            if beside < classes:
                tables = [
                    *(table.sum(axis=1, keepdims=True) for table in tables),
                    tables[0].sum(axis=0)[:, None],
                ]
            return np.concatenate([table.ravel() for table in tables])[None, :]

        draw = curator.gaussian if plan.budget.delta else curator.laplace
        # every record is counted once in each table
        noisy, _ = draw("marginal", 0, _ROOT, found.map(flat), max_contribution=len(shapes))
        spent = float(sum(part.total for part in plan.budgets.parts)) / len(shapes)
        noise = (2 * spent) ** -0.5 if plan.budget.delta else 2**0.5 / spent
        ends = np.cumsum([rows * columns for rows, columns in shapes])[:-1]
        parts = np.split(noisy[0].astype(np.float64), ends)
        tables = [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
        alone = tables.pop()[:, 0] if beside < classes else None
        return ProductModel.fitted(schema, edges, tables, alone, noise)


@dataclass(frozen=True, kw_only=True)
class ProductModel:
    """Distributions of single attributes, within each class or for all.

    Args:
        schema: The public schema.
        edges: The parts of each attribute.
        shares: For each attribute, how many records lie in each part: [parts, classes].
        totals: The number of records of each class.
    """

    schema: Schema
    edges: tuple[Ints, ...]
    shares: tuple[Floats, ...]
    totals: Floats

    @staticmethod
    def fitted(
        schema: Schema,
        edges: Sequence[Ints],
        tables: Sequence[Floats],
        classes: Floats | None,
        noise: float,
    ) -> ProductModel:
        """Makes noisy tables agree: all sum to the same totals, and most of the noise is gone.

        The totals are the mean of those of the tables, each weighed by the inverse of its cells,
        since each cell has the same noise.

        Args:
            schema: The public schema.
            edges: The parts of each attribute.
            tables: The noisy counts of each attribute, [parts, classes or 1].
            classes: The noisy sizes of the classes, where attributes were counted without it.
            noise: The standard deviation of a cell's noise.
        """
        weight = np.asarray([1 / len(table) for table in tables])
        sums = np.stack([table.sum(axis=0) for table in tables])
        totals = np.maximum(np.average(sums, axis=0, weights=weight), _LEAST)
        if classes is not None:
            both = np.average([totals[0], classes.sum()], weights=[weight.sum(), 1 / len(classes)])
            totals = denoise(classes, max(float(both), _LEAST), noise, ordered=False)
        shares = []
        for attribute, edge, table in zip(schema.attributes, edges, tables, strict=True):
            ordered = not isinstance(attribute, Categorical)
            own = np.isin(edge[:-1], list(own_codes(attribute))) & (np.diff(edge) == 1)
            given = totals if table.shape[1] == len(totals) else totals.sum(keepdims=True)
            columns = [
                denoise(column, float(total), noise, ordered=ordered, own=own)
                for column, total in zip(table.T, given, strict=True)
            ]
            share = np.stack(columns, axis=1)
            # without the class: the same shares in every class
            shares.append(share if len(given) == len(totals) else share * (totals / given))
        return ProductModel(schema=schema, edges=tuple(edges), shares=tuple(shares), totals=totals)

    def synthesize(self, n: int | None = None, seed: int | None = None) -> pa.Table:
        """Rows whose attributes have the published shares and are shuffled within each class.

        Args:
            n: How many; without it, as many as the model counts.
            seed: For the same rows again.
        """
        random = np.random.default_rng(seed)
        total = float(self.totals.sum())
        rows = round(total) if n is None else n
        sizes = round_to_total(self.totals * (rows / max(1e-9, total)), rows)
        columns: dict[str, pa.Array] = {}
        order = random.permutation(rows)
        for attribute, edge, share in zip(
            self.schema.attributes, self.edges, self.shares, strict=True
        ):
            drawn = []
            for k, size in enumerate(sizes.tolist()):
                known = float(share[:, k].sum())
                even = np.full(len(share), size / len(share))
                column = share[:, k] * (size / known) if known > 0 else even
                part = np.repeat(np.arange(len(share)), round_to_total(column, size))
                drawn.append(random.permutation(part))
            part = np.concatenate(drawn)[order]
            width = np.diff(edge)[part]
            codes = edge[part] + (random.random(rows) * width).astype(np.int64)
            columns[attribute.name] = values_of(attribute, codes, random)
        if self.schema.target is not None:
            klass = np.repeat(np.arange(len(sizes)), sizes)[order]
            columns[self.schema.target.name] = values_of(self.schema.target, klass, random)
        return pa.table(columns)

    def count(self, queries: Sequence[Query]) -> Floats:
        """The expected number of records of each query, taking attributes to be independent."""
        found = np.empty(len(queries))
        for place, query in enumerate(queries):
            expected = self.totals.astype(np.float64).copy()
            for a, intervals in query.where:
                share = self.shares[a] / np.maximum(1e-9, self.shares[a].sum(axis=0))
                expected *= (_covered(self.edges[a], intervals)[:, None] * share).sum(axis=0)
            kept = list(query.classes) if query.classes is not None else slice(None)
            found[place] = expected[kept].sum()
        return found


def _counts(histograms: Histograms, a: int, edges: Ints) -> Ints:
    """The class counts of each part of an attribute."""
    codes = slice(histograms.start[a], histograms.start[a + 1])
    table = np.zeros((len(edges) - 1, histograms.counts.shape[1]), dtype=np.int64)
    place = np.searchsorted(edges, histograms.code[codes], side="right") - 1
    np.add.at(table, place, histograms.counts[codes])
    return table


def _covered(edges: Ints, intervals: Any) -> Floats:
    """The share of each part that lies inside the intervals."""
    lo, hi = edges[:-1], edges[1:]
    covered = np.zeros(len(lo))
    for low, high in intervals:
        covered += np.maximum(0.0, np.minimum(hi, high) - np.maximum(lo, low))
    return covered / (hi - lo)
