"""What the readers hand on: named columns that arrive in batches, from whatever source."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypedDict
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa

from hedgerow.errors import DataError, LeakError, UsageError
from hedgerow.suggestions import Checked, answer_mistakes

if TYPE_CHECKING:
    from hedgerow.schema import Schema


FrameKind = Literal["pandas", "polars", "arrow"]


def frame_kind(source: object) -> FrameKind:
    """The kind of frame that results for this source should come back as.

    Example:
        >>> frame_kind("people.csv")
        'arrow'
        >>> frame_kind(pa.table({"age": [40]}))
        'arrow'
    """
    known = (str, os.PathLike, pa.Table, pa.RecordBatch, pa.RecordBatchReader)
    if isinstance(source, known):
        return "arrow"
    import narwhals as nw

    # Not from_native: it refuses repeated columns in its own words before we can in ours.
    native = nw.to_native(source, pass_through=True)
    if nw.dependencies.is_pandas_dataframe(native):
        return "pandas"
    polars = (nw.dependencies.is_polars_dataframe, nw.dependencies.is_polars_lazyframe)
    if any(is_polars(native) for is_polars in polars):
        return "polars"
    return "arrow"


class Private:
    """Private records. Only counting engines look inside.

    They have no length and no truth value and cannot be looped over: code that tries is about to
    leak and gets a `LeakError`.

    Attributes:
        schema: The public schema.
        frame_kind: The kind of frame that results should come back as.
    """

    __slots__ = ("frame_kind", "schema")
    schema: Schema
    frame_kind: FrameKind

    def __repr__(self) -> str:
        """The schema's name alone."""
        return f"{type(self).__name__}({self.schema.name!r})"

    def __len__(self) -> int:
        """Refused: the number of records is private."""
        raise LeakError("private records have no length")

    def __iter__(self) -> NoReturn:
        """Refused: records are private."""
        raise LeakError("private records cannot be looped over")

    def __bool__(self) -> bool:
        """Refused: whether there are records is private."""
        raise LeakError("private records have no truth value")

    def __reduce__(self) -> NoReturn:
        """Refused: a pickle of private data would lie about somewhere."""
        raise LeakError("private records are not pickled")


_POSTGRES = ("postgresql://", "postgres://")
DUCKDB = "duckdb://"


@answer_mistakes
@dataclass(frozen=True)
class Database(Checked):
    """A table in a database, or what a query of it gives.

    Args:
        url: `postgresql://user@host:port/database`, or `duckdb:///path/of/file.db`.
        table: The table, such as `people` or `clinic.people`.
        query: A SELECT instead of a table.
        row_wise: Acknowledges that each row of the query depends on one person alone; `publish`
            refuses a query without it (docs/scale.md#queries).

    Example:
        >>> Database("postgresql://ann:secret@db/clinic", table="people")
        Database(postgresql://db/clinic)
    """

    url: str
    _: KW_ONLY
    table: str | None = None
    query: str | None = None
    row_wise: bool = False

    def __repr__(self) -> str:
        """The address without user and password: a repr ends up in logs."""
        return f"Database({self.shown})"

    @property
    def shown(self) -> str:
        """The address as messages may show it."""
        if self.url.startswith(DUCKDB):
            return self.url
        try:
            parts = urlsplit(self.url)
            host = parts.hostname or ""
        except ValueError:  # an address that makes no sense may have the password anywhere
            return "postgresql://..."
        return f"postgresql://{host}{parts.path}"


def refuse_mixing(source: object) -> None:
    """Refuses a query unless somebody vouches that it mixes nobody's rows with another's.

    Whether a query does so is not worked out: a view or a function may hide it.

    Raises:
        UsageError: If the acknowledgement is missing.

    Example:
        >>> refuse_mixing(Database("duckdb:///x.db", query="SELECT age FROM people LIMIT 9"))
        Traceback (most recent call last):
        hedgerow.errors.UsageError: duckdb:///x.db: a query may mix the records of several people
          If each of its rows depends on one person alone, say so ...
    """
    if isinstance(source, Database) and source.query is not None and not source.row_wise:
        raise UsageError(
            f"{source.shown}: a query may mix the records of several people",
            hint="If each of its rows depends on one person alone, say so (--row-wise, "
            "row_wise=True). It does not with LIMIT, DISTINCT, GROUP BY, window functions, "
            "subqueries or joins over other people's rows: see docs/scale.md.",
        )


def is_database(source: str) -> bool:
    """Whether this is the address of a database.

    Example:
        >>> is_database("postgresql://localhost/clinic"), is_database("people.csv")
        (True, False)
    """
    return source.startswith((*_POSTGRES, DUCKDB))


# Small enough that a batch of codes stays in the processor's cache while column after column is
# written into it, large enough that the cost of a call is lost in it.
BATCH_ROWS = 1 << 16

Progress = Callable[[float], None]  # is told now and then which share of something is done


class ReadOptions(TypedDict, total=False):
    """How data is read: see `hedgerow.data.read`."""

    delimiter: str | None
    line_breaks: bool
    progress: Progress | None
    allow_empty: bool


def silent(share: float) -> None:
    """Tells nobody."""


def _rows(rows: Sequence[int]) -> list[str]:
    return [f"row {row + 1}" for row in rows]


@dataclass(frozen=True, kw_only=True)
class Source:
    """A private table that has been opened but not read.

    Args:
        what: How messages call it, such as `people.csv`.
        names: The columns, in the order of the source.
        batches: Given the positions of columns, their record batches in that order.
        capacity: The number of rows if the source knows it, for allocating memory only.
        position: How much of the source has been read, from 0 to 1, if rows do not tell it.
        places: Turns row numbers (from 0) into words such as `line 12`.
        pieces: Parts that another process can open by itself, in the order of the rows, if there
            are such.
        bytes: How large the source is, if that is known; 0 for what is in memory already.
    """

    what: str
    names: tuple[str, ...]
    batches: Callable[[Sequence[int]], Iterator[Any]]
    capacity: int | None = None
    position: Callable[[], float] | None = None
    places: Callable[[Sequence[int]], list[str]] = _rows
    pieces: tuple[Any, ...] = ()
    bytes: int | None = None

    def __repr__(self) -> str:
        """The name alone: a repr ends up in logs."""
        return f"Source({self.what!r})"

    def share(self, rows: int) -> float:
        """How much has been read, from 0 to 1, after so many rows; 0 if that is not known."""
        if self.position is not None:
            return min(1.0, self.position())
        return 0.0 if self.capacity is None else min(1.0, rows / max(1, self.capacity))


class Grown:
    """An array that grows by blocks, without a second copy of it at the end.

    Args:
        dtype: The type of its numbers.
        width: How many columns it has; None for an array of one dimension.
        capacity: How many rows are expected.

    Example:
        >>> numbers = Grown(np.int64)
        >>> numbers.extend(2)[:] = 7
        >>> numbers.finish().tolist()
        [7, 7]
    """

    def __init__(self, dtype: Any, width: int | None = None, capacity: int | None = None) -> None:
        # A damaged file may claim any number of rows: believe it up to a point, then grow.
        rows = min(max(capacity or 0, 0), 1 << 27)
        self._row = () if width is None else (width,)
        self._array: Any = np.empty((rows, *self._row), dtype)
        self.used = 0

    def extend(self, rows: int) -> Any:
        """Room for the next rows, to be written to."""
        first, self.used = self.used, self.used + rows
        if self.used > len(self._array):
            more = max(self.used, len(self._array) * 3 // 2)
            self._array.resize((more, *self._row), refcheck=False)
        return self._array[first : self.used]

    def finish(self) -> Any:
        """The array."""
        self._array.resize((self.used, *self._row), refcheck=False)
        return self._array


def load_package(module: str, what: str, extra: str, instead: str = "") -> Any:
    """A module of a package that does not come with hedgerow.

    Args:
        module: Its name; its first part is that of the package.
        what: What needs it, as the beginning of a sentence.
        extra: With which extra of hedgerow it is installed.
        instead: What else to do.
    """
    try:
        return import_module(module)
    except ImportError:
        raise UsageError(
            f"{what} needs the package {module.partition('.')[0].replace('_', '-')}",
            hint=f"Install it with: pip install 'hedgerow[{extra}]'.{instead}",
        ) from None


def batch_of(arrays: Sequence[Any]) -> Any:
    """A batch of columns, called by their places: names of their own may be any."""
    return pa.RecordBatch.from_arrays(arrays, names=list(map(str, range(len(arrays)))))


_PATH = "Check the path; it is taken from the folder you are in."


def no_file(path: str | Path, hint: str = _PATH) -> DataError:
    """The complaint about a path at which nothing lies."""
    return DataError(f"{path}: there is no such file", hint=hint)


def not_allowed(path: str | Path) -> DataError:
    """The complaint about a file of somebody else."""
    return DataError(
        f"{path}: you are not allowed to read this file",
        hint="Ask its owner for the right to read it.",
    )


def odd_column(what: str, name: str, fault: str) -> DataError:
    """The complaint about a column of which some values have no type that is read."""
    return DataError(
        f"{what}: column {name!r} {fault}",
        hint="Give the column one plain type: text, number, true/false or date.",
    )


def no_records(what: str) -> DataError:
    """The refusal of an input without a single record, before any rule was applied.

    An empty input is nearly always a mistake: a filter that matched nothing, the wrong file.

    Args:
        what: How messages call the input.
    """
    return DataError(
        f"{what}: there are no records in it",
        hint="Look whether this is the right input. If it is meant to be empty, say so "
        "(--allow-empty, allow_empty=True).",
    )


def check_names(names: Sequence[str], what: str) -> tuple[str, ...]:
    """Strips column names and refuses blank and repeated ones.

    Example:
        >>> check_names([" age", "sex "], "people.csv")
        ('age', 'sex')
    """
    stripped = tuple(str(name).strip() for name in names)
    for place, name in enumerate(stripped, start=1):
        if not name:
            raise DataError(
                f"{what}: column {place} has no name",
                hint="Name the column in the first line, or take it out of the data. If something "
                "else stands before the names (such as `sep=;` or a title), tell their line: "
                "`hedgerow init --header-row 2`, or `header_row: 2` below `file:` in a schema.",
                places=[("file", "header_row")],
            )
    first: dict[str, int] = {}
    for place, name in enumerate(stripped, start=1):
        if first.setdefault(name, place) < place:
            # The name itself is not shown: without a header it would be somebody's value.
            raise DataError(
                f"{what}: columns {first[name]} and {place} have the same name",
                hint="Rename or remove one of them. If the first line holds data, "
                "put a line with the column names before it.",
            )
    return stripped
