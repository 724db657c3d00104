"""What the readers hand on: named columns that arrive in batches, from whatever source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypedDict

from hedgerow.errors import DataError, LeakError

if TYPE_CHECKING:
    from hedgerow.data.frames import FrameKind
    from hedgerow.schema import Schema


class Private:
    """Private records. Only counting engines look inside.

    They have no length and no truth value and cannot be looped over: code that tries is about to
    leak and gets a `LeakError`.

    Attributes:
        schema: The public schema.
        frame_kind: The kind of frame that results should come back as.
    """

    __slots__ = ("frame_kind", "schema")

    def __init__(self, schema: Schema, frame_kind: FrameKind) -> None:
        self.schema = schema
        self.frame_kind = frame_kind

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
        share: How much of the source has been read, from 0 to 1.
        places: Turns row numbers (from 0) into words such as `line 12`.
        pieces: Parts that another process can open by itself, in the order of the rows, if there
            are such.
        bytes: How large the source is, if that is known; 0 for what is in memory already.
    """

    what: str
    names: tuple[str, ...]
    batches: Callable[[Sequence[int]], Iterator[Any]]
    capacity: int | None = None
    share: Callable[[], float] | None = None
    places: Callable[[Sequence[int]], list[str]] = _rows
    pieces: tuple[Any, ...] = ()
    bytes: int | None = None

    def __repr__(self) -> str:
        """The name alone: a repr ends up in logs."""
        return f"Source({self.what!r})"


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
    if len(set(stripped)) < len(stripped):
        first: dict[str, int] = {}
        for place, name in enumerate(stripped, start=1):
            if name in first:
                # The name itself is not shown: without a header it would be somebody's value.
                raise DataError(
                    f"{what}: columns {first[name]} and {place} have the same name",
                    hint="Rename or remove one of them. If the first line holds data, "
                    "put a line with the column names before it.",
                )
            first[name] = place
    return stripped
