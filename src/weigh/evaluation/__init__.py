"""Whether a model is any good, and for what: `evaluate` returns one `Evaluation`.

measures         every measure of probabilities of one class
multiclass       of more than two classes
groups           of groups of rows
number_groups    of groups of rows with estimates of numbers
estimates        numbers beside estimates of them, and their losses
numbers          `NumberEvaluation`: of estimates of numbers
survival         `SurvivalEvaluation`: of times to an event
survival_groups  of groups of rows with times to an event
findings         what the numbers say, in sentences
page             tables and sentences as text and as HTML
show             an evaluation as a page
result           `Evaluation`, from predictions
model            from a model and a table
"""

from weigh.evaluation.groups import Group, ManyGroup, named_columns, split_rows
from weigh.evaluation.measures import Decision, Gains, Measures
from weigh.evaluation.model import evaluate
from weigh.evaluation.multiclass import ClassMeasures, ManyMeasures
from weigh.evaluation.number_groups import NumberGroup
from weigh.evaluation.numbers import Band, NumberEvaluation
from weigh.evaluation.result import Evaluation
from weigh.metrics.numbers import Bounded

__all__ = [
    "Band",
    "Bounded",
    "ClassMeasures",
    "Decision",
    "Evaluation",
    "Gains",
    "Group",
    "ManyGroup",
    "ManyMeasures",
    "Measures",
    "NumberEvaluation",
    "NumberGroup",
    "evaluate",
    "named_columns",
    "split_rows",
]
