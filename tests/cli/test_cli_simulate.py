from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hedgerow.data import open_input

Hedge = Callable[..., Any]
QUICK = ("--rows", 400, "--runs", 1, "--epsilons", "0.5")


def test_all_methods_that_fit_are_compared(hedge: Hedge, survey: Path) -> None:
    done = hedge("plan", "--schema", survey / "schema.yaml", "--simulate", *QUICK)
    assert done.exit_code == 0, done.stderr
    for method in ("marginals", "diffmulti", "diffgen"):
        assert method in done.stdout
    assert "simulated rows" in done.stdout and "No data was read" in done.stdout
    assert "Real data differs" in done.stdout and "--dependence" in done.stdout


def test_json_has_every_point_and_the_words_of_caution(hedge: Hedge, survey: Path) -> None:
    words = ["plan", "--schema", survey / "schema.yaml", "--simulate", "--json", "--runs", 1]
    facts = json.loads(hedge(*words, "--rows", 300, "--epsilon", "0.2").stdout)
    assert {point["epsilon"] for point in facts["points"]} == {"0.1", "0.2", "0.5", "1"}
    assert facts["rows"] == 300 and facts["data"] == "simulated"
    assert any("Real data differs" in warning for warning in facts["warnings"])


def test_settings_are_combined(hedge: Hedge, survey: Path) -> None:
    words = ["plan", "--schema", survey / "schema.yaml", "--simulate", *QUICK, "--json"]
    done = hedge(*words, "--try", "method=diffmulti,diffgen", "--try", "specializations=2,4",
                 "--try", "score=max,gini")  # fmt: skip
    assert done.exit_code == 0, done.stderr
    points = json.loads(done.stdout)["points"]
    assert len(points) == 8
    assert {point["specializations"] for point in points} == {2, 4}
    assert {point["setting"] for point in points} == {
        f"{method}, specializations {h}, score {score}"
        for method in ("diffmulti", "diffgen")
        for h in (2, 4)
        for score in ("max", "gini")
    }


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--try", "depth"], "names no values"),
        (["--method", "diffmulti", "--try", "depth=3,x"], "depth must be a whole number"),
        (["--try", "depth=3", "--try", "depth=4"], "twice"),
        (["--try", "method=magic"], "no method"),
        (["--try", "color=red"], "--try: color is not a setting of marginals"),
        (
            ["--method", "diffmulti", "--try", "max_cells=9"],
            "--try: max_cells is not a setting of diffmulti",
        ),
        (["--try", "nonsense=1"], "Settings: schedule, pairs."),
        (
            ["--method", "diffmulti", "--try", "nonsense=1"],
            "specializations, depth, distribution",
        ),
        (
            ["--try", "method=diffmulti,diffgen", "--try", "depth=3"],
            "not a setting of diffgen",
        ),
        (["--try", "lambda=1"], "--try: lambda is not a setting of marginals"),
        (["--epsilons", ","], "--epsilons"),
        (["--epsilons", "1,one"], "epsilon"),
        (["--dependence", "2"], "--dependence"),
        (["--public", "postgresql://host/db"], "database"),
        (["--plot", "errors.txt"], "not a picture"),
    ],
)
def test_what_cannot_be_simulated(hedge: Hedge, survey: Path, words: list[str], told: str) -> None:
    done = hedge("plan", "--schema", survey / "schema.yaml", "--simulate", *words)
    assert done.exit_code == 2 and told in done.stderr


@pytest.mark.parametrize(
    "words",
    [["--runs", 2], ["--public", "t.csv"], ["--try", "depth=3"], ["--epsilons", "1"],
     ["--dependence", "0.1"]],
)  # fmt: skip
def test_options_of_a_simulation_need_one(hedge: Hedge, survey: Path, words: list[Any]) -> None:
    done = hedge("plan", "--schema", survey / "schema.yaml", "--epsilon", 1, *words)
    assert done.exit_code == 2 and "--simulate" in done.stderr


def test_a_plan_still_needs_an_epsilon(hedge: Hedge, survey: Path) -> None:
    done = hedge("plan", "--schema", survey / "schema.yaml")
    assert done.exit_code == 2 and "--epsilon" in done.stderr


def test_transactions(hedge: Hedge, survey: Path, tmp_path: Path) -> None:
    plot = tmp_path / "errors.png"
    done = hedge("plan", "--schema", survey / "baskets.yaml", "--simulate", *QUICK, "--plot", plot)
    assert done.exit_code == 0, done.stderr
    assert "diffpart" in done.stdout and "top 20" in done.stdout and plot.stat().st_size > 1000


def test_a_public_table_is_said_to_have_to_be_public(hedge: Hedge, survey: Path) -> None:
    words = ["plan", "--schema", survey / "schema.yaml", "--simulate", "--runs", 1]
    table = survey / "people.csv"  # made up, so it may be public
    done = hedge(*words, "--public", table, "--rows", 5000, "--epsilons", 1)
    assert done.exit_code == 0, done.stderr
    assert "must really be public" in done.stderr and "NOT PRIVATE" in done.stderr
    assert "These figures are for" in done.stdout and "fewer rows" in done.stdout
    assert "No data was read" not in done.stdout


def test_no_table_is_opened_unless_one_is_named(
    hedge: Hedge, survey: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Any] = []

    def record(source: Any, *args: Any, **kwargs: Any) -> Any:
        opened.append(source)
        return true(source, *args, **kwargs)

    true = open_input.open_source
    for name, module in list(sys.modules.items()):
        if name.startswith("hedgerow.") and getattr(module, "open_source", None) is true:
            monkeypatch.setattr(module, "open_source", record)
    words = ["plan", "--schema", survey / "schema.yaml", "--simulate", *QUICK]
    assert hedge(*words).exit_code == 0
    assert not [source for source in opened if isinstance(source, str | Path)]
    # the same watch sees a table that is named, so it would have seen another
    assert hedge(*words, "--public", survey / "people.csv").exit_code == 0
    assert str(survey / "people.csv") in map(str, opened)


_WATCHED = """
seen = []
sys.addaudithook(lambda event, args: seen.append(str(args[0])) if event == "open" else None)
from hedgerow.cli import app
os.chdir(sys.argv.pop())
try:
    app(sys.argv[1:])
finally:
    print("\\n".join(seen), file=sys.stderr)
"""


def test_no_file_beside_the_schema_is_opened(
    child: Callable[..., tuple[int, str, str]], survey: Path, tmp_path: Path
) -> None:
    for name in ("schema.yaml", "people.csv", "baskets.dat"):
        shutil.copy(survey / name, tmp_path / name)
    shutil.copytree(survey / "taxonomies", tmp_path / "taxonomies")
    words = ["plan", "--schema", "schema.yaml", "--simulate", *QUICK]
    code, _, told = child(_WATCHED, *words, tmp_path)
    seen = [Path(line).name for line in told.splitlines()]
    assert code == 0 and "schema.yaml" in seen
    assert "people.csv" not in seen and "baskets.dat" not in seen
