"""How the class goes with attributes: told only where intervals tell groups apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow import sample
from hedgerow.data import encode_rows
from hedgerow.report.sections.associations import associations
from hedgerow.report.sections.findings import findings


def test_the_class_by_groups_comes_first_and_only_where_intervals_tell() -> None:
    release = hr.publish(sample.people(3000, seed=3), sample.schema(), epsilon=2, seed=7)
    found = associations(release.expect(hr.MarginalsRelease), 4)
    assert found and all(one.gap > 0 for one in found)
    assert [one.gap for one in found] == sorted((one.gap for one in found), reverse=True)
    for one in found:
        assert (one.low <= one.shares).all() and (one.shares <= one.high).all()
    text = str(findings(release))
    assert text.index(f"<h3>readmitted by {found[0].attribute.name}</h3>") < text.index(
        "<h3>readmitted</h3>"
    )
    assert "do not show causes" in text
    noise = hr.publish(sample.people(60, seed=3), sample.schema(), epsilon="0.05", seed=7)
    assert associations(noise.expect(hr.MarginalsRelease), 4) == []


@pytest.mark.parametrize("method", ["marginals", "diffgen"])
def test_intervals_of_shares_by_group_hold_the_truth(method: str) -> None:
    """All at once with 95%: if so, 6 of 20 releases miss with a probability of 0.0003."""
    rows, schema = sample.people(1500, seed=4), sample.schema()
    codes, _ = encode_rows(rows, schema)
    classes = np.array(rows["readmitted"].to_pylist())
    names = [attribute.name for attribute in schema.attributes]
    missed, told = 0, 0
    for seed in range(20):
        release: Any = hr.publish(rows, schema, method, epsilon=2, seed=seed)
        found = associations(release, 9)
        told += len(found)
        held = []
        for one in found:
            values = codes[:, names.index(one.attribute.name)]
            for (low, high), least, most in zip(one.parts, one.low, one.high, strict=True):
                inside = classes[(values >= low) & (values < high)]
                held.append(not len(inside) or least <= np.mean(inside == one.value) <= most)
        missed += not all(held)
    assert told >= 20 and missed < 6


@pytest.mark.parametrize("classes", [2, 3, 9])
def test_every_class_has_its_part_of_the_error(
    classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which classes are looked at depends on noise, so the others pay as well."""
    names = [f"c{n}" for n in range(classes)]
    schema = hr.Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        "age": {"type": "numeric", "low": 0, "high": 3},
        "kind": {"type": "categorical", "values": names, "role": "class"}}})  # fmt: skip
    rows = pa.table(
        {"age": [n % 4 for n in range(900)], "kind": [names[n % classes] for n in range(900)]}
    )
    release = hr.publish(rows, schema, hr.DiffGen(specialisations=1), epsilon=9, seed=1)
    asked: list[tuple[int, float]] = []
    own = hr.TableRelease.count

    def count(self: Any, queries: Any, level: float = 0.95) -> Any:
        asked.append((len(queries), level))
        return own(self, queries, level)

    monkeypatch.setattr(hr.TableRelease, "count", count)
    associations(release.expect(hr.TableRelease), 4)
    ((number, level),) = [one for one in asked if one[1] != 0.95]
    groups = 2
    assert number == 2 * groups * {2: 1, 3: 3, 9: 4}[classes]
    assert (1 - level) * 2 * groups * {2: 1, 3: 3, 9: 9}[classes] == pytest.approx(0.05)
