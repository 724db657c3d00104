from __future__ import annotations

from pathlib import Path

import pytest

import hedgerow as hr
from hedgerow import sample


@pytest.fixture(scope="session")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The raw data of all releases."""
    folder = tmp_path_factory.mktemp("raw")
    sample.write(folder, rows=1200, seed=5)
    ages = "\n".join(map(str, range(120)))
    (folder / "ages.csv").write_text(f"age\n{ages}\n{ages}\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def releases(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A release of every method and mode."""
    folder = tmp_path_factory.mktemp("releases")
    people = (raw / "people.csv", hr.Schema.load(raw / "schema.yaml"))
    shop = (raw / "baskets.dat", hr.Schema.load(raw / "baskets.yaml"))
    ages = hr.Schema.from_dict(
        {
            "name": "ages",
            "unit": "row",
            "attributes": {"age": {"type": "numeric", "low": 0, "high": 119, "outside": "clip"}},
        }
    )
    made = {
        "marginals": hr.publish(*people, epsilon=1),
        "diffmulti": hr.publish(*people, hr.DiffMulti(), epsilon=1),
        "diffgen": hr.publish(*people, hr.DiffGen(specializations=4), epsilon=1),
        "cdiffgen": hr.publish(*people, hr.CDiffGen(), epsilon=1, delta="1e-9"),
        "noisy": hr.publish(*people, hr.Supermodular(), epsilon=2, delta="1e-6"),
        "sampled": hr.publish(*people, hr.Supermodular(mode="sampled"), epsilon=2, delta="1e-6"),
        "core": hr.publish(*shop, hr.DiffPart(), epsilon=1),
        "tree": hr.publish(*shop, hr.DiffPart(variant="tree"), epsilon=1),
        "paper": hr.publish(*shop, hr.DiffPart(schedule="paper"), epsilon=1),
        "seeded": hr.publish(*people, hr.DiffMulti(), epsilon=6, seed=1),
        "large": hr.publish(*people, hr.DiffMulti(), epsilon=6),
        "unclassed": hr.publish(raw / "ages.csv", ages, hr.DiffMulti(), epsilon=8),
    }
    for name, release in made.items():
        release.save(folder / name)
    return {name: folder / name for name in made}
