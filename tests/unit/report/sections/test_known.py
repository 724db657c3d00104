"""What generalised rows tell: lower ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hedgerow.release import Release, RowsRelease
from hedgerow.report.page import page
from hedgerow.report.sections.findings import findings
from hedgerow.report.sections.known import least

GOLDEN = Path(__file__).parents[3] / "golden"


@pytest.mark.parametrize("name", ["supermodular-tuned-1", "supermodular-tuned-1-sampled"])
def test_rows_tell_lower_ends_and_no_shares(name: str) -> None:
    release = Release.load(GOLDEN / name).expect(RowsRelease)
    text = page(release)
    assert "any number" not in text and "<svg" not in text
    assert "for certain" not in text  # but with 95%
    counted = "Counts of sampled people" if "sampled" in name else "Noisy counts"
    assert f">{counted}<" in text and f"{len(release.counts):,} generalised row" in text
    start = text.index('id="values"')
    shown = text[start : text.index("</section>", start)]
    assert "Shares are not known." in shown and ">share<" not in shown
    found = least(release)
    assert found and all(number >= 1 for _, values in found for _, number in values)
    assert "At least " in str(findings(release))
    nobody = replace(release, counts=release.counts[:0], lo=release.lo[:0], hi=release.hi[:0])
    assert least(nobody) == [] and findings(nobody) is None
