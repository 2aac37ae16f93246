"""Smaller models: the best within a budget of features and levels, and the loss of each budget.

quadratic   second-order approximation of the loss near a model, and weights in whole points
levels      which levels of each table are merged, within a budget
small       `weigh.simplify`: the rows and parameters of a model, and the tables within a budget
prices      `weigh.price`: hold-out loss of every budget, as text and as a figure
"""

from weigh.budget.prices import Prices, price
from weigh.budget.small import simplify

__all__ = ["Prices", "price", "simplify"]
