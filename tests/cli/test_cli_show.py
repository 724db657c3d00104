from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hedgerow
from hedgerow import Release, sample
from hedgerow.estimate.measurements import half_width
from hedgerow.present.findings import differences
from hedgerow.present.kinds import largest
from hedgerow.present.words import round_count
from hedgerow.release import TableRelease

Hedge = Callable[..., Any]


def test_the_largest_regions(hedge: Hedge, published: Path) -> None:
    done = hedge("show", published, "--top", 3)
    assert done.exit_code == 0, done.stderr
    assert "clinic discharges" in done.stdout and "epsilon = 1" in done.stdout
    assert "readmitted" in done.stdout and "%" in done.stdout


def test_regions_are_those_of_the_table(published: Path) -> None:
    release = Release.load(published)
    shown = largest(release, 10**6)
    assert len(shown) == release.partition.cells
    assert [r.total for r in shown] == sorted((r.total for r in shown), reverse=True)
    table = release.generalized("arrow").to_pylist()
    for region in shown:
        rows = [row for row in table if row["region"] == region.number]
        assert region.counts == {row["readmitted"]: row["estimate"] for row in rows}
        assert all(rows[0][name] == label for name, label in region.where.items())


def test_json(hedge: Hedge, published: Path) -> None:
    facts = json.loads(hedge("show", published, "--json", "--top", 2).stdout)
    assert facts["method"] == "diffmulti" and len(facts["largest"]) <= 2
    assert set(facts["largest"][0]["classes"]) == {"no", "yes"}
    assert facts["plot"] is None


def test_a_tree(hedge: Hedge, published: Path) -> None:
    done = hedge("show", published, "--tree", "--depth", 1)
    assert done.exit_code == 0, done.stderr
    total = Release.load(published).counts.sum()
    assert f"everyone: {total:,}" in done.stdout


def test_a_grid_has_parts_instead(hedge: Hedge, survey: Path, tmp_path: Path) -> None:
    schema = hedgerow.Schema.load(survey / "schema.yaml")
    method = hedgerow.DiffGen(specializations=3)
    hedgerow.publish(survey / "people.csv", schema, method, epsilon=1).save(tmp_path / "grid")
    done = hedge("show", tmp_path / "grid", "--tree")
    assert done.exit_code == 0 and "combination of these parts" in done.stdout
    assert "occupation" in done.stdout


def test_a_release_without_a_class(hedge: Hedge, tmp_path: Path) -> None:

    schema = hedgerow.Schema.from_dict(
        {
            "name": "ages",
            "unit": "row",
            "attributes": {"age": {"type": "numeric", "low": 0, "high": 99}},
        }
    )
    table = pa.table({"age": [20] * 300 + [70] * 200})
    release = hedgerow.publish(table, schema, hedgerow.DiffMulti(score="ncp"), epsilon=1)
    release.save(tmp_path / "r")
    done = hedge("show", tmp_path / "r", "--plot", tmp_path / "r.png")
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "r.png").exists()
    listed = json.loads(hedge("show", tmp_path / "r", "--json").stdout)["largest"]
    assert listed[0]["classes"] is None


def test_a_plot(hedge: Hedge, published: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    done = hedge("show", published, "--plot", tmp_path / "a.png")
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert hedge("show", published, "--plot", tmp_path / "a.txt").exit_code == 2
    assert hedge("show", published, "--plot", tmp_path / "no" / "a.png").exit_code == 6


def test_without_matplotlib(
    hedge: Hedge, published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    done = hedge("show", published, "--plot", tmp_path / "a.png")
    assert done.exit_code == 2 and "hedgerow[plot]" in done.stderr


def test_not_a_release(hedge: Hedge, tmp_path: Path) -> None:
    done = hedge("show", tmp_path)
    assert done.exit_code == 6 and "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
def test_a_reader_that_goes_away(published: Path) -> None:
    command = f'"{sys.executable}" -m hedgerow show "{published}" --json | head -c 1'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert done.stdout == "{" and "Traceback" not in done.stderr


def test_a_picture_is_not_replaced_unasked(hedge: Hedge, published: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "a.svg"
    path.write_text("mine", encoding="utf-8")
    done = hedge("show", published, "--plot", path)
    assert done.exit_code == 6 and "--overwrite" in done.stderr
    assert path.read_text(encoding="utf-8") == "mine"
    assert hedge("show", published, "--plot", path, "--overwrite").exit_code == 0
    assert "<svg" in path.read_text(encoding="utf-8")
    assert [p.name for p in tmp_path.iterdir()] == ["a.svg"]


def test_json_holds_the_tree_when_asked(hedge: Hedge, survey: Path, published: Path) -> None:
    root = json.loads(hedge("show", published, "--json", "--tree", "--depth", 1).stdout)["tree"]
    assert root["where"] == "everyone" and root["count"] == Release.load(published).counts.sum()
    assert sum(node["count"] for node in root["below"]) == root["count"]
    assert all(node["below"] == [] for node in root["below"])
    assert "tree" not in json.loads(hedge("show", published, "--json").stdout)


@pytest.mark.parametrize("epsilon", ["much", "-1", None, 0, "1/0", 1.5])
def test_a_manifest_with_a_bad_epsilon(
    hedge: Hedge, published: Path, tmp_path: Path, epsilon: object
) -> None:
    shutil.copytree(published, tmp_path / "r")
    path = tmp_path / "r" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["guarantee"]["epsilon"] = epsilon
    path.write_text(json.dumps(manifest), encoding="utf-8")
    done = hedge("show", tmp_path / "r")
    assert done.exit_code == 6 and "epsilon" in done.stderr


def test_a_sparse_release_tells_its_threshold(hedge: Hedge, survey: Path, tmp_path: Path) -> None:
    release = sparse(survey)
    release.save(tmp_path / "r")
    done = hedge("show", tmp_path / "r")
    assert done.exit_code == 0, done.stderr
    assert "at least 7" in done.stdout and "mostly noise" in done.stdout
    assert json.loads(hedge("show", tmp_path / "r", "--json").stdout)["threshold"] == 7


def sparse(survey: Path) -> Release:
    """A grid of which one cell passed a threshold of 7."""
    import numpy as np

    schema = hedgerow.Schema.load(survey / "schema.yaml")
    method = hedgerow.DiffGen(specializations=2)
    whole = hedgerow.publish(survey / "people.csv", schema, method, epsilon=1)
    leaf = next(m for m in whole.measurements if m.name == "leaf")
    few = replace(
        leaf,
        where=np.array([0]),
        values=np.array([[9]]),
        units=leaf.units[:1],
        threshold=7,
        klass=np.array([0]),
    )
    return replace(whole, measurements=(few,))


def test_many_classes_fit_a_narrow_terminal(
    hedge: Hedge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    pytest.importorskip("matplotlib")
    monkeypatch.setenv("COLUMNS", "40")
    names = [f"_c{place}$" for place in range(14)]
    klass = {"type": "categorical", "values": names, "role": "class"}
    schema = hedgerow.Schema.from_dict(
        {
            "name": "a long name " * 20,
            "unit": "row",
            "attributes": {"age": {"type": "numeric", "low": 0, "high": 99}, "k": klass},
        }
    )
    table = pa.table({"age": list(range(98)) * 20, "k": names * 140})
    method = hedgerow.DiffMulti()
    hedgerow.publish(table, schema, method, epsilon=3).save(tmp_path / "r")
    done = hedge("show", tmp_path / "r", "--plot", tmp_path / "r.svg")
    assert done.exit_code == 0, done.stderr
    first = largest(Release.load(tmp_path / "r"), 1)[0]
    about, _ = round_count(first.total, *first.ends)
    assert f"people: {about}\n" in done.stdout and "…" not in done.stdout
    monkeypatch.setenv("COLUMNS", "80")
    done = hedge("show", tmp_path / "r")
    assert f" {about} " in done.stdout and "…" not in done.stdout


def test_findings_come_first_and_the_picture_is_the_first(hedge: Hedge, tmp_path: Path) -> None:
    """The first ten lines tell what was published, what it says, how sure, and the promise."""
    pytest.importorskip("matplotlib")
    schema = sample.schema().with_tables(["readmitted by sex"])
    release = hedgerow.publish(sample.people(8000, seed=3), schema, epsilon=1, seed=2)
    release.save(tmp_path / "r")
    done = hedge("show", tmp_path / "r", "--plot", tmp_path / "r.svg")
    first = differences(release)[0][0].sentence("people").replace("\u00a0", " ")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("clinic discharges: ") and "people counted" in lines[0]
    assert " ".join(lines[2:5]).startswith(first)
    told = " ".join(lines[:12])
    assert told.index(first) < told.index("at once with 95%") < told.index("NOT PRIVATE: this")
    assert "by readmitted and sex" in done.stdout and "0 to 0" not in done.stdout
    assert "Drew the first finding to" in done.stdout
    drawn = (tmp_path / "r.svg").read_text(encoding="utf-8")
    assert first[:20] in drawn


def test_of_many_cells_the_largest_are_drawn(hedge: Hedge, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    names = [f"c{place}" for place in range(120)]
    kinds = {"k": {"type": "categorical", "values": names}}
    schema = hedgerow.Schema.from_dict({"name": "many", "unit": "row", "attributes": kinds})
    hedgerow.publish(pa.table({"k": names * 20}), schema, epsilon=3).save(tmp_path / "r")
    assert len(Release.load(tmp_path / "r").table("k")) > 100
    done = hedge("show", tmp_path / "r", "--plot", tmp_path / "r.svg")
    assert done.exit_code == 0 and (tmp_path / "r.svg").stat().st_size > 1000, done.stderr
    assert "Drew the most telling table, its 100 largest cells to" in done.stdout


def test_regions_have_errors(hedge: Hedge, published: Path) -> None:
    done = hedge("show", published)
    assert "95% interval" in done.stdout and "±" in done.stdout
    facts = json.loads(hedge("show", published, "--json").stdout)
    release = Release.load(published).expect(TableRelease)
    measured = release.estimates
    counted = np.stack([measured.variance.sum(1), measured.values.sum(1)], axis=1)
    known = dict(zip(release.regions.tolist(), counted.tolist(), strict=True))
    for region in facts["largest"]:
        variance, estimate = known[region["region"]]
        reach = half_width(np.sqrt([variance]), 0.95)[0]
        assert region["give_or_take"] == pytest.approx(reach + abs(region["count"] - estimate))
    errors = release.generalized("arrow")["typical_error"].to_pylist()
    assert errors == np.ceil(np.round(release.count_errors.ravel(), 6)).tolist()
