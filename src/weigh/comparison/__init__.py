"""Learners side by side on the same folds: `compare` returns one `Comparison`.

learners      which ones, and which of them are simpler
run           fits and predictions, fold by fold
ranking       the AUC within folds
differences   how far apart two learners are on the same rows
advice        which one to take
show          a comparison as a page
result        `Comparison`
table         from a table
"""

from weigh.comparison.differences import Difference, Differences
from weigh.comparison.result import Comparison, Entry
from weigh.comparison.table import compare

__all__ = ["Comparison", "Difference", "Differences", "Entry", "compare"]
