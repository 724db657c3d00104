"""`MeasuredRelease`: public regions and noisy measurements of them, for tables and transactions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from hedgerow.estimate.merge import is_censored
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
from hedgerow.release.files import Content, check_file, read_table
from hedgerow.release.manifest import MANIFEST, Document
from hedgerow.store.validation import broken

__all__ = ["MeasuredRelease"]

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

    def files(self) -> Iterator[tuple[str, Content]]:
        """See `Release.files`."""
        yield PARTITION, partition_table(self.schema, self.partition)
        yield MEASUREMENTS, measurements_table(self.schema, self.measurements)
        yield from self._readable()

    @abstractmethod
    def _readable(self) -> Iterator[tuple[str, Content]]:
        """The files of `derived`."""

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
        for name in cls.derived:
            check_file(path, name, manifest)
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
