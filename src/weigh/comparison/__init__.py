"""Learners side by side on the same folds: `compare` returns one `Comparison`.

run           fits and predictions, fold by fold
ranking       the AUC within folds
differences   how far apart two learners are on the same rows
show          a comparison as a page
result        `Comparison`
"""

from weigh.comparison.differences import Difference, Differences
from weigh.comparison.result import Comparison, Entry, compare

__all__ = ["Comparison", "Difference", "Differences", "Entry", "compare"]
