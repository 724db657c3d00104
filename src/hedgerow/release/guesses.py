"""What people write who know frames, and what they mean."""

from __future__ import annotations

__all__ = ["GUESSES"]

GUESSES = {
    "budget": 'release.guarantee["epsilon"]',
    "classes": "release.schema.classes",
    "corr": 'release.table("age", "job")',
    "cov": 'release.table("age", "job")',
    "crosstab": 'release.table("age", "job")',
    "delta": 'release.guarantee["delta"]',
    "dump": "release.save(folder)",
    "epsilon": 'release.guarantee["epsilon"]',
    "evaluate": "`hedgerow evaluate people.csv release/` in a terminal; it is not private",
    "filter": 'release.count("age in [30, 50]")',
    "generalized": "release.to_pandas()",
    "generate": "release.synthesize(1000)",
    "groupby": 'release.table("age", "job")',
    "hist": 'release.plot("age")',
    "itemsets": "release.to_pandas()",
    "mean": 'release.synthesize()["age"], whose mean is an estimate',
    "median": 'release.synthesize()["age"], whose median is an estimate',
    "n": "release.count_all()",
    "pivot_table": 'release.table("age", "job")',
    "query": 'release.count("age in [30, 50]")',
    "report": "`hedgerow report release/ --out report.html` in a terminal",
    "rows": "release.synthesize(1000)",
    "sample": "release.synthesize(1000)",
    "size": "release.count_all()",
    "sum": "release.count_all()",
    "synthesise": "release.synthesize(1000)",
    "synthetic": "release.synthesize(1000)",
    "to_csv": "release.to_pandas().to_csv(path), or release.save(folder)",
    "to_df": "release.to_pandas()",
    "to_frame": "release.to_pandas()",
    "to_parquet": "release.to_pandas().to_parquet(path), or release.save(folder)",
    "total": "release.count_all()",
    "value_counts": 'release.table("age")',
    "verify": "hedgerow.verify(release)",
    "write": "release.save(folder)",
}
"""By what was written on a release: what to write instead."""
