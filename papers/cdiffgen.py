"""The experiments of the CDiffGen paper, section IV: DiffGen with consistent counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hedgerow.publish.cdiffgen import CDiffGen
from hedgerow.publish.diffgen import DiffGen
from papers.adult import accuracy, baseline_run, lower_bound_run
from papers.figure import Figure, Point, Stated

__all__ = ["FIGURES", "TITLE"]

TITLE = "CDiffGen: consistent DiffGen"

EPSILONS = ("0.1", "0.25", "0.5", "1")
_DIFFERS = (
    "The paper spends epsilon on the counts and nothing on building the tree, and takes the"
    " height in edges for the sensitivity: its CDiffGen overspends by a factor of 1.5 to 2. Ours"
    " pays for both from the same epsilon, so it cannot gain accuracy for free: a curve that rises"
    " with h and does not react to epsilon, as in the paper, is not what a private method shows."
    " Consistency improves range counts, which benchmarks/queries.py measures."
)


def _curves(score: str) -> Callable[[bool], Sequence[Point]]:
    def points(quick: bool) -> Sequence[Point]:
        found = [
            Point("BA, raw data", None, run=baseline_run()),
            Point("LA, no attributes", None, run=lower_bound_run()),
        ]
        for epsilon in ("0.1", "1") if quick else EPSILONS:
            for h in (4, 10, 16) if quick else (4, 7, 10, 13, 16):
                plain = DiffGen(score=score, schedule="paper", specialisations=h)
                consistent = CDiffGen(score=score, schedule="paper", specialisations=h)
                found += [
                    Point(f"DiffGen, epsilon {epsilon}", h, run=accuracy(plain, epsilon)),
                    Point(f"CDiffGen, epsilon {epsilon}", h, run=accuracy(consistent, epsilon)),
                ]
        return found

    return points


FIGURES = (
    Figure(
        name="cdiffgen-fig4",
        title="Classification accuracy of DiffGen and CDiffGen, score InfoGain",
        x="specialisations",
        y="accuracy CA in percent",
        settings="Adult, 2/3 to publish and 1/3 to test, C4.5 on the output, 20 runs.",
        runs=20,
        points=_curves("infogain"),
        stated=(),
        differs=_DIFFERS,
    ),
    Figure(
        name="cdiffgen-fig5",
        title="Classification accuracy of DiffGen and CDiffGen, score Max",
        x="specialisations",
        y="accuracy CA in percent",
        settings="Adult, 2/3 to publish and 1/3 to test, C4.5 on the output, 20 runs.",
        runs=20,
        points=_curves("max"),
        stated=(
            Stated("DiffGen, epsilon 1", 10, value=82.2, words="BA - CA = 3.1"),
            Stated("DiffGen, epsilon 0.5", 10, value=81.1, words="BA - CA = 4.2"),
            Stated("DiffGen, epsilon 0.25", 10, value=80.7, words="BA - CA = 4.6"),
            Stated("DiffGen, epsilon 0.1", 10, value=77.8, words="BA - CA = 7.5"),
        ),
        differs=_DIFFERS + " The paper states no BA; that of the DiffGen paper, 85.3, is taken.",
        fails="CDiffGen's accuracy is said to rise with the number of specialisations, and beyond"
        " some number not to depend on epsilon. Once the tree is paid for too, neither is so.",
    ),
)
