"""Findings: where groups differ beyond noise, what stands out, in the schema's order and words."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow import sample
from hedgerow.data import encode_rows
from hedgerow.estimate.intervals import Excess
from hedgerow.present import findings as module
from hedgerow.present.document import Histogram, Scale
from hedgerow.present.findings import (
    Difference,
    _by_cells,
    _card,
    _claims,
    _finding,
    _number_words,
    averages,
    differences,
    findings,
    notable,
)
from hedgerow.present.render import fragment
from hedgerow.present.report import page, report
from hedgerow.present.value_bars import bands_parts, labels_of
from hedgerow.release import Release
from hedgerow.schema import Query
from hedgerow.verification import verify

GOLDEN = Path(__file__).parents[2] / "golden"
FOLDERS = sorted(path.name for path in GOLDEN.iterdir() if path.is_dir() and path.name[0] != "_")


@pytest.fixture(scope="module")
def release() -> Release:
    people, schema = sample.people(3000, seed=3), sample.schema()
    return hr.publish(people, schema, hr.DiffGen(), epsilon=9, seed=7)


def test_the_class_comes_first_and_noise_never(release: Release) -> None:
    found = notable(release)
    assert found[0].name == "readmitted" and 2 <= len(found) <= 4
    nothing = hr.publish(sample.people(40, seed=3), sample.schema(), epsilon="0.01", seed=7)
    assert notable(nothing) == [] and findings(nothing) == ()
    assert "Findings" not in page(nothing)


def test_findings_come_before_the_promise_and_have_intervals(release: Release) -> None:
    text = page(release)
    assert text.index('id="findings"') < text.index('id="promise"')
    assert '<line class="err"' in text and "95% interval" in text


def test_a_claim_is_made_only_where_intervals_allow_it(release: Release) -> None:
    spread = notable(release)[0]
    ends = {"low": np.array([80.0, 10.0]), "high": np.array([120.0, 30.0])}
    clear: Any = replace(spread, counts=np.array([100.0, 20.0]), **ends)
    assert "The most frequent is no: about 100 people" in card(release, clear)
    ends["high"] = np.array([120.0, 90.0])
    assert "the intervals do not tell" in card(release, replace(clear, **ends))


def test_values_keep_the_order_of_the_schema(release: Release) -> None:
    for spread in notable(release):
        text = card(release, spread)
        places = [text.find(f'scope="row">{label}<') for label in labels_of(spread)]
        shown = [place for place in places if place >= 0]
        assert shown == sorted(shown)


@pytest.mark.slow
@pytest.mark.parametrize("name", FOLDERS)
def test_the_commands_of_a_page_work_on_this_release(name: str) -> None:
    release = Release.load(GOLDEN / name)
    (asked,) = shlex.split(release.example)
    items = release.schema.kind == "transactions"
    assert len(release.count([asked.split(", ")] if items else asked)) == 1
    text = page(GOLDEN / name)
    assert f"hedgerow query release/ {release.example}" in text.replace("&#39;", "'")
    for spread in notable(release)[:1]:
        if spread.attribute is not None:
            assert "hedgerow table release/" in text and len(release.table(spread.name))


def test_attributes_that_it_says_nothing_about_are_named() -> None:
    method = hr.DiffGen(specializations=2)
    release = hr.publish(sample.people(800, seed=3), sample.schema(), method, epsilon=1, seed=7)
    assert release.unmeasured
    text = page(release)
    assert f"It says nothing about {', '.join(release.unmeasured)}." in text


def test_a_release_that_cannot_be_relied_on_has_no_findings(release: Release) -> None:
    broken = replace(release, guarantee=release.guarantee | {"epsilon": "1/9"})
    assert "findings" not in [one.key for one in report(broken, verify(broken)).sections]


def test_widths_of_bands_make_no_finding(release: Release) -> None:
    """Even numbers in bands of all widths are even, and the median lies where it lies."""
    (stay,) = [one for one in release.histograms() if one.name == "stay"]
    assert len({*np.diff(stay.edges).tolist()}) > 1
    text = card(release, stay)
    assert "most frequent" not in text and "largest" not in text and "per unit" in text
    widths = np.diff(stay.edges).astype(float)
    even = replace(stay, counts=widths * 10, low=widths * 9, high=widths * 11)
    (drawn,) = [one for one in bands_parts(even) if isinstance(one, Histogram)]
    heights = [bar.value for *_, bar in drawn.bands]
    assert np.ptp(heights) < 1e-9 and len(heights) > 1  # all bars are equally tall


def test_averages_have_intervals_that_hold(release: Release) -> None:
    (table,) = averages(release)
    rows = {row[0]: row[1:] for row in table.rows}  # type: ignore[union-attr]
    assert set(rows) <= {"age", "admitted", "stay", "visits", "bmi"} and "age" in rows
    ages = sample.people(3000, seed=3)["age"].to_numpy()
    median, ends, mean, mean_ends = rows["age"]
    for truth, interval in ((np.median(ages), ends), (ages.mean(), mean_ends)):
        low, high = str(interval).replace("\u00a0", " ").split(" to ")
        assert float(low) <= truth <= float(high)
    assert 20 < float(str(median)) < 90 and 20 < float(str(mean)) < 90


def test_nothing_is_less_than_nothing() -> None:
    schema = hr.Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        "score": {"type": "numeric", "low": -2, "high": 2, "step": "0.1"}}})  # fmt: skip
    words = _number_words(schema.attributes[0], [-0.001, -0.31, 0.3])  # type: ignore[arg-type]
    assert words == ("0.00", "-0.31\u00a0to\u00a00.30")


# Differences between groups.


def card(release: Release, spread: Any) -> str:
    return fragment([_card(release, spread)])


def difference(shares: list[float], low: list[float], high: list[float], **more: Any) -> Difference:
    names = {one.name: one for one in sample.schema().attributes}
    return Difference(
        outcome=sample.schema().target,  # type: ignore[arg-type]
        codes=(1, 2), by=(names["age"],), parts=tuple(((n, n + 1),) for n in range(len(shares))),
        shares=np.array(shares), low=np.array(low), high=np.array(high),
        **{"most": int(np.argmax(shares)), "least": int(np.argmin(shares))} | more,
    )  # fmt: skip


def test_a_difference_in_one_plain_sentence() -> None:
    found = difference([0.428, 0.2, 0.06], [0.40, 0.1, 0.05], [0.46, 0.3, 0.08], smaller=2)
    assert found.sentence("people").replace("\u00a0", " ") == (
        "43% of people with age 18 have readmitted yes, ± 3; 6% of those with age 20, ± 2."
    )
    text = fragment([_finding(found, "people", Scale(0.5, "%"))])
    assert "Left out: 2 groups of fewer than 5% of people." in text
    assert found.gap == pytest.approx(0.368 - (0.028 + 0.02) / 2)


def test_one_group_alone_is_held_against_all_others() -> None:
    """What lies below nothing is told as an upper end."""
    shares, low, high = [0.057, 0.01, 0.008], [0.02, 0.0, 0.0], [0.09, 0.04, 0.021]
    found = difference(shares, low, high, most=0, least=2)
    found = replace(found, parts=found.parts[:2])
    assert found.sentence("people").replace("\u00a0", " ") == (
        "6% of people with age 18 have readmitted yes, ± 4; 1% of all others, at most 3%."
    )
    assert found.groups == [("18",), ("19",), ("all others",)]
    assert "all others" in fragment([_finding(found, "people", Scale(0.5, "%"))])
    fewer = replace(found, most=2, least=1)  # the others have the larger share
    assert fewer.sentence("people").startswith("1% of people with age 19 have readmitted yes")


def test_what_is_written_after_plus_and_minus_holds_the_interval() -> None:
    found = difference([0.125, 0.5], [0.119, 0.5], [0.1349, 0.5])
    assert found.reach(0) == "±\u00a02"  # 13 less 2 and plus 2 hold 11.9 and 13.49
    assert found.reach(1) == "±\u00a01"  # and never 0: that would be exact


def test_the_class_by_groups_comes_first_and_only_where_intervals_tell() -> None:
    release = hr.publish(sample.people(3000, seed=3), sample.schema(), epsilon=2, seed=7)
    told, vain = differences(release)
    assert told and all(one.shares[one.most] > one.shares[one.least] for one in told)
    assert [one.gap for one in told] == sorted((one.gap for one in told), reverse=True)
    assert len(told) + len(vain) == len(release.schema.attributes)
    text = fragment(findings(release))
    assert text.index(f"<h3>{told[0].title}</h3>") < text.index("<h3>readmitted</h3>")
    assert "does not show a cause" in text and f"stands out of the noise in {vain[0]}" in text
    noise = hr.publish(sample.people(60, seed=3), sample.schema(), epsilon="0.05", seed=7)
    assert differences(noise)[0] == []


@pytest.mark.parametrize("method", ["marginals", "diffgen", "diffmulti"])
def test_shares_agree_with_the_tables_of_the_release(method: str) -> None:
    release: Any = hr.publish(
        sample.people(3000, seed=3), sample.schema(), method, epsilon=2, seed=1
    )
    schema, compared = release.schema, 0
    for one in differences(release)[0]:
        places = [schema.columns.index(column) for column in one.by]
        for place, group in enumerate(one.parts):
            where = tuple(
                (p, ((float(a), float(b)),)) for p, (a, b) in zip(places, group, strict=True)
            )
            sizes = [Query(where, (code,)) for code in range(len(schema.classes))]
            counts = np.maximum(release.count(sizes).estimate, 0.0)
            share = counts[slice(*one.codes)].sum() / counts.sum()
            if one.low[place] <= share <= one.high[place]:
                assert one.shares[place] == pytest.approx(share)
                compared += 1
    assert compared


def test_all_findings_are_on_one_scale() -> None:
    release = hr.publish(sample.people(3000, seed=3), sample.schema(), epsilon=9, seed=7)
    cards: Any = findings(release)[1]
    scales = {
        head for one in cards.cards for head in one.parts[0].heads if not isinstance(head, str)
    }
    assert len(cards.cards) > 2 and len(scales) == 1


@pytest.mark.parametrize("method", ["marginals", "diffgen"])
def test_intervals_of_shares_by_group_hold_the_truth(method: str) -> None:
    """All at once with 95%: if so, 6 of 20 releases miss with a probability of 0.0003."""
    rows, schema = sample.people(1500, seed=4), sample.schema()
    codes, _ = encode_rows(rows, schema)
    classes = np.array(rows["readmitted"].to_pylist())
    missed, told = 0, 0
    for seed in range(20):
        release: Any = hr.publish(rows, schema, method, epsilon=2, seed=seed)
        found, _ = differences(release)
        told += len(found)
        held = []
        for one in found:
            place = schema.attributes.index(one.by[0])
            groups = [(codes[:, place] >= low) & (codes[:, place] < high)
                      for ((low, high),) in one.parts]  # fmt: skip
            if len(one.shares) > len(groups):
                groups.append(~groups[min(one.most, one.least)])
            truth = [np.mean(classes[group] == one.value) for group in groups]
            held += [a <= b <= c for a, b, c in zip(one.low, truth, one.high, strict=True)]
            held.append(truth[one.most] > truth[one.least])
        missed += not all(held)
    assert told >= 20 and missed < 6


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("classes", [2, 3, 9])
def test_all_that_might_be_said_has_its_part_of_the_error(
    classes: int, named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which groups and classes are looked at depends on noise, so the others pay as well."""
    names = [f"c{n}" for n in range(classes)]
    schema = hr.Schema.from_dict({"name": "s", "unit": "row",
        "tables": ["kind by home"] if named else [], "attributes": {
        "age": {"type": "numeric", "low": 0, "high": 3},
        "home": {"type": "categorical", "values": ["x", "y", "z"]},
        "kind": {"type": "categorical", "values": names, "role": "class"}}})  # fmt: skip
    rows = pa.table({
        "age": [n % 4 for n in range(900)], "home": [*"xyz"] * 300,
        "kind": [names[n % classes] for n in range(900)],
    })  # fmt: skip
    release = hr.publish(rows, schema, epsilon=9, seed=1)
    levels: list[float] = []
    claimed: list[tuple[Any, float]] = []
    own = hr.MarginalsRelease.count

    def count(self: Any, queries: Any, *, level: float = 0.95) -> Any:
        levels.append(level)
        return own(self, queries, level=level)

    def claims(release: Any, question: Any, groups: Any, *rest: Any) -> Any:
        claimed.append((question, rest[-1]))
        return (np.zeros((len(question.values), len(groups)), bool),) * 2

    monkeypatch.setattr(hr.MarginalsRelease, "count", count)
    monkeypatch.setattr("hedgerow.present.findings._claims", claims)
    differences(release)
    values = classes if classes > 2 else 1
    spent = []
    for (question, error), level in zip(claimed, levels, strict=True):
        groups = {0: 4 * 5 // 2, 1: 3}[question.by[0]]  # runs of four ages, three homes
        intervals = 2 * values * (groups + 1) + groups + 1
        spent.append(error + intervals * (1 - level))
        assert (question.possible, question.family) == (values, groups) and error > 0
    assert sum(spent) == pytest.approx(0.05) and spent[0] == pytest.approx(spent[1])


def test_error_is_divided_before_noise_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise says how bands are joined, and whether that leaves any groups to ask about."""
    schema = {"name": "s", "unit": "row", "tables": [["a", "b", "c"], ["c", "d"]], "attributes": {
        **{name: {"type": "numeric", "low": 0, "high": 30} for name in "ab"},
        **{name: {"type": "categorical", "values": ["x", "y", "z"]} for name in "cd"}}}  # fmt: skip
    random = np.random.default_rng(3)
    columns = {name: random.integers(0, 31, 2000) for name in "ab"}
    columns |= {name: np.array(["x", "y", "z"])[random.integers(0, 3, 2000)] for name in "cd"}
    release = hr.publish(pa.table(columns), schema, "marginals", epsilon=10, seed=1)
    seen: list[list[float]] = []

    def note(_: Any, question: Any, error: float) -> list[Any]:
        seen[-1].append(error)
        return []

    monkeypatch.setattr(module, "_differences", note)
    ways = module._groupings
    for some in (ways, lambda *asked: ways(*asked) if len([*asked[1]]) < 2 else ()):
        seen.append([])
        monkeypatch.setattr(module, "_groupings", some)
        differences(release)
    assert seen == [[0.025] * 2, [0.025]]


def test_claims_of_a_table_share_their_error() -> None:
    """Of a number half goes to its cuts in two, which are above or below, half to all runs."""
    release: Any = hr.publish(sample.people(300, seed=4), sample.schema(), epsilon=1, seed=1)
    (age,) = [one for one in _by_cells(release) if release.schema.columns[one.by[0]].name == "age"]
    bands = len(age.groupings[0]) if age.cut == 0 else age.cut + 1
    size = release.schema.attributes[age.by[0]].size
    groups: list[Any] = [((0, 9),), ((9, size),), ((3, 9),)]
    ends = np.array([[0.0], [1.0]]), np.array([[0.0] * 3, [1.0] * 3])
    limits = []
    for group in groups:
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(
                    Excess, "surprises", lambda _, g, *__, p=middle: (np.full(len(g), p),) * 2
                )
                (above,), _ = _claims(release, age, [group], *(e[:, :1] for e in ends), 0.04)
            low, high = (middle, high) if above[0] else (low, middle)
        limits.append(low)
    cut, again, run = limits
    assert cut == pytest.approx(again) and age.possible == 1
    assert 2 * (bands - 1) * cut + 2 * (bands * (bands + 1) // 2) * run == pytest.approx(0.04)


def test_small_groups_make_no_finding() -> None:
    """Of 40 people all are ill, of 2,960 a tenth; those few are left out, and counted."""
    schema = hr.Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        "place": {"type": "categorical", "values": ["north", "south", "isle"]},
        "ill": {"type": "boolean", "role": "class"}}})  # fmt: skip
    rows = [{"place": "isle", "ill": True}] * 40
    rows += [{"place": ("north", "south")[n // 1000 % 2], "ill": n < 900} for n in range(2960)]
    release = hr.publish(pa.Table.from_pylist(rows), schema, epsilon=50, seed=1)
    ((found,), _) = differences(release)
    assert found.groups == [("north",), ("south",)] and found.smaller == 1


def test_heavy_tails_are_joined() -> None:
    """Gains are 0 for nine in ten; the tenth part is one group, though it lies in many bands."""
    random = np.random.default_rng(3)
    gains = np.where(random.random(4000) < 0.9, 0, random.integers(1, 100_000, 4000))
    rich = np.where(gains > 0, random.random(4000) < 0.7, random.random(4000) < 0.2)
    schema = hr.Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        "gain": {"type": "numeric", "low": 0, "high": 99_999},
        "rich": {"type": "boolean", "role": "class"}}})  # fmt: skip
    release = hr.publish(pa.table({"gain": gains, "rich": rich}), schema, epsilon=2, seed=1)
    ((first, *_), _) = differences(release)
    assert first.groups[0] == ("0",) and len(first.groups) == 2
    assert re.match("7.% of people with gain .* have rich true", first.sentence("people"))


def test_named_tables_are_found_without_a_class() -> None:
    random = np.random.default_rng(3)
    home = random.choice(["town", "land"], 3000)
    ill = random.random(3000) < np.where(home == "town", 0.5, 0.1)
    schema = hr.Schema.from_dict({"name": "s", "unit": "row", "tables": ["home ill"],
        "attributes": {"home": {"type": "categorical", "values": ["town", "land"]},
        "ill": {"type": "boolean"}, "age": {"type": "numeric", "low": 0, "high": 9}}})  # fmt: skip
    rows = pa.table({"home": home, "ill": ill, "age": random.integers(0, 10, 3000)})
    release = hr.publish(rows, schema, epsilon=2, seed=1)
    (found,), vain = differences(release)
    assert found.named and vain == [] and found.title in ("home by ill", "ill by home")


@pytest.mark.parametrize("method", ["marginals", "diffgen", "diffmulti"])
def test_a_rule_is_no_finding_and_nothing_that_it_forbids_is_counted(method: str) -> None:
    """Nobody below 15 is at work: everybody knows, and no count says otherwise."""
    random = np.random.default_rng(3)
    age = random.integers(0, 60, 3000)
    work = (age >= 15) & (random.random(3000) < np.where(age < 40, 0.9, 0.3))
    schema = hr.Schema.from_dict({"name": "s", "unit": "row",
        "rules": ["age < 15 implies work = false"],
        "attributes": {"age": {"type": "numeric", "low": 0, "high": 59},
        "work": {"type": "boolean", "role": "class"}}})  # fmt: skip
    rows = pa.table({"age": age, "work": work})
    release: Any = hr.publish(rows, schema, method, epsilon=2, seed=1)
    answers = release.count(["age < 15 and work = true", "age < 15", "age < 20 and work = true"])
    assert answers.estimate[0] == answers.high[0] == 0 and answers.basis[0] == "ruled out"
    assert (answers.high[1:] > 0).all() and "ruled out" not in answers.basis[1:]
    for one in differences(release)[0]:
        assert all(high > 15 for ((_, high),) in one.parts)


def test_pages_say_what_picking_the_largest_does_to_intervals(release: Release) -> None:
    """Of many values, regions or itemsets the largest are shown: their level is no longer 95%."""
    words = "were picked by their estimates"
    many = {"type": "categorical", "values": [f"v{n}" for n in range(20)]}
    schema = hr.Schema.from_dict({"name": "s", "unit": "row", "attributes": {"place": many}})
    rows = [{"place": f"v{n % 20}"} for n in range(2000)]
    told = page(hr.publish(pa.Table.from_pylist(rows), schema, epsilon=9, seed=1))
    assert f"Of many values, those that are listed {words}" in told and f"Those {words}" in told
    few = {"place": many | {"values": ["v0", "v1"]}}
    schema = hr.Schema.from_dict({"name": "s", "unit": "row", "attributes": few})
    rows = [{"place": f"v{n % 2}"} for n in range(2000)]
    assert words not in page(hr.publish(pa.Table.from_pylist(rows), schema, epsilon=9, seed=1))
    assert f"These regions {words}" not in page(GOLDEN / "diffmulti-tuned-1")  # all are shown
    method = hr.DiffMulti(specializations=20)
    fine = hr.publish(sample.people(3000, seed=3), sample.schema(), method, epsilon=9, seed=7)
    assert f"These regions {words}" in page(fine)
    shop = Release.load(next(GOLDEN.glob("diffpart*")))
    assert f"These itemsets {words}" in page(shop)


def test_one_group_that_stands_out_is_found_in_a_named_table() -> None:
    """6% in one group of six, 1% in the others, at epsilon 1: intervals of two groups overlap."""
    random = np.random.default_rng(5)
    group = np.repeat([*"ABCDEF"], [3024, 1800, 1800, 1792, 1792, 1792])
    ill = random.random(12_000) < np.where(group == "A", 0.057, 0.008)
    rows = {
        "group": group,
        "ill": ill,
        **{f"x{n}": random.integers(0, 9, 12_000) for n in range(6)},
    }
    number = {"type": "numeric", "low": 0, "high": 8}
    schema = hr.Schema.from_dict({"name": "s", "unit": "row", "tables": ["ill by group"],
        "attributes": {"group": {"type": "categorical", "values": [*"ABCDEF"]},
        "ill": {"type": "boolean", "role": "class"},
        **{f"x{n}": number for n in range(6)}}})  # fmt: skip
    told, vain = differences(hr.publish(pa.table(rows), schema, epsilon=1, seed=2))
    assert told[0].title == "ill by group" and told[0].groups[told[0].most] == ("A",)
    assert len(vain) >= 5 and told[0].named


def test_differences_between_answers_come_before_those_of_missing_ones() -> None:
    """A fifth left out all questions: nothing differs more, and it says nothing."""
    random = np.random.default_rng(7)
    size = 6000
    gone = random.random(size) < 0.2
    scale = random.integers(1, 6, size)
    vote = np.where(random.random(size) < scale / 8, "yes", "no")
    answers = {"scale": scale, "home": random.choice(["town", "land"], size), "vote": vote}
    rows = {name: np.where(gone, "", told.astype(str)) for name, told in answers.items()}
    schema = hr.Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        "scale": {"type": "numeric", "low": 1, "high": 5, "missing": "other"},
        "home": {"type": "categorical", "values": ["town", "land"], "missing": "other"},
        "vote": {"type": "categorical", "values": ["no", "yes"], "missing": "other",
                 "role": "class"}}})  # fmt: skip
    release = hr.publish(pa.table(rows), schema, epsilon=2, seed=1)
    (answered, left), vain = differences(release)
    assert answered.title == "vote by scale" and answered.answered and vain == []
    assert answered.value in ("yes", "no")
    assert not any("other" in label for group in answered.groups for label in group)
    assert left.title == "vote by home" and not left.answered and left.gap > answered.gap
