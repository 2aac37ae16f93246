"""Perplexed naive Bayes (Carlos 2015): naive Bayes to a power, which corrects overconfidence.

scores     totals of naive Bayes without the exponent; criteria and grid search that choose k
forms      applies the exponent to naive Bayes, and removes it; the arithmetic mean of Eq. 15
learner    `PerplexedNB`
"""

from weigh.perplexed.forms import Mean
from weigh.perplexed.learner import PerplexedNB
from weigh.perplexed.scores import AttenuationPath

__all__ = ["AttenuationPath", "Mean", "PerplexedNB"]
