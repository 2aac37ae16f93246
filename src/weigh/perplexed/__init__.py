"""Perplexed naive Bayes (Carlos 2015): posteriors that mean what they say.

scores     rows and documents as naive Bayes scores them
tuning     the k of the exponent: criteria, and the search
dampen     naive Bayes after the exponent
mean       the arithmetic mean in place of the geometric
learner    the estimator
"""

from weigh.perplexed.learner import PerplexedNB
from weigh.perplexed.mean import Mean
from weigh.perplexed.tuning import AttenuationPath

__all__ = ["AttenuationPath", "Mean", "PerplexedNB"]
