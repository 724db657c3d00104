"""Marginals of a release: its cells, what is made of them, and what a stranger may put there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.errors import ReleaseError, UsageError
from hedgerow.estimate.marginals.forest import fit_forest, shrunk, spread
from hedgerow.estimate.marginals.rows import most_rows
from hedgerow.measured.edges import edges_of, fine_edges, group_edges, groups_of, recounted
from hedgerow.measured.marginals import Marginals
from hedgerow.schema import Schema
from hedgerow.verification import verify

SCHEMA = Schema.from_dict(
    {
        "name": "simulated",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 99, "step": 1},
            "home": {"type": "categorical", "values": ["flat", "house", "boat"]},
            "zone": {"type": "categorical", "values": ["a", "b", "c"]},
            "town": {"type": "categorical", "values": [f"t{i}" for i in range(100)]},
            "ill": {"type": "boolean", "role": "class"},
        },
    }
)


def rows(number=20_000, seed=0):
    """Home and zone are nearly the same thing, half of all are 40 years old, the old are ill."""
    rng = np.random.default_rng(seed)
    age = np.where(rng.random(number) < 0.5, 40, rng.integers(0, 100, number))
    home = rng.integers(0, 3, number)
    zone = np.where(rng.random(number) < 0.95, home, rng.integers(0, 3, number))
    return pa.table(
        {
            "age": age,
            "home": np.array(["flat", "house", "boat"])[home],
            "zone": np.array(["a", "b", "c"])[zone],
            "town": np.array([f"t{i}" for i in range(100)])[rng.integers(0, 100, number)],
            "ill": np.where(rng.random(number) < age / 120, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def release():
    made = hr.publish(rows(), SCHEMA, hr.DiffMulti(marginals=True), 1, seed=3)
    return replace(made, guarantee=made.guarantee | {"private": True})


def changed(release, name, **changes):
    found = tuple(
        replace(m, **{key: change(m) for key, change in changes.items()}) if m.name == name else m
        for m in release.measurements
    )
    return replace(release, measurements=found)


def test_cells_cover_every_attribute_and_large_ones_of_numbers_are_counted_again():
    for attribute in SCHEMA.attributes:
        edges = edges_of(attribute)
        assert edges[0] == 0 and edges[-1] == attribute.size and (np.diff(edges) > 0).all()
    assert [len(edges_of(a)) - 1 for a in SCHEMA.attributes] == [17, 3, 3, 32]
    age = SCHEMA.attributes[0]
    counts = np.array([700, 63, 62, *[0] * 14])
    assert recounted(age, edges_of(age), counts, 1000).tolist() == [1]  # the first is one code
    assert recounted(SCHEMA.attributes[3], edges_of(SCHEMA.attributes[3]), counts, 0).size == 0
    assert fine_edges(0, 40).tolist()[:3] == [0, 2, 5] and fine_edges(3, 5).tolist() == [3, 4, 5]


def test_zero_the_lowest_value_and_other_are_cells_of_their_own():
    number = {"type": "numeric", "low": -100, "high": 99, "step": 1, "missing": "other"}
    schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {"n": number}})
    edges = edges_of(schema.attributes[0]).tolist()
    assert {0, 1, 100, 101, 200, 201} <= set(edges) and edges[-1] == 201 and len(edges) - 1 <= 20


@pytest.mark.parametrize(
    ("low", "high", "step"), [(0, 65535, 1), (-700, 300, 1), (-900, -20, 7), (1000, 10**6, 250)]
)
def test_parts_on_a_logarithmic_scale_grow_away_from_zero(low, high, step):
    number = {"type": "numeric", "low": low, "high": high, "step": step, "scale": "log"}
    schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {"n": number}})
    edges = edges_of(schema.attributes[0])
    assert edges[0] == 0 and edges[-1] == schema.attributes[0].size and (np.diff(edges) > 0).all()
    ends = np.abs(low + step * edges[1:-1])  # the lowest code is a cell of its own
    ends = np.sort(ends[(ends > 0) & (np.sign(low + step * edges[1:-1]) == np.sign(high + low))])
    grown = (ends[1:] / ends[:-1])[np.diff(ends) > 4 * step]
    assert len(grown) > 3 and grown.max() / grown.min() < 1.5


def test_values_that_the_schema_names_are_cells_of_their_own():
    number = {"type": "numeric", "low": 1, "high": 99, "common": [40, 99]}
    schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {"n": number}})
    assert {39, 40, 98, 99} <= set(edges_of(schema.attributes[0]).tolist())


@pytest.mark.parametrize(
    "counts", [[0] * 17, [-5] * 17, [9] * 17, [0] * 16 + [7], [1, *[1, 2] * 8]]
)
def test_groups_are_unions_of_parts_whatever_the_noise_says(counts):
    edges = group_edges(SCHEMA.attributes[0], np.array(counts))
    assert edges[0] == 0 and edges[-1] == 100 and (np.diff(edges) > 0).all() and len(edges) <= 9
    assert np.isin(edges, edges_of(SCHEMA.attributes[0])).all()


def test_the_dependent_pair_is_found_and_its_counts_are_near(release):
    assert (2, 1) in release.marginals.pair
    truth = rows().group_by(["home", "zone"]).aggregate([([], "count_all")]).to_pylist()
    for line in truth:
        told = release.count(f"home in {line['home']} and zone in {line['zone']}")
        assert abs(told.estimate[0] - line["count_all"]) < 150


def test_rows_keep_what_stands_out_and_the_counts_of_the_release(release):
    made = release.synthesize(seed=1)
    assert len(made) == release.counts.sum()
    assert 0.45 < np.mean(made["age"].to_numpy() == 40) < 0.55  # even spread would give 1%
    beside = {"flat": "a", "house": "b", "boat": "c"}
    homes, zones = made["home"].to_pylist(), made["zone"].to_pylist()
    same = np.mean([beside[home] == zone for home, zone in zip(homes, zones, strict=True)])
    assert same > 0.9
    share = np.mean(made["ill"].to_numpy(zero_copy_only=False))
    assert abs(share - release.count("ill = true").estimate[0] / len(made)) < 0.01
    assert made.equals(release.synthesize(seed=1))
    assert not made.equals(release.synthesize(seed=2))
    assert len(release.synthesize(7)) == 7 and len(release.synthesize(0)) == 0


def test_estimates_alone_are_those_of_counts(release):
    queries = ["everybody", "age < 40", "age >= 60 and home in boat", "zone in a and ill = true"]
    answers = release.count(queries)
    inside = np.clip(release.estimate(queries), answers.low, answers.high)
    assert answers.estimate.tolist() == inside.tolist()
    regions = hr.publish(rows(500), SCHEMA, hr.DiffMulti(marginals=False), 1, seed=3)
    assert regions.estimate(queries).tolist() == regions.count(queries).estimate.tolist()


def test_answers_tell_what_they_rest_on(release):
    (pair,) = {tuple(sorted(pair)) for pair in release.marginals.pair} & {(1, 2)}
    queries = ["everybody", "age < 43", "ill = true", "home in boat and zone in a"]
    assert set(release.count(queries).basis) == {"measured"}
    modelled = ["age < 43 and town in t1", "home in boat and ill = true"]
    assert set(release.count(modelled).basis) == {"modelled"}
    assert release.unmeasured == ()
    # as if money had been too short for the last two tables
    cells = release.marginals.cells
    kept = np.isin(np.arange(cells.start[-1]), cells.numbers([0, 1]))
    short = changed(
        release, "one_way", where=lambda m: m.where[kept], values=lambda m: m.values[kept],
        units=lambda m: m.units[kept],
    )  # fmt: skip
    left = tuple(m for m in short.measurements if m.name not in ("two_way", "fine"))
    short = replace(short, measurements=left)
    unknown = {"zone", "town"} - {SCHEMA.attributes[a].name for a in short.partition.divided}
    assert set(short.unmeasured) == unknown
    basis = dict(zip(queries, short.count(queries).basis.tolist(), strict=True))
    wanted = "not measured" if "zone" in unknown else "modelled"
    assert basis["age < 43"] == "measured" and basis["home in boat and zone in a"] == wanted


def test_counts_rows_and_predictions_come_from_one_model(release):
    made = release.synthesize(seed=1)
    ill = made["ill"].to_numpy(zero_copy_only=False)
    homes, zones = (np.array(made[name].to_pylist()) for name in ("home", "zone"))
    queries = ["age < 40", "age >= 60 and home in boat", "zone in a"]
    for query in queries:
        counted, sick = release.count([query, f"{query} and ill = true"]).estimate
        codes = release.model.weighed.synthetic
        weight = release.model.weighed.weight
        p = release.model.probabilities(codes)[:, 1]
        # probabilities are counted in steps of 2^-14
        assert release.count("ill = true").estimate[0] == pytest.approx(weight @ p, rel=1e-4)
        old = made["age"].to_numpy()
        here = {
            "age < 40": old < 40,
            "age >= 60 and home in boat": (old >= 60) & (homes == "boat"),
            "zone in a": zones == "a",
        }[query]
        assert abs(here.sum() - counted) < 0.01 * len(made) + 0.02 * counted
        assert abs(ill[here].sum() - sick) < 0.01 * len(made) + 0.03 * sick
    frame = made.drop_columns("ill").slice(0, 500)
    likely = release.model.probabilities(_codes(frame)).argmax(axis=1) == 1
    assert release.predict(frame)["ill"].to_pylist() == likely.tolist()


def _codes(frame):
    from hedgerow.table import encode_rows

    return encode_rows(frame, SCHEMA, lenient=True)[0].astype(np.int64)


def test_each_round_is_kept_with_what_it_was_measured_against(release):
    found = release.marginals
    assert found.base.shape == (release.partition.cells, 2) and len(found.rounds) >= 3
    for one in found.rounds:
        assert one.klass == 1 and len(one.values) == len(one.shift)
        assert len(one.values) == len(edges_of(SCHEMA.attributes[one.attribute])) - 1
    assert any(one.shift.any() for one in found.rounds)


def test_estimates_stay_inside_intervals_that_need_no_model(release):
    plain = replace(release, measurements=tuple(m for m in release.measurements if m.at != "cell"))
    queries = ["age < 30", "home in boat and town in t3", "age in [40, 40] and ill = true"]
    with_it, without = release.count(queries), plain.count(queries)
    assert ((with_it.low <= with_it.estimate) & (with_it.estimate <= with_it.high)).all()
    # tables of attributes tell more about one attribute than regions do
    assert (with_it.high - with_it.low)[0] < (without.high - without.low)[0] / 2
    assert without.typical_error is None and (with_it.typical_error > 0).all()


def test_half_a_code_counts_half(release):
    whole, half = release.count([{"age": (0, 10)}, {"age": (0, 9.5)}]).estimate
    assert half < whole


def test_weights_agree_with_the_regions(release):
    counts, found = release.counts.sum(axis=1), release.model.weighed
    held = np.bincount(found.region, found.weight, len(counts))
    large = counts > 200
    assert large.any()
    assert np.abs(held - counts)[large].max() < 0.02 * counts.sum()


def test_nobody_and_almost_nobody_can_be_published_with_marginals():
    for number in (0, 1, 5):
        release = hr.publish(
            rows(number), SCHEMA, hr.DiffMulti(marginals=True, pairs=3), 1, seed=1, allow_empty=True
        )
        drawn = release.synthesize(seed=1)
        assert len(drawn) == release.counts.sum()
        assert np.isfinite(release.count(["age < 30", "town in t5"]).estimate).all()


def test_a_table_without_class_has_marginals_too():
    attributes = {n: {"type": "boolean"} for n in ("a", "b")}
    schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": attributes})
    rng = np.random.default_rng(1)
    bits = rng.random(9000) < 0.3
    release = hr.publish(
        pa.table({"a": bits, "b": bits}), schema, hr.DiffMulti(marginals=True), 1, seed=1
    )
    assert release.marginals.rounds == () and release.marginals.base is None
    made = release.synthesize(seed=1)
    assert np.mean(made["a"].to_numpy(False) == made["b"].to_numpy(False)) > 0.95


def test_the_file_keeps_marginals(release, tmp_path):
    release.save(tmp_path / "r")
    again = hr.Release.load(tmp_path / "r")
    assert again == release
    assert again.synthesize(seed=4).equals(release.synthesize(seed=4))
    assert verify(tmp_path / "r").ok


STRANGE = {
    "a cell is missing": ("one_way", {"where": lambda m: m.where + 1}),
    "a code is missing": ("fine", {"where": lambda m: m.where[::-1].copy()}),
    "half a pair": ("two_way", {
        "where": lambda m: m.where[1:], "values": lambda m: m.values[1:],
        "units": lambda m: m.units[1:]}),
    "a pair that does not exist": ("two_way", {"where": lambda m: m.where + 10**6}),
    "no pair at all": ("two_way", {
        "where": lambda m: m.where[:0], "values": lambda m: m.values[:0],
        "units": lambda m: m.units[:0]}),
    "a pair twice": ("two_way", {
        key: lambda m, key=key: np.concatenate([getattr(m, key)] * 2)
        for key in ("where", "values", "units")}),
    "a threshold": ("one_way", {"threshold": lambda m: 3}),
    "codes by class": ("fine", {"by_class": lambda m: True}),
    "a round in part": ("residual", {"where": lambda m: m.where + 1}),
    "a round that is missing": ("residual", {"where": lambda m: m.where + 2 * 55}),
    "shifts beyond measure": ("residual", {"logits": lambda m: m.logits + (1 << 40)}),
    "rounds without logits": ("residual", {"logits": lambda m: None}),
    "regions without logits": ("leaf", {"logits": lambda m: None}),
}  # fmt: skip


@pytest.mark.parametrize("case", STRANGE)
def test_cells_that_the_schema_does_not_have_are_refused(release, case):
    name, changes = STRANGE[case]
    with pytest.raises(ReleaseError):
        Marginals.of(SCHEMA, changed(release, name, **changes).measurements)


def test_a_measurement_that_is_there_twice_is_refused(release):
    with pytest.raises(ReleaseError):
        Marginals.of(SCHEMA, (*release.measurements, release.measurements[1]))


def test_regions_that_the_forest_misses_have_rows_all_the_same():
    for seed in range(12):
        made = hr.publish(rows(300), SCHEMA, hr.DiffMulti(marginals=True), "0.02", seed=seed)
        if not made.counts.any():
            continue
        assert made.model.weighed.weight.sum() == pytest.approx(made.model.forest.total)
        assert len(made.synthesize(seed=1)) == made.counts.sum()


def test_many_attributes_take_bounded_room():
    assert most_rows(14) >= 150_000
    assert most_rows(10**4) * 10**4 <= 2 * 10**8


FORGED = {
    "less noise than was paid for": ("one_way", {"units": lambda m: m.units * 2}),
    "codes with less noise": ("fine", {"units": lambda m: m.units * 2}),
    "pairs with less noise": ("two_way", {"units": lambda m: m.units * 2}),
    "one cell with less noise": ("one_way", {
        "units": lambda m: np.where(m.where == 3, 2 * m.units, m.units)}),
    "another number of tables": ("one_way", {"max_contribution": lambda m: 1}),
    "residuals with less noise": ("residual", {"units": lambda m: m.units * 2}),
    "residuals that move by less": ("residual", {"max_contribution": lambda m: 1}),
}  # fmt: skip


def test_what_was_not_paid_for_is_caught(release):
    assert verify(release).ok
    for case, (name, changes) in FORGED.items():
        assert not verify(changed(release, name, **changes)).ok, case
    for purpose in ("relate", "pick", "residual"):
        entries = [e for e in release.ledger["entries"] if e["purpose"] != purpose]
        assert not verify(replace(release, ledger=release.ledger | {"entries": entries})).ok


@pytest.fixture(scope="module")
def ring():
    """A release with as many pairs as three attributes have, one of which closes a ring."""
    attributes = {name: {"type": "categorical", "values": list("pqr")} for name in "abc"}
    attributes["n"] = {"type": "numeric", "low": 0, "high": 99, "step": 1}
    schema = Schema.from_dict({"name": "ring", "unit": "row", "attributes": attributes})
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 3, (2, 20_000))
    c = np.where(rng.random(20_000) < 0.5, a, b)
    n = rng.integers(0, 100, 20_000)
    letters = np.array(list("pqr"))
    rows = pa.table({"a": letters[a], "b": letters[b], "c": letters[c], "n": n})
    made = hr.publish(rows, schema, hr.DiffMulti(marginals=True, pairs=6), 2, delta="1e-6", seed=1)
    return replace(made, guarantee=made.guarantee | {"private": True}), (a, b, c)


def test_pairs_that_close_a_ring_are_counted_and_answered(ring):
    """By a forest alone, two of the three pairs would make the third dependent, which it is not."""
    release, (a, b, c) = ring
    tables = release.marginals
    counted = {pair for pair in tables.all_pairs if 3 not in pair}
    assert counted == {(1, 0), (2, 0), (2, 1)} and tables.extra and verify(release).ok
    codes = {0: a, 1: b, 2: c}
    for one, other in counted:
        for first in range(3):
            for second in range(3):
                truth = int(((codes[one] == first) & (codes[other] == second)).sum())
                query = f"{'abc'[one]} = {'pqr'[first]} and {'abc'[other]} = {'pqr'[second]}"
                assert abs(release.count(query).estimate[0] - truth) < 150


def test_what_a_forest_expects_of_any_pair_is_what_it_draws(ring):
    forest = ring[0].model.forest
    drawn = forest.draw(100_000, np.random.default_rng(1))
    for one in range(4):
        for other, expected in enumerate(forest.beside(one)):
            groups = forest.group[one][drawn[:, one]], forest.group[other][drawn[:, other]]
            counts = np.zeros(expected.shape)
            np.add.at(counts, groups, 1)
            assert expected.sum() == pytest.approx(forest.total)
            share = np.clip(expected / forest.total, 0, 1)
            # 6 standard deviations of independent draws, which these spread more evenly than
            assert (
                np.abs(counts - 1e5 * share) <= 6 * np.sqrt(1e5 * share * (1 - share)) + 2
            ).all()


def test_extra_pairs_that_were_not_paid_for_are_caught(ring):
    release, _ = ring
    assert not verify(changed(release, "extra", units=lambda m: m.units * 2)).ok
    extra = next(m for m in release.measurements if m.name == "extra")
    both = {"where": lambda m: extra.where, "values": lambda m: extra.values,
            "units": lambda m: np.full(len(extra.where), m.units[0])}  # fmt: skip
    assert not verify(changed(release, "two_way", **both)).ok
    dear = [e for e in release.ledger["entries"] if e["purpose"] != "extra"]
    assert not verify(replace(release, ledger=release.ledger | {"entries": dear})).ok
    chosen = len(release.marginals.pair)  # paid for, but not the extra ones
    few = [
        e | {"nodes": chosen} if e["purpose"] == "relate" else e for e in release.ledger["entries"]
    ]
    checks = verify(replace(release, ledger=release.ledger | {"entries": few})).checks
    assert "more pairs were counted than choices" in " ".join(check.words for check in checks)


def test_numbers_have_more_groups_where_the_noise_is_small(ring):
    release, _ = ring
    table = next(m for m in release.measurements if m.name == "one_way")
    deviation = float(np.sqrt(table.variance.max()))
    assert [groups_of(table, round(times * deviation)) for times in (690, 710)] == [8, 12]


def test_settings_that_cannot_be_meant_are_refused():
    for settings in ({"pairs": 2, "marginals": False}, {"pairs": 2, "schedule": "paper"},
                     {"marginals": True, "pairs": 0}):  # fmt: skip
        with pytest.raises(UsageError):
            hr.DiffMulti(**settings)


def test_noise_is_shrunk_and_what_stands_out_is_kept():
    rng = np.random.default_rng(0)
    assert np.abs(shrunk(rng.laplace(0, 1, 10_000), np.sqrt(2))).mean() < 0.4
    assert abs(float(shrunk(np.array([50.0]), 1.0)[0]) - 50) < 0.1


def test_spreading_rounds_no_further_than_one():
    rng = np.random.default_rng(0)
    weight = rng.random(20)
    for number in (0, 1, 7, 1000):
        drawn = np.bincount(spread(weight, number, rng), minlength=20)
        assert np.abs(drawn - number * weight / weight.sum()).max() <= 1
    assert len(spread(np.zeros(3), 5, rng)) == 5


def test_the_forest_has_the_total_that_it_is_given(release):
    forest = fit_forest(release.marginals, 12_345.0)
    for codes, groups in zip(forest.codes, forest.groups, strict=True):
        assert codes.min() >= 0
        assert abs(codes.sum() - 12_345) < 1
        assert abs(groups.sum() - 12_345) < 1


@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_attributes_that_the_budget_cannot_bear_are_not_measured(delta):
    attributes = {f"a{i}": {"type": "boolean"} for i in range(300)}
    attributes["k"] = {"type": "categorical", "values": ["x", "y", "z"], "role": "class"}
    schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": attributes})
    rng = np.random.default_rng(2)
    table = pa.table(
        {name: rng.random(2000) < 0.3 for name in attributes if name != "k"}
        | {"k": np.array(["x", "y", "z"])[rng.integers(0, 3, 2000)]}
    )
    epsilon = "1" if delta == "0" else "0.1"
    made = hr.publish(table, schema, hr.DiffMulti(marginals=True), epsilon, delta=delta, seed=1)
    assert 1 <= len(made.marginals.single) < 300
    assert verify(replace(made, guarantee=made.guarantee | {"private": True})).ok
    assert np.isfinite(made.count(["a0 = true", "a299 = true and k in y"]).estimate).all()
    assert len(made.synthesize(50, seed=1)) == 50
