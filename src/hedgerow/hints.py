"""By what people write who know frames and estimators: what to write here.

`{one}` and its like are filled in by the object that is asked, with names of its own schema.
"""

from __future__ import annotations

__all__ = [
    "ARGUMENTS",
    "ESTIMATOR",
    "FRAME_METHODS",
    "FRAME_PROPERTIES",
    "ITEMS",
    "LEDGER",
    "METHOD",
    "MODULE",
    "PLAN",
    "RELEASE",
    "ROWS",
    "SCHEMA",
]

ARGUMENTS = {
    "confidence": "level",
    "confidence_level": "level",
    "data": "source",
    "df": "source",
    "eps": "epsilon",
    "n_samples": "n",
    "n": "rows",
    "num_rows": "n",
    "output": "out",
    "path": "out",
    "random_seed": "seed",
    "random_state": "seed",
    "rng": "seed",
    "rows": "n",
    "seed": "random_state",
    "size": "n",
}
"""What other libraries call an argument, and what it is called here."""

_DRAFT = "`hedgerow init people.csv` in a terminal, which drafts a schema"
_LOAD = "hedgerow.Release.load(path)"
_FILE = 'hedgerow.Schema.load("schema.yaml")'
_SAVED = 'pathlib.Path("schema.yaml").write_text(schema.to_yaml())'
_EPSILON = 'release.guarantee["epsilon"]'
_PUBLISH = "hedgerow.publish(data, schema)"
_READ = "hedgerow.publish(path, schema): it reads CSV and Parquet itself"
_REPORT = "`hedgerow report release/ --out report.html` in a terminal"
_ROWS = "release.synthesize(1000)"
_ALL = "release.count_all()"

MODULE = {
    "METHODS": "hedgerow.methods.METHODS after `import hedgerow.methods`",
    "Answers": "release.count(query), which gives answers",
    "Attribute": "`from hedgerow.schema import Categorical, Numeric`",
    "Budget": "hedgerow.publish(data, schema, epsilon=1)",
    "Categorical": "`from hedgerow.schema import Categorical`",
    "CountTable": "release.table(attribute), which gives a table",
    "DataFrame": "hedgerow.publish(data, schema): it takes frames of pandas, Polars and Arrow",
    "HedgerowError": "hedgerow.errors.HedgerowError",
    "Ledger": "hedgerow.BudgetLedger(path)",
    "Numeric": "`from hedgerow.schema import Numeric`",
    "Plan": "hedgerow.Marginals().plan(schema, epsilon=1)",
    "RegionClassifier": "`from hedgerow.sklearn import RegionClassifier`",
    "Synthesizer": "`from hedgerow.sklearn import Synthesizer`",
    "Table": "release.table(attribute), which gives a table",
    "UsageError": "hedgerow.errors.UsageError",
    "anonymise": _PUBLISH,
    "anonymize": _PUBLISH,
    "audit": "`hedgerow audit --method diffmulti` in a terminal",
    "check": "`hedgerow check schema.yaml` in a terminal",
    "compare": "`hedgerow evaluate people.csv release/` in a terminal; it is not private",
    "count": "release.count(query)",
    "datasets": "hedgerow.sample.people(1000), a simulated table",
    "demo": "`python -m hedgerow.sample .` in a terminal, which writes a sample",
    "draft": _DRAFT,
    "epsilon": "hedgerow.publish(data, schema, epsilon=1)",
    "fit": _PUBLISH,
    "fit_transform": _PUBLISH,
    "from_pandas": "hedgerow.publish(data, schema): it takes frames of pandas, Polars and Arrow",
    "generalize": _PUBLISH,
    "infer_schema": _DRAFT,
    "init": _DRAFT,
    "list_methods": "hedgerow.methods.METHODS after `import hedgerow.methods`",
    "load": _LOAD,
    "load_dataset": "hedgerow.sample.people(1000), a simulated table",
    "load_release": _LOAD,
    "load_schema": _FILE,
    "open": _LOAD,
    "plan": "hedgerow.Marginals().plan(schema, epsilon=1)",
    "query": "release.count(query)",
    "read": _LOAD,
    "read_csv": _READ,
    "read_excel": "hedgerow.publish(path, schema): it reads workbooks itself",
    "read_parquet": _READ,
    "read_release": _LOAD,
    "report": _REPORT,
    "sample_rows": _ROWS,
    "save": "release.save(folder)",
    "synthesise": _ROWS,
    "synthesize": _ROWS,
    "version": "hedgerow.__version__",
}

SCHEMA = {
    "attribute": "schema[{one}]",
    "categories": "schema.classes",
    "check": "`hedgerow check schema.yaml` in a terminal",
    "class_": "schema.target",
    "copy": "copy.copy(schema)",
    "describe": "print(schema.to_yaml())",
    "diff": "`hedgerow schema diff old.yaml new.yaml` in a terminal",
    "draft_from": _DRAFT,
    "drop": "dataclasses.replace(schema, attributes=...)",
    "dtypes": "[type(one) for one in schema.columns]",
    "dump": _SAVED,
    "fields": "schema.columns",
    "fit": _DRAFT,
    "from_csv": _DRAFT,
    "from_data": _DRAFT,
    "from_dataframe": _DRAFT,
    "from_df": _DRAFT,
    "from_dict": "hedgerow.Schema.from_dict(dictionary)",
    "from_file": _FILE,
    "from_frame": _DRAFT,
    "from_json": "hedgerow.Schema.from_dict(json.loads(text))",
    "from_pandas": _DRAFT,
    "from_yaml": _FILE,
    "get": "schema[{one}]",
    "infer": _DRAFT,
    "infer_from": _DRAFT,
    "info": "print(schema.to_yaml())",
    "keys": "list(schema)",
    "label": "schema.target",
    "lint": "`hedgerow check schema.yaml` in a terminal",
    "load": _FILE,
    "names": "list(schema)",
    "of": "hedgerow.Schema.of(dictionary)",
    "open": _FILE,
    "plan": "hedgerow.Marginals().plan(schema, epsilon=1)",
    "print": "print(schema.to_yaml())",
    "publish": _PUBLISH,
    "read": _FILE,
    "read_yaml": _FILE,
    "replace": "dataclasses.replace(schema, ...)",
    "save": _SAVED,
    "shape": "len(schema)",
    "show": "print(schema.to_yaml())",
    "to_file": _SAVED,
    "to_json": "json.dumps(schema.to_dict())",
    "to_yaml": _SAVED,
    "update": "dataclasses.replace(schema, ...)",
    "validate": "`hedgerow check schema.yaml` in a terminal; publish checks the data",
    "values": "schema.columns",
    "write": _SAVED,
}

METHOD = {
    name: "hedgerow.publish(data, schema, method=hedgerow.{method}(), epsilon=1)"
    for name in (
        "anonymise", "anonymize", "delta", "epsilon", "execute", "fit", "fit_predict",
        "fit_transform", "generate", "predict", "publish", "release", "run", "sample", "synthesize",
        "transform",
    )
} | {
    "get_params": "method.settings()",
    "params": "method.settings()",
    "plan": "hedgerow.{method}().plan(schema, epsilon=1)",
    "set_params": "hedgerow.{method}(...), with all settings",
}  # fmt: skip

_PLANNED = "hedgerow.publish(data, schema, method, epsilon)"

PLAN = {
    "cost": "plan.lines()",
    "delta": "plan.budget.delta",
    "describe": "plan.lines()",
    "epsilon": "plan.budget.epsilon",
    "error": "`hedgerow plan --schema schema.yaml --rows 1000 --simulate` in a terminal",
    "execute": _PLANNED,
    "explain": "plan.lines()",
    "noise": "`hedgerow plan --schema schema.yaml --rows 1000 --simulate` in a terminal",
    "publish": _PLANNED,
    "run": _PLANNED,
    "show": "plan.lines()",
    "steps": "plan.lines()",
    "summary": "plan.lines()",
    "to_json": "json.dumps(plan.to_dict())",
    "to_pandas": "pandas.DataFrame(plan.lines())",
}

LEDGER = {
    "BudgetLedger": 'hedgerow.BudgetLedger("clinic.ledger")',
    "create": 'hedgerow.BudgetLedger(path).open("clinic", epsilon=2)',
    "spend": "hedgerow.publish(data, schema, ledger=path), which books its budget",
}

_TABLE, _TABLES = "release.table({one})", "release.table({one}, {two})"
_COUNT = "release.count({query})"
_MEAN = 'release.synthesize(kind="pandas")[{number}].{name}(), which is an estimate'
_FIT = "a model of your own on release.synthesize()"

RELEASE = {
    "accuracy": "`hedgerow evaluate people.csv release/` in a terminal; it is not private",
    "attributes": "release.schema.columns",
    "audit": "`hedgerow audit --method {method}` in a terminal",
    "budget": _EPSILON,
    "classes": "release.schema.classes",
    "classes_": "release.schema.classes",
    "compare": "`hedgerow evaluate people.csv release/` in a terminal; it is not private",
    "copy": "copy.copy(release)",
    "corr": _TABLES,
    "count": f"{_COUNT}, or {_ALL}",
    "cov": _TABLES,
    "crosstab": _TABLES,
    "delta": 'release.guarantee["delta"]',
    "dump": "release.save(folder)",
    "epsilon": _EPSILON,
    "evaluate": "`hedgerow evaluate people.csv release/` in a terminal; it is not private",
    "filter": _COUNT,
    "fit": _PUBLISH,
    "generalized": "release.to_pandas()",
    "generate": _ROWS,
    "get": "release[{one}]",
    "groupby": _TABLES,
    "hist": "release.plot({one})",
    "html": _REPORT,
    "is_private": 'release.guarantee["private"]',
    "items": "release.schema.columns",
    "itemsets": "release.to_pandas()",
    "keys": "list(release.schema)",
    "load": _LOAD,
    "name": "release.schema.name",
    "names": "list(release.schema)",
    "n": _ALL,
    "open": _LOAD,
    "pivot_table": _TABLES,
    "plot": "release.plot({one})",
    "predict": "release.predict(rows), with a frame of the schema's attributes",
    "predict_log_proba": "numpy.log(release.predict_proba(rows))",
    "predict_proba": "release.predict_proba(rows), with a frame of the schema's attributes",
    "private": 'release.guarantee["private"]',
    "publish": _PUBLISH,
    "query": _COUNT,
    "read": _LOAD,
    "regions": "release.to_pandas()",
    "report": _REPORT,
    "rows": _ROWS,
    "sample": _ROWS,
    "save": "release.save(folder)",
    "score": "(release.predict(rows)[{target}] == truth).mean()",
    "size": _ALL,
    "sum": _ALL,
    "synthesise": _ROWS,
    "synthetic": _ROWS,
    "table": _TABLES,
    "to_csv": "release.to_pandas().to_csv(path), or release.save(folder)",
    "to_df": "release.to_pandas()",
    "to_frame": "release.to_pandas()",
    "to_parquet": "release.to_pandas().to_parquet(path), or release.save(folder)",
    "total": _ALL,
    "transform": "release.assign(rows), which names the region of each",
    "to_yaml": "release.save(folder)",
    "tree": "release.partition",
    "unique": "list(release.table({one})[{one}])",
    "value_counts": _TABLE,
    "verify": "hedgerow.verify(release)",
    "write": "release.save(folder)",
} | {
    name: _MEAN.replace("{name}", name)
    for name in ("max", "mean", "median", "min", "mode", "quantile", "std", "var")
}

_NO_NUMBERS = "release.count({one}), since items have counts alone"

ITEMS = (
    RELEASE
    | {name: 'release.table("item", "item")' for name in ("corr", "cov", "crosstab", "groupby")}
    | {name: _NO_NUMBERS for name in ("max", "mean", "median", "min", "mode", "quantile", "std")}
    | {
        "association_rules": "release.frequent(20), and release.count([{one}, {two}])",
        "attributes": "release.items",
        "count": "release.count([{one}, {two}])",
        "filter": "release.count([{one}, {two}])",
        "frequent": "release.frequent(20)",
        "frequent_itemsets": "release.frequent(20)",
        "get": "release.count({one})",
        "hist": "release.plot()",
        "keys": "list(release.schema)",
        "pivot_table": 'release.table("item", "item")',
        "plot": "release.plot()",
        "query": "release.count([{one}, {two}])",
        "regions": "release.itemsets()",
        "rules": "release.frequent(20), and release.count([{one}, {two}])",
        "support": "release.count([{one}, {two}])",
        "table": 'release.table("item"), or release.table("item", "item") for pairs',
        "unique": "release.items.labels",
        "value_counts": 'release.table("item")',
    }
)
"""The same for transactions."""

ROWS = {
    "ci": '{called}["low"] and {called}["high"]',
    "confidence_interval": '{called}["low"] and {called}["high"]',
    "count": '{called}["estimate"]',
    "counts": '{called}["estimate"]',
    "error": '{called}["high"] - {called}["low"]',
    "estimates": '{called}["estimate"]',
    "interval": '{called}["low"] and {called}["high"]',
    "item": 'float({called}), or {called}["estimate"]',
    "items": "{called}.to_pandas().items()",
    "keys": "{called}.to_arrow().column_names",
    "largest": "{called}.largest(10)",
    "lower": '{called}["low"]',
    "mean": '{called}["estimate"].mean()',
    "normalize": 'release.table(..., by="share")',
    "round": '{called}["estimate"].round()',
    "save": "{called}.to_pandas().to_csv(path)",
    "std": '{called}["high"] - {called}["low"]',
    "sum": '{called}["estimate"].sum()',
    "to_list": '{called}["estimate"].tolist()',
    "tolist": '{called}["estimate"].tolist()',
    "upper": '{called}["high"]',
    "value": 'float({called}), or {called}["estimate"]',
    "where": "release.table(..., where=...)",
}
"""For answers and tables."""

ESTIMATOR = {
    "feature_importances_": "sklearn.inspection.permutation_importance(model, X, y)",
    "fit": "model.fit(X, y)",
    "fit_sample": "model.fit(X).sample(1000)",
    "fit_transform": "model.fit(X).sample(1000)",
    "generate": "model.release_.synthesize(1000)",
    "predict_log_proba": "numpy.log(model.predict_proba(X))",
    "release": "model.release_",
    "sample": "model.release_.synthesize(1000)",
    "save": "model.release_.save(folder)",
    "synthesize": "model.release_.synthesize(1000)",
    "transform": "model.release_.assign(X), which names the region of each",
}

FRAME_PROPERTIES = "T columns dtypes iloc index loc plot shape values"
FRAME_METHODS = (
    "agg apply astype copy corr describe drop dropna fillna filter groupby head info isna isnull "
    "iterrows itertuples melt merge nlargest nunique pivot pivot_table query rename reset_index "
    "sample set_index sort_values tail to_csv to_dict to_excel to_feather to_html to_json to_latex "
    "to_markdown to_numpy to_parquet to_records to_sql to_string unstack value_counts"
)
"""What users of pandas ask of anything that has rows."""
