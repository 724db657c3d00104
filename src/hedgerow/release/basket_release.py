"""`BasketRelease`: published transactions, and what can be made of them without private data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hedgerow.release.itemsets import Itemsets
from hedgerow.release.measurements import Measurement
from hedgerow.schema import Schema

__all__ = ["BasketRelease"]


@dataclass(frozen=True, repr=False)
class BasketRelease:
    """Noisy counts of itemsets, with the guarantee they were made under.

    Args:
        schema: The public description of the transactions.
        method: The name of the method, such as "diffpart".
        settings: The method's settings, as JSON would hold them.
        guarantee: What is promised.
        ledger: What was spent on what.
        partition: The public regions.
        measurements: The noisy counts.
        frame_kind: The kind of frame that answers come in unless another is asked for.
    """

    schema: Schema
    method: str
    settings: dict[str, Any]
    guarantee: dict[str, Any]
    ledger: dict[str, Any]
    partition: Itemsets
    measurements: tuple[Measurement, ...]
    frame_kind: str = field(default="arrow", compare=False)

    __hash__ = None  # type: ignore[assignment]
