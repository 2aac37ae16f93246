"""A model that makes a readable card: few levels, and monotone where the data allow it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.arrays import Floats
from weigh.bins import Binning, Feature, Rule, close_left
from weigh.chart_data import segment
from weigh.errors import warn_caller
from weigh.evidence import Evidence, FeatureTable, join_intervals
from weigh.frames import Value
from weigh.parameters import check_count
from weigh.scorecard.rare import warn_of_rare
from weigh.sheet import find_class

if TYPE_CHECKING:
    from weigh.scorecard.card import Scorecard

LEAST = 0.05
"""Minimum share of rows in a bin."""

MANY = 200
"""Maximum number of categories of a column in the first fit."""

TINY = 1e-9
"""Pseudo-count of a category without rows when weights are averaged."""

NOISE = 2.0
"""Departures from a monotone trend, in standard errors, that are treated as noise."""


@dataclass(frozen=True)
class GivenBins:
    """Cut points or a binning, and trends by column; options of the learner."""

    bins: Mapping[str, Any] | Binning
    trends: Mapping[str, int]
    options: Mapping[str, Any] = field(default_factory=dict)
    closed: str = "right"

    def bins_of(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """The bins of numeric columns: those that are given in place of those that were found."""
        if isinstance(self.bins, Binning):
            return dict.fromkeys(found, self.bins)
        return {**(close_left(found) if self.closed == "left" else found), **self.bins}

    @property
    def cut_by_hand(self) -> set[str]:
        """Columns whose cut points are given."""
        by_name = {} if isinstance(self.bins, Binning) else self.bins
        found = {name for name, rule in by_name.items() if not isinstance(rule, Rule)}
        rules = [(name, rule) for name, rule in by_name.items() if isinstance(rule, Binning)]
        return found | {name for name, rule in rules if rule.cuts is not None}


def other_class(model: Any, adverse: Any) -> Any:
    """The class of two that is not the adverse one."""
    classes = model.classes_.tolist()
    return classes[1 - find_class(classes, adverse, 0, "adverse")] if len(classes) == 2 else None


def fit_card(
    cls: type[Scorecard],
    /,
    X: Any,
    y: Any,
    *,
    adverse: Any = None,
    levels: int = 6,
    sample_weight: Any = None,
    categorical_features: Any = "from_dtype",
    special_values: Any = None,
    bins: Mapping[str, Any] | Binning | None = None,
    monotonic_cst: Mapping[str, int] | None = None,
    closed: str = "right",
    **settings: Any,
) -> Scorecard:
    """Fit a readable card to a table: few levels, monotone where the data allow it.

    Neighbouring intervals whose points are equal are joined.

    Parameters
    ----------
    X : table
        Rows, with or without the target.
    y : array or str
        Class labels, or the name of their column in X.
    adverse : label, optional
        The bad class, which has low scores. Default: the first label in sorted order.
    levels : int, default=6
        Largest number of bins or categories of a feature. Categories of less than 5% of the rows
        are joined; if they have less than 5% together, they join the category of the nearest
        weight. Missing and special codes are extra levels, however few their rows: their weights
        are shrunk. Ordered categories, and the two of a column of two, are not joined. A column
        such as names, of which no category has 5% and no value is missing, is left out.
    sample_weight : array or str, optional
        Row weights, or the name of their column.
    categorical_features, special_values
        As in `EducatedNB`, which fits the weights.
    bins : dict or Binning, optional
        Cut points by column, such as {"age": [30, 50]}, or lists of the categories of each level,
        instead of those found. A `Binning`, by column or for all numeric columns, maximises the
        information value.
    monotonic_cst : dict, optional
        Trends by column instead of those found: 1 or -1 makes the log odds of the second label in
        sorted order rise or fall; 0 sets no trend.
    closed : "right" or "left", default="right"
        The end that intervals include: (18, 65] or [18, 65).
    **settings
        Parameters of `Scorecard`: `points_to_double`, `base_score`, `texts` and so on.

    Examples
    --------
    >>> import weigh
    >>> people = weigh.datasets.titanic()
    >>> card = weigh.Scorecard.from_table(people, "Survived", adverse="No")
    >>> card.pos_label, len(card.points["Class"])
    ('Yes', 4)
    """
    check_count("levels", levels, 3)
    if closed not in ("right", "left"):
        raise ValueError(f"closed must be 'right' or 'left', got {closed!r}")
    options = {"categorical_features": categorical_features, "special_values": special_values}
    own_bins = {} if bins is None else close_left(bins) if closed == "left" else bins
    given = GivenBins(own_bins, monotonic_cst or {}, options, closed)
    model = learn_model(X, y, levels, sample_weight, given)
    rows = {} if sample_weight is not None else {"X": X, "y": y}  # rows are measured, not weights
    own = {"pos_label": other_class(model, adverse), **rows, **settings}
    card = cls(_leave_out_rare(model.evidence_), **own)
    while (joined := _join_equal(card, given.cut_by_hand)) is not card._source:
        card = cls(joined, **own)  # whose points may be rounded otherwise
    warn_of_rare(card)
    card.provenance_ = model.provenance_
    return card


def _leave_out_rare(evidence: Evidence) -> Evidence:
    """The evidence without columns all of whose rows have the level `other`, such as names."""
    gone = [
        table.name
        for table in evidence
        if isinstance(table.feature, Feature) and table.feature.other and len(table.labels) == 1
    ]
    if not gone:
        return evidence
    warn_caller(
        f"left out {', '.join(map(repr, gone))}: no category has {100 * LEAST:g}% of the rows; "
        "use coarser categories"
    )
    tables = tuple(table for table in evidence if table.name not in gone)
    columns = tuple(name for name in evidence.columns if name not in gone)
    return replace(evidence, tables=tables, columns=columns, covariance=None)


def _join_equal(card: Scorecard, kept: set[str]) -> Evidence:
    """The evidence of a card without cut points between equal points, but those that are given."""
    tables = tuple(
        table if table.name in kept else _join(table, card._points[table.name])
        for table in card._source
    )
    same = all(a is b for a, b in zip(tables, card._source, strict=True))
    return card._source if same else replace(card._source, tables=tables, covariance=None)


def _join(table: FeatureTable, points: Floats) -> FeatureTable:
    feature = table.feature
    if feature.cuts is None:
        return table
    n = len(feature.cuts) + 1
    starts = np.flatnonzero(np.diff(points[:n], prepend=np.nan)).tolist()
    return table if len(starts) == n else join_intervals(table, starts)


def learn_model(X: Any, y: Any, levels: int, sample_weight: Any, given: GivenBins) -> Any:
    """Fit every column finely, cut it where its weights change most, and fit what is left again.

    A column has at most `levels` bins, of at least 5% of the rows each, that keep the shape of
    the fine table with the least squared error; or as many categories, those of less than 5% of
    the rows joined with each other, or with another where they are less than 5% together.
    Ordered categories, missing and special codes stay. Bins that are monotone but for noise in the
    second fit are held monotone in a third.
    """
    from weigh.base import check_listed, read_sample  # a card that is only shown needs no learner
    from weigh.educated import EducatedNB

    first = EducatedNB(pairs=0, max_levels=MANY, **given.options)
    first.fit(X, y, sample_weight=sample_weight)

    def fit(**chosen: Any) -> Any:
        """Fit again, without repeating what was said of columns."""
        model = EducatedNB(pairs=0, **given.options, **chosen)
        sample = read_sample(model, X, y, sample_weight)
        model.max_levels = few or None  # 0, all of a column as `other`, is for cards only
        found = model._fit_sample(sample).evidence_
        if "monotonic_cst" not in chosen:
            check_listed(found.features, sample.table, found.tables)
        model.provenance_ = first.provenance_
        return model

    cuts: dict[str, list[Any]] = {}  # or the categories of each level
    few: dict[str, int] = {}  # columns of which some categories are joined
    for table in first.evidence_:
        feature = table.feature
        if feature.cuts is not None:
            cuts[table.name] = _coarsen(table, feature.cuts, levels)
        elif isinstance(feature, Feature) and not feature.ordered:
            kept = _count_frequent(table, feature, levels)
            few |= {} if kept is None else {table.name: kept}
            joined = _join_rare(table, feature, levels)
            cuts |= {table.name: joined} if joined else {}
    bins = given.bins_of(cuts) or "fine"
    coarse = fit(bins=bins)
    trends = {table.name: _trend(table) for table in coarse.evidence_}
    found = {name: trend for name, trend in (trends | dict(given.trends)).items() if trend}
    return fit(bins=bins, monotonic_cst=found) if found else coarse


def _count_frequent(table: FeatureTable, feature: Feature, most: int) -> int | None:
    """How many categories keep levels of their own; None where no two others are to be joined."""
    rows = table.counts[: len(feature.values)].sum(axis=1)
    n, frequent = len(rows), int((rows >= LEAST * table.counts.sum()).sum())
    if n <= 2 or (n <= most and n - frequent < 2):
        return None
    return min(frequent, most - 1)


def _join_rare(table: FeatureTable, feature: Feature, most: int) -> list[list[Value]]:
    """The categories of each level, where the rare ones together are too few for a level.

    They join the level of the nearest weight. Nothing is joined where one level would be left.
    """
    n = len(feature.values)
    rows, weights = table.counts[:n].sum(axis=1), table.by_class[:n, 0]
    least = LEAST * table.counts.sum()
    rare = rows < least
    kept = np.flatnonzero(~rare)
    enough = rows[rare].sum() >= least
    if enough or not rare.any() or feature.other or not 2 <= len(kept) <= most:
        return []
    mean = np.average(weights[rare], weights=rows[rare] + TINY)
    nearest = kept[np.abs(weights[kept] - mean).argmin()]
    places = [[place] if place != nearest else [place, *np.flatnonzero(rare)] for place in kept]
    return [[feature.values[place] for place in sorted(group)] for group in places]


def _coarsen(table: FeatureTable, cuts: tuple[float, ...], most: int) -> list[float]:
    """The cut points that are kept."""
    n = len(cuts) + 1
    rows = table.counts[:n].sum(axis=1)
    groups = segment(table.by_class[:n], rows, most, least=LEAST * float(table.counts.sum()))
    return [cuts[group.start - 1] for group in groups[1:]]


def _trend(table: FeatureTable) -> int:
    """The direction of intervals or ordered categories; 0 where they have none."""
    feature, errors = table.feature, table.errors
    n = feature.n_in_order
    if errors is None or n < 3:
        return 0
    return find_trend(table.by_class[:n, 0], errors[:n].reshape(n, -1)[:, 0])


def find_trend(weights: Floats, errors: Floats) -> int:
    """1 or -1 where the weights rise or fall but for noise, otherwise 0.

    >>> import numpy as np
    >>> find_trend(np.array([0.0, 0.5, 0.4]), np.full(3, 0.1))
    1
    >>> find_trend(np.array([0.0, 0.9, 0.0]), np.full(3, 0.1))
    0
    """
    from sklearn.isotonic import isotonic_regression  # which a card that is only shown lacks

    errors = np.maximum(errors, 1e-9)
    found = []
    for direction in (1, -1):
        fitted = isotonic_regression(direction * weights, sample_weight=1 / errors**2)
        off = np.abs(direction * weights - fitted) / errors
        found.append((float(off.max()), direction))
    worst, direction = min(found)
    return direction if worst <= NOISE else 0
