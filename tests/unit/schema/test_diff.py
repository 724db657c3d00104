"""What is different between two schemas."""

from __future__ import annotations

from typing import Any

import pytest

from hedgerow.schema import Schema
from hedgerow.schema.diff import schema_diff

TREE = {"G": ["a", "b"], "H": ["c", "d"]}
BASE: dict[str, Any] = {
    "name": "t",
    "unit": "row",
    "attributes": {
        "age": {"type": "numeric", "low": 0, "high": 120},
        "job": {"type": "categorical", "taxonomy": TREE, "recode": {"x": "a", "y": "b"}},
        "id": {"role": "identifier"},
    },
}


def changed(**columns: Any) -> dict[str, Any]:
    told = {**BASE["attributes"], **columns}
    return BASE | {"attributes": {name: told[name] for name in told if told[name] is not None}}


def job(**keys: Any) -> dict[str, Any]:
    return changed(job=BASE["attributes"]["job"] | keys)


@pytest.mark.parametrize(
    ("new", "told"),
    [
        (BASE, []),
        (BASE | {"draft": True}, [("schema", "draft is True, and was False")]),
        (
            BASE | {"metadata": {"period": "2026"}},
            [("metadata", "period is '2026', and was not given")],
        ),
        (changed(id=None), [("id", "the column was removed")]),
        (changed(sex={"type": "boolean"}), [("sex", "the column was added")]),
        (
            changed(age={"type": "numeric", "low": 0, "high": 99, "step": 3}),
            [("age", "high is 99, and was 120"), ("age", "step is 3, and was 1")],
        ),
        (
            changed(id={"type": "boolean"}),
            [
                ("id", "role is not given, and was 'identifier'"),
                ("id", "type is 'boolean', and was not given"),
                ("id", "missing is 'error', and was not given"),
                ("id", "outside is 'error', and was not given"),
            ],
        ),
        (
            BASE | {"attributes": dict(reversed(BASE["attributes"].items()))},
            [("schema", "the columns are in another order")],
        ),
        (
            job(taxonomy={"G": ["a", "b", "e"], "H": ["c", "d"]}),
            [("job", "1 value was added: 'e'")],
        ),
        (
            job(taxonomy={"G": ["a", "b", "c"], "H": ["d", "f"]}),
            [
                ("job", "1 value was added: 'f'"),
                ("job", "1 value was put into other groups: 'c'"),
            ],
        ),
        (
            job(taxonomy={"H": ["c", "d"], "G": ["a", "b"]}),
            [("job", "the values are in another order")],
        ),
        (job(root="All"), [("job", "root is 'All', and was 'Any'")]),
        (
            job(recode={"x": "b", "z": "b"}),
            [
                ("job", "1 rule was removed: 'y'"),
                ("job", "1 rule was added: 'z'"),
                ("job", "1 rule was led to another value: 'x'"),
            ],
        ),
        (job(recode={"y": "b", "x": "a"}), [("job", "the rules are in another order")]),
        (job(ignore=["case"]), [("job", "ignore is ['case'], and was not given")]),
    ],
)  # fmt: skip
def test_differences(new: dict[str, Any], told: list[tuple[str, str]]) -> None:
    first, second = Schema.from_dict(BASE), Schema.from_dict(new)
    assert schema_diff(first, second) == told
    assert (first.hash == second.hash) == (told == [])


def test_transactions_and_kinds() -> None:
    old = Schema.from_dict({"name": "t", "items": {"universe": ["a", "b"]}})
    new = Schema.from_dict({"name": "t", "items": {"universe": ["a", "b", "c"], "max_items": 2}})
    assert ("items", "max_items is 2, and was not given") in schema_diff(old, new)
    assert any("'c'" in line for _, line in schema_diff(old, new))
    assert schema_diff(old, Schema.from_dict(BASE | {"unit": "row"}))[-1] == (
        "schema", "it describes a table, and before transactions"
    )  # fmt: skip
