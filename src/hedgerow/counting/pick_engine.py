"""Which engine counts. The choice is never visible: every engine gives the same integers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from hedgerow.counting.items import ItemEngine, MemoryItems
from hedgerow.counting.memory import MemoryEngine
from hedgerow.counting.parts import Engine
from hedgerow.counting.scratch import ROOM, check_folder
from hedgerow.counting.streamed import DEFAULT_MEMORY, StreamedEngine, StreamedItems
from hedgerow.data import (
    CodeMatrix,
    Database,
    FrameKind,
    RowStream,
    WeightColumns,
    collect,
    frame_kind,
    read_transactions,
)
from hedgerow.data.source import Progress, ReadOptions, silent
from hedgerow.errors import UsageError
from hedgerow.schema import Schema
from hedgerow.suggestions import check_fields

ENGINES = ("memory", "streamed", "dask")

_LEAST = 600_000_000
_UNITS = ("", "k", "m", "g", "t")


@dataclass(frozen=True, kw_only=True)
class Counting:
    """How rows are counted; none of it changes a release.

    Args:
        engine: "memory", "streamed", "dask", or None to decide by the size of the input.
        memory: How much memory the process may take, about: bytes, or text such as "2GB".
        scratch: The folder for scratch files; the system's own by default.
        scheduler: The address of a Dask scheduler; without it two or more processes are started
            on this machine.

    Example:
        >>> Counting(memory="1.5GB").bytes
        1500000000
    """

    engine: str | None = None
    memory: int | str = DEFAULT_MEMORY
    scratch: str | Path | None = None
    scheduler: str | None = None

    def __post_init__(self) -> None:
        """Refuses settings that cannot be meant."""
        check_fields(self)
        if self.engine is not None and self.engine not in ENGINES:
            raise UsageError(
                f"engine cannot be {self.engine!r}.", hint=f"Use one of: {', '.join(ENGINES)}."
            )
        if self.scheduler is not None and self.engine not in (None, "dask"):
            raise UsageError(
                "A scheduler serves the Dask engine alone.",
                hint="Take engine dask, or leave it out.",
            )
        if self.bytes < _LEAST:
            raise UsageError(
                "memory must be at least 600MB.", hint="Leave it out for 2GB, or give more."
            )
        check_folder(self.scratch)

    @property
    def bytes(self) -> int:
        """The memory in bytes."""
        return self.memory if isinstance(self.memory, int) else read_bytes(self.memory)


def read_bytes(text: str) -> int:
    """Reads an amount of memory.

    Example:
        >>> read_bytes("2GB"), read_bytes("600 MiB")
        (2000000000, 629145600)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", text.lower(), re.A)
    if match is None:
        raise UsageError(
            f"{text!r} is no amount of memory.", hint="Write it like 2GB, 800MB or 1.5GiB."
        )
    number, unit, binary = match.groups()
    size: int = (1024 if binary else 1000) ** _UNITS.index(unit)
    whole, _, part = number.partition(".")
    return int(whole) * size + (int(part) * size // 10 ** len(part) if part else 0)


@contextmanager
def open_engine(
    source: Any,
    schema: Schema,
    counting: Counting,
    *,
    delimiter: str | None = None,
    line_breaks: bool = False,
    weights: WeightColumns | None = None,
    unlike: CodeMatrix | None = None,
    allow_empty: bool = True,
    reading: Progress = silent,
    passing: Progress = silent,
) -> Iterator[tuple[Engine | ItemEngine, FrameKind]]:
    """Reads the whole input and gives an engine on it; at the end everything is removed.

    When it gives the engine, room for what scratch files still grow by has been set aside. How much
    that is a plan cannot say, as it does not know the number of rows; so it is `ROOM` bytes.

    Args:
        source: Whatever `hedgerow.data.read` takes.
        schema: The public schema.
        counting: How to count.
        delimiter: The delimiter of a CSV file, if its first line is not to tell it.
        line_breaks: Whether quoted values of a CSV file may hold line breaks; without it a record
            is a line.
        weights: Columns of people's own weights, which are counted in memory alone.
        unlike: Public rows that must not be the private ones, which are compared in memory alone.
        allow_empty: Whether an input without any record is in order.
        reading: Called with the share of the input that has been read.
        passing: Called with the share of the rows that a pass has seen.

    Yields:
        The engine, and the kind of frame that results should come back as.
    """
    name = counting.engine or ("dask" if counting.scheduler else None)
    engine: Any
    if schema.items is None:
        stream = RowStream(source, schema, delimiter, weights, line_breaks, allow_empty=allow_empty)
        name = name or _fitting(stream, counting.bytes)
        if name == "memory":
            engine = MemoryEngine(collect(stream, reading, unlike))
        elif name == "streamed":
            engine = StreamedEngine.read(stream, counting.bytes, counting.scratch, told=reading)
        else:
            from hedgerow.counting.cluster import ClusterEngine

            engine = ClusterEngine.read(stream, counting.scheduler, counting.bytes, told=reading)
    else:
        how = ReadOptions(
            delimiter=delimiter, line_breaks=line_breaks, progress=reading, allow_empty=allow_empty
        )
        name = name or ("memory" if _small(source, counting.bytes) else "streamed")
        if name == "memory":
            engine = MemoryItems(read_transactions(source, schema, **how))
        elif name == "streamed":
            engine = StreamedItems.read(source, schema, counting.bytes, counting.scratch, **how)
        else:
            from hedgerow.counting.cluster import ClusterItems

            engine = ClusterItems.read(source, schema, counting.scheduler, reading, allow_empty)
    with ExitStack() as stack:
        if name != "memory":
            stack.enter_context(engine).watch(passing)
        if name == "streamed":
            engine.spare.keep(ROOM)
        yield engine, frame_kind(source)


def _small(source: Any, memory: int) -> bool:
    """Whether transactions are known to fit in memory: a frame, or a file that is not large."""
    if isinstance(source, Database | pa.RecordBatchReader):
        return False
    if not isinstance(source, str | os.PathLike):
        return True
    try:
        return os.path.getsize(source) * 16 <= memory and not os.path.isdir(source)
    except OSError:  # an address, or a pattern; or nothing, which the reader will say
        return False


def _fitting(stream: RowStream, memory: int) -> str:
    """Memory while rows are known to fit, else streamed."""
    source = stream.source
    if source.bytes == 0:  # it is in memory already
        return "memory"
    need = source.bytes
    if source.capacity is not None:
        wide = max(attribute.size for attribute in stream.attributes) > 1 << 16
        width = (len(stream.schema.attributes) + 1) * (4 if wide else 2)
        need = source.capacity * 3 * (width + 7)  # the table, and two copies that rows move between
    return "streamed" if need is None or need > memory else "memory"
