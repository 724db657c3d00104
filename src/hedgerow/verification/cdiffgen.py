"""The rules for CDiffGen: steps as in DiffGen, whose tree has a count at every node."""

from __future__ import annotations

from hedgerow.estimate.partition import TreePartition
from hedgerow.verification.charges import table_rules
from hedgerow.verification.diffgen import paper_steps, tuned_steps

_SETTINGS = "schedule chosen score specializations consistency max_cells"

RULES = {
    "tuned-1": table_rules(TreePartition, tuned_steps, settings=_SETTINGS),
    "paper-1": table_rules(TreePartition, paper_steps, settings=_SETTINGS, rest=True),
}
