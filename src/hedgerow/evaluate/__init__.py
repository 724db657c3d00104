"""Comparison with the raw data. Whatever is computed here is NOT PRIVATE and must not leave."""

from hedgerow.evaluate.workload import (
    NOT_PRIVATE,
    ErrorTable,
    error_table,
    exact_counts,
    random_queries,
)

__all__ = ["NOT_PRIVATE", "ErrorTable", "error_table", "exact_counts", "random_queries"]
