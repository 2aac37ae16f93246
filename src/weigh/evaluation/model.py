"""evaluate: measures of a fitted model on a table of rows with known outcomes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weigh.evaluation.findings import find_leaks, find_training_rows
from weigh.evaluation.groups import Grouping
from weigh.evaluation.measures import Options
from weigh.evaluation.numbers import (
    NumberEvaluation,
    estimates_numbers,
    evaluate_numbers,
    refuse_class_options,
    refuse_exposure,
    refuse_times,
)
from weigh.evaluation.result import Evaluation, Given, build, read_train
from weigh.metrics import COVERAGE
from weigh.metrics.predicted import Question, predict_rows

if TYPE_CHECKING:
    from weigh.evaluation.survival import SurvivalEvaluation


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    train: Any = None,
    by: Any = None,
    costs: Any = (1.0, 1.0),
    thresholds: Any = None,
    coverage: float = COVERAGE,
    pos_label: Any = None,
    exposure: Any = None,
    times: Any = None,
) -> Evaluation | NumberEvaluation | SurvivalEvaluation:
    """Measure how good a fitted model is, on hold-out rows.

    The main measure, beside that of the base rate alone, is::

        loss in bits = -mean of log2 P(class of the row)

    The others are misclassification, AUC, Brier score and its parts, reliability, the calibration
    line, lift, and error rates, cost and net benefit by cut-off, as in `weigh.metrics`. For a
    regressor: RMSE, mean absolute error, R2, deviance, calibration by decile, the coverage of its
    intervals, and by group observed over estimated. For a survival model: concordance, Brier score
    and calibration over time, and by group observed over expected events. A weight of two equals a
    row given twice, also in intervals: pass sampling weights through
    `weigh.metrics.effective_weight` first.

    Parameters
    ----------
    model : classifier, regressor or Scorecard
        Fitted model of this package or of scikit-learn, or a pipeline.
    X : table
        Rows; use hold-out rows.
    y : array or str
        Class labels or numbers, or the name of their column in X; for a survival model as in its
        `fit`.
    sample_weight : array or str, optional
        Row weights, or the name of their column.
    train : pair (X, y), optional
        Training rows, to compare with; a third item gives their weights.
    by : str, list of str or array, optional
        Groups to evaluate: the name of a column of X, which need not be a feature, or the group of
        each row. A list of names such as ["sex", "race"] gives the combinations that occur. A
        numeric column with more than 20 distinct values is cut into five bins of about equal size.
    costs : pair, default=(1, 1)
        Costs of a false positive and of a false negative. The error rates of groups use the cut-off
        cost_fp/(cost_fp + cost_fn); for 0.3 set (0.3, 0.7).
    thresholds : array, optional
        Cut-offs to show. Default: 0.1, 0.2, ... 0.9.
    coverage : float, default=0.95
        Coverage of intervals.
    pos_label : label, optional
        Positive class. Default: the second of two, or the class that high scores of a scorecard
        favour; with more classes, all.
    exposure : array, str or number, optional
        For a regressor with a log link: factor of the mean of each row. Default: the column that
        the model was fitted with; 1 evaluates estimates per unit of exposure.
    times : float or list of float, optional
        For a survival model: times at which to evaluate the probability of the event. Default: the
        times by which 10, 25, 50, 75 and 90% of the events have occurred.

    Returns
    -------
    Evaluation, NumberEvaluation or SurvivalEvaluation
        Prints as a page.

    Examples
    --------
    >>> import weigh
    >>> people = weigh.datasets.titanic()
    >>> model = weigh.EvidenceNB().fit(people, "Survived")
    >>> found = weigh.evaluate(model, people, "Survived", by="Class")
    >>> round(found.validation.loss.value, 3), [group.name for group in found.groups]
    (0.746, ['1st', '2nd', '3rd', 'Crew'])
    """
    if hasattr(model, "predict_survival"):
        from weigh.evaluation.survival import evaluate_survival  # imports the learner

        own = {"train": train, "thresholds": thresholds, "pos_label": pos_label}
        own |= {"exposure": exposure, "sample_weight": sample_weight}
        refuse_class_options(own | {"costs": None if costs == (1.0, 1.0) else costs}, "times")
        return evaluate_survival(model, X, y, coverage, times, by)
    refuse_times(times)
    if estimates_numbers(model):
        own = {"train": train, "thresholds": thresholds, "pos_label": pos_label}
        refuse_class_options(own | {"costs": None if costs == (1.0, 1.0) else costs})
        return evaluate_numbers(model, X, y, sample_weight, coverage, exposure, by)
    refuse_exposure(exposure)
    options = Options.read(costs, thresholds, coverage)
    question = Question.of_model(model, pos_label)
    grouping = Grouping.of(X, by)
    named = isinstance(sample_weight, str)
    predicted = [
        predict_rows(
            model,
            part.first,
            part.second,
            sample_weight if named and part.sample_weight is None else part.sample_weight,
            pos_label=pos_label,
            beside=grouping.names,
        )
        for part in (Given(X, y, sample_weight), *read_train(train))
    ]
    name = type(model).__name__
    found = build(question, options, predicted, grouping.by, name, grouping.name)
    leaks = find_leaks(model, X, predicted[0])
    return replace(found, leaks=leaks, training_rows=find_training_rows(model, X))
