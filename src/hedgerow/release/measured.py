"""Releases of noisy measurements, and those of them that can predict a class."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Floats, Ints
from hedgerow.errors import UsageError
from hedgerow.estimate.consistency import is_censored
from hedgerow.estimate.synthesize import labels_of, probabilities_of
from hedgerow.measured.itemsets import Itemsets
from hedgerow.measured.measurements import Measurement
from hedgerow.measured.partition import Partition
from hedgerow.measured.tables import Cells
from hedgerow.release.base import Release
from hedgerow.release.codec import (
    COLUMNS,
    MEASUREMENTS,
    PARTITION,
    measurement_heads,
    measurements_from,
    measurements_table,
    partition_from,
    partition_kind,
    partition_table,
)
from hedgerow.release.files import Content, check_derived, read_table
from hedgerow.release.manifest import MANIFEST, Document
from hedgerow.schema import Categorical
from hedgerow.store.frames import Frame
from hedgerow.store.untrusted import broken
from hedgerow.suggestions import answer_mistakes

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
        leans on the regions around it (`hedgerow.estimate.synthesize`). Rows of regions that are
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
        labels = labels_of(target, self.majority(codes), ~known)
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
