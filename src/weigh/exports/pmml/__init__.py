"""A model as PMML 4.4: a Scorecard with reason codes, or a RegressionModel.

document     shared parts: data dictionary, mining schema, names and expressions
scorecard    two classes or a numeric target: characteristics with attributes, then the prediction
regression   more classes, or a factor of incomplete rows: weights and totals as derived fields
"""

from weigh.exports.pmml.document import check, to_text
from weigh.exports.pmml.regression import write_regression
from weigh.exports.pmml.scorecard import write_scorecard
from weigh.formula import Formula

__all__ = ["write"]


def write(formula: Formula) -> str:
    """The PMML document as text."""
    check(formula)
    adds_up = len(formula.prior) == 1 and formula.attenuation is None
    model = write_scorecard(formula) if adds_up else write_regression(formula)
    return to_text(formula, model)
