from __future__ import annotations

import pyarrow as pa
import pytest

from hedgerow.draft.draft import Sketch, families, sketch_table

DOSES = ["No", "Steady", "Up", "Down"]


def sketch(**columns: list[object]) -> Sketch:
    found = sketch_table(pa.table(columns))
    assert isinstance(found, Sketch)
    return found


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["readmitted", "sex"], "readmitted"),
        (["treatment_outcome", "sex"], "treatment_outcome"),
        (["outcome", "loan_default"], "outcome"),
        (["ward", "sex"], None),
        (["Readmitted within 30 days", "BMI class"], "Readmitted within 30 days"),
        (["income", "vote"], "vote"),  # bands of an income are an attribute
        (["social class", "sex"], None),
    ],
)
def test_the_class_is_found_by_its_name(names: list[str], expected: str | None) -> None:
    table = sketch(**{name: ["a", "b", "c"] * 10 for name in names}, age=list(range(30)))
    found = table.role("class")
    assert (None if found is None else found.name) == expected


def test_a_class_of_few_numbers_has_them_as_labels() -> None:
    found = sketch(age=list(range(40)), target=[1, 2, 3, 4] * 10).role("class")
    assert found is not None and found.guess.labels == ["1", "2", "3", "4"]
    assert found.guess.settings == {"type": "categorical"}


def test_columns_alike_are_a_family_even_if_some_values_never_occur() -> None:
    columns: dict[str, list[object]] = {f"drug{i}": DOSES * 10 for i in range(5)}
    columns |= {"drug5": ["No", "Steady"] * 20, "drug6": ["No"] * 40, "drug7": DOSES * 10}
    columns |= {"drug8": ["No", "Up"] * 20, "change": ["No", "Ch"] * 20, "rest": ["No"] * 40}
    groups = families(sketch(**columns).columns)
    assert [len(group) for group in groups] == [9, 1, 1]
    assert all(set(column.guess.labels) == set(DOSES) for column in groups[0])
    assert not any(column.dropped for column in groups[0])  # a constant among them stays


def test_scales_of_other_lengths_are_not_alike() -> None:
    scales: dict[str, list[object]] = {f"q{i}": [1, 2, 3, 4, 5] * 12 for i in range(3)}
    for name in ("party", "gender"):  # a number, and a code
        groups = families(sketch(**scales, **{name: [1, 2, 3, 4] * 15}).columns)
        assert [len(group) for group in groups] == [3, 1]


def test_two_alike_are_asked_about_each() -> None:
    groups = families(sketch(a=DOSES * 10, b=DOSES * 10).columns)
    assert [len(group) for group in groups] == [1, 1]


def test_columns_alike_share_the_rules_for_how_numbers_are_written() -> None:
    scale = ["1", "2", "3", "4"]
    gaps = [f"{one}.0" for one in scale]
    columns: dict[str, list[object]] = {"q1": scale * 10, "q2": gaps * 10, "q3": scale * 10}
    (group,) = families(sketch(**columns).columns)
    assert all(one.guess.recode == {f"{n}.0": n for n in scale} for one in group)


def test_many_columns_of_two_values_are_alike_and_a_few_are_not() -> None:
    answers: list[object] = [0, 1] * 20
    many = {f"q{i}": answers for i in range(12)}
    groups = families(sketch(**many, sex=["f", "m"] * 20).columns)
    assert [len(group) for group in groups] == [12, 1]
    few = {f"q{i}": answers for i in range(5)}
    assert [len(group) for group in families(sketch(**few).columns)] == [1] * 5
