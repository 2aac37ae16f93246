"""Naive Bayes with a weight per feature, chosen to maximise the AUC (Zhang & Sheng 2004).

auc         the rows to rank, and their exact AUC as weights change; weights by gain ratio
histograms  AUC from histograms of the log odds, for very many rows
search      hill climbing and random walks over the weights; runs them and returns the best one
kernels     compiled loops of the exact AUC
learner     `WeightedNB`
"""

from weigh.weighted.learner import WeightedNB
from weigh.weighted.search import SearchPath
