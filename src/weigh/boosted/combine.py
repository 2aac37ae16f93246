"""Rounds as one model: the linearised sum, which is a table, or AdaBoost's own vote."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from weigh.boosted.history import Fit
from weigh.boosted.vote import Vote
from weigh.evidence import Evidence, FeatureTable, squeeze, weigh_tally
from weigh.tally import Tally


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
