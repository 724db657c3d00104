"""What `compare.py` measures, on tables small enough to be counted by hand."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pytest

from hedgerow.schema import Schema

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SCHEMA = Schema.from_dict(
    {
        "name": "small",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 99, "step": 1},
            "pay": {"type": "numeric", "low": 0, "high": 99, "step": 1},
            "job": {"type": "categorical", "values": ["a", "b"]},
            "ill": {"type": "categorical", "values": ["no", "yes"], "role": "class"},
        },
    }
)
RAW = pa.table(
    {"age": [0, 0, 50, 99], "pay": [0, 0, 50, 99], "job": ["a", "a", "b", "b"],
     "ill": ["no", "no", "yes", "yes"]}
)  # fmt: skip


@pytest.fixture
def relationships(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import relationships

    return relationships


@pytest.fixture
def dominance(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import dominance

    return dominance


def test_the_raw_rows_are_never_off(relationships: ModuleType) -> None:
    found = relationships.judge(RAW, RAW, None, SCHEMA, 1)
    assert set(found) == {"error", "class_error", "class_error_one", "class", "pairs", "never",
                          "correlation", "correlation_most"}  # fmt: skip
    assert set(found.values()) == {0.0}


def test_distances_are_those_counted_by_hand(relationships: ModuleType) -> None:
    made = RAW.set_column(2, "job", pa.array(["b", "a", "b", "b"]))  # one record moved
    found = relationships.judge(RAW, made, None, SCHEMA, 1)
    # three of six pairs have the job, and a quarter of their records moved
    assert found["pairs"] == pytest.approx(3 * 0.25 / 6)
    assert found["class"] == pytest.approx(0.25 / 3)
    assert found["never"] == 0.25  # nobody with job b is not ill
    assert found["correlation"] == 0


def test_correlations_are_off_by_their_difference(relationships: ModuleType) -> None:
    made = RAW.set_column(1, "pay", pa.array([99, 99, 49, 0]))
    found = relationships.judge(RAW, made, None, SCHEMA, 1)
    assert found["correlation"] == pytest.approx(2, abs=1e-3)
    assert "counted_correlation" not in found
    numbers = [RAW.column_names.index(name) for name in ("age", "pay")]
    counted = relationships.judge(RAW, made, None, SCHEMA, 1, [tuple(numbers), (0, 2)])
    assert counted["counted_correlation_most"] == found["correlation"]


def test_queries_with_the_class_have_one_or_two_other_conditions(
    relationships: ModuleType,
) -> None:
    for others in (1, 2):
        queries = relationships.class_queries(SCHEMA, 50, others, 3)
        assert {len(query.where) for query in queries} == {others}
        assert {query.classes for query in queries} == {(0,), (1,)}
        assert queries == relationships.class_queries(SCHEMA, 50, others, 3)


def test_answers_are_asked_if_there_are_any(relationships: ModuleType) -> None:
    found = relationships.judge(RAW, RAW, lambda queries: [1e6] * len(queries), SCHEMA, 1)
    assert found["error"] > 1e4 and found["class_error_one"] > 1e4
    assert found["pairs"] == 0


def run(number: int, error: float, auc: float) -> dict[str, float]:
    return {"run": number, "error": error, "class_error": 0.1, "pairs": 0.1, "auc": auc}


ENTRIES = {
    "ours": ("ours", "0"), "one-way": ("simple", "0"), "by class": ("simple", "0"),
    "AIM": ("specialist", "0"), "with a delta": ("specialist", "1e-6"), "else": ("other", "0"),
}  # fmt: skip


def test_the_better_simple_one_counts_and_specialists_each(dominance: ModuleType) -> None:
    runs = {
        ("ours", "1"): [run(0, 0.10, 0.80), run(1, 0.12, 0.82)],
        ("one-way", "1"): [run(0, 0.10, 0.50), run(1, 0.10, 0.50)],
        ("by class", "1"): [run(0, 0.20, 0.82), run(1, 0.20, 0.83)],
        ("AIM", "1"): [run(1, 0.13, 0.81)],  # the first did not finish
        ("with a delta", "1"): [run(0, 0.01, 0.99)],
        ("else", "1"): [run(0, 0.01, 0.99)],
    }
    found = {(one.role, one.measure): one for one in dominance.losses("table", runs, ENTRIES)}
    assert len(found) == 8
    error, auc = found["simple", "error"], found["simple", "auc"]
    assert (error.other, error.beside, error.lost) == ("one-way", pytest.approx(1.1), True)
    assert (auc.other, auc.beside, auc.lost) == ("by class", pytest.approx(-0.015), True)
    assert error.noise == pytest.approx(0.01)
    beside_aim = found["specialist", "error"], found["specialist", "auc"]
    assert [(one.runs, one.lost) for one in beside_aim] == [(1, False), (1, False)]
    assert not found["simple", "pairs"].lost and not found["specialist", "pairs"].lost


@pytest.mark.parametrize(("error", "auc", "lost"), [(0.104, 0.791, False), (0.106, 0.789, True)])
def test_a_little_is_allowed_beside_simple_ones_alone(
    dominance: ModuleType, error: float, auc: float, lost: bool
) -> None:
    runs = {(name, "1"): [run(0, 0.10, 0.80)] for name in ENTRIES}
    runs["ours", "1"] = [run(0, error, auc)]
    for one in dominance.losses("table", runs, ENTRIES):
        if one.measure in ("error", "auc"):
            assert one.lost == (lost or one.role == "specialist")


def test_losses_come_first_and_the_worst_first(
    dominance: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = {(name, "1"): [run(0, 0.10, 0.80)] for name in ENTRIES}
    runs["ours", "1"] = [run(0, 0.20, 0.75)]
    compared = dominance.losses("table", runs, ENTRIES)
    dominance.print_losses(compared)
    dominance.print_dominance(compared)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].endswith(": 2 of 4") and "| error |" in lines[5] and "| auc |" in lines[6]
    assert "**2.00**" in "".join(lines) and "**-0.050**" in "".join(lines)
