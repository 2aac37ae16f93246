"""`simplify`: choose features, then merge levels, then refit all weights together.

Features are chosen by backward elimination: the table whose removal raises the loss least is
removed, again and again. The increase comes from a second-order approximation, which is accurate
only near the model where it was computed. So the approximation is computed again at the small model
that was found, with the weights of removed tables at zero; a table removed too early can come back.
Of the sets of features found this way, the one with the lowest leave-one-out loss is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from weigh.arrays import Integers
from weigh.base import EvidenceModel, read_sample
from weigh.bins import Feature
from weigh.budget.levels import Groupings, Shape, choose_groups, list_all_bins, list_bins
from weigh.budget.quadratic import LossExpansion, round_evidence
from weigh.educated import EducatedNB
from weigh.evidence import Evidence, evidence_of, record
from weigh.frames import Sample
from weigh.parameters import check_count, is_count
from weigh.progress import show_progress
from weigh.sheet import find_positions

ROUNDS = 5
"""Largest number of times that the approximation is computed again."""

FEW = 2
"""Up to this many features, the search also starts from the features with the highest information
value, which backward elimination can miss."""


@dataclass(frozen=True, eq=False)
class SampleRows:
    """A sample, and the parameters for reading its columns."""

    sample: Sample
    given: Mapping[str, Any]
    groups: Mapping[str, Any] = field(default_factory=dict)  # groups of categories, as in `bins`
    numbers: frozenset[str] = frozenset()  # numeric columns

    @classmethod
    def read(cls, model: Any, X: Any, y: Any, sample_weight: Any = None) -> SampleRows:
        """Read the columns that a fitted model uses."""
        if not isinstance(model, EvidenceModel):
            evidence_of(model)  # raises an error that says why it has no tables
            kind = type(model).__name__
            raise ValueError(f"expected a fitted classifier of this package, got {kind}")
        names = model._column_names()
        if model.event_model == "counts":
            raise ValueError("a model of documents has one table; there is nothing to simplify")
        sample = read_sample(EducatedNB(), X, y, sample_weight)
        if not sample.table.named:
            raise ValueError(
                "X has no column names, and a smaller model reads some of its columns by name; "
                "pass a dataframe, to fit and here"
            )
        table = model._match(sample.table)
        every = [f for f in model.evidence_.features if isinstance(f, Feature)]
        groups = {f.name: list_bins(f, np.arange(len(f.levels))) for f in every if f.groups}
        numbers = frozenset(f.name for f in every if f.is_numeric)
        own = replace(sample, table=table.select(names))
        return cls(own, model.get_params(deep=False), groups, numbers)

    def take(self, rows: Any) -> SampleRows:
        """Select some of the rows."""
        return replace(self, sample=self.sample.take(rows))

    def take_places(self, places: Integers) -> SampleRows:
        """Select rows by number; numbers may occur more than once."""
        own = self.sample
        weight = None if own.weight is None else own.weight[places]
        taken = replace(own, table=own.table.rows(places), labels=own.labels[places], weight=weight)
        return replace(self, sample=taken)

    def fine(self, model: Any) -> EducatedNB:
        """Return the model if it is an EducatedNB without pairs; otherwise fit one."""
        plain = isinstance(model, EducatedNB) and all(
            isinstance(table.feature, Feature) for table in model.evidence_
        )
        return model if plain else self.fit(self.sample.table.names)

    def fit(
        self, names: Sequence[str], bins: Mapping[str, Any] | None = None, pairs: int = 0
    ) -> EducatedNB:
        """Fit EducatedNB on some columns, with fine bins or given ones."""
        parameters = self._parameters(names, ("max_levels",) if bins is None else ())
        levels = self._fine(names) if bins is None else {name: bins[name] for name in names}
        learner = EducatedNB(bins=levels, pairs=pairs, **parameters)
        table = self.sample.table.select(tuple(names))
        return learner._fit_sample(replace(self.sample, table=table))

    def _fine(self, names: Sequence[str]) -> Any:
        """Fine bins of numeric columns; groups of categories are kept, as they may look numeric."""
        groups = {name: self.groups[name] for name in names if name in self.groups}
        cut = {name: "fine" for name in names if name in self.numbers}
        return {**cut, **groups} if groups else "fine"

    def _parameters(self, names: Sequence[str], more: Iterable[str]) -> dict[str, Any]:
        """Parameters of the given model, restricted to some columns."""
        every = ("categorical_features", "missing", "special_values", "monotonic_cst", *more)
        known = {name: self.given[name] for name in every if self.given.get(name) is not None}
        codes = known.get("special_values")
        kept = {name: self._kept(value, names) for name, value in known.items()}
        if codes is not None and not isinstance(codes, Mapping):
            kept["special_values"] = codes  # codes for all columns, not a list of columns
        return kept | {"class_prior": self.given.get("class_prior")}

    def _kept(self, value: Any, names: Sequence[str]) -> Any:
        """Restrict a parameter that is given by column; return one for all columns as it is."""
        every = self.sample.table.names
        if isinstance(value, str) or not isinstance(value, Iterable):
            return value
        if isinstance(value, Mapping):
            by_name = {every[k] if is_count(k) else k: v for k, v in value.items()}
            return {name: by_name[name] for name in names if name in by_name}
        listed = [*value]
        if len(listed) == len(every) and not any(isinstance(item, str) for item in listed):
            return [listed[every.index(name)] for name in names]  # one entry per column
        named = {every[item] if is_count(item) else item for item in listed}
        return [name for name in names if name in named]


@dataclass(frozen=True, eq=False)
class TableRanking:
    """All features with few levels each, and the order in which tables are removed."""

    rows: SampleRows
    levels: int
    bins: dict[str, Any]
    evidence: Evidence
    order: tuple[str, ...]

    @classmethod
    def of(cls, evidence: Evidence, rows: SampleRows, levels: int) -> TableRanking:
        """Fit all features that need at most `levels` levels, and remove one after the other."""
        bins = coarsen_tables(without_copies(usable(evidence, levels), rows), rows, levels)
        coarse = rows.fit([*bins], bins).evidence_
        return cls(rows, levels, bins, coarse, _remove(coarse, rows, at_optimum=True))

    def best(self, most: int) -> tuple[str, ...]:
        """Best `most` features, in the order of the table."""
        if most >= len(self.order):
            return self._last(self.order, most)
        tried: dict[tuple[str, ...], float] = {}
        for order in (self.order, self._alone) if most <= FEW else (self.order,):
            self._improve(self._last(order, most), most, tried)
        return min(tried, key=lambda names: tried[names])

    def _improve(
        self, chosen: tuple[str, ...], most: int, tried: dict[tuple[str, ...], float]
    ) -> None:
        """Repeat the elimination near each set found; store the loss of each set in `tried`."""
        for _ in range(ROUNDS):
            if chosen in tried:
                return
            small = self.rows.fit(chosen, {name: self.bins[name] for name in chosen})
            tried[chosen] = float(np.mean(small.loo_loss_))
            near = _within(self.evidence, small.evidence_)
            chosen = self._last(_remove(near, self.rows), most)

    @property
    def _alone(self) -> tuple[str, ...]:
        """Features by ascending information value."""
        tables = sorted(
            self.evidence, key=lambda table: float(np.nan_to_num(table.information_value))
        )
        return tuple(table.name for table in tables)

    def _last(self, order: tuple[str, ...], most: int) -> tuple[str, ...]:
        kept = {*order[-most:]}
        return tuple(name for name in self.evidence.names if name in kept)


def usable(evidence: Evidence, levels: int) -> Evidence:
    """Keep the tables that can have `levels` levels; special codes and missing take one each."""
    own = tuple(table for table in evidence if _fits(table.feature, levels))
    if not own:
        raise ValueError(
            f"no table fits into levels={levels}: each has one level, or special codes and missing "
            "take all of them; raise levels"
        )
    return replace(evidence, tables=own)


def without_copies(evidence: Evidence, rows: SampleRows) -> Evidence:
    """Leave out tables whose levels divide the rows exactly as those of an earlier table."""
    seen: set[bytes] = set()
    kept = []
    for table, places in zip(evidence, find_positions(evidence, rows.sample.table), strict=True):
        _, first, inverse = np.unique(places, return_index=True, return_inverse=True)
        merged = first[inverse].tobytes()  # each level named by its first row
        if merged not in seen:
            kept.append(table)
        seen.add(merged)
    return replace(evidence, tables=tuple(kept))


def _fits(feature: Any, levels: int) -> bool:
    return (
        isinstance(feature, Feature)
        and len(feature.levels) > 1
        and Shape.of(feature).fixed < levels
    )


def coarsen_tables(evidence: Evidence, rows: SampleRows, levels: int) -> dict[str, Any]:
    """Merge each table by itself into at most `levels` levels; return the parameter `bins`."""
    quadratic, groups = LossExpansion.at(evidence, rows.sample, at_optimum=True), []
    for table, span in zip(evidence, quadratic.spans, strict=True):
        curvature = np.diagonal(quadratic.hessian, axis1=1, axis2=2)[:, span].mean(axis=0)
        ways = Groupings.find(Shape.of(table.feature), table.by_class, curvature, levels)
        groups.append(ways.groups[-1])
    return list_all_bins(evidence.features, groups)


def _remove(evidence: Evidence, rows: SampleRows, at_optimum: bool = False) -> tuple[str, ...]:
    order = LossExpansion.at(evidence, rows.sample, at_optimum).eliminate()
    return tuple(evidence.tables[j].name for j in order)


def _within(whole: Evidence, small: Evidence) -> Evidence:
    """Extend a small model to all tables; those that it does not have get weights of zero."""
    tables = [
        replace(t, by_class=small[t.name].by_class if t.name in small else 0 * t.by_class)
        for t in whole
    ]
    return replace(whole, prior=small.prior, tables=tuple(tables))


@dataclass(frozen=True)
class Budget:
    """Largest numbers of features, levels per table and in all, pairs and points of a model."""

    features: int = 8
    levels: int = 6
    total_levels: int | None = None
    pairs: int = 0
    points: int | None = None

    def __post_init__(self) -> None:
        limits = {"features": 1, "levels": 2, "total_levels": 2, "pairs": 0, "points": 1}
        for name, least in limits.items():
            given = getattr(self, name)
            if given is not None or name not in ("total_levels", "points"):
                check_count(name, given, least)


def simplify(
    model: Any,
    X: Any,
    y: Any,
    features: int = 8,
    levels: int = 6,
    total_levels: int | None = None,
    pairs: int = 0,
    points: int | None = None,
    *,
    sample_weight: Any = None,
) -> EducatedNB:
    """Fit the best model within a budget of features and levels, in whole points if asked.

    Features are removed and levels are merged such that the loss rises least, to second order. Then
    `EducatedNB` fits all remaining weights together. With `points`, each weight is a whole number
    of points; all points are chosen jointly for the lowest loss, to second order.

    Parameters
    ----------
    model : classifier
        A fitted classifier of this package. Unless it is an `EducatedNB` without pairs, one with
        the same columns and shared parameters is fitted first.
    X, y : table, and array or str
        Rows with column names, usually the training rows, and their classes or the name of their
        column.
    features : int, default=8
        The largest number of features.
    levels : int, default=6
        The largest number of levels of a feature. Special codes and missing count, and are not
        merged.
    total_levels : int, optional
        The largest number of levels of all features together.
    pairs : int, default=0
        The largest number of pairs among the features that are kept. Their cells are not counted as
        levels.
    points : int, optional
        The largest number of points of a level, in absolute value, such as 5. Two classes only. The
        weights of the model are then points times `point_`, the weight of one point in nats;
        standard errors are not known.
    sample_weight : array or str, optional
        Row weights, or the name of their column.

    Returns
    -------
    EducatedNB
        A fitted model of the kept columns. Its parameter `bins` has the cut points and the groups
        of categories.

    Examples
    --------
    >>> import weigh
    >>> people = weigh.datasets.titanic()
    >>> model = weigh.EducatedNB().fit(people, "Survived")
    >>> small = weigh.simplify(model, people, "Survived", features=2, levels=3)
    >>> {table.name: table.labels for table in small.evidence_}
    {'Class': ('1st', '2nd or Crew', '3rd'), 'Sex': ('Female', 'Male')}
    """
    budget = Budget(features, levels, total_levels, pairs, points)
    if isinstance(model, RegressorMixin):
        raise ValueError(
            "simplify takes models of classes; this model estimates numbers, "
            f"got {type(model).__name__}"
        )
    rows = SampleRows.read(model, X, y, sample_weight)
    if points is not None and len(rows.sample.classes) > 2:
        raise ValueError(
            "points needs two classes; leave it out, or fit one class against the rest"
        )
    with show_progress("simplify"):
        small = shrink(rows, rows.fine(model), budget)
    small.provenance_ = record(rows.sample.table.select(small._column_names()), y)
    return small


def shrink(
    rows: SampleRows, fine: EducatedNB, budget: Budget, ranking: TableRanking | None = None
) -> EducatedNB:
    """Fit the best model within a budget, from one with fine bins."""
    names = choose_features(rows, fine.evidence_, budget, ranking)
    whole = {*names} == {*fine.evidence_.names}
    bins = choose_bins(rows, (fine if whole else rows.fit(names)).evidence_, budget)
    small = rows.fit([*bins], bins, budget.pairs)
    return small if budget.points is None else _round(rows, small, budget.points)


def _round(rows: SampleRows, small: EducatedNB, points: int) -> EducatedNB:
    """Round the weights to whole points; tables with a monotone constraint are only rounded."""
    sample = replace(rows.sample, table=rows.sample.table.select(small._column_names()))
    orders = small.monotonic_cst or {}
    held = frozenset(orders if isinstance(orders, Mapping) else small.evidence_.names)
    evidence, scale = round_evidence(small.evidence_, sample, points, held)
    small._keep(evidence)
    small.loo_loss_, small.point_ = float("nan"), scale
    return small


def choose_features(
    rows: SampleRows, evidence: Evidence, budget: Budget, ranking: TableRanking | None
) -> tuple[str, ...]:
    """Choose the features within a budget; each needs at least two levels."""
    own = without_copies(usable(evidence, budget.levels), rows)
    total = budget.total_levels
    most = budget.features if total is None else min(budget.features, total // 2)
    if len(own) <= most:
        return own.names
    return (ranking or TableRanking.of(evidence, rows, budget.levels)).best(most)


def choose_bins(rows: SampleRows, evidence: Evidence, budget: Budget) -> dict[str, Any]:
    """Choose the levels of each feature, as the parameter `bins`; omit features with one level."""
    evidence = usable(evidence, budget.levels)
    quadratic = LossExpansion.at(evidence, rows.sample, at_optimum=True)
    left = fit_into(quadratic, [Shape.of(feature) for feature in evidence.features], budget)
    features = [evidence.features[j] for j in left]
    shapes = [Shape.of(feature) for feature in features]
    groups = choose_groups(quadratic.kept(left), shapes, budget.levels, budget.total_levels)
    return list_all_bins(features, groups)


def fit_into(quadratic: LossExpansion, shapes: Sequence[Shape], budget: Budget) -> list[int]:
    """Remove tables until special codes and missing levels fit into `total_levels`."""
    left, order = [*range(len(shapes))], quadratic.eliminate()
    while sum(shapes[j].fixed + 1 for j in left) > (budget.total_levels or np.inf):
        left.remove(order.pop(0))
    return left
