"""Smaller models: the best within a budget of features and levels, and what each budget costs.

quadratic   the loss near a model, to second order in its weights
levels      the levels of each table within a budget
rows        the rows, and the parameters of the model that was given
points      whole points in place of weights
small       `weigh.simplify`: the tables within a budget
prices      `weigh.price`: hold-out loss of every budget, as text and as a figure
"""

from weigh.budget.prices import Prices, price
from weigh.budget.small import simplify

__all__ = ["Prices", "price", "simplify"]
