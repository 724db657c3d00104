from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hedgerow.methods import diffpart

_FITTED: dict[Any, Any] = {}


@pytest.fixture(scope="module", autouse=True)
def fitted_once() -> Iterator[None]:
    """Audits run a method again and again with the same draws, and the curve of sizes takes a third
    of each run of DiffPart. It follows from noisy numbers alone."""
    honest = diffpart._curve

    def once(sizes: Any, most: int) -> Any:
        arrays = (sizes.where, sizes.values, sizes.units)
        key = (most, sizes.unit, *(array.tobytes() for array in arrays))
        if key not in _FITTED:
            _FITTED[key] = honest(sizes, most)
        return _FITTED[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(diffpart, "_curve", once)
        yield
