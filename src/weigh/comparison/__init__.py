"""Learners side by side on the same folds: `compare` returns one `Comparison`.

run           fits and predictions, fold by fold
differences   how far apart two learners are on the same rows, and which to choose
show          a comparison as a page
result        `Comparison`
"""

from weigh.comparison.differences import Difference, Differences
from weigh.comparison.result import Comparison, Entry, compare

__all__ = ["Comparison", "Difference", "Differences", "Entry", "compare"]
