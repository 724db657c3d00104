"""Releases of tables that tell the class of a record, whatever they are made of."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Floats, Ints
from hedgerow.errors import UsageError
from hedgerow.estimate.classify import probabilities_of
from hedgerow.estimate.synthesize import labels_of
from hedgerow.release.measured import MeasuredRelease
from hedgerow.schema import Categorical
from hedgerow.store.frames import Frame
from hedgerow.suggestions import answer_mistakes

__all__ = ["PredictingRelease"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PredictingRelease(MeasuredRelease):
    """A release of a table that may tell classes."""

    @abstractmethod
    def _weights(self, codes: NDArray[np.integer]) -> Floats:
        """How likely classes are for rows of codes, up to a factor: [rows, classes]."""

    @answer_mistakes
    def predict(self, rows: Frame) -> Frame:
        """The likeliest class of each row.

        With marginals by the model that counts and synthetic rows come from too, else the class
        that the region of the row mostly holds. In a tree, a region whose counts are mostly noise
        leans on the regions around it (`hedgerow.estimate.classify`). Rows of regions that are
        suppressed get the majority class of the release.

        Args:
            rows: A frame or a file with the predictors of the schema; other columns are ignored.

        Returns:
            A frame of the kind of the rows, in their order, with the class as its one column.

        Raises:
            UsageError: If the schema has no class.
        """
        target = self._target()
        codes, known = self._encoded(rows)
        labels = labels_of(target, self.majority(codes), ~known)
        return self._beside(rows, {target.name: labels})

    @answer_mistakes
    def predict_proba(self, rows: Frame) -> Frame:
        """The probability of each class for each row; `predict` names the likeliest.

        Args:
            rows: As for `predict`.

        Returns:
            A frame of the kind of the rows, in their order, with one column per class; null where
            the schema would refuse or drop the row.

        Raises:
            UsageError: If the schema has no class.
        """
        classes = self._target().taxonomy.leaves
        codes, known = self._encoded(rows)
        shares = self.probabilities(codes)
        columns = {name: pa.array(shares[:, i], mask=~known) for i, name in enumerate(classes)}
        return self._beside(rows, columns)

    def majority(self, codes: NDArray[np.integer]) -> Ints:
        """The same for rows of codes: the likeliest class code of each.

        Args:
            codes: The predictors, shape [rows, attributes].
        """
        return np.asarray(np.argmax(self._weights(codes), axis=1), np.int64)

    def probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """The probability of each class for rows of codes, shape [rows, classes].

        Where all weights are 0 or less, the class that is least below gets all of it.

        Args:
            codes: As for `majority`.
        """
        return probabilities_of(self._weights(codes))

    def _target(self) -> Categorical:
        if self.schema.target is None:
            raise UsageError(
                "this release has no class to predict",
                hint="Publish with a schema that has an attribute with role: class.",
            )
        return self.schema.target

    def _encoded(self, rows: Frame) -> tuple[NDArray[np.integer], Bools]:
        from hedgerow.data import encode_rows

        codes, known = encode_rows(rows, self.schema, lenient=True)
        # what stands in for a row that was not encoded is never shown, but must be a code
        return np.where(known[:, None], codes, 0), known

    def _beside(self, rows: Frame, columns: dict[str, pa.Array]) -> Frame:
        """A frame of the kind of the rows, aligned with them."""
        from hedgerow.data import frame_kind

        kind = frame_kind(rows)
        table = pa.table(columns)
        if kind != "pandas":
            return self._frame(table, kind)
        import pandas

        # by itself pandas would turn whole numbers with gaps into floats
        gaps = any(column.null_count for column in columns.values())
        whole = {pa.int64(): pandas.Int64Dtype()} if gaps else {}
        frame = table.to_pandas(types_mapper=whole.get)
        frame.index = getattr(rows, "index", frame.index)  # pandas aligns by index, not by order
        return frame
