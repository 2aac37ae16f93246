"""Votes of boosted rounds, and rounds added up into one table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from weigh import engine
from weigh.boosted.history import Fit
from weigh.evidence import Evidence, FeatureTable, OnEvidence, squeeze, weigh_tally
from weigh.frames import Floats, Table
from weigh.pickling import by_fields
from weigh.tally import Tally


@dataclass(frozen=True, eq=False, repr=False)
class Vote(OnEvidence):
    """ln h(x)/(1 - h(x)) = sum over rounds of ln beta_t (1 - 2 P_t(x)), for one class or each.

    `alphas` and `priors` hold one row per class (one for two classes) and one column per round;
    `tables[j]` the weights of feature j by level, class and round. A class that took fewer rounds
    has alpha 0 in the others. `evidence` is the linearised model, `shift` a change of the prior.
    """

    evidence: Evidence
    alphas: Floats
    priors: Floats
    tables: tuple[Floats, ...]
    shift: Floats
    backend: str | None = None
    columns: tuple[str, ...] = ()

    no_table = "AdaBoost's vote is no table of weights; fit with combine='evidence' for one"

    __reduce__ = by_fields

    @cached_property
    def _padded(self) -> list[Floats]:
        flat = [table.reshape(len(table), -1) for table in self.tables]
        return [np.vstack([part, np.zeros((1, part.shape[1]))]) for part in flat]

    def total(self, table: Table) -> Floats:
        """The log odds of h(x), as columns."""
        rounds = engine.total(table, self.features, self._padded, self.priors.ravel())
        rounds = rounds.reshape(len(rounds), *self.alphas.shape)
        votes: Floats = (2 * self.alphas * np.tanh(rounds / 2)).sum(axis=2) + self.shift
        return votes

    def with_prior(self, rate: Floats) -> Vote:
        """The same rounds for a population of other class frequencies."""
        evidence = self.evidence.with_prior(rate)
        shift = self.shift + evidence.prior_row - self.evidence.prior_row
        return replace(self, evidence=evidence, shift=shift)

    def to_text(self, width: int = 100) -> str:
        """What can be said of it: how many rounds there are, and their voices."""
        lines = [f"A vote of {self.alphas.shape[1]} rounds of naive Bayes.", f"{self.no_table}."]
        for name, row in zip(self._names, self.alphas, strict=True):
            lines.append(f"{name}alpha {' '.join(f'{a:.3f}' for a in row if a)}")
        return "\n".join(line[:width] for line in lines)

    @property
    def _names(self) -> list[str]:
        many = len(self.alphas) > 1
        return [f"{name}: " if many else "" for name in self.classes.tolist()[-len(self.alphas) :]]


def add_up(tally: Tally, fits: list[Fit], smoothing: Any) -> Evidence:
    """The linearised model: sums over rounds of alpha times prior and tables, times the scale."""
    naive = weigh_tally(tally, smoothing)
    loud = [fit.scale * fit.alphas for fit in fits]
    prior = [
        sum(a * part.evidence.prior_row[0] for a, part in zip(alphas, fit.rounds, strict=True))
        for alphas, fit in zip(loud, fits, strict=True)
    ]
    tables = []
    for j, table in enumerate(naive):
        weights = np.zeros((len(table.levels), len(fits)))
        for k, (alphas, fit) in enumerate(zip(loud, fits, strict=True)):
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


def let_vote(linear: Evidence, fits: list[Fit]) -> Vote:
    """The rounds themselves, side by side."""
    most = max(len(fit.rounds) for fit in fits)
    alphas, priors = np.zeros((len(fits), most)), np.zeros((len(fits), most))
    tables = [np.zeros((len(table.levels), len(fits), most)) for table in linear]
    for k, fit in enumerate(fits):
        for t, part in enumerate(fit.rounds):
            alphas[k, t], priors[k, t] = part.alpha, part.evidence.prior_row[0]
            for table, mine in zip(tables, part.evidence, strict=True):
                table[:, k, t] = mine.by_class[:, 0]
    return Vote(linear, alphas, priors, tuple(tables), np.zeros(len(fits)))
