"""What a user of pandas types without reading: each works, or the answer says what to type."""

from __future__ import annotations

import copy
import inspect
import pickle
import pydoc
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow import sample
from hedgerow.errors import UsageError
from hedgerow.methods.publisher import as_method
from hedgerow.schema import Schema

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

SCHEMA = {
    "name": "<b>survey",
    "unit": "row",
    "attributes": {
        "age": {"type": "numeric", "low": 0, "high": 99, "step": 1},
        "job": {"type": "categorical", "values": ["<i>nurse</i>", "cook"]},
        "ill": {"type": "categorical", "values": ["no", "yes"], "role": "class"},
    },
}
draw = np.random.default_rng(1)
PEOPLE = pd.DataFrame(
    {
        "age": draw.integers(0, 99, 400),
        "job": draw.choice(["<i>nurse</i>", "cook"], 400),
        "ill": draw.choice(["no", "yes"], 400),
    }
)


def publish(**given: Any) -> hr.Release:
    words = {"schema": SCHEMA, "method": hr.DiffMulti(specializations=3), "epsilon": 1, "seed": 1}
    return hr.publish(**{"data": PEOPLE} | words | given)


@pytest.fixture(scope="module")
def release() -> hr.Release:
    return publish()


@pytest.fixture(scope="module")
def shop() -> hr.Release:
    baskets = pa.table({"items": sample.transactions(300, seed=1)})
    return hr.publish(baskets, sample.shop_schema(), epsilon=1, seed=1)


# 1 and 2: numbers in any form. What is stated is never more than what was asked for.


@pytest.mark.parametrize(
    "epsilon, stated",
    [
        (0.1 + 0.2, "3/10"),
        (1 / 3, "333333/1000000"),
        (np.log(3), "274653/250000"),
        (np.float32(0.1), "1/10"),
        (np.int8(2), "2"),
        (Fraction(1, 3), "1/3"),
        (Fraction(10**7 + 1, 10**7), "1"),
        (Decimal("0.25"), "1/4"),
        ("1/3", "1/3"),
        ("0.1234567", "123456/1000000"),
    ],
)
def test_epsilon_in_any_form(epsilon: Any, stated: str) -> None:
    plan = hr.DiffMulti().plan(SCHEMA, epsilon)
    assert plan.budget.epsilon == Fraction(stated)
    assert plan.budget.epsilon <= Fraction(str(epsilon))


def test_delta_is_read_exactly() -> None:
    assert hr.DiffMulti().plan(SCHEMA, 1, 1 / 3e9).budget.delta == Fraction(str(1 / 3e9))


def test_a_seed_of_numpy(release: hr.Release) -> None:
    assert publish(seed=np.int64(1)) == release
    assert release.synthesize(np.int64(5), seed=np.int64(1)).shape == (5, 3)


# 3 to 5: methods and schemas


@pytest.mark.parametrize("method", ["diffgen", "DiffGen", hr.DiffGen, hr.DiffGen()])
def test_a_method_by_its_name_its_class_or_itself(method: Any) -> None:
    assert as_method(method, Schema.of(SCHEMA)) == hr.DiffGen()
    assert hr.DiffGen(specializations=np.int64(3)).specializations == 3


def test_a_schema_as_a_path_a_dictionary_or_itself(tmp_path: Path) -> None:
    path = tmp_path / "schema.yaml"
    path.write_text(Schema.of(SCHEMA).to_yaml(), encoding="utf-8")
    plans = [hr.DiffMulti().plan(one) for one in (path, str(path), SCHEMA, Schema.of(SCHEMA))]
    assert plans[1:] == plans[:-1]


def test_help_shows_the_function() -> None:
    assert inspect.isfunction(hr.publish)
    text = pydoc.plain(pydoc.render_doc(hr.publish))
    assert re.search(r"publish\(\s*data", text)  # newer Pythons break long lines
    assert "epsilon: The loss that one person" in text


# 6 to 12: what comes out


def test_a_release_as_a_frame(release: hr.Release, shop: hr.Release) -> None:
    frame = release.to_pandas()
    assert list(frame.columns) == ["age", "job", "ill"]
    assert len(frame) == len(release) == release.shape[0] == round(release.count_all())
    counted = release.table("ill").set_index("ill").estimate
    assert (frame.groupby("ill", observed=True).size() - counted).abs().max() < 2
    assert release.generalized("pandas")["estimate"].sum() == len(release)
    assert isinstance(release.to_polars(), pl.DataFrame)
    assert isinstance(shop.to_pandas(), pd.DataFrame) and len(shop) == shop.to_arrow().num_rows


@pytest.mark.parametrize("method", ["marginals", "diffmulti", "diffgen"])
def test_rows_of_frames_are_records(method: str) -> None:
    """What is counted in a frame is what the release counts; what it does not know is missing."""
    one = publish(method=method, epsilon=1, seed=2)
    frame = one.to_pandas()
    assert abs(len(frame) - float(one.count_all())) <= 1
    for name in one.schema:
        sizes, counted = frame.groupby(name, observed=False).size(), one.table(name)
        if name in one.unmeasured:
            assert frame[name].isna().all() and one.sample(5)[name].notna().all()
        elif name != "age":
            labels = sizes.index.astype(str).str.lower()
            found = sizes.set_axis(labels).reindex(counted[name], fill_value=0)
            assert np.abs(found.to_numpy() - counted["estimate"]).max() < 3


NUMBERS = ["estimate", "low", "high", "typical_error", "reliability"]


def test_columns_are_called_the_same_everywhere(
    release: hr.Release, shop: hr.Release, tmp_path: Path
) -> None:
    assert list(release.table("ill").to_pandas()) == ["ill", *NUMBERS, "basis"]
    assert list(shop.frequent(3, kind="pandas"))[:6] == ["items", *NUMBERS]  # type: ignore[attr-defined]
    assert list(release.generalized("pandas"))[-2:] == ["estimate", "typical_error"]
    pytest.importorskip("xlsxwriter")
    release.to_excel(tmp_path / "r.xlsx")
    with zipfile.ZipFile(tmp_path / "r.xlsx") as book:
        texts = re.findall("<t[^>]*>([^<]*)</t>", book.read("xl/sharedStrings.xml").decode())
        heads = [
            [texts[int(place)] for place in re.findall('t="s"><v>([0-9]+)</v>', row)]
            for name in book.namelist() if name.startswith("xl/worksheets/sheet")
            for row in re.findall("<row.*?</row>", book.read(name).decode())
        ]  # fmt: skip
    bare = [name for name in NUMBERS if name != "typical_error"]  # which regions do not know
    assert ["ill", *bare, "basis"] in heads and ["good", "measured"] in [row[-2:] for row in heads]
    assert ["region", "age", "job", "ill", "estimate", "typical_error"] in heads


@pytest.mark.parametrize("name", [*NUMBERS, "basis", "region", "count"])
def test_no_attribute_is_called_like_a_column_of_a_release(name: str) -> None:
    """An attribute `low` would lose its labels in every table."""
    told = {**SCHEMA, "attributes": {**SCHEMA["attributes"], name: {"type": "boolean"}}}
    with pytest.raises(hr.errors.SchemaError, match=name):
        Schema.from_dict(told)


def test_everything_takes_the_same_inputs(tmp_path: Path) -> None:
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    Schema.of(SCHEMA).to_yaml(tmp_path / "schema.yaml")
    places = str(tmp_path / "people.csv"), str(tmp_path / "schema.yaml")
    for data, schema in (places, (PEOPLE, SCHEMA)):
        one = hr.publish(data=data, schema=schema, method="diffmulti", seed=1)
        _, labeled = hr.publish_clusters(data=data, schema=schema, epsilon=20, seed=1)
        assert labeled.schema.classes == ("1", "2")
        assert hr.evaluate(data=data, release=one, quick=True).records == len(PEOPLE)
    for name in ("from_pandas", "from_dataframe", "infer"):
        assert getattr(hr.Schema, name)(PEOPLE).is_draft
    assert hr.Schema.from_csv(places[0]).is_draft


def test_tables_go_where_frames_go(release: hr.Release, tmp_path: Path) -> None:
    pytest.importorskip("xlsxwriter")
    table = release.table("ill")
    table.to_excel(tmp_path / "ill.xlsx")
    assert zipfile.is_zipfile(tmp_path / "ill.xlsx") and "<td>good</td>" in table.to_html()


def test_random_states_of_scikit_learn(release: hr.Release) -> None:
    for made in (np.random.RandomState, np.random.default_rng):
        one, same, other = made(1), made(1), made(2)
        first = release.sample(20, random_state=one)
        assert first.equals(release.sample(20, random_state=same))
        assert not first.equals(release.sample(20, random_state=one))
        assert not first.equals(release.sample(20, random_state=other))


def test_a_table_by_brackets(release: hr.Release) -> None:
    assert release["age"].to_arrow() == release.table("age").to_arrow()
    assert len(release["job", "ill"]) == 4
    assert isinstance(release["job"].to_polars(), pl.DataFrame)


def test_answers_are_rows(release: hr.Release, shop: hr.Release) -> None:
    answers = release.count(["age in [30, 50]", {"job": "cook"}])
    assert [one.estimate for one in answers] == answers["estimate"].tolist()
    assert answers[-1].query == "job = cook" and answers[0] == next(iter(answers))
    frame = answers.to_pandas()
    assert frame["query"].tolist() == answers.queries
    assert release.count(frame["query"].tolist())["low"].tolist() == answers["low"].tolist()
    assert len(answers[1:]) == len(answers[[True, False]]) == len(answers[[1]]) == 1
    assert answers[1:].queries == ["job = cook"]
    with pytest.raises(IndexError):
        answers[2]
    asked = shop.count([["tea"], []])
    assert asked.queries == ["tea", "everybody"] and isinstance(asked.to_polars(), pl.DataFrame)


def test_answers_and_tables_are_shown_as_rows(release: hr.Release) -> None:
    asked = release.count(["age in [30, 50]", "job = cook"])
    head, names, first, second = repr(asked).splitlines()
    assert head == "Estimated counts with 0.95 intervals:" and names.split()[:2] == [
        "query",
        "estimate",
    ]
    assert "age in [30, 50]" in first and "job = cook" in second
    many = repr(release.count(["job = cook"] * 25)).splitlines()
    assert len(many) == 23 and many[-1] == "... and 5 more"
    assert repr(release.table("job")).count("\n") == 3
    odd = {**SCHEMA["attributes"], "a\u202eb": {"type": "boolean"}}
    other = publish(data=PEOPLE.assign(**{"a\u202eb": True}), schema=SCHEMA | {"attributes": odd})
    assert "\u202e" not in repr(other.table("a\u202eb"))


def test_a_schema_is_shown_by_its_names(shop: hr.Release) -> None:
    assert repr(Schema.of(SCHEMA)) == (
        "Schema('<b>survey', unit='row', attributes=['age', 'job'], target='ill')"
    )
    assert repr(shop.schema).startswith("Schema('village shop', unit='row', items=24)")
    wide = {f"a{i}": {"type": "boolean"} for i in range(21)}
    assert repr(Schema.of(SCHEMA | {"attributes": wide})).endswith("'a19', ...])")


def test_whatever_reads_arrow_takes_it(release: hr.Release) -> None:
    for one in (release, release.table("job"), release.count("job = cook")):
        assert pa.table(one) == one.to_arrow()
        if int(pl.__version__.split(".")[1]) >= 3 or not pl.__version__.startswith("1."):
            assert pl.DataFrame(one).equals(one.to_polars())  # older ones read other kinds alone


def test_copies_say_the_same(release: hr.Release, shop: hr.Release) -> None:
    assert copy.copy(release) == copy.deepcopy(release) == release
    assert pickle.loads(pickle.dumps(release)) == release
    for one in (release.count("job = cook"), release.table("job"), shop.count([["tea"], []])):
        for again in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
            assert again.to_arrow() == one.to_arrow()


def test_attributes_are_in_a_release(release: hr.Release) -> None:
    assert "age" in release and "ill" in release and "agee" not in release
    assert release[["job", "ill"]].to_arrow() == release["job", "ill"].to_arrow()


def test_a_table_is_drawn(release: hr.Release) -> None:
    pytest.importorskip("matplotlib")
    axes: Any = release.table("job").plot()
    assert axes.get_title(loc="left") == "Counts by job, with 0.95 intervals"


def test_modules_need_no_import_of_their_own() -> None:
    code = "import hedgerow as hr; print(hr.sample.people, hr.evaluation.random_queries)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_cells_are_rows(release: hr.Release) -> None:
    table = release.table("job")
    assert [cell.job for cell in table] == ["<i>nurse</i>", "cook"] == list(table["job"])
    assert table[0].estimate == table["estimate"][0] and len(table[:1]) == 1


def test_a_query_without_words_has_none(release: hr.Release) -> None:
    """Made by hand, it may end where no value does."""
    answers = release.count(hr.Query(((0, ((0.5, 3.3),)),)))
    assert answers.to_arrow()["query"].to_pylist() in ([None], answers.queries)


def test_a_loaded_release_speaks_pandas(release: hr.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "r")
    assert isinstance(hr.Release.load(tmp_path / "r", kind="pandas").synthesize(3), pd.DataFrame)
    with pytest.raises(UsageError, match="kind of frame"):
        hr.Release.load(tmp_path / "r", kind="excel")


def test_probabilities_of_classes(release: hr.Release) -> None:
    found = release.predict_proba(PEOPLE)
    assert list(found.columns) == ["no", "yes"] and (found.sum(axis=1) - 1).abs().max() < 1e-9
    assert (found.idxmax(axis=1) == release.predict(PEOPLE)["ill"].astype(str)).all()
    assert (
        release.predict_proba(pa.table({"age": [3, 300], "job": ["cook"] * 2}))["no"].null_count
        == 1
    )


@pytest.mark.parametrize("method", ["diffmulti", "diffgen"])
def test_probabilities_agree_with_predictions(method: str) -> None:
    kind = {"diffmulti": hr.DiffMulti, "diffgen": hr.DiffGen}[method]
    tiny = publish(method=kind(), epsilon="0.01")  # counts below 0 are common
    found = tiny.predict_proba(PEOPLE)
    assert ((found >= 0) & (found <= 1)).all(axis=None)
    assert (found.idxmax(axis=1) == tiny.predict(PEOPLE)["ill"].astype(str)).all()


# 13: notebooks


def test_notebooks_show_tables_and_escape_them(release: hr.Release, shop: hr.Release) -> None:
    plan = hr.DiffMulti().plan(SCHEMA)
    shown = [release, shop, release.table("job"), release.count("job = cook"), plan]
    for one in shown:
        text = one._repr_html_()
        assert text.startswith("<table>") and "<b>" not in text and "<i>" not in text
    assert "&lt;b&gt;survey" in release._repr_html_() and "NOT PRIVATE" in release._repr_html_()
    assert "&lt;i&gt;nurse" in release.table("job")._repr_html_()


# 14 and more: what does not work says what to type

TYPED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "query": (lambda r: r.query("age > 3"), "release.count("),
    "first row": (lambda r: r[0], "release.to_pandas().iloc"),
    "iteration": (lambda r: list(r), "release.to_pandas().iloc"),
    "column": (lambda r: r["agee"], "age"),
    "number": (lambda r: r.synthesize(1e3), "n=1000"),
    "negative": (lambda r: r.synthesize(-1), "n=0"),
    "random": (lambda r: r.synthesize(1, seed="x"), "seed=1"),
    "answer": (lambda r: r.count("age > 3")["upper"], "high"),
    "level": (lambda r: r.count("age > 3", level=95), "0.95"),
    "no schema": (lambda r: hr.publish(PEOPLE), 'schema="schema.yaml"'),
    "a number as schema": (lambda r: hr.publish(PEOPLE, 1), 'schema="schema.yaml"'),
    "method or epsilon": (lambda r: hr.publish(PEOPLE, SCHEMA, 1), "epsilon=1"),
    "unknown method": (lambda r: publish(method="mst"), "diffmulti"),
    "epsilon as a list": (lambda r: publish(epsilon=[1]), "epsilon"),
    "seed as a float": (lambda r: publish(seed=3.0), "seed=3"),
    "read_csv": (lambda r: hr.read_csv("x.csv"), "hedgerow.publish(path, schema)"),
    "plan": (lambda r: hr.plan(SCHEMA), "Marginals().plan("),
    "eps": (lambda r: publish(eps=1), "Write epsilon=1."),
    "random_state": (lambda r: publish(random_state=3), "Noise has no seed"),
    "setting of a method": (lambda r: publish(depth=3), "hedgerow.DiffMulti(depth=3)"),
    "British spelling": (lambda r: hr.DiffGen(specialisations=3), "Write specializations=3."),
    "epsilon of a method": (lambda r: hr.DiffMulti(epsilon=2), "hedgerow.publish(data, schema"),
    "confidence": (lambda r: r.count("age > 3", confidence=0.9), "Write level=0.9."),
    "alpha": (lambda r: r.table("age", alpha=0.9), "level"),
    "two queries": (
        lambda r: r.count("age > 3", "job = cook"),
        'release.count(["age > 3", "job = cook"])',
    ),
    "a level by place": (lambda r: r.count("age > 3", 0.9), "level=..."),
    "a group by place": (lambda r: r.mean("age", "job"), "by=..."),
    "where": (lambda r: r.where("age > 3"), "release.count("),
    "sql": (lambda r: r.sql("SELECT 1"), "duckdb.sql("),
    "correlation": (lambda r: r.correlation("age", "job"), "release.table("),
    "nunique": (lambda r: r.nunique("job"), "len(release.table("),
    "null": (lambda r: r.count("age is null"), "age = other"),
    "not null": (lambda r: r.count("age is not null"), "age != other"),
    "what is left": (lambda r: hr.BudgetLedger("x.ledger").remaining, "ledger.accounts()"),
    "score": (lambda r: hr.evaluate(PEOPLE, r, quick=True).get_score, "judgment.to_frame()"),
    "raw data by an old name": (lambda r: hr.evaluate(raw=PEOPLE, release=r), "Write data="),
    "condition by argument": (lambda r: r.count(aged=30), 'release.count({"aged": 30})'),
    "text as number": (lambda r: r.synthesize("5"), "Write n=5."),
    "attribute": (lambda r: r.age, "release['age']"),
    "groupby": (lambda r: r.groupby("age"), "release.table("),
    "total": (lambda r: r.total, "release.count_all()"),
    "synthesise": (lambda r: r.synthesise(3), "release.synthesize("),
    "frame of pandas": (lambda r: pd.DataFrame(r), "release.to_pandas()"),
    "load a dictionary": (lambda r: hr.Schema.load(SCHEMA), "Schema.of("),
    "classifier": (lambda r: hr.RegionClassifier(1), "from hedgerow.sklearn import"),
    "ledger": (lambda r: hr.Ledger("x"), "hedgerow.BudgetLedger(path)"),
    "version": (lambda r: hr.version, "hedgerow.__version__"),
    "infer": (lambda r: hr.infer_schema(PEOPLE), "hedgerow init"),
}


@pytest.mark.parametrize("name", TYPED)
def test_misuse_is_told_what_to_type(release: hr.Release, name: str) -> None:
    act, meant = TYPED[name]
    with pytest.raises((UsageError, AttributeError)) as caught:
        act(release)
    assert meant in str(caught.value)
    assert type(caught.value).__name__ in ("UsageError", "ArgumentError", "AttributeError")


# what is asked of everything else, with the names of the schema at hand

OTHER = {
    "name": "heights",
    "unit": "row",
    "attributes": {
        "town": {"type": "categorical", "values": ["Bern", "Zug"]},
        "height": {"type": "numeric", "low": 100, "high": 219, "step": 1},
        "ill": {"type": "categorical", "values": ["no", "yes"], "role": "class"},
    },
}
HEIGHTS = pd.DataFrame(
    {
        "town": draw.choice(["Bern", "Zug"], 300),
        "height": draw.integers(100, 219, 300),
        "ill": draw.choice(["no", "yes"], 300),
    }
)


class Asked:
    """A release of each kind, and what comes out of one."""

    def __init__(self, shop: hr.Release) -> None:
        self.schema = Schema.of(OTHER)
        self.release = hr.publish(HEIGHTS, OTHER, hr.DiffMulti(specializations=3), seed=1)
        given = {"epsilon": 2, "delta": "1e-3", "seed": 1}
        self.rows = hr.publish(HEIGHTS, OTHER, "supermodular", **given)
        self.shop = shop
        self.answers = self.release.count(["town = Bern", "height > 150"])
        self.answer = self.release.count("town = Bern")
        self.table = self.release.table("town")
        self.plan = hr.DiffMulti().plan(OTHER)


@pytest.fixture(scope="module")
def asked(shop: hr.Release) -> Asked:
    return Asked(shop)


PUBLISH = "hedgerow.publish(data, schema, method=hedgerow.DiffMulti(), epsilon=1)"
GUESSED: list[tuple[Callable[[Any], Any], str]] = [
    # classes
    (lambda g: hr.Release("folder"), 'hedgerow.Release.load("folder")'),
    (lambda g: hr.Release(), "hedgerow.Release.load(folder)"),
    (lambda g: hr.TableRelease("folder"), 'hedgerow.Release.load("folder")'),
    (lambda g: hr.Release.load(), "hedgerow.Release.load(path)"),
    (lambda g: hr.Release.load(3), "hedgerow.Release.load("),
    (lambda g: hr.Schema(), "name=..."),
    (lambda g: hr.Schema(name="x", columns=()), "attributes"),
    (lambda g: hr.Schema.load(), "path=..."),
    (lambda g: hr.Schema.of(), "schema=..."),
    (lambda g: hr.Query("town = Bern"), "Query.parse(text, schema)"),
    (lambda g: hr.Query.parse("town = Bern"), "schema=..."),
    (lambda g: hr.BudgetLedger(), 'hedgerow.BudgetLedger("clinic.ledger")'),
    (lambda g: hr.Database("duckdb:///x", "people"), "table=..."),
    # methods
    (lambda g: hr.DiffMulti().fit(PEOPLE), PUBLISH),
    (lambda g: hr.DiffMulti().publish(PEOPLE), PUBLISH),
    (lambda g: hr.DiffMulti().publish(PEOPLE, SCHEMA, epsilon=1), PUBLISH),
    (lambda g: hr.DiffMulti().fit_transform(PEOPLE), PUBLISH),
    (lambda g: hr.DiffMulti().run(PEOPLE, SCHEMA), PUBLISH),
    (lambda g: hr.DiffPart().publish(PEOPLE), "hedgerow.DiffPart()"),
    (lambda g: hr.DiffMulti().get_params(), "method.settings()"),
    (lambda g: hr.DiffMulti(3), "depth=..."),
    (lambda g: hr.DiffMulti().plan(), "plan(schema, epsilon=1)"),
    (lambda g: hr.DiffMulti().plan(SCHEMA, eps=1), "Write epsilon=1."),
    # functions
    (lambda g: hr.publish(), "data=..."),
    (lambda g: hr.publish(PEOPLE, SCHEMA, None, 1, 0, 3), "seed=..."),
    (lambda g: hr.verify(), "source=..."),
    (lambda g: hr.verify(PEOPLE), "hedgerow.verify(release)"),
    (lambda g: hr.sample.people(n=10), "Its arguments are rows, "),
    (lambda g: hr.sample.people("10"), "Write rows=10."),
    (lambda g: hr.evaluation.error_table(PEOPLE, g.release, []), "hedgerow.data.read("),
    (lambda g: hr.AccountBook, "hedgerow.BudgetLedger"),
    (lambda g: hr.BasketRelease, "hedgerow.TransactionsRelease"),
    (lambda g: hr.DiffMulti(generalisations=3), "Write specializations=3."),
    (lambda g: hr.Diffmulti, "did you mean DiffMulti?"),
    (lambda g: hr.publsh, "did you mean publish?"),
    (lambda g: hr.Numeric, "from hedgerow.schema import Numeric"),
    (lambda g: hr.UsageError, "hedgerow.errors.UsageError"),
    # schemas
    (lambda g: g.schema["hight"], "Did you mean height?"),
    (lambda g: g.schema[0], 'schema["town"]'),
    (lambda g: g.schema.height, 'schema["height"]'),
    (lambda g: g.schema.names, "list(schema)"),
    (lambda g: g.schema.save("schema.yaml"), 'schema.to_yaml("schema.yaml")'),
    (lambda g: g.schema.validate(PEOPLE), "hedgerow check"),
    (lambda g: g.shop.schema["tea"], "schema.items"),
    # releases
    (lambda g: g.release.query("x"), 'release.count("town = Bern")'),
    (lambda g: g.release.groupby("x"), 'release.table("town", "height")'),
    (lambda g: g.release.mean("x"), "Its numbers are height."),
    (lambda g: g.release[0], 'release.table("town")'),
    (lambda g: g.release.table("height", bins=10), "bins={name: [0, 18, 65]}"),
    (lambda g: g.release.table("town", top="x"), "Write top=1."),
    (lambda g: g.release.table("town", top=-1), "Write top=10"),
    (lambda g: g.release.table("town", simultaneous="yes"), "simultaneous=True"),
    (lambda g: g.release.predict(), "release.predict(rows)"),
    (lambda g: g.release.score(PEOPLE, PEOPLE), 'release.predict(rows)["ill"]'),
    (lambda g: g.release.save(), "release.save(folder)"),
    (lambda g: g.release.attributes, "release.schema.columns"),
    (lambda g: g.release.predict_prob, "did you mean predict_proba?"),
    (lambda g: g.rows.query("x"), 'release.count("town = Bern")'),
    (lambda g: g.rows.transform(PEOPLE), "release."),
    (lambda g: g.shop.query("x"), 'release.count({"bread", '),
    (lambda g: g.shop.tea, "release.count('tea')"),
    (lambda g: g.shop.groupby("x"), 'release.table("item", "item")'),
    (lambda g: g.shop.mean("tea"), "is not a numeric attribute"),
    (lambda g: g.shop.frequent(min_support=0.1), "k, level, kind"),
    (lambda g: g.shop.association_rules(), "release.rules()"),
    (lambda g: g.shop.table(["tea", "milk"]), "For tea, milk alone"),
    # answers, tables and plans
    (lambda g: float(g.answers), 'answers["estimate"]'),
    (lambda g: int(g.answers), "answers[0].estimate"),
    (lambda g: float(g.table), 'table["estimate"]'),
    (lambda g: g.answers > 100, 'answers["estimate"]'),
    (lambda g: 1 + g.answer, 'answers["estimate"]'),
    (lambda g: g.answers.sum(), 'answers["estimate"].sum()'),
    (lambda g: g.answers.upper, 'answers["high"]'),
    (lambda g: g.answers.spread_low, 'answers["uniformity_low"]'),
    (lambda g: g.answers["spread_low"], 'Write answers["uniformity_low"].'),
    (lambda g: g.shop.proportion("tea"), 'release.table("item", share=True)'),
    (lambda g: g.answers[["estimate", "low"]], "answers.to_pandas()[names]"),
    (lambda g: g.answers[1.0], "a list of places"),
    (lambda g: g.table["Bern"], 'set_index("town").loc["Bern"]'),
    (lambda g: g.table.largest("x"), "Write number=1."),
    (lambda g: g.release["height"].largest(2).mean(), 'table["estimate"].mean()'),
    (lambda g: g.table.plot(kind="bar"), "Its arguments are ax."),
    (lambda g: g.plan.epsilon, "plan.budget.epsilon"),
    (lambda g: g.plan.run(PEOPLE), "hedgerow.publish(data, schema, method, epsilon)"),
    (lambda g: g.plan.to_pandas(), "pandas.DataFrame(plan.lines())"),
]


@pytest.mark.parametrize("place", range(len(GUESSED)))
def test_guesses_are_told_what_to_type(asked: Asked, place: int) -> None:
    act, meant = GUESSED[place]
    with pytest.raises((UsageError, AttributeError)) as caught:
        act(asked)
    assert meant in str(caught.value)
    assert type(caught.value).__name__ in ("UsageError", "ArgumentError", "AttributeError")


def test_hints_name_columns_that_are_there(asked: Asked) -> None:
    """The examples of a hint work as they stand."""
    for release, names in ((asked.release, ["query", "table"]), (asked.shop, ["query", "table"])):
        for name in names:
            meant = release._suggest(name).split(", or ")[0]
            assert len(eval(meant, {"release": release})) > 0


def test_commands_in_hints_can_be_typed() -> None:
    from typer.main import get_command

    from hedgerow import suggestions
    from hedgerow.cli import app

    known: Any = get_command(app)

    tables = [one for one in vars(suggestions).values() if isinstance(one, dict)]
    told = [text for table in tables for text in table.values() if isinstance(text, str)]
    typed = {line for text in told for line in re.findall(r"`hedgerow ([^`]+)`", text)}
    assert len(typed) >= 7
    for line in typed:
        name, *words = line.format(method="diffmulti").split()
        known.commands[name].make_context(name, words)


def test_one_answer_is_a_number(asked: Asked) -> None:
    estimate = asked.answer["estimate"][0]
    assert float(asked.answer) == estimate and int(asked.answer) == round(estimate)
    assert f"{asked.answer:.1f}" == f"{estimate:.1f}" and round(asked.answer, 1) == round(
        estimate, 1
    )
    assert f"{asked.answer}" == repr(asked.answer)


def test_a_schema_is_asked_by_names(asked: Asked) -> None:
    assert list(asked.schema) == ["town", "height", "ill"] and len(asked.schema) == 3
    assert "height" in asked.schema and "hight" not in asked.schema and None not in asked.schema
    assert asked.schema["height"] is asked.schema.attributes[1]
    assert asked.schema["ill"] is asked.schema.target
    assert "tea" in asked.shop.schema and "tea" in asked.shop and "te" not in asked.shop
    assert len(asked.shop.schema) == len(list(asked.shop.schema)) == 24
    assert hasattr(asked.schema, "name") and not hasattr(asked.schema, "save")
    assert pickle.loads(pickle.dumps(asked.schema)) == copy.copy(asked.schema) == asked.schema


def test_queries_are_drawn_for_a_dictionary() -> None:
    assert len(hr.evaluation.random_queries(SCHEMA, 3, seed=1)) == 3


def test_estimators_are_told_what_to_type() -> None:
    pytest.importorskip("sklearn")
    from hedgerow.sklearn import RegionClassifier, Synthesizer

    X, y = HEIGHTS[["town", "height"]], HEIGHTS["ill"]
    model, rows = RegionClassifier(schema=OTHER), Synthesizer(schema=OTHER)
    guesses: list[tuple[Callable[[], Any], str]] = [
        (lambda: model.fit(X), "model.fit(X, y)"),
        (lambda: model.sample(3), "model.release_.synthesize(1000)"),
        (lambda: rows.generate(3), "model.release_.synthesize(1000)"),
        (lambda: rows.save("x"), "model.release_.save(folder)"),
        (lambda: RegionClassifier(OTHER).fit(X, y), "schema=..."),
        (lambda: RegionClassifier(seed=1), "Write random_state=1."),
    ]
    for act, meant in guesses:
        with pytest.raises((UsageError, AttributeError)) as caught:
            act()
        assert meant in str(caught.value)
    with pytest.raises(hr.errors.DataError, match="if X holds text, write schema=") as refused:
        RegionClassifier(bounds=(0, 300), classes=["no", "yes"]).fit(X, y)
    assert "Bern" not in str(refused.value) and "Zug" not in str(refused.value)
