"""Evidence: a prior and one table of weights per feature."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy.special import logit

from weigh import engine
from weigh.bins import Cross, Feature, Level, label
from weigh.evidence import show
from weigh.evidence.curve import BOUND, Attenuation, Recalibration
from weigh.evidence.edits import Change
from weigh.evidence.importance import (
    centre_weights,
    loss_without,
    mean_contribution,
    share_rows,
)
from weigh.evidence.show import ROWS
from weigh.evidence.units import HUNDREDTHS, Units
from weigh.frames import Floats, Table, did_you_mean, match, read
from weigh.tally import Counts, Tally, smoothed_levels


@dataclass(frozen=True, eq=False, repr=False)
class FeatureTable:
    """The weights of evidence of one feature, level by level.

    `by_class` holds the weights as columns: one for two classes, else one per class. `variances`
    holds the posterior variance of ln P(v|c) for each level and class, NaN where it cannot be
    known, or None where the learner has no such thing.
    """

    feature: Feature | Cross
    counts: Floats
    by_class: Floats
    variances: Floats | None = None
    smoothing: float = 0.0
    note: str = ""
    known_errors: Floats | None = None  # of the weights, where they do not follow from variances

    @property
    def name(self) -> str:
        """The feature's name."""
        return self.feature.name

    @property
    def shown(self) -> str:
        """The feature's name as people read it."""
        return self.feature.shown

    @property
    def levels(self) -> tuple[Level, ...]:
        """Categories as they are, intervals as `Interval`, missing as None."""
        return self.feature.levels

    @property
    def labels(self) -> tuple[str, ...]:
        """The levels as people read them."""
        return self.feature.labels

    @property
    def weights(self) -> Floats:
        """One weight per level (two classes), or one per level and class."""
        return self.by_class[:, 0] if self.by_class.shape[1] == 1 else self.by_class

    @cached_property
    def padded(self) -> Floats:
        """The weights by level, and zero for what is no level."""
        return np.vstack([self.by_class, np.zeros((1, self.by_class.shape[1]))])

    @property
    def errors(self) -> Floats | None:
        """Posterior standard errors of the weights; NaN where they cannot be known."""
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
        """The mean absolute contribution over the training rows; the mean over classes of many."""
        return float(self.importances.mean())

    @property
    def importances(self) -> Floats:
        """The mean absolute contribution over the training rows: one for two classes, or by class.

        sum over levels v of share_v |w_v - mean|
        """
        return mean_contribution(self.by_class, self.counts)

    @property
    def added_loss(self) -> float | None:
        """Nats a row that the log loss would rise by without the table; None where not known.

        An approximation from the table's own counts (`importance.loss_without`). It needs weights
        that were fitted together: counted ones repeat each other, and may lose nothing.
        """
        if self.known_errors is None or self.counts.shape[1] == 1:
            return None
        return loss_without(self.by_class, self.counts)

    @property
    def information_value(self) -> float:
        """Expected weight of evidence of the counts; the mean over pairs of classes.

        sum_v (P(v|1) - P(v|0)) ln P(v|1)/P(v|0), whatever a learner made of the weights. Levels
        that were declared and have no rows are left out of the sum. NaN for a numeric target.
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

    def __repr__(self) -> str:
        return show.feature_text(self)


@dataclass(frozen=True, eq=False)
class Evidence:
    """A prior and a table of weights per feature.

    It is a sequence of tables that have names: iterating gives each `FeatureTable` in order, and so
    do `evidence[0]` and `evidence["Sex"]`. `names` lists them; `"Sex" in evidence` asks for one.
    Weights are in nats. For two classes positive speaks for `classes[1]`.

    Examples
    --------
    >>> from weigh import EvidenceNB
    >>> from weigh.datasets import titanic
    >>> evidence = EvidenceNB().fit(titanic(), "Survived").evidence_
    >>> evidence["Sex"].levels
    ('Female', 'Male')
    >>> (100 * evidence["Sex"].weights).round()
    array([174., -57.])
    """

    classes: np.ndarray[Any, Any]
    class_counts: Floats
    prior: float | Floats
    tables: tuple[FeatureTable, ...]
    assumed_rate: Floats
    prior_variances: Floats | None = None
    event_model: Literal["levels", "counts"] = "levels"
    form: Literal["softmax", "ovr", "identity", "log"] = "softmax"
    caveat: str = ""
    backend: str | None = None
    columns: tuple[str, ...] = ()
    attenuation: Attenuation | None = None  # where the exponent depends on the row
    recalibration: Recalibration | None = None  # of two classes
    covariance: Floats | None = None  # of prior and weights, where they were fitted together
    class_texts: tuple[str, ...] = ()  # what people read in place of the labels; empty: those
    outcomes: tuple[str, ...] = ()  # by class, what completes "Probability that"
    edits: tuple[Change, ...] = ()  # what was changed by hand
    units: Units = HUNDREDTHS  # how people read the weights

    def __getitem__(self, name: str | int) -> FeatureTable:
        try:
            return self.tables[name] if isinstance(name, int) else self._by_name[name]
        except KeyError:
            meant = did_you_mean(name, self._by_name)
            raise KeyError(f"no feature {name!r}; there are {[*self._by_name]}{meant}") from None

    def __iter__(self) -> Iterator[FeatureTable]:
        return iter(self.tables)

    def __contains__(self, name: object) -> bool:
        """Whether there is a table of that name; a table may stand for its name."""
        return name in self._by_name or any(name is table for table in self.tables)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tables, in order."""
        return tuple(self._by_name)

    def __len__(self) -> int:
        return len(self.tables)

    @cached_property
    def _by_name(self) -> dict[str, FeatureTable]:
        return {table.name: table for table in self.tables}

    @property
    def link(self) -> Literal["logistic", "softmax", "ovr", "identity", "log"]:
        """What turns totals into probabilities; `ovr` is one class against the rest, normalised.

        A model of numbers has no classes but the name of its target: `identity` means that the
        total is the estimate, `log` that it is the estimate's logarithm.
        """
        return "logistic" if len(self.classes) == 2 else self.form

    @property
    def estimates(self) -> bool:
        """Whether totals mean numbers, not probabilities of classes."""
        return self.link in ("identity", "log")

    def means(self, totals: Floats) -> Floats:
        """What the totals of a model of numbers mean, in the target's unit."""
        return np.exp(totals) if self.link == "log" else totals

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes as people read them."""
        own = [label(c) for c in self.classes.tolist()]
        texts = self.class_texts or [""] * len(own)
        return tuple(text or name for text, name in zip(texts, own, strict=True))

    def probability_of(self, place: int) -> str:
        """What the probability of a class is called."""
        outcome = self.outcomes[place] if self.outcomes else ""
        return (
            f"Probability that {outcome}"
            if outcome
            else f"Probability of {self.class_names[place]}"
        )

    @property
    def base_rate(self) -> Floats:
        """The class frequencies of the training rows."""
        rate: Floats = self.class_counts / self.class_counts.sum()
        return rate

    @property
    def features(self) -> tuple[Feature | Cross, ...]:
        """The levels alone, feature by feature."""
        return tuple(table.feature for table in self.tables)

    @property
    def tally(self) -> Tally:
        """The counts alone, which add."""
        tables = tuple(Counts(table.feature, table.counts) for table in self.tables)
        return Tally(self.classes, self.class_counts, tables)

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """The columns of the tables that the evidence reads, in order."""
        if self.event_model == "counts":
            return tuple(map(str, self.tables[0].levels))
        own = (source.name for table in self for source in table.feature.sources)
        return self.columns or tuple(dict.fromkeys(own))

    @property
    def prior_row(self) -> Floats:
        """The prior as a row of totals."""
        return np.atleast_1d(np.asarray(self.prior, dtype=np.float64))

    @cached_property
    def given_rate(self) -> Floats | None:
        """The class frequencies, where they were given and not counted: such a prior has no error.

        They come from `class_prior` or `with_prior`, and stay when rows are added.
        """
        known = self.prior_variances is not None and not self.prior_variances.any()
        return self.assumed_rate if known else None

    def read(self, X: Any) -> Table:
        """Any table, as the columns that the evidence reads: by name where X has names."""
        if isinstance(X, Table):
            return X
        table = read(X, allow_sparse=self.event_model == "counts")
        return match(table, self.column_names, table.named, "this evidence")

    def total(self, X: Any) -> Floats:
        """Prior plus weights for each row: log odds in one column, or one total per class."""
        totals = self.raw_total(X)
        return totals if self.recalibration is None else self.recalibration.apply(totals)

    def raw_total(self, X: Any) -> Floats:
        """Prior plus weights for each row, before the recalibration if there is one."""
        table = self.read(X)
        if self.attenuation is None:
            return self._add(table, self.prior_row)
        weights = self._add(table, np.zeros(len(self.prior_row)))
        return self.attenuation.apply(weights, self.prior_row, self.observed(table))

    def _add(self, table: Table, start: Floats) -> Floats:
        if self.event_model == "counts":
            return engine.total_counts(table, self.tables[0].by_class, start)
        return engine.total(table, self.features, [t.padded for t in self.tables], start)

    def contributions(self, X: Any) -> Floats:
        """The weight of each row's level: by row, table, and total; before any exponent."""
        parts = engine.place(self.read(X), self.features)
        columns = [t.padded[p.levels][p.codes] for t, p in zip(self.tables, parts, strict=True)]
        return np.stack(columns, axis=1)

    def observed(self, X: Any) -> Floats:
        """How many features each row has an answer in; the number of tokens of a document."""
        table = self.read(X)
        if self.event_model == "counts":
            return engine.count_tokens(table)
        return engine.count_answers(table, self.features)

    def probabilities(self, totals: Floats) -> Floats:
        """What totals mean: the probability of each class."""
        return engine.link(totals, self.form)

    def decide(self, totals: Floats) -> np.ndarray[Any, Any]:
        """The most probable class of each row."""
        winner = totals[:, 0] > 0 if totals.shape[1] == 1 else totals.argmax(axis=1)
        return self.classes[winner.astype(np.intp)]

    def with_prior(self, rate: Floats) -> Evidence:
        """The same evidence for a population of other class frequencies, taken as known."""
        if self.link == "ovr":
            change = logit(rate) - logit(self.assumed_rate)
        else:
            change = contrast(np.log(rate) - np.log(self.assumed_rate))
        if self.recalibration is not None:  # whose total keeps the prior of old, and its error
            new = replace(self.recalibration, shift=self.recalibration.shift + float(change[0]))
            return replace(self, assumed_rate=rate, recalibration=new)
        errors = None if self.prior_variances is None else np.zeros(len(rate))
        known = replace(self, assumed_rate=rate, prior_variances=errors)
        if self.attenuation is None:
            return replace(known, prior=squeeze(self.prior_row + change))
        shift = self.attenuation.shift + change
        return replace(known, attenuation=replace(self.attenuation, shift=shift))

    def to_frame(self) -> Any:
        """One row per level, in the dataframe library that the training table came from."""
        return show.to_frame(self)

    def to_text(self, width: int = 100, max_rows: int | None = ROWS) -> str:
        """The tables as plain text, at most `width` characters wide.

        More than `max_rows` bins of a feature are joined into so many that keep the shape; None
        prints every bin, level and table.
        """
        return show.to_text(self, width, max_rows)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        from weigh.evidence.view import to_view

        return to_view(self).to_html()


def contrast(logs: Floats) -> Floats:
    """Log probabilities by class (last axis) as weights: the log odds of two, else centred."""
    two = logs.shape[-1] == 2
    weights: Floats = logs[..., 1:] - logs[..., :1] if two else logs - logs.mean(-1, keepdims=True)
    return weights


def scale_table(table: FeatureTable, factors: Floats, note: str = "") -> FeatureTable:
    """The weights times one factor, or times one per class; errors follow the first factor."""
    variances = scale_variances(table.variances, float(factors[0]))
    return replace(table, by_class=table.by_class * factors, variances=variances, note=note)


def scale_variances(variances: Floats | None, factor: float) -> Floats | None:
    """The variances of something times a factor, whose own error is left out."""
    return None if variances is None else variances * factor**2


def squeeze(row: Floats) -> float | Floats:
    """A row of totals as a prior: one number for two classes."""
    return float(row[0]) if len(row) == 1 else row
