"""The forms of the model: naive Bayes to a power (Eqs. 19 and 20), and the mean of Eq. 15.

The exponent is multiplied into the tables if every row has the same n. Otherwise it is stored as a
rule and computed for each row. The arithmetic mean is not a sum of tables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from weigh import engine
from weigh.evidence import (
    Attenuation,
    DerivedModel,
    Evidence,
    FeatureTable,
    Form,
    attenuate,
    contrast,
    scale_table,
    scale_variances,
    share_counts,
    squeeze,
    weigh_tally,
)
from weigh.frames import Floats, Table
from weigh.pickling import by_fields
from weigh.tally import smoothed_levels

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

    With exponent e and a later shift s of the prior, the totals are e T + s. They give the same
    decisions as T + s/e, which is returned.
    """
    totals, rule = naive.total(table), evidence.attenuation
    shift = _shift(evidence, naive, k) if rule is None else rule.shift
    if not shift.any():
        return totals
    return totals + shift / attenuate(k, "root", evidence.observed(table))[:, None]


def _shift(evidence: Evidence, naive: Evidence, k: float) -> Floats:
    """Shift of the prior after `dampen`; exactly 0 if there was none."""
    return evidence.prior_row - naive.prior_row * fixed_exponent(evidence, k, "root")


@dataclass(frozen=True, eq=False, repr=False)
class Mean(DerivedModel):
    """P(C|x) is proportional to P(C) (P(x_1|C) + ... + P(x_n|C))/n        (Carlos 2015, Eq. 15).

    n is the same for all classes and cancels. Missing answers, values not seen in training and
    features with one level add nothing; a row without any other value gets the prior. `evidence`
    holds the counts behind the probabilities, and the prior.
    """

    evidence: Evidence
    backend: str | None = None
    columns: tuple[str, ...] = ()

    no_table = "the arithmetic mean (Eq. 15) has no table of weights; fit with form='root' for one"

    __reduce__ = by_fields

    @cached_property
    def _shares(self) -> list[Floats]:
        return [_share(table) for table in self.evidence]

    def total(self, table: Table) -> Floats:
        """Log odds in one column, or with more than two classes one total per class."""
        nothing = np.zeros(len(self.classes))
        if self.event_model == "counts":
            sums = engine.total_counts(table, self._shares[0][:-1], nothing)
        else:
            sums = engine.total(table, self.features, self._shares, nothing)
        answered = sums.any(axis=1, keepdims=True)
        return self.evidence.prior_row + contrast(np.log(np.where(answered, sums, 1.0)))

    def with_prior(self, rate: Floats) -> Mean:
        """Copy of the model for a population with other class frequencies."""
        return replace(self, evidence=self.evidence.with_prior(rate))

    def to_text(self, width: int = 100) -> str:
        """Describe the model in two lines."""
        n = f"{len(self.evidence)} features" if self.event_model == "levels" else "tokens"
        lines = [f"The arithmetic mean of the probabilities of {n}.", f"{self.no_table}."]
        return "\n".join(line[:width] for line in lines)


def _share(table: FeatureTable) -> Floats:
    """P(v|c) by level and class; 0 for not known, and everywhere if there is one level only."""
    seen = smoothed_levels(table)
    counted = seen[:, None] & (seen.sum() > 1)
    share = np.where(counted, share_counts(table, table.smoothing), 0.0)
    return np.vstack([share, np.zeros((1, share.shape[1]))])
