"""Generalized rows as a release: what can be asked of them, and what `verify` does not let pass."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import json
import signal
from collections.abc import Iterator

import numpy as np
import pytest

from hedgerow.errors import ReleaseError, UsageError
from hedgerow.release import Release, RowsRelease
from hedgerow.schema import Schema
from hedgerow.verification import verify

SCHEMA = Schema.from_dict(
    {
        "name": "clinic",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 3, "step": 1},
            "job": {"type": "categorical", "taxonomy": {"Care": ["nurse", "doctor"], "cook": None}},
            "ill": {"type": "boolean", "role": "class"},
        },
    }
)


def release(mode="noisy", counts=(40, 31, 20)) -> RowsRelease:
    rule = (
        {"rate": "1", "threshold": 15}
        if mode == "noisy"
        else {"sampling_rate": "1/5", "threshold": 12}
    )
    return RowsRelease(
        schema=SCHEMA,
        method="supermodular",
        settings={"mode": mode, "side": "public", "fan": 2, "schedule": "tuned-1"},
        guarantee={
            "epsilon": "1", "delta": "1/1000000", "accounting": "suppression", "private": True,
            "neighbors": "add or remove one row", "unit_of_protection": "one row is one person",
            "began_as_draft": False,
        },
        ledger={
            "accounting": "suppression", "person_rows": 1, "suppression": rule,
            "budgets": {"epsilon": {"unit": "1/100", "units": 100}},
            "entries": [
                {"purpose": "cells", "budget": "epsilon", "depth": 0, "units": 100, "nodes": 1}
            ],
            "paths": [{"leaves": 3, "spent": {"epsilon": {"cells": 100}}}],
        },
        lo=np.array([[0, 0, 0], [0, 0, 1], [2, 2, 0]]),
        hi=np.array([[4, 2, 2], [2, 3, 2], [3, 3, 2]]),
        counts=np.array(counts),
        frontier={"points": []},
    )  # fmt: skip


def test_in_words():
    assert release().generalized().to_pylist() == [
        {"age": "[0, 3]", "job": "Care", "ill": "Any", "count": 40},
        {"age": "[0, 2)", "job": "Any", "ill": "true", "count": 31},
        {"age": "2", "job": "cook", "ill": "Any", "count": 20},
    ]
    assert repr(release()) == "RowsRelease('supermodular', schema='clinic', epsilon=1, rows=3)"


def test_rows_drawn_from_rows():
    drawn = release().synthesize(seed=1).to_pydict()
    assert len(drawn["age"]) == 91
    assert set(drawn["age"]) == {0, 1, 2, 3}
    assert set(drawn["job"]) == {"nurse", "doctor", "cook"}
    assert release().synthesize(5, seed=2) == release().synthesize(5, seed=2)


def test_counts_spread_rows_evenly():
    answers = release().count(["everybody", "age < 2", "job = cook", "ill = true", "age = 2"])
    assert answers.estimate.tolist() == pytest.approx(
        [91, 20 + 31, 31 / 3 + 20, 20 + 31 + 10, 10 + 20]
    )
    # listed rows inside the query, less what noise may have added; how many are not listed,
    # nobody knows
    assert answers.low.tolist() == [81, 22, 11, 22, 11]
    assert (answers.low <= [91, 31, 20, 31, 20]).all()
    assert np.isinf(answers.high).all()


def test_the_basis_of_answers():
    found = release()
    asked = ["everybody", "age < 2", "job in Care", "ill = true"]
    assert found.count(asked).basis.tolist() == ["modeled", *["assumed even"] * 3]
    assert found.unmeasured == ()
    # as if all rows left the job and the class open
    lo, hi = found.lo.copy(), found.hi.copy()
    lo[:, 1:], hi[:, 1:] = 0, [3, 2]
    silent = dataclasses.replace(found, lo=lo, hi=hi)
    assert silent.unmeasured == ("job", "ill")
    assert silent.count(asked).basis.tolist() == [
        "modeled", "assumed even", "not measured", "not measured"]  # fmt: skip


def test_counts_of_sampled_rows_are_scaled():
    answers = release("sampled").count(["everybody", "age < 2"])
    assert answers.estimate.tolist() == pytest.approx([455, 255])
    assert answers.low.tolist() == [337, 92]
    with pytest.raises(UsageError, match="level"):
        release().count("everybody", level=1)


@pytest.mark.parametrize("mode", ["noisy", "sampled"])
def test_written_and_read(mode, tmp_path):
    made = release(mode)
    assert verify(made).ok, verify(made)
    made.save(tmp_path / "out")
    assert Release.load(tmp_path / "out") == made
    verdict = verify(tmp_path / "out")
    assert verdict.ok, verdict
    assert verdict.epsilon == 1
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        "README.md", "cells.parquet", "manifest.json", "rows.parquet", "table.csv", "tables",
        "tables-metadata.json",
    ]  # fmt: skip
    with pytest.raises(ReleaseError, match="already holds"):
        made.save(tmp_path / "out")
    made.save(tmp_path / "out", overwrite=True)


def tampered(change, mode="noisy"):
    made = release(mode)
    parts = {field.name: getattr(made, field.name) for field in dataclasses.fields(made)}
    parts = copy.deepcopy(parts)
    change(parts)
    return verify(RowsRelease(**parts))


def _swap(parts):
    for name in ("lo", "hi", "counts"):
        parts[name] = parts[name][[1, 0, 2]]


def _twice(parts):
    for name in ("lo", "hi", "counts"):
        parts[name] = parts[name][[0, 0, 1]]


TAMPERINGS = {
    "a lower threshold": lambda p: p["ledger"]["suppression"].update(threshold=14),
    "a stronger promise": lambda p: p["guarantee"].update(epsilon="1/2"),
    "a smaller delta": lambda p: p["guarantee"].update(delta="1/10000000"),
    "less noise": lambda p: p["ledger"]["suppression"].update(rate="2"),
    "a row below the threshold": lambda p: p["counts"].__setitem__(0, 3),
    "no such node": lambda p: p["hi"].__setitem__((1, 0), 3),
    "another order": _swap,
    "a row twice": _twice,
    "a free side table": lambda p: p["settings"].update(side="made"),
    "a charge that was not granted": lambda p: p["ledger"]["entries"][0].update(units=50),
    "another path": lambda p: p["ledger"]["paths"][0]["spent"]["epsilon"].update(cells=99),
    "another mode": lambda p: p["settings"].update(mode="sampled"),
    "a seeded run": lambda p: p["guarantee"].update(private=False),
    "more rows per person": lambda p: p["ledger"].update(person_rows=2),
    "another accounting": lambda p: p["ledger"].update(accounting="pure"),
}


@pytest.mark.parametrize("change", TAMPERINGS.values(), ids=TAMPERINGS)
def test_verify_sees_what_was_tampered_with(change):
    assert not tampered(change).ok


@pytest.mark.parametrize(
    "rule",
    [
        {"threshold": 11},
        {"sampling_rate": "3/10"},
        {"sampling_rate": "2/3"},
        {"sampling_rate": "1"},
        {"sampling_rate": "0"},
    ],
)
def test_verify_sees_too_many_kept(rule):
    assert not tampered(lambda p: p["ledger"]["suppression"].update(rule), "sampled").ok


@contextlib.contextmanager
def not_for_ever() -> Iterator[None]:
    """A test that would hang fails instead, where the system has alarms."""

    def stop(*_: object) -> None:
        raise AssertionError("verify hangs")

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(60)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    "change",
    [
        {"suppression": {"sampling_rate": "1/5", "threshold": 10**9}},
        {"suppression": {"sampling_rate": "1/5", "threshold": 5001}},
        {"suppression": {"sampling_rate": "1/5", "threshold": 10**40}},
        {"suppression": {"sampling_rate": "1e-40", "threshold": 12}},
        {"suppression": {"sampling_rate": "0.2" + "0" * 20 + "1", "threshold": 12}},
        {"suppression": {"sampling_rate": "63212055882855767/100000000000000000", "threshold": 12}},
        {"suppression": {"sampling_rate": "0.632120558828557", "threshold": 5000}},
        {"person_rows": 10**6 + 1},
        {"person_rows": 10**30},
    ],
)
def test_verify_does_not_hang(change):
    with not_for_ever():
        assert not tampered(lambda p: p["ledger"].update(change), "sampled").ok


def test_verify_does_not_hang_where_epsilon_hardly_pays():
    def change(parts):
        parts["ledger"]["budgets"]["epsilon"]["unit"] = "1/99999900"
        parts["ledger"]["suppression"] = {"sampling_rate": "1/1000000", "threshold": 5000}

    with not_for_ever():
        assert not tampered(change, "sampled").ok


@pytest.mark.parametrize("mode", ["noisy", "sampled"])
@pytest.mark.parametrize("booked, ok", [(30, True), (1, False), (31, False)])
def test_the_side_table_has_the_share_that_the_settings_say(mode, booked, ok):
    def change(parts):
        parts["settings"] |= {"side": "made", "side_share": 30}
        ledger = parts["ledger"]
        ledger["budgets"]["epsilon"]["unit"] = f"1/{100 - booked}"
        ledger["entries"][0]["units"] = 100 - booked
        ledger["entries"].append(ledger["entries"][0] | {"purpose": "side", "units": booked})
        ledger["paths"][0]["spent"]["epsilon"] = {"cells": 100 - booked, "side": booked}
        parts["guarantee"]["epsilon"] = f"100/{100 - booked}"

    verdict = tampered(change, mode)
    assert {check.name for check in verdict.checks if not check.ok} == (set() if ok else {"ledger"})


@pytest.mark.parametrize("file", ["cells.parquet", "table.csv"])
def test_a_changed_file_is_refused(file, tmp_path):
    release().save(tmp_path / "out")
    path = tmp_path / "out" / file
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(ReleaseError, match="hash"):
        Release.load(tmp_path / "out")
    assert not verify(tmp_path / "out").ok


def test_other_files_are_no_part_of_it(tmp_path):
    release().save(tmp_path / "out")
    (tmp_path / "out" / "notes.txt").write_text("n = 91", encoding="utf-8")
    assert not verify(tmp_path / "out").ok


def test_an_unknown_kind_is_refused(tmp_path):
    release().save(tmp_path / "out")
    path = tmp_path / "out" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(manifest | {"kind": "poems"}), encoding="utf-8")
    with pytest.raises(ReleaseError, match="kind of release"):
        Release.load(tmp_path / "out")


@pytest.mark.parametrize(
    "ledger",
    [{}, {"suppression": {}}, {"suppression": {"rate": "1"}},
     {"suppression": {"rate": "x", "threshold": 3}}, {"suppression": ["rate"]},
     {"suppression": {"sampling_rate": "0", "threshold": 3}}, {"suppression": None},
     {"suppression": {"sampling_rate": [], "threshold": 3}},
     {"suppression": {"sampling_rate": "3/2", "threshold": 3}}],
)  # fmt: skip
def test_a_rule_that_is_not_there_is_no_crash(ledger):
    odd = dataclasses.replace(release(), ledger=ledger)
    assert odd.describe().number == 3 and "rows=3" in repr(odd)
    with pytest.raises(ReleaseError, match="rule"):
        odd.count("everybody")
