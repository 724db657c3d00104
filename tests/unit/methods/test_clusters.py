"""Clusters are labels by released centroids, record by record."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import hedgerow
from hedgerow.counting.engine import nearest
from hedgerow.data import Table
from hedgerow.errors import (
    BudgetError,
    DataError,
    DataWarning,
    LedgerWarning,
    SchemaError,
    UsageError,
)
from hedgerow.ledger.ledger import BudgetLedger
from hedgerow.methods.clusters import (
    Centroids,
    _first,
    cluster_schema,
    find_centroids,
    label_rows,
    publish_clusters,
    run,
)
from hedgerow.methods.publisher import Publisher
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "name": "small",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 99, "step": 1},
            "job": {"type": "categorical", "values": ["a", "b", "c"]},
            "ill": {"type": "categorical", "values": ["no", "yes"], "role": "class"},
        },
    }
)


def crowds() -> pa.Table:
    source = np.random.default_rng(2)
    age = np.concatenate([source.integers(0, 25, 600), source.integers(75, 100, 400)])
    job = np.repeat(["a", "c"], [600, 400])
    return pa.table({"age": age, "job": job, "ill": source.choice(["no", "yes"], 1000)})


def test_nearest_equals_distances_between_whole_vectors():
    source = np.random.default_rng(3)
    codes = np.stack([source.integers(0, 100, 50), source.integers(0, 3, 50)], axis=1)
    points = source.random((4, 4))
    vectors = np.concatenate([codes[:, :1] / 99, np.eye(3)[codes[:, 1]]], axis=1)
    distance = ((vectors[:, None] - points[None]) ** 2).sum(axis=2)
    found = nearest(codes.astype(np.uint16), SCHEMA, points)
    assert found.tolist() == distance.argmin(axis=1).tolist()


def test_centroids_find_the_crowds():
    centroids = find_centroids(crowds(), SCHEMA, 2, epsilon=2, seed=1)
    young, old = centroids.points[np.argsort(centroids.points[:, 0])]
    assert young[0] == pytest.approx(0.12, abs=0.05) and old[0] == pytest.approx(0.88, abs=0.05)
    assert young[1] > 0.9 and old[3] > 0.9
    assert centroids.epsilon == "2" and not centroids.private
    spent = centroids.ledger["paths"][0]["spent"]["epsilon"]["centroid"]
    assert spent == centroids.ledger["budgets"]["epsilon"]["units"]


def test_without_categories_clusters_begin_on_the_diagonal():
    schema = Schema.from_dict(
        {
            "name": "s",
            "unit": "row",
            "attributes": {"age": {"type": "numeric", "low": 0, "high": 100}},
        }
    )
    source = np.random.default_rng(1)
    ages = np.concatenate([source.integers(0, 20, 500), source.integers(80, 100, 500)])
    centroids = find_centroids(pa.table({"age": ages}), schema, 2, epsilon=5, seed=1)
    assert np.sort(centroids.points[:, 0]) == pytest.approx([0.1, 0.9], abs=0.04)


def test_an_empty_cluster_stays_where_it_was():
    rows = pa.table({"age": [50] * 300, "job": ["a"] * 300, "ill": ["no"] * 300})
    centroids = find_centroids(rows, SCHEMA, 3, epsilon=1, seed=1)
    for empty in centroids.points[centroids.points[:, 1] < 0.5]:
        assert 1 in empty[2:]  # still the value it was begun with


def test_labels_follow_each_row_alone():
    rows = crowds()
    centroids = Centroids(schema=SCHEMA, points=np.array([[0.1, 1, 0, 0], [0.9, 0, 0, 1]]))
    all_at_once, schema = label_rows(rows, centroids)
    assert schema.classes == ("1", "2") and schema == cluster_schema(SCHEMA, 2)
    assert all_at_once.column_names == ["age", "job", "cluster"]
    for place in (0, 7, 650, 999):
        one, _ = label_rows(rows.slice(place, 1), centroids)
        assert one["cluster"][0] == all_at_once["cluster"][place]
    assert all_at_once["cluster"].to_pylist() == ["1"] * 600 + ["2"] * 400


def test_labeled_rows_are_published_like_others():
    method = hedgerow.DiffMulti(score="max")
    rows, schema = label_rows(crowds(), find_centroids(crowds(), SCHEMA, 2, "0.5"))
    assert hedgerow.publish(rows, schema, method, epsilon="0.5").guarantee["private"] is True
    seeded = find_centroids(crowds(), SCHEMA, 2, "0.5", seed=1)
    rows, schema = label_rows(crowds(), seeded, for_tests=True)
    release = hedgerow.publish(rows, schema, method, epsilon="0.5", seed=1)
    told = release.predict(rows)["cluster"].to_pylist()
    assert np.mean(np.asarray(told) == np.asarray(rows["cluster"].to_pylist())) > 0.95


def test_what_cannot_be_meant_is_refused():
    with pytest.raises(UsageError, match="clusters must be"):
        find_centroids(crowds(), SCHEMA, 0)
    with pytest.raises(UsageError, match="4 numbers"):
        Centroids(schema=SCHEMA, points=np.zeros((2, 3)))
    taken = Schema.from_dict(
        {"name": "s", "unit": "row", "attributes": {"cluster": {"type": "boolean"}}}
    )
    with pytest.raises(UsageError, match="already"):
        cluster_schema(taken, 2)


@pytest.fixture
def book(tmp_path: Path) -> BudgetLedger:
    found = BudgetLedger(tmp_path / "b.ledger")
    found.open("small", epsilon=1)
    return found


def entries(book: BudgetLedger) -> list[tuple[str, str, str]]:
    (account,) = book.accounts()
    return [(entry.method, str(entry.epsilon), entry.state) for entry in account.entries]


def test_centroids_are_booked_before_they_are_drawn(
    book: BudgetLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    refill = Keystream.refill

    def watched(stream: Keystream) -> None:
        seen.append(entries(book))
        refill(stream)
        seen.append(entries(book))

    monkeypatch.setattr(Keystream, "refill", watched)
    found = find_centroids(crowds(), SCHEMA, 2, "1/4", ledger=book.path)
    assert seen[0] == [("centroids", "1/4", "reserved")]
    assert seen[1] == [("centroids", "1/4", "booked")]
    rows, schema = label_rows(crowds(), found)
    hedgerow.publish(rows, schema, epsilon="1/2", ledger=book.path)
    assert [paid for _, paid, _ in entries(book)] == ["1/4", "1/2"]
    (account,) = book.accounts()
    assert str(account.left[0]) == "1/4"


def test_centroids_beyond_the_total_are_refused(book: BudgetLedger) -> None:
    find_centroids(crowds(), SCHEMA, 2, "0.8", ledger=book.path)
    with pytest.raises(BudgetError, match="left"):
        find_centroids("no such file.csv", SCHEMA, 2, "0.3", ledger=book.path)
    with pytest.raises(BudgetError, match="no data set"):
        find_centroids(crowds(), SCHEMA, 2, "0.1", ledger=book.path, dataset="other")
    with pytest.raises(UsageError, match="seeded"):
        find_centroids(crowds(), SCHEMA, 2, "0.1", ledger=book.path, seed=1)
    with pytest.raises(UsageError, match="no ledger"):
        find_centroids(crowds(), SCHEMA, 2, "0.1", dataset="small")
    assert entries(book) == [("centroids", "4/5", "drawn")]


def test_a_failed_search_is_spent_once_it_has_drawn(
    book: BudgetLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = crowds().set_column(0, "age", pa.array(["?"] * 1000))
    with pytest.raises(DataError):
        find_centroids(broken, SCHEMA, 2, "0.1", ledger=book.path)
    assert entries(book) == []  # data is looked at before anything is booked

    def burst(*_: object, **__: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("hedgerow.methods.clusters.label_codes", burst)
        with pytest.raises(MemoryError):
            find_centroids(crowds(), SCHEMA, 2, "0.1", ledger=book.path)
    assert entries(book) == [("centroids", "1/10", "withdrawn")]
    with monkeypatch.context() as patch:
        patch.setattr("hedgerow.methods.clusters.Centroids", burst)
        with pytest.warns(LedgerWarning, match="stays booked"), pytest.raises(MemoryError):
            find_centroids(crowds(), SCHEMA, 2, "0.1", ledger=book.path)
    assert entries(book)[1:] == [("centroids", "1/10", "booked")]


def test_labels_of_a_seeded_run_are_for_tests_alone() -> None:
    seeded = find_centroids(crowds(), SCHEMA, 2, seed=1)
    with pytest.raises(UsageError, match="seed"):
        label_rows(crowds(), seeded)
    rows, _ = label_rows(crowds(), seeded, for_tests=True)
    assert set(rows["cluster"].to_pylist()) == {"1", "2"}


def test_the_example_of_the_page_runs():
    page = (Path(__file__).parents[3] / "docs" / "algorithms" / "clusters.md").read_text("utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.S)
    names: dict[str, object] = {}
    exec(example, names)
    release = names["release"]
    assert isinstance(release, hedgerow.Release)
    assert release.schema.classes == ("1", "2") and release.guarantee["epsilon"] == "3/5"


def test_a_draft_is_refused_before_data_is_opened():
    draft = replace(SCHEMA, is_draft=True)
    with pytest.raises(SchemaError, match="draft"):
        find_centroids("no such file.csv", draft, epsilon=1)


def test_a_schema_that_states_no_unit_is_refused_before_data_is_opened():
    with pytest.raises(SchemaError, match="does not state its unit"):
        find_centroids("no such file.csv", replace(SCHEMA, unit=None), epsilon=1)


def test_where_clusters_begin():
    """At the mean; then at values that tell most records apart; then along the diagonal."""
    mean = np.array([0.5, 0.2, 0.3, 0.5])
    assert _first(SCHEMA, 6, mean).tolist() == [
        [0.5, 0.2, 0.3, 0.5],
        [0.5, 0, 0, 1],
        [0.5, 0, 1, 0],
        [0.5, 1, 0, 0],
        [9 / 12] * 4,
        [11 / 12] * 4,
    ]
    certain = np.array([0.5, 0.0, 0.0, 1.0])  # tells nobody apart, but is not worse than nothing
    assert _first(SCHEMA, 3, certain)[1:].tolist() == [[0.5, 1, 0, 0], [0.5, 0, 1, 0]]
    numbers = Schema.from_dict(
        {"name": "n", "unit": "row", "attributes": {"a": {"type": "numeric", "low": 0, "high": 9}}}
    )
    assert _first(numbers, 3, np.array([0.4])).ravel().tolist() == [0.4, 3 / 6, 5 / 6]
    words = Schema.from_dict({"name": "w", "unit": "row", "attributes": {"a": {"type": "boolean"}}})
    values = _first(words, 4, np.array([0.4, 0.6]))
    assert values.tolist() == [[0.4, 0.6], [1, 0], [0, 1], [7 / 8, 7 / 8]]


@pytest.mark.parametrize("shape", [(4,), (0, 4), (2, 3), (4, 2), (1, 2, 4)])
def test_points_that_do_not_fit_are_refused(shape):
    with pytest.raises(UsageError, match="do not fit"):
        Centroids(schema=SCHEMA, points=np.zeros(shape))
    assert len(Centroids(schema=SCHEMA, points=np.zeros((2, 4))).points) == 2


@pytest.mark.parametrize("setting, most", [("clusters", 100), ("rounds", 1000)])
def test_numbers_of_clusters_and_rounds(setting, most):
    for refused in (0, -1, most + 1, True, 1.0, "2"):
        with pytest.raises(UsageError, match=setting):
            find_centroids(crowds(), SCHEMA, epsilon=1, seed=1, **{setting: refused})
    few = crowds().slice(0, 3)
    with pytest.warns(DataWarning, match="too few people"):
        found = find_centroids(few, SCHEMA, epsilon=1, seed=1, **{setting: most})
    assert len(found.points) in (2, 100)


@pytest.mark.parametrize(
    "clear, rounds, faint",
    [(-3, 2, True), (14, 2, True), (16, 2, False), (29, 2, False), (31, 3, False), (900, 5, False)],
)
def test_noise_leaves_as_many_rounds_as_clusters_stand_out(clear, rounds, faint):
    """By the noisy number of records that the first round releases, over its noise."""
    rates = []

    class Exact:
        def laplace(self, exact, drawn):
            rates.append(drawn.values[0])
            return np.full(exact.shape, round(2 * clear / float(rates[0])))

    found = run(Table(SCHEMA, np.zeros((9, 3), np.uint16)), 2, 5, Budget.of(1), Exact())
    assert len(rates) == rounds and bool(found.remark) == faint
    assert rates[0] == Fraction(1, 2) / (3 * 64)
    assert sum(rates[1:]) == pytest.approx(float(rates[0]), rel=1e-3)
    (path,) = found.ledger["paths"]
    assert path["spent"]["epsilon"]["centroid"] == found.ledger["budgets"]["epsilon"]["units"]


def test_a_cluster_that_noise_could_have_filled_stays_where_it_was():
    """Fewer than five times the noise of a count, which is 1/rate, move nothing."""
    schema = Schema.from_dict(
        {"name": "n", "unit": "row", "attributes": {"a": {"type": "boolean"}}}
    )
    for held, moved in ((4, False), (5, True), (6, True)):
        told = []

        class Exact:
            """Draws no noise, and puts the number of records where it is wanted."""

            def laplace(self, exact, rates, held=held, told=told):
                rate = float(rates.values[0])
                told.append(rate)
                return np.array([[round(held / rate), 0, round(held / rate)]])

        found = run(Table(schema, np.zeros((9, 2), np.uint16)), 1, 1, Budget.of(1), Exact())
        assert (found.points[0].tolist() == [0, 1]) == moved
        assert told == [1 / 128]


def test_a_class_with_a_column_of_another_name_gives_way_to_the_cluster():
    told = SCHEMA.to_dict()
    told["attributes"]["ill"]["column"] = "ILLNESS"
    rows = crowds().rename_columns(["age", "job", "ILLNESS"])
    centroids, release = publish_clusters(rows, Schema.from_dict(told), epsilon=20, seed=1)
    assert len(centroids.points) == 2 and release.schema.classes == ("1", "2")
    ages = sorted(float(point["age"]) for point in centroids.describe())
    assert ages[0] < 25 and ages[1] > 75


@pytest.mark.parametrize(
    "method, words",
    [(hedgerow.DiffPart(), "transactions"), (hedgerow.Supermodular(), "delta above 0")],
)
def test_what_would_not_be_published_costs_no_centroids(
    method: Publisher, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever can be refused is refused before anything is drawn."""
    monkeypatch.setattr(Keystream, "refill", lambda stream: pytest.fail("noise was drawn"))
    with pytest.raises(UsageError, match=words):
        publish_clusters(crowds(), SCHEMA, epsilon=1, method=method)


def test_any_method_publishes_clusters() -> None:
    _, release = publish_clusters(crowds(), SCHEMA, epsilon=5, method=hedgerow.Marginals())
    assert release.kind == "marginals" and release.schema.classes == ("1", "2")


def test_a_number_with_two_values_reaches_both_ends() -> None:
    schema = Schema.from_dict(
        {"name": "n", "unit": "row", "attributes": {"a": {"type": "numeric", "low": 0, "high": 1}}}
    )
    for value in (0, 1):
        found = find_centroids(pa.table({"a": [value] * 500}), schema, 1, epsilon=50, seed=1)
        assert found.points.ravel() == pytest.approx([value], abs=0.05)


def test_no_records_are_refused_unless_that_is_allowed() -> None:
    nobody = crowds().slice(0, 0)
    with pytest.raises(DataError, match="no "):
        find_centroids(nobody, SCHEMA, 2, epsilon=1, seed=1)
    with pytest.warns(DataWarning, match="too few people"):
        assert len(find_centroids(nobody, SCHEMA, 2, 1, seed=1, allow_empty=True).points) == 2


@pytest.mark.parametrize("share", [0, 100, -1])
def test_finding_centroids_takes_a_part_and_not_all(share: int) -> None:
    with pytest.raises(UsageError, match="share must be"):
        publish_clusters(crowds(), SCHEMA, epsilon=1, share=share)
