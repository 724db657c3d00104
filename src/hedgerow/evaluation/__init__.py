"""Comparison with the raw data. Whatever is computed here is NOT PRIVATE and must not leave."""

from hedgerow.evaluation.classify import discernibility, ncp
from hedgerow.evaluation.measures import (
    NOT_PRIVATE,
    ErrorTable,
    error_table,
    exact_counts,
    random_conjunctions,
    random_queries,
)

__all__ = [
    "NOT_PRIVATE",
    "ErrorTable",
    "discernibility",
    "error_table",
    "exact_counts",
    "ncp",
    "random_conjunctions",
    "random_queries",
]
