"""The pages of the studio, one module for each step of the path.

Modules are loaded when their page is first asked for: the first page must not wait for numba.
"""

from __future__ import annotations

__all__ = ["ROUTES"]

ROUTES: dict[str, dict[str, str]] = {
    "/": {"GET": "project:home"},
    "/sample": {"POST": "project:write_sample"},
    "/ledger": {"POST": "project:open_ledger"},
    "/data": {"GET": "data:look_at"},
    "/data/peek": {"POST": "data:peek"},
    "/data/draft": {"POST": "data:draft"},
    "/unit": {"GET": "unit:show", "POST": "unit:save"},
    "/columns": {"GET": "columns:show", "POST": "columns:save"},
    "/taxonomies": {"GET": "taxonomies:show", "POST": "taxonomies:change"},
    "/history": {"GET": "history:show", "POST": "history:restore"},
    "/history/forget": {"POST": "history:forget_all"},
    "/tables": {"GET": "tables:show", "POST": "tables:change"},
    "/about": {"GET": "about:show", "POST": "about:save"},
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
    "/release/evaluate": {"GET": "evaluate:show", "POST": "evaluate:run"},
    "/release/download": {"GET": "release:download"},
}
"""Every page by its address and method: a module and a function of this package. All that changes
something, and all that names a value, is asked for by a form."""
