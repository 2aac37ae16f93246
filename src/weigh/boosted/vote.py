"""Combine boosting rounds: AdaBoost's own vote, and the linearised sum, which has tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from weigh import engine
from weigh.boosted.tuning import Fit
from weigh.evidence import DerivedModel, Evidence, FeatureTable, squeeze, weigh_tally
from weigh.frames import Floats, Table
from weigh.pickling import by_fields
from weigh.tally import Tally


@dataclass(frozen=True, eq=False, repr=False)
class Vote(DerivedModel):
    """AdaBoost's own vote: ln h(x)/(1 - h(x)) = sum over rounds of ln beta_t (1 - 2 P_t(x)).

    `alphas` and `priors` have one row per class (one row if there are two classes) and one column
    per round. `tables[j]` holds the weights of feature j by level, class and round. A class with
    fewer rounds has alpha 0 in the others. `evidence` is the linearised model; `shift` is added to
    the totals when the prior changes.
    """

    evidence: Evidence
    alphas: Floats
    priors: Floats
    tables: tuple[Floats, ...]
    shift: Floats
    backend: str | None = None
    columns: tuple[str, ...] = ()

    no_table = "AdaBoost's vote has no table of weights; fit with combine='evidence' for one"

    __reduce__ = by_fields

    @cached_property
    def _padded(self) -> list[Floats]:
        flat = [table.reshape(len(table), -1) for table in self.tables]
        return [np.vstack([part, np.zeros((1, part.shape[1]))]) for part in flat]

    def total(self, table: Table) -> Floats:
        """Log odds of h(x): one column, or with more than two classes one per class."""
        rounds = engine.total(table, self.features, self._padded, self.priors.ravel())
        rounds = rounds.reshape(len(rounds), *self.alphas.shape)
        votes: Floats = (2 * self.alphas * np.tanh(rounds / 2)).sum(axis=2) + self.shift
        return votes

    def with_prior(self, rate: Floats) -> Vote:
        """Copy of the model for a population with other class frequencies."""
        evidence = self.evidence.with_prior(rate)
        shift = self.shift + evidence.prior_row - self.evidence.prior_row
        return replace(self, evidence=evidence, shift=shift)

    def to_text(self, width: int = 100) -> str:
        """Number of rounds and their coefficients, as text."""
        lines = [f"A vote of {self.alphas.shape[1]} rounds of naive Bayes.", f"{self.no_table}."]
        for name, row in zip(self._names, self.alphas, strict=True):
            lines.append(f"{name}alpha {' '.join(f'{a:.3f}' for a in row if a)}")
        return "\n".join(line[:width] for line in lines)

    @property
    def _names(self) -> list[str]:
        many = len(self.alphas) > 1
        return [f"{name}: " if many else "" for name in self.classes.tolist()[-len(self.alphas) :]]


def add_up(tally: Tally, fits: list[Fit], smoothing: Any) -> Evidence:
    """Linearised model: scale * sum over rounds of alpha_t times prior and tables of round t."""
    naive = weigh_tally(tally, smoothing)
    scaled = [fit.scale * fit.alphas for fit in fits]
    prior = [
        sum(a * part.evidence.prior_row[0] for a, part in zip(alphas, fit.rounds, strict=True))
        for alphas, fit in zip(scaled, fits, strict=True)
    ]
    tables = []
    for j, table in enumerate(naive):
        weights = np.zeros((len(table.levels), len(fits)))
        for k, (alphas, fit) in enumerate(zip(scaled, fits, strict=True)):
            for alpha, part in zip(alphas, fit.rounds, strict=True):
                weights[:, k] += alpha * part.evidence.tables[j].by_class[:, 0]
        tables.append(FeatureTable(table.feature, table.counts, weights, None, table.smoothing))
    form: Any = "softmax" if len(fits) == 1 else "ovr"
    return replace(
        naive,
        prior=squeeze(np.array(prior, dtype=np.float64)),
        tables=tuple(tables),
        prior_variances=None,
        form=form,
    )


def make_vote(linear: Evidence, fits: list[Fit]) -> Vote:
    """Make AdaBoost's vote from the rounds of each class."""
    max_rounds = max(len(fit.rounds) for fit in fits)
    alphas, priors = np.zeros((len(fits), max_rounds)), np.zeros((len(fits), max_rounds))
    tables = [np.zeros((len(table.levels), len(fits), max_rounds)) for table in linear]
    for k, fit in enumerate(fits):
        for t, part in enumerate(fit.rounds):
            alphas[k, t], priors[k, t] = part.alpha, part.evidence.prior_row[0]
            for table, mine in zip(tables, part.evidence, strict=True):
                table[:, k, t] = mine.by_class[:, 0]
    return Vote(linear, alphas, priors, tuple(tables), np.zeros(len(fits)))
