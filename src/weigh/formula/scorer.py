"""Rows scored one by one, without a table: Python's numbers to the bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from weigh import engine, kernels
from weigh.bins import Feature, finder
from weigh.formula.formula import Formula, Term
from weigh.frames import NOT_KNOWN, Floats

Row: TypeAlias = Mapping[str, Any]
Weight: TypeAlias = Callable[[Row], Any]


@dataclass(frozen=True)
class Scorer:
    """The total of a row: prior + sum over terms of the weight of its level.

    `weights` has one function for each term, from a row to its weight (a number for two classes,
    else one for each), in the order in which `Evidence.total` adds them.
    """

    formula: Formula

    @cached_property
    def weights(self) -> tuple[Weight, ...]:
        """From a row to the weight of each term."""
        return tuple(_weight(term, len(self.formula.prior)) for term in self.formula.terms)

    @cached_property
    def types(self) -> dict[str, frozenset[type]]:
        """The columns that rows may have, and the types of JSON that they take."""
        return {column.name: column.types for column in self.formula.inputs}

    def totals(self, rows: Sequence[Row]) -> Floats:
        """What `Evidence.total` gives, row by row; an absent field is not known."""
        formula, rule, curve = self.formula, self.formula.attenuation, self.formula.curve
        prior = [*formula.prior]
        start = prior if rule is None else [0.0] * len(prior)
        add = self._add_one if len(start) == 1 else self._add_many
        totals = np.array([add(row, start) for row in rows]).reshape(len(rows), len(start))
        if rule is not None:
            n = np.array([self._count(row) for row in rows], dtype=np.float64)
            totals = rule.apply(totals, np.array(prior), n)
        if curve is None:
            return totals
        return np.array([[curve.at(total)] for total in totals[:, 0].tolist()])

    def probabilities(self, totals: Floats) -> Floats:
        """The probability of each class; of one row without threads, which take time to start."""
        if len(totals) != 1 or totals.shape[1] != 1:
            return engine.link(totals, self.formula.link)
        probabilities = np.empty((1, 2))
        kernels.logistic(totals, probabilities)
        return probabilities

    def _add_one(self, row: Row, start: list[float]) -> float:
        total = start[0]
        for weight in self.weights:
            total += weight(row)
        return total

    def _add_many(self, row: Row, start: list[float]) -> list[float]:
        totals = start
        for weight in self.weights:
            totals = [t + w for t, w in zip(totals, weight(row), strict=True)]
        return totals

    def _count(self, row: Row) -> int:
        """How many terms the row has an answer in, or null where that is a level."""
        return sum(all(_answers(part, row) for part in t.columns) for t in self.formula.terms)


def _answers(part: Feature, row: Row) -> bool:
    return part.name in row and not (part.skip_missing and row[part.name] is None)


def _weight(term: Term, n_totals: int) -> Weight:
    """From a row to the weight of its level; what is no level weighs nothing."""
    rows = [*term.weights, (0.0,) * n_totals]
    weights: list[Any] = [row[0] for row in rows] if n_totals == 1 else rows
    find = [finder(part) for part in term.columns]
    if len(find) == 1:
        name, place = term.name, find[0]
        return lambda row: weights[place(row.get(name, NOT_KNOWN))]
    (a, b), (left, right) = (part.name for part in term.columns), find
    pairs, nothing = term.lookup, len(weights) - 1
    return lambda row: weights[
        pairs.get((left(row.get(a, NOT_KNOWN)), right(row.get(b, NOT_KNOWN))), nothing)
    ]
