"""Boosted naive Bayes (Ridgeway, Madigan, Richardson & O'Kane 1998).

rounds      AdaBoost with naive Bayes in each round
tuning      the number of rounds and the scale, chosen on hold-out rows; statistics of each round
vote        AdaBoost's own vote, and the linearised sum of the rounds
learner     `BoostedNB`, for classes

projection  regression as classification: "is the target above s?" for every s
kernels     compiled loops of boosted regression
sheet       the estimate of a number, and its explanation
regressor   `BoostedNBRegressor`, for numbers
"""

from weigh.boosted.learner import BoostedNB
from weigh.boosted.regressor import BoostedNBRegressor
from weigh.boosted.sheet import Estimate
from weigh.boosted.tuning import Rounds
from weigh.boosted.vote import Vote

__all__ = ["BoostedNB", "BoostedNBRegressor", "Estimate", "Rounds", "Vote"]
