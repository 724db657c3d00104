"""What was measured as columns of files, and back; releases of noisy measurements of regions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.arrays import Ints, Small
from hedgerow.estimate.consistency import is_censored
from hedgerow.estimate.measurements import LAWS, PLACES, Measurement, exact
from hedgerow.estimate.partition import (
    CoreCells,
    CutTree,
    GridPartition,
    Itemsets,
    Partition,
    TreePartition,
    dictionary,
)
from hedgerow.estimate.tables import Cells
from hedgerow.release.base import Release
from hedgerow.release.files import MANIFEST, Content, Document, read_table
from hedgerow.schema import Schema
from hedgerow.store.untrusted import broken, column_of, ints_of, labels_of

# Regions and measurements as Arrow tables, and back; what is read is checked, never trusted.


PARTITION = "partition.parquet"
MEASUREMENTS = "measurements.parquet"
COLUMNS = {
    "tree": ("node", "parent", "depth", "split", "lo", "hi"),
    "grid": ("attribute", "edge"),
    "cells": ("attribute", "first_code", "group"),
    "core": ("part", "number"),
    "cuts": ("node", "parent", "split", "cut"),
    MEASUREMENTS: ("measurement", "place", "class", "value", "units"),
}
"""What is read of a file; a file of regions goes by its shape."""

SHAPES: dict[str, type] = {
    "tree": TreePartition,
    "grid": GridPartition,
    "cells": Cells,
    "core": CoreCells,
    "cuts": CutTree,
}
"""The words that a manifest uses for the shapes of regions."""

# Far beyond what a method draws. Within these bounds no sum leaves 64 bits and no variance is
# infinite, whatever a stranger wrote.
_LARGEST_COUNT, _LARGEST_SUM = 1 << 53, 1 << 60
_PARTS = ("item", "rest")
_USUAL: Document = {"max_contribution": 1, "law": "laplace", "tables": []}  # left out of heads
_LEAST_RATE, _LARGEST_RATE = Fraction(1, 10**20), 10**6
_MOST_COLUMNS = 3  # of a table
_LARGEST_CONTRIBUTION = 1 << 40  # a million items of a record, in squares of weights


def partition_table(schema: Schema, partition: Partition | Itemsets | Cells) -> pa.Table:
    """One row per node of a tree or of a tree of cuts, edge of a grid, cell, core item and bin.

    Example:
        >>> schema = Schema.from_dict({
        ...     "name": "s", "unit": "row", "items": {"universe": {"range": [1, 9]}}})
        >>> partition_table(schema, CoreCells(np.array([2, 5]), np.array([0, 1]))).to_pydict()
        {'part': ['item', 'item', 'rest', 'rest'], 'number': [2, 5, 0, 1]}
    """
    if isinstance(partition, TreePartition):
        return pa.table(
            {
                "node": np.arange(len(partition.parent), dtype=np.int32),
                "parent": partition.parent,
                "depth": partition.depth,
                "split": partition.split,
                "lo": _lists(partition.lo),
                "hi": _lists(partition.hi),
            }
        )
    if isinstance(partition, CutTree):
        starts, flat = partition.cut_start.astype(np.int32), partition.cut.astype(np.int32)
        return pa.table(
            {
                "node": np.arange(partition.cells, dtype=np.int32),
                "parent": partition.parent.astype(np.int32),
                "split": partition.split.astype(np.int32),
                "cut": pa.ListArray.from_arrays(pa.array(starts), pa.array(flat)),
            }
        )
    if isinstance(partition, CoreCells):
        parts = np.repeat(_PARTS, [len(partition.core), len(partition.rest)]).tolist()
        number = np.concatenate([partition.core, partition.rest]).astype(np.int64)
        return pa.table({"part": pa.array(parts, pa.string()), "number": number})
    names = tuple(attribute.name for attribute in schema.attributes)
    if isinstance(partition, Cells):
        sizes = [len(group) for group in partition.group]
        columns = {
            "first_code": np.concatenate([edges[:-1] for edges in partition.edges]),
            "group": np.concatenate(partition.group),
        }
    else:
        sizes = [len(edges) for edges in partition.edges]
        columns = {"edge": np.concatenate(partition.edges).astype(np.int32)}
    owner = np.repeat(np.arange(len(names), dtype=np.int32), sizes)
    return pa.table({"attribute": dictionary(owner, names), **columns})


def _lists(matrix: Small) -> pa.ListArray:
    rows, width = matrix.shape
    offsets = np.arange(rows + 1, dtype=np.int32) * width
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(matrix.astype(np.int32).ravel()))


def partition_from(kind: str, table: pa.Table, schema: Schema) -> Partition | Itemsets | Cells:
    """The regions that a table holds.

    Raises:
        ReleaseError: If the table has another shape. Whether the regions are a partition is
            checked elsewhere.
    """
    if kind in ("tree", "cuts"):
        nodes = ints_of(PARTITION, table, "node")
        if not np.array_equal(nodes, np.arange(len(nodes))):
            raise broken(PARTITION, "its nodes are not in order")
    if kind == "tree":
        width = len(schema.attributes)
        return TreePartition(
            parent=ints_of(PARTITION, table, "parent", np.int32),
            depth=ints_of(PARTITION, table, "depth", np.int16),
            split=ints_of(PARTITION, table, "split", np.int16),
            lo=_matrix(table, "lo", width),
            hi=_matrix(table, "hi", width),
        )
    if kind == "cuts":
        lengths, flat = _read_lists(table, "cut", np.int64)
        return CutTree(
            parent=ints_of(PARTITION, table, "parent"),
            split=ints_of(PARTITION, table, "split"),
            cut_start=np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
            cut=flat,
        )
    if kind == "core":
        starts = _starts(table, "part", _PARTS)
        return CoreCells(*np.split(ints_of(PARTITION, table, "number"), starts))
    starts = _starts(table, "attribute", [attribute.name for attribute in schema.attributes])
    if kind == "cells":
        first = np.split(ints_of(PARTITION, table, "first_code"), starts)
        group = np.split(ints_of(PARTITION, table, "group"), starts)
        cuts = tuple(np.append(c, a.size) for c, a in zip(first, schema.attributes, strict=True))
        return Cells(edges=cuts, group=tuple(group), classes=len(schema.classes))
    edges = ints_of(PARTITION, table, "edge", np.int32)
    return GridPartition(tuple(np.split(edges, starts)))


def _starts(table: pa.Table, name: str, labels: Sequence[str]) -> Ints:
    """Where the rows of each label but the first begin."""
    owner = labels_of(PARTITION, table, name, labels)
    if (owner < 0).any() or (np.diff(owner) < 0).any():
        raise broken(PARTITION, f"the column {name!r} does not name its parts in their order")
    return np.searchsorted(owner, np.arange(1, len(labels)))


def _read_lists(table: pa.Table, name: str, kind: type[Any]) -> tuple[Ints, NDArray[Any]]:
    """The lengths of the lists in a column, and all that they hold."""
    column = column_of(PARTITION, table, name)
    if not pa.types.is_list(column.type) or column.null_count:
        raise broken(PARTITION, f"the column {name!r} must hold lists")
    ends = column.offsets.to_numpy()
    inside = column.values.slice(int(ends[0]), int(ends[-1] - ends[0]))  # flatten is slow to load
    flat = ints_of(PARTITION, pa.table({name: inside}), name, kind)
    return np.diff(ends), flat


def _matrix(table: pa.Table, name: str, width: int) -> Small:
    lengths, flat = _read_lists(table, name, np.int32)
    if (lengths != width).any():
        raise broken(PARTITION, f"the lists of {name!r} must have one number per attribute")
    return flat.reshape(-1, width)


def _head(measurement: Measurement) -> Document:
    """What the manifest says about a measurement."""
    head = {
        "name": measurement.name,
        "place_kind": measurement.at,
        "by_class": measurement.by_class,
        "sparse": measurement.klass is not None,
        "unit": str(measurement.unit),
        "threshold": measurement.threshold,
        "max_contribution": measurement.max_contribution,
        "law": measurement.law,
        "tables": [[*one] for one in measurement.tables],
    }
    return {name: one for name, one in head.items() if name not in _USUAL or one != _USUAL[name]}


def measurements_table(schema: Schema, measurements: Sequence[Measurement]) -> pa.Table:
    """One row per noisy number; `measurement` is the place of its head in the manifest."""
    types = pa.schema(
        [
            ("measurement", pa.int32()),
            ("name", pa.string()),
            ("place_kind", pa.string()),
            ("place", pa.int64()),
            ("class", pa.dictionary(pa.int32(), pa.string())),
            ("value", pa.int64()),
            ("units", pa.int64()),
            ("threshold", pa.int64()),
        ]
    )
    tables = []
    for place, measurement in enumerate(measurements):
        rows, width = measurement.values.shape
        numbers = rows * width
        if measurement.klass is not None:
            klass = measurement.klass.astype(np.int32)
        else:
            klass = np.tile(np.arange(width, dtype=np.int32), rows)
        known = measurement.by_class and schema.target is not None
        index = pa.array(klass, mask=None if known else np.ones(numbers, bool))
        columns = [
            pa.array(np.full(numbers, place, np.int32)),
            pa.repeat(measurement.name, numbers),
            pa.repeat(measurement.at, numbers),
            pa.array(np.repeat(measurement.where, width)),
            dictionary(index, schema.classes),
            pa.array(measurement.values.ravel()),
            pa.array(np.repeat(measurement.units, width)),
            pa.repeat(pa.scalar(measurement.threshold, pa.int64()), numbers),
        ]
        tables.append(pa.Table.from_arrays(columns, schema=types))
    return pa.concat_tables(tables) if tables else types.empty_table()


def measurements_from(
    heads: Sequence[object], table: pa.Table, schema: Schema
) -> tuple[Measurement, ...]:
    """The measurements that a table holds under the heads of the manifest.

    Raises:
        ReleaseError: If heads and table do not belong together.
    """
    place = ints_of(MEASUREMENTS, table, "measurement")
    known = place.min(initial=0) >= 0 and place.max(initial=-1) < len(heads)
    if not known or (np.diff(place) < 0).any():
        raise broken(MEASUREMENTS, "its rows do not follow the list in the manifest")
    where = ints_of(MEASUREMENTS, table, "place")
    value = ints_of(MEASUREMENTS, table, "value")
    units = ints_of(MEASUREMENTS, table, "units")
    klass = labels_of(MEASUREMENTS, table, "class", schema.classes)
    ends = np.searchsorted(place, np.arange(len(heads) + 1))
    columns = (where, value, units, klass)
    return tuple(
        _measurement(head, schema, *(column[ends[i] : ends[i + 1]] for column in columns))
        for i, head in enumerate(heads)
    )


def _check_size(value: Ints, units: Ints, unit: Fraction) -> None:
    """Refuses numbers that no method draws and no arithmetic stands."""
    if not len(value):
        return
    largest = max(int(value.max()), -int(value.min()))
    if largest > _LARGEST_COUNT or np.abs(value.astype(np.float64)).sum() > _LARGEST_SUM:
        raise broken(MEASUREMENTS, "it holds counts that are larger than any")
    if unit * int(units.min()) < _LEAST_RATE or unit * int(units.max()) > _LARGEST_RATE:
        raise broken(MEASUREMENTS, "a number has more or less noise than any method adds")


def _is_whole(value: object, least: float = -math.inf, most: float = math.inf) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _are_tables(tables: object) -> bool:
    """Whether something of a manifest is lists of a few whole numbers."""
    return isinstance(tables, list) and all(
        isinstance(table, list) and len(table) <= _MOST_COLUMNS and all(map(_is_whole, table))
        for table in tables
    )


def _measurement(
    head: Any, schema: Schema, where: Ints, value: Ints, units: Ints, klass: Ints
) -> Measurement:
    try:
        head = _USUAL | head
        name, at, unit = head["name"], head["place_kind"], exact(head["unit"])
        by_class, sparse, threshold = head["by_class"], head["sparse"], head["threshold"]
        max_contribution, law, tables = head["max_contribution"], head["law"], head["tables"]
        known = isinstance(name, str) and at in PLACES and law in LAWS
    except (KeyError, TypeError, ValueError):
        known = False
    if not known or not isinstance(by_class, bool) or not isinstance(sparse, bool):
        raise broken(MANIFEST, "a measurement is not described as it should be")
    never = schema.kind == "transactions" and at not in ("item", "region")
    faults = {
        "the tables of a measurement are not lists of columns": not _are_tables(tables),
        "a measurement has a noise that its kind never has": law == "gaussian"
        and (sparse or threshold is not None or never),
        "the threshold of a measurement is no whole number": threshold is not None
        and not _is_whole(threshold, -_LARGEST_COUNT, _LARGEST_COUNT),
        "the max_contribution of a measurement is no whole number above 0": not _is_whole(
            max_contribution, 1, _LARGEST_CONTRIBUTION
        ),
    }
    for words, wrong in faults.items():
        if wrong:
            raise broken(MANIFEST, words)
    width = max(1, len(schema.classes)) if by_class and not sparse else 1
    known = bool(by_class) and schema.target is not None
    expected = np.tile(np.arange(width), len(value) // width) if known and not sparse else None
    if len(value) % width or ((klass < 0) == known).any():
        raise broken(MEASUREMENTS, "a number lacks its class, or has one where none was counted")
    if expected is not None and not np.array_equal(klass, expected):
        raise broken(MEASUREMENTS, "the classes of a place are not in the order of the schema")
    grouped = np.repeat(where[::width], width), np.repeat(units[::width], width)
    if not (np.array_equal(grouped[0], where) and np.array_equal(grouped[1], units)):
        raise broken(MEASUREMENTS, "the classes of a place do not stand together")
    if unit <= 0 or (units <= 0).any() or (where < 0).any():
        raise broken(MEASUREMENTS, "a number has no place, or was not paid for")
    _check_size(value, units, unit)
    return Measurement(
        name=name,
        at=at,
        where=where[::width].copy(),
        values=value.reshape(-1, width).copy(),
        by_class=bool(by_class),
        units=units[::width].copy(),
        unit=unit,
        threshold=threshold,
        klass=np.maximum(klass, 0) if sparse else None,
        max_contribution=max_contribution,
        law=law,
        tables=tuple(tuple(one) for one in tables),
    )


# `MeasuredRelease`: public regions and noisy measurements of them, for tables and transactions.


_MOST_UNCOUNTED = 1 << 22  # regions; a grid of very many can be claimed in a few bytes


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MeasuredRelease(Release):
    """A release that is made of regions and of measurements.

    Args:
        partition: The public regions.
        measurements: The noisy counts.
    """

    of: ClassVar[str]
    """What kind of schema it has: the kind of the release itself, but for marginals."""

    sources = (PARTITION, MEASUREMENTS)
    entries_of_kind: ClassVar[Mapping[str, type]] = {"partition": str, "measurements": list}
    shapes: ClassVar[tuple[str, ...]]
    """The words for the shapes that the regions may have."""

    partition: Partition | Itemsets | Cells
    measurements: tuple[Measurement, ...]

    @property
    def threshold(self) -> int | None:
        """From which noisy count on cells are published, if others are suppressed."""
        known = [one.threshold for one in self.measurements if one.threshold is not None]
        return min(known, default=None)

    def _suppression(self) -> str | None:
        if self.threshold is None:
            return None
        return (
            f"Only cells with a noisy count of at least {self.threshold} are published. A cell "
            "that is suppressed was below that, not zero; a published count near it is mostly "
            "noise."
        )

    def entries(self) -> Document:
        """See `Release.entries`."""
        shapes = (word for word, kind in SHAPES.items() if isinstance(self.partition, kind))
        return {"partition": next(shapes), "measurements": [*map(_head, self.measurements)]}

    def own_files(self) -> Iterator[tuple[str, Content]]:
        """See `Release.own_files`."""
        yield PARTITION, partition_table(self.schema, self.partition)
        yield MEASUREMENTS, measurements_table(self.schema, self.measurements)

    @classmethod
    def _read(cls, path: Path, manifest: Document, schema: Schema) -> dict[str, Any]:
        shape = manifest["partition"]
        if shape not in cls.shapes:
            raise broken(MANIFEST, f"the shape of the regions is none of {', '.join(cls.shapes)}")
        if schema.kind != cls.of:
            raise broken(PARTITION, f"the schema describes {schema.kind}, these regions {cls.of}")
        regions = read_table(path, PARTITION, manifest, COLUMNS[shape])
        numbers = read_table(path, MEASUREMENTS, manifest, COLUMNS[MEASUREMENTS])
        return {
            "partition": partition_from(shape, regions, schema),
            "measurements": measurements_from(manifest["measurements"], numbers, schema),
        }

    def _check_places(self, places: Mapping[str, int]) -> None:
        """Sees that measurements speak of places that are there, and of enough of them."""
        there = {
            "region": self.partition.cells,
            "node": len(getattr(self.partition, "parent", (0,))),
            **places,
        }
        for measurement in self.measurements:
            if (measurement.where >= there.get(measurement.at, 0)).any():
                raise broken(MEASUREMENTS, "a number speaks of a place that does not exist")
        counted = max((len(one.where) for one in self.measurements), default=0)
        if not is_censored(self.measurements) and self.partition.cells > max(
            counted, _MOST_UNCOUNTED
        ):
            raise broken(PARTITION, "it has very many regions that were not counted")
