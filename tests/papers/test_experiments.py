"""What one run of an experiment computes, on small data of the same form."""

from __future__ import annotations

import gzip
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from hedgerow.methods.diffgen import DiffGen
from hedgerow.methods.diffmulti import DiffMulti
from hedgerow.schema import Schema
from papers import adult, cdiffgen, diffmulti, diffpart, personal, supermodular
from papers.baselines import mondrian
from papers.baselines.bayes import choose_network, draw_privbayes
from papers.figure import Inputs

pytest.importorskip("sklearn")


SCHEMA = Schema.from_dict(
    {
        "name": "small",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 63, "step": 1},
            "job": {"type": "categorical", "taxonomy": {"P": ["a", "b"], "Q": ["c", "d"]}},
            "dose": {"type": "numeric", "low": 0, "high": 15, "step": 1},
            "ill": {"type": "categorical", "values": ["no", "yes"], "role": "class"},
        },
    }
)


@dataclass
class Small(Inputs):
    """A table with a rule in it, in place of Adult."""

    def __post_init__(self) -> None:
        source = np.random.default_rng(2)
        age, dose = source.integers(0, 64, 900), source.integers(0, 16, 900)
        job = source.choice(list("abcd"), 900)
        ill = ((age > 20) & np.isin(job, ["c", "d"])) ^ (source.random(900) < 0.05)
        self.adult = pa.table(
            {"age": age, "job": job, "dose": dose, "ill": np.where(ill, "yes", "no")}
        )

        self.__dict__["schema"] = SCHEMA


def test_splits_and_folds_cover_everything():
    rows = pa.table({"x": np.arange(100)})
    train, test = adult.split(0.8)(rows, 3)
    assert len(train) == 80 and adult.split(0.8)(rows, 3)[0] == train
    assert sorted(train["x"].to_pylist() + test["x"].to_pylist()) == list(range(100))
    tested = [adult.fold(10)(rows, number)[1]["x"].to_pylist() for number in range(10)]
    assert sorted(sum(tested, [])) == list(range(100))
    assert adult.fold(10)(rows, 10)[1] != adult.fold(10)(rows, 0)[1]  # another shuffle
    train, test = adult.fold(10)(rows, 4)
    assert not set(train["x"].to_pylist()) & set(test["x"].to_pylist())


def test_larger_tables_keep_the_original_rows():
    rows = pa.table({"x": np.arange(50), "y": [str(v % 7) for v in range(50)]})
    more = adult.blown_up(rows, 220, seed=1)
    assert len(more) == 220 and more.slice(0, 50).to_pydict() == rows.to_pydict()
    assert set(more["y"].to_pylist()) == set(rows["y"].to_pylist())
    assert adult.blown_up(rows, 20, seed=1).num_rows == 20


def test_accuracies_lie_between_their_bounds():
    inputs = Small()
    low = adult.lower_bound_run()(inputs, 1)
    high = adult.baseline_run()(inputs, 1)
    ours = adult.accuracy(DiffMulti(specializations=20), "5")(inputs, 1)
    few = adult.accuracy(DiffGen(specializations=3), "20", attributes=("age", "job"), rows=600)(
        inputs, 1
    )
    open_ = adult.accuracy(lambda rows, schema: mondrian(rows, schema, 30), "1")(inputs, 1)
    assert 50 < low < high <= 100
    for value in (ours, few, open_):
        assert low + 5 < value < 99


def test_time_is_measured():
    assert adult.seconds(DiffGen(specializations=2), "1", 1200)(Small(), 0) > 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:There are too few people")  # there are: it is a small table
def test_distortion_and_match_points_are_shares():
    inputs = Small()
    for name in ("diffmulti-fig5", "diffmulti-fig6"):
        figure = next(f for f in diffmulti.FIGURES if f.name == name)
        for point in figure.points(True)[:4]:
            value = point.run(inputs, 0)
            if name.endswith("5"):
                assert 900 <= value < 900**2
            else:
                assert 0 < value < 1
    (clusters,) = (f for f in diffmulti.FIGURES if f.name == "diffmulti-fig11")
    for point in clusters.points(True)[:2]:
        assert 0.4 < point.run(inputs, 0) <= 1


def test_simulated_rows_of_a_network_keep_what_it_joins():
    rows = Small().adult
    made = draw_privbayes(rows, SCHEMA, 1000.0, 1)
    assert made.schema.names == rows.schema.names and len(made) == 900

    def rate(table):
        young = pc.less_equal(table["age"], 15)
        ill = pc.equal(table["ill"], "yes")
        return pc.mean(pc.and_(young, ill).cast("int64")).as_py()

    assert rate(made) < 0.05 and rate(rows) < 0.05  # independent columns would give 0.09
    assert draw_privbayes(rows, SCHEMA, 1000.0, 1) == made
    assert len(draw_privbayes(rows, SCHEMA, 0.01, 1)) == 900


def test_distributions_stay_small_if_epsilon_is():
    source = np.random.default_rng(1)
    parts = source.integers(0, 4, (200, 5))
    for most, parents in ((4, 0), (16, 1), (64, 2), (10**9, 3)):
        network = choose_network(parts, [4] * 5, 1.0, most, source)
        assert sorted(column for column, _ in network) == list(range(5))
        assert max(len(above) for _, above in network) == parents
        known = set()
        for column, above in network:
            assert set(above) <= known
            known.add(column)


def test_the_largest_number_of_specializations():
    (figure,) = (f for f in diffmulti.FIGURES if f.name == "diffmulti-h")
    one, many = (point.run(Small(), 0) for point in figure.points(False))
    assert (one, many) == (3, 3)  # one tree: its root and two groups
    country = {"type": "categorical", "values": ["x", "y", "z"]}
    inputs = Small()
    inputs.__dict__["schema"] = Schema.from_dict(
        {"name": "s", "unit": "row", "attributes": {"a": country, "b": country, "c": country}}
    )
    one, many = (point.run(inputs, 0) for point in figure.points(False))
    assert (one, many) == (3, 1 + 3 + 9)


def test_noise_of_range_counts_is_compared_on_one_tree():
    inputs = Small()
    ours, twice = (cdiffgen._noise("paper", epsilon, 1)(inputs, 0) for epsilon in (1.0, 2.0))
    assert 0 < twice < ours


@pytest.fixture
def transactions(tmp_path):
    source = np.random.default_rng(1)
    sampler = 1 / np.arange(1, 18)
    lines = []
    for _ in range(3000):
        items = np.flatnonzero(source.random(17) < sampler * 0.6) + 1
        lines.append(" ".join(map(str, items if len(items) else [1])))
    path = tmp_path / "small.dat.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    inputs = Inputs()
    inputs.msnbc = path
    return inputs


def test_supersets_are_added_up():
    source = np.random.default_rng(2)
    cells = source.integers(-5, 9, 16)
    sums = diffpart.superset_sums(cells)
    for wanted in range(16):
        held = [mask for mask in range(16) if mask & wanted == wanted]
        assert sums[wanted] == cells[held].sum()


@pytest.mark.slow
def test_transactions_are_asked_and_mined(transactions, monkeypatch):
    monkeypatch.setattr(diffpart, "QUERIES", 50)
    errors = {name: diffpart._error(name, "50", 3)(transactions, 0) for name in diffpart.METHODS}
    assert errors["Basic"] < 0.2 and errors["DiffPart, tuned"] < 0.2
    assert errors["DiffPart"] < 2
    # noise cut off at 0 adds up
    noisy = {n: diffpart._error(n, "1", 1)(transactions, 0) for n in ("Basic", "Basic, sums")}
    assert noisy["Basic"] > 10 * noisy["Basic, sums"]
    fewer = diffpart._error("Basic", "50", 3, records=500)(transactions, 0)
    assert fewer >= 0
    utility = diffpart._utility(diffpart.METHODS["DiffPart, tuned"], "50", 20)(transactions, 0)
    assert 0.9 < utility <= 1


@pytest.fixture
def few_people(monkeypatch):
    for name, value in (("ROWS", 3000), ("SIDE_ROWS", 600), ("SOLVED", 40)):
        monkeypatch.setattr(personal, name, value)
    monkeypatch.setattr(supermodular, "TIMED", 2)
    return Small()


@pytest.mark.parametrize("kappa", [1, 8])
def test_the_threshold_model_keeps_more_than_the_aggregate_at_equal_risk(few_people, kappa):
    exact = supermodular._threshold_utility(supermodular.search, 0.01, 3)(few_people, 0)
    walks = supermodular._threshold_utility(supermodular.descend, 0.01, 3)(few_people, 0)
    aggregate = supermodular._aggregate_utility(kappa, 0.01, 3)(few_people, 0)
    assert 0 <= aggregate <= exact and 0.8 * exact <= walks <= exact + 1e-9


def test_a_risk_that_no_lambda_gives_is_refused():
    def jump(trade):
        return (1.0, 8.0) if trade < 1e-3 else (0.5, 2.0)

    assert supermodular.utility_at(jump, 0.75) == pytest.approx(5)  # between both sides of a jump
    for goal in (0.4, 1.1):
        with pytest.raises(ValueError, match="no lambda"):
            supermodular.utility_at(jump, goal)


def test_sharper_draws_come_nearer_to_the_best(few_people):
    best = supermodular._best_value(few_people, 0)
    drawn = [supermodular._drawn_value(sharpness)(few_people, 0) for sharpness in (0.0, 1.0, 50.0)]
    assert drawn == sorted(drawn) and drawn[0] < best
    assert drawn[-1] == pytest.approx(best, rel=0.01)


def test_own_rows_have_less_risk_than_groups_of_the_same_utility(few_people):
    groups = supermodular._group_risk("1", own=False)(few_people, 0)
    own = supermodular._group_risk("1", own=True)(few_people, 0)
    assert 0 < own < groups


def test_rows_of_sampled_people_are_worth_less_than_all(few_people):
    few, some = (supermodular._sampled_utility("sampled", s)(few_people, 0) for s in ("0.1", "0.5"))
    whole = supermodular._sampled_utility("noisy", "1/5")(few_people, 0)
    assert 0 < few < some < whole


def test_steps_of_nodes_and_of_intervals():
    age, job, _ = SCHEMA.attributes
    lo, hi = np.array([0, 0, 16]), np.array([64, 16, 17])
    assert personal.depth_of(age, lo, hi).tolist() == [0, 2, 6]
    assert personal.depth_of_rows(age, lo, hi).tolist() == [0, 2, 6]
    lo, hi = np.array([0, 0, 3]), np.array([4, 2, 4])
    assert personal.depth_of(job, lo, hi).tolist() == [0, 1, 2]


@pytest.mark.kernels
def test_every_way_is_timed(few_people):
    (figure,) = (f for f in supermodular.FIGURES if f.name == "supermodular-fig3a")
    for point in figure.points(True):
        if point.x == 4:
            assert point.run(few_people, 0) > 0
