"""Smaller models: the best within a budget of features and levels, and the loss of each budget.

quadratic   second-order approximation of the loss near a model
levels      which levels of each table are merged, within a budget
rows        the rows, and the parameters of the given model
points      weights rounded to whole points
small       `weigh.simplify`: the tables within a budget
prices      `weigh.price`: hold-out loss of every budget, as text and as a figure
"""

from weigh.budget.prices import Prices, price
from weigh.budget.small import simplify

__all__ = ["Prices", "price", "simplify"]
