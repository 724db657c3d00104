"""What a record is called: by the schema's own word, and never people where rows are capped."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hedgerow
from hedgerow import sample
from hedgerow.schema import Schema

Hedge = Callable[..., Any]
COUNTED = re.compile(
    r"(about [\d,.]+|counts of|how many|[Oo]ver all|if|Numbers of|fewer or .* since) "
    r"(people|records|rows|encounters)\b"
)


def visits(name: tuple[str, str] | None, methods: Any = None) -> hedgerow.Release:
    about = {} if name is None else {"metadata": {"unit_name": list(name)}}
    columns = {"who": {"role": "person", "max_rows": 2}, **sample.schema().to_dict()["attributes"]}
    described = {"name": "clinic", "unit": "person", **about, "attributes": columns}
    rows = sample.people(600, seed=3)
    rows = rows.append_column("who", pa.array([number // 2 for number in range(600)]))
    return hedgerow.publish(rows, Schema.from_dict(described), methods, epsilon=4, delta="1e-6")


@pytest.mark.parametrize("name", [("encounter", "encounters"), None])
@pytest.mark.parametrize(
    "method",
    [hedgerow.DiffMulti(), hedgerow.DiffMulti(marginals=False), hedgerow.Supermodular()],
    ids=["marginals", "regions", "rows"],
)
def test_rows_of_people_with_several(
    hedge: Hedge, tmp_path: Path, name: tuple[str, str] | None, method: Any
) -> None:
    visits(name, method).save(tmp_path / "out")
    word = "rows" if name is None else name[1]
    many = [f"age > {age}" for age in range(20, 30)]
    for words in (["table", "smoker"], ["query", "age > 30 and smoker = yes", "everybody"],
                  ["query", *many], ["show"]):  # fmt: skip
        told = hedge(words[0], tmp_path / "out", *words[1:])
        assert told.exit_code == 0, told.stderr
        assert word in told.stdout or "usually within" in told.stdout
        assert {found[1] for found in COUNTED.findall(told.stdout)} <= {word}, told.stdout
    page = tmp_path / "page.html"
    assert hedge("report", tmp_path / "out", "--out", page).exit_code == 0
    text = re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8"))
    text = text.replace("how many rows there are", "")  # the name of a measurement
    assert word in text and not re.search(r": (records|people)\b", text)
    cap = f"Of each person at most 2 {word} are counted: the data may hold more."
    assert text.count(cap) == (1 if isinstance(method, hedgerow.Supermodular) else 2)
    assert cap in hedge("table", tmp_path / "out", "smoker").stdout
    assert re.search(r"a person with 2 rows, altogether(epsilon)?at\W*most\W*4", text)
    assert {found[1] for found in COUNTED.findall(text)} <= {word}


def test_transactions_by_their_name(hedge: Hedge, tmp_path: Path) -> None:
    described = sample.shop_schema().to_dict()
    described["metadata"] = {"unit_name": ["basket", "baskets"]}
    rows = pa.table({"items": sample.transactions(800, seed=1)})
    hedgerow.publish(rows, Schema.from_dict(described), epsilon=4).save(tmp_path / "out")
    for words in (["table", "item"], ["query", "milk"], ["show"]):
        told = hedge(words[0], tmp_path / "out", *words[1:]).stdout
        assert "baskets" in told and "records" not in told, told
