"""Lines that users of pandas, scikit-learn, OpenDP and SDV type before they read anything.

Two sets of sixty, collected apart. What does not work says the line to write.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")

import hedgerow as hr  # noqa: E402

SIXTY: dict[str, str | None] = {
    # opening, looking
    'hr.load("release")': None,
    'hr.Release.load("release")': None,
    "print(r)": None,
    "r.shape": None,
    "r.columns": None,
    "r.head()": None,
    "len(r)": None,
    '"age" in r': None,
    "r.epsilon + r.delta": None,
    "r.method, r.schema": None,
    # publishing
    "hr.publish(df, schema, epsilon=1.0)": None,
    'hr.publish(df, schema, method="diffgen", epsilon=0.5)': None,
    "hr.publish(df, schema, hr.Marginals(), epsilon=1, delta=1e-6)": None,
    "hr.publish(df, schema, eps=1)": "Write epsilon=1",
    "hr.publish(df, epsilon=1)": 'Write schema="schema.yaml"',
    "hr.Marginals(epsilon=1).fit(df)": "hedgerow.publish(data, schema, method, epsilon=1)",
    # the schema: the metadata of SDV
    "hr.Schema.draft(df)": None,
    "hr.Schema.from_pandas(df)": None,
    'schema.to_yaml("schema.yaml")': None,
    'hr.Schema.load("schema.yaml")': None,
    # counts
    'r.count("age < 50")': None,
    "r.count(\"age >= 30 and sex == 'female'\")": None,
    'r.count({"sex": "female"})': None,
    'int(r.count("smoker = yes"))': None,
    'r.query("age > 50")': "release.count(",
    # tables
    'r["sex"]': None,
    'r.table("age")': None,
    'r.table(["sex", "readmitted"])': None,
    'r.table(["sex", "readmitted"]).pivot()': None,
    'r.table("age", by="sex")': None,
    'r.table("age", by="sex", share=True).pivot()': None,
    'r.table("age", bins={"age": [18, 40, 65]})': None,
    'r.value_counts("sex")': None,
    'r.value_counts("sex", normalize=True)': None,
    'r.crosstab("sex", "readmitted")': None,
    'r.table("sex").sort_values("estimate", ascending=False)': None,
    'r.table("sex").set_index("sex").estimate': None,
    'r.table("sex").to_csv("sex.csv")': None,
    'r.groupby("sex").mean()': 'release.table("age", "sex")',
    # summaries
    'r.mean("age")': None,
    'r.mean("age", by="sex")': None,
    'r.mean("age", where="sex = female")': None,
    'r.median("age")': None,
    'r.quantile("age", [0.25, 0.5, 0.75])': None,
    'r.sum("visits", by="sex")': None,
    # rows
    "r.sample(1000)": None,
    "r.sample(n=1000, random_state=0)": None,
    "r.synthesize(1000, random_state=0)": None,
    "r.to_pandas()": None,
    "r.predict(df)": None,
    # out of it
    'r.plot("age")': None,
    'ax = r.plot("age", by="sex"); ax.set_title("Age by sex")': None,
    'r.to_excel("r.xlsx")': None,
    'r.to_html("r.html")': None,
    'r.to_csv("rows.csv", index=False)': None,
    'r.save("release", overwrite=True)': None,
    # trust
    'assert hr.verify("private")': None,
    "assert not hr.verify(r)": None,
    "hr.evaluate(df, r).to_frame()": None,
    "hr.compare([r, again]).to_frame()": None,
}

OTHERS: dict[str, str | None] = {
    "from hedgerow import load, publish, Schema": None,
    # looking
    "r.describe()": None,
    "r.info()": None,
    "str(r), repr(r), r._repr_html_()": None,
    'r.schema["age"]': None,
    "r.dtypes": None,
    "r.summary()": "release.describe()",
    'r == hr.load("release")': None,
    "import pickle; pickle.loads(pickle.dumps(r))": None,
    # counts
    "r.count(\"age > 50 & sex == 'female'\")": None,
    "r.count(\"age > 50 and sex != 'female'\")": None,
    'r.count("not smoker")': None,
    'r.count("smoker and age > 50")': None,
    'r.count("age > 50 and not smoker")': None,
    'r.count("age not in [30, 50]")': None,
    'r.count("age between 30 and 50")': "age in [30, 50]",
    'r.count({"age": (30, 50)})': None,
    'r.count({"sex": ["female", "male"]})': None,
    'r.count(["age > 50", "age > 60"])': None,
    "r.count(age=50)": 'release.count({"age": 50})',
    'r.count("age > 50").low, r.count("age > 50").high': None,
    "f\"{r.count('age > 50'):.1f}\"": None,
    'round(r.count("age > 50"))': None,
    'float(r.count("age > 50")) / float(r.count_all())': None,
    # tables
    'r["age", "sex"]': None,
    'r[["age", "sex"]]': None,
    'r.table("age").head()': None,
    'r.table("age").to_frame()': None,
    'pd.DataFrame(r.table("age"))': None,
    'r.table("age")["estimate"].sum()': None,
    'r.table("age", "sex").pivot().plot()': None,
    'r.table(["age", "sex"]).unstack()': None,
    'r.table("sex", normalize=True)': "Write share=True",
    'r.table("sex", where="age > 50")': None,
    'r.table("sex").query("estimate > 100")': None,
    'for row in r.table("sex"): print(row)': None,
    'r.table("sex").plot()': None,
    # summaries
    'r.median("age", by="sex")': None,
    'r.mean("age", by=["sex", "smoker"])': None,
    'r.mean("smoker")': 'release.table("smoker", share=True)',
    'r.corr("age", "sex")': 'release.table("age", "sex")',
    # rows
    "r.sample(10, random_state=42)": None,
    'X = r.sample(500).drop(columns="readmitted"); r.predict(X)': None,
    "r.predict_proba(r.sample(50, seed=1))": None,
    'r.to_pandas().groupby("sex").size()': None,
    'r.to_parquet("rows.parquet")': None,
    "r.to_json()": None,
    "r.to_frame(), r.to_polars(), r.to_arrow()": None,
    'import matplotlib.pyplot as plt; r.plot("age", by="sex", ax=plt.gca())': None,
    # trust
    'hr.verify("private").ok': None,
    'hr.verify("private", raise_on_failure=True)': None,
    'hr.verify("release").checks': None,
    # publishing
    'hr.publish(df, "schema.yaml", epsilon=1)': None,
    'hr.publish("people.csv", "schema.yaml", epsilon=1)': None,
    "hr.publish(df, schema, hr.DiffGen, epsilon=1)": None,
    'hr.publish(df, schema, "DiffMulti", epsilon=1)': None,
    "schema.attributes, schema.to_dict()": None,
    'hr.Schema.draft("people.csv")': None,
    'hr.evaluate("people.csv", "release").to_frame()': None,
    'hr.compare(["release", r]).to_frame()': None,
}


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    people, schema = hr.sample.people(600, seed=3), hr.sample.schema()
    df = people.to_pandas()
    r, again = (hr.publish(df, schema, epsilon=4, seed=seed) for seed in (1, 2))
    folder: Path = tmp_path_factory.mktemp("sixty")
    r.save(folder / "release")
    hr.publish(df, schema, epsilon=4, out=folder / "private")
    schema.to_yaml(folder / "schema.yaml")
    df.to_csv(folder / "people.csv", index=False)
    return {"hr": hr, "pd": pd, "df": df, "schema": schema, "r": r, "again": again, "at": folder}


@pytest.mark.parametrize("lines", [SIXTY, OTHERS], ids=["one", "other"])
def test_there_are_sixty_and_most_work(lines: dict[str, str | None]) -> None:
    assert len(lines) == 60 and sum(answer is None for answer in lines.values()) >= 54


@pytest.mark.parametrize("line", SIXTY | OTHERS)
def test_a_line(line: str, typed: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(typed["at"])
    answer = (SIXTY | OTHERS)[line]
    if answer is None:
        exec(line, dict(typed))
        return
    with pytest.raises((hr.errors.UsageError, AttributeError)) as caught:
        exec(line, dict(typed))
    assert answer in str(caught.value)
