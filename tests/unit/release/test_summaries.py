"""Means, sums and quantiles, held against sorted rows."""

from __future__ import annotations

import datetime
import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.errors import UsageError
from hedgerow.release.count_tables import Summaries, Values
from hedgerow.schema import Numeric

SCHEMA = hr.Schema.from_dict(
    {
        "name": "s",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 79, "step": 1, "outside": "other"},
            "pay": {"type": "numeric", "low": -50, "high": 950, "step": 10},
            "since": {"type": "numeric", "low": "2020-01-01", "high": "2020-12-31", "step": 7},
            "job": {"type": "categorical", "values": ["none", "clerk", "cook"]},
            "ill": {"type": "boolean", "role": "class"},
        },
    }
)
RECORDS, RUNS, LEVEL = 900, 40, 0.8
FAR_OFF = 999


def people() -> dict[str, np.ndarray]:
    random = np.random.default_rng(2)
    job = random.integers(0, 3, RECORDS)
    paid = random.integers(0, 951, RECORDS)
    age = random.integers(0, 60, RECORDS) + 10 * (job == 2)
    age[:30] = FAR_OFF
    return {
        "age": age,
        "pay": np.where(job == 0, random.integers(-50, 0, RECORDS), paid),
        "since": random.integers(0, 366, RECORDS),
        "job": job,
        "ill": (age + random.integers(0, 40, RECORDS) > 60).astype(np.int64),
    }


PEOPLE = people()


def published(epsilon: str, seed: int = 1, method: str = "marginals") -> hr.Release:
    rows = pa.table(
        {
            "age": PEOPLE["age"],
            "pay": PEOPLE["pay"],
            "since": pa.array(PEOPLE["since"] + 18262, pa.int32()).cast(pa.date32()),
            "job": [["none", "clerk", "cook"][job] for job in PEOPLE["job"]],
            "ill": PEOPLE["ill"].astype(bool),
        }
    )
    return hr.publish(rows, SCHEMA, method, epsilon, seed=seed)


def truth(what: str, name: str, met: np.ndarray, part: float = 0.5) -> float:
    values = np.sort(PEOPLE[name][met & (PEOPLE[name] != FAR_OFF)])
    if what == "sum":
        return float(values.sum())
    if what == "mean":
        return float(values.mean())
    return float(values[max(0, math.ceil(part * len(values)) - 1)])


@pytest.fixture(scope="module")
def close() -> hr.Release:
    return published("100")


def asked(release: hr.Release, what: str, name: str, **options: object) -> Summaries:
    return getattr(release, what)(name, **options)


@pytest.mark.parametrize("what", ["mean", "sum", "quantile"])
@pytest.mark.parametrize("name", ["age", "pay"])
def test_without_noise_to_speak_of_cells_are_all_that_is_unknown(
    close: hr.Release, what: str, name: str
) -> None:
    every = np.ones(RECORDS, np.bool_)
    groups = {
        "": [every],
        "ill": [PEOPLE["ill"] == 0, PEOPLE["ill"] == 1],
        "job": [PEOPLE["job"] == job for job in range(3)],
    }
    scale = {"age": 80, "pay": 1000}[name]
    for by, several in groups.items():
        found = asked(close, what, name, by=by or None)
        assert len(found) == len(several)
        for row, met in enumerate(several):
            exact = truth(what, name, met)
            unit = scale * (met.sum() if what == "sum" else 1)
            assert found.low[row] <= exact <= found.high[row]
            assert abs(found.estimate[row] - exact) < 0.05 * unit
            if by != "job":
                assert found.high[row] - found.low[row] < 0.15 * unit


def test_conditions_and_parts(close: hr.Release) -> None:
    met = (PEOPLE["age"] < 33) & (PEOPLE["job"] == 2)
    found = close.mean("pay", where="age < 33 and job = cook")
    assert found.low[0] <= truth("mean", "pay", met) <= found.high[0]
    low, middle, high = (close.quantile("age", q, where="age < 33") for q in (0.1, 0.5, 0.9))
    for q, one in ((0.1, low), (0.5, middle), (0.9, high)):
        assert one.low[0] <= truth("quantile", "age", PEOPLE["age"] < 33, q) <= one.high[0]
    assert low.estimate[0] < middle.estimate[0] < high.estimate[0] < 33


def test_estimates_agree_with_the_rows_of_the_release(close: hr.Release) -> None:
    rows = close.stand_ins()
    age, job = rows["age"].to_numpy(zero_copy_only=False).astype(float), rows["job"].to_pylist()
    found = close.mean("age", by="job")
    for row, name in enumerate(found["job"]):
        here = age[np.array([one == name for one in job])]
        assert found.estimate[row] == pytest.approx(np.nanmean(here), abs=0.6)


def test_dates_are_dates(close: hr.Release) -> None:
    found = close.mean("since")
    row = found[0]
    days = truth("mean", "since", np.ones(RECORDS, np.bool_))
    assert abs((row.estimate - datetime.date(2020, 1, 1)).days - days) < 7
    assert row.low <= row.estimate <= row.high
    with pytest.raises(UsageError, match="no sum"):
        close.sum("since")


def test_intervals_hold() -> None:
    """At most 8 of 40 are expected to miss; more than 20 do with a probability below 4e-5."""
    exact = [truth("mean", "age", PEOPLE["ill"] == ill) for ill in (0, 1)]
    exact += [truth("sum", "pay", np.ones(RECORDS, np.bool_))]
    exact += [truth("quantile", "age", PEOPLE["job"] == job) for job in range(3)]
    missed = np.zeros(len(exact))
    for seed in range(RUNS):
        release = published("0.5", seed)
        found = (
            release.mean("age", by="ill", level=LEVEL),
            release.sum("pay", level=LEVEL),
            release.quantile("age", by="job", level=LEVEL),
        )
        low, high = (np.concatenate([one[end] for one in found]) for end in ("low", "high"))
        missed += (exact < low) | (exact > high)
    assert (missed <= 20).all()


@pytest.mark.parametrize("method", ["marginals", "diffgen"])
def test_sums_have_the_sign_that_the_domain_gives(method: str) -> None:
    """Next to nothing is known of them; where values of either sign may be, either end stays."""
    described = SCHEMA.to_dict()
    described["attributes"]["pay"] |= {"low": -950, "high": -50}
    schema = hr.Schema.from_dict(described)
    random = np.random.default_rng(3)
    columns = {
        "age": random.integers(0, 79, 60), "pay": -50 - 10 * random.integers(0, 90, 60),
        "since": pa.array(np.full(60, 18262), pa.int32()).cast(pa.date32()),
        "job": ["cook"] * 60, "ill": [True] * 60,
    }  # fmt: skip
    rows = pa.table(columns)
    for seed in range(4):
        release = hr.publish(rows, schema, method, "1/100", seed=seed)
        for by in (None, "ill"):
            age, pay = (asked(release, "sum", name, by=by) for name in ("age", "pay"))
            assert age.low.min() >= 0 and pay.high.max() <= 0
    either = asked(published("1/100", method=method), "sum", "pay")
    assert either.low.min() < 0 < either.high.max()


def test_regions_answer_too() -> None:
    release = published("10", method="diffgen")
    every = np.ones(RECORDS, np.bool_)
    for what in ("mean", "sum", "quantile"):
        found = asked(release, what, "age")
        assert found.low[0] <= truth(what, "age", every) <= found.high[0]


def test_the_values_of_cells() -> None:
    wide = Numeric(
        "a", low=Fraction(0), high=Fraction(14), step=Fraction(5), kind="integer", missing="other"
    )
    found = Values.of(wide, np.array([0, 1, 3, 4]))
    assert found.least.tolist() == [0, 5]
    assert found.most.tolist() == [4, 14]
    half = Numeric("b", low=Fraction(0), high=Fraction(2), step=Fraction(1, 2), kind="decimal")
    assert Values.of(half, np.array([1, 2])).most.tolist() == [0.5, 1.0, 2.0]


def test_what_cannot_be_meant(close: hr.Release) -> None:
    with pytest.raises(UsageError, match="not a numeric attribute"):
        close.mean("job")
    with pytest.raises(UsageError, match="between 0 and 1"):
        close.quantile("age", 1.0)
    with pytest.raises(UsageError, match="cannot be a group"):
        close.mean("age", by="age")
    with pytest.raises(UsageError, match="3 groups are not one number"):
        float(close.mean("age", by="job"))
