"""Comparison with the raw data. Whatever is computed here is NOT PRIVATE and must not leave."""

from hedgerow.evaluation.classify import (
    MODELS,
    baseline,
    by_counts,
    by_regions,
    discernibility,
    lower_bound,
    mean_and_error,
    ncp,
    on_output,
    on_rows,
)
from hedgerow.evaluation.measures import (
    NOT_PRIVATE,
    ErrorTable,
    error_table,
    exact_counts,
    random_conjunctions,
    random_queries,
)

__all__ = [
    "MODELS",
    "NOT_PRIVATE",
    "ErrorTable",
    "baseline",
    "by_counts",
    "by_regions",
    "discernibility",
    "error_table",
    "exact_counts",
    "lower_bound",
    "mean_and_error",
    "ncp",
    "on_output",
    "on_rows",
    "random_conjunctions",
    "random_queries",
]
