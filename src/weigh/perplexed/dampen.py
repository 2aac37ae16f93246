"""Apply the exponent to naive Bayes: multiplied into the tables, or a rule if n varies by row."""

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
    """Apply the exponent of Eq. 20 (root) or Eq. 19 (geometric)."""
    if n_varies(naive):
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


def n_varies(evidence: Evidence) -> bool:
    """Whether n, the number of features with an answer or of tokens, can differ between rows."""
    skips = any(feature.skip_missing for feature in evidence.features)
    return skips or evidence.event_model == "counts"


def fixed_exponent(evidence: Evidence, k: float, form: str) -> float:
    """Exponent of every row if n is the number of features."""
    return float(attenuate(k, form, np.array(float(len(evidence)))))


def undo(evidence: Evidence) -> Evidence:
    """Undo `dampen` exactly, to the last bit."""
    if evidence.attenuation is not None:
        return replace(evidence, attenuation=None)
    return weigh_tally(evidence.tally, evidence.tables[0].smoothing)


def naive_totals(evidence: Evidence, naive: Evidence, k: float, table: Table) -> Floats:
    """Totals of naive Bayes that give the decisions of Eq. 20, ties included.

    If s was added to the prior after the exponent e, totals e T + s decide as T + s/e does, which
    is returned.
    """
    totals, rule = naive.total(table), evidence.attenuation
    shift = _shift(evidence, naive, k) if rule is None else rule.shift
    if not shift.any():
        return totals
    return totals + shift / attenuate(k, "root", evidence.observed(table))[:, None]


def _shift(evidence: Evidence, naive: Evidence, k: float) -> Floats:
    """Shift of the prior after `dampen`; exactly 0 if there was none."""
    return evidence.prior_row - naive.prior_row * fixed_exponent(evidence, k, "root")
