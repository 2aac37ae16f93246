"""Boosted naive Bayes (Ridgeway, Madigan, Richardson & O'Kane 1998).

rounds     AdaBoost with probabilities
tuning     how many rounds, and how loud, by rows held out
vote       AdaBoost's own combination
history    what each round did
learner    boosted naive Bayes for classes

projection numbers as classes: is the target above s
sheet      one estimate explained
regressor  boosted naive Bayes for numbers
"""

from weigh.boosted.history import Rounds
from weigh.boosted.learner import BoostedNB
from weigh.boosted.regressor import BoostedNBRegressor
from weigh.boosted.sheet import Estimate
from weigh.boosted.vote import Vote

__all__ = ["BoostedNB", "BoostedNBRegressor", "Estimate", "Rounds", "Vote"]
