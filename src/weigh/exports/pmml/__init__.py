"""A model as PMML 4.4: a Scorecard with reason codes, or a RegressionModel for many classes.

document     what both share: the columns, numbers and names
scorecard    two classes or a number: characteristics with attributes, then what the score means
regression   more classes: weights and totals as derived fields
"""

from weigh.exports.pmml.document import check, to_text
from weigh.exports.pmml.regression import write_regression
from weigh.exports.pmml.scorecard import write_scorecard
from weigh.formula import Formula

__all__ = ["write"]


def write(formula: Formula) -> str:
    """The text of the file."""
    check(formula)
    model = write_scorecard(formula) if len(formula.prior) == 1 else write_regression(formula)
    return to_text(formula, model)
