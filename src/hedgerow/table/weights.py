"""Columns in which people say how much they mind: weights of their own, on a public scale.

A weight is rounded to one of `LEVELS` public steps between public bounds. Public rules say what
becomes of one that is missing or outside them; none stops a run but `error`, which has to be asked
for. What becomes of a weight follows from that record alone.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Bools, Bytes, Floats, Ints
from hedgerow.errors import DataError, UsageError
from hedgerow.schema import Schema
from hedgerow.schema.attributes import PLAIN, Layout
from hedgerow.suggestions import check_fields
from hedgerow.table.encode import listed, plain_array
from hedgerow.table.notation import STRANGE, number_of
from hedgerow.table.readers.source import Source

__all__ = ["LEVELS", "MissingWeight", "OutsideWeight", "WeightColumns", "read_weight_file"]

MissingWeight = float | Literal["drop", "error"]
OutsideWeight = float | Literal["clip", "drop", "error"]

LEVELS = 16
_SHOWN = 5


@dataclass(frozen=True)
class WeightColumns:
    """Which columns hold weights, and between which bounds they count.

    Args:
        columns: The columns.
        low: The smallest weight.
        high: The largest weight.
        missing: What a weight counts as that is missing or no number; or "drop" for leaving the
            record out, or "error".
        outside: What a weight outside the bounds counts as; or "clip" for the nearer bound, or
            "drop", or "error".

    Example:
        >>> columns = WeightColumns(("minds",), low=0.0, high=3.0)
        >>> found = columns.encode(pa.array(["1", "2.5", "7", "-7", "much", None]), "minds")
        >>> columns.values()[found.levels].round(1).tolist()
        [1.0, 2.4, 3.0, 0.0, 1.0, 1.0]
    """

    columns: tuple[str, ...]
    _: KW_ONLY
    low: float
    high: float
    missing: MissingWeight = 1.0
    outside: OutsideWeight = "clip"

    def __post_init__(self) -> None:
        """Refuses settings of the wrong type."""
        check_fields(self)

    def values(self) -> Floats:
        """The weight of each level."""
        return np.linspace(self.low, self.high, LEVELS)

    def check(self, schema: Schema) -> None:
        """Sees that the schema knows the columns and keeps them out of the release.

        Raises:
            UsageError: Names the column.
        """
        for column in self.columns:
            if column not in schema.identifiers:
                known = ", ".join(map(repr, schema.identifiers)) or "none"
                raise UsageError(
                    f"Weights are to come from column {column!r}, which does not have "
                    "`role: identifier` in the schema.",
                    hint="Check its name, or give it that role, since weights are not published. "
                    f"Columns with the role: {known}.",
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

    def encode(self, array: Any, column: str, written: Layout = PLAIN) -> Levels:
        """The levels of one column, weight by weight; texts are numbers as the schema declares."""
        numbers, shapes = _numbers(plain_array(array, column), written)
        missing = np.isnan(numbers)
        outside = (numbers < self.low) | (numbers > self.high)
        kept, refused = np.ones(len(numbers), bool), np.zeros(len(numbers), bool)
        for met, rule in ((missing, self.missing), (outside, self.outside)):
            if rule == "error":
                refused |= met
            elif rule == "drop":
                kept &= ~met
            elif rule != "clip":
                numbers = np.where(met, rule, numbers)
        clamped = np.clip(np.where(np.isnan(numbers), self.low, numbers), self.low, self.high)
        span = max(self.high - self.low, 1e-300)
        levels = np.rint((clamped - self.low) / span * (LEVELS - 1)).astype(np.uint8)
        odd = {shape: int(np.argmax(shapes == shape)) for shape in np.unique(shapes).tolist()}
        return Levels(
            levels=levels,
            kept=kept,
            refused=refused,
            shapes={s: row for s, row in odd.items() if s < STRANGE},
        )

    def refuse(self, source: Source, bad: dict[str, list[int]]) -> None:
        """Raises if a rule says `error` and any weight met it.

        Args:
            source: Knows the lines of the rows.
            bad: The rows, by column.
        """
        if not bad:
            return
        column, rows = next(iter(bad.items()))
        where = ", ".join(source.places(rows[:_SHOWN]))
        raise DataError(
            f"{source.what}: in column {column!r} a weight is missing, not a number or outside the "
            f"bounds, and the settings say `error` (the first places are named): {where}",
            hint="Correct the data, or have such weights replaced: --set weight_missing=1 --set "
            "weight_outside=clip (in Python, arguments of the same names).",
        )


@dataclass(frozen=True, kw_only=True)
class Levels:
    """What became of the weights of one column.

    Args:
        levels: The level of each weight; of no meaning where a record is dropped or refused.
        kept: Which records stay.
        refused: Which weights met a rule that says `error`.
        shapes: Ways of writing that the schema does not declare, and the first place of each.
    """

    levels: Bytes
    kept: Bools
    refused: Bools
    shapes: dict[int, int]


def _numbers(array: Any, written: Layout) -> tuple[Floats, Ints]:
    """The numbers, NaN where there is none, and what those that are none look like."""
    fine = np.zeros(len(array), np.int64)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_null(array.type):
        return np.full(len(array), np.nan), fine
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        array = array.dictionary_encode()
    if pa.types.is_dictionary(array.type):
        words = listed(array.dictionary)
        read = [
            number_of("" if word is None else str(word).strip(), written.decimal, written.thousands)
            if isinstance(word, str | None)
            else number_of(str(word), ".", "")
            for word in [*words, None]
        ]
        known, shapes = np.asarray([one[0] for one in read]), np.asarray([one[1] for one in read])
        # one more value than there are, which the indices' own type may not hold
        index = array.indices.cast(pa.int64()).fill_null(len(words)).to_numpy(zero_copy_only=False)
        return known[index], shapes[index]
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    if not any(is_one(array.type) for is_one in kinds):
        return np.full(len(array), np.nan), fine
    # not safe: one number that a float holds only nearly would stop the run
    found = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(found, np.float64), fine


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
