"""Naive Bayes with an exponent per feature (Hong, Hosking & Natarajan 2002): APM and APMR.

solve        exponents of least loss inside a ball
polytomous   the same for all classes jointly
search       the norm, by the paper's two-stage search
learner      `AdjustedNB`
"""

from weigh.adjusted.learner import AdjustedNB, Reversal
from weigh.adjusted.search import NormPath

__all__ = ["AdjustedNB", "NormPath", "Reversal"]
