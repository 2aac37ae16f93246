"""A model as plain data, from which pages, the service, exports and Spark are rendered.

total = prior + sum over terms of the weight of the level whose condition holds first

formula   `Formula`: columns, conditions, weights, and what a sum means
inputs    the columns that it asks for, with all that any term knows of each
scorer    rows scored one by one, without a table
data      the same as JSON, small enough for a page
"""

from weigh.formula.formula import Costs, Formula, Input, Term
from weigh.formula.scorer import Row, Scorer

__all__ = ["Costs", "Formula", "Input", "Row", "Scorer", "Term"]
