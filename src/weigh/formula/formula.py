"""`Formula`: a model as plain data, with the columns it asks for.

Nothing here knows of any target or learner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from weigh.arrays import Floats
from weigh.bins import SINGLE, Ask, Cross, Feature, Kind, label, list_others, sort_values
from weigh.evidence import Attenuation, Curve, Evidence, FeatureTable, evidence_of, is_sum
from weigh.evidence.exposure import OffsetColumn, list_offsets
from weigh.evidence.feature_table import token_variance
from weigh.evidence.model import score_names
from weigh.evidence.tables import tell_condition
from weigh.frames import Value, key


@dataclass(frozen=True)
class Input:
    """An input column of the model, and the features that read it: one, or several in pairs."""

    name: str
    features: tuple[Feature, ...]

    @property
    def first(self) -> Feature:
        """The first feature that reads it."""
        return self.features[0]

    @property
    def is_numeric(self) -> bool:
        """Whether its numbers are cut into intervals."""
        return self.first.is_numeric

    @cached_property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of its values in training; empty if it had none."""
        return frozenset().union(*(feature.kinds for feature in self.features))

    @property
    def kind(self) -> Kind:
        """What it holds as one kind."""
        return Kind.of_all(self.kinds)

    @property
    def accepted(self) -> tuple[Kind, ...]:
        """The kinds of values that it takes: any, where training saw none."""
        return tuple(kind for kind in SINGLE if kind in (self.kinds or SINGLE))

    @cached_property
    def types(self) -> frozenset[type]:
        """The types of JSON that it takes."""
        return frozenset().union(*(kind.types for kind in self.accepted))

    @property
    def asked(self) -> tuple[Ask, ...]:
        """Conditions for the column to be asked for; empty if it always is."""
        return next((feature.asked for feature in self.features if feature.asked), ())

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """The categories or special codes that any feature knows, in order."""
        longest = max(self.features, key=lambda part: len(part.values))
        if longest.ordered:
            return longest.values
        values = sort_values({key(value) for part in self.features for value in part.values})
        return tuple(map(float, values)) if self.is_numeric else values  # type: ignore[arg-type]

    @property
    def has_missing(self) -> bool:
        """Whether missing is a level."""
        return any(feature.has_missing for feature in self.features)

    @property
    def choices(self) -> tuple[Value, ...]:
        """The values that a list of answers offers: also those that share the level `other`."""
        return self.values + sort_values({*map(key, list_others(self.features, self.values))})

    @property
    def labels(self) -> tuple[str, ...]:
        """The choices as people read them."""
        if self.is_numeric:
            return tuple(label(value) for value in self.values)
        whole = replace(self.first, values=self.choices, has_missing=self.has_missing, groups=())
        return whole.labels[: len(self.choices)]

    @cached_property
    def cuts(self) -> tuple[float, ...]:
        """All cut points, in order."""
        return tuple(sorted({cut for feature in self.features for cut in feature.cuts or ()}))

    @cached_property
    def other(self) -> tuple[Kind, ...]:
        """The kinds of the values that share the level `other`."""
        return tuple(sorted({kind for feature in self.features for kind in feature.other}))


def list_inputs(
    features: Iterable[Feature | Cross], column_names: Iterable[str]
) -> tuple[Input, ...]:
    """The columns that features read, in the order of the table."""
    parts: dict[str, list[Feature]] = {}
    for feature in features:
        for part in feature.sources:
            parts.setdefault(part.name, []).append(part)
    return tuple(
        Input(name, tuple(dict.fromkeys(parts[name]))) for name in column_names if name in parts
    )


Rows: TypeAlias = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Term:
    """The weights of one table: of a column, or of two together.

    `columns` find the places of a row's values, `places` holds each level's place in each column,
    `weights` its weight for each total, and `variances` that of ln P(v|c) for each class.
    """

    feature: Feature | Cross
    places: tuple[tuple[int, ...], ...]
    weights: Rows
    variances: Rows | None = None
    unseen: tuple[int, ...] = ()  # levels without a training row
    note: str = ""
    shared: tuple[float, ...] | None = None  # of tokens: the variance that they have in common
    share: tuple[float, ...] = ()  # of the training rows, by level

    @classmethod
    def of(cls, table: FeatureTable, tokens: bool = False) -> Term:
        """A table of weights, as data; the margins of a pair are weights of levels like others."""
        table = table.scored
        feature, n = table.feature, len(table.levels)
        joint = tokens and table.variances is not None
        return cls(
            feature,
            feature.pairs if isinstance(feature, Cross) else tuple((i,) for i in range(n)),
            _rows(table.by_class),
            None if table.variances is None else _rows(table.variances),
            tuple(np.flatnonzero(table.without_rows).tolist()),
            table.note,
            tuple(token_variance(table).tolist()) if joint else None,
            tuple(table.share.tolist()),
        )

    @property
    def name(self) -> str:
        """The name of the column, or of both."""
        return self.feature.name

    @property
    def columns(self) -> tuple[Feature, ...]:
        """The columns that it reads."""
        return self.feature.parts

    @property
    def phrases(self) -> tuple[str, ...]:
        """The levels as people say them: `Sex = Male`."""
        return tuple(map(self.feature.phrase, range(len(self.places))))

    @property
    def skips(self) -> bool:
        """Whether a missing value counts as no answer, which the attenuation needs."""
        return self.feature.skip_missing

    @cached_property
    def lookup(self) -> dict[tuple[int, ...], int]:
        """The level at each place, or pair of places."""
        return {place: level for level, place in enumerate(self.places)}


def _rows(values: Floats) -> Rows:
    return tuple(map(tuple, values.tolist()))


def _widen_covariance(evidence: Evidence) -> Floats | None:
    """The covariance of prior and weights, with zeros for the margins of pairs."""
    if evidence.covariance is None or all(table.margins is None for table in evidence):
        return evidence.covariance
    fitted = [
        ~table.feature.is_half if isinstance(table.feature, Cross) else np.ones(len(table.levels))
        for table in evidence.scored
    ]
    own = np.flatnonzero(np.concatenate([[1.0], *fitted]))
    n = 1 + sum(map(len, fitted))
    found = np.zeros((n, n))
    found[np.ix_(own, own)] = evidence.covariance
    return found


@dataclass(frozen=True)
class Costs:
    """Baselines for the points lost by each term of a scorecard, and texts for reasons.

    `texts` holds, by term, the text for each level, and last for no level.
    """

    baselines: tuple[float, ...]
    texts: tuple[tuple[str, ...], ...]
    about: str = ""  # what the score means, in a sentence
    counts: tuple[tuple[tuple[float, float], ...], ...] = ()  # by level: rows, and bads of them
    favours_bad: bool = False  # whether WoE is printed positive for bads


@dataclass(frozen=True, eq=False)
class Spread:
    """Distribution of a numeric target around its estimates, for prediction intervals.

    variance = dispersion mean^power. `errors` are quantiles of the errors of hold-out rows, in
    standard deviations, at evenly spaced probabilities from 0 to 1. Counts have none: they are
    Poisson, or negative binomial where the dispersion is above 1.
    """

    power: float
    dispersion: float
    errors: Floats


@dataclass(frozen=True, eq=False)
class Formula:
    """A whole model: one total for two classes or a number, else one for each class.

    Examples
    --------
    >>> import weigh
    >>> model = weigh.EvidenceNB().fit(weigh.datasets.titanic(), "Survived")
    >>> formula = Formula.of(model)
    >>> [term.name for term in formula.terms], formula.link
    (['Class', 'Sex', 'Age'], 'logistic')
    """

    classes: tuple[Any, ...]
    prior: tuple[float, ...]
    terms: tuple[Term, ...]
    link: Literal["logistic", "softmax", "ovr", "identity", "log"]
    column_names: tuple[str, ...]
    rates: tuple[float, ...]
    attenuation: Attenuation | None = None
    curve: Curve | None = None
    tokens: bool = False  # whether rows are counts of tokens, each a level of the only term
    prior_variances: tuple[float, ...] | None = None
    covariance: Floats | None = field(default=None, repr=False)
    model_name: str = "Evidence"
    score_name: str = ""  # of the sum before the curve, where people read that too
    costs: Costs | None = None  # of a scorecard
    spread: Spread | None = None  # of a model of numbers
    given: tuple[str | None, str | None] = (None, None)  # exposure and offset of a fit; "": no name
    offsets: tuple[OffsetColumn, ...] = ()  # those that are columns, which rows may have

    @classmethod
    def of(cls, model: Any) -> Formula:
        """The formula of a model, of its evidence, or of a scorecard, which describes itself."""
        own: Callable[[], Formula] | None = getattr(model, "formula", None)
        if own is not None:
            return own()
        evidence, spread = evidence_of(model, is_sum(model)), getattr(model, "_spread", None)
        return cls.of_evidence(evidence, name_of(model), spread=spread)

    @classmethod
    def of_evidence(cls, evidence: Evidence, name: str = "Evidence", **more: Any) -> Formula:
        """A table of weights, as data."""
        tokens, errors = evidence.event_model == "counts", evidence.prior_variances
        curve, offsets = evidence.recalibration, list_offsets(evidence)
        others = [column.name for column in offsets if column.name not in evidence.column_names]
        return cls(
            tuple(evidence.classes.tolist()),
            tuple(evidence.prior_row.tolist()),
            tuple(Term.of(table, tokens) for table in evidence),
            evidence.link,
            (*evidence.column_names, *others),
            tuple(evidence.assumed_rate.tolist()),
            evidence.attenuation,
            None if curve is None else curve.curve,
            tokens,
            None if errors is None else tuple(errors.tolist()),
            _widen_covariance(evidence),
            name,
            given=(evidence.exposure, evidence.offset),
            offsets=offsets,
            **more,
        )

    @cached_property
    def not_known(self) -> tuple[float, ...]:
        """The share of the evidence that each term has, where the factor of a row depends on it.

        Empty if the model has no such factor.
        """
        rule = self.attenuation
        if rule is None or rule.form != "known":
            return ()
        return tuple(rule.shares.get(term.name, 0.0) for term in self.terms)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes as people read them."""
        return tuple(map(label, self.classes))

    @property
    def estimates(self) -> bool:
        """Whether totals mean a number, not probabilities of classes."""
        return self.link in ("identity", "log")

    @property
    def estimated(self) -> str:
        """What a model of numbers estimates for rows that have the columns of the fit."""
        return self.estimated_of({column.name: column.neutral for column in self.offsets})

    @property
    def has_condition(self) -> bool:
        """Whether estimates depend on an exposure or an offset."""
        return self.given != (None, None)

    def estimated_of(self, row: Mapping[str, Any]) -> str:
        """What is estimated for a row; without exposure per unit of it, without offset at 0."""
        there = {column.role for column in self.offsets if row.get(column.name) is not None}
        absent = [
            None if role in there else name
            for role, name in zip(("exposure", "offset"), self.given, strict=True)
        ]
        return self.class_names[0] + tell_condition(*absent)

    @property
    def description(self) -> str:
        """The kind of model, and what it estimates where that depends on an exposure or offset."""
        rows = " and ".join(column.name for column in self.offsets)
        own = f" for the {rows} of a row" if rows else ""
        if not self.has_condition:
            return self.model_name
        return f"{self.model_name}: {self.estimated}{own}"

    @property
    def total_names(self) -> tuple[str, ...]:
        """What the totals are called, as in `weigh score`."""
        return ("total",) if self.estimates else tuple(score_names(self.classes)[0])

    @property
    def prediction_names(self) -> tuple[str, ...]:
        """What the totals mean: the probability of each class, or the estimate of a number."""
        return ("estimate",) if self.estimates else tuple(score_names(self.classes)[1])

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        """The columns that it reads, in the order of the table."""
        if self.tokens:
            return tuple(Input(name, (Feature(name),)) for name in self.column_names)
        features = [term.feature for term in self.terms]
        read = {source.name for feature in features for source in feature.sources}
        more = [_number(column) for column in self.offsets if column.name not in read]
        return list_inputs([*features, *more], self.column_names)


def name_of(model: Any) -> str:
    """The name of a model's class, or of the survival model whose hazard it is."""
    part_of = getattr(getattr(model, "provenance_", None), "part_of", None)
    return part_of or type(model).__name__


def _number(column: OffsetColumn) -> Feature:
    """A column of numbers that has no levels of its own."""
    return Feature(column.name, cuts=())
