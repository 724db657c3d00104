"""What a release found: where groups differ beyond noise, then how values are distributed.

**Which differences.** The class by every attribute that was measured, and each table that the
schema names: there the class, or the column with the fewest values, by the others. Groups are
values, groups of a taxonomy, or bands of numbers that hold at least a twentieth of all records, by
the estimate; groups of which a rule of the schema says that none has a value, or all, are left
out. Bands are joined where they are small; of several ways to join them, the one counts
whose groups lie furthest apart. Whoever left out one question often left out another: differences
between answers come before those of what is missing or outside.

**What is said.** A group is *above* if the share of a value in it is larger than among all, and
*below* if it is smaller. Of one above and one below, the first has the larger share; of one above
alone, it has a larger share than all others have.

**Corrected for looking at many.** With probability 95% everything holds at once: that groups are
above or below, and every interval of a share that is drawn or written. *Proof.* The error, 5%, is
divided by public facts alone: one half to the tables that the schema names, one half to the class
by attribute (all to one if there is nothing of the other), in equal parts to their tables. Of each
part, `_CLAIMS` goes to claims and the rest to intervals; either is divided among all that could be
asked of the table, shown or not: each value, in each run of bands, each group of a taxonomy and
each cell, above and below. (Of a number's claims half goes to where it can be cut in two, half to
all runs.) So it does not matter that groups, values and tables are picked by noise. An interval
misses with the part that it got (`Release.count`); a share is bounded by those of two counts. A
claim is false with the part that it got, once the shares of the value and of the group among all
lie in their intervals (`hedgerow.estimate.intervals`), which are among those that hold. The parts
add up to 5%. Where no table counts a group by the value, as in trees, all error goes to intervals,
and one group is above another if their intervals do not overlap.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise, product
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np

from hedgerow.arrays import Bools, Floats
from hedgerow.estimate.intervals import Excess
from hedgerow.estimate.partition import TreePartition
from hedgerow.estimate.queries import RULED_OUT
from hedgerow.present.document import (
    Bar,
    Card,
    Cards,
    Grid,
    Legend,
    Part,
    Parts,
    Scale,
    Text,
)
from hedgerow.present.kinds import KINDS
from hedgerow.present.tables import explain_picking
from hedgerow.present.value_bars import bands_parts, ends_of, labels_of, vague, widths_of
from hedgerow.present.words import TO, describe_cap, many, round_count, round_share
from hedgerow.release import Release, TableRelease
from hedgerow.release.count_tables import Spread, bands
from hedgerow.schema import CLASS, Attribute, Numeric, Query, Schema
from hedgerow.schema.attributes import OTHER
from hedgerow.schema.schema import other_of, part_of

_MOST = 10  # differences that are shown
_BRIEF = 2  # sentences where little is said
_TABLES = 4  # distributions that are shown first
_VALUES = 8  # of each; the others are told together
_ERROR = 0.05
_CLAIMS = 0.8  # of the error: what groups are above and below
_GROUP = 0.05  # of all records: smaller groups are left out, so that a few people make no finding
_JOINED = (0.05, 0.1, 0.2)  # how large joined bands are at least
_MOST_GROUPS, _MOST_VALUES = 30, 4
_MOST_SPLITS = 40  # of a tree, those near its top
_SOME = 50  # values of the other columns of a named table, together
_SURE = 0.5  # of the reach of intervals: what counts against a difference when they are ranked
_rank = attrgetter("answered", "gap")  # of differences: what stands first has the largest

Span = tuple[int, int]
Group = tuple[Span, ...]
"""For each column that groups are made by, the codes that belong to the group."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The share of a value in groups.

    Args:
        outcome: What is looked at: the class, or a column of a named table.
        codes: Those of its value.
        by: What groups are made by.
        parts: The codes of each group in each of these, in the schema's order.
        shares: The share of the value in each; one more if a group is held against all others.
        low: The lower ends of intervals that hold at once, with those of all other differences.
        high: The upper ends.
        most: The place of the group that surely has the larger share,
        least: and of the one that has the smaller; the last place are all others.
        smaller: How many smaller groups there are, of which nothing is said.
        named: Whether the schema names the table.
        answered: Whether the value and the two groups are answers, and not what is missing or
            outside.
    """

    outcome: Attribute
    codes: Span
    by: tuple[Attribute, ...]
    parts: tuple[Group, ...]
    shares: Floats
    low: Floats
    high: Floats
    most: int
    least: int
    smaller: int = 0
    named: bool = False
    answered: bool = True

    @property
    def value(self) -> str:
        """The value in words."""
        return part_of(self.outcome, *self.codes)

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """The values of each group in words."""
        groups = [
            tuple(part_of(one, *span) for one, span in zip(self.by, group, strict=True))
            for group in self.parts
        ]
        return [*groups, *[("all others",)] * (len(self.shares) - len(groups))]

    @property
    def title(self) -> str:
        """Which table it is from."""
        return f"{self.outcome.title} by {' and '.join(one.title for one in self.by)}"

    @property
    def gap(self) -> float:
        """How far the two groups lie apart, less half of what their intervals leave open."""
        down, up = self.shares - self.low, self.high - self.shares
        reach = float(down[self.most] + up[self.least])
        return float(self.shares[self.most] - self.shares[self.least]) - _SURE * reach

    def sentence(self, people: str) -> str:
        """The two groups that differ most, in words."""
        one, other = self.most, self.least
        if one >= len(self.parts):
            one, other = other, one
        value, groups = f"have {self.outcome.title} {self.value}", self.groups
        who, others = (
            " and ".join(
                f"{by.title} {label}" for by, label in zip(self.by, groups[place], strict=False)
            )
            for place in (one, other)
        )
        others = "all others" if other >= len(self.parts) else f"those with {others}"
        return (
            f"{self.shares[one]:.0%} of {people} with {who} {value}, {self.reach(one)}; "
            f"{self.shares[other]:.0%} of {others}, {self.reach(other)}."
        )

    def reach(self, place: int) -> str:
        """How far the interval of a group goes from its share, in points, rounded up."""
        share = round(100 * self.shares[place])
        ends = 100 * self.low[place], 100 * self.high[place]
        far = max(1, math.ceil(float(max(share - ends[0], ends[1] - share)) - 1e-9))
        return f"at most {share + far}%" if far > share else f"±\u00a0{far}"


@dataclass(frozen=True, kw_only=True)
class _Question:
    """A table that may hold a difference.

    Args:
        outcome: The place of what is looked at among all columns, the class being the last.
        values: The codes of its values that are looked at.
        possible: How many values might have been.
        by: The places of the columns that groups are made by.
        groupings: The ways to make groups.
        family: How many groups there might have been.
        cut: In how many places a single number may be cut in two; 0 for anything else.
        named: Whether the schema names the table.
        excess: What a table tells that counts groups by values, if there is one.
    """

    outcome: int
    values: tuple[Span, ...]
    possible: int
    by: tuple[int, ...]
    groupings: tuple[tuple[Group, ...], ...]
    family: int
    cut: int = 0
    named: bool = False
    excess: Excess | None = None


def differences(release: Release) -> tuple[list[Difference], list[str]]:
    """Where groups differ beyond noise, the strongest first, and what was looked at in vain.

    Args:
        release: A release of any kind; those that count no tables tell nothing.
    """
    questions = _QUESTIONS[release.kind](release) if release.kind in _QUESTIONS else []
    strongest: list[Difference] = []
    vain: list[str] = []
    alike = Counter(one.named for one in questions)
    for question in questions:
        error = _ERROR / len(alike) / alike[question.named]
        differ = _differences(release, question, error) if question.groupings else []
        if differ:
            strongest.append(max(differ, key=_rank))
        else:
            columns = [release.schema.columns[p].title for p in (question.outcome, *question.by)]
            vain.append(f"{columns[0]} by {' and '.join(columns[1:])}")
    return sorted(strongest, key=_rank, reverse=True), vain


def _has_other(columns: Sequence[Attribute], spans: Sequence[Span]) -> bool:
    """Whether rules of the schema put what is missing or outside into one of them."""
    pairs = [(other_of(one), part_of(one, *span)) for one, span in zip(columns, spans, strict=True)]
    return any(other == label != OTHER for other, label in pairs)


def _differences(release: Release, question: _Question, error: float) -> list[Difference]:
    """All differences of a table, one at most for each value and way to make groups."""
    schema, asked = release.schema, dict[Query, int]()
    outcome = schema.columns[question.outcome]
    groups = list(dict.fromkeys(group for way in question.groupings for group in way))

    def ask(value: Span | None, group: Group | None, rest: bool = False) -> int:
        """The place of the query for those of a group, or of all, who have a value, or not."""
        spans: list[tuple[int, list[Span]]] = []
        if group is not None:
            spans = [(place, [span]) for place, span in zip(question.by, group, strict=True)]
        if value is not None:
            ends = (0, value[0]), (value[1], outcome.size)
            others = [(low, high) for low, high in ends if low < high]
            spans.append((question.outcome, others if rest else [value]))
        return asked.setdefault(_query(schema, spans), len(asked))

    # those who have the value, and those who have not
    inside = np.array(
        [[[ask(v, g, rest) for rest in (False, True)] for g in groups] for v in question.values]
    )
    of_all = np.array([[[ask(v, None, rest) for rest in (False, True)]] for v in question.values])
    size, everybody = np.array([ask(None, g) for g in groups]), ask(None, None)
    claims = 0.0 if question.excess is None else _CLAIMS * error
    intervals = (2 * question.possible + 1) * (question.family + 1)
    answers = release.count(list(asked), level=1 - (error - claims) / intervals)
    count, least, most = np.maximum(answers.estimate, 0.0), answers.low, answers.high
    bases = np.full(len(asked), "") if answers.basis is None else answers.basis

    def shares_of(count: Floats, least: Floats, most: Floats) -> Floats:
        """The estimate, the lower and the upper end of shares of values."""
        part = np.stack([one[..., 0] for one in (count, least, most)])
        rest = np.stack([one[..., 1] for one in (count, most, least)])
        both, shares = part + rest, np.zeros_like(part)
        shares[2] = 1.0  # what is not known may be all of it
        np.divide(part, both, out=shares, where=np.isfinite(both) & (both > 0))
        shares[np.isinf(rest) & np.isfinite(part)] = 0.0
        # nearer to the middle of an interval an estimate would contradict the tables
        shares[0] = np.clip(shares[0], shares[1], shares[2])
        return shares

    every = shares_of(count[of_all], least[of_all], most[of_all])  # [3, values, 1]
    shares = shares_of(count[inside], least[inside], most[inside])  # [3, values, groups]
    parts_of_all = ((count, count), (least, most), (most, least))
    others = shares_of(*(np.maximum(a[of_all] - b[inside], 0.0) for a, b in parts_of_all))
    above, below = shares[1] > every[2], shares[2] < every[1]
    if claims:
        low, high = least[size] / max(1.0, most[everybody]), most[size] / max(1.0, least[everybody])
        parts = np.stack([low, np.minimum(high, 1.0)])
        sure = _claims(release, question, groups, every[1:, :, 0], parts, claims)
        above, below = above | sure[0], below | sure[1]
    # what a rule of the schema says is no finding
    ruled = np.isin(bases[inside], RULED_OUT).any(axis=2)
    kept = (count[size] >= _GROUP * count[everybody]) & ~ruled  # [values, groups]
    by = tuple(schema.columns[column] for column in question.by)
    unanswered = np.array([_has_other(by, group) for group in groups])
    answers_alone = [
        tuple(group for group in way if not unanswered[groups.index(group)])
        for way in question.groupings
    ]
    differ = []
    for place, value in enumerate(question.values):
        for grouping in dict.fromkeys((*question.groupings, *answers_alone)):
            here = [at for group in grouping if kept[place, at := groups.index(group)]]
            if len(here) < 2:
                continue
            ends = np.concatenate([shares[:, place, here], others[:, place, here]], axis=1)
            best = _furthest(ends, above[place, here], below[place, here])
            if best is None:
                continue
            drawn = [*range(len(here)), *(n for n in best if n >= len(here))]
            answered = not (
                _has_other([outcome], [value])
                or unanswered[here][[n for n in best if n < len(here)]].any()
                # all others hold them, too
                or (max(best) >= len(here) and (unanswered & kept[place]).any())
            )
            differ.append(Difference(
                outcome=outcome, codes=value, by=by, parts=tuple(groups[at] for at in here),
                shares=ends[0, drawn], low=ends[1, drawn], high=ends[2, drawn],
                most=min(best[0], len(here)), least=min(best[1], len(here)),
                smaller=len(grouping) - len(here), named=question.named, answered=answered,
            ))  # fmt: skip
    return differ


def _furthest(ends: Floats, above: Bools, below: Bools) -> tuple[int, int] | None:
    """The two groups that differ most among those that surely do: the larger share, the smaller.

    Args:
        ends: Estimates and both ends of shares: [3, groups and then all others than each].
        above: Which groups are above all.
        below: Which are below.
    """
    number = len(above)
    differ = (ends[1, :number, None] > ends[2, None, :number]) | (above[:, None] & below)
    gaps = (ends[0, :, None] - ends[0]) - _SURE * (
        (ends[0] - ends[1])[:, None] + (ends[2] - ends[0])
    )
    if not differ.any():  # a group and all others
        differ = np.block([[differ, np.diag(above)], [np.diag(below), differ]])
    else:
        gaps = gaps[:number, :number]
    if not differ.any():
        return None
    one, other = np.unravel_index(np.where(differ, gaps, -np.inf).argmax(), gaps.shape)
    return int(one), int(other)


def _claims(
    release: Any, question: _Question, groups: list[Group], common: Floats, sizes: Floats,
    error: float,
) -> tuple[Bools, Bools]:  # fmt: skip
    """Which groups are above all, and which below: [values, groups], with all that error.

    Args:
        release: The release, which counted the table.
        question: The table.
        groups: The groups.
        common: The ends of the values' shares of all: [2, values].
        sizes: The ends of the groups' shares of all: [2, groups].
        error: How often any claim may be false.
    """
    last = len(release.schema.attributes)
    assert question.excess is not None

    def cells(place: int, span: Span) -> Bools:
        own = place < last
        ends = release.partition.edges[place] if own else np.arange(len(release.schema.classes) + 1)
        return np.asarray((ends[:-1] >= span[0]) & (ends[1:] <= span[1]))

    member = np.array([
        reduce(np.multiply.outer, map(cells, question.by, group)).ravel() for group in groups
    ])  # fmt: skip
    value = np.array([cells(question.outcome, span) for span in question.values])
    shape = len(value), len(member)
    above, below = question.excess.surprises(
        np.tile(member, (shape[0], 1)),
        np.repeat(value, shape[1], axis=0),
        np.repeat(common, shape[1], axis=1),
        np.tile(sizes, shape[0]),
    )
    # where there are two groups, one is above if the other is below
    family = 1 if question.family == 2 else question.family
    each = error / (2 * question.possible * family)
    levels = np.full(shape[1], each)
    if question.cut:  # half to where a number is cut in two, half to all runs of bands
        size = release.schema.columns[question.by[0]].size
        two = [low == 0 or high == size for ((low, high),) in groups]
        levels = np.where(two, error / (4 * question.possible * question.cut), each / 2)
    return above.reshape(shape) <= levels, below.reshape(shape) <= levels


def _query(schema: Schema, spans: Iterable[tuple[int, Sequence[Span]]]) -> Query:
    """Those whose code in each of some columns lies in one of its spans."""
    where, classes = [], None
    for place, parts in spans:
        if place == len(schema.attributes):
            classes = tuple(code for low, high in parts for code in range(low, high))
        else:
            where.append((place, tuple((float(low), float(high)) for low, high in parts)))
    return Query(tuple(sorted(where)), classes)


# What may differ, by the kind of release.


def _by_cells(release: Any) -> list[_Question]:
    """The class by each attribute, and named tables, where whole cells were counted."""
    schema, last = release.schema, len(release.schema.attributes)
    partition = release.partition
    measured = [
        place
        for place, attribute in enumerate(schema.attributes)
        if len(partition.edges[place]) > 2 and attribute.name not in release.unmeasured
    ]
    known = {
        place: bands(schema.columns[place], partition.edges[place].astype(np.int64))
        for place in measured
    }
    if schema.target is not None:
        known[last] = tuple(range(len(schema.classes) + 1))
    wanted: dict[tuple[int, ...], bool] = {}
    for table in schema.tables:
        places = tuple(last if place == CLASS else place for place in table.places)
        if set(places) <= set(known):
            outcome = last if last in places else min(places, key=lambda p: len(known[p]))
            wanted[outcome, *(place for place in places if place != outcome)] = True
    if schema.target is not None:
        for place in measured:
            wanted.setdefault((last, place), False)
    questions = []
    for (outcome, *by), named in wanted.items():
        values = _values(release, outcome, known[outcome])
        groupings = _groupings(release, by, known)
        # the error is divided before noise is looked at, which says how bands are joined
        if values and (groupings or any(isinstance(schema.columns[p], Numeric) for p in by)):
            family = 1  # how many groups there might be
            for place in by:
                attribute, cells = schema.columns[place], len(known[place]) - 1
                if isinstance(attribute, Numeric):
                    family *= cells * (cells + 1) // 2
                else:
                    family *= len({*pairwise(known[place]), *attribute.taxonomy.spans[1:]})
            possible = 1 if len(known[outcome]) == 3 else len(known[outcome]) - 1
            alone = len(by) == 1 and isinstance(schema.columns[by[0]], Numeric)
            excess = None
            if release.kind == "marginals":
                tables = release.bounds.stages[0].tables
                excess = Excess(tables=tables, by=tuple(by), outcome=outcome)
            questions.append(_Question(
                outcome=outcome, values=values, possible=possible, by=tuple(by),
                groupings=groupings, family=family, named=named,
                cut=len(known[by[0]]) - 2 if alone else 0,
                excess=excess if excess is not None and excess.known else None,
            ))  # fmt: skip
    return questions


def _values(release: Release, place: int, edges: tuple[int, ...]) -> tuple[Span, ...]:
    """The values to look at: the rarer of two, else the most frequent ones."""
    spans = list(pairwise(edges))
    if len(spans) < 2:
        return ()
    often = release.estimate([_query(release.schema, [(place, [span])]) for span in spans])
    order = np.argsort(often, kind="stable").tolist()
    kept = order[:1] if len(spans) == 2 else sorted(order[-_MOST_VALUES:])
    return tuple(spans[one] for one in kept)


def _groupings(
    release: Release, by: Iterable[int], known: dict[int, tuple[int, ...]]
) -> tuple[tuple[Group, ...], ...]:
    """The ways to make groups of some columns, each once."""
    schema = release.schema
    ways = [list(_ways(release, schema.columns[place], place, known[place])) for place in by]
    longest = len(ways[0]) if len(ways) == 1 else len(_JOINED)
    groupings: dict[tuple[Group, ...], None] = {}
    for step in range(longest):
        groups = tuple(product(*(way[min(step, len(way) - 1)] for way in ways)))
        if 2 <= len(groups) <= (_MOST_GROUPS if len(ways) == 1 else _SOME):
            groupings[groups] = None
    return tuple(groupings)


def _ways(
    release: Release, attribute: Attribute, place: int, edges: tuple[int, ...]
) -> Iterable[tuple[Span, ...]]:
    """The ways to divide one column: values and levels of a taxonomy, or joined bands."""
    spans = tuple(pairwise(edges))
    if not isinstance(attribute, Numeric):
        yield spans
        spans_of, children = attribute.taxonomy.spans, attribute.taxonomy.children
        level: list[int] = list(children[0])
        while any(children[node] for node in level):
            yield tuple(sorted(spans_of[node] for node in level))
            level = [below for node in level for below in (children[node] or (node,))]
        return
    sizes = release.estimate([_query(release.schema, [(place, [span])]) for span in spans])
    total = max(1.0, float(np.maximum(sizes, 0.0).sum()))
    for least in _JOINED:
        joined: list[Span] = []
        waiting = 0.0
        for (low, high), size in zip(spans, sizes.tolist(), strict=True):
            if low >= attribute.grid:  # what is "other" is no number
                joined.append((low, high))
                break
            grown = bool(joined) and waiting < least * total
            waiting = max(0.0, size) + (waiting if grown else 0.0)
            joined = [*joined[:-1], (joined[-1][0], high)] if grown else [*joined, (low, high)]
        yield tuple(joined)
    for cut in edges[1:-1]:
        ends = pairwise((0, cut, attribute.grid, attribute.size))
        yield tuple((low, high) for low, high in ends if low < high)


def _by_splits(release: TableRelease) -> list[_Question]:
    """The class by the parts that a tree divides attributes into, the steps near its top first."""
    tree, schema = release.partition, release.schema
    if not isinstance(tree, TreePartition):
        return _by_cells(release)
    if schema.target is None:
        return []
    splits: dict[tuple[int, tuple[Group, ...]], None] = {}
    for node in np.flatnonzero(tree.split >= 0).tolist():
        axis = int(tree.split[node])
        ends = np.stack([tree.lo, tree.hi], axis=2)[tree.parent == node, axis].tolist()
        if 2 <= len(ends) <= _MOST_GROUPS:
            splits[axis, tuple((tuple(span),) for span in sorted(ends))] = None
        if len(splits) >= _MOST_SPLITS:
            break
    last, edges = len(schema.attributes), tuple(range(len(schema.classes) + 1))
    values = _values(release, last, edges)
    return [
        _Question(
            outcome=last, values=values, possible=1 if len(edges) == 3 else len(edges) - 1,
            by=(axis,), groupings=groupings, family=sum(map(len, groupings)), named=False,
        )
        for axis in dict.fromkeys(axis for axis, _ in splits)
        if (groupings := tuple(groups for at, groups in splits if at == axis)) and values
    ]  # fmt: skip


_QUESTIONS: dict[str, Callable[[Any], list[_Question]]] = {
    "marginals": _by_cells,
    "table": _by_splits,
}


# The section.


def findings(release: Release) -> Parts:
    """The section: differences, then distributions, then what noise hides."""
    if KINDS[release.kind].least is not None:
        return _certain(release)
    people = release.schema.unit_names[1]
    differ, vain = differences(release)
    shown, spreads = differ[:_MOST], notable(release)
    if not shown and not spreads:
        return ()
    parts: list[Part] = [Legend((("bar", "estimate"), ("interval", "95% interval")))]
    if shown:
        scale = Scale.until(float(max(one.high.max() for one in shown)), "%")
        parts += [
            Cards(tuple(_finding(one, people, scale) for one in shown), broad=True),
            Text(
                f"Shares of {people}. All of these intervals hold at once with 95%, with those of "
                "everything else that was looked at, and that groups differ as the sentences say: "
                "what stands here was picked, and that is allowed for. A difference is surer than "
                "two shares, so their intervals may overlap. It does not show a cause.",
                "note",
            ),
        ]
    if len(differ) > len(shown):
        parts.append(f"Groups also differ in {', '.join(one.title for one in differ[_MOST:])}.")
    if spreads:
        parts.append(Cards(tuple(_card(release, one) for one in spreads), broad=True))
    note = [
        f"Numbers of {people}. A 95% interval contains the true number with a probability of at "
        "least 95%, whatever the data looks like. Where intervals overlap, do not say which number "
        "is larger.",
        describe_cap(release.schema),
    ]
    values = [one for one in spreads if not isinstance(one.attribute, Numeric)]
    if any(len(_places_to_list(one)) < len(one.labels) for one in values):
        note.append(explain_picking("Of many values, those that are listed"))
    parts += [*averages(release), Text(" ".join(one for one in note if one is not None), "note")]
    if vain:
        parts.append(Text(f"Nothing stands out of the noise in {', '.join(vain)}.", "note"))
    return tuple(parts)


def brief(release: Release) -> Parts:
    """The first findings as sentences, and how sure they are; what is most frequent without any."""
    if KINDS[release.kind].least is not None:
        return _certain(release)[:_BRIEF]
    people = release.schema.unit_names[1]
    differ, _ = differences(release)
    if differ:
        left = len(differ) - _BRIEF
        more = f", with {left} more in the report" if left > 0 else ""
        sure = f"All of this holds at once with 95%{more}."
        return (*(one.sentence(people) for one in differ[:_BRIEF]), sure)
    for spread in notable(release, 1):
        if not isinstance(spread.attribute, Numeric):
            name = "" if spread.attribute is None else f"{spread.title}: "
            return (name + _sentence(spread, people),)
    return ()


def _finding(found: Difference, people: str, scale: Scale) -> Card:
    """A difference with a bar for each group."""
    rows = []
    for group, *ends in zip(found.groups, found.shares, found.low, found.high, strict=True):
        share, low, high = map(float, ends)
        bar = Bar(share, low=low, high=high)
        rows.append((", ".join(group), bar, *round_share(share, low, high)))
    by, value = " and ".join(one.title for one in found.by), f"{found.outcome.title} {found.value}"
    caption = f"{value} by {by}: share of {people}"
    few = (Text(f"Left out: {many(found.smaller, 'group')} of fewer than 5% of {people}.", "note"),)
    grid = Grid(caption, (by, scale, value, "95% interval"), rows=rows, numbers={2, 3})
    parts = (grid, *(few if found.smaller else ()))
    return Card(found.title, parts, found.sentence(people))


def notable(release: Release, most: int = _TABLES) -> list[Spread]:
    """The distributions to show first: the class, then those that differ most from an even spread.

    Only values whose counts stand out of the noise speak for a table. Of numbers, an even spread
    has as many in a band as the band is wide.

    Args:
        release: The release.
        most: How many tables.
    """
    target = release.schema.target

    def unevenness(spread: Spread) -> float:
        widths = widths_of(spread)
        return float(np.abs(spread.shares - widths / widths.sum())[~vague(spread)].sum())

    known = [one for one in release.histograms() if one.measured and not vague(one).all()]
    order = [(target is None or one.name != target.name, -unevenness(one)) for one in known]
    return [known[at] for at in sorted(range(len(known)), key=order.__getitem__)[:most]]


def _card(release: Release, spread: Spread) -> Card:
    """A number as a histogram; of values the largest that stand out of the noise."""
    name = "items" if spread.attribute is None else spread.title
    if isinstance(spread.attribute, Numeric):
        return Card(name, bands_parts(spread))
    people, shown = release.schema.unit_names[1], _places_to_list(spread)
    top = max([float(spread.high[p]) for p in shown if np.isfinite(spread.high[p])], default=1.0)
    labels, rows = labels_of(spread), []
    for place in shown:
        value, low, high = ends_of(spread, place)
        rows.append((labels[place], Bar(value, low=low, high=high), *round_count(value, low, high)))
    more = len(labels) - len(shown)
    rest = Text(f"and {more:,} more, with smaller estimates or mostly noise", "note")
    heads = ("value", Scale.until(top, people), "about", "95% interval")
    grid = Grid(f"{name}: {people}", heads, rows=rows, numbers={2, 3})
    return Card(name, (_sentence(spread, people), grid, *([rest] if more > 0 else [])))


def _places_to_list(spread: Spread) -> list[int]:
    """The places of the largest values that stand out of the noise."""
    order, pale = np.argsort(-spread.counts, kind="stable").tolist(), vague(spread)
    shown = [place for place in order if not pale[place]][:_VALUES]
    return shown if spread.attribute is None else sorted(shown)  # as the schema has them


def _sentence(spread: Spread, people: str) -> str:
    """Which value is the most frequent, as far as the intervals tell."""
    first = int(np.argmax(spread.counts))
    label, (about, ends) = labels_of(spread)[first], round_count(*ends_of(spread, first))
    number = f"about {about} {people} (95% interval: {ends})"
    if float(spread.low[first]) > float(np.max(np.delete(spread.high, first), initial=0.0)):
        return f"The most frequent is {label}: {number}."
    return f"{label} has {number}; whether it is the most frequent, the intervals do not tell."


def averages(release: Release) -> Parts:
    """Medians and means of all numbers that were measured, with their intervals."""
    rows = []
    for number in release.schema.attributes:
        if not isinstance(number, Numeric) or number.name in release.unmeasured:
            continue
        cells: list[str] = []
        for summary in (release.quantile(number.name, 0.5), release.mean(number.name)):
            (row,) = summary.to_arrow().to_pylist()
            cells += _number_words(number, [row[name] for name in ("estimate", "low", "high")])
        rows.append((number.title, *cells))
    heads = ("number", "median", "95% interval", "mean", "95% interval")
    return (Grid("Medians and means", heads, rows=rows, numbers=range(1, 5)),) if rows else ()


def _number_words(number: Numeric, ends: list[Any]) -> tuple[str, str]:
    """An average and its interval, with no more digits than the interval supports."""
    if any(one is None for one in ends):
        return "not known", "not known"
    if number.kind == "date":
        return str(ends[0]), f"{ends[1]}\u00a0to {ends[2]}"
    middle, low, high = map(float, ends)
    width = high - low
    digits = min(3, max(0, 1 - math.floor(math.log10(width)))) if width > 0 else 0
    scale = 10**digits
    outward = math.floor(low * scale) / scale, math.ceil(high * scale) / scale
    middle = float(np.clip(middle, low, high))
    about, least, most = (f"{one:z,.{digits}f}" for one in (middle, *outward))
    return about, f"{least}{TO}{most}"


def _certain(release: Release) -> Parts:
    """What generalized rows tell for certain, as sentences."""
    least, people = KINDS[release.kind].least, release.schema.unit_names[1]
    assert least is not None
    target = release.schema.target
    best = [(name, *max(values, key=itemgetter(1))) for name, values in least(release)]
    if not best:
        return ()
    best.sort(key=lambda one: (target is None or one[0] != target.name, -one[2]))
    return (
        *(
            f"At least {least:,.0f} {people}: {name} {label}"
            for name, label, least in best[:_VALUES]
        ),
        Text(
            f"With a probability of 95% all of these hold. {people.capitalize()} whose rows are "
            "suppressed are missing, and nobody can say how many they are. So there are no upper "
            f"ends, and shares of all {people} are not known.",
            "note",
        ),
    )
