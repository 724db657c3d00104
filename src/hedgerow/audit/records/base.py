"""What an audit must know of a kind of data: how its records are made up, written and counted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.publish.publisher import Outcome
from hedgerow.schema import Schema

__all__ = ["EXTRA", "Codes", "Pick", "Records", "Rows", "Sketch"]

Pick = Callable[[int, int], int]
"""Picks a whole number from low to high, both included."""

Codes = tuple[int, ...]
"""One record: the codes of its predictors and its class, or those of its items."""

Sketch = tuple[str, Sequence[Codes], Codes]
"""What is special about two neighbours, the records of the smaller, and the record more."""

Rows = list[tuple[str, Codes]]
"""Lines of a file: whose each is, and its codes."""

EXTRA = "zoe"
"""The person that one of two files has more."""


class Records(ABC):
    """The records of one schema."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    @staticmethod
    @abstractmethod
    def crowded() -> tuple[Schema, Codes, list[Codes]]:
        """A schema, the line that most people of a small file have, and many lines of one."""

    @abstractmethod
    def data(self, records: Iterable[Codes]) -> Any:
        """A `Table` or `Transactions` of these records."""

    @abstractmethod
    def of(self, data: Any) -> list[Codes]:
        """The records of a `Table` or `Transactions`."""

    @abstractmethod
    def possible(self) -> int:
        """How many different records there can be."""

    @abstractmethod
    def random(self, pick: Pick) -> Codes:
        """Any record."""

    @abstractmethod
    def ends(self) -> tuple[Codes, Codes]:
        """Two records that have little in common."""

    @abstractmethod
    def edge_cases(self, pick: Pick) -> list[Sketch]:
        """The neighbours at which mistakes show first."""

    @abstractmethod
    def unlike(self, sizes: Sequence[int], source: np.random.Generator) -> list[Any]:
        """Data of these sizes that have nothing in common."""

    @property
    @abstractmethod
    def people(self) -> str | None:
        """The column that identifies people."""

    @property
    @abstractmethod
    def cap(self) -> int:
        """How many rows, or items, of one person count."""

    @abstractmethod
    def with_people(self, cap: int) -> Schema:
        """The schema with a column that identifies people, and this cap."""

    def layouts(self, cap: int) -> tuple[Schema, ...]:
        """The schema for every layout of a file: with people and this cap, and without people."""
        return self.with_people(cap), self.schema

    @abstractmethod
    def line(self, pick: Pick) -> Codes:
        """The codes of any line of a file."""

    @abstractmethod
    def lines_of_one(self, rows: int, pick: Pick) -> Rows:
        """So many lines of the person that one file has more: alike or different."""

    @abstractmethod
    def file(self, lines: Rows, suffix: str) -> tuple[str, pa.Table | bytes]:
        """What a file of these lines holds, and the suffix that suits it.

        Args:
            lines: Whose each is, and its codes.
            suffix: The format that is wanted: "csv", "csv.gz" or "parquet".
        """

    @abstractmethod
    def most_added(self) -> int:
        """How many records one person can add, at most."""

    @abstractmethod
    def malformed(self, records: Counter[Codes]) -> str | None:
        """What is wrong with the form of a record, if anything is."""

    @abstractmethod
    def reaches(self, outcome: Outcome, extra: Codes, others: int, rows: int) -> bool:
        """Whether so many rows of one person are counted.

        Args:
            outcome: What a run gave.
            extra: The record of that person.
            others: How many records all others have.
            rows: How many of this person.
        """

    @abstractmethod
    def one_more(self, outcome: Outcome, data: Any, extra: Codes) -> bool:
        """Whether one more is counted than there are, where this record belongs."""
