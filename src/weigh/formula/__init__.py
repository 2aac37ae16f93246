"""A model as plain data, from which pages, the service, exports and Spark are rendered.

total = prior + sum over terms of the weight of the level whose condition holds first

formula   `Formula`: columns, conditions, weights, and the link from totals to predictions
data      a formula as JSON, small enough for a page
"""

from weigh.formula.data import Row, Scorer
from weigh.formula.formula import Costs, Formula, Input, Spread, Term, name_of

__all__ = ["Costs", "Formula", "Input", "Row", "Scorer", "Spread", "Term", "name_of"]
