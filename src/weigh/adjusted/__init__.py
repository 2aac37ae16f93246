"""Naive Bayes with an exponent per feature (Hong, Hosking & Natarajan 2002): APM and APMR.

moments      what a search asks and is told, from blocks of rows
descent      exponents of least loss inside a ball
solve        the loss of two classes, and searches side by side
polytomous   the loss of all classes jointly
search       the norm, by the paper's two-stage search
training     what a fit is given, and what it says when it ends short
fit          the exponents of one problem
tables       weights of evidence times exponents
learner      `AdjustedNB`
"""

from weigh.adjusted.learner import AdjustedNB
from weigh.adjusted.search import NormPath
from weigh.adjusted.tables import Reversal

__all__ = ["AdjustedNB", "NormPath", "Reversal"]
