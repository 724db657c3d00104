"""What generalized rows tell: lower ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hedgerow.present.findings import findings
from hedgerow.present.kinds import KINDS
from hedgerow.present.render import fragment
from hedgerow.present.report import page
from hedgerow.present.tables import headings, how_to_read, lines
from hedgerow.present.words import number
from hedgerow.release import Release, RowsRelease
from hedgerow.schema import Schema

least: Any = KINDS["rows"].least
GOLDEN = Path(__file__).parents[2] / "golden"


@pytest.mark.parametrize("name", ["supermodular-tuned-1", "supermodular-tuned-1-sampled"])
def test_rows_tell_lower_ends_and_no_shares(name: str) -> None:
    release = Release.load(GOLDEN / name).expect(RowsRelease)
    text = page(release)
    assert "any number" not in text and "<figure" not in text
    assert "for certain" not in text  # but with 95%
    counted = "Counts of sampled people" if "sampled" in name else "Noisy counts"
    assert f">{counted}<" in text and f"{len(release.counts):,} generalized row" in text
    start = text.index('id="values"')
    shown = text[start : text.index("</section>", start)]
    assert "Shares are not known." in shown and ">share<" not in shown
    found = least(release)
    assert found and all(number >= 1 for _, values in found for _, number in values)
    assert "At least " in fragment(findings(release))
    nobody = replace(release, counts=release.counts[:0], lo=release.lo[:0], hi=release.hi[:0])
    assert least(nobody) == [] and findings(nobody) == ()


def test_lower_ends_hold_for_values_that_chance_published() -> None:
    """Of 5,000 values with 23 people each, those are published that most were sampled of.

    They are three or so, always others. All lower ends must hold in 95% of releases: that they fail
    in 5 of 20 or more has a probability below 0.003.
    """
    kind = {"type": "categorical", "values": [f"v{n}" for n in range(5000)]}
    schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {"place": kind}})
    golden = Release.load(GOLDEN / "supermodular-tuned-1-sampled").expect(RowsRelease)
    rule = golden.ledger["suppression"] | {"sampling_rate": "1/5", "threshold": 12}
    random, wrong, told = np.random.default_rng(5), 0, 0
    for _ in range(20):
        sampled = random.binomial(23, 0.2, 5000)
        published = np.flatnonzero(sampled >= 12)
        release = replace(
            golden, schema=schema, ledger=golden.ledger | {"suppression": rule},
            counts=sampled[published], lo=published[:, None], hi=published[:, None] + 1,
        )  # fmt: skip
        ends = [number for _, values in least(release) for _, number in values]
        told += len(ends)
        wrong += any(number > 23 for number in ends)
    assert told >= 20 and wrong < 5


@pytest.mark.parametrize("by", ["count", "share"])
def test_tables_of_rows_tell_no_even_spread(by: Any) -> None:
    release = Release.load(GOLDEN / "supermodular-tuned-1")
    name = release.schema.attributes[0].name
    table = release.table(name, share=by == "share")
    assert table.lower_only and headings(table, release.schema) == [name, "at least"]
    rows = lines(table, release.schema)
    told = "{:.1%}".format if by == "share" else number
    assert [row[-1] for row in rows[:-1]] == [told(float(low)) for low in table.answers.low]
    words = " ".join(how_to_read(table, release.schema))
    assert "there is no upper end" in words and "about:" not in words and "even" not in words
    axes: Any = release.plot(name, share=by == "share")
    scale = 100 if by == "share" else 1
    assert [bar.get_width() for bar in axes.patches] == (table.answers.low * scale).tolist()
    assert "at least" in axes.get_xlabel() and not axes.lines
