"""The rules for DiffGen: all steps see everybody, and the regions of a grid share one charge."""

from __future__ import annotations

from hedgerow.measured.partition import GridPartition
from hedgerow.verification.charges import table_rules
from hedgerow.verification.steps import paper_steps, tuned_steps

_SETTINGS = "schedule chosen score specializations consistency max_cells"

RULES = {
    "tuned-1": table_rules(GridPartition, tuned_steps, settings=_SETTINGS),
    "paper-1": table_rules(GridPartition, paper_steps, settings=_SETTINGS, rest=True),
}
