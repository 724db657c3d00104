"""There is one list of the kinds of release, and nobody else tells them apart by their classes."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import hedgerow
from hedgerow.cli.display.picture import DRAW
from hedgerow.errors import UsageError
from hedgerow.evaluation import scorecard
from hedgerow.present import kinds as present
from hedgerow.release.base import Release
from hedgerow.release.files import KINDS, all_files, is_table_file, kind_class

SOURCE = Path(__file__).parents[2] / "src" / "hedgerow"
GOLDEN = Path(__file__).parents[1] / "golden"
ONE_OF_EACH = ("diffmulti-tuned-1", "marginals-tuned-1", "diffpart-tuned-3", "supermodular-tuned-1")
# they make records of items, or count them, or are the kind of release that has them
OWNERS = ("schema", "data", "counting", "release/transactions.py")
TOLD_APART = re.compile(r"isinstance\([^)]*(Table|Marginals|Transactions|Rows|Measured)Release")


TABLES = {
    "page": present.KINDS,
    "picture": DRAW,
    "query": import_module("hedgerow.present.answers").KINDS,
    "evaluation": scorecard._KINDS,
    "record": import_module("hedgerow.present.catalog")._PRODUCTS,
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_every_table_by_kind_has_all_kinds(table: dict[str, Any]) -> None:
    assert table.keys() == KINDS.keys()


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_is_a_release_of_keywords_alone(name: str) -> None:
    kind = kind_class(name)
    assert kind.kind == name and issubclass(kind, hedgerow.Release)
    assert getattr(hedgerow, kind.__name__) is kind
    assert all(one.kw_only for one in fields(kind))
    shared = {one.name for one in fields(Release)}
    assert shared <= {one.name for one in fields(kind)}
    required = {one.name for one in fields(Release) if one.default is MISSING}
    assert required == {"schema", "method", "settings", "guarantee", "ledger"}
    assert set(kind.file_names()) <= all_files()


def test_a_release_of_no_kind_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Release(schema=None, method="", settings={}, guarantee={}, ledger={})  # type: ignore


@pytest.mark.parametrize("folder", ONE_OF_EACH)
def test_every_kind_keeps_the_protocol(folder: str, tmp_path: Path) -> None:
    release = Release.load(GOLDEN / folder)
    told = release.describe()
    assert told.number > 0 and repr(release).endswith(f"{told.parts}={told.number})")
    everybody = release.count_all()
    assert everybody.low[0] <= everybody.estimate[0] <= everybody.high[0]
    assert release.synthesize(3, seed=1, kind="arrow").num_rows == 3
    assert all(len(spread.labels) == len(spread.counts) for spread in release.histograms())
    names = [name for name, _ in release.files()]
    assert {name for name in names if not is_table_file(name)} == set(release.file_names())
    assert len(set(names)) == len(names)
    release.save(tmp_path / "copy")
    assert Release.load(tmp_path / "copy") == release
    with pytest.raises(TypeError):
        hash(release)


@pytest.mark.parametrize("folder", ONE_OF_EACH)
def test_a_kind_loads_its_own_alone(folder: str) -> None:
    release = Release.load(GOLDEN / folder)
    for name in KINDS:
        if name == release.kind:
            assert type(kind_class(name).load(GOLDEN / folder)) is kind_class(name)
        else:
            with pytest.raises(UsageError, match="kind"):
                kind_class(name).load(GOLDEN / folder)


@pytest.mark.parametrize("folder", ONE_OF_EACH[2:])
def test_kinds_that_tell_no_classes_say_so(folder: str) -> None:
    with pytest.raises(UsageError, match="no classes"):
        Release.load(GOLDEN / folder).predict({"age": [1]})


def told_apart(text: str) -> bool:
    return TOLD_APART.search(text) is not None


def test_nobody_else_asks_for_classes_of_releases() -> None:
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).parts[0] != "release":
            assert not told_apart(path.read_text("utf-8")), path


def test_the_question_is_seen() -> None:
    assert told_apart("if isinstance(release, RowsRelease):")
    assert not told_apart("if isinstance(source, Release):")


def asks_for_items(text: str) -> bool:
    return re.search(r"\bitems is (not )?None", text) is not None


def test_nobody_else_asks_whether_there_are_items() -> None:
    """`schema.kind` says what a schema describes."""
    for path in sorted(SOURCE.rglob("*.py")):
        if not path.relative_to(SOURCE).as_posix().startswith(OWNERS):
            assert not asks_for_items(path.read_text("utf-8")), path
    assert asks_for_items("if schema.items is not None:") and asks_for_items("x.items is None")
    assert not asks_for_items("if items.max_items is None:")
