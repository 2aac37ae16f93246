"""Learners side by side on the same folds (`compare`), and two models on new rows (`challenge`).

run           fits and predictions, fold by fold
number_task   comparison of regressors: numbers, losses and differences
differences   paired differences of two models on the same rows, and the choice of one
show          a comparison as a page
result        `Comparison`
numbers       `NumberChallenge`: two models of a number
challenger    `Challenge`: paired differences, calibration, and the rows that change sides
"""

from weigh.comparison.challenger import Challenge, challenge
from weigh.comparison.differences import Difference, Differences
from weigh.comparison.numbers import NumberChallenge
from weigh.comparison.result import Comparison, Entry, compare

__all__ = [
    "Challenge",
    "Comparison",
    "Difference",
    "Differences",
    "Entry",
    "NumberChallenge",
    "challenge",
    "compare",
]
