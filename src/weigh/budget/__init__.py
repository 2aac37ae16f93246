"""Smaller models: the best within a budget of features and levels, and what each budget costs.

quadratic   the loss near a model, to second order in its weights
levels      the levels of each table within a budget
features    the tables within a budget
rows        the rows, and the parameters of the model that was given
small       `weigh.simplify`
"""

from weigh.budget.small import simplify

__all__ = ["simplify"]
