"""The arithmetic mean of Eq. 15, which no table of weights can hold."""

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

    n is the same for all classes and cancels. What a row lacks, what was never seen in training and
    a feature of one level add nothing; where nothing is added the prior is left. `evidence` holds
    the counts that the probabilities come from, and the prior.
    """

    evidence: Evidence
    backend: str | None = None
    columns: tuple[str, ...] = ()

    no_table = "the arithmetic mean (Eq. 15) is no table of weights; fit with form='root' for one"

    __reduce__ = by_fields

    @cached_property
    def _shares(self) -> list[Floats]:
        return [_share(table) for table in self.evidence]

    def total(self, table: Table) -> Floats:
        """The log odds in one column, or one total per class."""
        nothing = np.zeros(len(self.classes))
        if self.event_model == "counts":
            sums = engine.total_counts(table, self._shares[0][:-1], nothing)
        else:
            sums = engine.total(table, self.features, self._shares, nothing)
        told = sums.any(axis=1, keepdims=True)
        return self.evidence.prior_row + contrast(np.log(np.where(told, sums, 1.0)))

    def with_prior(self, rate: Floats) -> Mean:
        """The same means for a population of other class frequencies."""
        return replace(self, evidence=self.evidence.with_prior(rate))

    def to_text(self, width: int = 100) -> str:
        """What can be said of it."""
        n = f"{len(self.evidence)} features" if self.event_model == "levels" else "tokens"
        lines = [f"The arithmetic mean of the probabilities of {n}.", f"{self.no_table}."]
        return "\n".join(line[:width] for line in lines)


def _share(table: FeatureTable) -> Floats:
    """P(v|c) by level and class, and zero for what is no level, or tells nothing."""
    seen = smoothed_levels(table)
    told = seen[:, None] & (seen.sum() > 1)
    share = np.where(told, share_counts(table, table.smoothing), 0.0)
    return np.vstack([share, np.zeros((1, share.shape[1]))])
