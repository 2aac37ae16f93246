"""Naive Bayes with a weight per feature, chosen to rank well (Zhang & Sheng 2004).

terms     what the scores are made of, on the training rows or on folds
auc       a ranking and its AUC, kept while weights move
walks     hill climbing and random walks over the weights
histograms  AUCs from histograms, for very many rows
search    the best of some walks
learner   `WeightedNB`
"""

from weigh.weighted.learner import WeightedNB
from weigh.weighted.search import SearchPath

__all__ = ["SearchPath", "WeightedNB"]
