"""Predictions as native columns of a Spark DataFrame: no Python runs on the executors.

The level number of each feature is found by comparisons, and its weight is an element of a list.
Totals, probabilities and reasons are arithmetic on these.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import inf
from operator import add
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import NumericType

from weigh.evidence import BOUND, Attenuation, Curve
from weigh.formula import Formula
from weigh.frames import Table, list_names
from weigh.spark.levels import Places, count_below, find_places


def listed(values: ArrayLike) -> Any:
    """Column that holds a list of numbers as a constant."""
    return F.from_json(F.lit(json.dumps(np.asarray(values).tolist())), "array<double>")


def attenuated(weights: Any, prior: float, rule: Attenuation, answers: Any, k: int) -> Any:
    """Total after the exponent, as `Attenuation.apply` computes it."""
    if rule.form == "known":
        exponent = 1 / F.sqrt(1 + F.lit(rule.k) * answers)
    else:
        n = answers + 1 if rule.form == "root" else answers
        exponent = F.lit(rule.k) / F.greatest(n.cast("double"), F.lit(rule.k))
    shift = float(rule.shift[k])
    if rule.form == "root":
        return (F.lit(prior) + weights) * exponent + shift
    return F.lit(prior) + weights * exponent + shift


def recalibrate(frame: Any, curve: Curve) -> Any:
    """Recalibrate the log odds t0 of a frame, as `Curve.apply` does.

    Each step is a column of its own, because nested expressions would grow with every use.
    """
    frame = frame.withColumn(
        "piece", count_below(F.col("t0"), [p.upper for p in curve.pieces[:-1]])
    )
    start, *powers = (
        listed([(p.start, *p.cubic)[k] for p in curve.pieces])[F.col("piece")] for k in range(5)
    )
    frame = frame.withColumn("distance", F.col("t0") - start)
    value = powers.pop()
    while powers:
        value = powers.pop() + F.col("distance") * value
    if curve.steps:
        frame = frame.withColumn(
            "share", F.greatest(F.least(value, F.lit(1 - BOUND)), F.lit(BOUND))
        )
        value = F.log(F.col("share") / (1 - F.col("share")))
    return frame.withColumn("t0", value + curve.shift)


def score_frame(
    model: Any,
    frame: Any,
    keep: Sequence[str] | None,
    reasons: int,
    given: Mapping[str, Any] | None = None,
) -> Any:
    """Add the predictions of a model for every row to a DataFrame.

    Parameters
    ----------
    model : fitted estimator or scorecard of this package
        A model with tables of weights.
    frame : Spark DataFrame
        The rows to score.
    keep : list of str or None
        Columns to keep, before the new ones; None keeps all.
    reasons : int
        Number of reasons per row, as in `weigh.reasons`: the features with the largest absolute
        weights or, for a scorecard, those that cost most points.
    given : dict, optional
        The exposure and offset of a regressor: the name of a column, or a number.
    """
    formula, names = _read_formula(model), tuple(frame.columns)
    added = [_add_offset(role, value, frame) for role, value in (given or {}).items()]
    scorer = _Scorer(formula, min(reasons, len(formula.terms)), added)
    kept = _kept(names, keep, scorer.names)
    plain = frame.toDF(*[f"c{j}" for j in range(len(names))])
    features = [term.feature for term in formula.terms]
    places = find_places(plain, features, _columns_of(model, names))
    return scorer.score(places, kept).toDF(*[names[j] for j in kept], *scorer.names)


def _add_offset(role: str, value: Any, frame: Any) -> Any:
    """What exposure or offset add to the total; null where `OffsetColumn.allows` refuses it."""
    x = _read_offset(role, value, frame) if isinstance(value, str) else F.lit(float(value))
    nothing = F.when(x.isNull() | F.isnan(x), 0.0)
    if role == "offset":
        return nothing.when(F.abs(x) < F.lit(inf), x)
    return nothing.when((x > 0) & (x < F.lit(inf)), F.log(x))


def _read_offset(role: str, name: str, frame: Any) -> Any:
    names = tuple(frame.columns)
    if name not in names:
        raise ValueError(f"the table has no column {name!r}; it has {list_names(names)}")
    kind = frame.schema[name].dataType
    if not isinstance(kind, NumericType):
        raise ValueError(
            f"column {name!r}, the {role}, must hold numbers, not {kind.simpleString()}; cast it"
        )
    return F.col(f"c{names.index(name)}").cast("double")


def _kept(names: tuple[str, ...], keep: Sequence[str] | None, new: list[str]) -> list[int]:
    """Positions of the columns to keep."""
    for name in names if keep is None else keep:
        if name not in names:
            raise ValueError(f"the table has no column {name!r}; it has {list_names(names)}")
        if name in new:
            raise ValueError(
                f"column {name!r}: the scores have a column of that name; rename yours"
            )
    return [*range(len(names))] if keep is None else [names.index(name) for name in keep]


def _read_formula(model: Any) -> Formula:
    formula = Formula.of(model)
    if formula.tokens:
        raise ValueError(
            f"Spark scores models whose weights are by level, but this {type(model).__name__} has "
            "weights of tokens; score batches of rows in memory"
        )
    return formula


def _columns_of(model: Any, names: tuple[str, ...]) -> dict[str, int]:
    """Position in the DataFrame of each column that the model reads."""
    table = model._match(Table(names, 1, lambda j: j, list))
    return {name: table.source(j) for j, name in enumerate(table.names)}


@dataclass(frozen=True)
class _Scorer:
    formula: Formula
    reasons: int
    added: Sequence[Any] = ()  # exposure and offset, as they add to the total

    @property
    def names(self) -> list[str]:
        """Names of the new columns: those of `score_table` in memory, intervals left out."""
        formula = self.formula
        if formula.estimates:
            told = [*formula.prediction_names]
        else:
            first = formula.score_name or "prediction"
            told = [first, *formula.total_names, *formula.prediction_names]
        of = ("reason", "weight" if formula.costs is None else "cost")
        return told + [f"{what}_{i + 1}" for i in range(self.reasons) for what in of]

    def score(self, places: Places, columns: list[int]) -> Any:
        """Select the kept columns (c0, c1, ...) and the new ones."""
        kept = [F.col(f"c{j}") for j in columns]
        totals = self._totals(places)
        passed = [F.col(f"p{j}") for j in range(len(self.formula.terms)) if self.reasons]
        frame = places.frame.select(*kept, *passed, *_named("t", totals))
        if self.formula.score_name:
            frame = frame.withColumn("score", F.col("t0"))
        if self.formula.curve is not None:
            frame = recalibrate(frame, self.formula.curve)
        totals = [F.col(f"t{k}") for k in range(len(totals))]
        frame = frame.select("*", self._winner(totals).alias("winner"))
        reasons = self._reasons() if self.reasons else []
        return frame.select(*kept, *self._told(totals), *reasons)

    def _told(self, totals: list[Any]) -> list[Any]:
        """Prediction columns: a class or score, totals and probabilities, or an estimate."""
        formula = self.formula
        if formula.estimates:
            return [F.exp(totals[0]) if formula.link == "log" else totals[0]]
        if formula.score_name:
            first = F.rint(F.col("score")).cast("bigint")
        else:
            first = _choose([F.lit(value) for value in formula.classes], F.col("winner"))
        return [first, *totals, *self._chances(totals)]

    def _totals(self, places: Places) -> list[Any]:
        """One total, or with more than two classes one per class; features are added in order."""
        rule, sums = self.formula.attenuation, []
        for k, prior in enumerate(self.formula.prior):
            start = F.lit(prior if rule is None else 0.0)
            weights = [self._weight(j, k) for j in range(len(self.formula.terms))]
            total = reduce(add, [*weights, *self.added], start)
            if rule is not None:
                answers = self._not_known() if self.formula.not_known else places.answers
                total = attenuated(total, prior, rule, answers, k)
            sums.append(total)
        return sums

    def _not_known(self) -> Any:
        """Share of the evidence in tables where the row has no level."""
        found = F.lit(0.0)
        for j, (term, share) in enumerate(
            zip(self.formula.terms, self.formula.not_known, strict=True)
        ):
            if share:
                none = F.col(f"p{j}") == len(term.weights)
                found = found + F.when(none, F.lit(share)).otherwise(F.lit(0.0))
        return found

    def _weight(self, j: int, k: int) -> Any:
        """Weight of table j for total k at the row's level; 0 if the level is not known."""
        weights = [row[k] for row in self.formula.terms[j].weights]
        return listed([*weights, 0.0])[F.col(f"p{j}")]

    def _winner(self, totals: list[Any]) -> Any:
        """Position of the most probable class, the first if tied."""
        if len(totals) == 1:
            return F.when(totals[0] > 0, 1).otherwise(0)
        top, found = F.greatest(*totals), F.lit(len(totals) - 1)
        for k in reversed(range(len(totals) - 1)):
            found = F.when(totals[k] == top, k).otherwise(found)
        return found

    def _chances(self, totals: list[Any]) -> list[Any]:
        """Probability of each class."""
        if len(totals) == 1:
            small = F.exp(-F.abs(totals[0]))
            more, less = 1.0 / (1.0 + small), small / (1.0 + small)
            second = totals[0] >= 0
            return [F.when(second, less).otherwise(more), F.when(second, more).otherwise(less)]
        top = F.greatest(*totals)
        if self.formula.link == "ovr":
            top = F.least(top, F.lit(0.0))
            rises = [F.when(t >= 0, F.exp(-top)).otherwise(F.exp(t - top)) for t in totals]
            raised = [r / (1.0 + F.exp(-F.abs(t))) for r, t in zip(rises, totals, strict=True)]
        else:
            raised = [F.exp(total - top) for total in totals]
        norm = reduce(add, raised)
        return [part / norm for part in raised]

    def _reasons(self) -> list[Any]:
        """Reasons and their weights, by descending absolute weight; ties in order of features.

        For a scorecard: reasons and their costs in points, by descending cost.
        """
        items, costs = [], self.formula.costs
        for j, term in enumerate(self.formula.terms):
            by_class = [self._weight(j, k) for k in range(len(self.formula.prior))]
            weight, words = _choose(by_class, F.col("winner")), (*term.phrases, "")
            order = -F.abs(weight)
            if costs is not None:
                weight, words = costs.baselines[j] - weight, costs.texts[j]
                order = -weight
            fields = (order, F.lit(j), _texts(words)[F.col(f"p{j}")], weight)
            named = zip(("order", "j", "phrase", "weight"), fields, strict=True)
            items.append(F.struct(*[field.alias(name) for name, field in named]))
        heavy = F.array_sort(F.filter(F.array(*items), lambda item: item["order"] < 0))
        reasons = []
        for i in range(self.reasons):
            item = F.get(heavy, F.lit(i))
            reasons += [item["phrase"], F.coalesce(item["weight"], F.lit(0.0))]
        return reasons


def _named(head: str, columns: list[Any]) -> list[Any]:
    return [column.alias(f"{head}{k}") for k, column in enumerate(columns)]


def _choose(options: list[Any], place: Any) -> Any:
    """Choose one of some columns by its position."""
    found = options[-1]
    for k in reversed(range(len(options) - 1)):
        found = F.when(place == k, options[k]).otherwise(found)
    return found


def _texts(values: Sequence[str]) -> Any:
    return F.from_json(F.lit(json.dumps([*values])), "array<string>")
