"""Naive Bayes with an exponent per feature (Hong, Hosking & Natarajan 2002): APM and APMR.

moments      what a search asks and is told, from blocks of rows
solve        the loss of two classes, and searches side by side
polytomous   the loss of all classes jointly
search       the norm, by the paper's two-stage search
fit          the exponents of one problem
learner      `AdjustedNB`
"""

from weigh.adjusted.fit import Reversal
from weigh.adjusted.learner import AdjustedNB
from weigh.adjusted.search import NormPath

__all__ = ["AdjustedNB", "NormPath", "Reversal"]
