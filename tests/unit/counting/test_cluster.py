"""Clusters that cannot be used are refused in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from hedgerow import __version__, sample
from hedgerow.counting import cluster as connection
from hedgerow.counting.cluster import ClusterEngine, ClusterItems
from hedgerow.data import RowStream
from hedgerow.data.parquet import Piece
from hedgerow.errors import DataError, DataWarning, UsageError
from hedgerow.schema import Schema

distributed = pytest.importorskip("distributed")
pytestmark = [pytest.mark.usefixtures("workers"), pytest.mark.slow]


class Told:
    """A client whose workers answer what they are told to."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def wait_for_workers(self, *_: Any, **__: Any) -> None:
        pass

    def run(self, *_: Any, **__: Any) -> dict[str, object]:
        return {"tcp://a": __version__, "tcp://b": self.answer}


@pytest.mark.parametrize(
    ("answer", "words"),
    [("0.0.1", "has hedgerow 0.0.1"), (None, "has no hedgerow"), (OSError("x"), "has no hedgerow")],
)
def test_another_version_on_a_worker(answer: object, words: str) -> None:
    connection.check_workers(Told(__version__))
    with pytest.raises(UsageError, match=words):
        connection.check_workers(Told(answer))


def test_a_scheduler_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "PATIENCE", 1)
    with (
        distributed.LocalCluster(
            n_workers=0, dashboard_address="127.0.0.1:0", silence_logs=50
        ) as c,
        pytest.raises(UsageError, match="no workers"),
        connection.connect(c.scheduler_address),
    ):
        pass


def test_real_workers_answer_for_themselves() -> None:
    with connection.connect(None) as client:
        assert set(client.run(connection.pydoc.locate, "hedgerow.__version__").values()) == {
            __version__
        }
        with pytest.raises(UsageError, match="no hedgerow"):
            connection.check_workers(_Elsewhere(client))


class _Elsewhere:
    """Workers that are asked for a package they have not got."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def wait_for_workers(self, *_: Any, **__: Any) -> None:
        pass

    def run(self, function: Any, _: str, **more: Any) -> Any:
        return self.client.run(function, "no_such_package.__version__", **more)


def test_what_a_cluster_cannot_do(tmp_path: Path) -> None:
    schema = sample.schema()
    with pytest.raises(UsageError, match="reads Parquet"):
        ClusterEngine.read(RowStream(sample.people(5), schema), None, 10**9)
    capped = Schema.from_dict(
        {"name": "t", "unit": "person", "attributes": {"who": {"role": "person", "max_rows": 2},
         "age": {"type": "numeric", "low": 0, "high": 150}}}
    )  # fmt: skip
    import pyarrow as pa

    pq.write_table(pa.table({"who": [1], "age": [3]}), tmp_path / "p.parquet")
    with pytest.raises(UsageError, match="cannot cap the rows of a person"):
        ClusterEngine.read(RowStream(tmp_path / "p.parquet", capped), None, 10**9)
    shop = {"name": "shop", "unit": "row", "items": {"universe": ["tea", "milk"], "column": "x"}}
    with pytest.raises(UsageError, match="reads Parquet"):
        ClusterItems.read(pa.table({"x": [["tea"]]}), Schema.from_dict(shop), None)
    (tmp_path / "lines.dat").write_text("tea milk\n")
    lines = {"name": "shop", "unit": "row", "items": {"universe": ["tea", "milk"]}}
    with pytest.raises(UsageError, match="reads Parquet"):
        ClusterItems.read(tmp_path / "lines.dat", Schema.from_dict(lines), None)
    by_person = {"universe": ["tea", "milk"], "person": "who", "item": "what"}
    people = {"name": "shop", "unit": "person", "items": by_person}
    with pytest.raises(UsageError, match="cannot gather the items of a person"):
        ClusterItems.read(tmp_path / "p.parquet", Schema.from_dict(people), None)


def test_what_workers_note_of_transactions_is_told(tmp_path: Path) -> None:
    """Foreign items are named by their places in the whole input; oddities are warned of once."""
    import pyarrow as pa

    shop = {"name": "shop", "unit": "row"}
    items = {"universe": ["tea", "milk"], "column": "x", "foreign": "error"}
    held = [["tea"]] * 5 + [["soap"]] + [["milk"]] * 4
    pq.write_table(pa.table({"x": held}), tmp_path / "f.parquet", row_group_size=2)
    with pytest.raises(DataError, match="row 6: an item is not in the universe"):
        ClusterItems.read(tmp_path / "f.parquet", Schema.from_dict(shop | {"items": items}), None)
    dropped = Schema.from_dict(shop | {"items": items | {"foreign": "drop", "universe": ["x"]}})
    with (
        pytest.warns(DataWarning, match="no record has an item of the universe"),
        ClusterItems.read(tmp_path / "f.parquet", dropped, None) as engine,
    ):
        assert engine.items >= 1
    pq.write_table(pa.table({"x": pa.array([], pa.list_(pa.string()))}), tmp_path / "0.parquet")
    with pytest.raises(DataError, match="no records"):
        ClusterItems.read(tmp_path / "0.parquet", dropped, None, allow_empty=False)


def test_pieces_are_grouped_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = [Piece(path=str(number), rows=rows) for number, rows in enumerate([5, 5, 5, 30, 1, 1])]

    def paths(threads: int) -> tuple[list[str], list[int]]:
        groups, firsts = connection.group_pieces(pieces, threads)
        return ["".join(piece.path for piece in group) for group in groups], firsts

    assert paths(1) == (["012", "345"], [0, 15])
    assert paths(2) == (["01", "2", "3", "45"], [0, 10, 15, 45])
    monkeypatch.setattr(connection, "_ROWS", 15)
    assert paths(1) == paths(2)
    assert connection.group_pieces([], threads=2) == ([[]], [0])


def test_workers_get_equal_shares() -> None:
    pieces = [Piece(path=str(number), rows=10**6) for number in range(21)]
    groups, _ = connection.group_pieces(pieces, threads=2)
    assert [len(group) for group in groups] == [5, 5, 6, 5]


def test_what_a_cluster_says_is_kept_back() -> None:
    with (
        pytest.raises(DataError, match="connection to the cluster was lost") as caught,
        connection.explain_failures(),
    ):
        raise OSError("somebody's diagnosis")
    assert "diagnosis" not in str(caught.value)


def test_damage_and_broken_rules_are_told_from_afar(tmp_path: Path) -> None:
    """What a worker finds reaches the steward in the same words as here."""
    schema = sample.schema()
    rows = sample.people(200, seed=1)
    odd = rows.set_column(rows.column_names.index("home"), "home", [["nowhere"] * 200])
    for number, part in enumerate((rows, odd)):
        pq.write_table(part, tmp_path / f"{number}.parquet", row_group_size=50)
    said = []
    for engine in ("memory", "dask"):
        from hedgerow import publish

        with pytest.raises(DataError) as caught:
            publish(tmp_path, schema, engine=engine)
        said.append(str(caught.value))
    assert said[0] == said[1] and "1.parquet row 1" in said[0]
