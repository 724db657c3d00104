"""What other methods would have given: for comparison, not for publication.

Private, with the same exact noise and the same books as our own methods: `ContingencyTable`,
`ItemsetTable`, `Marginals`, `RPS`, `DPCube` and `DiffPC45`. NOT PRIVATE: `mondrian` and
`top_down_specialisation`, which promise k-anonymity. AIM, MST and PrivBayes of other packages are
run by `hedgerow.experiments.baselines.opendp` and `.dpmm`, in environments of their own.
"""

from hedgerow.experiments.baselines.contingency import ContingencyTable, ItemsetTable
from hedgerow.experiments.baselines.diffp_c45 import DiffPC45
from hedgerow.experiments.baselines.dpcube import DPCube
from hedgerow.experiments.baselines.marginals import Marginals, ProductModel
from hedgerow.experiments.baselines.mondrian import mondrian
from hedgerow.experiments.baselines.rps import RPS
from hedgerow.experiments.baselines.tds import top_down_specialisation

__all__ = [
    "RPS",
    "ContingencyTable",
    "DPCube",
    "DiffPC45",
    "ItemsetTable",
    "Marginals",
    "ProductModel",
    "mondrian",
    "top_down_specialisation",
]
