"""Releases as estimators of scikit-learn: a classifier by regions, and a synthesizer.

Fitting publishes, so every call of `fit` costs epsilon again: cross-validation and searches over
settings add up, and a budget ledger (`ledger=`) keeps count. What the values of X and y may be is
public and comes from the schema or from arguments, never from X and y themselves. After `fit` only
the release is kept: predictions and synthetic rows cost nothing more.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar, Self, SupportsIndex

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.arrays import Floats
from hedgerow.data import frame_kind, read_column, read_columns
from hedgerow.data.encode import text_of
from hedgerow.errors import DataError, InputError, UsageError
from hedgerow.methods.api import publish
from hedgerow.methods.publisher import Publisher
from hedgerow.privacy.budget import Number
from hedgerow.release import Release
from hedgerow.schema import Schema
from hedgerow.store.frames import Frame
from hedgerow.suggestions import ESTIMATOR, Suggestions, answer_mistakes, nearest

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.exceptions import DataConversionWarning
    from sklearn.utils.validation import check_is_fitted, validate_data
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "hedgerow.sklearn needs scikit-learn, which is not installed. "
        "Install it with: pip install 'hedgerow[sklearn]'",
        name=error.name,
    ) from None

__all__ = ["RegionClassifier", "Synthesizer"]


def __getattr__(name: str) -> Any:
    meant = nearest(name, __all__) or ("RegionClassifier" if name.endswith("Classifier") else None)
    if meant is None:
        raise AttributeError(f"module 'hedgerow.sklearn' has no attribute {name!r}", name=name)
    # `from ... import` would not tell what an AttributeError says
    raise ImportError(
        f"hedgerow.sklearn has no {name}; write `from hedgerow.sklearn import {meant}`", name=name
    )


_PARTS = 1000  # of a number between its bounds

SchemaLike = Schema | Mapping[str, Any] | str | os.PathLike[str]
Bounds = tuple[float, float] | Sequence[tuple[float, float]]


class _Fitted:
    """What `fit` learns."""

    release_: Release
    schema_: Schema
    classes_: NDArray[Any]


@answer_mistakes
@dataclass(eq=False, repr=False)
class _Published(BaseEstimator, _Fitted, Suggestions):  # type: ignore[misc]
    """What both estimators share; their settings are the attributes that scikit-learn sets."""

    _suggestions = ESTIMATOR
    _advice = ""
    _usual: ClassVar[str | None] = None  # the method, unless another is named

    epsilon: Number = 1
    schema: SchemaLike | None = None
    _: KW_ONLY
    bounds: Bounds | None = None
    delta: Number = 0
    method: Publisher | str | None = None
    ledger: str | Path | None = None
    dataset: str | None = None
    random_state: SupportsIndex | None = None

    def _publish(self, table: Frame, schema: Schema) -> None:
        self.schema_ = schema
        advice = self._advice
        if self.schema is None:
            advice = " Bounds are for numbers: if X holds text, write schema=..., which says what "
            advice += f"text.{self._advice}"
        with _refusing(advice):
            self.release_ = publish(
                table,
                schema,
                self._usual if self.method is None else self.method,
                self.epsilon,
                self.delta,
                seed=self.random_state,
                ledger=self.ledger,
                dataset=self.dataset,
            )

    def _columns(self, X: Any, reset: bool) -> tuple[list[str], list[Any]]:
        """The names and the columns of X: by its own names, or by place."""
        if isinstance(self.epsilon, Schema | Mapping):
            raise UsageError(
                f"epsilon cannot be of type {type(self.epsilon).__name__}.",
                hint="Write schema=... before a schema: epsilon is the first argument.",
            )
        if self.schema is None and self.bounds is None:
            raise UsageError(
                f"{type(self).__name__} does not know which values X may have.",
                hint='Write schema="schema.yaml", or bounds=(0, 100) for numbers, from public '
                "knowledge. They are not taken from X, since they would tell about people in it.",
            )
        with _refusing():
            own, columns = read_columns(X, "X")
        if not columns:
            raise InputError(
                "Found array with 0 feature(s) (shape=(, 0)) while a minimum of 1 is required.",
                hint="Give X at least one column.",
            )
        # scikit-learn sees names and shape alone: it would judge all values together
        shape = np.broadcast_to(np.float64(), (len(columns[0]), len(columns)))
        validate_data(self, shape if own is None else X, reset=reset, skip_check_array=True)
        if self.schema is None:
            known = getattr(self, "feature_names_in_", None)
            return [f"x{i}" for i in range(len(columns))] if known is None else list(known), columns
        if own is not None:
            return list(own), columns
        names = [attribute.name for attribute in Schema.of(self.schema).attributes]
        if len(names) != len(columns):
            raise UsageError(
                f"X has {len(columns)} columns, and the schema {len(names)} attributes.",
                hint=f"Give a frame, or columns in this order: {', '.join(names)}.",
            )
        return names, columns

    def _known(self, names: list[str], classes: Sequence[object] = ()) -> Schema:
        """The public schema: what was given, or what bounds and classes say."""
        if self.schema is not None:
            return Schema.of(self.schema)
        attributes: dict[str, Any] = {}
        bounds: Any = self.bounds
        try:
            pairs = [bounds] * len(names) if np.ndim(bounds) == 1 else list(bounds)
            fine = len(pairs) == len(names) and all(low < high for low, high in pairs)
        except (TypeError, ValueError):
            fine = False
        if not fine:
            raise UsageError(
                "bounds must be a lower and an upper end, or such a pair for each column of X.",
                hint="Write bounds=(0, 100), or bounds=[(0, 100), (-1, 1)].",
            )
        for name, (low, high) in zip(names, pairs, strict=True):
            ends = Decimal(repr(float(low))), Decimal(repr(float(high)))
            grid = {"low": ends[0], "high": ends[1], "step": (ends[1] - ends[0]) / _PARTS}
            texts = {key: f"{value:f}" for key, value in grid.items()}
            # a number with a point is a decimal
            written = {key: text if "." in text else f"{text}.0" for key, text in texts.items()}
            attributes[name] = {"type": "numeric", **written, "outside": "clip"}
        if classes:
            target = {"type": "categorical", "values": list(map(text_of, classes)), "role": "class"}
            own = "y"  # a name that no column of X has
            while own in names:
                own += "_"
            attributes[own] = target
        return Schema.from_dict({"name": "X", "unit": "row", "attributes": attributes})


@answer_mistakes
@dataclass(eq=False, repr=False)
class RegionClassifier(ClassifierMixin, _Published):  # type: ignore[misc]
    """A classifier that is a differentially private release; see `hedgerow.publish`.

    Args:
        epsilon: The loss that one person (one row of X) may suffer in one call of `fit`.
        schema: The public schema, with a class: an object, a dictionary or the path of a file. X
            is a frame with its attributes, or an array with columns in their order.
        bounds: Without a schema: the public bounds of all columns, such as (0, 100), or a pair for
            each column; values beyond are clipped. Every row is then a different person.
        classes: Without a schema: the public labels that y may have.
        delta: 0 for pure differential privacy.
        method: A method or its name; "diffmulti" by default, whose regions also speak of values
            that nobody has.
        ledger: The file of a budget ledger, which adds up what all fits cost.
        dataset: The data set's name in the ledger.
        random_state: For tests alone: a whole number makes `fit` repeatable and NOT private.

    Attributes:
        release_: The release, which may be saved and passed on.
        schema_: The public schema.
        classes_: The labels, sorted.

    Example:
        >>> import numpy as np
        >>> X = np.array([[18.0], [25.0], [71.0], [80.0]] * 50)
        >>> y = np.array(["no", "no", "yes", "yes"] * 50)
        >>> model = RegionClassifier(
        ...     epsilon=5, bounds=(0, 100), classes=["no", "yes"], random_state=1)
        >>> model.fit(X, y).predict([[20.0], [75.0]]).tolist()
        ['no', 'yes']
    """

    _usual = "diffmulti"
    _advice = " A class is one of the labels that were named, never a continuous number."

    classes: Sequence[object] | None = field(default=None, kw_only=True)

    @answer_mistakes
    def fit(self, X: Frame, y: Frame) -> Self:
        """Publishes X and y. This spends epsilon.

        Args:
            X: The predictors: a frame or an array, a row for each person.
            y: Their classes.

        Raises:
            UsageError: If there is neither a schema nor bounds and classes.
            DataError: If X or y breaks a rule of the schema.
        """
        if y is None:
            raise ValueError("RegionClassifier requires y to be passed, but the target y is None")
        names, columns = self._columns(X, reset=True)
        labels = _labels(y)
        if len(labels) != len(columns[0]):
            raise InputError(
                "X and y have different numbers of rows.", hint="Give y one label for each row."
            )
        if self.schema is None:
            if self.classes is None or len(self.classes) < 2:
                raise UsageError(
                    "RegionClassifier does not know which labels y may have.",
                    hint='Write classes=["no", "yes"], from public knowledge. They are not taken '
                    "from y, since a rare one would tell about the person who has it.",
                )
            self.classes_ = np.unique(np.asarray(self.classes))
            schema = self._known(names, self.classes_.tolist())
        else:
            schema = self._known(names)
            if not schema.classes:
                raise UsageError(
                    "schema has no class to predict.",
                    hint="Give the attribute that y holds `role: class` in the schema.",
                )
            if self.classes is not None:
                raise UsageError(
                    "classes cannot be given beside a schema.",
                    hint="Leave classes out: the schema names them.",
                )
            self.classes_ = np.sort(np.asarray(schema.classes))
        assert schema.target is not None
        self._publish(
            pa.table(dict(zip(names, columns, strict=True)) | {schema.target.name: labels}), schema
        )
        return self

    def predict_proba(self, X: Frame) -> Floats:
        """The probabilities of the classes, shape [rows, classes], in the order of `classes_`.

        Rows that the schema refuses get the shares of the classes in the whole release.

        Args:
            X: As for `fit`.

        Example:
            >>> X = np.array([[18.0], [25.0], [71.0], [80.0]] * 50)
            >>> y = np.array(["no", "no", "yes", "yes"] * 50)
            >>> model = RegionClassifier(
            ...     epsilon=5, bounds=(0, 100), classes=["no", "yes"], random_state=1).fit(X, y)
            >>> model.predict_proba([[20.0], [75.0]]).argmax(axis=1).tolist()
            [0, 1]
        """
        check_is_fitted(self)
        rows = pa.table(dict(zip(*self._columns(X, reset=False), strict=True)))
        answers = self.release_.predict_proba(rows)
        order = np.argsort(np.asarray(self.schema_.classes), kind="stable")
        if self.schema is None:  # labels were sorted before they became text
            order = np.arange(len(order))
        shares = np.column_stack([answers.column(int(place)).to_numpy() for place in order])
        refused = np.isnan(shares).any(axis=1)
        if refused.any():
            assert self.schema_.target is not None
            counts = np.maximum(self.release_.table(self.schema_.target.name)["estimate"], 0)[order]
            shares[refused] = counts / counts.sum() if counts.any() else 1 / len(counts)
        return shares

    @answer_mistakes
    def predict(self, X: Frame) -> NDArray[Any]:
        """The likeliest class of each row.

        Args:
            X: As for `fit`.

        Example:
            >>> X = np.array([[18.0], [25.0], [71.0], [80.0]] * 50)
            >>> y = np.array(["no", "no", "yes", "yes"] * 50)
            >>> model = RegionClassifier(
            ...     epsilon=5, bounds=(0, 100), classes=["no", "yes"], random_state=1).fit(X, y)
            >>> model.predict([[20.0], [75.0]]).tolist()
            ['no', 'yes']
        """
        best = np.argmax(self.predict_proba(X), axis=1)
        return np.asarray(self.classes_[best])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # noise on a few rows hides everything
        tags.non_deterministic = self.random_state is None
        tags.input_tags.allow_nan = self.schema is not None  # its rules say what becomes of it
        return tags


class Synthesizer(_Published):
    """Synthetic rows from a differentially private release; see `hedgerow.publish`.

    Args:
        epsilon: The loss that one person may suffer in one call of `fit`.
        schema: The public schema: an object, a dictionary or the path of a file.
        bounds: Without a schema, for numbers: as for `RegionClassifier`.
        delta: 0 for pure differential privacy.
        method: A method or its name; "marginals" by default.
        ledger: The file of a budget ledger.
        dataset: The data set's name in the ledger.
        random_state: For tests alone: a whole number makes `fit` repeatable and NOT private.

    Attributes:
        release_: The release, which may be saved and passed on.
        schema_: The public schema.

    Example:
        >>> import numpy as np
        >>> rows = np.full((200, 2), 30.0)
        >>> model = Synthesizer(bounds=(0, 100), random_state=1).fit(rows)
        >>> rows = model.sample(3, seed=1)
        >>> rows.column_names, rows.num_rows
        (['x0', 'x1'], 3)
    """

    @answer_mistakes
    def fit(self, X: Frame, y: None = None) -> Self:
        """Publishes X, the class included if the schema has one. This spends epsilon.

        Args:
            X: A frame, or an array of numbers if there are bounds.
            y: Not used; pipelines pass it.
        """
        names, columns = self._columns(X, reset=True)
        self._kind = "arrow" if isinstance(X, np.ndarray | list | tuple) else frame_kind(X)
        table = pa.table(dict(zip(names, columns, strict=True)))
        self._publish(table, self._known(names))
        return self

    @answer_mistakes
    def sample(self, n: int | None = None, *, seed: int | None = None) -> Frame:
        """Synthetic rows, in a frame of the kind that was fitted. This costs nothing.

        Args:
            n: How many; without it, as many as the release counts.
            seed: For the same rows again.

        Example:
            >>> model = Synthesizer(bounds=(0, 100), random_state=1).fit(np.full((200, 2), 30.0))
            >>> model.sample(3, seed=1).num_rows
            3
        """
        check_is_fitted(self)
        return self.release_.synthesize(n, seed=seed, kind=self._kind)


@contextmanager
def _refusing(advice: str = "") -> Iterator[None]:
    """What is wrong with X or y, as scikit-learn's tools expect to learn of it."""
    try:
        yield
    except DataError as error:
        raise InputError(error.message, f"{error.hint}{advice}") from None


def _labels(y: Any) -> Any:
    """The labels as an Arrow array."""
    with _refusing():
        if len(getattr(y, "shape", (0,))) != 2:
            return read_column(y, "y")
        _, columns = read_columns(y, "y")
    if len(columns) != 1:
        raise InputError("y should be a 1d array", hint="Give one label for each row.")
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. Give y one dimension.",
        DataConversionWarning,
        stacklevel=3,
    )
    return columns[0]
