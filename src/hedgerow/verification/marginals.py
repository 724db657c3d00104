"""The rules for Marginals: every table has the noise that its charge buys, and all else follows.

Everybody pays for everything, one after the other, so there is one account, and every entry stands
at depth 0. What is published without noise (cells, groups, which cells are counted again, rows) is
worked out again from the noisy numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.arrays import Bools, Ints
from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.tables import Cells, NoisyTable, ruled_apart
from hedgerow.release.plain_files import weight_name
from hedgerow.release.tables import MarginalsRelease
from hedgerow.schema import Categorical, Schema
from hedgerow.verification.rules import (
    Book,
    Failed,
    Rules,
    afford_together,
    books,
    by_name,
    check_ledger,
    check_order,
    check_paths,
    cost,
    mispriced,
    spending,
)

_PAIRS = ("pairs", "second_pairs", "third_pairs", "more_pairs")
_NAMES = ("rows", "single", "by_class", "fine", *_PAIRS, "again", "named")
_MANY_CLASSES = 4
_PARTS = (16, 32)
_FINE = 16
_GROUPS = range(3, 33)
_MOST_RELATED = 100
_ROOM = 60_000  # cells of a model
_NEAR, _FEW = 20, 3  # times what the gradient has left, and rows
_FAR, _TWICE = 4, 2  # deviations, and times as far as today's rows are

Table = tuple[int, ...]


def _measured(release: MarginalsRelease) -> str:
    """Every table is one that the method counts, with the noise that its charge buys."""
    known, booked = _known(release), books(release.ledger)
    if known.keys() != booked.keys() - {"relate"}:
        raise Failed("what was counted and what was paid for are different things")
    _check_tables(release, known)
    for name, measurement in known.items():
        if name == "rows":
            if measurement.at != "node" or measurement.where.tolist() != [0]:
                raise Failed("the number of rows speaks of a place that it does not have")
            number = 1
        elif name == "fine":
            number = len({a for a, _ in _full(release, known)})
        else:
            number = len(measurement.tables)
        if name == "named":
            _check_each(release, measurement, booked[name])
        else:
            _check_price(measurement, booked[name], number)
    return "every table has the noise that its charge buys"


def _known(release: MarginalsRelease) -> dict[str, Measurement]:
    """The measurements by name."""
    known = by_name(release.measurements, _NAMES)
    if "rows" not in known:
        raise Failed("the number of rows was not counted, which all rules read")
    return known


def _check_price(measurement: Measurement, book: Book, number: int) -> None:
    """Sees that tables, in each of which a record is counted once, have the noise of one charge."""
    name = measurement.name
    if measurement.max_contribution != number:
        raise Failed(f"{name} was counted in another number of tables than it was paid for")
    if len(set(measurement.units.tolist())) != 1:
        raise Failed(f"the cells of {name} were not counted alike")
    afford_together(measurement, book)


def _check_each(release: MarginalsRelease, measurement: Measurement, book: Book) -> None:
    """Sees that each table that the schema names has the noise of a charge of its own."""
    if measurement.max_contribution != 1:
        raise Failed("a table that the schema names was paid for together with others")
    starts = np.cumsum([0, *(_size(release.partition, t) for t in measurement.tables)])[:-1]
    rates = [units * measurement.unit for units in measurement.units[starts].tolist()]
    costs = sorted(cost(measurement, rate) for rate in rates)
    if sum(book.entries.values()) != len(costs):
        raise Failed("the tables that the schema names were not paid for one by one")
    paid = sorted(
        units * book.unit for (_, units), times in book.entries.items() for _ in range(times)
    )
    if any(price > one for price, one in zip(costs, paid, strict=True)):
        raise mispriced("named")


def _size(cells: Cells, table: Table) -> int:
    return int(np.prod([cells.size(column) for column in table]))


def _check_tables(release: MarginalsRelease, known: dict[str, Measurement]) -> None:
    """The tables are those of the schema, and pairs that a run may choose."""
    cells, last = release.partition, release.partition.attributes
    counted = [a for a, cut in enumerate(cells.edges) if cut[-1] > 1]
    tables: dict[str, tuple[Table, ...]] = {name: m.tables for name, m in known.items()}
    alone: tuple[Table, ...] = tuple((a,) for a in counted or [0])
    every = (*alone, (last,)) if cells.classes else alone
    base = {"single": every}  # without a class, and where records are few
    if "by_class" in tables:
        base = {"by_class": tuple((*one, last) for one in alone)} if cells.classes else {}
        many, gaussian = cells.classes > _MANY_CLASSES, known["by_class"].law == "gaussian"
        if many or (gaussian and "single" in tables):  # in rho, by how many records there are
            base |= {"single": alone}
    for name in ("single", "by_class"):
        if tables.get(name) != base.get(name):
            raise Failed(f"{name} holds other tables than one for every attribute")
    named = tuple(
        tuple(last if place < 0 else place for place in table.places)
        for table in release.schema.tables
    )
    if tables.get("named", ()) != named:
        raise Failed("other tables were counted as named than those that the schema names")
    further = [table for name in _PAIRS[1:] for table in tables.get(name, ())]
    by_class = [table for table in further if table[2:]]
    if any(table[2:] != (last,) for table in by_class) or (by_class and "by_class" not in tables):
        raise Failed("a pair was counted by something that is no class")
    chosen = [table[:2] for name in _PAIRS for table in tables.get(name, ())]
    related = [a for a in counted if cells.groups[a] > 1][:_MOST_RELATED]
    if not all(a in related and b in related and b < a for a, b in chosen):
        raise Failed("a pair was counted that is no pair of two attributes")
    first = tables.get("pairs", ())
    once = len({*first, *further}), len({table[:2] for table in further})
    if once != (len(chosen), len(further)):
        raise Failed("a pair of attributes was counted twice")
    _check_joined(related, named, chosen, last)
    ends = [name for name in ("again", "more_pairs") if name in tables]
    if "third_pairs" in tables and "second_pairs" not in tables:
        raise Failed("a round of pairs was counted without the one before it")
    if len(ends) > 1 or ("fine" in tables and not (ends or chosen)):
        raise Failed("more was counted than what one last step buys")
    if "again" in tables and tables["again"] != next(iter(base.values())):
        raise Failed("other tables were counted again than those of every attribute")
    if any((name == "rows" or name == "fine") and tables[name] for name in tables):
        raise Failed("tables are named where none is counted")
    if release.settings["chosen"] != {"pairs": len(chosen)}:
        raise Failed("the settings name another number of pairs than was counted")


def _check_joined(
    related: Sequence[int], named: Sequence[Table], chosen: Sequence[Table], last: int
) -> None:
    """Sees that no pair closes a ring while there are attributes that nothing joins."""
    part = list(range(last + 1))

    def join(table: Table) -> None:
        old = {part[column] for column in table if column < last}
        part[:] = [min(old) if p in old else p for p in part]

    for table in named:
        join(table)
    for a, b in chosen:
        if part[a] == part[b] and len({part[c] for c in related}) > 1:
            raise Failed("a pair closes a ring while attributes are not joined")
        join((a, b))


def _had_candidates(release: MarginalsRelease) -> bool:
    """Whether some pair surely could be chosen: it joins what nothing did, and there was room."""
    cells = release.partition
    if release.schema.tables or release.schema.rules:  # which take room, and join attributes
        return False
    groups = [cells.groups[a] for a, cut in enumerate(cells.edges) if cut[-1] > 1]
    groups = sorted([size for size in groups if size > 1][:_MOST_RELATED])
    tables = [t[:2] for m in release.measurements if m.name in _PAIRS for t in m.tables]
    taken = sum(cells.groups[a] * cells.groups[b] for a, b in tables) + sum(cells.groups)
    largest = groups[-1] * groups[-2] if len(groups) > 1 else _ROOM
    return len(tables) < len(groups) - 1 and (taken + largest) * max(1, cells.classes) <= _ROOM


def _accounted(release: MarginalsRelease) -> str:
    """One account pays for everything, and pairs were chosen for what choices cost."""
    booked = books(release.ledger)
    if any(depth for book in booked.values() for depth, _ in book.entries):
        raise Failed("something was not charged to everyone")
    for name, book in booked.items():
        pays = "epsilon" if name == "rows" or release.ledger["accounting"] == "pure" else "rho"
        if book.budget != pays:
            raise Failed(f"{name} is not paid from the budget that pays for it")
        law = {m.name: m.law for m in release.measurements}.get(name)
        if law not in (None, "laplace" if pays == "epsilon" else "gaussian"):
            raise Failed(f"{name} has a noise that its budget does not buy")
    draws, chosen = 0, sum(len(m.tables) for m in release.measurements if m.name in _PAIRS)
    if "relate" in booked:
        if len(booked["relate"].entries) != 1:
            raise Failed("choices of pairs were not paid alike")
        draws = sum(booked["relate"].entries.values())
    # the last round bought other tables, so its choice was "nothing"
    offered = any(m.name == "again" for m in release.measurements) and _had_candidates(release)
    # each round may end with "nothing": the first, and all that bought something later
    ended = 1 + sum(m.name in (*_PAIRS[1:], "again") for m in release.measurements)
    if not chosen + offered <= draws <= chosen + ended:
        raise Failed("another number of pairs was counted than choices were paid for")
    spent: dict[str, dict[str, int]] = {budget: {} for budget in release.ledger["budgets"]}
    for name, book in booked.items():
        spent[book.budget][name] = book.total
    if release.ledger["paths"] != [{"leaves": 1, "spent": spent}]:
        raise Failed("what the path is said to have spent is not what the entries show")
    return "what everybody spent follows from the entries and the tables"


def _cells(release: MarginalsRelease) -> str:
    """Cells follow from the schema, and groups from the noisy numbers that stand before them."""
    cells, schema = release.partition, release.schema
    if not isinstance(cells, Cells) or cells.classes != len(schema.classes):
        raise Failed("what was published has not the shape that the method gives")
    release.check()
    public = [Cells.of(schema, parts) for parts in _PARTS]
    if not any(
        len(cells.edges) == len(one.edges) and all(map(np.array_equal, cells.edges, one.edges))
        for one in public
    ):
        raise Failed("the cells do not follow from the schema")
    known = _known(release)
    if not known.keys() & {*_PAIRS, "again"}:  # pairs were not thought of
        if not all(map(_whole, cells.group)):
            raise Failed("cells were put in groups although no pairs were to be counted")
        return "the cells follow from the schema"
    counts = _deciding(release, known)
    named = {place for table in schema.tables for place in table.places}
    apart = ruled_apart(schema, cells)
    kinds: dict[bool, list[int]] = {True: [], False: []}
    for a, attribute in enumerate(schema.attributes):
        if a in named or a not in counts:
            if not _whole(cells.group[a]):
                raise Failed("cells were put in groups that have to stay whole")
        else:
            kinds[isinstance(attribute, Categorical)].append(a)
    # how many groups numbers have, and how rare is rare, depends on noise alone: some numbers do
    if not any(
        all(cells.group[a].tolist() == _neighbors(counts[a], most, apart[a]) for a in kinds[False])
        for most in _GROUPS
    ):
        raise Failed("the groups of numbers do not follow from the noisy counts")
    shared = [counts[a][np.bincount(cells.group[a])[cells.group[a]] > 1] for a in kinds[True]]
    rare = max([int(few.max()) for few in shared if len(few)], default=None)
    for a in kinds[True]:
        below = counts[a] <= rare if rare is not None else np.zeros(len(counts[a]), np.bool_)
        if cells.group[a].tolist() != _rare_together(below, apart[a]):
            raise Failed("the groups of categories do not follow from the noisy counts")
    return "the cells follow from the schema, their groups from noisy counts"


def _whole(group: Ints) -> bool:
    return bool((group == np.arange(len(group))).all())


def _deciding(release: MarginalsRelease, known: dict[str, Measurement]) -> dict[int, Ints]:
    """The noisy number of records in each cell of attributes, by what counted them alone if any."""
    counts: dict[int, Ints] = {}
    for name in ("single", "by_class"):
        start = 0
        for table in known[name].tables if name in known else ():
            size = _size(release.partition, table)
            values = known[name].values[start : start + size, 0]
            start += size
            if table[0] < release.partition.attributes:
                columns = values.reshape(release.partition.size(table[0]), -1)
                counts.setdefault(table[0], columns.sum(axis=1))
    return counts


def _neighbors(counts: Ints, most: int, apart: Ints) -> list[int]:
    """The groups of a number's cells: a new one begins where another share of all is reached."""
    if len(counts) <= most:
        return list(range(len(counts)))
    values = [max(0, value) for value in counts.tolist()]
    total, before, level, group = max(1, sum(values)), 0, 0, 0
    groups = [0]
    for cell in range(1, len(values)):
        before += values[cell - 1]
        reached = before * most // total
        group += reached != level or apart[cell] != apart[cell - 1]
        level = reached
        groups.append(int(group))
    return groups


def _rare_together(rare: Bools, apart: Ints) -> list[int]:
    """The groups of categories: the rare ones that no rule tells apart are one."""
    numbers: dict[tuple[bool, int], int] = {}
    keys = [(bool(few), int(apart[c] if few else c)) for c, few in enumerate(rare.tolist())]
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _full(release: MarginalsRelease, known: dict[str, Measurement]) -> list[tuple[int, int]]:
    """The cells of numbers that are counted again: wide, and with a 16th of all records."""
    rows = max(0, int(known["rows"].values[0, 0]))
    return [
        (a, cell)
        for a, counts in sorted(_deciding(release, known).items())
        if not isinstance(release.schema.attributes[a], Categorical)
        for cell, count in enumerate(counts.tolist())
        if count * _FINE > rows and np.diff(release.partition.edges[a])[cell] > 1
    ]


def _recounted(release: MarginalsRelease) -> str:
    """The cells that were counted again are those that noisy counts show to be full."""
    known = _known(release)
    if "fine" in known:
        edges = release.partition.edges
        parts = [min(_FINE, int(edges[a][c + 1] - edges[a][c])) for a, c in _full(release, known)]
        if known["fine"].where.tolist() != list(range(sum(parts))):
            raise Failed("other cells were counted again than those that are full")
    return "cells that were counted again are those that are full"


def _upon(release: MarginalsRelease, stored: pa.Table, ours: bool) -> MarginalsRelease:
    """The release whose answers are counts of the rows that are stored, once these are checked.

    Its tables then follow from files alone, whatever the last digits of a fit are.
    """
    if stored.equals(release.stand_ins()):
        return release
    _rows(release, stored, ours)
    found, model = replace(release), replace(release.model)
    vars(model)["stand_ins"] = _codes(release.schema, stored)  # as if they had been drawn
    vars(found)["model"] = model
    return found


def _rows(release: MarginalsRelease, stored: pa.Table, ours: bool) -> None:
    """The rows are those of the model, as nearly as another machine computes it.

    Where a fit ends depends on the last digits of the processor's arithmetic, the more so the more
    its gradient has left (a 50th of the noise, if it converged), and rows are whole, so that a few
    more or less in a cell are nothing. Each measured table of the rows is held to that of the
    model: the root mean square of its differences may be some 20 times what the gradient has left.
    With last digits that were changed at random the largest was 9 times that.

    Rows of another estimator are held to the noisy tables themselves: they may be four deviations
    away, and twice as far as today's rows are. Of honest ones the largest was 2.1 deviations.
    """
    today, schema, name = release.stand_ins(), release.schema, weight_name(release.schema)
    if stored.schema != today.schema or (ours and stored.num_rows != today.num_rows):
        raise Failed("the rows are not as many, or have not the columns, that the model gives")
    weights = stored[name].to_numpy()
    most = release.tables.number / max(1, today.num_rows)
    weight = most if ours else float(weights.sum()) / max(1, len(weights))
    if not np.allclose(weights, weight, rtol=1e-9):
        raise Failed("the weights of rows do not add up to the number of records")
    codes, expected = (_codes(schema, table) for table in (stored, today))
    attributes = len(schema.attributes)
    classes = codes[attributes] if schema.classes else None
    if any(rule.breaks(codes[:attributes], classes).any() for rule in schema.rules):
        raise Failed("a row breaks a rule of the schema")
    for table in release.tables.tables:
        found, model = (
            each * _count(release, table, rows)
            for each, rows in ((weight, codes), (most, expected))
        )
        deviation, few = math.sqrt(table.variance), _FEW * max(weight, most)
        if ours:
            off, near = _size_of(found - model), _NEAR * release.model.left * deviation
        else:
            noisy = table.values.reshape(-1)
            off = _size_of(found - noisy)
            near = _FAR * deviation + _TWICE * _size_of(model - noisy)
        if off > near + few:
            raise Failed("the rows do not follow from what was measured")


def _count(release: MarginalsRelease, table: NoisyTable, codes: Sequence[Ints]) -> Ints:
    """How many rows lie in each cell of a table."""
    parts = release.partition.parts(table.columns, grouped=table.grouped)
    cell = np.zeros(len(codes[0]), np.int64)
    for column, size in zip(table.columns, table.values.shape, strict=True):
        cell = cell * size + parts[column][codes[column]]
    return np.bincount(cell, minlength=table.values.size)


def _size_of(off: Any) -> float:
    """The root mean square of differences."""
    return float(np.sqrt(np.mean(off**2)))


def _codes(schema: Schema, table: pa.Table) -> list[Ints]:
    """The codes of rows, column by column."""
    found = []
    for column in schema.columns:
        values = table[column.name].combine_chunks()
        if isinstance(column, Categorical):
            leaves = pa.array([leaf.lower() for leaf in column.taxonomy.leaves])
            if pa.types.is_boolean(values.type):
                codes = pc.index_in(values.cast(pa.string()), leaves)
            else:
                codes = pc.index_in(values.cast(pa.string()), pa.array(column.taxonomy.leaves))
            codes = codes.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        else:
            if pa.types.is_date(values.type):
                values = values.cast(pa.int32())
            there = values.is_valid().to_numpy(zero_copy_only=False)
            number = pc.fill_null(values, 0).to_numpy(zero_copy_only=False)
            below = (number - float(column.low)) / float(column.step)
            # a decimal is a point of the grid, a whole number lies in a cell of it
            below = np.rint(below) if column.kind == "decimal" else np.floor(below)
            inside = (below >= 0) & (below < column.grid)
            codes = np.where(there, np.where(inside, below, -1), column.grid).astype(np.int64)
        if ((codes < 0) | (codes >= column.size)).any():
            raise Failed("a row holds a value that the schema does not have")
        found.append(codes)
    return found


RULES = {
    "tuned-1": Rules(
        books={"ledger": check_ledger, "paths": check_paths},
        spending=spending,
        checks={
            "tables": _cells,
            "measurements": _measured,
            "recounted": _recounted,
            "accounts": _accounted,
            "order": check_order,
        },
        settings=frozenset(("schedule", "chosen", "pairs")),
        chosen=frozenset(("pairs",)),
        upon=_upon,
    )
}
