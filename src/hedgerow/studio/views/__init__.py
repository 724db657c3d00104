"""The pages of the studio, by what they are about.

Modules are loaded when their page is first asked for: the first page must not wait for numba.
"""

from __future__ import annotations

__all__ = ["ROUTES"]

ROUTES: dict[str, dict[str, str]] = {
    "/": {"GET": "project:home"},
    "/sample": {"POST": "project:write_sample"},
    "/ledger": {"POST": "project:open_ledger"},
    "/data": {"GET": "project:show_data"},
    "/data/peek": {"POST": "project:peek"},
    "/data/draft": {"POST": "project:draft"},
    "/unit": {"GET": "schema:show_unit", "POST": "schema:save_unit"},
    "/columns": {"GET": "schema:show_columns", "POST": "schema:save_columns"},
    "/taxonomies": {"GET": "taxonomies:show", "POST": "taxonomies:change"},
    "/history": {"GET": "check:show_history", "POST": "check:restore"},
    "/history/forget": {"POST": "check:forget_history"},
    "/tables": {"GET": "budget:show_tables", "POST": "budget:change_tables"},
    "/about": {"GET": "schema:show_publisher", "POST": "schema:save_publisher"},
    "/budget": {"GET": "budget:show"},
    "/budget/simulate": {"POST": "budget:simulate"},
    "/check": {"GET": "check:show", "POST": "check:run"},
    "/check/sign": {"POST": "check:sign"},
    "/publish": {"GET": "publish:show", "POST": "publish:run"},
    "/job": {"GET": "project:show_job"},
    "/job/cancel": {"POST": "project:cancel_job"},
    "/release": {"GET": "release:show"},
    "/release/report": {"GET": "release:report"},
    "/release/dossier": {"GET": "release:dossier"},
    "/release/table": {"GET": "release:table", "POST": "release:table"},
    "/release/query": {"GET": "release:query", "POST": "release:query"},
    "/release/tree": {"GET": "release:tree"},
    "/release/rows": {"GET": "release:rows"},
    "/release/compare": {"GET": "release:compare", "POST": "release:compare"},
    "/release/evaluate": {"GET": "release:show_evaluation", "POST": "release:evaluate"},
    "/release/download": {"GET": "release:download"},
}
"""Every page by its address and method: a module and a function of this package. All that changes
something, and all that names a value, is asked for by a form."""
