"""Boosted naive Bayes (Ridgeway, Madigan, Richardson & O'Kane 1998).

rounds      AdaBoost with naive Bayes in each round
tuning      the number of rounds and the scale, chosen on hold-out rows; statistics of each round
learner     `BoostedNB`, for classes: the linearised sum of the rounds, or AdaBoost's own vote

projection  regression as classification: "is the target above s?"; the estimate of a number
kernels     compiled loops of boosted regression
regressor   `BoostedNBRegressor`, for numbers
"""

from weigh.boosted.learner import BoostedNB, Vote
from weigh.boosted.projection import Estimate
from weigh.boosted.regressor import BoostedNBRegressor
from weigh.boosted.tuning import Rounds
