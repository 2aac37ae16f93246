"""The totals of new rows: their mean against training, their distribution against other rows."""

from __future__ import annotations

import numpy as np

from weigh.evidence import Evidence
from weigh.metrics import population_stability_index
from weigh.monitoring.checks import Check, Totals, check_t, compare_samples, expected_index


def check_means(evidence: Evidence, totals: Totals) -> list[Check]:
    """The mean of prior plus weights, before any recalibration, against that of training.

    The variance of the training totals is not known. Without drift it is that of the new rows,
    whose error is that of a t test.
    """
    n_old, n_new = float(evidence.class_counts.sum()), totals.n
    before = evidence.prior_row + sum(t.counts.sum(axis=1) @ t.by_class / n_old for t in evidence)
    spread = totals.deviation if n_new > 1 else 0 * totals.deviation
    checks = []
    for c, (shift, sd) in enumerate(zip(totals.mean - before, spread, strict=True)):
        distance = shift / sd if sd > 0 else 0.0
        error = np.sqrt((1 / n_old + 1 / n_new) * n_new / (n_new - 1)) if sd > 0 else 0.0
        name = _name("mean total", evidence, c)
        checks.append(check_t(name, "total", float(distance), float(error), n_new - 1))
    return checks


def check_distribution(evidence: Evidence, reference: Totals, totals: Totals) -> list[Check]:
    """The PSI of the totals, cut at the deciles of the reference rows."""
    assert reference.each is not None
    assert totals.each is not None
    checks = []
    for c, (old, new) in enumerate(zip(reference.each.T, totals.each.T, strict=True)):
        found = population_stability_index(old, new)
        chance = expected_index(len(found.labels), len(old), len(new))
        p_value = compare_samples(found.expected * len(old), found.actual * len(new))
        name = _name("distribution of totals", evidence, c)
        checks.append(Check(name, "total", found.value, chance, p_value))
    return checks


def _name(what: str, evidence: Evidence, c: int) -> str:
    """A check by its name, and its class where there are several totals."""
    return what + (f" of {evidence.class_names[c]}" if len(evidence.prior_row) > 1 else "")
