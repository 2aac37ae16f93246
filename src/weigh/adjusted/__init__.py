"""Naive Bayes with an exponent per feature (Hong, Hosking & Natarajan 2002): APM and APMR.

design       the design matrix, whose columns are the weights of evidence of naive Bayes; loss,
             gradient and Hessian by exponents, summed over its blocks
solve        the loss of one class against the rest or of all classes, its minimum for a norm, and
             APMR: the norm, chosen by the paper's two-stage search over folds
fit          fits the exponents of one problem, and multiplies the tables by them
learner      `AdjustedNB`
"""

from weigh.adjusted.fit import Reversal
from weigh.adjusted.learner import AdjustedNB
from weigh.adjusted.solve import NormPath
