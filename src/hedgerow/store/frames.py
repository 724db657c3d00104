"""Arrow tables as the kind of frame that a caller works with."""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections import namedtuple
from collections.abc import Iterator, Mapping
from contextlib import suppress
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, ClassVar, Never, Self, SupportsIndex

import numpy as np
import pyarrow as pa

from hedgerow.errors import UsageError
from hedgerow.store.html_text import cell_text, small_table, visible
from hedgerow.suggestions import FRAME_NAMES, ROWS, Suggestions, as_text

_SHOWN = 20  # rows of a table in a notebook

Frame = Any
"""A table in memory of the kind that a caller works with: Arrow, pandas or Polars.

The last two need not be installed, so no type checker can be told more.
"""


def as_kind(table: pa.Table, kind: str) -> Frame:
    """A table as an Arrow, pandas or Polars frame.

    Args:
        table: The table.
        kind: "arrow", "pandas" or "polars".

    Raises:
        UsageError: If the kind is unknown or not installed.

    Example:
        >>> as_kind(pa.table({"region": [0, 1]}), "arrow").num_rows
        2
    """
    if kind == "arrow":
        return table
    from hedgerow.data import to_frame

    if kind not in ("arrow", "pandas", "polars"):
        raise UsageError(
            f"there is no kind of frame called {kind!r}",
            hint="Ask for 'arrow', 'pandas' or 'polars'.",
        )
    try:
        return to_frame(table, kind)
    except ImportError:
        raise UsageError(
            f"{kind} is not installed", hint=f"Install it (pip install {kind}), or use 'arrow'."
        ) from None


class Framed(Suggestions, ABC):
    """What can be had as a frame of any kind, and shown in a notebook."""

    _called: ClassVar[str] = "answers"  # in examples of what to write

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table."""

    def to_pandas(self) -> Frame:
        """The rows as a pandas frame."""
        return as_kind(self.to_arrow(), "pandas")

    def to_polars(self) -> Frame:
        """The rows as a Polars frame."""
        return as_kind(self.to_arrow(), "polars")

    def to_frame(self, kind: str = "pandas") -> Frame:
        """The rows as a frame: "pandas", "polars" or "arrow"."""
        return as_kind(self.to_arrow(), kind)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows for any library that reads Arrow, such as `polars.DataFrame(release)`."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    if not TYPE_CHECKING:  # a type checker knows what is there

        def __getattr__(self, name: str) -> Any:
            """What pandas would do with the rows, for the names that pandas has."""
            if name in FRAME_NAMES and super()._suggest(name) is None:
                with suppress(UsageError):  # pandas is not there
                    return getattr(self.to_pandas(), name)
            return super().__getattr__(name)

    def _suggest(self, name: str) -> str | None:
        """What to write for a name that is not there."""
        meant = super()._suggest(name)
        return f"{self._called}.to_pandas().{name}" if not meant and name in FRAME_NAMES else meant

    def _examples(self) -> Mapping[str, str]:
        return {"called": self._called}

    def caption(self) -> str:
        """What a notebook writes above the rows."""
        return type(self).__name__

    def _repr_html_(self) -> str:
        """The first rows, for a notebook."""
        shown, number = self._first(_SHOWN)
        cells = zip(*(column.to_pylist() for column in shown.columns), strict=True)
        more = f" (the first {_SHOWN} of {number:,} rows)" if number > _SHOWN else ""
        return small_table(self.caption() + more, shown.column_names, cells)

    def _first(self, number: int) -> tuple[pa.Table, int]:
        """So many rows, or all of them, and how many there are."""
        rows = _without_unknown(self.to_arrow())
        return rows.slice(0, number), rows.num_rows


def _without_unknown(rows: pa.Table) -> pa.Table:
    """The columns that say something: a kind of release may know no typical errors."""
    columns = enumerate(rows.columns)
    return rows.select([place for place, one in columns if one.null_count < max(1, len(one))])


def _values(column: pa.ChunkedArray) -> list[Any]:
    """The values of a column; a number that is not known is NaN, as in NumPy and pandas."""
    values: list[Any] = column.to_pylist()
    if column.null_count and pa.types.is_floating(column.type):
        return [math.nan if value is None else value for value in values]  # one NaN: rows equal
    return values


class FramedRows(Framed):
    """Rows that can be counted, gone through and picked, as those of a frame can.

    A place gives a row as a named tuple, a name the column as an array, and a slice, a list of
    places or a mask these rows alone. In the tuple, a column whose name is a keyword of Python has
    an underscore after it (`with_`); one whose name is not an identifier has its place (`_1`).
    """

    @abstractmethod
    def __len__(self) -> int: ...

    def __repr__(self) -> str:
        """The first rows, below each other."""
        rows = _without_unknown(self.to_arrow())
        shown = rows.slice(0, _SHOWN)
        columns = [
            [visible(name), *map(cell_text, shown[name].to_pylist())] for name in rows.column_names
        ]
        widths = [max(map(len, column)) for column in columns]
        lines = [
            "  ".join(map(str.rjust, line, widths)).rstrip() for line in zip(*columns, strict=True)
        ]
        more = [f"... and {len(self) - _SHOWN:,} more"] if len(self) > _SHOWN else []
        return "\n".join([f"{visible(self.caption())}:", *lines, *more])

    _suggestions = ROWS

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """A column by its name, as pandas has it."""
            if not name.startswith("_") and name in self.to_arrow().column_names:
                return self[name]
            return super().__getattr__(name)

    @abstractmethod
    def take(self, places: Any) -> Self:
        """The rows at some places, in that order."""

    def __iter__(self) -> Iterator[Any]:
        rows = self.to_arrow()
        make: Any = namedtuple  # by names that are not known before
        names = [f"{one}_" if iskeyword(one) else one for one in rows.column_names]
        row = make("Row", names, rename=True)
        return map(row._make, zip(*map(_values, rows.columns), strict=True))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            rows = self.to_arrow()
            if key not in rows.column_names:
                raise self._no_column(key, rows)
            return rows[key].to_numpy()
        if isinstance(key, SupportsIndex) and not isinstance(key, bool):
            return next(iter(self.take(np.arange(len(self))[[operator.index(key)]])))
        places = key if isinstance(key, slice) else np.asarray(key)
        if isinstance(places, np.ndarray) and (
            places.ndim != 1 or (places.size and places.dtype.kind not in "biu")
        ):
            raise UsageError(
                f"{self._called} cannot be picked by type {type(key).__name__}",
                hint="Give a place, a slice, a list of places, a mask or the name of a column; "
                f"several columns are in {self._called}.to_pandas()[names].",
            )
        return self.take(np.arange(len(self))[key])

    def _no_column(self, key: str, rows: pa.Table) -> UsageError:
        meant = self._suggestions.get(key, "").format(called=self._called, name=key)
        hint = f"Write {meant}. " if meant.endswith('"]') else ""
        hint += f"There are {', '.join(rows.column_names)}."
        first = rows.column_names[0]
        if key in rows[first].to_pylist():
            frame = f"{self._called}.to_pandas().set_index({as_text(first)})"
            hint += f" For its row write {frame}.loc[{as_text(key)}]."
        return UsageError(f"there is no column {key!r}", hint=hint)

    if not TYPE_CHECKING:  # a type checker knows that rows are not numbers

        def _no_number(self, *_: object) -> Never:
            raise UsageError(
                f"{self._called} are rows, not numbers",
                hint=f'Write {self._called}["estimate"], an array of numbers.',
            )

        __float__ = __int__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = (
            _no_number
        )
        __truediv__ = __rtruediv__ = __lt__ = __le__ = __gt__ = __ge__ = _no_number
