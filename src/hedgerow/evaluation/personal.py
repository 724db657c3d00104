"""Risk and utility of the records themselves under a choice of settings. NOT PRIVATE."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.data import Table
from hedgerow.evaluation.workload import NOT_PRIVATE
from hedgerow.methods.supermodular import Supermodular
from hedgerow.optimize.side import Side
from hedgerow.optimize.solve import solve


@dataclass(frozen=True, kw_only=True)
class PersonalTable:
    """Mean risk and utility by setting. NOT PRIVATE.

    Args:
        model: "threshold", "least-risk" or "aggregate".
        setting: The risk thresholds, or the lambdas.
        utility: The mean utility of a record.
        risk: The mean risk of a record.
        records: How many distinct records were solved.
    """

    model: str
    setting: tuple[float, ...]
    utility: tuple[float, ...]
    risk: tuple[float, ...]
    records: int

    def text(self) -> str:
        """The table in plain text, marked."""
        word = {"threshold": "risk at most", "least-risk": "utility at least"}.get(
            self.model, "lambda"
        )
        lines = [NOT_PRIVATE, f"{word:>12} {'utility':>8} {'risk':>10}"]
        for setting, utility, risk in zip(self.setting, self.utility, self.risk, strict=True):
            lines.append(f"{setting:>12.4g} {utility:>8.3f} {risk:>10.4g}")
        return "\n".join(lines)


def personal_table(
    table: Table,
    side: NDArray[np.integer],
    method: Supermodular,
    settings: tuple[float, ...],
    most: int = 1000,
    seed: int = 0,
) -> PersonalTable:
    """Solves records of a raw table for several settings. NOT PRIVATE.

    Args:
        table: The raw table.
        side: The codes of a side table (`hedgerow.data.read_public`).
        method: The method; its threshold or lambda is replaced.
        settings: Risk thresholds, or lambdas.
        most: At most so many records, drawn at random, are solved.
        seed: Which ones.
    """
    forest, worth = method.terms(table.schema)
    index = Side.of(forest, side)
    random = np.random.default_rng(seed)
    codes = table.codes[:, : forest.attributes]
    picked = random.choice(len(codes), min(most, len(codes)), replace=False)
    distinct, counts = np.unique(codes[picked], axis=0, return_counts=True)
    leaves = forest.leaves(distinct.astype(np.int64))
    utility, risk = [], []
    for setting in settings:
        aim = method.aim()
        if aim.model == "threshold":
            aim = replace(aim, risk=setting)
        elif aim.model == "least-risk":
            aim = replace(aim, utility=setting)
        else:
            aim = replace(aim, trade=setting)
        found = solve(forest, index, worth, aim, leaves, np.ones(leaves.shape))
        fine = found.solved & (found.count > 0)
        utility.append(float(np.average(np.where(fine, found.utility, 0), weights=counts)))
        # whom the side table has nobody like stands out by the whole of their sensitivity
        alone = found.sensitivity
        risk.append(float(np.average(np.where(fine, found.risk, alone), weights=counts)))
    return PersonalTable(
        model=method.model,
        setting=settings,
        utility=tuple(utility),
        risk=tuple(risk),
        records=len(leaves),
    )
