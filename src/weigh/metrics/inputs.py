"""Input of all metrics: labels and probabilities, checked, and sorted once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weigh.arrays import Floats, Integers
from weigh.errors import Parameter, ParameterError
from weigh.evidence import BOUND
from weigh.frames import Codes, Numbers, Value, check_weight, order, row_weights, vector
from weigh.metrics.numbers import check_size, read_matrix

Flags = NDArray[np.bool_]


def bits(p: Floats) -> Floats:
    """Loss in bits of rows whose true class has probability p, kept within [1e-10, 1 - 1e-10]."""
    return np.asarray(-np.log2(np.clip(p, BOUND, 1 - BOUND)))


@dataclass(frozen=True, eq=False)
class Groups:
    """Distinct probabilities in ascending order, and the weight of each class at each of them.

    Metrics depend on the rows only through these sums.
    """

    p: Floats
    positives: Floats
    negatives: Floats

    @cached_property
    def weight(self) -> Floats:
        """Weight of both classes at each probability."""
        return self.positives + self.negatives

    @cached_property
    def n_positive(self) -> float:
        """The weight of all positive rows."""
        return float(self.positives_up_to[-1])  # the last cumulative sum, bit for bit

    @cached_property
    def n_negative(self) -> float:
        """The weight of all negative rows."""
        return float(self.negatives_up_to[-1])

    @property
    def n(self) -> float:
        """The weight of all rows."""
        return self.n_positive + self.n_negative

    @property
    def base_rate(self) -> float:
        """The share of the positive class."""
        return self.n_positive / self.n

    @property
    def one_class(self) -> bool:
        """Whether all rows have the same class."""
        return min(self.n_positive, self.n_negative) == 0

    @cached_property
    def positives_up_to(self) -> Floats:
        """Cumulative weight of positives: 0, then up to and including each probability."""
        return np.concatenate([[0.0], np.cumsum(self.positives)])

    @cached_property
    def negatives_up_to(self) -> Floats:
        """Cumulative weight of negatives: 0, then up to and including each probability."""
        return np.concatenate([[0.0], np.cumsum(self.negatives)])

    @cached_property
    def log_odds(self) -> Floats:
        """Log odds of the probabilities, which are clipped to [1e-10, 1 - 1e-10]."""
        p = np.clip(self.p, BOUND, 1 - BOUND)
        return np.asarray(np.log(p) - np.log1p(-p))

    def mean(self, values: Floats) -> float:
        """Weighted mean over groups."""
        return float(self.weight @ values) / self.n


@dataclass(frozen=True, eq=False)
class Scored:
    """Labels, probabilities and weights, checked; sorted once, when first needed.

    Every metric of two classes accepts it in place of `y_true` and `y_prob`, so that many metrics
    need one sort.

    Examples
    --------
    >>> from weigh.metrics import Scored, auc, brier
    >>> rows = Scored.read([0, 1, 1, 0], [0.2, 0.9, 0.6, 0.6])
    >>> auc(rows).value, round(brier(rows), 4)
    (0.875, 0.1425)
    """

    positive: Flags
    p: Floats
    weight: Floats | None = None  # None: every row has weight 1

    @classmethod
    def read(
        cls, y_true: Any, y_prob: Any = None, sample_weight: Any = None, pos_label: Any = None
    ) -> Scored:
        """Read labels and probabilities as scikit-learn's metrics do; a `Scored` is returned."""
        if isinstance(y_true, Scored):
            if y_prob is not None or sample_weight is not None or pos_label is not None:
                raise ValueError(
                    "a Scored holds labels, probabilities and weights already; give nothing else"
                )
            return y_true
        if y_prob is None:
            raise ValueError("y_prob is missing; give the probability of the positive class")
        labels = Labels.read(y_true, sample_weight)
        wanted = labels.choose(pos_label)
        p = _read_probability(y_prob, labels, wanted, pos_label is not None)[labels.kept]
        return cls(labels.flags(wanted), p, labels.weight)

    def __len__(self) -> int:
        return len(self.p)

    def take(self, rows: Integers) -> Scored:
        """Some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return Scored(self.positive[rows], self.p[rows], weight)

    @property
    def weights(self) -> Floats:
        """Weight of each row."""
        return row_weights(self.weight, len(self))

    @property
    def losses(self) -> Floats:
        """Loss of each row in bits."""
        return bits(np.where(self.positive, self.p, 1 - self.p))

    @cached_property
    def _order(self) -> Integers:
        return np.argsort(self.p)

    @cached_property
    def _starts(self) -> Integers:
        """Position of the first row of each distinct probability in sorted order."""
        p = self.p[self._order]
        return np.flatnonzero(np.concatenate([[True], p[1:] > p[:-1]]))

    @cached_property
    def groups(self) -> Groups:
        """Distinct probabilities, with the weight of each class."""
        by = self._order
        weight = self.weights[by]
        positives = np.where(self.positive[by], weight, 0.0)
        parts = [np.add.reduceat(part, self._starts) for part in (positives, weight - positives)]
        return Groups(self.p[by[self._starts]], *parts)

    @cached_property
    def place(self) -> Integers:
        """Index of each row's group."""
        sizes = np.diff(np.append(self._starts, len(self)))
        place = np.empty(len(self), dtype=np.intp)
        place[self._order] = np.repeat(np.arange(len(sizes)), sizes)
        return place


def _missing_labels(column: Codes, kept: Flags) -> ParameterError:
    absent = np.array([value is None for value in column.values])[column.codes] & kept
    rows = "rows" if kept.all() else "rows of positive weight"
    return ParameterError(
        Parameter("y_true"),
        f" holds NaN or missing labels in {absent.sum():,} of {kept.sum():,} {rows}, the first in "
        f"row {absent.argmax()} (counted from 0); drop those rows or label them",
    )


@dataclass(frozen=True, eq=False)
class Labels:
    """True labels of the rows with positive weight; that of row i is values[codes[i]]."""

    codes: Integers
    values: list[Value]
    weight: Floats | None
    kept: Flags

    @classmethod
    def read(cls, y_true: Any, sample_weight: Any = None) -> Labels:
        """Read labels of any type, and weights; rows of weight 0 are dropped."""
        column = read_codes(y_true, "y_true")
        if not len(column.codes):
            raise ValueError("y_true is empty; a metric needs at least one row")
        weight = read_weight(sample_weight, len(column.codes))
        kept = np.ones(len(column.codes), dtype=np.bool_) if weight is None else weight > 0
        codes = column.codes[kept]
        used = np.flatnonzero(np.bincount(codes, minlength=len(column.values)))
        found = sorted((column.values[code] for code in used), key=order)
        if None in found:
            raise _missing_labels(column, kept)
        rank = {value: place for place, value in enumerate(found)}
        places = np.zeros(len(column.values), dtype=np.intp)
        places[used] = [rank[column.values[code]] for code in used]
        return cls(places[codes], found, None if weight is None else weight[kept], kept)

    def choose(self, pos_label: Any) -> Value:
        """Positive label: `pos_label` if given, 1 if labels are 0, 1 or -1, 1, else the greater."""
        if pos_label is not None:
            if np.ndim(pos_label):
                raise ValueError(f"pos_label must be one label, got {pos_label!r:.60}")
            if len(self.values) > 1 and pos_label not in self.values:
                raise ValueError(f"pos_label={pos_label!r} is not a label of y_true: {self.values}")
            return pos_label  # type: ignore[no-any-return]
        if {*self.values} <= {0, 1} or {*self.values} <= {-1, 1}:
            return 1
        if len(self.values) == 2:
            return self.values[1]
        if len(self.values) == 1:
            raise ValueError(
                f"y_true holds {self.values[0]!r} only, which may be either class; name the "
                "positive one with pos_label"
            )
        raise ValueError(
            f"y_true holds {len(self.values)} labels ({self.values[:4]}...), but this metric takes "
            "two; choose one with pos_label to compare it with the rest"
        )

    def flags(self, wanted: Value) -> Flags:
        """Whether each row has the given label."""
        return np.array([value == wanted for value in self.values])[self.codes]


def read_codes(values: Any, name: str) -> Codes:
    """Read labels from any list, array or column as integer codes."""
    try:
        column = vector(values, name, categorical=True)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a list or array of labels: {error}") from None
    assert isinstance(column, Codes)
    return column


def read_numbers(values: Any, name: str) -> Floats:
    """Read one number per row."""
    try:
        column = vector(values, name, categorical=False)
    except (TypeError, ValueError) as error:
        # The rest of the message is advice about features.
        why = error.parts[0] if isinstance(error, ParameterError) else error
        raise ParameterError(
            Parameter(name), f" must be a list or array of numbers: {why}".replace(f" {name!r}", "")
        ) from None
    assert isinstance(column, Numbers)
    return column.values


def read_weight(sample_weight: Any, n_rows: int, name: str = "sample_weight") -> Floats | None:
    """Read weights: finite, at least 0, not all 0; None if every row has weight 1."""
    if sample_weight is None:
        return None
    weight = read_numbers(sample_weight, name)
    if len(weight) != n_rows:
        raise ParameterError(
            Parameter(name), f" has {len(weight)} values for {n_rows} rows; give one for each"
        )
    check_weight(weight, name=name)
    if not weight.any():
        raise ParameterError(Parameter(name), " is zero for every row; at least one must count")
    check_size(weight, name)
    return weight


def check_probabilities(p: Floats, n_rows: int, name: str = "y_prob") -> Floats:
    """Return the probabilities; raise an error unless there is one in [0, 1] for each label."""
    if len(p) != n_rows:
        raise ValueError(f"y_true has {n_rows} rows and {name} {len(p)}; give one for each")
    if np.isnan(p).any():
        where = int(np.flatnonzero(np.isnan(p.reshape(n_rows, -1)).any(axis=1))[0])
        raise ValueError(
            f"{name} holds NaN (first in row {where}); drop those rows or predict them"
        )
    if p.min() < 0 or p.max() > 1:
        odd = p.min() if p.min() < 0 else p.max()
        raise ValueError(
            f"{name} must be probabilities from 0 to 1, but holds {odd:g}; log odds become "
            "probabilities by scipy.special.expit"
        )
    return p


def _read_probability(y_prob: Any, labels: Labels, wanted: Value, named: bool) -> Floats:
    """Read the probability of the positive class from one column, or from its column of two."""
    n_rows, shape = len(labels.kept), shape_of(y_prob, "y_prob")
    if len(shape) == 1:
        return check_probabilities(read_numbers(y_prob, "y_prob"), n_rows)
    if len(shape) != 2 or shape[1] != 2:
        raise ValueError(
            "y_prob must hold one probability per row, that of the positive class, or two; got "
            f"shape {shape}"
        )
    if named and len(labels.values) != 2:
        raise ValueError(
            f"y_true holds {labels.values}, which does not say which of the two columns of y_prob "
            f"is that of pos_label={wanted!r}; give that column alone"
        )
    column = labels.values.index(wanted) if len(labels.values) == 2 else 1
    return check_probabilities(read_matrix(y_prob, "y_prob"), n_rows)[:, column]


def shape_of(values: Any, name: str) -> tuple[int, ...]:
    """Shape of an array, a dataframe or nested lists."""
    try:
        return tuple(np.shape(values))
    except ValueError:
        raise ValueError(f"{name} must have rows of equal length") from None
