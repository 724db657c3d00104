"""How well a release lets somebody predict the class of rows it was not made from. NOT PRIVATE.

The papers' measure is classification accuracy on a generalized test set, between two bounds: the
baseline accuracy BA of a model trained on raw rows, and the lower-bound accuracy LA of knowing no
attribute at all. The papers use Weka's C4.5 and ID3 and SVMlight; here the models are
scikit-learn's, named in `MODELS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hedgerow.arrays import Floats, Ints
from hedgerow.data import Table, read
from hedgerow.errors import UsageError
from hedgerow.evaluation.classify import one_hot
from hedgerow.release import TableRelease
from hedgerow.schema import Categorical, Schema

__all__ = [
    "MODELS",
    "Model",
    "as_table",
    "baseline",
    "boxes",
    "by_counts",
    "by_regions",
    "lower_bound",
    "mean_and_error",
    "on_output",
    "on_rows",
    "values",
]

Model = Literal["tree", "c45", "id3", "svm", "boosting"]
MODELS: dict[Model, str] = {
    "tree": "decision tree by entropy with at least 20 records in a leaf",
    "c45": "decision tree by entropy, pruned by cost and complexity, standing in for C4.5",
    "id3": "decision tree by entropy grown to the end, standing in for ID3",
    "svm": "linear support vector machine",
    "boosting": "gradient boosting over histograms, with the library's settings",
}

PRUNING = 3e-4  # what a further leaf of "c45" must save of the entropy, in bits per record
_LEAST = {"tree": 20, "c45": 2, "id3": 1}

# Records and regions as vectors of numbers, for models that want them. NOT PRIVATE on raw rows.


def as_table(rows: Table | pa.Table, schema: Schema) -> Table:
    """Rows as a table of codes; they must be proper ones."""
    return rows if isinstance(rows, Table) else read(rows, schema)


def values(rows: pa.Table, schema: Schema) -> Floats:
    """One number for each attribute: numeric values as they are, categorical ones by code.

    Codes of numeric attributes would hide what lies between the grid points of the schema.
    """
    numbers = as_table(rows, schema).codes[:, : len(schema.attributes)].astype(np.float64)
    for place, attribute in enumerate(schema.attributes):
        column = rows[attribute.name]
        if not isinstance(attribute, Categorical) and (
            pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        ):
            raw = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
            numbers[:, place] = np.where(np.isnan(raw), -1, raw)
    return numbers


def boxes(lo: NDArray[np.integer], hi: NDArray[np.integer], schema: Schema) -> Floats:
    """The mean vector of the records that a region can hold: numbers from 0 to 1.

    A numeric attribute gives the middle of its interval, as a share of the domain; a categorical
    one gives for each value the share of it among the values of the region. A record is the
    region [code, code + 1): then one of these shares is 1.

    Args:
        lo: The first code of each region and attribute.
        hi: One past the last.
        schema: The public schema.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 10},
        ...     "home": {"type": "categorical", "values": ["flat", "house"]}}})
        >>> boxes(np.array([[0, 0], [5, 1]]), np.array([[11, 2], [6, 2]]), schema).tolist()
        [[0.5, 0.5, 0.5], [0.5, 0.0, 1.0]]
    """
    if lo.shape != hi.shape or lo.shape[1] != len(schema.attributes):
        raise UsageError("regions need one interval for each attribute of the schema")
    parts = []
    for place, attribute in enumerate(schema.attributes):
        low, high = lo[:, place].astype(np.int64), hi[:, place].astype(np.int64)
        if isinstance(attribute, Categorical):
            code = np.arange(attribute.size)
            inside = (code >= low[:, None]) & (code < high[:, None])
            parts.append(inside / (high - low)[:, None])
        else:
            middle = (low + high - 1) / 2
            parts.append((middle / max(1, attribute.size - 1))[:, None])
    return np.concatenate(parts, axis=1)


def by_regions(release: TableRelease, test: pa.Table) -> float:
    """The share of rows, in percent, whose class `release.predict` tells. NOT PRIVATE.

    Each row gets the majority class of its region, which leans on the regions around it where its
    own counts are mostly noise (see `hedgerow.estimate.cells`).

    Args:
        release: A release with a class.
        test: Raw rows with their class.

    Example:
        >>> from hedgerow import publish, sample
        >>> people = sample.people(200, seed=1)
        >>> release = publish(people, sample.schema(), "diffgen", epsilon=1)
        >>> 0 <= by_regions(release, people) <= 100
        True
    """
    target = _target(release.schema)
    return _share(release.predict(test)[target], test[target])


def by_counts(release: TableRelease, test: pa.Table) -> float:
    """The same for somebody who has the generalized table alone. NOT PRIVATE.

    A row gets the class with the largest count in its region, and the largest class of the whole
    table where its region is empty or not listed.

    Args:
        release: A release with a class.
        test: Raw rows with their class.

    Example:
        >>> from hedgerow import publish, sample
        >>> people = sample.people(200, seed=1)
        >>> release = publish(people, sample.schema(), "diffgen", epsilon=1)
        >>> 0 <= by_counts(release, people) <= 100
        True
    """
    target = _target(release.schema)
    classes = np.asarray(release.schema.classes)
    counts = release.counts
    overall = counts.sum(axis=0).argmax()
    best = np.where(counts.max(axis=1) > 0, counts.argmax(axis=1), overall)
    return _share(pa.array(classes[_of_region(release, test, best, overall)]), test[target])


def on_output(release: TableRelease, test: pa.Table, model: Model = "c45") -> float:
    """The accuracy CA of the papers, in percent. NOT PRIVATE.

    A model is trained on the generalized records with their noisy counts; test rows are
    generalized by the same regions, then told. To trees a record is the two ends of each of its
    intervals, to others the middle of its region.

    Args:
        release: A release with a class.
        test: Raw rows with their class.
        model: One of `MODELS`.

    Example:
        >>> from hedgerow import publish, sample
        >>> people = sample.people(200, seed=1)
        >>> release = publish(people, sample.schema(), "diffgen", epsilon=1)
        >>> 0 <= on_output(release, people) <= 100
        True
    """
    target = _target(release.schema)
    counts = release.counts
    overall = counts.sum(axis=0).argmax()
    lo, hi = release.partition.bounds(release.regions)
    place, known = counts.nonzero()
    classes = np.asarray(release.schema.classes)
    if len(np.unique(known)) < 2:  # nothing to learn from: everybody gets the one class
        best = np.full(len(lo), overall)
    else:
        if model in _LEAST:
            vectors = np.hstack([lo, hi]).astype(np.float64)
        else:
            vectors = boxes(lo, hi, release.schema)
        fitted = _classifier(model, float(counts.sum()), None)
        fitted.fit(vectors[place], known, counts[place, known].astype(np.float64))
        best = fitted.predict(vectors)
    return _share(pa.array(classes[_of_region(release, test, best, overall)]), test[target])


def on_rows(train: pa.Table, test: pa.Table, schema: Schema, model: Model = "tree") -> float:
    """The accuracy, in percent, of a model that was trained on single rows. NOT PRIVATE.

    With synthetic rows of a release this is the use that is left for somebody who treats them
    like real ones; with raw rows it is the baseline BA.

    Args:
        train: Rows to learn from, with their class.
        test: Raw rows with their class.
        schema: The public schema.
        model: One of `MODELS`.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 9},
        ...     "ill": {"type": "categorical", "values": ["no", "yes"], "role": "class"}}})
        >>> ages = list(range(10)) * 10
        >>> rows = pa.table({"age": ages, "ill": ["yes" if age > 4 else "no" for age in ages]})
        >>> on_rows(rows, rows, schema)
        100.0
    """
    target = _target(schema)
    categorical = [isinstance(attribute, Categorical) for attribute in schema.attributes]
    inputs = [values(rows, schema) for rows in (train, test)]
    known = np.asarray(train[target].cast(pa.string()).to_pylist())
    if len(known) == 0:
        raise UsageError("there is no row to learn from", hint="Draw some rows.")
    if len(np.unique(known)) < 2:
        return _share(pa.array([known[0]] * len(test)), test[target])
    if model != "boosting":
        inputs = [one_hot(numbers, schema) for numbers in inputs]
    fitted = _classifier(model, float(len(known)), categorical)
    fitted.fit(inputs[0], known)
    return _share(pa.array(fitted.predict(inputs[1])), test[target])


def baseline(train: pa.Table, test: pa.Table, schema: Schema, model: Model = "c45") -> float:
    """The baseline accuracy BA, in percent: a model trained on raw rows. NOT PRIVATE.

    Example:
        >>> from hedgerow import sample
        >>> 50 < baseline(sample.people(200), sample.people(200, seed=2), sample.schema()) < 100
        True
    """
    return on_rows(train, test, schema, model)


def lower_bound(train: pa.Table, test: pa.Table, schema: Schema) -> float:
    """The lower-bound accuracy LA, in percent: all attributes removed. NOT PRIVATE.

    Every test row gets the class that most training rows have.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 9},
        ...     "ill": {"type": "categorical", "values": ["no", "yes"], "role": "class"}}})
        >>> train = pa.table({"age": [1, 2, 3], "ill": ["no", "no", "yes"]})
        >>> lower_bound(train, pa.table({"age": [4, 5], "ill": ["no", "yes"]}), schema)
        50.0
    """
    target = _target(schema)
    counts = pc.value_counts(train[target].cast(pa.string())).to_pylist()
    largest = max(counts, key=lambda entry: (entry["counts"], entry["values"]))["values"]
    return _share(pa.array([largest] * len(test)), test[target])


def mean_and_error(numbers: Sequence[float] | Floats) -> tuple[float, float]:
    """The mean and its standard error, which is not known from one number.

    Example:
        >>> mean_and_error([1.0, 3.0])
        (2.0, 1.0)
    """
    array = np.asarray(numbers, dtype=np.float64)
    error = array.std(ddof=1) / np.sqrt(len(array)) if len(array) > 1 else np.nan
    return float(array.mean()), float(error)


def _of_region(release: TableRelease, test: pa.Table, best: Any, overall: Any) -> Ints:
    """What was told for the region of each row; rows of unlisted regions get the overall class."""
    region = release.assign(test)["region"].to_numpy()
    place = np.searchsorted(release.regions, region)
    listed = np.append(release.regions, -1)[place] == region
    return np.asarray(np.append(best, overall)[np.where(listed, place, len(best))], dtype=np.int64)


def _classifier(model: Model, records: float, categorical: list[bool] | None) -> Any:
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise UsageError(
            "scikit-learn is not installed, and models are trained with it.",
            hint="Run: pip install 'hedgerow[evaluate]'",
        ) from None
    if model in _LEAST:
        from sklearn.tree import DecisionTreeClassifier

        # the share of all records, since one generalized record stands for many
        least = min(0.5, _LEAST[model] / max(1.0, records))
        tree = DecisionTreeClassifier(
            criterion="entropy", min_weight_fraction_leaf=least, random_state=0
        )
        return _Pruned(tree, PRUNING) if model == "c45" else tree
    if model == "svm":
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        from sklearn.svm import LinearSVC

        return _Weighted(make_pipeline(StandardScaler(), LinearSVC(dual=False, random_state=0)))
    if model == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(random_state=0, categorical_features=categorical)
    raise UsageError(f"there is no model {model!r}", hint=f"Use one of: {', '.join(MODELS)}.")


class _Pruned:
    """A tree that is pruned by cost and complexity, in one pass from its leaves to its root.

    scikit-learn's own pruning finds the same tree with time that grows with the square of its
    leaves. A node becomes a leaf if its entropy and the price of one leaf are together at most
    what its best subtree costs.
    """

    def __init__(self, tree: Any, price: float) -> None:
        self._tree, self._price = tree, price

    def fit(self, inputs: Floats, known: Any, weights: Floats | None = None) -> None:
        self._tree.fit(inputs, known, sample_weight=weights)
        tree = self._tree.tree_
        self.classes_ = self._tree.classes_
        left, right = tree.children_left.tolist(), tree.children_right.tolist()
        weight = tree.weighted_n_node_samples
        cost = (tree.impurity * weight / weight[0] + self._price).tolist()
        cut = [below < 0 for below in left]
        for node in range(len(left) - 1, -1, -1):  # children come after their parents
            if not cut[node]:
                below = cost[left[node]] + cost[right[node]]
                cut[node] = cost[node] <= below
                cost[node] = min(cost[node], below)
        leaf = list(range(len(left)))
        for node, below in enumerate(left):
            if below >= 0 and (cut[node] or leaf[node] != node):
                leaf[below] = leaf[right[node]] = leaf[node]
        self._leaf = np.asarray(leaf)

    def predict_proba(self, inputs: Floats) -> Floats:
        counts = self._tree.tree_.value[self._leaf[self._tree.apply(inputs)], 0]
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def predict(self, inputs: Floats) -> Any:
        return self.classes_[self.predict_proba(inputs).argmax(axis=1)]


class _Weighted:
    """A pipeline whose steps all see the weights of the records."""

    def __init__(self, pipeline: Any) -> None:
        self._pipeline = pipeline

    def fit(self, inputs: Floats, known: Any, weights: Floats | None = None) -> None:
        names = [name for name, _ in self._pipeline.steps]
        self._pipeline.fit(inputs, known, **{f"{name}__sample_weight": weights for name in names})

    def predict(self, inputs: Floats) -> Any:
        return self._pipeline.predict(inputs)


def _target(schema: Schema) -> str:
    if schema.target is None:
        raise UsageError(
            "the schema has no class, so there is nothing to tell",
            hint="Give an attribute role: class.",
        )
    return schema.target.name


def _share(told: pa.ChunkedArray | pa.Array, truth: pa.ChunkedArray) -> float:
    same = pc.equal(told.cast(pa.string()), truth.cast(pa.string()))
    return 100 * float(pc.mean(same).as_py())
