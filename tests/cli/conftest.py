from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import hedgerow
from hedgerow import sample
from hedgerow.cli import app


@pytest.fixture
def hedge() -> Callable[..., Any]:
    """Runs a command in this process; gives exit_code, stdout and stderr."""
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="session")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the embedded sample and its schema."""
    folder = tmp_path_factory.mktemp("survey")
    sample.write(folder, rows=1500, seed=5)
    return folder


@pytest.fixture(scope="session")
def published(survey: Path) -> Path:
    """A private release of the sample, so fine that regions divide every attribute."""
    schema = hedgerow.Schema.load(survey / "schema.yaml")
    method = hedgerow.DiffMulti(specializations=300, depth=12)
    release = hedgerow.publish(survey / "people.csv", schema, method, epsilon=1)
    release.save(survey / "published")
    return survey / "published"


@pytest.fixture(scope="session")
def regions(survey: Path) -> Path:
    """A private release of the sample that counts regions alone."""
    schema = hedgerow.Schema.load(survey / "schema.yaml")
    method = hedgerow.DiffMulti()
    hedgerow.publish(survey / "people.csv", schema, method, epsilon=1).save(survey / "regions")
    return survey / "regions"
