"""The rules for Marginals: every table has the noise that its charge buys, and all else follows.

Everybody pays for everything, one after the other, so there is one account, and every entry stands
at depth 0. What is published without noise (cells, groups, which cells are counted again, rows) is
worked out again from the noisy numbers; so is what is spent on what, from the noisy number of rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.arrays import Bools, Ints
from hedgerow.estimate.junction import JunctionTree
from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.tables import Cells, NoisyTable, ruled_apart
from hedgerow.release.files import weight_name
from hedgerow.release.table_releases import MarginalsRelease
from hedgerow.schema import Categorical, Schema
from hedgerow.verification import rules
from hedgerow.verification.rules import Book, Failed, Rules, refuse, whole

_PAIRS = (
    "pairs", "second_pairs", "third_pairs", "fourth_pairs", "fifth_pairs", "sixth_pairs",
    "seventh_pairs", "eighth_pairs", "more_pairs",
)  # fmt: skip
_FURTHER = ((8, 2), (3, 4), (1, 4))  # rounds at most, pairs in each at least; then as it was before
_NAMES = ("rows", "single", "by_class", "fine", *_PAIRS, "again", "named")
_UNITS, _ROWS_UNITS = 99_000, 1_000  # for tables, and for the number of rows
_MANY_CLASSES = 4
_FINE = 16
_FEWEST_GROUPS, _MOST_GROUPS = 3, 32
_MOST_PAIRS, _MOST_RELATED = 1_000, 100
_MOST_BY_CLASS = 1 << 22  # cells of pairs by the class
_ROOM = 60_000  # cells of a model
_MOST_NAMED, _EACH_NAMED = 0.4, 0.1  # of the budget
_CHOICES, _AGAIN = 0.1, 0.08  # of what is not for every attribute
_NUDGES = (1.0, 1 - 1e-9, 1 + 1e-9)  # for the last digits of another processor
_NEAR, _FEW = 20, 3  # times what the gradient has left, and rows
_FAR, _TWICE = 4, 2  # deviations, and times as far as today's rows are

Columns = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class _Shares:
    """What the noisy number of rows lets a run spend on what.

    Args:
        parts: In how many parts numbers are cut.
        units: The units of each charge for a purpose, where that is fixed.
        rest: What takes all that is left.
        rounds: How many pairs each round may choose.
        noise: The deviation of the noise on pairs of the last round: at least, and at most.
    """

    parts: int
    units: dict[str, tuple[int, ...]]
    rest: tuple[str, ...]
    rounds: dict[str, int]
    noise: tuple[float, float] = (1.0, 1.0)

    def agree(self, booked: dict[str, Book]) -> bool:
        """Whether this is what was booked, but for the last digits of a share."""
        for name, book in booked.items():
            due = sorted(self.units.get(name, ()))
            paid = [units for _, units in book.entries] if name == "relate" else _prices(book)
            if name not in self.rest and (
                len(paid) != len(due)
                or any(abs(one - other) > 1 for one, other in zip(paid, due, strict=True))
            ):
                return False
        rounds = booked.keys() & {*_PAIRS}
        return rounds <= self.rounds.keys() and (
            self.rest[0] not in rounds or rounds >= {*self.rounds} - {_PAIRS[0]}
        )


def _prices(book: Book) -> list[int]:
    """The units of each charge for a purpose, the cheapest first."""
    if sum(book.entries.values()) > _MOST_PAIRS:
        raise Failed(f"{book.purpose} was booked more often than any run does")
    return sorted(units for (_, units), times in book.entries.items() for _ in range(times))


def _shares(release: MarginalsRelease) -> _Shares:
    """The shares that the books show; if there are none, those that follow from the rows."""
    booked = rules.books(release.ledger)
    book = booked["by_class" if "by_class" in booked else "single"]
    every = [_share(release, book, nudge, rule) for rule in _FURTHER for nudge in _NUDGES]
    return next((one for one in every if one.agree(booked)), every[0])


def _share(
    release: MarginalsRelease, book: Book, nudge: float, further: tuple[int, int]
) -> _Shares:
    """How the noisy number of rows shares out the budget.

    Args:
        release: The release: its schema, its number of rows, its setting `pairs`.
        book: What was booked for every attribute, in the budget that pays for tables.
        nudge: What last digits may do to numbers that are rounded down, or held to a mark.
        further: How many rounds there are at most after the first, and how many pairs each of them
            has at least, if there are several.
    """
    schema, pure = release.schema, release.ledger["accounting"] == "pure"
    rows = nudge * max(0, int(_measurements_by_name(release)["rows"].values[0, 0]))
    budget, classes = float(book.unit * _UNITS), len(schema.classes)
    counted = max(1, sum(attribute.size > 1 for attribute in schema.attributes))

    def deviation(share: float, tables: int) -> float:
        if pure:
            return math.sqrt(2) * tables / (budget * share)
        return math.sqrt(tables / (2 * budget * share))

    weights = [float(table.weight) for table in schema.tables]
    for_named = min(_MOST_NAMED, _EACH_NAMED * len(weights))
    named = tuple(max(1, int(_UNITS * for_named * one / sum(weights))) for one in weights)
    strength = rows / deviation(1 - for_named, counted)
    few, many = (150, 1500) if pure else (100, 1000)
    least = (0.8 if pure else 0.5) if classes else (0.45 if pure else 0.3)
    far = math.log(max(strength, 1e-9) / few) / math.log(many / few)
    base = (1 - for_named) * (0.97 - (0.97 - least) * min(1.0, max(0.0, far)))
    left = 1 - for_named - base
    fine = 0.0 if all(isinstance(a, Categorical) for a in schema.attributes) else _AGAIN * left
    choices = _CHOICES * left
    for_pairs = left - choices - fine
    pairs = release.settings["pairs"]
    if pairs is None and pure:  # 120 or 80 records for each deviation of the noise
        pairs = int(budget * for_pairs * rows / (math.sqrt(2) * 120))
    elif pairs is None:
        pairs = int(2 * budget * for_pairs * (rows / 80) ** 2)
    elif whole(pairs, 1) > _MOST_PAIRS:
        raise Failed("the settings name more pairs than a run may be told to count")
    pairs = min(pairs, 2 * (counted - 1), counted * (counted - 1) // 2)
    pairs = min(pairs, int(_UNITS * choices * nudge))
    if not pairs:
        base = 1 - for_named
    alone = 0.0
    if not classes or strength < 10:
        alone = base
    elif classes > _MANY_CLASSES:
        alone = 0.4 * base
    elif strength < 100 and not pure:
        alone = 0.25 * base
    clear = rows > 2 * 16 * 6 * deviation(base - alone or alone, counted)
    shares = {"single": alone, "by_class": base - alone, "fine": fine if pairs else 0.0}
    units: dict[str, tuple[int, ...]] = {"rows": (_ROWS_UNITS,), "named": named}
    units |= {name: (int(_UNITS * share),) for name, share in shares.items() if share}
    if not pairs:
        last = "by_class" if "by_class" in units else "single"
        return _Shares(parts=32 if clear else 16, units=units, rest=(last,), rounds={})
    first = min(pairs, counted - 1)
    number = max(1, min(further[0], (pairs - first) // further[1]))
    ends = [(pairs - first) * place // number for place in range(number + 1)]
    planned = [first, *(b - a for a, b in zip(ends, ends[1:], strict=False) if b > a)]
    names = (*_PAIRS[: len(planned) - 1], _PAIRS[-1]) if planned[1:] else _PAIRS[:1]
    paid = [int(_UNITS * for_pairs * each / pairs) for each in planned]
    units |= {name: (each,) for name, each in zip(names, paid, strict=True)}
    units |= {"relate": (int(_UNITS * choices / pairs),)}
    low, high = (
        deviation(max(1, paid[-1] + more) / _UNITS, planned[-1]) * (1 - more * 1e-6)
        for more in (1, -1)
    )
    return _Shares(
        parts=32 if clear else 16,
        units=units,
        rest=(names[-1], "again"),
        rounds=dict(zip(names, planned, strict=True)),
        noise=(low, high * (1 + high**2 / 2**48)),  # rates are rounded down
    )


def _check_measurements(release: MarginalsRelease) -> str:
    """Every table is one that the method counts, with the noise that its charge buys."""
    known, booked = _measurements_by_name(release), rules.books(release.ledger)
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
            continue
        if measurement.max_contribution != number:
            raise Failed(f"{name} was counted in another number of tables than it was paid for")
        alike = len(set(measurement.units.tolist())) == 1
        refuse(not alike, f"the cells of {name} were not counted alike")
        rules.afford_together(measurement, booked[name])
    return "every table has the noise that its charge buys"


def _measurements_by_name(release: MarginalsRelease) -> dict[str, Measurement]:
    """The measurements by name."""
    known = rules.by_name(release.measurements, _NAMES)
    refuse("rows" not in known, "the number of rows was not counted, which all rules read")
    return known


def _check_each(release: MarginalsRelease, measurement: Measurement, book: Book) -> None:
    """Sees that each table that the schema names has the noise of a charge of its own."""
    if measurement.max_contribution != 1:
        raise Failed("a table that the schema names was paid for together with others")
    starts = np.cumsum([0, *(_size(release.partition, t) for t in measurement.tables)])[:-1]
    rates = [units * measurement.unit for units in measurement.units[starts].tolist()]
    weights = [table.weight for table in release.schema.tables]
    by_weight = sorted(range(len(rates)), key=weights.__getitem__)
    costs = [rules.cost(measurement, rates[place]) for place in by_weight]
    paid = _prices(book)
    refuse(len(paid) != len(costs), "the tables that the schema names were not paid for one by one")
    if any(price > units * book.unit for price, units in zip(costs, paid, strict=True)):
        raise rules.mispriced("named")


def _size(cells: Cells, table: Columns) -> int:
    return int(np.prod([cells.size(column) for column in table]))


def _check_tables(release: MarginalsRelease, known: dict[str, Measurement]) -> None:
    """The tables are those of the schema, and pairs that a run may choose, in its order."""
    cells, last, shares = release.partition, release.partition.attributes, _shares(release)
    tables: dict[str, tuple[Columns, ...]] = {name: m.tables for name, m in known.items()}
    alone: tuple[Columns, ...] = tuple((a,) for a in cells.counted or (0,))
    base = {"single": alone, "by_class": tuple((*one, last) for one in alone)}
    base = {name: every for name, every in base.items() if name in shares.units}
    if cells.classes and "by_class" not in base:
        base["single"] = (*alone, (last,))
    for name in ("single", "by_class"):
        if tables.get(name) != base.get(name):
            raise Failed(f"{name} holds other tables than one for every attribute")
    named = _tables_asked_for(release)
    if tables.get("named", ()) != named:
        raise Failed("other tables were counted as named than those that the schema names")
    _choices(release)
    if "again" in tables and tables["again"] != [*base.values()][-1]:
        raise Failed("other tables were counted again than those of every attribute")
    if any((name == "rows" or name == "fine") and tables[name] for name in tables):
        raise Failed("tables are named where none is counted")
    rounds = [name for name in shares.rounds if name in tables]
    later = [*shares.rounds][1:] or [*shares.rounds]
    bought = [name for name in later if name in tables]
    refuse(bought != later[: len(bought)], "a round of pairs was counted without the one before it")
    end = ["again"] if len(bought) < len(later) else []
    if [name for name in tables if name in (*_PAIRS, "again")] != [*rounds, *end]:
        raise Failed("other pairs were counted, or more, than what one last step ends")
    fine = ["fine"] if "fine" in shares.units and _full(release, known) else []
    steps = ["rows", *(["named"] if named else []), *base, *fine]
    if [*tables] != [*steps, *rounds, *end]:
        raise Failed("the measurements are not those of a run, in its order")
    if release.settings["chosen"] != {"pairs": sum(len(tables.get(name, ())) for name in _PAIRS)}:
        raise Failed("the settings name another number of pairs than was counted")


def _tables_asked_for(release: MarginalsRelease) -> tuple[Columns, ...]:
    """The columns of the tables that the schema names; the class comes after the attributes."""
    last = len(release.schema.attributes)
    every = [table.places for table in release.schema.tables]
    return tuple(tuple(last if place < 0 else place for place in places) for places in every)


def _choices(release: MarginalsRelease) -> int:
    """How many choices a run made, of pairs and of nothing, as far as pairs could be chosen.

    Choices are made once more in the order in which pairs stand: while attributes are not joined,
    a pair joins some, and none makes the model too large. A round ends with nothing if it has
    fewer pairs than it may have, and there was one to choose.
    """
    cells, last, shares = release.partition, release.partition.attributes, _shares(release)
    tables = {m.name: m.tables for m in release.measurements}
    related = [a for a in cells.counted if cells.groups[a] > 1][:_MOST_RELATED]
    every = [(a, b) for a in related for b in related if b < a]
    size = sum(cells.groups[a] * cells.groups[b] for a, b in every) * cells.classes
    by_class = len(shares.rounds) > 1 and "by_class" in shares.units and size <= _MOST_BY_CLASS
    queries = [query for rule in release.schema.rules for query in rule.impossible]
    together = [(a,) for a in range(last)] + [tuple(a for a, _ in one.where) for one in queries]
    part = list(range(last))

    def join(table: Columns) -> None:
        together.append(tuple(column for column in table if column < last))
        old = {part[column] for column in together[-1]}
        part[:] = [min(old) if p in old else p for p in part]

    def fits(pairs: Sequence[tuple[int, int]]) -> bool:
        tree = JunctionTree.of(cells.groups[:last], together)
        room = _ROOM / max(1, cells.classes) - tree.cells
        return min(tree.growth(pairs), default=math.inf) <= room

    for table in _tables_asked_for(release):
        join(table)
    draws, taken, first = 0, set[Columns](), tables.get(_PAIRS[0], ())
    for name, most in shares.rounds.items():
        further, chosen = name != _PAIRS[0], tables.get(name, ())
        for table in chosen:
            a, b = pair = table[:2]
            if pair not in every:
                raise Failed("a pair was counted that is no pair of two attributes")
            if table[2:] and not (further and by_class and table[2:] == (last,)):
                raise Failed("a pair was counted by something that is no class")
            if pair in taken or (further and table in first):
                raise Failed("a pair of attributes was counted twice")
            if part[a] == part[b] and len({part[c] for c in related}) > 1:
                raise Failed("a pair closes a ring while attributes are not joined")
            if not fits([pair]):
                raise Failed("a pair makes a larger model than a run lets it become")
            taken.add(pair)
            join(pair)
        refuse(len(chosen) > most, "a round has more pairs than the number of rows lets it choose")
        left = [pair for pair in every if pair not in taken]
        left = [(a, b) for a, b in left if part[a] != part[b]] or left
        draws += len(chosen) + (len(chosen) < most and fits(left))
        if not chosen and (further or len(shares.rounds) == 1):
            break
        if not further and by_class:
            taken = set()
    return draws


def _check_accounts(release: MarginalsRelease) -> str:
    """One account pays for everything, and pairs were chosen for what choices cost."""
    booked = rules.books(release.ledger)
    if any(depth for book in booked.values() for depth, _ in book.entries):
        raise Failed("something was not charged to everyone")
    for name, book in booked.items():
        pays = "epsilon" if name == "rows" or release.ledger["accounting"] == "pure" else "rho"
        refuse(book.budget != pays, f"{name} is not paid from the budget that pays for it")
        law = {m.name: m.law for m in release.measurements}.get(name)
        if law not in (None, "laplace" if pays == "epsilon" else "gaussian"):
            raise Failed(f"{name} has a noise that its budget does not buy")
    choices = booked["relate"].entries if "relate" in booked else {}
    refuse(len(choices) > 1, "choices of pairs were not paid alike")
    if sum(choices.values()) != _choices(release):
        raise Failed("another number of pairs was counted than choices were paid for")
    pure = release.ledger["accounting"] == "pure"
    units = {"epsilon": _ROWS_UNITS + _UNITS} if pure else {"epsilon": _ROWS_UNITS, "rho": _UNITS}
    if units != {name: units for name, (_, units) in rules.budgets(release.ledger).items()}:
        raise Failed("the budget is not cut into the units of the method")
    if not _shares(release).agree(booked):
        raise Failed("shares of the budget do not follow from the noisy number of rows")
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
    shares, known = _shares(release), _measurements_by_name(release)
    public = Cells.of(schema, shares.parts).edges
    if len(cells.edges) != len(public) or not all(map(np.array_equal, cells.edges, public)):
        raise Failed("the cells do not follow from the schema and the noisy number of rows")
    if not shares.rounds:  # pairs were not thought of
        if not all(map(_whole, cells.group)):
            raise Failed("cells were put in groups although no pairs were to be counted")
        return "the cells follow from the schema"
    counts = _deciding(release, known)
    named = {place for table in schema.tables for place in table.places}
    apart = ruled_apart(schema, cells)
    kinds: dict[bool, list[int]] = {True: [], False: []}
    for a, attribute in enumerate(schema.attributes):
        if a in named or a not in counts:
            refuse(not _whole(cells.group[a]), "cells were put in groups that have to stay whole")
        else:
            kinds[isinstance(attribute, Categorical)].append(a)
    rows = max(0, int(known["rows"].values[0, 0]))
    few, many = (round(math.sqrt(rows / noise) / 2) for noise in reversed(shares.noise))
    few, many = (min(_MOST_GROUPS, max(_FEWEST_GROUPS, groups)) for groups in (few, many))
    if not any(
        all(
            cells.group[a].tolist() == _neighbors(counts[a], groups, apart[a]) for a in kinds[False]
        )
        for groups in range(few, many + 1)
    ):
        raise Failed("the groups of numbers do not follow from the noisy counts")
    low, high = (round(2 * noise) for noise in shares.noise)
    seen = {count + 1 for a in kinds[True] for count in counts[a].tolist() if low <= count < high}
    if not any(
        all(
            cells.group[a].tolist() == _rare_together(counts[a] < rare, apart[a])
            for a in kinds[True]
        )
        for rare in (low, *seen)
    ):
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


def _check_recount(release: MarginalsRelease) -> str:
    """The cells that were counted again are those that noisy counts show to be full."""
    known = _measurements_by_name(release)
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
        refuse(off > near + few, "the rows do not follow from what was measured")


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
        books={"ledger": rules.check_ledger, "paths": rules.check_paths},
        spending=rules.spending,
        checks={
            "tables": _cells,
            "measurements": _check_measurements,
            "recounted": _check_recount,
            "accounts": _check_accounts,
            "order": rules.check_order,
        },
        settings=frozenset(("schedule", "chosen", "pairs")),
        chosen=frozenset(("pairs",)),
        upon=_upon,
    )
}
