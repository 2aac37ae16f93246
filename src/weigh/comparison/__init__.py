"""Learners side by side on the same folds (`compare`), and two models on new rows (`challenge`).

A comparison has a task: rows, what is observed of them, and folds. The tasks of classes and of
numbers know the losses of a row, so fits, differences, choice and page are written once.

differences   paired differences of learners or models on the same rows
task          `ClassTask` and `NumberTask`, and what both share
run           learners by name, fits and predictions fold by fold, and the choice of one
result        `compare` and `Comparison`, as a page and as a figure
challenger    `challenge`: two models compared row by row; those of numbers
swaps         two models of classes, and the rows that they put on different sides of a cut-off
"""

from weigh.comparison.challenger import NumberChallenge, challenge
from weigh.comparison.differences import Difference
from weigh.comparison.result import Comparison, Entry, compare
from weigh.comparison.swaps import Challenge
from weigh.comparison.task import Differences
