"""Buying the tables of x: single attributes, large cells again, pairs."""

from __future__ import annotations

import numpy as np

from hedgerow.counting.engine import Engine
from hedgerow.estimate.marginals.forest import fit_groups
from hedgerow.measured.marginals import Marginals, Pairs
from hedgerow.measured.measurements import Measurement
from hedgerow.privacy.curator import Curator
from hedgerow.publish.marginals.one_way import count_again, count_single
from hedgerow.publish.marginals.pairs import count_pairs
from hedgerow.publish.marginals.shares import MarginalShares
from hedgerow.schema import Schema

__all__ = ["measure_tables"]

_ROOT = np.zeros(1, dtype=np.int64)


def measure_tables(
    curator: Curator,
    engine: Engine,
    schema: Schema,
    share: MarginalShares,
    rows: Measurement,
    noisy_rows: int,
) -> list[Measurement]:
    """Buys all tables of x and that of the class, at the root.

    Args:
        curator: Who charges and draws.
        engine: The private data.
        schema: The public schema.
        share: What is spent on what.
        rows: The number of rows as it was measured.
        noisy_rows: The same as rules read it.
    """
    whole = engine.domain.sizes[None, :]
    every = np.zeros(whole.shape, dtype=np.bool_)
    every[:, : share.counted] = True
    ((_, seen),) = engine.histograms(_ROOT, np.zeros_like(whole), whole, every)
    found, single = count_single(curator, seen, schema, share.counted)
    bought = [found]
    if share.fine:
        again = count_again(curator, seen, schema, single, noisy_rows)
        bought += [] if again is None else [again]
    if share.pairs:
        known = Marginals.of(schema, [rows, *bought])
        assert known is not None
        masses = [np.rint(mass).astype(np.int64) for mass in fit_groups(known, [rows])]
        tables = count_pairs(curator, engine, Pairs.of(schema, single), masses, share)
        bought += [] if tables is None else [tables]
    return bought
