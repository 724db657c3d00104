"""Arrow without pandas, for a process that is one command."""

from __future__ import annotations

import sys

__all__ = ["load_arrow"]


class _NoPandas:
    """Says that there is no pandas to import."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ImportError(name)


def load_arrow() -> None:
    """Loads Arrow, which would load pandas at its first array, for half a second.

    Arrow looks for pandas once, to know pandas' missing values and dates if it meets them in
    Python's objects. A command reads files, so it meets none. Pandas can be imported afterwards.
    """
    if "pandas" in sys.modules:
        return
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        import pyarrow as pa

        pa.array([0]).to_numpy()
    finally:
        sys.meta_path.remove(finder)
