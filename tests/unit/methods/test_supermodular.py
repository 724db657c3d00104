"""The method as a whole: what it publishes, what it refuses."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.errors import DataError, DataWarning, HedgerowError, UsageError
from hedgerow.methods import supermodular
from hedgerow.optimize.exact import LARGEST
from hedgerow.privacy.ledger import Ledger
from hedgerow.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "name": "clinic",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 30, "step": 1},
            "job": {"type": "categorical", "taxonomy": {"Care": ["nurse", "doctor"], "cook": None}},
            "minds": {"role": "identifier"},
            "ill": {"type": "boolean", "role": "class"},
        },
    }
)


def people(number: int, seed: int = 1, **more) -> pa.Table:
    random = np.random.default_rng(seed)
    return pa.table(
        {
            "age": np.minimum(random.geometric(0.1, number), 30),
            "job": random.choice(["nurse", "doctor", "cook"], number, p=[0.7, 0.2, 0.1]),
            "minds": random.choice(["0", "1", "5"], number),
            "ill": random.choice(["true", "false"], number, p=[0.2, 0.8]),
        }
        | more
    )


SIDE = people(500, 2)
METHODS = {
    "threshold": hr.Supermodular(side=SIDE, risk=0.2),
    "aggregate": hr.Supermodular(side=SIDE, model="aggregate", trade=0.02),
    "sampled": hr.Supermodular(side=SIDE, risk=0.2, mode="sampled"),
    "made": hr.Supermodular(risk=0.2),
    "made, sampled": hr.Supermodular(risk=0.2, mode="sampled", keep="0.25", side_share=20),
    "drawn": hr.Supermodular(side=SIDE, risk=0.2, sharpness=2.0),
    "own weights": hr.Supermodular(
        side=SIDE, risk=0.2, weight_columns={"age": "minds"}, weight_bounds=(0.1, 5)
    ),
    "by value": hr.Supermodular(
        side=SIDE, risk=0.2, rule="harmonic",
        weights={"age": 1, "job": {"Care": 2, "cook": 1}, "ill": 5},
    ),
}  # fmt: skip


def published(method, rows=2000, **more):
    return hr.publish(people(rows), SCHEMA, method=method, epsilon=1, delta="1e-6", **more)


def test_weights_that_are_missing_or_outside_stop_no_run():
    rows = people(2000, minds=["", "-4", "much", "1e9"] * 500)
    release = hr.publish(rows, SCHEMA, METHODS["own weights"], epsilon=1, delta="1e-6")
    assert release.settings["weight_missing"] == 1
    assert release.settings["weight_outside"] == "clip"
    assert hr.verify(release).ok
    strict = dataclasses.replace(METHODS["own weights"], weight_missing="error")
    with pytest.raises(DataError, match="minds"):
        hr.publish(rows, SCHEMA, strict, epsilon=1, delta="1e-6")


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_releases_pass_verification(method, tmp_path):
    release = published(method)
    assert isinstance(release, hr.RowsRelease)
    assert hr.verify(release).ok, hr.verify(release)
    assert len(release.counts) > 0
    release.save(tmp_path / "out")
    again = hr.Release.load(tmp_path / "out")
    assert again == release
    assert hr.verify(tmp_path / "out").ok
    least = release.ledger["suppression"]["threshold"]
    assert release.counts.min() >= least
    assert release.generalized().column_names == ["age", "job", "ill", "count"]
    assert release.synthesize(10, seed=1).num_rows == 10


@pytest.mark.slow
@pytest.mark.parametrize("rows", [0, 1, 30])
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_tiny_tables_publish(method, rows, tmp_path):
    release = published(method, rows, allow_empty=True)
    release.save(tmp_path / "out")
    assert hr.verify(tmp_path / "out").ok
    assert hr.Release.load(tmp_path / "out").synthesize().num_rows == release.counts.sum()


def test_the_same_seed_gives_the_same_release():
    for method in METHODS.values():
        assert published(method, seed=4) == published(method, seed=4)
    assert not hr.verify(published(METHODS["threshold"], seed=4)).ok


def test_the_order_of_rows_in_the_table_does_not_matter():
    shuffled = people(2000).take(np.random.default_rng(0).permutation(2000))
    for name in ("threshold", "made", "sampled"):
        one = published(METHODS[name], seed=4)
        other = hr.publish(shuffled, SCHEMA, method=METHODS[name], epsilon=1, delta="1e-6", seed=4)
        assert one == other


def test_who_minds_more_is_generalized_more():
    """The same people, twice: once none of them minds, once all do."""
    method = METHODS["own weights"]
    utilities = []
    for word in ("0", "5"):
        data = people(5000, minds=[word] * 5000)
        release = hr.publish(data, SCHEMA, method=method, epsilon=2, delta="1e-6", seed=3)
        width = (release.hi - release.lo)[:, 0]
        utilities.append(np.average(np.log(31 / width), weights=release.counts))
    assert utilities[0] > utilities[1]


def test_persons_with_several_rows(tmp_path):
    described = SCHEMA.to_dict() | {"unit": "person"}
    described["attributes"]["minds"] = {"role": "person", "max_rows": 2}
    schema = Schema.from_dict(described)
    data = people(2000, minds=[str(i // 3) for i in range(2000)])
    method = hr.Supermodular(side=SIDE, risk=0.2)
    release = hr.publish(data, schema, method=method, epsilon=1, delta="1e-6")
    verdict = hr.verify(release)
    assert verdict.ok, verdict
    assert release.ledger["suppression"]["rate"] == "1/2"
    assert verdict.delta is not None and verdict.delta <= 1e-6


@pytest.mark.kernels
@pytest.mark.parametrize("more", [{}, {"sharpness": 1.0}])
def test_everything_too_risky_becomes_most_general(more):
    method = hr.Supermodular(risk=1e-9, rule="constant", **more)
    release = published(method)
    assert len(release.counts) == 1
    assert (release.hi - release.lo).tolist() == [[31, 3, 2]]


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"mode": "exact"}, "mode cannot be"),
        ({"model": "best"}, "model cannot be"),
        ({"utility": "use"}, "utility cannot be"),
        ({"rule": "mean"}, "rule cannot be"),
        ({"kappa": 1.5}, "kappa cannot be of type float"),
        ({"kappa": 0}, "kappa must be a whole number"),
        ({"risk": 0}, "risk threshold"),
        ({"risk": float("nan")}, "risk must be a finite number"),
        ({"trade": -1}, "lambda"),
        ({"floor": 0}, "floor"),
        ({"keep": 1}, "keep must lie"),
        ({"keep": "much"}, "keep must be a finite number"),
        ({"fan": 1}, "fan must be"),
        ({"side_share": 0}, "side_share must be"),
        ({"sharpness": -1}, "sharpness"),
        ({"weight_bounds": (3, 1)}, "wrong way round"),
        ({"weight_bounds": (0, float("inf"))}, "weight_bounds must be a finite number"),
    ],
)
def test_bad_settings(settings, words):
    with pytest.raises(UsageError, match=words):
        hr.Supermodular(**settings)


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"weights": {"age": 1, "job": 1}}, "no weight for 'ill'"),
        ({"weights": {"age": -1, "job": 1, "ill": 1}}, "negative"),
        ({"weights": {"age": float("nan"), "job": 1, "ill": 1}}, "no finite number"),
        ({"weights": "nowhere.yaml"}, "cannot be read"),
        ({"weight_columns": {"shoe": "minds"}}, "not an attribute"),
        ({"weight_columns": {"age": "job"}}, "role: identifier"),
        ({"mode": "sampled", "keep": "0.9"}, "too small to keep"),
    ],
)
def test_what_a_plan_refuses(settings, words):
    with pytest.raises(UsageError, match=words):
        hr.Supermodular(**settings).plan(SCHEMA, 1, "1e-6")


def test_a_delta_is_needed():
    with pytest.raises(UsageError, match="delta above 0"):
        hr.Supermodular().plan(SCHEMA, 1)


def test_an_impossible_risk_is_refused_before_anything_is_spent():
    with pytest.raises(UsageError, match="impossible"):
        published(hr.Supermodular(side=SIDE, risk=1e-6))


@pytest.mark.parametrize("bad", [None, "", "-1", "nan", "much", "inf"])
def test_weights_of_people_that_are_none(bad):
    strict = dataclasses.replace(
        METHODS["own weights"], weight_missing="error", weight_outside="error",
        weight_bounds=(0, 5),
    )  # fmt: skip
    words = ["1"] * 40
    data = people(40, minds=[*words[:7], bad, *words[8:]])
    with pytest.raises(DataError, match="row 8") as caught:
        hr.publish(data, SCHEMA, method=strict, epsilon=1, delta="1e-6")
    assert "minds" in str(caught.value)
    assert "much" not in str(caught.value)


def test_a_side_table_with_another_schema():
    other = pa.table({"age": [1, 2], "town": ["a", "b"]})
    with pytest.raises(HedgerowError, match="there is no column"):
        published(hr.Supermodular(side=other))
    strange = SIDE.set_column(1, "job", pa.array(["monk"] * len(SIDE)))
    with pytest.raises(HedgerowError, match="breaks the schema"):
        published(hr.Supermodular(side=strange))
    with pytest.raises(UsageError, match="no rows"):
        published(hr.Supermodular(side=SIDE.slice(0, 0)))


def test_a_hierarchy_of_height_0():
    schema = Schema.from_dict(
        {
            "name": "x",
            "unit": "row",
            "attributes": {"only": {"type": "categorical", "values": ["x"]}},
        }
    )
    with pytest.raises(UsageError, match="height 0"):
        hr.Supermodular().plan(schema, 1, "1e-6")


def test_weights_from_a_file(tmp_path):
    file = tmp_path / "weights.yaml"
    file.write_text("age: 1\njob: {Care: 2, cook: 1}\nill: 5\n", encoding="utf-8")
    by_file = dataclasses.replace(METHODS["by value"], weights=file)
    one, other = published(by_file, seed=1), published(METHODS["by value"], seed=1)
    assert one == other
    file.write_text("- 1\n", encoding="utf-8")
    with pytest.raises(UsageError, match="no YAML mapping"):
        by_file.plan(SCHEMA, 1, "1e-6")


def test_nothing_exact_and_no_number_of_people_in_a_noisy_release(tmp_path):
    published(METHODS["threshold"], rows=1777).save(tmp_path / "out")
    assert "1777" not in (tmp_path / "out" / "manifest.json").read_text(encoding="utf-8")


def test_a_share_that_cannot_be_drawn_with_is_refused_in_the_plan():
    for keep in ("0.2" + "0" * 20 + "1", f"1/{2**50}"):
        with pytest.raises(UsageError, match="keep has so many digits"):
            hr.Supermodular(side=SIDE, mode="sampled", keep=keep).plan(SCHEMA, 1, "1e-6")
    fits = hr.Supermodular(side=SIDE, mode="sampled", keep=f"1/{2**50 - 1}")
    assert fits.plan(SCHEMA, 1, "1e-6").rule["threshold"] >= 1


def test_who_has_several_rows_is_told_that_rows_are_sampled():
    described = SCHEMA.to_dict() | {"unit": "person"}
    described["attributes"]["minds"] = {"role": "person", "max_rows": 2}
    method = METHODS["sampled"]
    words = method.plan(SCHEMA, 1, "1e-6").in_words()
    assert (
        "Each person is sampled" in words
        and f"{method.effort(method.terms(SCHEMA)[0], 1)[0]:,} gene" in words
    )
    assert "Each row is sampled" in method.plan(Schema.from_dict(described), 1, "1e-6").in_words()


@pytest.mark.parametrize("mode", ["noisy", "sampled"])
def test_nothing_is_drawn_for_a_record_before_it_is_paid_for(monkeypatch, mode):
    charged, drawn = [], []
    charge, draw = Ledger.charge, supermodular.draw_nodes
    monkeypatch.setattr(
        Ledger, "charge", lambda self, *args: charged.append(args[0]) or charge(self, *args)
    )
    monkeypatch.setattr(
        supermodular,
        "draw_nodes",
        lambda *args, **more: drawn.append([*charged]) or draw(*args, **more),
    )
    published(hr.Supermodular(side=SIDE, risk=0.2, sharpness=2.0, mode=mode))
    assert drawn == [["cells"]]


def wide(attributes: int) -> Schema:
    numeric = {f"x{n}": {"type": "numeric", "low": 0, "high": 1000} for n in range(attributes)}
    return Schema.from_dict({"name": "wide", "unit": "row", "attributes": numeric})


def test_what_cannot_end_is_refused_before_data_is_opened() -> None:
    aggregate = hr.Supermodular(model="aggregate")
    assert aggregate.plan(wide(3), 1, "1e-9").remark is None
    assert "100 CPU seconds" in str(
        hr.Supermodular().plan(wide(12), 1, "1e-9", rows=100_000).remark
    )
    with pytest.raises(UsageError, match="hours of CPU"):
        aggregate.plan(wide(12), 1, "1e-9", rows=10**6)
    with pytest.raises(UsageError, match="hours of CPU"):
        hr.publish("nowhere.csv", wide(40), aggregate, 1, delta="1e-9")
    thorough = hr.Supermodular(thorough=True)
    seconds = thorough.effort(thorough.terms(wide(8))[0], 1000)[1]
    within, beyond = int(3_590_000 / seconds), int(3_610_000 / seconds)
    assert "CPU seconds" in str(thorough.plan(wide(8), 1, "1e-9", rows=within).remark)
    with pytest.raises(UsageError, match="about 1.0 hours"):
        thorough.plan(wide(8), 1, "1e-9", rows=beyond)


@pytest.mark.parametrize("mode, keep", [("noisy", "1/5"), ("sampled", "1/20")])
def test_thresholds_that_few_rows_reach_are_told_before_data_is_opened(mode, keep) -> None:
    def told(**more):
        plan = hr.Supermodular(mode=mode, keep=keep, **more).plan(wide(4), "0.1", "1e-6")
        return plan.rule["threshold"] * (20 if mode == "sampled" else 1), plan.in_words()

    people, words = told(risk=0.1)
    assert f"shared by 40 people alone, where it takes about {people:,}:" in words
    assert f"at most {4 / people:.1g}, or a public side table." in words
    assert "or a larger epsilon." in told(risk=0.1, side=SIDE)[1]
    for risk, few in ((3.9 / people, False), (4.1 / people, True)):
        assert ("left out" in told(risk=risk)[1]) == few
    assert "left out" not in told(model="aggregate")[1]


def test_a_lattice_that_is_too_large_is_told_before_data_is_opened() -> None:
    large = hr.Supermodular().plan(wide(12), 1, "1e-9", rows=1000)  # no rows, no long time
    size = f"{large.lattice:,} generalizations"
    assert large.lattice > LARGEST and size in str(large.remark) and size not in large.in_words()
    assert "0.001 instead of 0.1" in str(large.remark)
    low = hr.Supermodular(risk=0.0005).plan(wide(12), 1, "1e-9")
    assert size in str(low.remark) and "instead" not in str(low.remark)
    with pytest.warns(DataWarning, match=size), pytest.raises(DataError, match="nowhere"):
        hr.publish("nowhere.csv", wide(12), hr.Supermodular(), 1, delta="1e-9")
    small = hr.Supermodular().plan(wide(2), 1, "1e-9")
    assert small.remark is None and f"{small.lattice:,} generalizations" in small.in_words()


def test_progress_is_shown_from_the_first_record_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records are solved by portions, and the share that is done is told after each."""
    monkeypatch.setattr("hedgerow.optimize.exact._AT_ONCE", 200)
    shares: list[float] = []
    stages: list[str] = []
    hr.publish(
        people(300), SCHEMA, hr.Supermodular(side=SIDE, risk=0.2), 1, delta="1e-6",
        progress=shares.append, stage=stages.append,
    )  # fmt: skip
    assert "the side table" in stages and "generalizing" in stages
    assert shares == sorted(shares)
    assert sum(0.55 < share < 0.9 for share in shares) > 5


def test_a_made_side_table_never_breaks_a_rule():
    """It is made when its part of the budget is spent: nothing may stop the run any more.

    Noise alone has some of its rows outside, which as values would be missing.
    """
    pay = {"type": "numeric", "low": 0, "high": 3, "missing": "error", "outside": "other"}
    schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {"pay": pay}})
    for seed in range(3):
        release = hr.publish(
            pa.table({"pay": [1, 2]}), schema, hr.Supermodular(), "0.1", "1e-6", seed=seed
        )
        assert release.method == "supermodular"


def test_other_settings_are_compared_from_a_hundredth_to_a_hundredfold():
    points = published(METHODS["threshold"]).frontier["points"]
    compared = [point["risk_threshold"] / 0.2 for point in points]
    assert compared == pytest.approx([0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100])
