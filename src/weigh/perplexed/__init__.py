"""Perplexed naive Bayes (Carlos 2015): posteriors that mean what they say.

scores     rows as naive Bayes scores them, by their own tables or by those of other folds
choose     the k of the exponent: criteria, and the search
far        scores of rows that stay where they are
dampen     naive Bayes after the exponent
mean       the arithmetic mean in place of the geometric
learner    the estimator
"""

from weigh.perplexed.choose import AttenuationPath
from weigh.perplexed.learner import PerplexedNB
from weigh.perplexed.mean import Mean

__all__ = ["AttenuationPath", "Mean", "PerplexedNB"]
