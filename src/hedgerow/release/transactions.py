"""`TransactionsRelease`: published transactions, and what can be made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from shlex import quote
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Ints
from hedgerow.errors import UsageError
from hedgerow.estimate.answers import Answers
from hedgerow.estimate.cells import check_whole
from hedgerow.estimate.core import ItemsetModel, rows_table
from hedgerow.estimate.itemsets import (
    answer_sets,
    find_associations,
    frequent_sets,
    list_itemsets,
    model_of,
    read_sets,
    text_blocks,
)
from hedgerow.estimate.partition import CoreCells, Itemsets
from hedgerow.estimate.queries import check_level
from hedgerow.release.base import By, MeasuredRelease, Names, Questions, Where
from hedgerow.release.count_tables import (
    Bins,
    CountTable,
    Spread,
    check_table,
    names_in,
    spread_of,
    tabulate,
)
from hedgerow.release.files import ROWS_SEED, Content, weighted
from hedgerow.schema import Items
from hedgerow.store.frames import Frame
from hedgerow.suggestions import ITEMS, answer_mistakes, as_text

MOST_TOGETHER, PAIRED = 2, 20  # items in a table's cells; items of which pairs are shown
MOST_STAND_INS = 100_000
ITEMSETS, ITEMSETS_TEXT = "itemsets.parquet", "itemsets.txt"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TransactionsRelease(MeasuredRelease):
    """Noisy counts of itemsets, with the guarantee they were made under.

    Args:
        partition: The public regions: the cells of a core, or a tree of cuts.
        measurements: The noisy counts.

    Example:
        >>> from fractions import Fraction
        >>> from hedgerow.estimate.measurements import Measurement
        >>> from hedgerow.estimate.partition import CoreCells
        >>> from hedgerow.schema import Schema
        >>> schema = Schema.from_dict({
        ...     "name": "shop", "unit": "row", "items": {"universe": ["milk", "tea"]}})
        >>> counted = Measurement(name="cell", at="region", where=np.arange(4),
        ...                       values=np.array([[1], [60], [31], [9]]), by_class=False,
        ...                       units=np.ones(4, np.int64), unit=Fraction(1))
        >>> release = TransactionsRelease(
        ...     schema=schema, method="diffpart", settings={}, guarantee={"epsilon": "1"},
        ...     ledger={}, partition=CoreCells(np.array([0, 1]), np.array([0])),
        ...     measurements=(counted,))
        >>> release
        TransactionsRelease('diffpart', schema='shop', epsilon=1, items=2)
        >>> release.itemsets().to_pydict()
        {'count': [60, 31, 9], 'items': [['milk'], ['tea'], ['milk', 'tea']]}
        >>> release.count(("milk", "tea")).low.tolist(), release.count("milk").high.tolist()
        ([6.0], [73.0])
    """

    _suggestions = ITEMS
    _named = "release.count({!r})"
    _everybody = ()  # the empty set is in every record

    kind = of = "transactions"
    shapes = ("core", "cuts")
    derived = (ITEMSETS, ITEMSETS_TEXT)

    partition: Itemsets

    def _describe(self) -> dict[str, Any]:
        column = self.items.person
        core = isinstance(self.partition, CoreCells)
        # under the published thresholds perhaps nothing was published
        number = 0
        summary = (
            "It holds nothing: no set of items reached the published thresholds. Every estimate "
            "is 0, and says nothing of the records."
        )
        if any(len(one.where) for one in self.measurements):
            number = self.items.size if core else self.partition.cells
            summary = (
                f"It holds noisy counts: {self._counted()}. No raw record is in it, and no exact "
                "count."
            )
        protected = "any one record (one record is one person)"
        if column is not None:
            protected = f"any one person (one value of {column}, with all its items)"
        return {
            "parts": "items" if core else "itemsets",
            "part": "item" if core else "partition",
            "number": number,
            "summary": summary,
            "record": "record",
            "largest": "most frequent itemsets",
            "protected": protected,
        }

    @property
    def example(self) -> str:
        """See `Release.example`."""
        return quote(", ".join(self.items.given[:2]))

    def _counted(self) -> str:
        """What was counted, in words."""
        those = self.schema.unit_names[1]
        if not isinstance(self.partition, CoreCells):
            return f"how many {those} hold which groups of items together"
        core = [self.items.labels[code] for code in self.partition.core.tolist()]
        number = len(core)
        if number == self.items.size:
            return f"how many {those} hold which of the {number} items together"
        if number < 2:
            return f"how many {those} hold each of {self.items.size} items, and how many items each"
        return (
            f"how many {those} hold each of {self.items.size} items, how many items {those} have, "
            f"and which of the {number} most frequent items go together ({', '.join(core)})"
        )

    def _examples(self) -> Mapping[str, str]:
        given = self.items.given
        return {"method": self.method, "one": as_text(given[0]), "two": as_text(given[-1])}

    @property
    def items(self) -> Items:
        """The public universe."""
        return self.schema.transaction_items

    @cached_property
    def model(self) -> ItemsetModel:
        """What the measurements say about all itemsets; made when it is first needed."""
        return model_of(self.items, self.partition, self.measurements)

    def itemsets(self, kind: str | None = None) -> Frame:
        """The itemsets whose noisy count stands out of the noise, with that count.

        A row stands for the records with just these items (and so many others, where the
        column `others` is there), so that no record counts in two rows. How many records hold some
        items among others is for `count` to say. Without estimates, and the largest first.

        Args:
            kind: The kind of frame wanted.
        """
        return self._frame(list_itemsets(self.items, self.partition, self.measurements), kind)

    @answer_mistakes
    def count(self, queries: Questions, *, level: float = 0.95) -> Answers:
        """How many records hold all items of a set, whatever else they hold?

        Args:
            queries: One itemset, such as {"milk", "tea"}, or a list, which is always one of several
                itemsets, such as ["tea", {"milk", "tea"}]. The empty set is in every record. A
                group of the taxonomy, such as "dairy", stands for anything of it.
            level: The probability that an interval holds the truth, at least.

        Returns:
            Estimates with intervals, in the order of the sets. There is no upper bound where
            small counts were suppressed (schedule `paper`).

        Raises:
            UsageError: If a set cannot be understood, or the level is not between 0 and 1.

        Example:
            >>> from hedgerow import publish, sample
            >>> baskets = pa.table({"items": sample.transactions(300, seed=1)})
            >>> release = publish(baskets, sample.shop_schema(), epsilon=10, seed=1)
            >>> release.count([["tea"], ["tea", "milk"]])["estimate"].round().tolist()
            [57.0, 29.0]
        """
        return self._answer(read_sets(queries, self.items), check_level(level))

    def _answer(self, queries: list[Any], level: float) -> Answers:
        answers = answer_sets(self.model, queries, level)
        return replace(answers, asked=(queries, partial(_writer, self.items)))

    @answer_mistakes
    def frequent(self, k: int = 20, *, level: float = 0.95, kind: str | None = None) -> Frame:
        """The k itemsets that most records hold, as far as the release tells.

        Args:
            k: How many; fewer are found if fewer are estimated to be in any record.
            level: The probability that an interval holds the truth, at least, for a set that was
                not picked for its count.
            kind: The kind of frame wanted.

        Returns:
            A frame with the columns `items`, `estimate`, `low`, `high`, `typical_error`,
            `reliability` and `basis`, the largest first.

        Raises:
            UsageError: If k or the level cannot be meant.

        Example:
            >>> from hedgerow import publish, sample
            >>> baskets = pa.table({"items": sample.transactions(300, seed=1)})
            >>> release = publish(baskets, sample.shop_schema(), epsilon=10, seed=1)
            >>> release.frequent(2)["items"].to_pylist()
            [['bread'], ['milk']]
        """
        share = check_level(level)
        sets, estimate = frequent_sets(self.model, self.items, k)
        answers = answer_sets(self.model, sets, share)
        names = self.items.labels
        items = pa.array([[names[c] for c in one] for one in sets], pa.list_(pa.string()))
        found = replace(answers, estimate=estimate).to_arrow()
        return self._frame(found.add_column(0, "items", items), kind)

    @answer_mistakes
    def rules(
        self,
        k: int = 100,
        *,
        least: float = 0.5,
        level: float = 0.95,
        kind: str | None = None,
    ) -> Frame:
        """Association rules among frequent itemsets: who holds these items holds that one, too.

        Args:
            k: From how many of the most frequent itemsets rules are made.
            least: The least estimated confidence of a rule.
            level: The probability that an interval holds the truth, at least, for a rule that was
                not picked for what the release says of it.
            kind: The kind of frame wanted.

        Returns:
            A frame with a row for each rule, the largest confidence first: `given` and `then`, and
            for `support`, `confidence` and `lift` the estimate and the ends of an interval, such as
            `lift`, `lift_low` and `lift_high`.

        Raises:
            UsageError: If k, the least confidence or the level cannot be meant.

        Example:
            >>> from hedgerow import publish, sample
            >>> baskets = pa.table({"items": sample.transactions(300, seed=1)})
            >>> release = publish(baskets, sample.shop_schema(), epsilon=10, seed=1)
            >>> release.rules(20, least=0.3).column_names[:3]
            ['given', 'then', 'support']
        """
        share = check_level(level)
        if not 0 <= least <= 1:
            raise UsageError(
                "the least confidence is no number from 0 to 1", hint="Take 0.5, for example."
            )
        return self._frame(find_associations(self.model, self.items, k, least, share), kind)

    @answer_mistakes
    def synthesize(
        self,
        n: int | None = None,
        *,
        seed: int | None = None,
        kind: str | None = None,
        form: str = "lists",
    ) -> Frame:
        """Synthetic transactions that follow the release, in random order.

        Args:
            n: How many; without it, as many as the release counts.
            seed: For the same ones again.
            kind: The kind of frame wanted.
            form: "lists", one row per record with the list of its items, or "long", one row per
                record and item.

        Raises:
            UsageError: If n is negative, the form is unknown, or there is nothing to draw from.

        Example:
            >>> from hedgerow import publish, sample
            >>> baskets = pa.table({"items": sample.transactions(300, seed=1)})
            >>> release = publish(baskets, sample.shop_schema(), epsilon=10, seed=1)
            >>> release.synthesize(2, seed=4).to_pydict()
            {'items': [['honey', 'carrots'], ['eggs', 'apples', 'fish']]}
        """
        return self._frame(self._draw(n, seed, form), kind)

    def _draw(self, n: int | None, seed: int | None, form: str = "lists") -> pa.Table:
        """See `Release._draw`."""
        check_whole("n", n)
        check_whole("seed", seed)
        start, codes = self.model.draw(n, np.random.default_rng(seed))
        return rows_table(self.items, start, codes, form)

    def stand_ins(self) -> pa.Table:
        """See `Release.stand_ins`: as many as are counted, but for very many."""
        total = max(0, round(float(self.count_all())))
        number = min(total, MOST_STAND_INS)
        return weighted(self._draw(number, ROWS_SEED), self.schema, total / max(1, number))

    def counted_tables(self) -> list[tuple[str, ...]]:
        """See `Release.counted_tables`."""
        return [("item",), ("item", "item")] if self.items.size > 1 else [("item",)]

    def plain_tables(self) -> Iterator[tuple[tuple[str, ...], pa.Table]]:
        """See `Release.plain_tables`."""
        for names in self.counted_tables():
            table = self.table(*names)
            yield table.names, table.to_arrow()

    @answer_mistakes
    def table(
        self,
        *attributes: Names,
        by: By = None,
        where: Where = None,
        share: bool = False,
        level: float = 0.95,
        simultaneous: bool = False,
        bins: Bins | None = None,
        top: int | None = None,
    ) -> CountTable:
        """How many records hold each item, or each pair of items; see docs/tables.md.

        Args:
            attributes: "item", or "item" twice for pairs of the most frequent items.
            by: "item", for pairs too: shares are then of the records that hold it.
            where: Items that all records must hold too.
            share: Whether shares are wanted rather than counts: of all records, or of each group.
            level: The probability that an interval holds the truth, at least, for a cell that was
                not picked for its count (see `top`).
            simultaneous: Whether it should hold for all cells of the table at once.
            bins: Not for items.
            top: So many items, or pairs of so many, the most frequent first; all items by default,
                and pairs of 20.

        Raises:
            UsageError: If the table or the condition cannot be understood.

        Example:
            >>> from hedgerow import publish, sample
            >>> baskets = pa.table({"items": sample.transactions(300, seed=1)})
            >>> release = publish(baskets, sample.shop_schema(), epsilon=10, seed=1)
            >>> release.table("item", top=2)["item"].tolist()
            ['bread', 'milk']
        """
        groups = names_in(() if by is None else (by,))
        wanted = (*names_in(attributes or ("item",)), *groups)
        check_table(top, simultaneous, share)
        if any(name != "item" for name in wanted) or len(wanted) > MOST_TOGETHER or bins:
            hint = "Write item, or item item for pairs, without bins."
            if some := [name for name in wanted if name in self.items.labels]:
                hint += f" For {', '.join(some)} alone ask `query`, or `count` in Python."
            raise UsageError("transactions have tables of items and of pairs of items", hint=hint)
        given: Any = where or ()
        held = [given] if isinstance(given, str | int) else list(given)
        labels = list(self.items.labels)
        if len(wanted) == MOST_TOGETHER:
            kept = np.argsort(-self.count([[one] for one in labels]).estimate, kind="stable")
            labels = [labels[place] for place in kept[: top or PAIRED]]
        sets = [list(one) for one in combinations(labels, len(wanted))]
        if not sets:
            raise UsageError("there are no pairs of one item", hint="Take a larger top.")
        names = ("item", "with")[: len(wanted)]
        found = tabulate(
            names, tuple(zip(*sets, strict=True)), [[*one, *held] for one in sets], [*held],
            self.count, share, level, simultaneous,
            [(one[-1], *held) for one in sets] if groups else None, names[-1:] if groups else (),
        )  # fmt: skip
        if len(wanted) == MOST_TOGETHER:  # whose items were picked, even if all pairs hold at once
            found = replace(found, picked=len(labels) < self.items.size)
        return found.largest(len(found) if top is None or len(wanted) > 1 else top)

    @cached_property
    def _histograms(self) -> tuple[Spread, ...]:
        labels = tuple(self.items.labels)
        answers = self.count([[label] for label in labels])
        return (spread_of("item", labels, tuple(range(len(labels) + 1)), answers),)

    def own_files(self) -> Iterator[tuple[str, Content]]:
        """See `Release.own_files`."""
        yield from super().own_files()
        found = list_itemsets(self.items, self.partition, self.measurements)
        yield ITEMSETS, found
        yield ITEMSETS_TEXT, text_blocks(found)

    def check(self) -> None:
        """See `Release.check`."""
        self.partition.check(self.items)
        size = self.items.size
        self._check_places({"item": size, "size": size + 1})


def _writer(items: Items) -> Callable[[Ints], str]:
    """What writes an itemset in words."""
    groups, size = items.taxonomy.labels, items.size

    def words(codes: Ints) -> str:
        named = [items.labels[c] if c < size else groups[c - size] for c in codes.tolist()]
        return ", ".join(named) or "everybody"

    return words
