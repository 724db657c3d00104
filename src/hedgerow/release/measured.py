"""Releases of noisy measurements, and those of them that can predict a class."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Floats, Ints, Small
from hedgerow.errors import UsageError
from hedgerow.estimate.cells import labels_of as labels_of_codes
from hedgerow.estimate.cells import probabilities_of
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
from hedgerow.release.files import Content, check_derived, read_table
from hedgerow.release.manifest import MANIFEST, Document
from hedgerow.schema import Categorical, Schema
from hedgerow.store.frames import Frame
from hedgerow.store.untrusted import broken, column_of, ints_of, labels_of
from hedgerow.suggestions import answer_mistakes

# What was measured as columns of files, and back.


# The regions of transactions as Arrow tables, and back.


_PARTS = ("item", "rest")


def itemsets_table(partition: Itemsets) -> pa.Table:
    """One row per core item and per bin, or one row per partition with its cut.

    Example:
        >>> itemsets_table(CoreCells(np.array([2, 5]), np.array([0, 1]))).to_pydict()
        {'part': ['item', 'item', 'rest', 'rest'], 'number': [2, 5, 0, 1]}
    """
    if isinstance(partition, CoreCells):
        parts = ["item"] * len(partition.core) + ["rest"] * len(partition.rest)
        number = np.concatenate([partition.core, partition.rest]).astype(np.int64)
        return pa.table({"part": pa.array(parts, pa.string()), "number": number})
    cuts = pa.ListArray.from_arrays(
        pa.array(partition.cut_start.astype(np.int32)), pa.array(partition.cut.astype(np.int32))
    )
    return pa.table(
        {
            "node": np.arange(partition.cells, dtype=np.int32),
            "parent": partition.parent.astype(np.int32),
            "split": partition.split.astype(np.int32),
            "cut": cuts,
        }
    )


def itemsets_from(file: str, kind: str, table: pa.Table) -> Itemsets:
    """The regions that a table holds; whether they make sense is checked elsewhere.

    Args:
        file: The name of the file, for messages.
        kind: "core" or "cuts".
        table: The table.

    Raises:
        ReleaseError: If the table has another shape.
    """
    if kind == "core":
        part = labels_of(file, table, "part", _PARTS)
        number = ints_of(file, table, "number")
        if (part < 0).any() or (np.diff(part) < 0).any():
            raise broken(file, "its rows are not core items and then bins")
        return CoreCells(number[part == 0], number[part == 1])
    places = ints_of(file, table, "node")
    if not np.array_equal(places, np.arange(len(places))):
        raise broken(file, "its partitions are not in order")
    cuts = column_of(file, table, "cut")
    if not pa.types.is_list(cuts.type) or cuts.null_count:
        raise broken(file, "the column 'cut' must hold lists")
    lengths = np.asarray(cuts.value_lengths().to_numpy(zero_copy_only=False), np.int64)
    flat = ints_of(file, pa.table({"cut": cuts.flatten()}), "cut")
    return CutTree(
        parent=ints_of(file, table, "parent"),
        split=ints_of(file, table, "split"),
        cut_start=np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        cut=flat,
    )


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
_LEAST_RATE, _LARGEST_RATE = Fraction(1, 10**20), 10**6
_MOST_COLUMNS = 3  # of a table
_LARGEST_CONTRIBUTION = 1 << 40  # a million items of a record, in squares of weights


def partition_kind(partition: Partition | Itemsets | Cells) -> str:
    """The word that the manifest uses for the shape of the regions."""
    return next(word for word, kind in SHAPES.items() if isinstance(partition, kind))


def partition_table(schema: Schema, partition: Partition | Itemsets | Cells) -> pa.Table:
    """One row per node of a tree, edge of a grid or cell; for itemsets see `itemsets_table`."""
    if isinstance(partition, CoreCells | CutTree):
        return itemsets_table(partition)
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
    names = tuple(attribute.name for attribute in schema.attributes)
    if isinstance(partition, Cells):
        owner = np.repeat(np.arange(len(names), dtype=np.int32), list(map(len, partition.group)))
        return pa.table(
            {
                "attribute": dictionary(owner, names),
                "first_code": np.concatenate([edges[:-1] for edges in partition.edges]),
                "group": np.concatenate(partition.group),
            }
        )
    lengths = [len(edges) for edges in partition.edges]
    attributes = np.repeat(np.arange(len(names), dtype=np.int32), lengths)
    edges = np.concatenate(partition.edges).astype(np.int32)
    return pa.table({"attribute": dictionary(attributes, names), "edge": edges})


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
    if kind in ("core", "cuts"):
        return itemsets_from(PARTITION, kind, table)
    if kind == "tree":
        width = len(schema.attributes)
        nodes = ints_of(PARTITION, table, "node")
        if not np.array_equal(nodes, np.arange(len(nodes))):
            raise broken(PARTITION, "its nodes are not in order")
        return TreePartition(
            parent=ints_of(PARTITION, table, "parent", np.int32),
            depth=ints_of(PARTITION, table, "depth", np.int16),
            split=ints_of(PARTITION, table, "split", np.int16),
            lo=_matrix(table, "lo", width),
            hi=_matrix(table, "hi", width),
        )
    names = [attribute.name for attribute in schema.attributes]
    owner = labels_of(PARTITION, table, "attribute", names)
    if (owner < 0).any() or (np.diff(owner) < 0).any():
        raise broken(PARTITION, "its attributes are not those of the schema, in their order")
    starts = np.searchsorted(owner, np.arange(1, len(names)))
    if kind == "cells":
        first = np.split(ints_of(PARTITION, table, "first_code"), starts)
        group = np.split(ints_of(PARTITION, table, "group"), starts)
        cuts = tuple(np.append(c, a.size) for c, a in zip(first, schema.attributes, strict=True))
        return Cells(edges=cuts, group=tuple(group), classes=len(schema.classes))
    edges = ints_of(PARTITION, table, "edge", np.int32)
    return GridPartition(tuple(np.split(edges, starts)))


def _matrix(table: pa.Table, name: str, width: int) -> Small:
    column = column_of(PARTITION, table, name)
    if not pa.types.is_list(column.type) or column.null_count:
        raise broken(PARTITION, f"the column {name!r} must hold lists")
    ends = column.offsets.to_numpy()
    if (np.diff(ends) != width).any():
        raise broken(PARTITION, f"the lists of {name!r} must have one number per attribute")
    numbers = column.values.slice(ends[0], ends[-1] - ends[0])
    flat = ints_of(PARTITION, pa.table({name: numbers}), name, np.int32)
    return flat.reshape(-1, width)


def measurement_heads(measurements: Sequence[Measurement]) -> list[Document]:
    """What the manifest says about each measurement."""
    return [
        {
            "name": measurement.name,
            "place_kind": measurement.at,
            "by_class": measurement.by_class,
            "sparse": measurement.klass is not None,
            "unit": str(measurement.unit),
            "threshold": measurement.threshold,
        }
        | (
            {}
            if measurement.max_contribution == 1
            else {"max_contribution": measurement.max_contribution}
        )
        | ({} if measurement.law == "laplace" else {"law": measurement.law})
        | ({} if not measurement.tables else {"tables": [[*one] for one in measurement.tables]})
        for measurement in measurements
    ]


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


def _are_tables(tables: object) -> bool:
    """Whether something of a manifest is lists of a few whole numbers."""
    return isinstance(tables, list) and all(
        isinstance(table, list)
        and len(table) <= _MOST_COLUMNS
        and all(isinstance(column, int) and not isinstance(column, bool) for column in table)
        for table in tables
    )


def _measurement(
    head: Any,
    schema: Schema,
    where: Ints,
    value: Ints,
    units: Ints,
    klass: Ints,
) -> Measurement:
    try:
        name, at, unit = head["name"], head["place_kind"], exact(head["unit"])
        by_class, sparse, threshold = head["by_class"], head["sparse"], head["threshold"]
        max_contribution, law = head.get("max_contribution", 1), head.get("law", "laplace")
        tables = head.get("tables", [])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise broken("manifest.json", "a measurement is not described as it should be") from None
    if law not in LAWS or at not in PLACES or not isinstance(name, str):
        raise broken("manifest.json", "a measurement is not described as it should be")
    if not _are_tables(tables):
        raise broken("manifest.json", "the tables of a measurement are not lists of columns")
    if not all(isinstance(truth, bool) for truth in (by_class, sparse)):
        raise broken("manifest.json", "a measurement is not described as it should be")
    never = schema.kind == "transactions" and at not in ("item", "region")
    if law == "gaussian" and (sparse or threshold is not None or never):
        raise broken("manifest.json", "a measurement has a noise that its kind never has")
    if threshold is not None:
        whole = isinstance(threshold, int) and not isinstance(threshold, bool)
        if not whole or abs(threshold) > _LARGEST_COUNT:
            raise broken("manifest.json", "the threshold of a measurement is no whole number")
    if (
        not isinstance(max_contribution, int)
        or isinstance(max_contribution, bool)
        or not 1 <= max_contribution <= _LARGEST_CONTRIBUTION
    ):
        raise broken(
            "manifest.json", "the max_contribution of a measurement is no whole number above 0"
        )
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

    def _suppressed(self) -> str | None:
        least = self.threshold
        if least is None:
            return None
        return (
            f"Only cells with a noisy count of at least {least} are published. A cell that is "
            "suppressed was below that, not zero; a published count near it is mostly noise."
        )

    def entries(self) -> Document:
        """See `Release.entries`."""
        return {
            "partition": partition_kind(self.partition),
            "measurements": measurement_heads(self.measurements),
        }

    def own_files(self) -> Iterator[tuple[str, Content]]:
        """See `Release.own_files`."""
        yield PARTITION, partition_table(self.schema, self.partition)
        yield MEASUREMENTS, measurements_table(self.schema, self.measurements)
        yield from self._readable()

    def _readable(self) -> Iterator[tuple[str, Content]]:
        """The files of `derived`."""
        yield from ()

    @abstractmethod
    def check(self) -> None:
        """Refuses regions that do not fit the schema, and measurements of places not there."""

    @classmethod
    def from_folder(cls, path: Path, manifest: Document) -> Self:
        """See `Release.from_folder`. Only files of fixed names are opened."""
        shared = cls._shared(manifest)
        schema, shape = shared["schema"], manifest["partition"]
        if shape not in cls.shapes:
            raise broken(MANIFEST, f"the shape of the regions is none of {', '.join(cls.shapes)}")
        if schema.kind != cls.of:
            raise broken(PARTITION, f"the schema describes {schema.kind}, these regions {cls.of}")
        regions = read_table(path, PARTITION, manifest, COLUMNS[shape])
        numbers = read_table(path, MEASUREMENTS, manifest, COLUMNS[MEASUREMENTS])
        release = cls(
            **shared,
            partition=partition_from(shape, regions, schema),
            measurements=measurements_from(manifest["measurements"], numbers, schema),
        )
        release.check()
        check_derived(path, manifest, cls.sources)
        return release

    def _check_places(self, places: Mapping[str, int], measurements: Sequence[Measurement]) -> None:
        """Sees that measurements speak of places that are there, and of enough of them."""
        there = {
            "region": self.partition.cells,
            "node": len(getattr(self.partition, "parent", (0,))),
            **places,
        }
        for measurement in measurements:
            if (measurement.where >= there.get(measurement.at, 0)).any():
                raise broken(MEASUREMENTS, "a number speaks of a place that does not exist")
        counted = max((len(one.where) for one in self.measurements), default=0)
        if not is_censored(self.measurements) and self.partition.cells > max(
            counted, _MOST_UNCOUNTED
        ):
            raise broken(PARTITION, "it has very many regions that were not counted")


# Releases of tables that tell the class of a record, whatever they are made of.


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PredictingRelease(MeasuredRelease):
    """A release of a table that may tell classes."""

    @abstractmethod
    def _weights(self, codes: NDArray[np.integer]) -> Floats:
        """How likely classes are for rows of codes, up to a factor: [rows, classes]."""

    @answer_mistakes
    def predict(self, rows: Frame) -> Frame:
        """The likeliest class of each row.

        With marginals by the model that counts and synthetic rows come from too, else the class
        that the region of the row mostly holds. In a tree, a region whose counts are mostly noise
        leans on the regions around it (`hedgerow.estimate.cells`). Rows of regions that are
        suppressed get the majority class of the release.

        Args:
            rows: A frame or a file with the predictors of the schema; other columns are ignored.

        Returns:
            A frame of the kind of the rows, in their order, with the class as its one column.

        Raises:
            UsageError: If the schema has no class.
        """
        target = self._target()
        codes, known = self._encoded(rows)
        labels = labels_of_codes(target, self.majority(codes), ~known)
        return self._beside(rows, {target.name: labels})

    @answer_mistakes
    def predict_proba(self, rows: Frame) -> Frame:
        """The probability of each class for each row; `predict` names the likeliest.

        Args:
            rows: As for `predict`.

        Returns:
            A frame of the kind of the rows, in their order, with one column per class; null where
            the schema would refuse or drop the row.

        Raises:
            UsageError: If the schema has no class.
        """
        classes = self._target().taxonomy.leaves
        codes, known = self._encoded(rows)
        shares = self.probabilities(codes)
        columns = {name: pa.array(shares[:, i], mask=~known) for i, name in enumerate(classes)}
        return self._beside(rows, columns)

    def majority(self, codes: NDArray[np.integer]) -> Ints:
        """The same for rows of codes: the likeliest class code of each.

        Args:
            codes: The predictors, shape [rows, attributes].
        """
        return np.asarray(np.argmax(self._weights(codes), axis=1), np.int64)

    def probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """The probability of each class for rows of codes, shape [rows, classes].

        Where all weights are 0 or less, the class that is least below gets all of it.

        Args:
            codes: As for `majority`.
        """
        return probabilities_of(self._weights(codes))

    def _target(self) -> Categorical:
        if self.schema.target is None:
            raise UsageError(
                "this release has no class to predict",
                hint="Publish with a schema that has an attribute with role: class.",
            )
        return self.schema.target

    def _encoded(self, rows: Frame) -> tuple[NDArray[np.integer], Bools]:
        from hedgerow.data import encode_rows

        codes, known = encode_rows(rows, self.schema, lenient=True)
        # what stands in for a row that was not encoded is never shown, but must be a code
        return np.where(known[:, None], codes, 0), known

    def _beside(self, rows: Frame, columns: dict[str, pa.Array]) -> Frame:
        """A frame of the kind of the rows, aligned with them."""
        from hedgerow.data import frame_kind

        kind = frame_kind(rows)
        table = pa.table(columns)
        if kind != "pandas":
            return self._frame(table, kind)
        import pandas

        # by itself pandas would turn whole numbers with gaps into floats
        gaps = any(column.null_count for column in columns.values())
        whole = {pa.int64(): pandas.Int64Dtype()} if gaps else {}
        frame = table.to_pandas(types_mapper=whole.get)
        frame.index = getattr(rows, "index", frame.index)  # pandas aligns by index, not by order
        return frame
