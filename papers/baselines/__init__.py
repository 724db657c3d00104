"""What other methods would have given: for comparison, not for publication.

Private, with the same exact noise and the same books as our own methods: `ContingencyTable`,
`ItemsetTable`, `Marginals`, `RPS`, `DPCube` and `DiffPC45`. NOT PRIVATE: `mondrian` and
`top_down_specialization`, which promise k-anonymity. AIM, MST and PrivBayes of other packages are
run by `papers.baselines.apart` and `.dpmm`, in environments of their own.
"""

from papers.baselines.anonymous import mondrian, top_down_specialization
from papers.baselines.cells import ContingencyTable, DPCube, ItemsetTable
from papers.baselines.marginals import Marginals, ProductModel
from papers.baselines.trees import RPS, DiffPC45

__all__ = [
    "RPS",
    "ContingencyTable",
    "DPCube",
    "DiffPC45",
    "ItemsetTable",
    "Marginals",
    "ProductModel",
    "mondrian",
    "top_down_specialization",
]
