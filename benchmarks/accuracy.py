"""How well a release predicts the class of rows it was not made from. NOT PRIVATE."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hedgerow.schema import Categorical, Schema
from papers import classify as features
from papers.classify import by_counts, mean_and_error
from papers.classify import by_regions as by_estimates

__all__ = ["boosting", "by_counts", "by_estimates", "mean_and_error", "split"]


def boosting(train: pa.Table, test: pa.Table, schema: Schema) -> tuple[float, float]:
    """Accuracy in percent, and AUC, of gradient boosting that was trained on rows.

    With more than two classes the AUC is that of each class against the rest, weighted by how many
    test rows have it. A class that no row had is told by chance.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    assert schema.target is not None
    known, truth = (
        np.asarray(rows[schema.target.name].cast(pa.string()).to_pylist()) for rows in (train, test)
    )
    if len(np.unique(known)) < 2:
        return 100 * float(np.mean(truth == (known[0] if len(known) else ""))), 0.5
    categorical = [isinstance(attribute, Categorical) for attribute in schema.attributes]
    fitted = HistGradientBoostingClassifier(random_state=0, categorical_features=categorical)
    fitted.fit(features.values(train, schema), known)
    chance = fitted.predict_proba(features.values(test, schema))
    told = fitted.classes_[chance.argmax(axis=1)]
    each = []
    for klass, number in zip(*np.unique(truth, return_counts=True), strict=True):
        place = np.flatnonzero(fitted.classes_ == klass)
        area = roc_auc_score(truth == klass, chance[:, place[0]]) if len(place) else 0.5
        each.append((area, number))
    area, number = np.array(each).T
    return 100 * float(np.mean(told == truth)), float(np.average(area, weights=number))


def split(rows: pa.Table, number: int) -> tuple[pa.Table, pa.Table]:
    """Two thirds to publish and one third to test; the same number gives the same split."""
    order = np.random.default_rng(number).permutation(len(rows))
    cut = len(rows) * 2 // 3
    return rows.take(order[:cut]), rows.take(order[cut:])
