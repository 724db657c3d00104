"""What the author of a method or a score needs, in one place: docs/extending.md uses nothing else.

Names here stay; the modules that they come from may change. Each is loaded when it is first used.

    from hedgerow.extend import Curator, Engine, Outcome, Publisher
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hedgerow.arrays import Ints as Ints
    from hedgerow.audit.methods import Audited as Audited
    from hedgerow.counting.engine import TableCounts as TableCounts
    from hedgerow.counting.parts import Engine as Engine
    from hedgerow.counting.sealed import Sealed as Sealed
    from hedgerow.estimate.measurements import Measurement as Measurement
    from hedgerow.estimate.partition import GridPartition as GridPartition
    from hedgerow.estimate.partition import TreePartition as TreePartition
    from hedgerow.methods.diffgen import DiffGen as DiffGen
    from hedgerow.methods.diffgen import count_cells as count_cells
    from hedgerow.methods.diffmulti import DiffMulti as DiffMulti
    from hedgerow.methods.plan import Plan as Plan
    from hedgerow.methods.plan import divide_budget as divide_budget
    from hedgerow.methods.publisher import Job as Job
    from hedgerow.methods.publisher import Outcome as Outcome
    from hedgerow.methods.publisher import Progress as Progress
    from hedgerow.methods.publisher import Publisher as Publisher
    from hedgerow.methods.publisher import TablePublisher as TablePublisher
    from hedgerow.methods.publisher import check_count as check_count
    from hedgerow.methods.publisher import no_progress as no_progress
    from hedgerow.methods.scores import Score as Score
    from hedgerow.privacy.budget import Budget as Budget
    from hedgerow.privacy.curator import Curator as Curator
    from hedgerow.privacy.ledger import Allowance as Allowance
    from hedgerow.privacy.ledger import Ledger as Ledger
    from hedgerow.privacy.sampler import Candidates as Candidates
    from hedgerow.privacy.sampler import Sampler as Sampler
    from hedgerow.registry import Method as Method
    from hedgerow.release.table_releases import TableRelease as TableRelease
    from hedgerow.schema import Attribute as Attribute
    from hedgerow.schema import Numeric as Numeric
    from hedgerow.schema import Schema as Schema
    from hedgerow.verification.regions import table_rules as table_rules
    from hedgerow.verification.rules import Book as Book
    from hedgerow.verification.rules import Failed as Failed
    from hedgerow.verification.rules import Rules as Rules

_ROOMS = {
    "hedgerow.arrays": "Ints",
    "hedgerow.audit.methods": "Audited",
    "hedgerow.counting.engine": "TableCounts",
    "hedgerow.counting.parts": "Engine",
    "hedgerow.counting.sealed": "Sealed",
    "hedgerow.estimate.measurements": "Measurement",
    "hedgerow.estimate.partition": "GridPartition TreePartition",
    "hedgerow.methods.diffgen": "DiffGen count_cells",
    "hedgerow.methods.diffmulti": "DiffMulti",
    "hedgerow.methods.plan": "Plan divide_budget",
    "hedgerow.methods.publisher": "Job Outcome Progress Publisher TablePublisher check_count "
    "no_progress",
    "hedgerow.methods.scores": "Score",
    "hedgerow.privacy.budget": "Budget",
    "hedgerow.privacy.curator": "Curator",
    "hedgerow.privacy.ledger": "Allowance Ledger",
    "hedgerow.privacy.sampler": "Candidates Sampler",
    "hedgerow.registry": "Method",
    "hedgerow.release.table_releases": "TableRelease",
    "hedgerow.schema": "Attribute Numeric Schema",
    "hedgerow.verification.regions": "table_rules",
    "hedgerow.verification.rules": "Book Failed Rules",
}
"""The modules that the names above come from."""


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        for room, names in _ROOMS.items():
            if name in names.split():
                return getattr(import_module(room), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)


def __dir__() -> list[str]:
    return sorted(name for names in _ROOMS.values() for name in names.split())
