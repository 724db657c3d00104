"""`Release`: what all kinds of release have in common, said once."""

from __future__ import annotations

import inspect
import math
import os
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Never, Self, TypeVar, Unpack, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Floats, Ints
from hedgerow.errors import ArgumentError, UsageError
from hedgerow.estimate.answers import Answers
from hedgerow.estimate.cells import labels_of, probabilities_of
from hedgerow.estimate.consistency import is_censored
from hedgerow.estimate.measurements import Alike, Measurement, exact
from hedgerow.estimate.partition import Itemsets, Partition, check_names
from hedgerow.estimate.queries import check_level, read_many
from hedgerow.estimate.tables import Cells
from hedgerow.registry import load
from hedgerow.release import files
from hedgerow.release.count_tables import (
    Axes,
    Bins,
    CountTable,
    Division,
    Spread,
    Summaries,
    TableOptions,
    bands,
    bins,
    cells_of,
    check_table,
    divisions_of,
    draw_table,
    join,
    names_in,
    rows_of_cells,
    spread_of,
    summarize,
    tabulate,
)
from hedgerow.release.files import Content, Document
from hedgerow.schema import CLASS, Categorical, Numeric, Query, Schema
from hedgerow.schema.query import Vocabulary
from hedgerow.schema.schema import display_label
from hedgerow.store.frames import Frame, Framed, as_kind
from hedgerow.store.untrusted import broken
from hedgerow.suggestions import RELEASE, answer_mistakes, as_text

if TYPE_CHECKING:
    from hedgerow.ledger.ledger import Booking

# A release in words, as commands, reports and notebooks tell it.


@dataclass(frozen=True, kw_only=True)
class Description:
    """A release in words, all of them public.

    Args:
        parts: What it is made of, as a name for programs.
        part: One of these, for people.
        number: How many there are.
        summary: What it holds, as a sentence or two.
        largest: What to show first.
        protected: Who is hidden: the unit of protection.
        suppressed: What is not published and why, as sentences; None if everything is.
        people: What its counts are of.
        counts: How the published counts come about, as sentences.
        processed: What is computed from them, as a sentence.
        record: What one of the records is called that are drawn from it.
    """

    parts: Literal["regions", "tables", "items", "itemsets", "rows"]
    part: str
    number: int
    summary: str
    largest: str
    protected: str
    suppressed: str | None
    people: str
    counts: str = ""
    processed: str = (
        "Noisy counts are made consistent and rounded; intervals and synthetic rows follow from "
        "them."
    )
    record: str = "row"


def example_of(schema: Schema) -> str:
    """A query about the first attribute that any release of a table understands.

    Example:
        >>> example_of(Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99}}}))
        'age in [0, 49]'
    """
    first = schema.attributes[0]
    end = 1 if isinstance(first, Categorical) else max(1, first.grid // 2)
    return Query(((0, ((0.0, float(end)),)),)).text(schema)


def noisy_counts(guarantee: Mapping[str, object]) -> str:
    """How counts of all regions or itemsets come about, in words.

    Example:
        >>> noisy_counts({"accounting": "pure"})[:50]
        'Every published count has discrete Laplace noise; '
    """
    noise = "discrete Laplace noise"
    if guarantee.get("accounting") == "zcdp":
        noise = "discrete Gaussian or discrete Laplace noise"
    return (
        f"Every published count has {noise}; no floating-point number comes between an exact count "
        "and what is drawn."
    )


Questions = str | Query | Mapping[str, object] | Iterable[object]
"""One count query, or many; what a query may be depends on the kind of release."""

Names = str | Sequence[str]
"""An attribute or several."""

By = Names | None
Labels = tuple[tuple[str, ...], ...]
Divided = tuple[tuple[str, ...], list[tuple[int, Division]]]
Where = Questions | None

PAGE, WORKBOOK = "hedgerow.present.report:page", "hedgerow.present.tables:write_workbook"
"""What tells of releases, which knows them, and so is loaded when it is needed."""

Expected = TypeVar("Expected", bound="Release")

# of the time that saving takes: until the model stands, rows are drawn and tables are counted
_PREPARED, _DRAWN = 0.3, 0.5


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Release(Alike, Framed):
    """Everything that may leave, and what can be made of it without private data.

    Args:
        schema: The public description of the data.
        method: The name of the method, such as "diffmulti".
        settings: The method's settings, as JSON would hold them.
        guarantee: What is promised: epsilon and delta, the unit of protection, the neighboring
            relation, the accounting, and whether the run was private at all.
        ledger: What was spent on what.
        frame_kind: The kind of frame that answers come in unless another is asked for: "arrow",
            "pandas" or "polars".
        booking: Its entry in a budget ledger, if it was just published with one.

    Example:
        >>> import tempfile
        >>> from hedgerow import publish, sample
        >>> release = publish(sample.people(200), sample.schema(), "diffgen", epsilon=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     release.save(f"{folder}/release")
        ...     Release.load(f"{folder}/release", kind="pandas") == release
        True
    """

    _called = "release"
    _suggestions = RELEASE
    _named = "release[{!r}]"  # what to write for a name of the schema
    _everybody: ClassVar[Any] = Query(())  # a query that all records meet

    kind: ClassVar[str]
    """The word for the kind in manifests and in `hedgerow.release.files.KINDS`."""
    sources: ClassVar[tuple[str, ...]]
    """The files that everything else follows from."""
    derived: ClassVar[tuple[str, ...]]
    """The files that are made of those, for readers."""
    estimator: ClassVar[int] = 1
    """The version of what makes rows and tables of the sources: raise it when they change."""
    tells_classes: ClassVar[bool] = False
    """Whether the kind can tell the class of a record."""
    entries_of_kind: ClassVar[Mapping[str, type]]
    """What the manifest of this kind holds beside what all have, with the types of JSON."""

    schema: Schema
    method: str
    settings: Document
    guarantee: Document
    ledger: Document
    frame_kind: str = field(default="arrow", compare=False)
    booking: Booking | None = field(default=None, compare=False)

    if not TYPE_CHECKING:  # to a type checker, a release has named fields

        def __new__(cls, *given: object, **fields: object) -> Self:
            """Refuses what people write who mean `load`."""
            if given or (not fields and inspect.isabstract(cls)):
                place = as_text(given[0]) if given and isinstance(given[0], str) else "folder"
                raise ArgumentError(
                    f"a release is opened from its folder, not made by {cls.__name__}",
                    hint=f"Write hedgerow.Release.load({place}), or hedgerow.publish(data, schema)"
                    " for a new one.",
                )
            return super().__new__(cls)

    def __repr__(self) -> str:
        """The method, the schema, the guarantee and the size on one line."""
        about = self.describe()
        size = f"{about.parts}={about.number}" if about.number else "holds nothing"
        epsilon, name = self.guarantee.get("epsilon"), type(self).__name__
        return f"{name}({self.method!r}, schema={self.schema.name!r}, epsilon={epsilon}, {size})"

    def to_arrow(self) -> pa.Table:
        """Synthetic rows, as many as records are counted: a row is a record, and has no weight.

        Always the same; null in columns that the release says nothing about. All other frames,
        `len` and `shape` are of these rows.

        Example:
            >>> from hedgerow import publish, sample
            >>> release = publish(sample.people(500), sample.schema(), epsilon=10, seed=1)
            >>> release.to_arrow()["readmitted"].value_counts().to_pylist()
            [{'values': 'no', 'counts': 359}, {'values': 'yes', 'counts': 142}]
            >>> release.table("readmitted")["estimate"].round().tolist()
            [358.0, 142.0]
        """
        return self._rows

    @cached_property
    def _rows(self) -> pa.Table:
        rows = self.synthesize(seed=files.ROWS_SEED, kind="arrow")
        for name in self.unmeasured:
            place, kind = rows.column_names.index(name), rows.schema.field(name).type
            rows = rows.set_column(place, name, pa.nulls(rows.num_rows, kind))
        return rows

    def _first(self, number: int) -> tuple[pa.Table, int]:
        """See `Framed._first`: a few are drawn faster than all."""
        every = max(0, round(float(self.count_all())))
        return self.synthesize(min(number, every), seed=files.ROWS_SEED, kind="arrow"), every

    def __len__(self) -> int:
        """The number of rows that `to_arrow` and `to_pandas` have."""
        return int(self._rows.num_rows)

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, key: str | tuple[str, ...] | list[str]) -> CountTable:
        """The counts of an attribute or of several: the same as `table`."""
        names = tuple(key) if isinstance(key, tuple | list) else (key,)
        if not all(isinstance(name, str) for name in names):
            raise UsageError(
                "a release is asked by the names of attributes",
                hint=f"Write {self._suggest('cells')}; rows by number are in "
                "release.to_pandas().iloc.",
            )
        return replace(self.table(*names), column_of=self if len(names) == 1 else None)

    def __contains__(self, name: object) -> bool:
        """Whether it is the name of an attribute, of the class, or of an item."""
        return name in self.schema

    if not TYPE_CHECKING:  # to a type checker, a release cannot be gone through

        def __iter__(self) -> Never:
            return self[0]

    def _suggest(self, name: str) -> str | None:
        schema = vars(self).get("schema")  # which a copy does not have yet
        known = schema is not None and name in schema
        return self._named.format(name) if known else super()._suggest(name)

    def _examples(self) -> Mapping[str, str]:
        names = [as_text(one.name) for one in self.schema.columns]
        numbers = [as_text(one.name) for one in self.schema.columns if isinstance(one, Numeric)]
        others = [name for name in names if name not in numbers]
        return {
            "category": [*others, *names][0],
            "method": self.method,
            "number": [*numbers, *names][0],
            "one": names[0],
            "query": as_text(example_of(self.schema)),
            "target": names[-1],
            "two": names[1 % len(names)],
        }

    @property
    def epsilon(self) -> float:
        """What one person may lose; `guarantee` has it exactly."""
        return float(exact(self.guarantee["epsilon"]))

    @property
    def delta(self) -> float:
        """The delta of the guarantee: 0 for pure differential privacy."""
        return float(exact(self.guarantee["delta"]))

    def caption(self) -> str:
        """See `Framed.caption`."""
        spent = f"epsilon {self.guarantee.get('epsilon')}"
        if str(self.guarantee.get("delta", "0")) != "0":
            spent += f", delta {self.guarantee['delta']}"
        private = "" if self.guarantee.get("private", True) is True else ", NOT PRIVATE"
        told = self.describe()
        held = f"{told.number:,} {told.parts}"
        return f"{self.schema.name}, published with {self.method}: {spent}{private}; {held}"

    def describe(self) -> Description:
        """The release in words: what its parts are called, how many there are, and so on."""
        person, protected = self.schema.person, "any one row (one row is one person)"
        if person is not None:
            rows = f"{person.max_rows} row{'' if person.max_rows == 1 else 's'}"
            protected = f"any one person (with at most {rows})"
        usual = {
            "people": f"{self.schema.unit_names[1]} counted",
            "counts": noisy_counts(self.guarantee),
            "protected": protected,
            "suppressed": self._suppression(),
        }
        return Description(**usual | self._describe())

    @abstractmethod
    def _describe(self) -> dict[str, Any]:
        """What a description says of this kind alone."""

    @abstractmethod
    def _suppression(self) -> str | None:
        """What is not published and why, as sentences; None if everything is."""

    def summary(self) -> Description:
        """Another name of `describe`."""
        return self.describe()

    @property
    def example(self) -> str:
        """A query that the release understands, in quotes."""
        return quote(example_of(self.schema))

    @answer_mistakes
    def count(self, queries: Questions, *, level: float = 0.95) -> Answers:
        """How many records meet some conditions, or hold some items?

        Args:
            queries: One query or many: text such as "age in [30, 50] and job in Professional", a
                mapping such as {"age": (30, 50), "job": "Professional"}, or a `Query`. See
                `TransactionsRelease.count` for items.
            level: The probability that an interval holds the truth, at least.

        Returns:
            Estimates with intervals, in the order of the queries. The parts of an interval are
            told apart: noise, and what it matters where records lie inside regions that the
            query cuts. Each says whether it was measured (`hedgerow.estimate.queries`).

        Raises:
            UsageError: If a query cannot be understood, or the level is not between 0 and 1.

        Example:
            >>> from hedgerow import publish, sample
            >>> people, schema = sample.people(500), sample.schema()
            >>> release = publish(people, schema, "diffgen", epsilon=10, seed=1)
            >>> answers = release.count(["age < 50", {"readmitted": "yes"}])
            >>> answers["estimate"].round().tolist()
            [230.0, 143.0]
            >>> int(release.count("age < 50"))
            230
        """
        share, asked = check_level(level), read_many(queries, self.schema)
        answers = self._answer(asked, share)
        return replace(answers, asked=(asked, partial(_writer, self.schema)))

    @abstractmethod
    def _answer(self, queries: list[Any], level: float) -> Answers:
        """The answers to queries that were read."""

    @answer_mistakes
    def count_all(self, *, level: float = 0.95) -> Answers:
        """How many records are there altogether? One answer, as `count` gives it.

        Example:
            >>> from hedgerow import publish, sample
            >>> people, schema = sample.people(500), sample.schema()
            >>> release = publish(people, schema, "diffgen", epsilon=10, seed=1)
            >>> int(release.count_all())
            498
        """
        return self.count(self._everybody, level=level)

    def estimate(self, queries: Questions) -> Floats:
        """Estimates alone, those of `count`: quicker for very many queries, where a kind can.

        Args:
            queries: As for `count`.
        """
        return self.count(queries).estimate

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
        """Counts of all cells of some attributes, each with an interval; see docs/tables.md.

        Args:
            attributes: One attribute or several, or a list of them; the class is one too.
            by: More attributes, whose values are groups: shares are then of a group.
            where: A query that all cells must meet.
            share: Whether shares are wanted rather than counts: of the total, or of each group.
            level: The probability that an interval holds the truth, at least.
            simultaneous: Whether it should hold for all cells of the table at once.
            bins: How attributes are divided: the lower ends of bands for a number, a level of the
                taxonomy for categories (1 is the level below the root).
            top: Only so many cells, the largest first. The level is then that of a cell which was
                not picked for its count; with `simultaneous` it holds for these too.

        Raises:
            UsageError: If an attribute, a division or the condition cannot be understood.

        Example:
            >>> from hedgerow import publish, sample
            >>> people, schema = sample.people(500), sample.schema()
            >>> release = publish(people, schema, "diffgen", epsilon=10, seed=1)
            >>> release.table("readmitted")
            Counts by readmitted, with 0.95 intervals:
            readmitted  estimate    low   high  reliability     basis
                    no     355.0  351.0  359.0         good  measured
                   yes     143.0  139.0  147.0         good  measured
            >>> release.table("readmitted", share=True)["estimate"].round(2).tolist()
            [0.71, 0.29]
        """
        check_table(top, simultaneous, share, bins)
        own, groups = names_in(attributes), names_in(() if by is None else (by,))
        if groups in (("count",), ("share",)) and groups[0] not in self.schema:
            raise UsageError(
                f"by cannot be {by!r}, since the schema has no attribute of this name",
                hint=f"Write share={groups == ('share',)}.",
            )
        names = (*own, *groups)
        (whole,) = read_many(Query(()) if where is None else where, self.schema)
        divisions = divisions_of(self.schema, names, bins, self.bands)
        labels, cells = cells_of(self.schema, divisions, whole)
        of = None
        if groups:
            keys, sizes = cells_of(self.schema, divisions[len(own) :], whole)
            each = dict(zip(zip(*keys, strict=True), sizes, strict=True))
            of = [each[key] for key in zip(*labels[len(own) :], strict=True)]
        table = tabulate(
            names, labels, cells, whole, self.count, share, level, simultaneous, of, groups
        )
        return table if top is None else table.largest(top)

    @answer_mistakes
    def plot(
        self,
        *attributes: Names,
        ax: Axes | None = None,
        **options: Unpack[TableOptions],
    ) -> Axes:
        """Draws a table with error bars.

        Args:
            attributes: As for `table`.
            ax: The axes of matplotlib to draw on; new ones by default.
            options: As for `table`.

        Returns:
            The axes; `ax.figure.savefig` writes a file.
        """
        table = self.table(*attributes, **options)
        title = f"{self.schema.name}: {' by '.join(table.names)}"
        return draw_table(table, title, partial(display_label, self.schema), ax)

    if not TYPE_CHECKING:  # what pandas hangs on its plot

        def _no_accessor(*_: object, **__: object) -> Never:
            raise UsageError(
                "a release draws tables alone",
                hint="Write release.plot(one), or plot(one, by=two).",
            )

        plot.bar = plot.barh = plot.hist = plot.line = _no_accessor

    def histograms(self) -> tuple[Spread, ...]:
        """How many records have each value of each attribute, or each item."""
        return self._histograms

    @cached_property
    def _histograms(self) -> tuple[Spread, ...]:
        columns, tables = self.schema.columns, list[Divided]()
        edges = [*map(self.bands, range(len(columns)))]
        for place, column in enumerate(columns):
            parts = tuple((column.label(*span), *span) for span in pairwise(edges[place]))
            tables.append(((column.name,), [(place, parts)]))
        return tuple(
            spread_of(column.name, labels, some, answers, column)
            for column, some, (*_, (labels,), answers) in zip(
                columns, edges, self._count_tables(tables), strict=True
            )
        )

    def _count_tables(
        self, tables: Sequence[Divided], most: float = math.inf
    ) -> Iterator[tuple[tuple[str, ...], list[tuple[int, Division]], Labels, Answers]]:
        """Names, divisions, labels and answers of tables, but of those that are too large.

        All cells are asked for at once, which is quickest.
        """
        cells: list[Query] = []
        parts: list[tuple[Divided, Labels, range]] = []
        for table in tables:
            labels, queries = cells_of(self.schema, table[1], Query(()))
            if not parts or len(cells) + len(queries) <= most:
                parts.append((table, labels, range(len(cells), len(cells) + len(queries))))
                cells += queries
        answers = self.count(cells) if cells else None
        for (names, divisions), labels, places in parts:
            assert answers is not None
            yield names, divisions, labels, answers.take(np.array(places))

    def bands(self, place: int) -> tuple[int, ...]:
        """The edges, in codes, of the bands in which a column is shown, the class being the last.

        Bands of numbers are made of whole measured cells, if the release has any.
        """
        column, edges = self.schema.columns[place], self.measured_edges(place)
        return bands(column, edges) if len(edges) else bins(column)

    def measured_edges(self, place: int) -> Ints:
        """The edges, in codes, of the cells in which a column was counted; empty if there are none.

        Args:
            place: The column, the class being the last.
        """
        return np.empty(0, np.int64)

    def sum_ends(
        self, place: int, group: Query, level: float, *, mean: bool
    ) -> tuple[float, float] | None:
        """Guaranteed ends of a sum or mean, where a kind of release knows closer ones than counts.

        Args:
            place: The number.
            group: Whose sum it is.
            level: The probability that the interval holds the truth, at least.
            mean: Whether the mean is asked for.
        """
        return None

    @answer_mistakes
    def mean(
        self, attribute: str, *, by: By = None, where: Where = None, level: float = 0.95
    ) -> Summaries:
        """The mean of a numeric attribute, of everybody or of each group.

        Args:
            attribute: The number.
            by: The attribute, or attributes, whose values are the groups.
            where: A query that all records must meet.
            level: The probability that an interval holds the truth, at least.

        Raises:
            UsageError: If an attribute or the condition cannot be understood.

        Example:
            >>> from hedgerow import publish, sample
            >>> people, schema = sample.people(500), sample.schema()
            >>> release = publish(people, schema, "marginals", epsilon=10, seed=1)
            >>> release.mean("age", by="readmitted")
            Mean of age by readmitted, with guaranteed 95% intervals:
            readmitted  estimate   low  high
                    no      50.1  47.6  51.9
                   yes      63.6  60.0  68.7
        """
        return summarize(self, "mean", attribute, by, where, level)

    @answer_mistakes
    def sum(
        self, attribute: str, *, by: By = None, where: Where = None, level: float = 0.95
    ) -> Summaries:
        """The sum of a numeric attribute, over everybody or over each group.

        Args:
            attribute: The number.
            by: As for `mean`.
            where: A query that all records must meet.
            level: The probability that an interval holds the truth, at least.

        Raises:
            UsageError: As for `mean`.

        Example:
            >>> from hedgerow import publish, sample
            >>> people, schema = sample.people(500), sample.schema()
            >>> release = publish(people, schema, "marginals", epsilon=10, seed=1)
            >>> round(float(release.sum("visits", where="age < 50")))
            205
        """
        return summarize(self, "sum", attribute, by, where, level)

    @answer_mistakes
    def quantile(
        self,
        attribute: str,
        q: float | Sequence[float] = 0.5,
        *,
        by: By = None,
        where: Where = None,
        level: float = 0.95,
    ) -> Summaries:
        """The value of a numeric attribute that a part q of the records does not exceed.

        Args:
            attribute: The number.
            q: The part: 0.5 for the median. For several parts the column `q` names them; each
                interval holds by itself.
            by: As for `mean`.
            where: A query that all records must meet.
            level: The probability that an interval holds the truth, at least.

        Raises:
            UsageError: As for `mean`, or if q does not lie between 0 and 1.

        Example:
            >>> from hedgerow import publish, sample
            >>> people, schema = sample.people(500), sample.schema()
            >>> release = publish(people, schema, "marginals", epsilon=10, seed=1)
            >>> release.quantile("age", 0.5, by="readmitted")
            Quantile of age by readmitted, with guaranteed 95% intervals:
            readmitted  estimate   low  high
                    no      49.8  48.0  52.0
                   yes      69.2  64.0  73.0
        """
        named, part = cast(object, attribute), cast(object, q)
        if not isinstance(named, str) or isinstance(part, str):
            raise UsageError(
                "a quantile is asked of one attribute, named by text, for a part q",
                hint=f"Write {self._suggest('quantile')}.",
            )
        if isinstance(q, float | int):
            return summarize(self, "quantile", attribute, by, where, level, q)
        parts = [summarize(self, "quantile", attribute, by, where, level, float(one)) for one in q]
        if not parts:
            raise UsageError("no quantile is asked for", hint="Write q=0.5, or q=[0.25, 0.75].")
        labels = [str(one) for one, below in zip(q, parts, strict=True) for _ in range(len(below))]
        return join(parts, "q", tuple(labels))

    @answer_mistakes
    def synthesize(
        self, n: int | None = None, *, seed: int | None = None, kind: str | None = None
    ) -> Frame:
        """Records that follow the release, in random order.

        Args:
            n: How many; without it, as many as the release counts.
            seed: For the same records again.
            kind: The kind of frame wanted.

        Raises:
            UsageError: If n is negative, or the release counts nobody to draw from.

        Example:
            >>> from hedgerow import publish, sample
            >>> people, schema = sample.people(500), sample.schema()
            >>> release = publish(people, schema, "diffgen", epsilon=10, seed=1)
            >>> release.synthesize(3, seed=1, kind="arrow").num_rows
            3
        """
        return self._frame(self._draw(n, seed), kind)

    @abstractmethod
    def _draw(self, n: int | None, seed: int | None) -> pa.Table:
        """See `synthesize`."""

    @answer_mistakes
    def sample(
        self, n: int | None = None, *, seed: int | None = None, kind: str | None = None
    ) -> Frame:
        """Synthetic records, as `synthesize` draws them, in a frame of pandas as `head` gives.

        Args:
            n: As for `synthesize`.
            seed: As for `synthesize`.
            kind: The kind of frame, if not Polars (for a release opened so) or pandas.

        Example:
            >>> from hedgerow import publish, sample
            >>> people, schema = sample.people(500), sample.schema()
            >>> publish(people, schema, epsilon=10, seed=1).sample(3, random_state=0).shape
            (3, 11)
        """
        usual = "pandas" if self.frame_kind == "arrow" else self.frame_kind
        return self.synthesize(n, seed=seed, kind=usual if kind is None else kind)

    @answer_mistakes
    def value_counts(self, *attributes: Names, normalize: bool = False) -> CountTable:
        """The counts, or with `normalize` the shares, of the values: see `table`."""
        return self.table(*attributes, share=normalize)

    @answer_mistakes
    def crosstab(self, one: str, other: str, *, normalize: bool = False) -> CountTable:
        """Two attributes together: see `table`, and `pivot` for a wide frame."""
        return self.table(one, other, share=normalize)

    @answer_mistakes
    def median(
        self, attribute: str, *, by: By = None, where: Where = None, level: float = 0.95
    ) -> Summaries:
        """The median of a number: see `quantile`."""
        return self.quantile(attribute, 0.5, by=by, where=where, level=level)

    @answer_mistakes
    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """The page that `hedgerow report` writes: all that the release says, in one file.

        Args:
            path: Where to write it; by default it is returned alone. A file that is there is
                replaced.

        Returns:
            The page.
        """
        text: str = load(PAGE)(self)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    @answer_mistakes
    def to_excel(self, path: str | os.PathLike[str]) -> None:
        """Writes a workbook: a sheet for every table that was measured, with intervals.

        Args:
            path: The file, which is replaced if it is there.

        Raises:
            UsageError: If XlsxWriter is not installed.
        """
        load(WORKBOOK)(self, Path(path))

    @answer_mistakes
    def predict(self, rows: Frame) -> Frame:
        """The likeliest class of each row.

        With marginals by the model that counts and synthetic rows come from too, else the class
        that the region of the row mostly holds. In a tree, a region whose counts are mostly noise
        leans on the regions around it (`hedgerow.estimate.cells`). Rows of regions that are
        suppressed get the majority class of the release.

        Args:
            rows: A frame or a file with the predictors of the schema; other columns are ignored.

        Returns:
            A frame of the kind of the rows, in their order, with the class as its one column.

        Raises:
            UsageError: If this kind of release, or this release, tells no classes.

        Example:
            >>> from hedgerow import publish, sample
            >>> people, schema = sample.people(500), sample.schema()
            >>> release = publish(people, schema, "diffgen", epsilon=10, seed=1)
            >>> release.predict(sample.people(3, seed=2)).to_pydict()
            {'readmitted': ['no', 'yes', 'yes']}
        """
        target = self._target()
        codes, known = self._encoded(rows)
        likeliest = np.argmax(self._weights(codes), axis=1)
        return self._beside(rows, {target.name: labels_of(target, likeliest, ~known)})

    @answer_mistakes
    def predict_proba(self, rows: Frame) -> Frame:
        """The probability of each class for each row; `predict` names the likeliest.

        Where all weights are 0 or less, the class that is least below gets all of it.

        Args:
            rows: As for `predict`.

        Returns:
            A frame of the kind of the rows, in their order, with one column per class; null where
            the schema would refuse or drop the row.

        Raises:
            UsageError: As for `predict`.

        Example:
            >>> from hedgerow import publish, sample
            >>> people, schema = sample.people(500), sample.schema()
            >>> release = publish(people, schema, "diffgen", epsilon=10, seed=1)
            >>> found = release.predict_proba(sample.people(3, seed=2))
            >>> found.column_names, found["yes"].to_numpy().round(2).tolist()
            (['no', 'yes'], [0.05, 1.0, 1.0])
        """
        classes = self._target().taxonomy.leaves
        codes, known = self._encoded(rows)
        shares = self.probabilities(codes)
        columns = {name: pa.array(shares[:, i], mask=~known) for i, name in enumerate(classes)}
        return self._beside(rows, columns)

    def majority(self, codes: NDArray[np.integer]) -> Ints | None:
        """The likeliest class code for each row of codes; None if the kind tells none.

        Args:
            codes: The predictors, shape [rows, attributes].
        """
        return np.argmax(self._weights(codes), axis=1) if self.tells_classes else None

    def probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """The probability of each class for rows of codes, shape [rows, classes].

        Args:
            codes: As for `majority`.
        """
        return probabilities_of(self._weights(codes))

    def _weights(self, codes: NDArray[np.integer]) -> Floats:
        """How likely classes are for rows of codes, up to a factor: [rows, classes]."""
        raise self._no_classes()

    def _no_classes(self) -> UsageError:
        return UsageError(
            f"a release of {self.describe().parts} tells no classes",
            hint="Train a model on synthetic rows (`synthesize`), or publish by regions.",
        )

    def _target(self) -> Categorical:
        if not self.tells_classes:
            raise self._no_classes()
        if self.schema.target is None:
            raise UsageError(
                "this release has no class to predict",
                hint="Publish with a schema that has an attribute with role: class.",
            )
        return self.schema.target

    def _encoded(self, rows: Frame) -> tuple[NDArray[np.integer], Bools]:
        from hedgerow.data import encode_rows

        codes, known = encode_rows(rows, self.schema, lenient=True)
        # what stands in for a row that was not encoded is never shown, but must be a code
        return np.where(known[:, None], codes, 0), known

    def _beside(self, rows: Frame, columns: dict[str, pa.Array]) -> Frame:
        """A frame of the kind of the rows, aligned with them."""
        from hedgerow.data import frame_kind

        kind = frame_kind(rows)
        table = pa.table(columns)
        if kind != "pandas":
            return self._frame(table, kind)
        import pandas

        # by itself pandas would turn whole numbers with gaps into floats
        gaps = any(column.null_count for column in columns.values())
        whole = {pa.int64(): pandas.Int64Dtype()} if gaps else {}
        frame = table.to_pandas(types_mapper=whole.get)
        frame.index = getattr(rows, "index", frame.index)  # pandas aligns by index, not by order
        return frame

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """The attributes that the release says nothing about (`hedgerow.estimate.queries`)."""
        places = [*range(len(self.schema.attributes)), CLASS]
        return tuple(self.schema.columns[p].name for p in places if p in self._unmeasured)

    @property
    def _unmeasured(self) -> frozenset[int]:
        """The places of these attributes; `CLASS` for the class."""
        return frozenset()

    def expect(self, kind: type[Expected]) -> Expected:
        """This release, known to be of a kind.

        Raises:
            UsageError: If it is of another.
        """
        if not isinstance(self, kind):
            raise UsageError(
                f"this is a release of the kind {self.kind!r}, not {kind.kind!r}",
                hint="Open it with hedgerow.Release.load and see what it is.",
            )
        return self

    @answer_mistakes
    def save(
        self,
        path: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        """Writes the release to a folder, whole or not at all.

        A release that was published with a budget ledger is noted there as published.

        Args:
            path: The folder, which must not exist yet.
            overwrite: Whether a release that is there already may be replaced.
            progress: Called now and then with the share of the work that is done.

        Raises:
            ReleaseError: If the folder may not be replaced or cannot be written.
            UsageError: If a column is called like one of the release's own.

        Example:
            >>> import tempfile
            >>> from hedgerow import publish, sample
            >>> people, schema = sample.people(500), sample.schema()
            >>> release = publish(people, schema, "diffgen", epsilon=10, seed=1)
            >>> folder = tempfile.mkdtemp()
            >>> release.save(f"{folder}/release")
            >>> release.save(f"{folder}/release", overwrite=True)
        """
        check_names(self.schema)
        contents = self.files() if progress is None else self.files(progress)
        files.write_folder(path, overwrite, contents, self._manifest)
        files.note_saved(self.booking, path)

    @classmethod
    @answer_mistakes
    def load(cls, path: str | os.PathLike[str], *, kind: str = "arrow") -> Self:
        """Reads a release; no private data is needed.

        `Release.load` opens every kind, and the `load` of a kind that kind alone.

        Args:
            path: The folder.
            kind: The kind of frame that answers come in unless another is asked for: "arrow",
                "pandas" or "polars".

        Raises:
            ReleaseError: If a file is missing, changed or damaged, or of another format.
            UsageError: If the release is of another kind than the class.

        Example:
            >>> import tempfile
            >>> from hedgerow import publish, sample
            >>> people, schema = sample.people(500), sample.schema()
            >>> release = publish(people, schema, "diffgen", epsilon=10, seed=1)
            >>> folder = tempfile.mkdtemp()
            >>> release.save(f"{folder}/release")
            >>> Release.load(f"{folder}/release", kind="pandas").synthesize(3).shape
            (3, 11)
        """
        if not isinstance(path, str | os.PathLike):
            raise UsageError(
                f"path cannot be of type {type(path).__name__}.",
                hint='Write hedgerow.Release.load("release/").',
            )
        manifest = files.read_manifest(Path(path))
        as_kind(pa.table({}), kind)  # is refused before it is needed
        found = files.kind_class(manifest["kind"]).from_folder(Path(path), manifest).expect(cls)
        return replace(found, frame_kind=kind)

    @classmethod
    def from_folder(cls, path: Path, manifest: Document) -> Self:
        """Reads a release whose manifest was read; every file is checked against its hash.

        Only files of fixed names are opened.

        Raises:
            ReleaseError: Names the file and what is wrong with it.
        """
        files.check_guarantee(manifest["guarantee"])
        schema = files.schema_of(manifest)
        stated = {name: manifest[name] for name in ("method", "settings", "guarantee", "ledger")}
        release = cls(schema=schema, **stated, **cls._read(path, manifest, schema))
        release.check()
        if (path / files.TABLES).is_symlink():
            raise broken(files.TABLES, "this is a link, which could lead anywhere")
        for name in files.names_of(manifest):
            if name not in cls.sources:
                files.check_file(path, name, manifest)
        return release

    @classmethod
    @abstractmethod
    def _read(cls, path: Path, manifest: Document, schema: Schema) -> dict[str, Any]:
        """The fields of this kind, from the files of `sources`."""

    @abstractmethod
    def check(self) -> None:
        """Refuses contents that do not fit the schema."""

    @classmethod
    def file_names(cls) -> tuple[str, ...]:
        """All files but the manifest and the tables, whose names depend on what was measured."""
        return (*cls.sources, *cls.derived, *files.PLAIN)

    def files(
        self, progress: Callable[[float], None] = lambda _: None
    ) -> Iterator[tuple[str, Content]]:
        """The names and contents of all files but the manifest, those of `sources` first."""
        yield from self.own_files()
        self._prepare(lambda share: progress(share * _PREPARED))
        progress(_PREPARED)
        yield files.ROWS, self.stand_ins()
        progress(_DRAWN)
        yield from files.plain_files(self, progress)

    def _prepare(self, progress: Callable[[float], None]) -> None:
        """Works out once what all answers need; most kinds need nothing."""

    @abstractmethod
    def own_files(self) -> Iterator[tuple[str, Content]]:
        """The files of this kind: `sources`, then `derived`."""

    @abstractmethod
    def stand_ins(self) -> pa.Table:
        """Synthetic rows with weights that add up to the published counts: `rows.parquet`."""

    def counted_tables(self) -> list[tuple[str, ...]]:
        """The attributes of each table that a folder or a workbook holds."""
        names = [one.name for one in self.schema.columns if one.name not in self.unmeasured]
        target = self.schema.target
        by = [] if target is None else [(n, target.name) for n in names if n != target.name]
        return [*((name,) for name in names), *by]

    def plain_tables(self) -> Iterator[tuple[tuple[str, ...], pa.Table]]:
        """These tables with intervals, the attributes of each before it."""
        tables = [
            (names, divisions_of(self.schema, names, None, self.bands))
            for names in self.counted_tables()[: files.MOST_TABLES]
        ]
        for names, divisions, labels, answers in self._count_tables(tables, files.MOST_CELLS):
            table = rows_of_cells(names, labels, answers)
            yield names, files.with_bounds(table, self.schema, divisions)

    def named_tables(self) -> dict[str, tuple[tuple[str, ...], pa.Table]]:
        """The same by the names of their files; CSV has no word for infinity, so it is missing."""
        tables = []
        for names, table in self.plain_tables():
            high, place = table["high"].to_numpy(), table.column_names.index("high")
            ends = pa.array(high, mask=~np.isfinite(high))
            tables.append((names, table.set_column(place, "high", ends)))
        return dict(zip(files.table_names([names for names, _ in tables]), tables, strict=True))

    @abstractmethod
    def entries(self) -> Document:
        """What the manifest says of this kind alone."""

    def _manifest(self, hashes: Mapping[str, str]) -> Document:
        """The manifest, from the SHA-256 of each other file.

        It holds nothing that depends on the data other than through the noisy transcript, and
        nothing about the run: no row count, time, seed, date or machine.
        """
        rows: Document = {"seed": files.ROWS_SEED, "weight": files.weight_name(self.schema)}
        if self.estimator > 1:
            rows["estimator"] = self.estimator
        return {
            "format": files.FORMAT,
            "format_version": files.FORMAT_VERSION,
            "kind": self.kind,
            "method": self.method,
            "settings": self.settings,
            "schema": self.schema.to_dict(),
            "schema_hash": self.schema.hash,
            "guarantee": self.guarantee,
            "ledger": self.ledger,
            "package_version": files.package_version(),
            "files": dict(hashes),
            "rows": rows,
            **self.entries(),
        }

    def _frame(self, table: pa.Table, kind: str | None) -> Frame:
        return as_kind(table, self.frame_kind if kind is None else kind)


def _writer(schema: Schema) -> Callable[[Query], str]:
    """What writes a query in words; a function of its own, since answers can be pickled."""
    return Vocabulary(schema).text


# `MeasuredRelease`: public regions and noisy measurements of them, for tables and transactions.


_MOST_UNCOUNTED = 1 << 22  # regions; a grid of very many can be claimed in a few bytes


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MeasuredRelease(Release):
    """A release that is made of regions and of measurements.

    Args:
        partition: The public regions.
        measurements: The noisy counts.
    """

    of: ClassVar[str]
    """What kind of schema it has: the kind of the release itself, but for marginals."""

    sources = (files.PARTITION, files.MEASUREMENTS)
    entries_of_kind: ClassVar[Mapping[str, type]] = {"partition": str, "measurements": list}
    shapes: ClassVar[tuple[str, ...]]
    """The words for the shapes that the regions may have."""

    partition: Partition | Itemsets | Cells
    measurements: tuple[Measurement, ...]

    @property
    def threshold(self) -> int | None:
        """From which noisy count on cells are published, if others are suppressed."""
        known = [one.threshold for one in self.measurements if one.threshold is not None]
        return min(known, default=None)

    def _suppression(self) -> str | None:
        if self.threshold is None:
            return None
        return (
            f"Only cells with a noisy count of at least {self.threshold} are published. A cell "
            "that is suppressed was below that, not zero; a published count near it is mostly "
            "noise."
        )

    def entries(self) -> Document:
        """See `Release.entries`."""
        shapes = files.SHAPES.items()
        shape = next(word for word, (one, _) in shapes if isinstance(self.partition, one))
        heads = []
        for one in self.measurements:
            usual = {
                "max_contribution": one.max_contribution,
                "law": one.law,
                "tables": [[*table] for table in one.tables],
            }
            head = {
                "name": one.name,
                "place_kind": one.at,
                "by_class": one.by_class,
                "sparse": one.klass is not None,
                "unit": str(one.unit),
                "threshold": one.threshold,
            }
            heads.append(head | {key: it for key, it in usual.items() if it != files.USUAL[key]})
        return {"partition": shape, "measurements": heads}

    def own_files(self) -> Iterator[tuple[str, Content]]:
        """See `Release.own_files`."""
        yield files.PARTITION, files.partition_table(self.schema, self.partition)
        yield files.MEASUREMENTS, files.measurements_table(self.schema, self.measurements)

    @classmethod
    def _read(cls, path: Path, manifest: Document, schema: Schema) -> dict[str, Any]:
        shape = manifest["partition"]
        if shape not in cls.shapes:
            known = ", ".join(cls.shapes)
            raise broken(files.MANIFEST, f"the shape of the regions is none of {known}")
        if schema.kind != cls.of:
            words = f"the schema describes {schema.kind}, these regions {cls.of}"
            raise broken(files.PARTITION, words)
        regions = files.read_table(path, files.PARTITION, manifest, files.SHAPES[shape][1])
        numbers = files.read_table(path, files.MEASUREMENTS, manifest, files.COLUMNS)
        return {
            "partition": files.partition_from(shape, regions, schema),
            "measurements": files.measurements_from(manifest["measurements"], numbers, schema),
        }

    def _check_places(self, places: Mapping[str, int]) -> None:
        """Sees that measurements speak of places that are there, and of enough of them."""
        there = {
            "region": self.partition.cells,
            "node": len(getattr(self.partition, "parent", (0,))),
            **places,
        }
        for measurement in self.measurements:
            if (measurement.where >= there.get(measurement.at, 0)).any():
                raise broken(files.MEASUREMENTS, "a number speaks of a place that does not exist")
        counted = max((len(one.where) for one in self.measurements), default=0)
        if not is_censored(self.measurements) and self.partition.cells > max(
            counted, _MOST_UNCOUNTED
        ):
            raise broken(files.PARTITION, "it has very many regions that were not counted")
