"""Perplexed naive Bayes (Carlos 2015): naive Bayes to a power, which corrects overconfidence.

scores     totals of naive Bayes without the exponent; criteria and grid search that choose k
learner    `PerplexedNB`: applies the exponent, and removes it; the arithmetic mean of Eq. 15
"""

from weigh.perplexed.learner import Mean, PerplexedNB
from weigh.perplexed.scores import AttenuationPath
