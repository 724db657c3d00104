"""Arrow tables as the kind of frame that a caller works with."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from hedgerow.errors import UsageError

__all__ = ["Frame", "as_kind"]

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
    from hedgerow.table import to_frame

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
