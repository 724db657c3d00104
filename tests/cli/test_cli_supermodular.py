"""Personal generalization from the command line: plan, publish, show, query, sample, verify."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hedgerow import Release, RowsRelease, sample

Hedge = Callable[..., Any]

SCHEMA = """\
name: clinic
unit: row
attributes:
  age: {type: numeric, low: 0, high: 30}
  job: {type: categorical, taxonomy: {Care: [nurse, doctor], cook: }}
  minds: {role: identifier}
  ill: {type: boolean, role: class}
"""


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small table, its schema, a public side table and public weights."""
    import numpy as np

    folder = tmp_path_factory.mktemp("clinic")
    (folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    for name, rows, seed in (("people", 1500, 1), ("public", 400, 2)):
        random = np.random.default_rng(seed)
        lines = ["age,job,minds,ill"]
        for _ in range(rows):
            job = random.choice(["nurse", "doctor", "cook"])
            ill = random.choice(["true", "false"])
            lines.append(f"{random.integers(0, 10)},{job},{random.integers(0, 4)},{ill}")
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "weights.yaml").write_text("age: 1\njob: 2\nill: 3\n", encoding="utf-8")
    return folder


def publish(hedge: Hedge, clinic: Path, out: Path, *more: object) -> Any:
    return hedge(
        "publish", clinic / "people.csv", "--schema", clinic / "schema.yaml", "--out", out,
        "--method", "supermodular", "--epsilon", 1, "--delta", "1e-6", *more,
    )  # fmt: skip


def test_from_plan_to_verify(hedge: Hedge, clinic: Path, tmp_path: Path) -> None:
    side = ("--side", clinic / "public.csv", "--risk", "0.2")
    done = hedge(
        "plan", "--schema", clinic / "schema.yaml", "--epsilon", 1, "--delta", "1e-6",
        "--method", "supermodular", *side, "--plot", tmp_path / "plan.png",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert "noisy count of at least 15" in done.stdout
    assert (tmp_path / "plan.png").stat().st_size > 1000
    out = tmp_path / "release"
    done = publish(hedge, clinic, out, *side, "--verbose")
    assert done.exit_code == 0, done.stderr
    assert "generalized rows by supermodular" in done.stdout
    assert "the rows that are published" in done.stdout
    assert "1500" not in done.stdout.replace("\n", "").replace(str(tmp_path), "")
    assert isinstance(Release.load(out), RowsRelease)
    done = hedge("show", out, "--plot", tmp_path / "show.svg")
    assert done.exit_code == 0, done.stderr
    shown = " ".join(done.stdout.split())
    assert "of the utility of exact ones" in shown and "at least 15" in shown
    assert (tmp_path / "show.svg").exists()
    assert hedge("show", out, "--tree").exit_code == 2
    done = hedge("query", out, "job in Care and age < 5")
    assert done.exit_code == 0, done.stderr
    assert "at least" in done.stdout
    done = hedge("sample", out, "--out", tmp_path / "rows.csv", "--rows", 50)
    assert done.exit_code == 0, done.stderr
    assert len((tmp_path / "rows.csv").read_text(encoding="utf-8").splitlines()) == 51
    done = hedge("verify", out)
    assert done.exit_code == 0, done.stdout
    # what is promised comes first; that a whole threshold spends less of delta is said after it
    assert "Verified: epsilon = 1, delta = 1e-6, as stated.\n" in done.stdout
    assert "Recomputed, it comes to less: epsilon = 1, delta = " in done.stdout


def test_queries_speak_of_rows_not_of_regions(hedge: Hedge, clinic: Path, tmp_path: Path) -> None:
    noisy, sampled = tmp_path / "noisy", tmp_path / "sampled"
    known = ("--side", clinic / "public.csv", "--seed", 1)  # lower ends hold 19 times in 20
    publish(hedge, clinic, noisy, *known)
    publish(hedge, clinic, sampled, *known, "--mode", "sampled")
    for out, cause in ((noisy, "to protect people"), (sampled, "only 0.2 of them were sampled")):
        done = hedge("query", out, "age <= 30", "job in Care")
        assert done.exit_code == 0, done.stderr
        assert "cut" not in done.stdout and "region" not in done.stdout
        assert cause in done.stdout and "no upper end" in done.stdout
        many = hedge("query", out, *["age <= 30"] * 6)
        assert "cut" not in many.stdout and "region" not in many.stdout
        assert "lower end" in many.stdout and "no upper end" in many.stdout
        facts = json.loads(hedge("query", out, "age <= 30", "--json").stdout)["answers"][0]
        assert facts["high"] is None and facts["low"] > 0.5 * facts["estimate"]
        assert facts["low"] <= 1500  # so many people there are


def test_sampled_with_a_side_table_that_is_made(hedge: Hedge, clinic: Path, tmp_path: Path) -> None:
    out = tmp_path / "release"
    settings = ("--mode", "sampled", "--keep", "1/4", "--side-share", "20")
    done = publish(hedge, clinic, out, *settings, "--json")
    assert done.exit_code == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["settings"]["keep"] == "1/4" and facts["settings"]["side"] == "made"
    assert {line["purpose"] for line in facts["spent"]} == {
        "synthetic rows to measure risks on", "the rows that are published",
    }  # fmt: skip
    shown = json.loads(hedge("show", out, "--json").stdout)
    assert shown["suppression"]["sampling_rate"] == "1/4"
    assert "sampled with probability 1/4" in hedge("show", out).stdout
    assert hedge("verify", out).exit_code == 0


def test_the_private_file_is_no_side_table(hedge: Hedge, clinic: Path, tmp_path: Path) -> None:
    (tmp_path / "public.csv").write_bytes((clinic / "people.csv").read_bytes())
    (tmp_path / "link.csv").symlink_to(clinic / "people.csv")
    for side in (clinic / "people.csv", tmp_path / "public.csv", tmp_path / "link.csv"):
        done = publish(hedge, clinic, tmp_path / "r", "--side", side)
        assert done.exit_code == 2 and "private table" in done.stderr
        assert not re.search(r"(?<!pytest-)1500", done.stderr.replace("\n", ""))
        assert not (tmp_path / "r").exists()


def test_rules_for_own_weights(hedge: Hedge, clinic: Path, tmp_path: Path) -> None:
    lines = (clinic / "people.csv").read_text(encoding="utf-8").splitlines()
    lines[1:4] = ["3,nurse,,true", "3,nurse,-7,true", "3,nurse,much,true"]
    (tmp_path / "people.csv").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    own = ("--weight-column", "age=minds")
    done = publish(
        hedge, tmp_path, tmp_path / "r", *own, "--weight-missing", "2.5", "--weight-outside",
        "drop", "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    settings = json.loads(done.stdout)["settings"]
    assert (settings["weight_missing"], settings["weight_outside"]) == (2.5, "drop")
    assert publish(hedge, tmp_path, tmp_path / "s", *own).exit_code == 0
    done = publish(hedge, tmp_path, tmp_path / "t", *own, "--weight-missing", "error")
    assert done.exit_code == 4 and "line 2" in done.stderr
    done = publish(hedge, tmp_path, tmp_path / "t", *own, "--weight-outside", "ignore")
    assert done.exit_code == 2 and "clip, drop, error or a number" in done.stderr


def test_weights_from_a_file_and_a_column(hedge: Hedge, clinic: Path, tmp_path: Path) -> None:
    done = publish(
        hedge, clinic, tmp_path / "r", "--side", clinic / "public.csv", "--weights",
        clinic / "weights.yaml", "--weight-column", "age=minds", "--weight-bounds", "0,3",
        "--model", "aggregate", "--trade", "0.05", "--kappa", "2", "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    settings = json.loads(done.stdout)["settings"]
    assert settings["weights"] == {"age": 1, "job": 2, "ill": 3}
    assert settings["weight_columns"] == {"age": "minds"}
    assert settings["weight_bounds"] == [0.0, 3.0]
    assert (settings["trade"], settings["kappa"]) == (0.05, 2)


@pytest.mark.parametrize(
    "options, words",
    [
        (("--kappa", "1.5"), "kappa must be a whole number"),
        (("--risk", "little"), "risk must be a number"),
        (("--weight-column", "minds"), "Write --weight-column ATTRIBUTE=COLUMN"),
        (("--weight-column", "age=a", "--weight-column", "age=b"), "twice"),
        (("--weight-bounds", "3"), "two numbers"),
        (("--risk", "nan"), "risk must be a finite number"),
        (("--mode", "exact"), "mode cannot be"),
        (("--score", "max"), "--score is not a setting of supermodular"),
        (("--schedule", "paper"), "--schedule is not a setting of supermodular"),
        (("--mode", "sampled", "--keep", "0.9"), "too small to keep"),
        (("--weight-column", "age=job"), "Columns with the role: 'minds'"),
        (("--delta", "0"), "delta above 0"),
    ],
)
def test_wrong_options(
    hedge: Hedge, clinic: Path, tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    done = publish(hedge, clinic, tmp_path / "r", *options)
    assert done.exit_code == 2, done.stdout
    assert words in " ".join(done.stderr.split())
    assert not (tmp_path / "r").exists()


def test_settings_of_other_methods(hedge: Hedge, clinic: Path, tmp_path: Path) -> None:
    done = publish(hedge, clinic, tmp_path / "r", "--method", "diffgen", "--risk", "1")
    assert done.exit_code == 2 and "--risk is not a setting of diffgen" in done.stderr
    done = publish(hedge, clinic, tmp_path / "r", "--method", "diffgen", "--side", "x.csv")
    assert done.exit_code == 2 and "--side is not a setting of diffgen" in done.stderr


def test_a_side_table_with_another_schema(hedge: Hedge, clinic: Path, tmp_path: Path) -> None:
    sample.write(tmp_path, rows=20)
    done = publish(hedge, clinic, tmp_path / "r", "--side", tmp_path / "people.csv")
    assert done.exit_code == 4
    assert "there is no column" in " ".join(done.stderr.split())
