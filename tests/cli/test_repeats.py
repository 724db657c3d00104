"""What takes long, or is decided once, is not done twice on the same input by one command."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Hashable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from hedgerow import sample

# makers of plans, models and trees, readers of releases and what verification recomputes
ONCE = {
    "Marginals.plan_for", "DiffPart.plan_for", "Supermodular.plan_for",
    "Supermodular.check", "Marginals.check", "fit_model", "impossible_cells", "JunctionTree.of",
    "read_manifest", "partition_from", "measurements_from", "_verify",
    "check_counts", "check_settings", "Tables.of", "GraphicalModel.draw", "load_schema",
}  # fmt: skip


def written(value: Any) -> Hashable:
    """A value that is told by what it says, or else by being the same object."""
    text = value if isinstance(value, Path) else repr(value)
    return str(text) if len(str(text)) < 2000 else id(value)


def repeats(run: Callable[[], Any], *more: str) -> dict[str, int]:
    """Which of these functions were called again with the same, and how often in all."""
    seen: Counter[tuple[Hashable, ...]] = Counter()
    kept = []  # so that no other object gets the place of one that was given

    def look(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if (
            event == "call"
            and code.co_qualname in {*ONCE, *more}
            and "hedgerow" in code.co_filename
        ):
            given = [frame.f_locals[name] for name in code.co_varnames[: code.co_argcount]]
            kept.append(given)
            seen[(code.co_qualname, *map(written, given))] += 1

    sys.setprofile(look)
    try:
        assert run().exit_code == 0
    finally:
        sys.setprofile(None)
    assert len(seen) >= 3, "the functions have other names now"
    return {str(call[0]): number for call, number in seen.items() if number > 1}


@pytest.mark.kernels
@pytest.mark.usefixtures("fit_anew")
@pytest.mark.parametrize(
    ("method", "more"), [("marginals", []), ("diffpart", []), ("supermodular", ["--delta", "1e-6"])]
)
def test_no_plan_fit_or_check_is_made_twice(
    hedge: Callable[..., Any], tmp_path: Path, method: str, more: list[str]
) -> None:
    sample.write(tmp_path, rows=300, seed=5)
    data, schema = ("baskets.dat", "baskets.yaml") if method == "diffpart" else (
        "people.csv", "schema.yaml")  # fmt: skip
    words = ["publish", tmp_path / data, "--schema", tmp_path / schema, "--epsilon", 1]
    words += ["--method", method, *more, "--out", tmp_path / "release"]
    assert repeats(lambda: hedge(*words), "schema_faults") == {}
    page = tmp_path / "report.html"
    assert repeats(lambda: hedge("report", tmp_path / "release", "--out", page)) == {}
    assert repeats(lambda: hedge("verify", tmp_path / "release")) == {}
