"""Lines that users of pandas, scikit-learn, OpenDP and SDV type before they read anything.

Three sets of sixty, collected apart. Behind each line stands what must be true of its value, `_`;
or, as `Says`, what it is answered with: the line to write. One is refused by pandas.
"""

from __future__ import annotations

import ast
import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")

import hedgerow as hr  # noqa: E402


class Says(str):
    """What an error says."""


class Foreign(str):
    """The error of another library, which names no line to write."""


SIXTY: dict[str, str] = {
    # opening, looking
    'hr.load("release")': "_ == r",
    'hr.Release.load("release")': "_ == r",
    "print(r)": "_ is None",
    "r.shape": "_ == (round(r.count_all()), len(df.columns) - 1)",
    "r.columns": "list(_) == list(schema)",
    "r.head()": "len(_) == 5 and list(_) == list(schema)",
    "len(r)": "_ == round(r.count_all()) and near(_, 600)",
    '"age" in r': "_ is True",
    "r.epsilon + r.delta": "_ == 4.0",
    "r.method, r.schema": "_ == ('marginals', schema)",
    # publishing
    "hr.publish(df, schema, epsilon=1.0)": "_.epsilon == 1 and _.guarantee['private']",
    'hr.publish(df, schema, method="diffgen", epsilon=0.5)':
        "_.method == 'diffgen' and _.epsilon == 0.5",
    "hr.publish(df, schema, hr.Marginals(), epsilon=1, delta=1e-6)": "_.delta == 1e-6",
    "hr.publish(df, schema, eps=1)": Says("Write epsilon=1"),
    "hr.publish(df, epsilon=1)": Says('Write schema="schema.yaml"'),
    "hr.Marginals(epsilon=1).fit(df)": Says("hedgerow.publish(data, schema, method, epsilon=1)"),
    # the schema: the metadata of SDV
    "hr.Schema.draft(df)": "'age' in _ and not _.is_signed_off",
    "hr.Schema.from_pandas(df)": "'age' in _ and not _.is_signed_off",
    'schema.to_yaml("schema.yaml")': "hr.Schema.load('schema.yaml') == schema",
    'hr.Schema.load("schema.yaml")': "_ == schema",
    # counts
    'r.count("age < 50")': "near(_, (df.age < 50).sum())",
    "r.count(\"age >= 30 and sex == 'female'\")":
        "near(_, ((df.age >= 30) & (df.sex == 'female')).sum())",
    'r.count({"sex": "female"})': "near(_, (df.sex == 'female').sum())",
    'int(r.count("smoker = yes"))': "near(_, truths(df.smoker).sum())",
    'r.query("age > 50")': Says("release.count("),
    # tables
    'r["sex"]': "close(_.estimate, sizes(['sex']))",
    'r.table("age")': "near(_['estimate'].sum(), 600)",
    'r.table(["sex", "readmitted"])': "close(_.estimate, sizes(['sex', 'readmitted']))",
    'r.table(["sex", "readmitted"]).pivot()':
        "_.shape == (3, 2) and near(_.loc['female', 'no'], sizes(['sex', 'readmitted'])[0])",
    'r.table("age", by="sex")': "near(_['estimate'].sum(), 600)",
    'r.table("age", by="sex", share=True).pivot()': "close(_.sum(), 1, 1e-6)",
    'r.table("age", bins={"age": [18, 40, 65]})': "len(_) == 3 and near(_['estimate'].sum(), 600)",
    'r.value_counts("sex")': "close(_.estimate, sizes(['sex']))",
    'r.value_counts("sex", normalize=True)': "close(_.estimate, sizes(['sex']) / 600, 0.05)",
    'r.crosstab("sex", "readmitted")': "close(_.estimate, sizes(['sex', 'readmitted']))",
    'r.table("sex").sort_values("estimate", ascending=False)':
        "list(_.sex) == ['female', 'male', 'other']",
    'r.table("sex").set_index("sex").estimate': "close(_, sizes(['sex']))",
    'r.table("sex").to_csv("sex.csv")': "close(pd.read_csv('sex.csv').estimate, sizes(['sex']))",
    'r.groupby("sex").mean()': Says('release.table("age", "sex")'),
    # summaries
    'r.mean("age")': "near(_, df.age.mean(), 3)",
    'r.mean("age", by="sex")': "near(_[0].estimate, df.groupby('sex').age.mean()['female'], 3)",
    'r.mean("age", where="sex = female")': "near(_, df[df.sex == 'female'].age.mean(), 3)",
    'r.median("age")': "near(_, df.age.median(), 4)",
    'r.quantile("age", [0.25, 0.5, 0.75])':
        "close(_.estimate, df.age.quantile([0.25, 0.5, 0.75]), 5)",
    'r.sum("visits", by="sex")': "near(_['estimate'].sum(), df.visits.sum(), 250)",
    # rows
    "r.sample(1000)": "len(_) == 1000",
    "r.sample(n=1000, random_state=0)": "_.equals(r.sample(n=1000, seed=0))",
    "r.synthesize(1000, random_state=0)": "_.equals(r.synthesize(n=1000, seed=0))",
    "r.to_pandas()": "close(_.groupby('readmitted').size(), r['readmitted'].estimate, 2)",
    "r.predict(df)": "(_.readmitted == df.readmitted).mean() > 0.75",
    # out of it
    'r.plot("age")': "len(_.containers) and near(sum(b.get_height() for b in _.patches), 600)"
        " or near(sum(b.get_width() for b in _.patches), 600)",
    'ax = r.plot("age", by="sex"); ax.set_title("Age by sex")': "ax.get_title() == 'Age by sex'",
    'r.to_excel("r.xlsx")': "at.joinpath('r.xlsx').read_bytes()[:2] == b'PK'",
    'r.to_html("r.html")': "at.joinpath('r.html').read_text('utf-8') == _",
    'r.to_csv("rows.csv", index=False)':
        "close(pd.read_csv('rows.csv').groupby('sex').size(), r['sex'].estimate, 2)",
    'r.save("release", overwrite=True)': "hr.load('release') == r",
    # trust
    'assert hr.verify("private")': "True",
    "assert not hr.verify(r)": "True",
    "hr.evaluate(df, r).to_frame()": "len(_) > 5",
    "hr.compare([r, again]).to_frame()": "_.shape[1] == 2 and list(_.loc['epsilon']) == ['4', '4']",
}  # fmt: skip

OTHERS: dict[str, str] = {
    "from hedgerow import load, publish, Schema": "load is hr.load and Schema is hr.Schema",
    # looking
    "r.describe()": "_.parts == 'tables'",
    "r.info()": "_ is None",
    "str(r), repr(r), r._repr_html_()": "'epsilon=4' in _[0] and '<table>' in _[2]",
    'r.schema["age"]': "_.low == 18",
    "r.dtypes": "list(_.index) == list(schema)",
    "r.summary()": "_ == r.describe()",
    'r == hr.load("release")': "_ is True",
    "import pickle; pickle.loads(pickle.dumps(r))": "pickle.loads(pickle.dumps(r)) == r",
    # counts
    "r.count(\"age > 50 & sex == 'female'\")":
        "near(_, ((df.age > 50) & (df.sex == 'female')).sum())",
    "r.count(\"age > 50 and sex != 'female'\")":
        "near(_, ((df.age > 50) & (df.sex != 'female')).sum())",
    'r.count("not smoker")': "near(_, (~truths(df.smoker)).sum())",
    'r.count("smoker and age > 50")': "near(_, (truths(df.smoker) & (df.age > 50)).sum())",
    'r.count("age > 50 and not smoker")': "near(_, (~truths(df.smoker) & (df.age > 50)).sum())",
    'r.count("age not in [30, 50]")': "near(_, (~df.age.between(30, 50)).sum())",
    'r.count("age between 30 and 50")': Says("age in [30, 50]"),
    'r.count({"age": (30, 50)})': "near(_, df.age.between(30, 50).sum())",
    'r.count({"sex": ["female", "male"]})': "near(_, df.sex.isin(['female', 'male']).sum())",
    'r.count(["age > 50", "age > 60"])':
        "close(_.estimate, [(df.age > 50).sum(), (df.age > 60).sum()])",
    "r.count(age=50)": "near(_, (df.age == 50).sum())",
    'r.count("age > 50").low, r.count("age > 50").high':
        "_[0][0] <= (df.age > 50).sum() <= _[1][0]",
    "f\"{r.count('age > 50'):.1f}\"": "near(float(_), (df.age > 50).sum())",
    'round(r.count("age > 50"))': "near(_, (df.age > 50).sum())",
    'float(r.count("age > 50")) / float(r.count_all())': "near(_, (df.age > 50).mean(), 0.05)",
    # tables
    'r["age", "sex"]': "near(_['estimate'].sum(), 600)",
    'r[["age", "sex"]]': "near(_['estimate'].sum(), 600)",
    'r.table("age").head()': "len(_) == 5 and list(_)[:2] == ['age', 'estimate']",
    'r.table("age").to_frame()': "near(_.estimate.sum(), 600)",
    'pd.DataFrame(r.table("age"))': "near(_.estimate.sum(), 600)",
    'r.table("age")["estimate"].sum()': "near(_, 600)",
    'r.table("age", "sex").pivot().plot()': "len(_.lines) == 3",
    'r.table(["age", "sex"]).unstack()': "near(_['estimate'].sum(), 600)",
    'r.table("sex", normalize=True)': Says("Write share=True"),
    'r.table("sex", where="age > 50")': "close(_.estimate, sizes(['sex'], df[df.age > 50]))",
    'r.table("sex").query("estimate > 100")': "list(_.sex) == ['female', 'male']",
    'for row in r.table("sex"): print(row)': "row.sex == 'other'",
    'r.table("sex").plot()': "len(_.containers) == 1",
    # summaries
    'r.median("age", by="sex")': "near(_[0].estimate, df.groupby('sex').age.median()['female'], 5)",
    'r.mean("age", by=["sex", "smoker"])': "len(_) == 6",
    'r.mean("smoker")': Says('release.table("smoker", share=True)'),
    'r.corr("age", "sex")': Says('release.table("age", "sex")'),
    # rows
    "r.sample(10, random_state=42)": "_.equals(r.sample(10, seed=42))",
    'X = r.sample(500).drop(columns="readmitted"); r.predict(X)': "len(r.predict(X)) == 500",
    "r.predict_proba(r.sample(50, seed=1))": "close(_.no + _.yes, 1, 1e-6)",
    'r.to_pandas().groupby("sex").size()': "close(_, r['sex'].estimate, 2)",
    'r.to_parquet("rows.parquet")': "len(pd.read_parquet('rows.parquet')) == len(r)",
    "r.to_json()": "len(json.loads(_)['age']) == len(r)",
    "r.to_frame(), r.to_polars(), r.to_arrow()":
        "len(_[0]) == _[1].height == _[2].num_rows == len(r)",
    'import matplotlib.pyplot as plt; r.plot("age", by="sex", ax=plt.gca())':
        "plt.gca().containers",
    # trust
    'hr.verify("private").ok': "_ is True",
    'hr.verify("private", raise_on_failure=True)': "bool(_)",
    'hr.verify("release").checks': "[one.name for one in _ if not one.ok] == ['private']",
    # publishing
    'hr.publish(df, "schema.yaml", epsilon=1)': "_.schema == schema",
    'hr.publish("people.csv", "schema.yaml", epsilon=1)': "_.schema == schema",
    "hr.publish(df, schema, hr.DiffGen, epsilon=1)": "_.method == 'diffgen'",
    'hr.publish(df, schema, "DiffMulti", epsilon=1)': "_.method == 'diffmulti'",
    "schema.attributes, schema.to_dict()": "hr.Schema.from_dict(_[1]) == schema",
    'hr.Schema.draft("people.csv")': "'age' in _ and not _.is_signed_off",
    'hr.evaluate("people.csv", "release").to_frame()': "len(_) > 5",
    'hr.compare(["release", r]).to_frame()':
        "_.shape[1] == 2 and list(_.loc['epsilon']) == ['4', '4']",
}  # fmt: skip


THIRD: dict[str, str] = {
    # schemas
    'schema = hr.Schema.from_yaml("schema.yaml")': "schema == r.schema",
    'schema = hr.Schema.load("schema.yaml")': "schema == r.schema",
    "schema = hr.Schema.from_dataframe(df)": "'age' in schema and not schema.is_signed_off",
    "schema.columns": "[one.name for one in _] == list(schema)",
    'schema["age"].bounds': "_ == (18, 99)",
    "schema.validate(df)": Says("hedgerow check schema.yaml --data"),
    'schema.to_yaml("schema_copy.yaml")': "hr.Schema.load('schema_copy.yaml') == schema",
    # publishing
    "r = hr.publish(df, schema, epsilon=1.0)": "r.epsilon == 1 and r.guarantee['private']",
    'r = hr.publish(df, "schema.yaml", epsilon=1.0, delta=1e-6, seed=42)':
        "r.delta == 1e-6 and not r.guarantee['private']",
    'r = hr.publish("people.csv", "schema.yaml", epsilon=0.5, target="readmitted")':
        Says("role: class"),
    'hr.publish(df, schema, epsilon=2.0).save("another/")': "hr.load('another').epsilon == 2",
    'r = hr.load("release/")': "r.epsilon == 4",
    # looking
    "print(r)": "_ is None",
    "r.summary()": "_ == r.describe()",
    "r.describe()": "_.parts == 'tables'",
    "r.info()": "_ is None",
    "r.epsilon": "_ == 4",
    "len(r)": "near(_, 600)",
    "r.columns": "list(_) == list(schema)",
    "r.shape": "_ == (len(r), len(df.columns) - 1)",
    "r.head()": "len(_) == 5 and list(_) == list(schema)",
    # counts
    "r.count()": "near(_, 600)",
    "r.count(\"age > 65 and smoker == 'yes'\")":
        "near(_, ((df.age > 65) & truths(df.smoker)).sum())",
    'r.count(smoker="yes", sex="female")':
        "near(_, (truths(df.smoker) & (df.sex == 'female')).sum())",
    'r.query("age >= 40").count(confidence=0.95)': Says("release.count("),
    'r["smoker"].value_counts(normalize=True)':
        "near(_['estimate'][1], truths(df.smoker).mean(), 0.05)",
    # tables
    'r.crosstab("smoker", "readmitted")':
        "near(_['estimate'][3], (truths(df.smoker) & (df.readmitted == 'yes')).sum())",
    'r.table(["sex", "occupation"])': "near(_['estimate'].sum(), 600)",
    'r.groupby("sex")["bmi"].mean()': Says('release.mean("age", by="sex")'),
    'r.groupby(["home", "smoker"]).size().unstack()': Says('release.table("age", "sex").pivot()'),
    'r.pivot_table(index="occupation", columns="sex", values="bmi", aggfunc="mean")':
        Says('release.mean("age", by="sex")'),
    # summaries
    'r.mean("bmi")': "near(_, df.bmi.mean(), 2)",
    'r["age"].mean()': "float(_) == float(r.mean('age')) and near(_, df.age.mean(), 3)",
    'r.mean("visits", by="smoker", where="age < 50")':
        "close(_.estimate, df[df.age < 50].groupby('smoker').visits.mean(), 1)",
    'r.median("age")': "near(_, df.age.median(), 4)",
    'r.quantile("bmi", [0.25, 0.5, 0.75])':
        "close(_.estimate, df.bmi.quantile([0.25, 0.5, 0.75]), 2)",
    'r["visits"].quantile(0.9)': "near(_, df.visits.quantile(0.9), 1)",
    'r.confidence_interval("bmi", level=0.95)': Says('release.mean("age", level=0.95)'),
    'r.std("bmi")': Says('release.to_pandas()["age"].std()'),
    "r.corr()": Says("release.to_pandas().corr(numeric_only=True)"),
    'r.histogram("age", bins=10)': Says('release.table("age", bins={"age": [...]})'),
    # rows
    "synth = r.sample(1000, random_state=0)": "len(synth) == 1000",
    "synth = r.synthesize(n=len(df))": "synth.num_rows == len(df)",
    'r.sample(500).to_csv("synthetic.csv", index=False)':
        "list(pd.read_csv('synthetic.csv')) == list(schema)",
    "r.to_pandas()": "close(_.groupby('sex').size(), r['sex'].estimate, 2)",
    'r.predict({"age": 70, "sex": "female", "smoker": "yes", "bmi": 31.2})':
        Says("pandas.DataFrame([data])"),
    'r.predict_proba(df.drop(columns="readmitted"))[:, 1]': Foreign("InvalidIndexError"),
    'r.score(df.drop(columns=["readmitted"]), df["readmitted"])':
        Says('(release.predict(rows)["readmitted"] == truth).mean()'),
    'r.plot("age")': "near(sum(b.get_height() for b in _.patches), 600)"
        " or near(sum(b.get_width() for b in _.patches), 600)",
    'r.plot.hist(column="bmi", by="sex")': Says("plot(one, by=two)"),
    # trust
    "r.compare(df)": Says("hedgerow.evaluate(data, release)"),
    'r.compare(df, columns=["age", "smoker"]).plot()': Says("hedgerow.evaluate(data, release)"),
    'hr.verify("private/")': "bool(_)",
    'ledger = hr.Ledger("ledger.json", budget=3.0); ledger.remaining':
        Says("hedgerow.BudgetLedger(path), and .open(name, epsilon=3)"),
    "r = hr.publish(df, schema, epsilon=0.5, ledger=ledger)":
        "ledger.accounts()[0].left[0] == 2.5",
    "plan = hr.plan(schema, epsilon=1.0, n=len(df)); print(plan.expected_error())":
        Says("hedgerow.Marginals().plan(schema, epsilon=1)"),
    "from hedgerow.sklearn import HedgerowClassifier":
        Says("from hedgerow.sklearn import RegionClassifier"),
    # transactions
    'b = hr.publish_transactions([{"bread", "milk"}, {"beer"}, {"milk", "eggs"}], epsilon=1.0)':
        Says('hedgerow.publish(pandas.DataFrame({"items": baskets}), schema, epsilon=1)'),
    "b.frequent_itemsets(min_support=0.05)": Says("release.frequent(20)"),
    'b.support({"bread", "milk"})': Says("release.count({"),
}  # fmt: skip


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    people, schema = hr.sample.people(600, seed=3), hr.sample.schema()
    df = people.to_pandas()
    r, again = (hr.publish(df, schema, epsilon=4, seed=seed) for seed in (1, 2))
    folder: Path = tmp_path_factory.mktemp("sixty")
    r.save(folder / "release")
    r = hr.load(folder / "release")
    hr.publish(df, schema, epsilon=4, out=folder / "private")
    baskets = pd.DataFrame({"items": hr.sample.transactions(300)})
    ledger = hr.BudgetLedger(folder / "clinic.ledger")
    ledger.open(schema.name, epsilon=3)
    schema.to_yaml(folder / "schema.yaml")
    df.to_csv(folder / "people.csv", index=False)

    def close(ours: Any, theirs: Any, room: float = 30) -> bool:
        return bool((np.abs(np.asarray(ours, float) - np.asarray(theirs, float)) <= room).all())

    def sizes(by: list[str], rows: Any = df) -> Any:
        labels = {"sex": ["female", "male", "other"], "readmitted": ["no", "yes"]}
        cells = product(*(labels[name] for name in by))
        return np.array([(rows[by] == list(cell)).all(axis=1).sum() for cell in cells])

    def truths(column: Any) -> Any:
        return column.astype(str).str.lower().isin(["true", "yes"])

    return {
        "hr": hr, "pd": pd, "json": json, "df": df, "schema": schema, "r": r, "again": again,
        "at": folder, "close": close, "ledger": ledger,
        "b": hr.publish(baskets, hr.sample.shop_schema(), epsilon=4, seed=1),
        "near": lambda one, other, room=30: close(float(one), other, room),
        "sizes": sizes, "truths": truths,
    }  # fmt: skip


@pytest.mark.parametrize(("lines", "works"), [(SIXTY, 55), (OTHERS, 56), (THIRD, 38)])
def test_there_are_sixty_and_so_many_work(lines: dict[str, str], works: int) -> None:
    answered = [one for one in lines.values() if isinstance(one, Says | Foreign)]
    assert len(lines) == 60 and len(answered) == 60 - works


@pytest.mark.parametrize("line", SIXTY | OTHERS | THIRD)
def test_a_line(line: str, typed: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(typed["at"])
    answer, names = (SIXTY | OTHERS | THIRD)[line], dict(typed)
    if isinstance(answer, Foreign):
        with pytest.raises(getattr(pd.errors, answer)):
            exec(line, names)
        return
    if not isinstance(answer, Says):
        exec(f"_ = {line}" if _is_value(line) else line, names)
        assert eval(answer, names)
        return
    with pytest.raises((hr.errors.UsageError, AttributeError, ImportError)) as caught:
        exec(line, names)
    assert answer in str(caught.value)


def _is_value(line: str) -> bool:
    """Whether a line is one expression, which has a value."""
    body = ast.parse(line).body
    return len(body) == 1 and isinstance(body[0], ast.Expr)
