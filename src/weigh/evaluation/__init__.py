"""Evaluation of models on hold-out rows: `evaluate` returns one `Evaluation`.

The target of a model is a class, a number or a time to an event. Each has rows with what is
observed and predicted (`metrics.Scored` and `Many`, `Estimated`, `Followed`), measures of all rows
and by group, findings in sentences, and a page. Groups, pages and notes on the rows are written
once.

decisions   options of an evaluation; decisions at cut-offs, with rates, costs, net benefit
measures    measures of probabilities, of one class and of many
groups      rows by group; measures by group for classifiers; what other evaluations share
error_gaps  groups whose error rates differ by more than chance
findings    the main results in sentences; training rows and leaks
show        the page and the figure of an `Evaluation`
estimates   observed and estimated numbers, by row and by group
numbers     `NumberEvaluation`: the evaluation of a regressor
follow_up   rows under observation: survival given the entry, expected and observed events
survival    `SurvivalEvaluation`: the evaluation of a survival model
result      `evaluate`, and `Evaluation`, also from predictions
"""

from weigh.evaluation.decisions import Decision
from weigh.evaluation.estimates import NumberGroup
from weigh.evaluation.groups import Band, Group, ManyGroup, named_columns, split_rows
from weigh.evaluation.measures import ClassMeasures, GainsAtTenths, ManyMeasures, Measures
from weigh.evaluation.numbers import NumberEvaluation
from weigh.evaluation.result import Evaluation, evaluate
from weigh.metrics.numbers import Bounded
