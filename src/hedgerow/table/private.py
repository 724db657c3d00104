"""What all private records share: nobody but a counting engine looks inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from hedgerow.errors import LeakError
from hedgerow.table.frames import FrameKind

if TYPE_CHECKING:
    from hedgerow.schema import Schema

__all__ = ["Private"]


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
