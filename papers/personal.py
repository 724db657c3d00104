"""How the personalised paper uses its data, on UCI Adult: records, a side table, their worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hedgerow.arrays import Floats, Ints, Small
from hedgerow.data import Table, read
from hedgerow.estimate.cells import rows_of
from hedgerow.optimize.exact import search
from hedgerow.optimize.model import Aim, Forest, Problem, Record, Side, Worth
from hedgerow.schema import Attribute, Categorical, Schema
from papers.figure import Inputs

__all__ = [
    "FLOOR",
    "Setting",
    "depth_of",
    "depth_of_rows",
    "setting_of",
    "side_frame",
    "table_of",
]

# in the order in which they are added: what anonymisation usually looks at first
ORDER = (
    "age", "sex", "race", "marital-status", "education", "workclass", "occupation",
    "relationship", "hours-per-week", "native-country",
)  # fmt: skip
ROWS, SIDE_ROWS = 400_000, 30_000
SOLVED = 300  # records whose generalizations are looked for, in one run
FLOOR = 0.1


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Records of some attributes, a side table, and the paper's utility and sensitivity."""

    attributes: tuple[Attribute, ...]
    codes: Ints
    side_codes: Ints
    problem: Problem

    @property
    def leaves(self) -> Small:
        """The leaf nodes of the records."""
        return self.problem.forest.leaves(self.codes)

    def solved(self, aim: Aim, way: Callable[..., Any] = search) -> tuple[Floats, Floats]:
        """Utility and risk of every record under an aim."""
        ones = np.ones(self.codes.shape)
        found = way(self.problem._replace(aim=aim), self.leaves, ones)
        # whom nobody is like stands out by all of their sensitivity
        return found.utility, found.sensitivity / np.maximum(found.count, 1)

    def records(self, number: int) -> list[Record]:
        """The first so many records, ready to be solved one by one."""
        ones = np.ones(len(self.attributes))
        return [Record.of(self.problem, leaves, ones) for leaves in self.leaves[:number]]


def setting_of(
    inputs: Inputs, number: int, seed: int, records: int | None = None, people: int = 1
) -> Setting:
    """Records and a side table of the first so many attributes, drawn at random.

    Args:
        inputs: The data.
        number: How many attributes.
        seed: For the same ones again.
        records: How many records; `SOLVED` by default.
        people: How many people make one record, side by side, where more attributes are asked for
            than there are.
    """
    raw, places = _adult(inputs, number)
    random = np.random.default_rng(seed)
    codes = raw.codes[:, places].astype(np.int64)
    attributes = (people * tuple(raw.schema.attributes[place] for place in places))[:number]

    def draw(rows: int) -> Ints:
        beside = [codes[random.integers(0, len(codes), rows)] for _ in range(people)]
        return np.concatenate(beside, axis=1)[:, :number]

    drawn, side = draw(records or SOLVED), draw(SIDE_ROWS)
    forest = Forest.of(attributes)
    worth = Worth.of(forest, attributes, "depth", "harmonic", None, FLOOR)
    drawn = drawn[np.lexsort(drawn.T[::-1])]
    return Setting(
        attributes=attributes,
        codes=drawn,
        side_codes=side,
        problem=Problem(forest, Side.of(forest, side), worth),
    )


def _adult(inputs: Inputs, number: int) -> tuple[Table, list[int]]:
    """The raw table, and where its first so many attributes are."""
    raw: Table = inputs.once("codes", lambda: read(inputs.adult, inputs.schema))
    names = [attribute.name for attribute in raw.schema.attributes]
    order = [name for name in ORDER if name in names]
    order += [name for name in names if name not in order]
    return raw, [names.index(name) for name in order[:number]]


def table_of(inputs: Inputs, number: int, seed: int) -> tuple[Table, Schema]:
    """Records in number as the paper has them, as a table to publish."""
    raw, places = _adult(inputs, number)
    schema = replace(
        raw.schema, attributes=tuple(raw.schema.attributes[place] for place in places), target=None
    )
    random = np.random.default_rng(seed + 1)
    codes = np.zeros((ROWS, len(places) + 1), raw.codes.dtype)
    codes[:, :-1] = raw.codes[:, places][random.integers(0, raw.codes.shape[0], ROWS)]
    return Table(schema, codes), schema


def depth_of(attribute: Attribute, lo: Ints, hi: Ints) -> Floats:
    """Steps below the root; an interval that no halving gives has the steps of its length."""
    if not isinstance(attribute, Categorical):
        return np.log2(attribute.size / (hi - lo))
    tree = attribute.taxonomy
    depth = [0] * len(tree.labels)
    for node, parent in enumerate(tree.parents):
        depth[node] = 0 if parent < 0 else depth[parent] + 1
    return np.asarray(
        [depth[tree.node(a, b)] for a, b in zip(lo.tolist(), hi.tolist(), strict=True)], np.float64
    )


def depth_of_rows(attribute: Attribute, lo: Ints, hi: Ints) -> Floats:
    """Steps below the root in the hierarchy that rows are generalized by."""
    forest = Forest.of((attribute,))
    depth = {
        (int(a), int(b)): int(d) for a, b, d in zip(forest.lo, forest.hi, forest.depth, strict=True)
    }
    pairs = zip(lo.tolist(), hi.tolist(), strict=True)
    return np.asarray([depth[pair] for pair in pairs], np.float64)


def side_frame(here: Setting, schema: Schema) -> Any:
    """The side table in the words of a schema."""
    nobody = np.zeros(len(here.side_codes), np.int64)  # of any class, if there is one
    columns = [*np.asarray(here.side_codes, np.int64).T, nobody][: len(schema.columns)]
    return rows_of(schema, columns, np.random.default_rng(0))
