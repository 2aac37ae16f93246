"""Evidence: a prior and one table of weights per feature."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from weigh import engine
from weigh.arrays import Floats
from weigh.bins import AND, Cross, Feature, label
from weigh.evidence import show
from weigh.evidence.curve import Attenuation, Recalibration
from weigh.evidence.feature_table import FeatureTable, scale_margins
from weigh.evidence.provenance import Change
from weigh.evidence.show import ROWS
from weigh.evidence.units import HUNDREDTHS, Units
from weigh.evidence.view import to_view
from weigh.frames import Table, did_you_mean, match, read
from weigh.pickling import by_fields
from weigh.tally import Counts, Tally


def tell_condition(exposure: str | None, offset: str | None) -> str:
    """What estimates are for without exposure and offset, by their names; None if there is none."""
    per = "" if exposure is None else f" per unit of {exposure or 'exposure'}"
    return per if offset is None else f"{per} at {offset or 'offset'} = 0"


@dataclass(frozen=True, eq=False)
class Evidence:
    """A prior and a table of weights per feature.

    It is a sequence of named tables: iteration, `evidence[0]` and `evidence["Sex"]` give a
    `FeatureTable`. `names` lists the names, and `"Sex" in evidence` tests for one. Weights are in
    nats. With two classes positive weights favour `classes[1]`.

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
    form: Literal["softmax", "ovr", "identity", "log", "hazard"] = "softmax"
    caveat: str = ""
    backend: str | None = None
    columns: tuple[str, ...] = ()
    attenuation: Attenuation | None = None  # exponent that depends on the row
    recalibration: Recalibration | None = None  # of two classes
    covariance: Floats | None = None  # of prior and weights, if jointly fitted
    scales_estimated: bool = False  # whether the covariance includes the uncertainty of the scales
    class_texts: tuple[str, ...] = ()  # display names of classes; empty: the labels
    outcomes: tuple[str, ...] = ()  # by class, to complete "Probability that"
    edits: tuple[Change, ...] = ()  # changes by hand
    units: Units = HUNDREDTHS  # in which weights are displayed
    exposure: str | None = None  # column used in fit by a regressor; "": an array
    offset: str | None = None

    __reduce__ = by_fields

    def __getitem__(self, name: str | int | tuple[str, str]) -> FeatureTable:
        """A table by its name or place; of a pair also by the names of its two columns."""
        if isinstance(name, tuple):
            return self[self._name_of_pair(name)]
        try:
            return self.tables[name] if isinstance(name, int) else self._by_name[name]
        except KeyError:
            meant = did_you_mean(name, self._by_name)
            raise KeyError(f"no feature {name!r}; there are {[*self._by_name]}{meant}") from None

    def _name_of_pair(self, columns: tuple[str, str]) -> str:
        """The table of two columns in either order; the name as given if there is none."""
        given, turned = AND.join(map(str, columns)), AND.join(map(str, reversed(columns)))
        return turned if turned in self and given not in self else given

    def __iter__(self) -> Iterator[FeatureTable]:
        return iter(self.tables)

    def __contains__(self, name: object) -> bool:
        """Whether there is a table of that name; a table itself may be given too."""
        return name in self._by_name or any(name is table for table in self.tables)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tables, in order."""
        return tuple(self._by_name)

    def __len__(self) -> int:
        return len(self.tables)

    def own_name(self, name: str) -> str:
        """The name of a table, from its name or its display name."""
        shown = {} if name in self else {table.shown: table.name for table in self}
        return shown.get(name, name)

    @cached_property
    def _by_name(self) -> dict[str, FeatureTable]:
        return {table.name: table for table in self.tables}

    @property
    def link(self) -> Literal["logistic", "softmax", "ovr", "identity", "log"]:
        """Function from totals to probabilities; `ovr` is one class against the rest, normalised.

        A regressor has `identity`, where the total is the estimate, or `log`, where it is the
        logarithm of the estimate.
        """
        if len(self.classes) == 2 or self.form == "hazard":
            return "logistic"
        return self.form

    @property
    def estimates(self) -> bool:
        """Whether the model is a regressor: totals give numbers, not probabilities."""
        return self.link in ("identity", "log")

    def means(self, totals: Floats) -> Floats:
        """The estimates of a regressor, in the unit of the target."""
        return np.exp(totals) if self.link == "log" else totals

    @property
    def class_names(self) -> tuple[str, ...]:
        """The display names of the classes."""
        own = [label(c) for c in self.classes.tolist()]
        texts = self.class_texts or [""] * len(own)
        names = tuple(text or name for text, name in zip(texts, own, strict=True))
        return (names[0] + self.condition,) if self.estimates else names

    @property
    def condition(self) -> str:
        """Suffix for the estimates of a regressor: per unit of exposure, at an offset of 0."""
        return tell_condition(self.exposure, self.offset)

    def probability_of(self, place: int) -> str:
        """Heading for the probability of a class."""
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
        """The features, which define the levels."""
        return tuple(table.feature for table in self.tables)

    @cached_property
    def scored(self) -> tuple[FeatureTable, ...]:
        """The tables by which rows are scored, with the margins of pairs."""
        return tuple(table.scored for table in self.tables)

    @property
    def tally(self) -> Tally:
        """The counts, which can be added to those of other rows."""
        tables = tuple(Counts(table.feature, table.counts) for table in self.tables)
        return Tally(self.classes, self.class_counts, tables)

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns read, in order."""
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
        """The class frequencies if given, not counted; None otherwise. Such a prior has no error.

        They come from `class_prior` or `with_prior`, and do not change when rows are added.
        """
        known = self.prior_variances is not None and not self.prior_variances.any()
        return self.assumed_rate if known else None

    @property
    def beside(self) -> tuple[str, ...]:
        """The columns of exposure and offset, which a row may have beside its features."""
        return tuple(filter(None, (self.exposure, self.offset)))

    def read(self, X: Any) -> Table:
        """Read the columns of the model from any table, by name if X has names."""
        if isinstance(X, Table):
            return X
        words = self.event_model == "counts"
        table = read(X, allow_sparse=words)
        own = self.column_names
        return match(table, own, table.named, "this evidence", self.beside, words)

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
        features = [part.feature for part in self.scored]
        return engine.total(table, features, [part.padded for part in self.scored], start)

    def contributions(self, X: Any) -> Floats:
        """Weights of each row's levels, of shape (rows, tables, totals), before any exponent."""
        parts = engine.place(self.read(X), [table.feature for table in self.scored])
        columns = [t.padded[p.levels][p.codes] for t, p in zip(self.scored, parts, strict=True)]
        return np.stack(columns, axis=1)

    def observed(self, X: Any) -> Floats:
        """What the attenuation of each row depends on.

        The number of features with an answer, or of tokens in a document. With the form "known",
        the share of the evidence that is not known.
        """
        table = self.read(X)
        if self.attenuation is not None and self.attenuation.form == "known":
            return self._not_known(table, self.attenuation.shares)
        if self.event_model == "counts":
            return engine.count_tokens(table)
        return engine.count_answers(table, self.features)

    def _not_known(self, table: Table, shares: Mapping[str, float]) -> Floats:
        """The sum of the shares of tables in which a row has no level."""
        own = [part for part in self.tables if shares.get(part.name, 0.0)]
        found = np.zeros(table.n_rows)
        for part, placed in zip(own, engine.place(table, [p.feature for p in own]), strict=True):
            alone = np.append(np.zeros(len(part.levels)), shares[part.name])
            found += alone[placed.levels][placed.codes]
        return found

    def probabilities(self, totals: Floats) -> Floats:
        """The probability of each class, from totals."""
        return engine.link(totals, self.form)

    def decide(self, totals: Floats) -> np.ndarray[Any, Any]:
        """The most probable class of each row."""
        winner = totals[:, 0] > 0 if totals.shape[1] == 1 else totals.argmax(axis=1)
        return self.classes[winner.astype(np.intp)]

    def with_prior(self, rate: Floats) -> Evidence:
        """Change the prior to that of a population with other class frequencies."""
        if self.link == "ovr":
            from scipy.special import logit  # not at start-up: scoring needs none

            change = logit(rate) - logit(self.assumed_rate)
        else:
            change = contrast(np.log(rate) - np.log(self.assumed_rate))
        if self.recalibration is not None:  # the total before it keeps the old prior and its error
            new = replace(self.recalibration, shift=self.recalibration.shift + float(change[0]))
            return replace(self, assumed_rate=rate, recalibration=new)
        errors = None if self.prior_variances is None else np.zeros(len(rate))
        known = replace(self, assumed_rate=rate, prior_variances=errors)
        if self.attenuation is None or self.attenuation.form == "known":
            return replace(known, prior=squeeze(self.prior_row + change))
        shift = self.attenuation.shift + change
        return replace(known, attenuation=replace(self.attenuation, shift=shift))

    def to_frame(self) -> Any:
        """One row per level, in the dataframe library that the training table came from."""
        return show.to_frame(self)

    def to_text(self, width: int = 100, max_rows: int | None = ROWS) -> str:
        """The tables as plain text, at most `width` characters wide.

        If a feature has more than `max_rows` bins, they are joined so that the shape is kept. None
        prints every bin, level and table.
        """
        return show.to_text(self, width, max_rows)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return to_view(self).to_html()


def weight_spans(sizes: Iterable[int]) -> tuple[slice, ...]:
    """The slice of each table in a vector of weights that begins with the prior.

    >>> weight_spans([2, 3])
    (slice(1, 3, None), slice(3, 6, None))
    """
    return tuple(slice(a, b) for a, b in pairwise(np.cumsum([1, *sizes]).tolist()))


def contrast(logs: Floats) -> Floats:
    """Weights from log probabilities by class (last axis): log odds of two classes, or centred."""
    two = logs.shape[-1] == 2
    weights: Floats = logs[..., 1:] - logs[..., :1] if two else logs - logs.mean(-1, keepdims=True)
    return weights


def squeeze(row: Floats) -> float | Floats:
    """A row of totals as a prior: one number for two classes."""
    return float(row[0]) if len(row) == 1 else row


def keep_to_complete_rows(evidence: Evidence) -> Evidence:
    """The evidence without what only incomplete rows use: their factor, and margins of pairs.

    An attenuation that depends on the number of answers stays.
    """
    rule = evidence.attenuation
    if rule is None or rule.form != "known":
        return evidence
    tables = tuple(replace(table, margins=None) for table in evidence)
    return replace(evidence, tables=tables, attenuation=None)


def flip(evidence: Evidence) -> Evidence:
    """Exchange the two classes, so that positive weights favour the first.

    total'(x) = -total(x), and recalibration and attenuation are mirrored too

    >>> import weigh
    >>> evidence = weigh.EvidenceNB().fit(weigh.datasets.titanic(), "Survived").evidence_
    >>> turned = flip(evidence)
    >>> turned.classes.tolist(), (100 * turned["Sex"].weights).round().tolist()
    (['Yes', 'No'], [-174.0, 57.0])
    """
    if len(evidence.classes) != 2:
        raise ValueError(
            f"only a model of two classes can be reversed; this one has {len(evidence.classes)}"
        )
    rule, worth = evidence.attenuation, evidence.recalibration
    return replace(
        evidence,
        classes=evidence.classes[::-1],
        class_counts=evidence.class_counts[::-1],
        prior=-float(evidence.prior_row[0]),
        tables=tuple(map(_turn_table, evidence.tables)),
        assumed_rate=evidence.assumed_rate[::-1],
        prior_variances=_swap(evidence.prior_variances),
        attenuation=rule and replace(rule, shift=-rule.shift),
        recalibration=worth and _turn_curve(worth),
        class_texts=evidence.class_texts[::-1],
        outcomes=evidence.outcomes[::-1],
        units=evidence.units.turned,
    )


def _swap(by_class: Floats | None) -> Floats | None:
    return None if by_class is None else by_class[..., ::-1]


def _turn_table(table: FeatureTable) -> FeatureTable:
    return replace(
        table,
        counts=table.counts[:, ::-1],
        by_class=-table.by_class + 0.0,  # no negative zero
        variances=_swap(table.variances),
        margins=scale_margins(table.margins, -1.0),
    )


def _turn_curve(worth: Recalibration) -> Recalibration:
    """Mirror a recalibration f: -f(-total)."""
    steps = worth.method == "isotonic"
    return replace(
        worth,
        points=-worth.points[::-1],
        levels=1 - worth.levels[::-1] if steps else -worth.levels[::-1],
        slopes=worth.slopes[::-1],
        shift=-worth.shift + 0.0,
    )
