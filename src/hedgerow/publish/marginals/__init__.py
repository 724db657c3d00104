"""Measuring marginals: noisy tables of the whole data beside the regions.

Protected: as in the method that buys them. All of it is charged to everybody, before the tree grows
(the steps and the proof of each price are in docs/algorithms/marginals.md):

| step                                             | mechanism                | module    |
|--------------------------------------------------|--------------------------|-----------|
| how much is spent on what                        | a public rule            | `shares`  |
| one_way: every attribute, and the class          | noise on counts          | `one_way` |
| fine: large cells of numbers again               | noise on counts          | `one_way` |
| relate: a pair or nothing, k times over          | selection                | `pairs`   |
| two_way: the tables of these pairs               | noise on counts          | `pairs`   |
| extra: tables of further pairs, with rings       | noise on counts          | `pairs`   |
| pick: an attribute and a class, R times over     | selection                | `rounds`  |
| residual: by how much its cells are off          | noise on sums            | `rounds`  |
"""

from hedgerow.publish.marginals.one_way import part_counts
from hedgerow.publish.marginals.rounds import measure_rounds
from hedgerow.publish.marginals.shares import MarginalShares, share_marginals, share_tables
from hedgerow.publish.marginals.tables import measure_tables

__all__ = [
    "MarginalShares", "measure_rounds", "measure_tables", "part_counts", "share_marginals",
    "share_tables",
]  # fmt: skip
