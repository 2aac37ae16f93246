"""Decisions at cut-offs: the options of an evaluation, and counts, rates, cost and net benefit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from weigh.errors import Parameter, ParameterError
from weigh.metrics import ErrorRates, Scored, error_rates, net_benefit
from weigh.metrics.numbers import COVERAGE, LARGEST, NAN, Bounded, check_coverage

T = TypeVar("T")


@dataclass(frozen=True)
class Options:
    """Options of an evaluation: costs of errors, given cut-offs, coverage of intervals."""

    costs: tuple[float, float] = (1.0, 1.0)
    cut_offs: tuple[float, ...] = ()
    coverage: float = COVERAGE

    @classmethod
    def read(cls, costs: Any, cut_off: Any, coverage: float) -> Options:
        """Check the options; None means the default costs, or no cut-off."""
        check_coverage(coverage)
        costs = Options().costs if costs is None else costs
        try:
            pair = np.asarray(costs, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"costs must be numbers, got {costs!r}") from None
        within = (pair >= 0) & (pair <= LARGEST)
        if pair.shape != (2,) or not (within.all() and pair.any()):
            raise ParameterError(
                Parameter("costs"),
                " must be those of a false positive and of a false negative, from 0 to "
                f"{LARGEST:g} and not both 0, such as ",
                Parameter("costs", (1, 5)),
                f"; got {costs!r}",
            )
        return cls((float(pair[0]), float(pair[1])), _read_cut_offs(cut_off), coverage)

    @property
    def threshold(self) -> float:
        """The cut-off of least expected cost for calibrated probabilities."""
        return self.costs[0] / sum(self.costs)

    @property
    def of_groups(self) -> float:
        """The cut-off at which groups are decided."""
        return choose_of_groups(self.cut_offs, self.threshold)


def choose_of_groups(given: Sequence[T], implied: T) -> T:
    """The cut-off for groups, or the decision at it: the only one given, or that of the costs."""
    return given[0] if len(given) == 1 else implied


def _read_cut_offs(cut_off: Any) -> tuple[float, ...]:
    """The given cut-offs in order, each once; none for None."""
    if cut_off is None:
        return ()
    try:
        given = np.unique(np.atleast_1d(np.asarray(cut_off, dtype=np.float64)))
    except (TypeError, ValueError):
        given = np.array([NAN])
    for value in given[~((given >= 0) & (given <= 1))]:
        shown = cut_off if np.isnan(value) else float(value)
        raise ParameterError(
            Parameter("cut_off", shown),
            f" must be a probability from 0 to 1{_mend_cut_off(float(value))}",
        )
    return tuple(given.tolist())


def _mend_cut_off(value: float) -> str:
    if 1 < value <= 100:
        return f"; for {value:g}% give {value / 100:g}"
    if value > 100:
        return f"; for a score of a scorecard use card.bands(X, y).decide({value:g})"
    return ", such as 0.3, or a list of them"


@dataclass(frozen=True)
class Decision:
    """Decisions at a cut-off: error rates, mean cost per row and net benefit.

    `rates` has the counts and the rates as numbers; `flagged`, `sensitivity`, `specificity`, `ppv`
    and `npv` are the same rates with the intervals of Clopper & Pearson.
    """

    rates: ErrorRates
    cost: float
    net_benefit: float
    treat_all: float
    coverage: float = COVERAGE

    @property
    def flagged(self) -> Bounded:
        """Share of rows above the cut-off."""
        said = self.rates.true_positives + self.rates.false_positives
        return Bounded.share(said, self.rates.n, self.coverage)

    @property
    def sensitivity(self) -> Bounded:
        """Share of positives above the cut-off: recall."""
        return self._share(self.rates.true_positives, self.rates.false_negatives)

    @property
    def specificity(self) -> Bounded:
        """Share of negatives that are not above the cut-off."""
        return self._share(self.rates.true_negatives, self.rates.false_positives)

    @property
    def ppv(self) -> Bounded:
        """Share of positives among rows above the cut-off: precision."""
        return self._share(self.rates.true_positives, self.rates.false_positives)

    @property
    def npv(self) -> Bounded:
        """Share of negatives among rows that are not above the cut-off."""
        return self._share(self.rates.true_negatives, self.rates.false_negatives)

    def _share(self, part: float, rest: float) -> Bounded:
        return Bounded.share(part, part + rest, self.coverage)


def decide(rows: Scored, threshold: float, options: Options) -> Decision:
    """The decisions at a cut-off."""
    rates = error_rates(rows, threshold=threshold)
    cost_fp, cost_fn = options.costs
    cost = (cost_fp * rates.false_positives + cost_fn * rates.false_negatives) / rates.n
    if not 0 <= threshold < 1:  # net benefit needs finite odds
        return Decision(rates, cost, NAN, NAN, options.coverage)
    worth = net_benefit(rows, thresholds=[threshold])
    model, treat_all = float(worth.model[0]), float(worth.treat_all[0])
    return Decision(rates, cost, model, treat_all, options.coverage)
