"""Columns in which people say how much they mind: weights of their own, on a public scale.

A weight is clamped to public bounds and rounded to one of `LEVELS` public steps between them. What
becomes of it follows from that record alone. A weight that is missing, negative or no number is an
error, told to whoever holds the data, by row and column and without the value.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hedgerow.errors import DataError, UsageError
from hedgerow.schema import Schema
from hedgerow.table.encode import plain_array
from hedgerow.table.source import Source

__all__ = ["LEVELS", "WeightColumns", "read_weight_file"]

LEVELS = 16
_SHOWN = 5


@dataclass(frozen=True)
class WeightColumns:
    """Which columns hold weights, and between which bounds they count.

    Args:
        columns: The columns.
        low: What a smaller weight becomes.
        high: What a larger weight becomes.

    Example:
        >>> columns = WeightColumns(("minds",), 0.0, 3.0)
        >>> codes, bad = columns.encode(pa.array(["1", "2.5", "7", "much", None]), "minds")
        >>> columns.values()[codes[:3]].round(1).tolist(), bad.tolist()
        ([1.0, 2.4, 3.0], [False, False, False, True, True])
    """

    columns: tuple[str, ...]
    low: float
    high: float

    def values(self) -> NDArray[np.float64]:
        """The weight of each level."""
        return np.linspace(self.low, self.high, LEVELS)

    def check(self, schema: Schema) -> None:
        """Sees that the schema knows the columns and keeps them out of the release.

        Raises:
            UsageError: Names the column.
        """
        for column in self.columns:
            if column not in schema.identifiers:
                raise UsageError(
                    f"The schema does not say that {column!r}, which holds weights, is left out.",
                    hint="Give the column `role: identifier` in the schema.",
                )

    def places(self, source: Source) -> list[int]:
        """Where the columns stand.

        Raises:
            DataError: If one is not there.
        """
        for column in self.columns:
            if column not in source.names:
                raise DataError(
                    f"{source.what}: there is no column {column!r}, which is to hold weights",
                    hint="Add the column, or do without weights of people's own.",
                )
        return [source.names.index(column) for column in self.columns]

    def encode(self, array: Any, column: str) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """Levels, and which weights are none."""
        numbers = _numbers(plain_array(array, column))
        bad = ~np.isfinite(numbers) | (numbers < 0)
        clamped = np.clip(np.where(bad, self.low, numbers), self.low, self.high)
        span = max(self.high - self.low, 1e-300)
        return np.rint((clamped - self.low) / span * (LEVELS - 1)).astype(np.uint8), bad

    def refuse(self, source: Source, bad: dict[str, list[int]]) -> None:
        """Raises if any weight was none.

        Args:
            source: Knows the lines of the rows.
            bad: The rows, by column.
        """
        if not bad:
            return
        column, rows = next(iter(bad.items()))
        where = ", ".join(source.places(rows[:_SHOWN]))
        raise DataError(
            f"{source.what}: in column {column!r} a weight is missing, negative or no number "
            f"(the first places are named): {where}",
            hint="Write a number from 0 up for everybody; 0 means not to mind at all.",
        )


def _numbers(array: Any) -> NDArray[np.float64]:
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_null(array.type):
        return np.full(len(array), np.nan)
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        array = array.dictionary_encode()
    if pa.types.is_dictionary(array.type):
        words = array.dictionary.to_pylist()
        known = np.asarray([*map(_number, words), np.nan])
        index = pc.fill_null(array.indices, len(words)).to_numpy(zero_copy_only=False)
        return np.asarray(known[index])
    if not (pa.types.is_integer(array.type) or pa.types.is_floating(array.type)):
        return np.full(len(array), np.nan)
    found = array.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return np.asarray(found, np.float64)


def _number(word: object) -> float:
    try:
        return float(str(word).strip())
    except ValueError:
        return np.nan


def read_weight_file(path: str | Path) -> dict[str, Any]:
    """Reads PUBLIC weights of attributes and values from a YAML file.

    Returns:
        For each attribute a weight, or a mapping of values to weights; not checked further.

    Raises:
        UsageError: If there is no such file, or it is no mapping.
    """
    import yaml  # type: ignore[import-untyped,unused-ignore]

    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise UsageError(
            f"{path}: the file of weights cannot be read", hint="Check the path."
        ) from None
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        found = None
    if not isinstance(found, dict):
        raise UsageError(
            f"{path}: this is no YAML mapping of attributes to weights",
            hint="Write lines such as `age: 1`, or `illness: {flu: 1, HIV: 10}`.",
        )
    return {
        str(name): {str(value): weight for value, weight in given.items()}
        if isinstance(given, dict)
        else given
        for name, given in found.items()
    }
