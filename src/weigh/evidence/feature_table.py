"""The weights of one feature, and its importance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.bins import Cross, Feature, Level
from weigh.evidence import show
from weigh.evidence.curve import BOUND
from weigh.evidence.view import view_table
from weigh.pickling import by_fields
from weigh.tally import smoothed_levels

if TYPE_CHECKING:
    from weigh.evidence.tables import Evidence


Margins: TypeAlias = tuple[Floats, Floats]
"""The weights of a pair of which one answer is not known: by level of each of its columns."""


@dataclass(frozen=True, eq=False, repr=False)
class FeatureTable:
    """The weights of evidence of one feature, level by level.

    `by_class` holds the weights as columns: one for two classes, else one per class. `variances`
    holds the posterior variance of ln P(v|c) for each level and class: NaN if it cannot be
    computed, None if the learner does not provide it. `margins` are the weights of a pair in rows
    of which one answer is not known.
    """

    feature: Feature | Cross
    counts: Floats
    by_class: Floats
    variances: Floats | None = None
    smoothing: float = 0.0
    note: str = ""
    known_errors: Floats | None = None  # standard errors, if not from variances
    margins: Margins | None = None

    __reduce__ = by_fields

    @property
    def name(self) -> str:
        """The feature's name."""
        return self.feature.name

    @property
    def shown(self) -> str:
        """The feature's display name."""
        return self.feature.shown

    @property
    def levels(self) -> tuple[Level, ...]:
        """Categories as they are, intervals as `Interval`, missing as None."""
        return self.feature.levels

    @property
    def labels(self) -> tuple[str, ...]:
        """The levels as text."""
        return self.feature.labels

    @property
    def weights(self) -> Floats:
        """One weight per level (two classes), or one per level and class."""
        return self.by_class[:, 0] if self.by_class.shape[1] == 1 else self.by_class

    @cached_property
    def padded(self) -> Floats:
        """The weights by level, with a last row of zeros for no level."""
        return np.vstack([self.by_class, np.zeros((1, self.by_class.shape[1]))])

    @cached_property
    def scored(self) -> FeatureTable:
        """The table by which rows are scored: a pair's margins are weights of levels without rows.

        The margins have no errors of their own.
        """
        if self.margins is None:
            return self
        assert isinstance(self.feature, Cross)
        halved, (first, second) = self.feature.halved, self.margins
        half, (i, j) = halved.is_half, np.array(halved.pairs).T
        places = np.where(j < len(second), len(first) + j, i)[half]
        by_class = _widen(self.by_class, half)
        by_class[half] = np.vstack([first, second])[places]
        others = (self.counts, self.variances, self.known_errors)
        counts, variances, errors = (None if a is None else _widen(a, half) for a in others)
        assert counts is not None
        return FeatureTable(halved, counts, by_class, variances, self.smoothing, self.note, errors)

    @property
    def without_rows(self) -> Integers:
        """Mask of the levels that no training row has, though rows could have them."""
        seen = self.counts.any(axis=1)
        own = self.feature.is_half if isinstance(self.feature, Cross) else False
        return np.asarray(~(seen | own))

    @property
    def errors(self) -> Floats | None:
        """Posterior standard errors of the weights; NaN where they cannot be computed."""
        if self.known_errors is not None:
            return self.known_errors[:, 0] if self.known_errors.shape[1] == 1 else self.known_errors
        if self.variances is None:
            return None
        n_classes = self.variances.shape[1]
        total = self.variances.sum(axis=1, keepdims=True)
        centred = self.variances * (1 - 2 / n_classes) + total / n_classes**2
        errors: Floats = np.sqrt(total[:, 0] if n_classes == 2 else centred)
        return errors

    @property
    def share(self) -> Floats:
        """The share of each level in the training rows."""
        return share_rows(self.counts)

    @property
    def centred(self) -> Floats:
        """The weights less their mean over the training rows, as columns like `by_class`."""
        return centre_weights(self.by_class, self.counts)

    @property
    def importance(self) -> float:
        """Mean distance of a training row's weight from the mean weight; averaged over classes."""
        return float(self.importances.mean())

    @property
    def importances(self) -> Floats:
        """Mean distance of a training row's weight from the mean weight, by class.

        sum over levels v of share_v |w_v - mean|

        With two classes there is one number.
        """
        return mean_contribution(self.by_class, self.counts)

    @property
    def added_loss(self) -> float | None:
        """Increase of the log loss without the table, in nats per row; None if not available.

        An approximation from the table's own counts (`importance.loss_without`). It is defined for
        jointly fitted weights only: weights counted one by one are partly redundant, so removing a
        table may not increase the loss.
        """
        if self.known_errors is None or self.counts.shape[1] == 1:
            return None
        return loss_without(self.by_class, self.counts)

    @property
    def information_value(self) -> float:
        """Information value of the counts; averaged over pairs of classes.

        sum_v (P(v|1) - P(v|0)) ln P(v|1)/P(v|0), from the counts only, not from the fitted weights.
        Declared levels without rows are left out of the sum. NaN for a numeric target.
        """
        if self.counts.shape[1] == 1:
            return float("nan")
        own = self.counts[smoothed_levels(self)]
        counts = own + self.smoothing
        if len(counts) < 2 or not counts.sum(axis=0).all():
            return 0.0
        share = counts / counts.sum(axis=0)
        logs = np.log(share if self.smoothing else np.clip(share, BOUND, 1 - BOUND))
        pairs = (share * (logs - logs.mean(axis=1, keepdims=True)))[own.any(axis=1)].sum()
        return float(2 / (share.shape[1] - 1) * pairs)

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per level: its weight, standard error and training rows (of a token: count).

        The table is of PyArrow or of `backend`, such as "pandas". With more than two classes, the
        columns end in the place of the class, from 0; `Evidence.to_frame` has their names.

        >>> import weigh
        >>> model = weigh.EvidenceNB().fit(weigh.datasets.titanic(), "Survived")
        >>> model.evidence_["Sex"].to_frame().column_names
        ['level', 'weight', 'error', 'rows']
        """
        return show.table_to_frame(self, backend)

    def __repr__(self) -> str:
        return show.feature_text(self)

    def _repr_html_(self) -> str:
        return view_table(self).to_html()


def _widen(values: Floats, empty: Integers) -> Floats:
    """Values by level, with zeros for the levels that are `empty`."""
    found = np.zeros((len(empty), values.shape[1]))
    found[~empty] = values
    return found


def scale_table(table: FeatureTable, factors: Floats, note: str = "") -> FeatureTable:
    """Multiply the weights by one factor, or one per class; variances use the first factor."""
    variances = scale_variances(table.variances, float(factors[0]))
    scaled = replace(table, by_class=table.by_class * factors, variances=variances, note=note)
    return replace(scaled, margins=scale_margins(table.margins, float(factors[0])))


def scale_margins(margins: Margins | None, factor: float) -> Margins | None:
    """The margins of a pair, if it has any, multiplied by a factor, without a negative zero."""
    return margins and (margins[0] * factor + 0.0, margins[1] * factor + 0.0)


def scale_variances(variances: Floats | None, factor: float | Floats) -> Floats | None:
    """Variances after multiplication by a factor, or one per class; its own error is ignored."""
    return None if variances is None else variances * factor**2


def token_variance(table: FeatureTable) -> Floats:
    """Variance common to ln P(token|c) of all tokens, which share the total N of a class.

    trigamma(N + s m), with m tokens
    """
    from scipy.special import polygamma  # not at start-up: only tokens need it

    norm = table.counts.sum(axis=0) + table.smoothing * len(table.counts)
    return np.asarray(polygamma(1, np.where(norm > 0, norm, np.nan)))


def share_rows(counts: Floats) -> Floats:
    """The share of each level in the training rows.

    >>> share_rows(np.array([[1.0, 2.0], [0.0, 1.0]]))
    array([0.75, 0.25])
    """
    rows = counts.sum(axis=1)
    return np.asarray(rows / max(rows.sum(), np.finfo(float).tiny))


def centre_weights(by_class: Floats, counts: Floats) -> Floats:
    """Weights minus their mean over the training rows.

    The zero point of a table is a convention of the learner; centred weights do not depend on it.
    Levels without rows do not affect the mean.
    """
    return np.asarray(by_class - share_rows(counts) @ by_class)


def mean_contribution(by_class: Floats, counts: Floats) -> Floats:
    """Mean distance of a training row's weight from the mean weight, by column of weights.

    sum over levels v of share_v |w_v - mean|
    """
    return np.asarray(share_rows(counts) @ np.abs(centre_weights(by_class, counts)))


def loss_without(by_class: Floats, counts: Floats) -> float:
    """Increase of the log loss, in nats per row, if every row had the table's mean weight.

    An approximation from the counts of the table alone: all rows of a level v are assumed to have
    the class frequencies r_v of that level as probabilities. Removing the table's weights gives

        sum over levels v of share_v KL(r_v || softmax(ln r_v - (w_v - mean)))

    It is exact if the model has no other table, and too high if other tables make the predictions
    of a level's rows more certain. Other weights are not refitted.
    """
    from scipy.special import entr, log_softmax  # not at start-up: scoring needs none

    told = counts.sum(axis=1) > 0
    moved = centre_weights(by_class, counts)[told]
    if moved.shape[1] == 1:  # the log odds of two classes
        moved = np.column_stack([np.zeros(len(moved)), moved])
    rows = counts[told]
    rate = rows / rows.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        after = log_softmax(np.log(rate) - moved, axis=1)
    lost = -np.where(rate > 0, rate * np.where(rate > 0, after, 0.0), 0.0) - entr(rate)
    return float(max(share_rows(rows) @ lost.sum(axis=1), 0.0))


def poisson_distance(mean: Floats) -> Floats:
    """Mean distance of a Poisson number from its mean m: 2 m P(n = floor(m)).

    >>> poisson_distance(np.array([0.0, 0.5, 8.0])).round(3)
    array([0.   , 0.607, 2.233])
    """
    from scipy.special import gammaln, xlogy  # not at start-up: only tokens need it

    n = np.floor(mean)
    return np.asarray(2 * mean * np.exp(xlogy(n, mean) - mean - gammaln(n + 1)))


def share_importance(evidence: Evidence) -> Floats:
    """Importance of each column; that of a pair is divided equally between its columns.

    A token contributes its weight once per occurrence. The table has the total of its occurrences,
    but not their distribution over documents, which is assumed to be Poisson.
    """
    names = evidence.column_names
    shares = dict.fromkeys(names, 0.0)
    if evidence.event_model == "counts":
        table = evidence.tables[0]
        often = table.counts.sum(axis=1) / evidence.class_counts.sum()
        return np.asarray(poisson_distance(often) * np.abs(table.by_class).mean(axis=1))
    for table in evidence:
        for part in table.feature.parts:
            shares[part.name] += table.importance / len(table.feature.parts)
    return np.array([shares[name] for name in names])
