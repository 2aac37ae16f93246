"""Evaluation of models on hold-out rows: `evaluate` returns one `Evaluation`.

measures         measures of probabilities of one class
multiclass       measures of probabilities of more than two classes
groups           measures by group, for classifiers
number_groups    measures by group, for regressors
estimates        observed and estimated numbers, row by row, and their losses
numbers          `NumberEvaluation`: the evaluation of a regressor
survival         `SurvivalEvaluation`: the evaluation of a survival model
survival_groups  measures by group, for survival models
findings         the main results in sentences
page             tables and sentences as text and as HTML
show             the page of an evaluation
result           `Evaluation`, from predictions
model            `evaluate`, from a model and a table
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
