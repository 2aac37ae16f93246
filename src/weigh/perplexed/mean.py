"""The arithmetic mean of Eq. 15, which is not a sum of tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from weigh import engine
from weigh.evidence import Evidence, FeatureTable, OnEvidence, contrast, share_counts
from weigh.frames import Floats, Table
from weigh.pickling import by_fields
from weigh.tally import smoothed_levels


@dataclass(frozen=True, eq=False, repr=False)
class Mean(OnEvidence):
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
