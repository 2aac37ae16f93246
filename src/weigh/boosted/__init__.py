"""Boosted naive Bayes (Ridgeway, Madigan, Richardson & O'Kane 1998).

rounds     AdaBoost with probabilities
choose     how many rounds, and how loud, by rows held out
vote       AdaBoost's own combination
learner    the linearised sum: one table of weights
"""

from weigh.boosted.learner import BoostedNB, Rounds
from weigh.boosted.vote import Vote

__all__ = ["BoostedNB", "Rounds", "Vote"]
