"""Naive Bayes after the exponent: multiplied out where n is fixed, a rule where it varies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from weigh.evidence import (
    Attenuation,
    Evidence,
    Form,
    attenuate,
    scale_table,
    scale_variances,
    squeeze,
    weigh_tally,
)
from weigh.frames import Floats, Table

CAVEAT = " and leaves out the error of the exponent"


def dampen(naive: Evidence, k: float, form: Form) -> Evidence:
    """The evidence of Eq. 20 (root) or Eq. 19 (geometric)."""
    if varies(naive):
        rule = Attenuation(k, form, np.zeros(len(naive.prior_row)))
        return replace(naive, attenuation=rule, caveat=CAVEAT)
    exponent = fixed_exponent(naive, k, form)
    own = exponent if form == "root" else 1.0
    return replace(
        naive,
        caveat=f"{CAVEAT}, {exponent:.2f}",
        prior=squeeze(naive.prior_row * own),
        prior_variances=scale_variances(naive.prior_variances, own),
        tables=tuple(scale_table(table, np.array([exponent])) for table in naive),
    )


def varies(evidence: Evidence) -> bool:
    """Whether rows can differ in how many features they have."""
    skips = any(feature.skip_missing for feature in evidence.features)
    return skips or evidence.event_model == "counts"


def fixed_exponent(evidence: Evidence, k: float, form: str) -> float:
    """The exponent of every row, where all have every feature."""
    return float(attenuate(k, form, np.array(float(len(evidence)))))


def undo(evidence: Evidence) -> Evidence:
    """Naive Bayes as it was before `dampen`, to the last bit."""
    if evidence.attenuation is not None:
        return replace(evidence, attenuation=None)
    return weigh_tally(evidence.tally, evidence.tables[0].smoothing)


def undampened(evidence: Evidence, naive: Evidence, k: float, table: Table) -> Floats:
    """The totals of naive Bayes, which decide as those of Eq. 20 do, ties included.

    Where the prior was shifted by s after the exponent e, e T + s decides, or T + s/e.
    """
    totals, rule = naive.total(table), evidence.attenuation
    shift = _shift(evidence, naive, k) if rule is None else rule.shift
    if not shift.any():
        return totals
    return totals + shift / attenuate(k, "root", evidence.observed(table))[:, None]


def _shift(evidence: Evidence, naive: Evidence, k: float) -> Floats:
    """What was added to the prior after the exponent was multiplied out; 0 to the last bit."""
    return evidence.prior_row - naive.prior_row * fixed_exponent(evidence, k, "root")
