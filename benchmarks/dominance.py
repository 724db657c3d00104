"""Where do we lose? The part of `compare.py` that sets ours beside others with the same delta.

- Beside the better of one-way tables and tables by class: our error of counts, of counts with the
  class and of pairs may be at most 1.05 times as large, and our AUC at most 0.01 lower.
- Beside each specialist (AIM, MST): we must not be behind in any of the four.

Means are compared over the runs that both have. A difference below two standard errors of the
paired differences may be chance, and is marked; it is a loss all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

__all__ = ["Compared", "losses", "print_dominance", "print_losses"]

ERRORS, SKILL = ("error", "class_error", "pairs"), "auc"
SLACK = {"simple": (1.05, -0.01), "specialist": (1.0, 0.0)}  # the largest ratio, the least lead

Runs = list[dict[str, float]]


@dataclass(frozen=True)
class Compared:
    """One measure of ours beside that of another.

    Args:
        table: The table.
        epsilon: The budget.
        ours: Our method.
        other: The other one.
        role: "simple" or "specialist".
        measure: What is compared.
        here: Our mean.
        there: Theirs.
        noise: The standard error of the mean difference; NaN of a single run.
        runs: How many runs both have.
    """

    table: str
    epsilon: str
    ours: str
    other: str
    role: str
    measure: str
    here: float
    there: float
    noise: float
    runs: int

    @property
    def beside(self) -> float:
        """The ratio of errors, or how far our AUC is ahead."""
        if self.measure == SKILL:
            return self.here - self.there
        return self.here / self.there if self.there else np.inf if self.here else 1.0

    @property
    def behind(self) -> float:
        """How far we are beyond what is allowed, as a share; above 0 is a loss.

        Of an AUC the share is that of what it is below 1.
        """
        most, least = SLACK[self.role]
        if self.measure == SKILL:
            return (least - self.beside) / max(1e-9, 1 - self.there)
        return self.beside / most - 1

    @property
    def lost(self) -> bool:
        """Whether we are behind."""
        return self.behind > 0


def losses(
    table: str,
    runs: Mapping[tuple[str, str], Runs],
    entries: Mapping[str, tuple[str, str | None]],
) -> list[Compared]:
    """All comparisons of one table.

    Args:
        table: Its name.
        runs: The runs of each method and epsilon, each with its number as `run`.
        entries: The role and the delta of each method.
    """
    compared = []
    for (ours, epsilon), here in runs.items():
        role, delta = entries[ours]
        if role != "ours":
            continue
        others = [
            name
            for (name, at), _ in runs.items()
            if at == epsilon and entries[name][1] == delta and entries[name][0] in SLACK
        ]
        for measure in (*ERRORS, SKILL):
            best: dict[str, Compared] = {}
            for name in others:
                means = _compared(measure, here, runs[name, epsilon])
                if means is None:
                    continue
                kind = entries[name][0]
                one = Compared(table, epsilon, ours, name, kind, measure, *means)
                # of the simplest tables the better one counts
                key = "simple" if kind == "simple" else name
                if key not in best or one.behind > best[key].behind:
                    best[key] = one
            compared += best.values()
    return compared


def _compared(measure: str, here: Runs, there: Runs) -> tuple[float, float, float, int] | None:
    """Both means, the standard error of their difference, and how many runs both have."""
    one, other = ({run["run"]: run[measure] for run in r if measure in run} for r in (here, there))
    both = sorted(one.keys() & other.keys())
    if not both:
        return None
    first, second = (np.array([each[run] for run in both]) for each in (one, other))
    spread = np.std(first - second, ddof=1) / len(both) ** 0.5 if len(both) > 1 else np.nan
    return float(first.mean()), float(second.mean()), float(spread), len(both)


def print_losses(compared: Iterable[Compared]) -> None:
    """Where we lose, the worst first."""
    compared = list(compared)
    for role, title in (
        ("simple", "Behind the better of one-way tables and tables by class by more than 5%, "
                   "or by more than 0.01 in AUC"),
        ("specialist", "Behind a specialist"),
    ):  # fmt: skip
        of_role = [one for one in compared if one.role == role]
        lost = sorted((one for one in of_role if one.lost), key=lambda one: -one.behind)
        print(f"\n{title}: {len(lost)} of {len(of_role)}")
        if lost:
            print("\n| table | epsilon | ours | measure | ours | theirs | beside | runs | whose |")
            print("|" + " --- |" * 9)
        for one in lost:
            chance = abs(one.here - one.there) < 2 * one.noise or one.runs == 1
            sign = "+.3f" if one.measure == SKILL else ".2f"
            words = (one.table, one.epsilon, one.ours, one.measure, f"{one.here:.3f}",
                     f"{one.there:.3f}", f"{one.beside:{sign}}" + " (chance?)" * chance, one.runs,
                     one.other)  # fmt: skip
            print("| " + " | ".join(map(str, words)) + " |")


def print_dominance(compared: Iterable[Compared]) -> None:
    """Every comparison: ratios of errors, and how far our AUC is ahead."""
    rows: dict[tuple[str, str, str, str], dict[str, Compared]] = {}
    for one in compared:
        who = "the better simple one" if one.role == "simple" else one.other
        rows.setdefault((one.table, one.ours, one.epsilon, who), {})[one.measure] = one
    if not rows:
        return
    print("\nOurs divided by theirs, and our AUC minus theirs; in bold what is lost\n")
    measures = (*ERRORS, SKILL)
    print(f"| table | ours | epsilon | beside | {' | '.join(measures)} |\n|" + " --- |" * 8)
    for key, beside in rows.items():
        cells = []
        for measure in measures:
            one = beside.get(measure)
            if one is None:
                cells.append("-")
                continue
            text = f"{one.beside:+.3f}" if measure == SKILL else f"{one.beside:.2f}"
            cells.append(f"**{text}**" if one.lost else text)
        print("| " + " | ".join((*key, *cells)) + " |")
