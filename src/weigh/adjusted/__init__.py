"""Naive Bayes with an exponent per feature (Hong, Hosking & Natarajan 2002): APM and APMR.

design       naive Bayes as the columns of a regression: a design matrix
moments      loss, gradient and Hessian of exponents, summed over blocks of rows
solve        the loss of one class against the rest, or of all jointly, and its minimum for a norm
search       APMR: the norm, chosen by the paper's two-stage search over folds
fit          the exponents of one problem, and their tables
learner      `AdjustedNB`
"""

from weigh.adjusted.fit import Reversal
from weigh.adjusted.learner import AdjustedNB
from weigh.adjusted.search import NormPath

__all__ = ["AdjustedNB", "NormPath", "Reversal"]
